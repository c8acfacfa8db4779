"""Retrieval: recorded steps that resemble the next one, shown to a language world beside its turn.

Putting similar recorded transitions into the prompt helps a world model that was not trained on a world (DreamGym,
arXiv 2511.03773). `StepIndex` finds them, `StepRetrieval` writes them into a request.
"""

from agentworld_gym.llm.retrieval.index import StepIndex
from agentworld_gym.llm.retrieval.step_retrieval import StepRetrieval
from agentworld_gym.llm.retrieval.steps import RecordedStep, origin_of_row, origin_of_task

__all__ = ["RecordedStep", "StepIndex", "StepRetrieval", "origin_of_row", "origin_of_task"]
