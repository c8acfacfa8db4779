"""Work in the terminal is bounded, and a member that works for long does not hold up its wave.

Times are compared with each other: with the limit that is in force, or with the same work done once.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

import pytest

from agentworld_gym.core.contracts import Failure, Observation
from agentworld_gym.core.engines.hunks import changes
from agentworld_gym.domains.terminal.engine import EngineError, TerminalMachine, shell
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.worlds.concurrency import side_by_side

ENDLESS = [
    "jq -n 'def f: f; f'",
    "echo a > a; while true; do cat a a > b; cat b >> a; done",
    'awk \'BEGIN { while ((getline line < "/etc/passwd") >= 0) { close("/etc/passwd"); system("") } }\'',
    "cat() { command cat $1 $1 > b; command cat b > $1; cat $1; }; echo a > a; cat a",
]
JQ = "jq -n 'def f: f; f'"


@pytest.fixture
def limit(monkeypatch: pytest.MonkeyPatch) -> float:
    """A short limit of real time, so that the tests of it are short, and a process for what may break a shell."""
    seconds = 0.6
    assert TerminalMachine.start({}, 0).act([{"keystrokes": "bash -c ls\n"}]).endswith("$")
    monkeypatch.setattr(shell, "LAST_RESORT_SECONDS", seconds)
    return seconds


def took(work: Callable[[], object]) -> float:
    """How many seconds some work took, whether it failed or not."""
    began = time.monotonic()
    with suppress(EngineError):
        work()
    return time.monotonic() - began


def typing(machine: TerminalMachine, keys: str) -> Callable[[], object]:
    return lambda: machine.act([{"keystrokes": keys}])


def test_the_limit_is_the_documented_one() -> None:
    assert shell.LAST_RESORT_SECONDS == 2.0


@pytest.mark.parametrize("line", ENDLESS)
def test_a_command_without_end_is_stopped_at_the_limit(line: str, limit: float) -> None:
    machine = TerminalMachine.start({}, 0)
    assert took(typing(machine, line + "\n")) < 3 * limit


def test_an_action_of_many_long_commands_is_stopped_at_the_limit(limit: float) -> None:
    """Each command by itself stays below the limit, and there are a hundred of them."""
    line = "for i in $(seq 2000); do :; done\n"
    once = took(typing(TerminalMachine.start({}, 0), line))
    assert took(typing(TerminalMachine.start({}, 0), line * 100)) < limit + 10 * once + limit


@pytest.mark.parametrize("start", ["cat << X\n", "cat <<- 'X'\n", "{ cat << X\n"])
def test_a_long_text_is_typed_in_time_that_grows_with_its_length(start: str) -> None:
    """Eight times the lines take eight times the time, not sixty-four times."""

    def work(lines: int) -> float:
        machine = TerminalMachine.start({}, 0)
        began = time.process_time()
        machine.act([{"keystrokes": start + "line\n" * lines}])
        return time.process_time() - began

    short = min(work(400) for _ in range(3))
    assert work(3200) < 24 * short


def test_a_text_ends_where_its_last_line_says() -> None:
    machine = TerminalMachine.start({}, 0)
    keys = "cat << A; cat <<- B; echo done\n$((1+1)) X\n A\nA.\nA\n\tB b\n\tB\n"
    assert machine.act([{"keystrokes": keys}]).split("\n")[-6:] == ["2 X", " A", "A.", "B b", "done", "dev@box:~$"]


def test_lines_of_a_text_that_waits_are_shown_and_thrown_away_by_an_interrupt() -> None:
    machine = TerminalMachine.start({}, 0)
    assert machine.act([{"keystrokes": "cat << A\nx\n"}]) == "dev@box:~$ cat << A\n> x\n>"
    twin = machine.fork()
    assert machine.act([{"keystrokes": "C-c"}, {"keystrokes": "echo y\n"}]) == "> ^C\ndev@box:~$ echo y\ny\ndev@box:~$"
    assert twin.act([{"keystrokes": "A\n"}]) == "> A\nx\ndev@box:~$"


def test_long_files_that_differ_everywhere_are_compared_in_bounded_work() -> None:
    def work(lines: int) -> float:
        one, two = [str(n * n % 7) for n in range(lines)], [str(n * n % 11) for n in range(lines)]
        began = time.process_time()
        changes(one, two)
        return time.process_time() - began

    assert work(8000) < 12 * work(1000)


def test_long_files_with_few_differences_are_compared_exactly() -> None:
    one = [str(n) for n in range(5000)]
    two = [*one[:10], "new", *one[10:4000], *one[4002:]]
    assert changes(one, two) == [(10, 10, 10, 11), (4000, 4002, 4001, 4001)]


def begun(count: int) -> tuple[EpisodeRunner, list]:
    runner = EnvOptions(spec="terminal").runner()
    return runner, [episode for episode, _, _ in runner.start(list(range(count)), {})]


def test_members_without_end_do_not_wait_for_each_other(limit: float) -> None:
    """Six of them take about as long as one, where they would take six times as long one after the other."""
    runner, episodes = begun(7)
    alone = took(lambda: runner.advance(episodes[:1], [JQ]))
    together = took(lambda: runner.advance(episodes[1:], [JQ] * 6))
    assert together < 3 * alone
    runner.close()


def test_a_member_without_end_fails_alone(limit: float) -> None:
    runner, episodes = begun(6)
    told = runner.advance(episodes, ["echo 0", JQ, "echo 2", JQ, "echo 4", "echo 5"])
    assert ["failure" in transition.info for transition in told] == [False, True, False, True, False, False]
    assert [told[n].observation.split("\n")[1] for n in (0, 2, 4, 5)] == ["0", "2", "4", "5"]
    runner.close()


def test_a_session_that_stands_twice_in_a_wave_is_stepped_in_order() -> None:
    runner, episodes = begun(3)
    one, two, three = (episode.session for episode in episodes)
    lines = ["echo a > f", "echo 1", "echo b >> f", "sleep 1", "cat f"]
    actions = [runner.parser.parse(line) for line in lines]
    answers = runner.world.step([one, two, one, three, one], actions)
    assert isinstance(answers[4], Observation)
    assert answers[4].text.split("\n")[1:3] == ["a", "b"]
    assert not any(isinstance(answer, Failure) for answer in answers)
    runner.close()


def test_quick_work_is_done_in_order_and_slow_work_beside_it() -> None:
    done: list[int] = []

    def job(number: int) -> Callable[[], int]:
        def work() -> int:
            time.sleep(0.5 if number == 2 else 0.0)
            done.append(number)
            return number * number

        return work

    assert side_by_side([job(number) for number in range(6)]) == [0, 1, 4, 9, 16, 25]
    assert done == [0, 1, 3, 4, 5, 2]


def test_what_a_piece_of_work_raises_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        side_by_side([lambda: 1, lambda: 1 // 0, lambda: 2])
