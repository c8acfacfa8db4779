"""Runs the code of one action, in a process of its own: it comes over the standard input."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time

from agentworld_gym.domains.desktop.live.inside import pyautogui


def main() -> None:
    """Run the code with the names that it has without an import."""
    sys.modules["pyautogui"] = pyautogui
    names = {"pyautogui": pyautogui, "time": time, "os": os, "json": json, "subprocess": subprocess, "math": math}
    told = json.loads(sys.stdin.buffer.read())
    os.environ["AGENTWORLD_CLICKED"] = str(told["clicked"])
    os.chdir(told["cwd"])
    exec(compile(told["code"], "<action>", "exec"), {"__name__": "__main__", "print_result": lambda: None, **names})


if __name__ == "__main__":
    main()
