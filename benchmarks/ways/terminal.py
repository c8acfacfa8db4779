"""Ways of the tasks of the domain `terminal`."""

from __future__ import annotations

from agentworld_gym.screens.sight import ActionStream
from ways.playing import Ways, read


def create_with_pipes(instruction: str, screen: str) -> ActionStream:
    """Make the folder and the file in one line, from what the plan says."""
    plan = read(r"(\S+) says which folder|folder that (\S+) names", instruction)
    text = read(r"first line of (\S+?)\.?(?:\s|$)", instruction)
    name = read(r"file (\S+)", instruction)
    folder = read(r"^make (\S+)$", (yield f"cat {plan}"))
    yield f"mkdir -p {folder} && head -1 {text} | tee {folder}/{name}"
    if "Append" in instruction:
        yield f"tail -1 {text} >> {folder}/{name}"
    if "Last" in instruction:
        spare = read(r"Last, make a folder (\S+)", instruction)
        yield f"mkdir {spare}; cat {folder}/{name} > {spare}/{name}"
    yield "finish"


WAYS: Ways = {
    "create_files": [create_with_pipes],
}
"""Family, or id of a hand-written task, → its ways."""
