"""The grounded terminal: a deterministic bash without processes, hosts or networks."""

from agentworld_gym.engines import EngineError
from agentworld_gym.engines.terminal.engine import TerminalEngine
from agentworld_gym.engines.terminal.machine import TerminalMachine
from agentworld_gym.engines.terminal.state import TerminalState

__all__ = ["EngineError", "TerminalEngine", "TerminalMachine", "TerminalState"]
