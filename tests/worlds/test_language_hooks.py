"""What others hang on a language world: its confidence, the correction of a turn, and retrieval."""

from __future__ import annotations

from dataclasses import replace

import pytest
from worlds import dream, language_world, make, predicted

from agentworld_gym import load_spec
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.contracts import Completion, Usage
from agentworld_gym.core.traces import read_trace
from agentworld_gym.worlds import LanguageWorld
from agentworld_gym.worlds.recordings.recorded_world import RecordedWorld

PARSER = ActionParser(load_spec("terminal"))


def begun(world: LanguageWorld, domain: str = "terminal"):
    [session] = world.begin([load_spec(domain).handwritten_tasks()[0]], [7])
    return session


def step(world, session, text):
    [answer] = world.step([session], [PARSER.parse(text)])
    return answer


def sure(logprob: float | None):
    return lambda request: Completion(predicted("$ "), logprob=logprob)


# Confidence


@pytest.mark.parametrize("logprob", [-0.25, 0.0, None])
def test_an_observation_is_as_confident_as_its_completion(logprob):
    world = language_world(sure(logprob))
    assert step(world, begun(world), "ls").confidence == logprob


def test_confidence_stands_in_info_and_in_the_world_log_where_it_is_known(tmp_path):
    for name, logprob in (("sure", -0.125), ("mute", None)):
        env = make(world=dream(name, sure(logprob)), traces=str(tmp_path / name))
        env.reset(seed=3)
        info = env.step("ls")[4]
        env.close()
        ((logged,),) = [episode.steps for episode in read_trace(tmp_path / name)]
        if logprob is None:
            assert "confidence" not in info and "confidence" not in logged.world
        else:
            assert info["confidence"] == logged.world["confidence"] == logprob


def test_an_action_that_costs_no_call_has_no_confidence():
    world = language_world(sure(-0.5))
    session = begun(world)
    [answer] = world.step([session], [replace(PARSER.parse("ls"), error="no such thing")])
    assert answer.confidence is None


def test_a_recording_keeps_confidence(tmp_path):
    seen = []
    for world in (f"record:{tmp_path}/r.jsonl+{dream('fairly_sure', sure(-0.75))}", f"recorded:{tmp_path}/r.jsonl"):
        env = make(world=world)
        env.reset(seed=3)
        seen.append(env.step("ls"))
        env.close()
    assert seen[0] == seen[1] and seen[0][4]["confidence"] == -0.75


def test_recordings_without_confidence_are_still_read(tmp_path):
    name = dream("silent", sure(None))
    env = make(world=f"record:{tmp_path}/r.jsonl+{name}")
    env.reset(seed=3)
    env.step("ls")
    env.close()
    assert "confidence" not in (tmp_path / "r.jsonl").read_text()
    assert RecordedWorld(tmp_path / "r.jsonl")


# Correction


def test_a_corrected_turn_is_what_the_next_one_builds_on():
    asked = []
    world = language_world(lambda request: asked.append(request) or predicted("wrong"))
    session = begun(world)
    step(world, session, "ls")
    world.correct(session, "a.txt\n<think>")
    assert session.observation == session.screen == "a.txt\n<think>"
    step(world, session, "pwd")
    shown = [message["content"] for message in asked[-1].messages if message["role"] == "assistant"]
    assert shown == [world.prompts.observation("a.txt\n<think>")]


def test_a_correction_equals_having_been_right():
    wrong, right = language_world(lambda r: predicted("wrong")), language_world(lambda r: predicted("right"))
    one, other = begun(wrong), begun(right)
    step(wrong, one, "ls")
    step(right, other, "ls")
    wrong.correct(one, "right")
    assert one == other


def test_a_correction_leaves_forks_alone():
    world = language_world(lambda request: predicted("wrong"))
    session = begun(world)
    step(world, session, "ls")
    twin = session.fork()
    before = list(twin.history)
    world.correct(session, "right")
    assert (twin.observation, twin.history) == ("wrong", before)


def test_a_correction_takes_a_wrong_screen_back():
    """On Web an answer without a snapshot leaves the page as it was, whatever page was predicted."""
    world = language_world(lambda request: predicted(another), "web")
    session = begun(world, "web")
    before = session.screen
    another = before.replace("Inbox", "Outbox")
    world.step(
        [session], [ActionParser(load_spec("web")).parse(load_spec("web").action.examples[0], session.task.tools)]
    )
    assert session.screen == another != before
    world.correct(session, "Error: no such element")
    assert (session.observation, session.screen) == ("Error: no such element", before)
    world.correct(session, another)
    assert session.screen == another


def test_there_is_nothing_to_correct_before_the_first_turn():
    world = language_world(lambda request: predicted("x"))
    with pytest.raises(ValueError, match="without a turn"):
        world.correct(begun(world), "y")


# Retrieval


def showing(text: str, generator_of: LanguageWorld) -> LanguageWorld:
    return replace(generator_of, retrieval=lambda session, action: f"{text} {session.turn} {action.raw}\n")


def test_retrieved_steps_stand_before_the_closing_request_and_never_in_the_history():
    asked = []
    world = showing("LIKE", language_world(lambda request: asked.append(request) or predicted("out")))
    session = begun(world)
    step(world, session, "ls")
    step(world, session, "pwd")
    last = asked[-1].messages[-1]["content"]
    assert last.endswith("LIKE 1 pwd\n" + world.prompts.closing)
    assert sum("LIKE" in message["content"] for message in asked[-1].messages) == 1
    assert not any("LIKE" in message["content"] for message in session.history)
    assert world.messages(session, PARSER.parse("ls"))[-1]["content"].endswith("LIKE 2 ls\n" + world.prompts.closing)


def test_forks_are_exact_with_retrieval():
    asked = []
    world = showing("LIKE", language_world(lambda request: asked.append(request) or predicted("out")))
    session = begun(world)
    step(world, session, "ls")
    twin = session.fork()
    step(world, session, "pwd")
    step(world, twin, "pwd")
    assert asked[-1] == asked[-2]


def test_retrieved_steps_count_towards_the_context():
    def answer(request):
        size = sum(len(message["content"]) for message in request.messages)
        return Completion(predicted("out"), usage=Usage(size, 1))

    world = showing("x" * 40_000, language_world(answer))
    session = begun(world)
    step(world, session, "ls")
    assert step(world, session, "ls").kind == "overflow"


def test_retrieval_is_a_part_of_the_fingerprint():
    class Retrieval:
        def __init__(self, digest):
            self.digest = digest

        def __call__(self, session, action):
            return ""

    world = language_world(lambda request: predicted("out"))
    digests = [world.fingerprint.digest]
    for retrieval in (Retrieval("a" * 16), Retrieval("b" * 16), lambda session, action: ""):
        other = replace(world, retrieval=retrieval)
        digests.append(other.fingerprint.digest)
        assert other.fingerprint.parts["demonstrations"].verified is hasattr(retrieval, "digest")
    assert len(set(digests)) == 4
    assert "demonstrations" not in world.fingerprint.parts
