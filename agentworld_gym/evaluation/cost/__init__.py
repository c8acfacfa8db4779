"""What a run costs: steps, tokens, time and money, planned from measured rates or added up from traces."""

from agentworld_gym.evaluation.cost.plan import RunPlan, planned, within
from agentworld_gym.evaluation.cost.rates import Rates, first_failure, rates_of
from agentworld_gym.evaluation.cost.totals import Cost, GpuPrice, TokenTotals, read_plan, total_of

__all__ = [
    "Cost",
    "GpuPrice",
    "Rates",
    "RunPlan",
    "TokenTotals",
    "first_failure",
    "planned",
    "rates_of",
    "read_plan",
    "total_of",
    "within",
]
