"""Probes that are read off a predicted structured state: the view opens what stands there, and no model is asked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from worlds import make

from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.checks.probes import ProbeRun, run_probes
from agentworld_gym.core.contracts import AnswerSource, ChatRequest, Observation
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.domain.view import compact
from agentworld_gym.core.engines.catalog import load_view
from agentworld_gym.core.screens.sight import Sight
from agentworld_gym.core.tasks import families, generate
from agentworld_gym.llm.generators import ScriptedGenerator
from agentworld_gym.worlds.grounded import GroundedSession
from agentworld_gym.worlds.language import LanguageWorld
from agentworld_gym.worlds.language_session import LanguageSession
from agentworld_gym.worlds.options import WorldOptions
from agentworld_gym.worlds.recordings.format import packed, unpacked
from agentworld_gym.worlds.registry import open_world, register_world

DOMAINS = ("android", "desktop", "mcp", "terminal", "web")


def dream(domain: str, asked: list[ChatRequest] | None = None) -> LanguageWorld:
    """A world whose model says that nothing changes."""

    def answer(request: ChatRequest) -> str:
        if asked is not None:
            asked.append(request)
        return "same"

    return WorldOptions(load_spec(domain), profile="compact", form="state").language(ScriptedGenerator(answer))


class Twins:
    """One episode of a task in the grounded world, and in a dream that is in the true state after the actions."""

    def __init__(self, task: Task, actions: Sequence[str], world: LanguageWorld | None = None) -> None:
        spec = load_spec(task.domain)
        self.task, self.parser = task, ActionParser(spec)
        self.output = re.compile(spec.observation.output) if spec.observation.output else None
        self.worlds = open_world("grounded", WorldOptions(spec)), world or dream(task.domain)
        ((real,), (dreamt,)) = (world.begin([task], [0]) for world in self.worlds)
        assert isinstance(real, GroundedSession)
        assert isinstance(dreamt, LanguageSession)
        self.sessions: tuple[Any, Any] = real, dreamt
        self.shown = [real.observation]
        sight = Sight(task.domain, self.shown)
        for planned in actions:
            text = sight.resolve(planned)
            assert text is not None
            action = self.parser.parse(text, task.tools)
            if action.asks_world:
                self.worlds[0].step([real], [action])
                self.shown.append(real.observation)
                sight.see(real.observation)
        machine: Any = real.machine
        dreamt.states = (compact(machine.visible_state()),) * 2

    def probed(self) -> Iterator[tuple[ProbeRun, ProbeRun]]:
        """Yield the probes of the task, each as the grounded world answers it and as the dream does."""
        for check in self.task.success:
            if check.probes:
                pair = [
                    ProbeRun(self.task, check, one.probe(), Sight(self.task.domain, self.shown))
                    for one in self.sessions
                ]
                for world, probe in zip(self.worlds, pair, strict=True):
                    run_probes(world, self.parser, [probe], self.output)
                yield pair[0], pair[1]


@pytest.mark.parametrize("seed", [40, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (41, 42, 43))])
@pytest.mark.parametrize("domain", DOMAINS)
def test_with_true_states_a_probe_has_the_verdict_of_the_engine(domain: str, seed: int) -> None:
    verdicts, sources = Counter[float | None](), Counter[str]()
    for place, family in enumerate(families(domain), seed):
        task = generate(domain, family, 1 + place % 3, seed)
        for real, read in Twins(task, task.expert if place % 2 else task.expert[:-3]).probed():
            sources += read.answers
            if not read.answers["asked"]:
                assert read.score == real.score, (task.id, read.check.probes)
                verdicts[read.score] += 1
    assert min(verdicts[0.0], verdicts[1.0]) >= 3
    assert sources["state"] > 5 * sources["asked"]


def test_of_a_repository_what_only_reads_is_read_off_and_programs_are_asked() -> None:
    verdicts, sources = Counter[float | None](), Counter[str]()
    for place, family in enumerate(families("swe")):
        task = generate("swe", family, 3, 40)
        for real, read in Twins(task, task.expert if place % 2 else task.expert[:-4]).probed():
            sources += read.answers
            if not read.answers["asked"]:
                assert read.score == real.score, (task.id, read.check.probes)
                verdicts[read.score] += 1
    assert min(verdicts[0.0], verdicts[1.0], sources["asked"]) >= 2


NOTE = "/home/user/Documents/note.txt"
LOOK = f"seen = open({NOTE!r}).read()\nopen('/home/user/.seen.txt', 'w').write(seen)\n"
LOOK += "subprocess.Popen(['gedit', '/home/user/.seen.txt'])\ntime.sleep(3)"
TASK = Task(
    id="t",
    domain="desktop",
    instruction="Write Milk.",
    state={"files": {NOTE: "Milk\n"}},
    success=[
        {"probe": LOOK, "expect": {"matches": "text\t.seen.txt\tMilk"}},
        {"probe": f"os.remove({NOTE!r})\ntime.sleep(1)", "expect": {"matches": "frame"}},
    ],
)


def test_the_model_answers_an_agent_and_the_view_a_probe() -> None:
    asked: list[ChatRequest] = []
    twins = Twins(TASK, [], world := dream("desktop", asked))
    look = twins.parser.parse(LOOK)
    (read,) = world.step([twins.sessions[1].probe()], [look])
    (shown,) = twins.worlds[0].step([twins.sessions[0].probe()], [look])
    assert isinstance(read, Observation)
    assert isinstance(shown, Observation)
    assert (read.text, read.source, asked) == (shown.text, AnswerSource.STATE, [])
    assert unpacked(packed(read)) == read
    (answer,) = world.step([twins.sessions[1]], [look])
    assert isinstance(answer, Observation)
    assert (answer.source, len(asked)) == (None, 1)


def test_a_probe_that_changes_what_is_stored_or_strikes_a_control_is_asked() -> None:
    asked: list[ChatRequest] = []
    controlled = TASK.model_copy(update={"controls": {"slow-loading": 1.0}})
    assert [read.answers for _, read in Twins(TASK, [], dream("desktop", asked)).probed()] == [
        {"state": 1},
        {"asked": 1},
    ]
    assert [read.answers for _, read in Twins(controlled, [], dream("desktop", asked)).probed()] == [{"asked": 1}] * 2
    assert len(asked) == 3


def test_info_counts_which_probes_were_read_and_which_were_asked() -> None:
    register_world("nothing_changes", lambda options: options.language(ScriptedGenerator(lambda request: "same")))
    env = make(
        "AgentWorld/Desktop-v0", world="nothing_changes", task=TASK, language={"profile": "compact", "form": "state"}
    )
    env.reset(seed=0)
    info = env.step("DONE")[4]
    env.close()
    assert info["probes"] == {"asked": 1, "state": 1}


@pytest.mark.parametrize(
    ("domain", "action"),
    [
        ("desktop", "pyautogui.press('enter')"),
        ("desktop", {"action": "open"}),
        ("android", {"action_type": "input_text", "text": "a"}),
        ("android", "open"),
        ("web", {"name": "browser_type", "arguments": {"ref": "e4", "text": "a"}}),
        ("web", None),
        ("swe", {"name": "edit", "arguments": {"file_path": "/repo/a", "old_string": "", "new_string": "b"}}),
        ("swe", {"name": "run_shell_command", "arguments": {"command": "python -m pytest -q"}}),
        ("swe", None),
    ],
)
def test_what_opens_nothing_is_not_read_off(domain: str, action: Any) -> None:
    view: Any = load_view(domain)
    state = view.begin({"open": "http://shop.example/", "sites": {"shop": None}} if domain == "web" else {}, 0, {}, 0)
    assert view.state_after_opening(state, action) is None
