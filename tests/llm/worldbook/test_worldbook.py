"""What recorded sessions tell of a system: mined by code, ruled by a model, and shown to a world model."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from aiohttp import web
from fault_server import FaultServer
from hypothesis import given, settings
from hypothesis import strategies as st
from loopback import servers
from typer.testing import CliRunner
from worlds import dream, language_world, make, predicted

from agentworld_gym.base.errors import SpecError, WorldNotConfigured
from agentworld_gym.cli.app import app
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.contracts import (
    AnswerSource,
    AskedStep,
    ChatRequest,
    Completion,
    Failure,
    FailureKind,
    Observation,
)
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import FREE_PLAY, Task
from agentworld_gym.llm.generators import ScriptedGenerator
from agentworld_gym.llm.retrieval import StepRetrieval, origin_of_row
from agentworld_gym.llm.retrieval.build import build_index
from agentworld_gym.llm.rows.row import Row, RowProvenance
from agentworld_gym.llm.worldbook import BookFirst, Worldbook, chosen_sessions, mine, read_worldbook
from agentworld_gym.llm.worldbook.book import BookRule, When
from agentworld_gym.llm.worldbook.steps import Effects, Step, rendered, templated
from agentworld_gym.worlds.checks import REASONS

FREE = Task(
    id=FREE_PLAY, domain="mcp", instruction="Look.", family=FREE_PLAY, success=(), first_observation="Connected."
)


def call(tool: str, /, **arguments: Any) -> str:
    return json.dumps({"name": f"notes-{tool}", "arguments": arguments})


def session(name: str, *turns: tuple[str, str], domain: str = "mcp", **told: Any) -> Row:
    """A session of free play in a tool server, of some calls and what they showed."""
    actions, shown = zip(*turns, strict=True)
    last = {"current_prompt": actions[-1], "turn_idx": len(turns), "total_turns": len(turns)}
    row = {"task": domain, "id": name, "system_str": name, "prompt": actions, "response": shown, **last}
    free = {"task_id": FREE_PLAY, "family": FREE_PLAY, "provenance": RowProvenance(source="collect"), "split": "train"}
    return Row(**row, actions=actions, observations=shown, **{"first_observation": "Connected.", **free, **told})


def notes(seed: int) -> Row:
    """A session of a server of notes, which reads, writes and lists them."""
    rng, kept, turns = Random(seed), dict[str, str](), list[tuple[str, str]]()
    for number in range(8):
        name = rng.choice([*kept, f"note{seed}x{number}"])
        action = rng.choice([call("read", name=name), call("write", name=name, text="a b"), call("read"), call("list")])
        given = json.loads(action)["arguments"]
        if "read" in action:
            shown = kept.get(name, f"Error: no note {name}") if given else "Error: name is required"
        elif "write" in action:
            kept[name], shown = given["text"], json.dumps(given, indent=2)
        else:
            shown = json.dumps({"notes": [{"name": one, "size": len(text)} for one, text in kept.items()]})
        turns.append((action, shown))
    return session(f"s{seed}", *turns)


SESSIONS = [notes(seed) for seed in range(40)]


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """The file of the book of these sessions."""
    mine(SESSIONS).write(tmp_path / "book.yaml")
    return tmp_path / "book.yaml"


def test_a_book_holds_tools_kinds_of_answers_errors_with_their_triggers_and_entities() -> None:
    found = mine(SESSIONS)
    read = found.actions["notes-read"]
    assert read.arguments["properties"] == {"name": {"type": "string"}}
    assert read.arguments["required"] == ["name"]
    told = {kind.answer: (kind.error, str(kind.when)) for kind in read.answers}
    assert told == {
        "Error: name is required": (True, "`name` is missing"),
        "Error: no note {name}": (True, "`name` was never seen before"),
        "a b": (False, "`name` was seen before"),
    }
    assert [kind.answer for kind in found.actions["notes-write"].answers] == [
        '{\n  "name": "{name:q}",\n  "text": "{text:q}"\n}'
    ]
    assert found.entities["notes"] == {"name": "string", "size": "integer"}
    assert set(found.sessions) == {row.digest() for row in SESSIONS}


def test_a_book_predicts_what_its_templates_give_and_nothing_else() -> None:
    found, other = mine(SESSIONS), notes(99)
    pages = found.actions
    turns = list(zip(other.actions, other.observations, strict=True))
    for number, (action, shown) in enumerate(turns):
        step = found.step(action, other.first_observation, turns[:number])
        if (expected := pages[step.name].expected(step)) is not None and step.name != "notes-list":
            assert expected == shown
    assert pages["notes-read"].expected(Step.of(call("read", name="new"), "", [])) == "Error: no note new"


def test_a_book_is_not_sure_of_a_success_where_the_arguments_break_the_schema() -> None:
    found = mine(SESSIONS)
    right, wrong = (found.answer(found.step(call("write", name=name, text="a b"), "", [])) for name in ("new", ["new"]))
    assert right is not None and right.share > 0.9
    assert wrong is not None and wrong.share == 0


@pytest.mark.parametrize(("says", "told"), [("fine", False), ("Error: no", True)])
def test_no_rule_makes_a_success_of_arguments_that_break_the_schema(says: str, told: bool) -> None:
    found = mine(SESSIONS)
    rule = BookRule(when=When(given=("name",)), answer=says, steps=9, right=9, without=0)
    page = found.actions["notes-write"].model_copy(update={"rules": (rule,)})
    right, wrong = (page.told(found.step(call("write", name=name, text="a b"), "", [])) for name in ("new", ["new"]))
    assert right is not None and right.text == says
    assert (wrong is not None and wrong.text == says) is told


def test_commands_have_words_and_no_schema() -> None:
    rows = [session(name, (f"cat {name}.txt", f"cat: {name}.txt: No such file"), domain="terminal") for name in "abc"]
    [page] = mine(rows).actions.values()
    assert (page.answers[0].answer, page.answers[0].error) == ("cat: {words[]}: No such file", True)


def test_a_book_can_be_read_and_edited(book: Path) -> None:
    assert read_worldbook(book) == mine(SESSIONS)
    data = yaml.safe_load(book.read_text())
    data["actions"]["notes-read"]["answers"] = [
        {
            "answer": "always",
            "count": 1,
            "holds": 0.5,
            "examples": data["actions"]["notes-read"]["answers"][0]["examples"],
        }
    ]
    book.write_text(yaml.safe_dump(data))
    assert read_worldbook(book).actions["notes-read"].expected(Step.of(call("read"), "", [])) == "always"


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"when": {"mising": ["name"]}}, "mising"),
        ({"when": {"types": {"name": "text"}}}, "types"),
        ({"count": 0}, "count"),
        ({"examples": [{"session": "0", "before": "", "action": "", "answer": ""}]}, "examples of sessions"),
        ({"examples": []}, "examples"),
    ],
)
def test_what_is_wrong_in_a_book_is_named(book: Path, wrong: dict[str, Any], named: str) -> None:
    data = yaml.safe_load(book.read_text())
    data["actions"]["notes-read"]["answers"][0] |= wrong
    book.write_text(yaml.safe_dump(data))
    with pytest.raises(SpecError, match=named):
        read_worldbook(book)


def test_a_book_is_of_one_system_of_the_asked_split_and_of_no_faults() -> None:
    other = session("other", ("ls", "a.txt"), domain="terminal")
    with pytest.raises(SpecError, match="mcp, that of the sessions before"):
        chosen_sessions([SESSIONS[0], other])
    later = SESSIONS[1].model_copy(update={"split": "test"})
    stormy = SESSIONS[2].model_copy(update={"controls": {"intermittent-errors": 0.5}})
    assert chosen_sessions([SESSIONS[0], SESSIONS[0], later, stormy]) == SESSIONS[:1]
    with pytest.raises(SpecError, match="recorded sessions of the split validation"):
        chosen_sessions([SESSIONS[0]], "validation")


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.text(max_size=12) | st.sampled_from([call("read"), "[{}]", '{"name": []}']), st.text())))
def test_any_session_makes_a_book_that_reads_as_it_was_written(tmp_path_factory: Any, turns: list[Any]) -> None:
    rows = [session(name, ("ls", "{name} {words[]} …"), *turns) for name in "ab"]
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    mine(rows).write(path)
    found = read_worldbook(path)
    assert found == mine(rows)
    for action, _ in turns:
        step = Step.of(action, "", turns)
        found.actions[step.name].expected(step)


def shelf(seed: int) -> Row:
    """A session of a shelf on which boxes are put and from which they are taken, beside a lamp that only shines."""
    rng, there, turns = Random(seed), set[str](), list[tuple[str, str]]()
    for _ in range(12):
        box = rng.choice([*there, f"box{rng.randrange(40)}"])
        tool = rng.choice(["put", "take", "open", "look"])
        if tool == "put":
            there.add(box)
            shown = f"Put {box}."
        elif tool == "look":
            shown = "A lamp."
        else:
            shown = f"{tool}: {box}" if box in there else f"Error: no {box}"
            there -= {box} if tool == "take" else set()
        turns.append((call(tool, **({} if tool == "look" else {"box": box})), shown))
    return session(f"shelf{seed}", *turns)


def test_a_book_follows_what_actions_make_and_remove() -> None:
    found = mine([shelf(seed) for seed in range(60)])
    assert found.effects.makes == (("notes-put", "box"),)
    assert found.effects.removes == (("notes-take", "box"),)
    assert "notes-look" in found.effects.idle and "notes-put" not in found.effects.idle
    turns = [(call("put", box="box1"), "Put box1.")]
    for done, shown in ((turns, "open: box1"), ([*turns, (call("take", box="box1"), "take: box1")], "Error: no box1")):
        answer = found.answer(found.step(call("open", box="box1"), "Connected.", done))
        assert answer is not None and answer.text == shown and answer.share > 0.9


def disk(seed: int) -> Row:
    """A session of a disk with files, which hold a text and tags, and folders."""
    rng, there, turns = Random(seed), dict[str, dict[str, Any] | None](), list[tuple[str, str]]()
    for number in range(12):
        path = rng.choice([*there, f"p{seed}-{number}"])
        tool = rng.choice(["write", "mkdir", "read", "read", "tag"])
        given: dict[str, Any] = {"path": path}
        kept = there.get(path)
        if tool == "write":
            given |= {"text": f'say "{rng.randrange(99)}"', "tags": [str(rng.randrange(99)) for _ in range(2)]}
        if tool == "read":
            found = json.dumps({"file": kept}, indent=2) if kept else f"EISDIR: illegal operation on {path}"
            shown = found if path in there else f"ENOENT: no such file {path}"
        elif tool == "tag":
            found = there.get(path)
            shown = f"Tagged {path}." if found else f"ENOENT: no such file {path}"
            there |= {path: {**found, "tags": ["new"]}} if found else {}
        elif path in there:
            shown = f"EEXIST: {path} already exists"
        else:
            there[path], shown = given if tool == "write" else None, f"Made {path}."
        turns.append((call(tool, **given), shown))
    return session(f"disk{seed}", *turns)


def test_a_book_knows_which_action_made_a_thing_and_with_what() -> None:
    found = mine([disk(seed) for seed in range(80)])
    assert set(found.effects.makes) == {("notes-write", "path"), ("notes-mkdir", "path")}
    file = {"path": "p", "text": 'say "7"', "tags": ["1", "2"]}
    turns = [(call("write", **file), "Made p."), (call("mkdir", path="q"), "Made q.")]
    for path, shown in (("p", json.dumps({"file": file}, indent=2)), ("q", "EISDIR: illegal operation on q")):
        answer = found.answer(found.step(call("read", path=path), "Connected.", turns))
        assert answer is not None and answer.text == shown and answer.share > 0.9
    tagged = found.step(call("read", path="p"), "Connected.", [*turns, (call("tag", path="p"), "Tagged p.")])
    assert (answer := found.answer(tagged)) is not None and (answer.share < 0.5 or "new" in answer.text)
    kinds = {str(kind.when): kind.answer for kind in found.actions["notes-read"].answers}
    assert kinds["what it names was last changed by `notes-write`"] == '{\n  "file": {$made:2+2}\n}'


def test_what_a_thing_holds_now_is_what_changed_it_last() -> None:
    effects = Effects(makes=(("notes-write", "path"),), idle=("notes-read",))
    turns = [(call("write", path="p", text="old"), "ok"), (call("write", path="p", text="new"), "ok")]
    step = Step.of(call("read", path="p"), "", turns, effects)
    assert rendered("{$made.text} {$change.text} {$maker} {$last}", step) == "old new notes-write notes-write"
    assert rendered("{$made.text}", Step.of(call("read", path="q"), "", turns, effects)) is None


def test_a_text_in_json_is_written_as_json_quotes_it() -> None:
    step = Step.of(call("add", text='say "hi"', tags=["a\n"]), "", [])
    shown = json.dumps([{"text": 'say "hi"', "tags": ["a\n"]}], indent=2)
    for answer, template in (
        (shown, '[\n  {\n    "text": "{text:q}",\n    "tags": {tags:2+4}\n  }\n]'),
        (json.dumps({"message": 'Noted: say "hi".'}), '{"message": "Noted: {text:q}."}'),
        ('Wrote "say "hi"" to disk', 'Wrote "{text}" to disk'),
    ):
        assert templated(answer, step) == template and rendered(template, step) == answer


def test_an_action_that_changes_nothing_shows_again_what_it_showed() -> None:
    step = Step.of("ls", "$", [("ls", "a"), ("pwd", "/")], Effects(idle=("ls", "pwd")))
    assert step.again == "a"
    assert Step.of("ls", "$", [("ls", "a"), ("rm a", "")], Effects(idle=("ls", "pwd"))).again is None


def test_facts_are_what_several_sessions_were_answered_alike_in_one_state() -> None:
    rooms = {"hall": "A hall.", "yard": "A yard."}
    rows = [
        session(f"{room}{number}", ("go " + room, shown), ("go on", f"Behind the {room}."), domain="terminal")
        for room, shown in rooms.items()
        for number in range(4)
    ]
    found = mine(rows)
    for room, shown in rooms.items():
        answer = found.answer(found.step("go on", "Connected.", [("go " + room, shown)]))
        assert answer == (f"Behind the {room}.", 0.8)


def test_a_line_of_a_shell_begins_with_its_last_line_and_the_action() -> None:
    rows = [
        session(name, ("echo a", f"{name}$ echo a\na\n{name}$"), (f"cd {name}", f"{name}$ cd {name}\n{name}$"),
                domain="terminal", first_observation=f"{name}$")
        for name in "abc"
    ]  # fmt: skip
    assert [kind.answer for kind in mine(rows).actions["cd"].answers] == ["{$line} {$action}\n{$line}"]


def test_a_book_plays_a_world_alone_and_tells_how_likely_its_answers_are(book: Path, tmp_path: Path) -> None:
    env = make("AgentWorld/MCP-v0", world=f"worldbook:{book}", task=FREE)
    env.reset(seed=0)
    for action, shown in ((call("read", name="x"), "Error: no note x"), (call("list"), '{"notes": []}')):
        observation, _, _, truncated, info = env.step(action)
        assert (observation, truncated) == (shown, False)
        assert info["confidence"] < 0
    *_, truncated, info = env.step(call("unknown"))
    assert truncated and info["failure"]["kind"] == FailureKind.UNSEEN
    env.close()
    guarded = make("AgentWorld/MCP-v0", world=f"worldbook:{book}", task=FREE, language={"guard": {"least": 0.99}})
    guarded.reset(seed=0)
    *_, info = guarded.step(call("read", name="x"))
    assert info["failure"]["kind"] == FailureKind.UNLIKELY
    guarded.close()
    with pytest.raises(SpecError, match="a worldbook has no options"):
        make("AgentWorld/MCP-v0", world=f"worldbook:{book}", language={"generator": {"confidence": True}})
    with pytest.raises(SpecError, match="terminal, the domain of the world"):
        make("AgentWorld/Terminal-v0", world=f"worldbook:{book}")


def test_a_book_answers_what_it_is_sure_of_and_a_model_the_rest(book: Path) -> None:
    asked: list[ChatRequest] = []

    def answer(request: ChatRequest) -> str:
        asked.append(request)
        return predicted("From the model.")

    env = make("AgentWorld/MCP-v0", world=f"worldbook:{book}+{dream('asker', answer)}", task=FREE)
    env.reset(seed=0)
    assert env.step(call("read", name="x"))[0] == "Error: no note x"
    assert not asked
    assert env.step(call("unknown"))[0] == "From the model."
    assert [("no note x" in message["content"]) for message in asked[0].messages] == [False, False, True, False]
    parts = env.unwrapped.runner.world.fingerprint.parts
    assert parts["generator"].value == "scripted" and parts["worldbook"].value.startswith(read_worldbook(book).digest)
    env.close()
    for other in ("grounded", "tiny"):
        with pytest.raises(WorldNotConfigured, match="a language world that writes whole observations"):
            make("AgentWorld/MCP-v0", world=f"worldbook:{book}+{other}")


def test_a_model_is_asked_where_an_answer_of_the_book_was_refused(book: Path) -> None:
    generator = BookFirst(read_worldbook(book), ScriptedGenerator(lambda _: "From the model."))
    action = ActionParser(load_spec("mcp")).parse(call("read", name="x"))
    texts = []
    for reasks in (0, 1):
        request = ChatRequest([{"role": "user", "content": "?"}], Sampling(), step=AskedStep(action, "", (), reasks))
        [(_, answer)] = generator.submit([request])
        assert isinstance(answer, Completion)
        texts.append(answer.text)
    assert "no note x" in texts[0] and texts[1] == "From the model."
    unsure = BookFirst(read_worldbook(book).model_copy(update={"sure": 1.0}), ScriptedGenerator(lambda _: "Mine."))
    [(_, answer)] = unsure.submit([ChatRequest([], Sampling(), step=AskedStep(action, "", ()))])
    assert isinstance(answer, Completion) and answer.text == "Mine."


def test_a_book_says_what_a_system_pays(tmp_path: Path) -> None:
    told = ("[reward 0]", "[reward 1; over; success]")
    rows = [
        session(name, ("go", "A hall."), ("take coin", "Taken."), verdicts=told, domain="terminal") for name in "ab"
    ]
    found = mine(rows)
    assert found.pays == "success"
    assert [kind.answer for kind in found.actions["take"].answers] == ["Taken.\n[reward 1; over; success]"]


class Asked:
    """A model that keeps what it is asked, and answers with one text."""

    def __init__(self, answer: str) -> None:
        self.answer, self.asked = answer, list[str]()

    def __call__(self, request: ChatRequest) -> str:
        self.asked.append(request.messages[-1]["content"])
        return predicted(self.answer)


def asked(book: Path, profile: str, *actions: str) -> list[str]:
    """What a world asks a model of some actions, none of which enters the history."""
    model = Asked("Error: no note x")
    world = language_world(model, "mcp", profile=profile, worldbook=book)
    [shown] = world.begin([FREE], [0])
    for text in actions:
        world.step([shown], [ActionParser(load_spec("mcp")).parse(text)])
    assert all(text.endswith(world.prompts.closing) for text in model.asked)
    assert not any("no note {name}" in message["content"] for message in shown.history)
    return [text.removesuffix(world.prompts.closing) for text in model.asked]


def test_a_request_shows_the_page_that_fits_the_action_and_the_history_does_not(book: Path) -> None:
    page, unknown = asked(book, "full", call("read", name="<think>"), call("unknown"))
    assert "**name** `string` (REQUIRED)" in page
    assert "where `name` was never seen before:\n```\nError: no note {name}\n```" in page
    assert "notes-write" not in page
    assert page.index("unless the history says otherwise") < page.rindex("Error: no note <\\think>")
    assert "What recordings" not in unknown


def test_a_small_model_is_shown_a_step_like_it_and_the_answer_to_expect(book: Path) -> None:
    [page] = asked(book, "compact", call("read", name="new"))
    before, _, shown = page.partition("~ ")
    assert before.startswith(f"Connected.\n> {call('read', name='new')}")
    assert shown.startswith('{"name": "notes-read"')
    assert shown.endswith(f"\n~ {call('read', name='new')}\nError: no note new")


def test_what_comes_from_the_sessions_own_lineage_is_left_out() -> None:
    own, other = (session(name, (call("read", name=name), f"the text of {name}")) for name in ("own", "other"))
    found = mine([own, other, *SESSIONS])
    barred = found.barred(origin_of_row(own))
    assert barred == {own.digest()}
    left = {kind.answer for kind in found.actions["notes-read"].kinds(barred)}
    assert "the text of {name}" in left
    shown = [one for kind in found.actions["notes-read"].kinds(barred) for one in kind.examples]
    assert own.digest() not in {one.session for one in shown}
    alone = mine([own, *SESSIONS])
    kinds = alone.actions["notes-read"].kinds
    assert len(kinds(alone.barred(origin_of_row(own)))) == len(kinds()) - 1


def test_free_play_is_no_common_origin_but_a_replayed_session_is_its_own(tmp_path: Path) -> None:
    index = build_index(SESSIONS, tmp_path / "index", split=None)
    model = Asked("x")
    world = language_world(model, "mcp", profile="compact", retrieval=str(index.folder))
    [played] = world.begin([FREE], [0])
    [replayed] = world.begin([FREE], [0])
    row = next(row for row in SESSIONS if "write" in row.actions[0])
    replayed.replays = origin_of_row(row)  # type: ignore[union-attr]
    action = ActionParser(load_spec("mcp")).parse(row.actions[0])
    for one in (played, replayed):
        world.step([one], [action])
    assert [row.actions[0] in text.partition("~ ")[2] for text in model.asked] == [True, False]
    assert StepRetrieval(index, world.prompts).text(action.raw, "", ()) != ""


def test_an_environment_takes_a_book_and_no_other_world_does(book: Path) -> None:
    model = Asked("Error: no note x")
    options = {"task": FREE, "language": {"worldbook": str(book)}}
    env = make("AgentWorld/MCP-v0", world=dream("reading_a_book", model), **options)
    env.reset(seed=0)
    env.step(call("read", name="x"))
    env.close()
    assert "What recordings of this system tell about `notes-read`" in model.asked[0]
    with pytest.raises(SpecError, match="only a language world reads a worldbook"):
        make("AgentWorld/MCP-v0", world="grounded", language={"worldbook": str(book)})
    with pytest.raises(SpecError, match="terminal, the domain of the world"):
        make("AgentWorld/Terminal-v0", world="reading_a_book", language={"worldbook": str(book)})
    with pytest.raises(SpecError, match="agentworld worldbook"):
        make("AgentWorld/MCP-v0", world="reading_a_book", language={"worldbook": "nowhere.yaml"})


def test_a_world_is_another_one_with_a_book_and_with_recorded_steps_beside_it(book: Path, tmp_path: Path) -> None:
    index = str(build_index(SESSIONS, tmp_path / "index", split=None).folder)
    asked = [{}, {"worldbook": book}, {"retrieval": index}, {"worldbook": book, "retrieval": index}]
    worlds = [language_world(Asked("x"), "mcp", **options) for options in asked]
    assert len({world.fingerprint.digest for world in worlds}) == len(worlds)
    assert all(world.fingerprint.parts["demonstrations"].verified for world in worlds[1:])


def test_a_call_that_breaks_a_schema_of_the_book_is_refused_in_the_systems_own_words(book: Path) -> None:
    parser = ActionParser(load_spec("mcp"))

    def answered(text: str, **options: Any) -> tuple[Observation | Failure, Asked]:
        world = language_world(model := Asked("the text"), "mcp", worldbook=book, **options)
        [begun] = world.begin([FREE], [0])
        return world.step([begun], [parser.parse(text)])[0], model

    refused, model = answered(call("read"), checks={})
    assert isinstance(refused, Observation)
    assert (refused.text, refused.source) == ("Error: name is required", AnswerSource.CHECKED)
    assert [REASONS["schemas"] in text for text in model.asked] == [False, True]
    unknown, _ = answered(call("write", name=3), checks={})
    assert isinstance(unknown, Failure)
    assert (unknown.kind, unknown.message) == (FailureKind.IMPOSSIBLE, REASONS["schemas"])
    for text, checks in ((call("read", name="x"), {}), (call("read"), {"schemas": False}), (call("other"), {})):
        taken, _ = answered(text, checks=checks)
        assert isinstance(taken, Observation)
        assert taken.text == "the text"


RULES = [
    '{"when": {"undone": ["notes-write"]}, "answer": "{\\"notes\\": []}"}',
    '{"when": {"done": ["notes-write"]}, "answer": "{\\"notes\\": [7]}"}',
    '{"when": {"always": true}, "answer": "x"}',
    "{no JSON",
]


def test_a_model_writes_rules_and_those_are_kept_that_predict_other_sessions(tmp_path: Path) -> None:
    """A model behind a server, asked by the command; a rule that predicts no more than the book is dropped."""

    async def chat(server: FaultServer, body: dict[str, Any], request: web.Request) -> web.StreamResponse:
        text = "<think>hm</think>\n" + "\n".join(["Rules:", *RULES])
        message = {"role": "assistant", "content": text}
        choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
        return web.json_response({"choices": choices, "usage": {"prompt_tokens": 1, "completion_tokens": 1}})

    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(f"{row.model_dump_json()}\n" for row in SESSIONS))
    with servers(FaultServer) as serve:
        server = serve(chat)
        out = tmp_path / "book.yaml"
        done = CliRunner().invoke(app, ["worldbook", str(rows), "--out", str(out), "--model", server.url])
        assert done.exit_code == 0, done.output
        asked = [body["messages"][-1]["content"] for body in server.bodies]
    assert len(asked) == 1, "only the list of notes cannot be predicted by code"
    assert "The action is `notes-list`" in asked[0]
    found = read_worldbook(out)
    assert "rules: 2 proposed" in done.output
    rules = [rule for page in found.actions.values() for rule in page.rules]
    assert f"{len(rules)} kept, 2 could not be read" in done.output
    assert all(rule.right > rule.without for rule in rules)
    assert set(found.sessions) == {row.digest() for row in SESSIONS}


def test_the_command_says_what_it_mined(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(f"{row.model_dump_json()}\n" for row in SESSIONS))
    done = CliRunner().invoke(app, ["worldbook", str(rows), "--out", str(tmp_path / "book.yaml")])
    assert done.exit_code == 0, done.output
    assert "3 actions" in done.output
    assert "of 40 sessions" in done.output
    assert isinstance(read_worldbook(tmp_path / "book.yaml"), Worldbook)
