"""Success in the terminal is read off the files, whatever an agent has made of its own shell."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from agentworld_gym.core.domain.task import Task, load_task
from agentworld_gym.core.engines.controls import Controls
from agentworld_gym.core.tasks import families, generate
from agentworld_gym.domains.terminal.engine import TerminalEngine, TerminalMachine
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.worlds.grounded import GroundedSession

HANDWRITTEN = sorted((Path(__file__).parents[3] / "domain_specs" / "tasks" / "terminal").glob("*.yaml"))
TASKS = [
    *(generate("terminal", family, level, 9) for family in sorted(families("terminal")) for level in (1, 2, 3)),
    *(load_task(path, "terminal") for path in HANDWRITTEN),
]

every_task = pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)


@pytest.fixture(scope="module")
def runner() -> Iterator[EpisodeRunner]:
    made = EnvOptions(spec="terminal").runner()
    yield made
    made.close()


def typed(keys: str) -> str:
    """Keys that are typed as they are, without an Enter of their own."""
    return json.dumps([{"keystrokes": keys}])


def reached(runner: EpisodeRunner, task: Task, actions: Iterable[str]) -> float:
    """The score that some actions and a finish without an answer reach."""
    episode = runner.start([0], {"task": task.id})[0][0]
    for action in (*actions, "finish"):
        info = runner.advance([episode], [action])[0].info
    episode.session.close()
    return info["score"]


def forged(task: Task) -> dict[str, str]:
    """What each probed command line has to print; of a line of several commands the first one prints it all."""
    return {check.probes[-1]: check.expect.equals or "0" for check in task.success if check.expect is not None}


def by_functions(task: Task) -> list[str]:
    """One function for each command of a probe, which knows what it is to print for which arguments."""
    cases: dict[str, list[str]] = {}
    for line, text in forged(task).items():
        name, *arguments = shlex.split(line.partition(" && ")[0].partition(" | ")[0].partition(" < ")[0])
        cases.setdefault(name, []).append(f"{shlex.quote(' '.join(arguments))}) printf '%s\\n' {shlex.quote(text)};;")
    return [f'{name}() {{ case "$*" in {" ".join(some)} esac; }}' for name, some in cases.items()]


def by_aliases(task: Task) -> list[str]:
    """One alias for each command: it prints what the first probe of it wants and passes over the rest of the line."""
    shown = {line.split()[0]: text for line, text in reversed(forged(task).items())}
    return [f"alias {name}={shlex.quote(f'echo {shlex.quote(text)} #')}" for name, text in shown.items()]


def by_half_a_line(task: Task) -> list[str]:
    """A command that waits on the line for what the probe will type behind it."""
    return [typed(f"echo {shlex.quote(next(iter(forged(task).values())))} #")]


def by_an_open_quote(task: Task) -> list[str]:
    """The probe becomes the end of a text in quotes."""
    return [typed(f"echo {shlex.quote(next(iter(forged(task).values())))}; : '\n")]


def elsewhere(task: Task) -> list[str]:
    """Another folder, in which every command of the expert is done to copies."""
    return ["mkdir /tmp/x", "cp -r . /tmp/x", "cd /tmp/x", *(line for line in task.expert if "finish" not in line)]


@every_task
@pytest.mark.parametrize("attack", [by_functions, by_aliases, by_half_a_line, by_an_open_quote])
def test_nothing_said_to_the_shell_earns_anything(
    runner: EpisodeRunner, task: Task, attack: Callable[[Task], list[str]]
) -> None:
    assert reached(runner, task, attack(task)) <= reached(runner, task, [])


@every_task
def test_work_done_to_copies_elsewhere_is_not_done(runner: EpisodeRunner, task: Task) -> None:
    assert reached(runner, task, elsewhere(task)) < 1.0


def test_an_archive_made_of_copies_leaves_the_original_where_it_was(runner: EpisodeRunner) -> None:
    task = generate("terminal", "archive", 1, 9)
    kept = ["mkdir x", "cp memo.log team.log x", "tar -cf x/list.tar alpha.log", "cd x"]
    assert reached(runner, task, kept) == 0.0


@every_task
def test_an_expert_with_a_shell_of_its_own_ways_succeeds(runner: EpisodeRunner, task: Task) -> None:
    """Aliases, options and folders that an agent likes cost it nothing."""
    ways = ["alias ll='ls -la'", 'look() { cat "$@"; }', "IFS=:; umask 077; set -f; set +f; unset IFS; umask 022"]
    answer = [line for line in task.expert if line.startswith("finish:")]
    done = [line for line in task.expert if not line.startswith("finish")]
    score = reached(runner, task, [*ways, *done, "cd /", typed("half a line")])
    weight = sum(check.weight for check in task.success if check.answer is None) / sum(c.weight for c in task.success)
    assert score == pytest.approx(weight if answer else 1.0)


TAMPERED = [
    "cat() { echo forged; }; ls() { echo forged; }; echo() { printf forged; }; printf() { :; }",
    "alias cat='echo forged' ls='echo forged' pwd='echo forged' type='echo forged'",
    "unset() { :; }; unalias() { :; }; builtin() { :; }; command() { echo forged; }; cd() { :; }",
    "set -f; set -e; set -u; set -n",
    "shopt -s nullglob dotglob; shopt -u expand_aliases",
    "trap 'echo forged' DEBUG; trap 'echo forged' ERR; trap 'echo forged' RETURN; trap 'echo forged' EXIT",
    "PATH=/tmp:/nowhere; HOME=/tmp; IFS=a; PWD=/tmp; BASH_ENV=/tmp/a; ENV=/tmp/a; LC_ALL=de; POSIXLY_CORRECT=1",
    "readonly PATH=/tmp HOME=/tmp IFS=a PWD=/tmp",
    "umask 077; exec > /tmp/out 2>&1; exec < /dev/null",
    "hash -p /tmp/cat cat; enable -n cat; export -f cat 2> /dev/null",
    "PROMPT_COMMAND='echo forged'; PS1=forged; PS4=forged; set -x",
    "command_not_found_handle() { echo forged; }; declare -A cat; declare -i PWD",
    "while true; do :; done",
    "cd /; rm -rf /tmp; exit",
    "mkdir -p /usr/local/bin; echo 'echo forged' > /usr/local/bin/cat; echo 'cat() { echo forged; }' > ~/.bashrc; "
    "chmod +x /usr/local/bin/cat; cp ~/.bashrc ~/.bash_profile; cp ~/.bashrc ~/.profile; cp ~/.bashrc /etc/profile",
]
LOOKS = ["cat a.txt", "ls -1", "pwd", "echo $PATH $HOME $IFS $- *", "alias", "umask", "type ls", "nowhere", "ls -la b"]


@pytest.mark.parametrize("line", TAMPERED)
def test_a_probe_looks_with_the_shell_of_the_start(line: str) -> None:
    """Each look prints what it prints in a terminal whose shell nobody touched."""
    state = {"cwd": "/srv", "files": {"/srv/a.txt": "here\n", "/srv/b/c": ""}, "env": {"MODE": "x"}}
    untouched, tampered = TerminalMachine.start(state, 0), TerminalMachine.start(state, 0)
    tampered.act([{"keystrokes": line + "\n"}, {"keystrokes": "echo 'half"}])
    for look in LOOKS:
        keys = [{"keystrokes": look + "\n"}]
        assert tampered.probe().act(keys) == untouched.probe().act(keys), look


def test_a_probe_sees_the_files_as_they_are() -> None:
    machine = TerminalMachine.start({"files": {"/home/dev/a.txt": "old\n", "/home/dev/b.sh": ""}}, 0)
    machine.act(
        [{"keystrokes": "echo new > a.txt; mkdir d; chmod 755 b.sh; ln -s a.txt l; touch -d '2026-01-02' b.sh\n"}]
    )
    shown = machine.probe().act([{"keystrokes": "cat l; ls -l b.sh; ls -d d\n"}])
    assert shown.split("\n")[1:-1] == ["new", "-rwxr-xr-x 1 dev dev 0 Jan  2 00:00 b.sh", "d"]


def test_a_probe_and_its_copies_leave_the_terminal_alone() -> None:
    machine = TerminalMachine.start({}, 0)
    machine.act([{"keystrokes": "f() { echo mine; }; mkdir d; cd d\n"}, {"keystrokes": "f"}])
    probe = machine.probe()
    twin = probe.fork()
    assert probe.act([{"keystrokes": "f; pwd; cd d; touch x\n"}]) == twin.act(
        [{"keystrokes": "f; pwd; cd d; touch x\n"}]
    )
    assert "not found" in probe.observation and "/home/dev" in probe.observation
    assert probe.fork().act([{"keystrokes": "pwd\n"}]).split("\n")[1] == "/home/dev/d"
    assert machine.act([{"keystrokes": "\n"}, {"keystrokes": "ls\n"}]).split("\n")[1:] == [
        "mine",
        "dev@box:~/d$ ls",
        "dev@box:~/d$",
    ]


def test_a_probe_of_a_terminal_with_faults_has_neither_faults_nor_the_agents_shell() -> None:
    controls = Controls({"intermittent-errors": 1.0, "truncated-output": 1.0, "slow-service": 1.0})
    machine = TerminalEngine().start({"files": {"/home/dev/a.txt": "1\n2\n3\n4\n5\n"}}, 0, controls)
    session = GroundedSession(machine, machine.observation, generate("terminal", "create_files", 1, 0), seed=0)
    for _ in range(4):
        machine.act([{"keystrokes": "cat() { echo forged; }\n"}])
        machine.act([{"keystrokes": ""}])
    shown = session.probe().machine.act([{"keystrokes": "cat a.txt\n"}])
    assert shown.split("\n")[1:-1] == ["1", "2", "3", "4", "5"]
