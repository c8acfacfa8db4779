"""The worldbook: what recorded sessions tell of a system, mined by code.

    rows ─ mining ─► book (one YAML file) ─┬─► answers by itself: `BookAnswers`, a generator; `BookFirst`, with a model
              │                            ├─► pages: a language world shows its model the page that fits an action
      rules of a model                     └─► the schemas that a language world checks

`steps` says what a step and an answer are to all of these. A person can read and edit the file. It is for systems whose
world model cannot be trained (after Trace2Env, arXiv 2610.06100), and a baseline for one that was.
"""

from agentworld_gym.llm.worldbook.book import BookAnswers, BookFirst, Worldbook, read_worldbook
from agentworld_gym.llm.worldbook.mining import chosen_sessions, mine

__all__ = ["BookAnswers", "BookFirst", "Worldbook", "chosen_sessions", "mine", "read_worldbook"]
