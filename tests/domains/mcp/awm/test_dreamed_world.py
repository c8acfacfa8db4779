"""A language world that plays the tasks of AWM's worlds, and what compares it with them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import awm_worlds
import pytest

from agentworld_gym.base.errors import SpecError, UnseenWarning, WorldNotConfigured
from agentworld_gym.core.contracts import ChatRequest, Completion
from agentworld_gym.domains.mcp.awm.world import AwmWorld
from agentworld_gym.envs.env import AgentWorldEnv
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.evaluation.fidelity.measure import FidelityPlan, measure, record
from agentworld_gym.evaluation.transfer import transfer
from agentworld_gym.llm.generators.scripted import ScriptedGenerator
from agentworld_gym.llm.training_coverage import Seen, Unseen
from agentworld_gym.worlds import WorldOptions, open_world
from agentworld_gym.worlds.dreamed import DreamedWorld
from agentworld_gym.worlds.language import LanguageWorld
from agentworld_gym.worlds.registry import REGISTRY, register_world

BORROW = '{"name": "borrow_book", "arguments": {"book_id": 1}}'


class Knowing:
    """A generator that knows the real world: it makes the calls of a prompt there, and keeps what it was asked."""

    def __init__(self, folder: Path) -> None:
        self.asked: list[ChatRequest] = []
        self._runner = EnvOptions(spec="mcp", world=f"awm:{folder}", judge="none").runner()

    def __call__(self, request: ChatRequest) -> str:
        self.asked.append(request)
        text = request.messages[0]["content"]
        task = "corner_library-0" if "corner_library" in text else "harbor_logistics-0"
        [(episode, _, _)] = self._runner.start([0], {"task": task})
        for message in request.messages[1:]:
            if message["role"] == "user":
                action = message["content"].rpartition("```json\n")[2].partition("\n```")[0]
                (step,) = self._runner.advance([episode], [action])
        return f"**Environment Observation:**\n{step.observation}"

    def close(self) -> None:
        """Close the real world."""
        self._runner.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a small world and one whose database is large."""
    if reason := awm_worlds.unplayable():
        pytest.skip(reason)
    return awm_worlds.write(tmp_path_factory.mktemp("awm"), awm_worlds.library(), awm_worlds.harbor(60))


def dreamt(folder: Path, name: str, scenario: str = "corner_library", **language: Any) -> AgentWorldEnv:
    """The tasks of a scenario in a language world, without a judge."""
    world, options = f"awm:{folder}+{name}", {"scenario": scenario}
    return AgentWorldEnv(spec="mcp", world=world, world_options=options, judge="none", language=language)


@pytest.fixture(scope="module")
def knowing(folder: Path) -> Iterator[Knowing]:
    """Return a generator that knows the world, which plays the world `knowing`."""
    made = Knowing(folder)
    register_world("knowing", lambda options: options.language(ScriptedGenerator(made)))
    yield made
    made.close()
    del REGISTRY.factories["knowing"]


def test_a_model_that_never_saw_the_tools_of_a_world_says_so(folder: Path) -> None:
    def learned(options: WorldOptions) -> LanguageWorld:
        world = options.language(ScriptedGenerator(lambda request: "Done."))
        world.unseen = Unseen("learned", Seen(scenarios=("bank",)))
        return world

    register_world("learned", learned)
    env = dreamt(folder, "learned")
    with closing(env), pytest.warns(UnseenWarning, match=r"learned held no such tools as .*\(it held those of bank\)"):
        env.reset(seed=0)
        *_, info = env.step(BORROW)
    assert info["failure"]["kind"] == "unseen" and "the tool borrow_book" in info["failure"]["message"]
    del REGISTRY.factories["learned"]


def test_a_small_database_is_told_whole_and_success_is_that_of_the_calls(folder: Path, knowing: Knowing) -> None:
    env = dreamt(folder, "knowing")
    observation, info = env.reset(options={"task": "corner_library-0"})
    assert observation.startswith("Borrow the book Emma.\n\nConnected to server corner_library. Signed in as user 1.")
    assert [tool["name"] for tool in info["tools"]] == ["list_books", "get_book", "borrow_book", "return_book"]
    assert json.loads(env.step(BORROW)[0])["book_id"] == 1
    system = knowing.asked[-1].messages[0]["content"]
    assert "Finnegan's Wake" in system and "CREATE TABLE books" in system and "get_book" in system
    assert "Rows of the start" not in knowing.asked[-1].messages[-1]["content"]
    assert env.step("finish")[1] == 1.0
    env.close()


