"""Worlds below the environments: waves, forks, fingerprints, and how a handle becomes a world."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds import language_world, predicted

from agentworld_gym import Failure, FailureKind, ScriptedWorld, SpecError, WorldNotConfigured, load_spec
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.contracts import Completion, Observation, Usage, World
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.llm.generators import ScriptedGenerator
from agentworld_gym.llm.prompting.prompt import Prompts
from agentworld_gym.llm.prompting.prompt_options import PromptOptions
from agentworld_gym.worlds import RecordingWorld, WorldOptions, open_world, register_world
from agentworld_gym.worlds.language import LanguageWorld
from agentworld_gym.worlds.language_session import step_seed

CLOSING = "<predicted_observation></predicted_observation>"


def begun(world, domain="terminal", seed=7):
    spec = load_spec(domain)
    [session] = world.begin([spec.handwritten_tasks()[0]], [seed])
    return session, ActionParser(spec)


@pytest.mark.parametrize("profile", ["compact", "full"])
@pytest.mark.parametrize("domain", ["mcp", "swe", "terminal"])
def test_a_refused_action_is_in_no_later_prompt(domain, profile):
    spec = load_spec(domain)
    world = LanguageWorld(
        spec, Prompts(spec, PromptOptions(profile=profile)), ScriptedGenerator(lambda _: predicted("ok")), Sampling()
    )
    session, parser = begun(world, domain)
    refused, action = (parser.parse(text, session.task.tools) for text in ("\ud800", spec.action.examples[0]))
    for _ in range(2):
        messages = world.messages(session, action)
        (answer,) = world.step([session], [refused])
        assert session.observation == answer.text
        assert world.messages(session, action) == messages
        world.correct(session, "another error")
        assert session.observation == "another error"
        assert world.messages(session, action) == messages
        world.step([session], [parser.parse(spec.action.examples[0])])


def test_the_same_session_twice_in_a_wave_is_stepped_in_order():
    world = language_world(lambda request: predicted(f"{len(request.messages)}"))
    session, parser = begun(world)
    answers = world.step([session, session], [parser.parse("ls"), parser.parse("pwd")])
    assert [answer.text for answer in answers] == ["2", "4"]


def test_after_a_failure_a_session_is_unchanged():
    answers = iter([Failure(FailureKind.SERVER, "500", retryable=True), predicted("fine")])
    world = language_world(lambda request: next(answers))
    session, parser = begun(world)
    before = session.fork()
    assert isinstance(world.step([session], [parser.parse("ls")])[0], Failure)
    assert (session.history, session.turn, session.observation) == (before.history, before.turn, before.observation)
    assert world.step([session], [parser.parse("ls")])[0].text == "fine"


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Completion("<predicted_observation>half", finish_reason="length"), "length"),
        (Completion("x" * 16_001), "length"),
        (Completion(""), "empty"),
        (Completion("<think>hm</think>"), "empty"),
    ],
)
def test_what_is_no_proper_observation_is_a_failure(answer, kind):
    world = language_world(lambda request: answer)
    session, parser = begun(world)
    assert world.step([session], [parser.parse("ls")])[0].kind == kind


def test_an_empty_observation_in_its_tags_is_a_step():
    world = language_world(lambda request: predicted(""), "swe")
    [session] = world.begin(load_spec("swe").handwritten_tasks()[:1], [0])
    action = ActionParser(load_spec("swe")).parse('{"name": "run_shell_command", "arguments": {"command": "true"}}')
    [observed] = world.step([session], [action])
    assert isinstance(observed, Observation) and observed.text == "" == session.observation
    assert (session.turn, session.history[-1]["content"]) == (1, "**Environment Observation:**\n")


def test_a_full_context_is_a_failure_without_another_call():
    calls = []

    def answer(request):
        calls.append(request)
        return Completion(predicted("much"), usage=Usage(32_768, 1_000))

    world = language_world(answer)
    session, parser = begun(world)
    world.step([session], [parser.parse("ls")])
    assert world.step([session], [parser.parse("ls")])[0].kind == "overflow"
    assert len(calls) == 1


def test_a_lenient_answer_without_tags_is_an_observation():
    world = language_world(lambda request: "ls\na.txt\ndev@box:~$")
    session, parser = begun(world)
    assert world.step([session], [parser.parse("ls")])[0].text == "ls\na.txt\ndev@box:~$"


def test_requests_are_seeded_by_session_and_turn():
    seeds = []
    world = language_world(lambda request: seeds.append(request.sampling.seed) or predicted("x"))
    for seed in (7, 7, 8):
        session, parser = begun(world, seed=seed)
        world.step([session], [parser.parse("ls")])
        world.step([session], [parser.parse("ls")])
    assert seeds[:2] == seeds[2:4]
    assert len({*seeds}) == 4


def test_a_retry_draws_another_seed():
    seeds = []
    world = language_world(lambda request: seeds.append(request.sampling.seed) or "")
    session, parser = begun(world)
    for _ in range(3):
        assert world.step([session], [parser.parse("ls")])[0].retryable
    assert len({*seeds}) == 3


def test_an_interrupted_wave_leaves_every_session_as_it_was():
    def answer(request):
        if "second" in request.messages[-1]["content"]:
            raise KeyboardInterrupt
        return predicted("fine")

    world = language_world(answer)
    (first, parser), (second, _) = begun(world), begun(world)
    with pytest.raises(KeyboardInterrupt):
        world.step([first, second], [parser.parse("first"), parser.parse("second")])
    assert (first.turn, second.turn) == (0, 0)


def test_a_defect_of_an_engine_costs_one_member_of_the_wave(monkeypatch):
    world = open_world("grounded", WorldOptions(load_spec("terminal")))
    (first, parser), (second, _) = begun(world), begun(world)
    monkeypatch.setattr(type(first.machine), "act", lambda machine, keys: 1 / 0 if machine is first.machine else "fine")
    broken, fine = world.step([first, second], [parser.parse("ls"), parser.parse("ls")])
    assert (broken.kind, fine.text) == ("engine", "fine")


def test_a_generator_that_cannot_seed_gets_no_seed():
    seeds = []
    generator = ScriptedGenerator(lambda request: seeds.append(request.sampling.seed) or predicted("x"))
    generator.supports_seed = False
    world = WorldOptions(load_spec("terminal")).language(generator)
    session, parser = begun(world)
    world.step([session], [parser.parse("ls")])
    assert seeds == [None]


@given(st.integers(0, 2**63), st.integers(0, 10_000))
def test_request_seeds_fit_every_backend(seed, turn):
    assert 0 <= step_seed(seed, turn) < 2**31


@pytest.mark.parametrize(
    "change", [{"profile": "compact"}, {"sampling": {"temperature": 0.1}}, {"system_prompt": "Be."}]
)
def test_a_fingerprint_covers_whatever_changes_the_requests(change):
    plain = language_world(str).fingerprint
    assert language_world(str, **change).fingerprint.digest != plain.digest
    assert language_world(str).fingerprint == plain


def test_a_ready_system_prompt_is_used_as_it_is():
    world = language_world(str, system_prompt="You are a shell. {{ not a template }}")
    session, _ = begun(world)
    assert session.system == "You are a shell. {{ not a template }}"


def test_every_kind_of_world_keeps_the_contract(tmp_path):
    options = WorldOptions(load_spec("terminal"))
    worlds = [ScriptedWorld(), open_world("grounded", options), language_world(str)]
    worlds.append(RecordingWorld(ScriptedWorld(), tmp_path / "r.jsonl"))
    worlds.append(open_world(f"recorded:{tmp_path}/r.jsonl", options))
    for world in worlds:
        assert isinstance(world, World)
        world.close()


@pytest.mark.parametrize("handle", ["", "nothing", "vllm:", "http:", "recorded:", "record:x", "record:+grounded"])
def test_a_handle_that_names_no_world_says_what_does(handle):
    with pytest.raises(WorldNotConfigured, match=r"chromium \(Web\), tiny, vllm:MODEL"):
        open_world(handle, WorldOptions(load_spec("terminal")))


@pytest.mark.parametrize(("domain", "there"), [("terminal", "grounded"), ("web", "grounded, grounded:chromium")])
def test_a_variant_that_a_domain_lacks_says_which_there_are(domain, there):
    with pytest.raises(WorldNotConfigured, match=f"does not exist .*; there is {there}$"):
        open_world("grounded:firefox", WorldOptions(load_spec(domain)))


@pytest.mark.parametrize("name", ["grounded", "auto", "vllm:mine", "", "two words"])
def test_a_name_that_could_mean_another_world_is_refused(name):
    with pytest.raises(SpecError, match="register_world"):
        register_world(name, lambda options: ScriptedWorld())
