"""Guarded dreams: an answer that the model holds unlikely ends the episode, or the step is grounded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from worlds import dream, language_world, make, predicted

from agentworld_gym.base.errors import SpecError, WorldNotConfigured
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.contracts import AnswerSource, ChatRequest, Completion, Failure, Observation
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.worlds.language import LanguageWorld

IDLE = "dev@box:/srv/app$"
TASK = Task(
    id="t",
    domain="terminal",
    instruction="Sort.",
    state={"cwd": "/srv/app", "files": {"/srv/app/a.txt": "b\na\n"}},
    success=[{"probe": "cat sorted.txt", "expect": {"equals": "a\nb"}}],
)
SORT, TRUE_SORT = "sort a.txt > sorted.txt", f"{IDLE} sort a.txt > sorted.txt\n{IDLE}"
CAT, TRUE_CAT = "cat sorted.txt", f"{IDLE} cat sorted.txt\na\nb\n{IDLE}"
GROUND = {"least": 0.9, "remedy": "ground"}
act = ActionParser(load_spec("terminal")).parse


def unsure_of(*words: str, text: str = f"{IDLE} dreamt\n{IDLE}") -> Any:
    """A model that answers everything with one text, and doubts its answer to actions that hold a word."""

    def answer(request: ChatRequest) -> Completion:
        doubts = any(word in request.messages[-1]["content"] for word in words)
        return Completion(predicted(text), logprob=-5.0 if doubts else -0.01)

    return answer


def guarded(answer: Any, remedy: str = "ground", **options: Any) -> LanguageWorld:
    return language_world(answer, profile="compact", guard={"least": 0.9, "remedy": remedy}, **options)


def play(world: LanguageWorld, session: Any, *commands: str) -> list[Observation | Failure]:
    return [world.step([session], [act(command)])[0] for command in commands]


def test_an_unlikely_answer_ends_the_episode_without_a_reward() -> None:
    name = dream("that_doubts_sorting", unsure_of("sort a.txt"))
    env = make(world=name, task=TASK, language={"guard": {"least": 0.9}})
    env.reset(seed=0)
    sure = env.step("ls")
    _, reward, terminated, truncated, info = env.step(SORT)
    env.close()
    assert not sure[3]
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert info["failure"]["kind"] == "unlikely"
    assert "0.0067 likely, the guard asks for 0.9" in info["failure"]["message"]
    assert "success" not in info


def test_a_step_that_is_grounded_shows_what_is_true_after_all_actions_of_the_dream() -> None:
    world = guarded(unsure_of("cat sorted"))
    [session] = world.begin([TASK], [0])
    slept, true = play(world, session, SORT, CAT)
    assert isinstance(slept, Observation)
    assert isinstance(true, Observation)
    assert (slept.source, slept.text) == (None, f"{IDLE} dreamt\n{IDLE}")
    assert (true.source, true.text) == (AnswerSource.GROUNDED, TRUE_CAT)
    assert world.guard is not None
    assert world.guard.executed == 2
    assert session.observation == TRUE_CAT  # the model goes on from what is true


def test_what_cannot_be_read_is_grounded_too_and_ends_the_episode_otherwise() -> None:
    for answer in (lambda _: "", lambda _: Completion(predicted("x"), finish_reason="length")):
        for remedy in ("ground", "end"):
            world = guarded(answer, remedy)
            [session] = world.begin([TASK], [0])
            [observed] = play(world, session, SORT)
            assert (isinstance(observed, Observation) and observed.text == TRUE_SORT) == (remedy == "ground")


def test_forks_have_twins_of_their_own() -> None:
    world = guarded(unsure_of("sort", "cat", "rm"))
    [session] = world.begin([TASK], [0])
    play(world, session, SORT)
    fork = session.fork()
    play(world, fork, "rm sorted.txt")
    [kept], [gone] = play(world, session, CAT), play(world, fork, CAT)
    assert isinstance(kept, Observation)
    assert isinstance(gone, Observation)
    assert kept.text == TRUE_CAT
    assert "No such file" in gone.text
    for one in (session, fork):
        one.close()


def test_a_probe_is_grounded_on_a_copy_and_counted() -> None:
    env = make(world=dream("that_doubts_reading", unsure_of("cat sorted")), task=TASK, language={"guard": GROUND})
    env.reset(seed=0)
    env.step(SORT)
    info = env.step("finish")[4]
    env.close()
    assert info["success"]
    assert info["probes"] == {"asked": 0, "grounded": 1}


def test_what_an_agent_defined_does_not_change_what_a_grounded_probe_means() -> None:
    world = guarded(unsure_of("cat"))
    [session] = world.begin([TASK], [0])
    play(world, session, SORT, "cat() { echo forged; }")
    [true] = play(world, session.probe(), CAT)
    [forged] = play(world, session, CAT)
    assert isinstance(true, Observation)
    assert isinstance(forged, Observation)
    assert true.text == TRUE_CAT
    assert "forged" in forged.text


def test_a_screen_that_is_grounded_brings_its_structured_state() -> None:
    answer = unsure_of("", text='tasks/clock = [{"screen":"main"}]')
    env = make("AgentWorld/Android-v0", world=dream("phone", answer), language={"form": "state", "guard": GROUND})
    env.reset(seed=3)
    true = make("AgentWorld/Android-v0", world="grounded")
    true.reset(seed=3)
    for action in ({"action_type": "open_app", "app_name": "Clock"}, {"action_type": "navigate_home"}):
        dreamt = env.step(json.dumps(action))
        assert dreamt[0] == true.step(json.dumps(action))[0]
        assert dreamt[4]["source"] == "grounded"
    env.close()
    true.close()


def test_a_recording_of_a_guarded_dream_replays_it(tmp_path: Path) -> None:
    name = dream("that_doubts_listing", unsure_of("sort", "cat"))
    seen = []
    for world in (f"record:{tmp_path}/r.jsonl+{name}", f"recorded:{tmp_path}/r.jsonl"):
        env = make(world=world, task=TASK, language={"guard": GROUND} if world.startswith("record:") else {})
        env.reset(seed=0)
        seen.append([env.step(command) for command in (SORT, "ls", CAT)])
        env.close()
    assert seen[0] == seen[1]
    assert [step[4].get("source") for step in seen[0]] == ["grounded", None, "grounded"]


def test_a_guard_is_part_of_the_world() -> None:
    plain, ends, grounds = (
        EnvOptions(spec="terminal", world=dream("plain", unsure_of()), language={"guard": guard}).runner().fingerprint
        for guard in (None, {"least": 0.9}, GROUND)
    )
    assert len({plain, ends, grounds}) == 3


def test_a_generator_that_does_not_tell_its_confidence_cannot_be_guarded() -> None:
    world = guarded(lambda _: predicted("x"))
    [session] = world.begin([TASK], [0])
    with pytest.raises(SpecError, match=r"guard.*a generator that tells its confidence"):
        play(world, session, SORT)


@pytest.mark.parametrize("guard", [{}, {"least": 0}, {"least": 2}, {"least": 0.5, "remedy": "pray"}, {"most": 1}])
def test_a_guard_that_makes_no_sense_is_refused(guard: dict[str, Any]) -> None:
    with pytest.raises(SpecError, match="guard"):
        EnvOptions(spec="terminal", world=dream("unguardable", unsure_of()), language={"guard": guard}).runner()


def test_only_dreams_are_guarded_and_only_domains_with_a_grounded_world_grounded(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="only a language world is guarded"):
        EnvOptions(spec="terminal", world="grounded", language={"guard": {"least": 0.9}}).runner()
    custom = Path(__file__).parents[2] / "examples" / "custom_domain" / "spec.yaml"
    with pytest.raises(WorldNotConfigured, match="no grounded world"):
        EnvOptions(spec=str(custom), world=dream("customary", unsure_of()), language={"guard": GROUND}).runner()
