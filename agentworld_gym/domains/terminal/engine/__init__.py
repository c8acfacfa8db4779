"""The grounded terminal: a deterministic bash without processes, hosts or networks.

The shell is bashkit, an interpreter of bash in Rust with a virtual file system. Commands that it lacks, or that would
read the host's clock, users or files, are written in Python in `builtins`, because no library offers them without
processes.
"""

from agentworld_gym.core.engines import EngineError
from agentworld_gym.domains.terminal.engine.engine import TerminalEngine
from agentworld_gym.domains.terminal.engine.machine import TerminalMachine
from agentworld_gym.domains.terminal.engine.state import TerminalState

__all__ = ["EngineError", "TerminalEngine", "TerminalMachine", "TerminalState"]
