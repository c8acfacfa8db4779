"""What the text of a terminal tells: what stood there before, and what an action types."""

from __future__ import annotations

import pytest

from agentworld_gym.domains.terminal.observations import behind_carried

IDLE = "dev@box:~/d$"


@pytest.mark.parametrize(
    ("before", "capture", "behind"),
    [
        (IDLE, f"{IDLE} ls\na\n{IDLE}", f"ls\na\n{IDLE}"),
        (f"no newline{IDLE}", f"no newline{IDLE} ls\n{IDLE}", f"ls\n{IDLE}"),
        (f"{IDLE} make", f"{IDLE} make\ndone\n{IDLE}", f"done\n{IDLE}"),
        (f"a\n{IDLE} make\nls", f"{IDLE} make\nls\n^C\n{IDLE}", f"^C\n{IDLE}"),
        (f"{IDLE} cat << E\n>", f"> x\n> E\nx\n{IDLE}", f"x\n> E\nx\n{IDLE}"),
        (IDLE, f"1\n2\n3\n{IDLE}", f"1\n2\n3\n{IDLE}"),
        (IDLE, IDLE, IDLE),
    ],
)
def test_what_a_capture_shows_anew_begins_behind_the_end_of_the_one_before(
    before: str, capture: str, behind: str
) -> None:
    assert behind_carried(before, capture) == behind
