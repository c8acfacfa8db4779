"""The worldbook: what recorded sessions tell of a system, mined by code, for a world model that cannot be trained.

It is one YAML file that a person can read and edit. A language world shows its model the page that fits an action
(after Trace2Env, arXiv 2610.06100), and its checks take the schemas of the book where the system's own are not known.
"""

from agentworld_gym.llm.worldbook.book import BookAnswers, Worldbook, read_worldbook
from agentworld_gym.llm.worldbook.mining import chosen_sessions, mine

__all__ = ["BookAnswers", "Worldbook", "chosen_sessions", "mine", "read_worldbook"]
