"""What other domains may use of the terminal: its shell, the programs of it, and how a command line is read.

Another domain imports nothing else of this one; `.importlinter` holds it.
"""

from agentworld_gym.domains.terminal.engine.builtins import builtins
from agentworld_gym.domains.terminal.engine.builtins.date_parsing import parsed as parsed_date
from agentworld_gym.domains.terminal.engine.builtins.date_sleep import LONGEST as LONGEST_SLEEP
from agentworld_gym.domains.terminal.engine.builtins.date_sleep import sleep
from agentworld_gym.domains.terminal.engine.command_line import READERS, writes
from agentworld_gym.domains.terminal.engine.context import ShellContext, VirtualClock
from agentworld_gym.domains.terminal.engine.host_files import names_host, replaced_host_files
from agentworld_gym.domains.terminal.engine.isolated_shell import (
    LineLost,
    checked,
    only_the_engines_errors,
    run_isolated,
)
from agentworld_gym.domains.terminal.engine.keyboard import InputLine
from agentworld_gym.domains.terminal.engine.lexer import HereDocument, Lexer, unquoted
from agentworld_gym.domains.terminal.engine.messages import bash_output
from agentworld_gym.domains.terminal.engine.parser import Incomplete, SimpleCommand, TooDeep, Unexpected, parse
from agentworld_gym.domains.terminal.engine.script_rewriting import clock_variables, rewritten
from agentworld_gym.domains.terminal.engine.script_safety import is_safe_script
from agentworld_gym.domains.terminal.engine.shell import LAST_RESORT_SECONDS, Shell, need_shell_files
from agentworld_gym.domains.terminal.engine.state import TerminalState

__all__ = [
    "LAST_RESORT_SECONDS",
    "LONGEST_SLEEP",
    "READERS",
    "HereDocument",
    "Incomplete",
    "InputLine",
    "Lexer",
    "LineLost",
    "Shell",
    "ShellContext",
    "SimpleCommand",
    "TerminalState",
    "TooDeep",
    "Unexpected",
    "VirtualClock",
    "bash_output",
    "builtins",
    "checked",
    "clock_variables",
    "is_safe_script",
    "names_host",
    "need_shell_files",
    "only_the_engines_errors",
    "parse",
    "parsed_date",
    "replaced_host_files",
    "rewritten",
    "run_isolated",
    "sleep",
    "unquoted",
    "writes",
]
