"""One HTML page of tables and plots from the results of evaluations, which needs no other file."""

from agentworld_gym.evaluation.report.page import AnyResult, read_result, write_page

__all__ = ["AnyResult", "read_result", "write_page"]
