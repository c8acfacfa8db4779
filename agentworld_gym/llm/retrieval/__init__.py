"""Retrieval: recorded steps that resemble the next one, shown to a language world as demonstrations.

Putting similar recorded transitions into the prompt helps a world model that was not trained on a world (DreamGym,
arXiv 2511.03773). `StepIndex` finds them, `Demonstrations` writes them into a request.
"""

from agentworld_gym.llm.retrieval.demonstrations import Demonstrations
from agentworld_gym.llm.retrieval.index import StepIndex
from agentworld_gym.llm.retrieval.steps import RecordedStep, origin_of_row, origin_of_task

__all__ = ["Demonstrations", "RecordedStep", "StepIndex", "origin_of_row", "origin_of_task"]
