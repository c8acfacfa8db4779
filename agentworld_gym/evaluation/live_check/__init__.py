"""Whether a live system is fit for training: does it repeat itself, reset, fork, and how much does it take."""

from agentworld_gym.evaluation.live_check.check import check_live
from agentworld_gym.evaluation.live_check.report import LiveReport, VariedPiece, page_of

__all__ = ["LiveReport", "VariedPiece", "check_live", "page_of"]