def test_of_a_large_database_each_call_is_shown_the_rows_that_it_may_touch(folder: Path, knowing: Knowing) -> None:
    env = dreamt(folder, "knowing", "harbor_logistics")
    env.reset(options={"task": "harbor_logistics-0"})
    env.step('{"name": "get_port", "arguments": {"number": 57}}')
    *_, last = knowing.asked[-1].messages
    assert "```\n\nRows of the start" in last["content"] and '"Port 57"' in last["content"]
    system = knowing.asked[-1].messages[0]["content"]
    assert "Port 3" in system and "Port 57" not in system
    env.step('{"name": "get_port", "arguments": {"number": 58}}')
    assert "Port 57" not in "".join(message["content"] for message in knowing.asked[-1].messages[1:2])
    env.close()


def test_what_a_dream_says_of_a_call_does_not_make_it_one(folder: Path) -> None:
    register_world("boasting", lambda options: options.language(ScriptedGenerator(lambda request: '{"book_id": 1}')))
    env = dreamt(folder, "boasting")
    env.reset(options={"task": "corner_library-0"})
    env.step('{"name": "borrow_book", "arguments": {"book_id": 99}}')
    assert env.step("finish")[1] == 0.0
    env.close()
    del REGISTRY.factories["boasting"]


@pytest.mark.slow
def test_fidelity_and_transfer_compare_it_with_the_world_itself(folder: Path, knowing: Knowing) -> None:
    rows = list(record("mcp", 3, 0, "train", (1,), world=f"awm:{folder}"))
    assert rows and {row.policy for row in rows} <= {"menu", "explore"}
    options = EnvOptions(spec="mcp", world=f"awm:{folder}+knowing", task="corner_library-0")
    found, _ = measure(options, FidelityPlan([row for row in rows if row.family == "corner_library"]))
    assert found.taught is not None and found.taught.measures.exact.share == 1.0
    compared = transfer("menu", options, range(2))
    assert compared.grounded.world == f"awm:{folder}" and compared.gap.share == 0.0


def test_it_is_compared_with_the_world_that_it_holds_itself(folder: Path, knowing: Knowing) -> None:
    options = EnvOptions(spec="mcp", world=f"awm:{folder}+knowing", judge="none")
    with closing(options.runner()) as dream, closing(options.runner_of_truth(f"awm:{folder}", dream)) as truth:
        assert isinstance(dream.world, DreamedWorld) and truth.world is dream.world.truth
    with closing(options.runner()) as dream, closing(options.runner_of_truth(f"awm:{folder}/.", dream)) as truth:
        assert isinstance(dream.world, DreamedWorld) and truth.world is not dream.world.truth


def test_a_guard_ends_episodes_here_too_and_cannot_ground_their_steps(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    doubtful = ScriptedGenerator(lambda request: Completion("**Environment Observation:**\n{}", logprob=-5.0))
    monkeypatch.setitem(REGISTRY.factories, "doubting", lambda options: options.language(doubtful))
    env = dreamt(folder, "doubting", guard={"least": 0.9})
    env.reset(options={"task": "corner_library-0"})
    assert env.step(BORROW)[4]["failure"]["kind"] == "unlikely"
    env.close()
    with pytest.raises(SpecError, match=r"guard\.remedy: got 'ground', expected 'end'"):
        dreamt(folder, "doubting", guard={"least": 0.9, "remedy": "ground"})


def test_a_model_that_prefers_to_write_states_writes_whole_answers_here(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = ScriptedGenerator(lambda request: "**Environment Observation:**\n{}")
    monkeypatch.setitem(REGISTRY.factories, "stately", lambda options: options.language(told, "compact", "state"))
    env = dreamt(folder, "stately")
    env.reset(options={"task": "corner_library-0"})
    assert env.step(BORROW)[0] == "{}"
    env.close()
    with pytest.raises(SpecError, match=r"form: got 'state', expected full"):
        AgentWorldEnv(spec="mcp", world=f"awm:{folder}+stately", language={"form": "state"})


def test_behind_the_plus_stands_a_language_world(folder: Path) -> None:
    with pytest.raises(WorldNotConfigured, match=r"behind the plus stands a language world, as in awm:DIR\+http://"):
        AgentWorldEnv(spec="mcp", world=f"awm:{folder}+grounded")


@pytest.mark.parametrize("name", ["tiny", "tiny-mcp-state"])
def test_no_small_model_plays_behind_the_plus(folder: Path, name: str) -> None:
    with pytest.raises(WorldNotConfigured, match=rf"{name}.*: no small model knows the tools of these worlds"):
        AgentWorldEnv(spec="mcp", world=f"awm:{folder}+{name}")


def test_its_fingerprint_names_the_files_and_the_model(folder: Path, knowing: Knowing) -> None:
    spec = EnvOptions(spec="mcp").domain_spec()
    with closing(open_world(f"awm:{folder}+knowing", WorldOptions(spec))) as dreamed:
        assert isinstance(dreamed, DreamedWorld) and isinstance(dreamed.truth, AwmWorld)
        parts = dreamed.fingerprint.parts
        assert parts["world"].value == "language" and parts["files"] == dreamed.truth.fingerprint.parts["files"]
