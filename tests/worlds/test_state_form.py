"""The state form: a language world predicts changes of the structured state, and the view alone prints the screens."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from agentworld_gym.agents.collect.config import SmallModelSessions
from agentworld_gym.agents.collect.recorder import Recorder
from agentworld_gym.base.errors import AnswerError, SpecError
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.contracts import Action, ChatRequest, Completion, Failure, FailureKind, Observation, Usage
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.domain.view import compact
from agentworld_gym.core.engines import Controls, Restorable
from agentworld_gym.core.engines.catalog import load_engine
from agentworld_gym.core.screens.sight import SHOW_AGAIN, Sight, shows
from agentworld_gym.core.tasks import generate
from agentworld_gym.domains.android.engine import AndroidView
from agentworld_gym.domains.android.engine.apps import apps
from agentworld_gym.domains.android.engine.phone import Phone
from agentworld_gym.domains.desktop.engine.desktop import Desktop
from agentworld_gym.domains.desktop.engine.filesystem import FileSystem
from agentworld_gym.domains.desktop.engine.programs import programs
from agentworld_gym.domains.mcp.engine.machine import ToolMachine
from agentworld_gym.domains.mcp.engine.sql_tools import SqlCall
from agentworld_gym.domains.swe.engine import SweMachine
from agentworld_gym.domains.swe.engine.files import Files
from agentworld_gym.domains.swe.engine.git.history import GitHistory
from agentworld_gym.domains.swe.engine.python.monty.sandbox import MontySandbox
from agentworld_gym.domains.terminal.engine.faults import FaultyTerminal
from agentworld_gym.domains.terminal.engine.machine import TerminalMachine
from agentworld_gym.domains.web.engine.browser.browser import Browser
from agentworld_gym.domains.web.engine.sites import Sites
from agentworld_gym.domains.web.engine.sites.database import Store
from agentworld_gym.domains.web.engine.view import WebView
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.evaluation.fidelity.measure import FidelityPlan, measure
from agentworld_gym.llm.generators import ScriptedGenerator
from agentworld_gym.llm.prompting.prompt import Prompts
from agentworld_gym.llm.prompting.prompt_options import PromptOptions
from agentworld_gym.llm.rows.replayed_states import shown_states
from agentworld_gym.llm.rows.rerendering import prompts_for, task_of
from agentworld_gym.llm.rows.row import Row
from agentworld_gym.llm.rows.samples_from_rows import cpt_sample
from agentworld_gym.worlds.language import LanguageWorld
from agentworld_gym.worlds.language_session import LanguageSession
from agentworld_gym.worlds.options import WorldOptions
from agentworld_gym.worlds.registry import register_world

DOMAINS = ("android", "desktop", "mcp", "swe", "terminal", "web")
WRONG = {
    "android": ["The phone shows the clock.", ">tasks/clock", 'front = "chess"', "tasks = 7"],
    "desktop": [
        "The window closes.",
        '+.. {"id":"chess"}',
        '+.. {"id":"spreadsheet","at":"first"}',
        "-windows/chess",
        "windows = 7",
        "-home",
    ],
    "mcp": [
        "The order is cancelled.",
        "said/404",
        'said/get_order/colour = "red"',
        "said/sing = {}",
        "said = 7",
        'said/list_orders/# = "first"',
        '+.orders {"id":"chess"}',
        "-.chess/1",
        ".chess/1/stock += 1",
        "user += 3",
        'rows += "x"',
        "rows = 7",
    ],
    "swe": [
        "The file is written.",
        "said = 7",
        '.refused = "tired"',
        ".exit = 1.5",
        "files = 7",
        'files/../a.py = "x = 1"',
        'files/README.md = ["text"]',
        "step += 0.5",
        "failures = 7",
        'git/branches/main = "first"',
        '+git/commits {"message":"Fix"}',
        "-elsewhere",
    ],
    "terminal": [
        "The file is gone.",
        'cwd = "/nowhere"',
        "said = 7",
        "files = 7",
        "cwd = 7",
        'said += "more"',
        ">files/home",
        'files/home = "a folder"',
    ],
    "web": [
        "The cart is empty.",
        ">tabs/4",
        "tab = 3",
        '+.. {"url":"http://nowhere.example/"}',
        '+.. {"url":"about:blank","focus":"e99"}',
        '.modal = "e1"',
        "data = 7",
    ],
}
"""Answers that cannot be applied, or whose state cannot be viewed, by domain."""


def updates(domain: str) -> Iterator[tuple[Any, str]]:
    """The functions that carry out an action in a domain: the class and the name of each."""
    if domain == "terminal":
        yield from ((TerminalMachine, "act"), (FaultyTerminal, "act"))
    elif domain not in ("mcp", "swe"):
        yield load_engine(domain), "act"
    if domain == "android":
        yield Phone, "send"
        yield from ((type(app), "update") for app in apps().values())
    if domain == "desktop":
        yield from ((Desktop, "launch"), (Desktop, "advance"), (FileSystem, "write"))
        yield from ((type(program), "update") for program in programs().values())
    if domain == "mcp":
        yield from ((ToolMachine, "act"), (SqlCall, "run"))
    if domain == "swe":
        yield from (
            (SweMachine, "act"),
            (Files, "write"),
            (Files, "replace"),
            (GitHistory, "move"),
            (MontySandbox, "run"),
        )
    if domain == "web":
        yield from ((Browser, name) for name in ("go", "travel", "reload", "open_tab", "close_tab"))
        yield from ((Sites, "fetch"), (Store, "write"))


@cache
def recorded(domain: str) -> tuple[Row, ...]:
    """Some sessions of a domain."""
    config = SmallModelSessions(policies={"expert": 0.5, "explore": 0.5}, max_turns=8)
    recorder = Recorder([load_spec(domain)], config, seed=5)
    return tuple(row for number in range(4) if (row := recorder.row(number)) is not None)


@cache
def learned(domain: str) -> dict[str, str]:
    """What a model that learned the samples of these sessions by heart answers to each request."""
    answers = {}
    for row in recorded(domain):
        messages = cpt_sample(row, prompts_for(row, form="state")).messages
        for turn in range(2, len(messages), 2):
            answers[json.dumps(messages[:turn])] = messages[turn]["content"]
    return answers


def by_heart(domain: str) -> Any:
    return lambda request: learned(domain).get(json.dumps(list(request.messages)), "same")


def world(domain: str, answer: Any = None) -> LanguageWorld:
    generator = ScriptedGenerator(answer or by_heart(domain))
    return WorldOptions(load_spec(domain), profile="compact", form="state").language(generator)


def begun(world: LanguageWorld, row: Row) -> tuple[LanguageSession, list[Action]]:
    task = task_of(row)
    assert isinstance(task, Task)
    (session,) = world.begin([task], [task.seed or 0])
    assert isinstance(session, LanguageSession)
    parser = ActionParser(load_spec(row.domain))
    return session, [parser.parse(text, task.tools) for text in row.actions]


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("domain", DOMAINS)
def test_the_view_prints_what_the_engine_shows_and_no_machine_of_the_engine_acts(
    domain: str, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = recorded(domain)[number]
    learned(domain)
    states = world(domain)
    session, actions = begun(states, row)

    def acted(*arguments: Any) -> None:
        raise AssertionError("a language world must not update the state")

    for owner, name in updates(domain):
        monkeypatch.setattr(owner, name, acted)
    assert session.observation == row.first_observation
    for action, truth in zip(actions, row.observations, strict=True):
        (answer,) = states.step([session], [action])
        assert isinstance(answer, Observation)
        assert answer.text == truth


WRITING = [
    ("terminal", "sed -i s/size=4/size=8/ app.conf", '{2}/text = "{}"'),
    ("terminal", "echo 5 >> total.num", '{>}/text = "{}"\nsaid = "{}"'),
    ("terminal", "sort queue.txt > sorted.txt", '{>}/text = "{}"\nsaid = "{}"'),
    ("terminal", "chmod 600 queue.txt", '{2}/mode = "{}"'),
    ("terminal", "cp queue.txt docs", '{2/1} = "{*1}"'),
    ("terminal", "tar -cf all.tar docs", '{1}/tar = "{}"'),
    ("terminal", "cd docs", 'cwd = "{}"'),
    ("swe", "cp app.conf copy.conf", '{to} = "{}"'),
    ("swe", "sed -i s/size=4/size=8/ app.conf", '{to} = "{}"'),
    ("swe", "echo 5 >> total.num", '{to} = "{}"'),
    ("swe", "mv app.conf docs", '{to} = "{}"\n-{from}'),
    ("swe", "echo 5 > total.num && git add total.num", '{to} = "{}"\ngit/staged = "{}"'),
]
"""Lines of a shell that write, by domain, with the answers that say that they have their usual effect."""

FILES = {"app.conf": "size=4\n", "queue.txt": "b\na\n", "docs/a.txt": "a\n"}


@pytest.mark.parametrize(("domain", "line", "usual"), WRITING)
def test_the_engine_computes_what_a_line_would_write_and_the_model_says_whether_it_is_written(
    domain: str, line: str, usual: str
) -> None:
    root = {"terminal": "/srv", "swe": "/repo"}[domain]
    state: dict[str, Any] = {"files": {f"{root}/{name}": text for name, text in FILES.items()}}
    state |= {"cwd": root} if domain == "terminal" else {}
    success = [{"answer": {"equals": "done"}}]
    task = Task.model_validate(
        {"id": "t", "domain": domain, "instruction": "Look.", "state": state, "success": success}
    )
    call = {"name": "run_shell_command", "arguments": json.dumps({"command": line})}
    typed = json.dumps([{"keystrokes": f"{line}\n"}] if domain == "terminal" else call)
    action = ActionParser(load_spec(domain)).parse(typed, task.tools)

    def left(answer: str) -> tuple[dict[str, Any], dict[str, Any]]:
        states = world(domain, lambda request: answer)
        (session,) = states.begin([task], [0])
        assert isinstance(session, LanguageSession)
        before = json.loads(session.screen)
        (observed,) = states.step([session], [action])
        assert isinstance(observed, Observation), observed
        return before, json.loads(session.screen)

    def stored(shown: dict[str, Any]) -> Any:
        return [shown.get(key) for key in ("files", "cwd", "git")]

    with closing(load_engine(domain).start(state, 0, Controls({}, 0))) as machine:
        assert isinstance(machine, Restorable)
        machine.act(action.parsed)
        true = stored(machine.visible_state())
    before, silent = left("same")
    assert stored(silent) == stored(before) != true
    assert stored(left(usual)[1]) == true


def test_forks_go_their_own_ways() -> None:
    states = world("android", lambda request: 'front = "clock"\ntasks/clock = [{"screen":"main"}]')
    session, (action, *_) = begun(states, recorded("android")[0])
    twin = session.fork()
    (answer,) = states.step([session], [action])
    assert isinstance(answer, Observation)
    assert 'text="Clock"' in answer.text
    assert twin.observation == recorded("android")[0].first_observation != session.observation
    (again,) = states.step([twin], [action])
    assert again == answer
    assert twin == session


@pytest.mark.parametrize(("domain", "wrong"), [(domain, wrong) for domain in DOMAINS for wrong in WRONG[domain]])
def test_a_change_that_cannot_be_applied_or_viewed_is_a_malformed_failure(domain: str, wrong: str) -> None:
    states = world(domain, lambda request: wrong)
    session, (action, *_) = begun(states, recorded(domain)[0])
    before = session.states
    (answer,) = states.step([session], [action])
    assert isinstance(answer, Failure)
    assert (answer.kind, answer.retryable) == (FailureKind.MALFORMED, True)
    assert session.states == before
    assert not session.turn


@pytest.mark.parametrize("domain", DOMAINS)
def test_an_action_that_cannot_be_read_leaves_the_state_and_the_prompts(domain: str) -> None:
    states = world(domain)
    session, _ = begun(states, recorded(domain)[0])
    before, history = session.screen, list(session.history)
    (answer,) = states.step([session], [ActionParser(load_spec(domain)).parse("\ud800", ())])
    assert isinstance(answer, Observation)
    assert session.screen == before
    assert session.observation == answer.text
    assert session.history == history


def test_a_long_action_is_shown_without_its_middle_and_named_as_a_whole() -> None:
    asked: list[ChatRequest] = []

    def answer(request: ChatRequest) -> str:
        asked.append(request)
        return '{file} = "{content}"'

    states = world("swe", answer)
    session, _ = begun(states, recorded("swe")[0])
    content = "a line of text\n" * 200
    arguments = json.dumps({"file_path": "/repo/long.txt", "content": content})
    call = ActionParser(load_spec("swe")).parse(json.dumps({"name": "write_file", "arguments": arguments}))
    (written,) = states.step([session], [call])
    assert isinstance(written, Observation)
    assert len(asked[0].messages[-1]["content"]) < 800
    assert json.loads(session.screen)["files"]["long.txt"][0] == content


def test_a_look_at_the_page_is_answered_by_the_view_and_folds_into_the_turn_before() -> None:
    asked: list[ChatRequest] = []

    def answer(request: ChatRequest) -> str:
        asked.append(request)
        return '.focus = "e1"'

    states = world("web", answer)
    session, _ = begun(states, recorded("web")[0])
    parser = ActionParser(load_spec("web"))
    for text in ("browser_wait_for(time=1)", "browser_snapshot()"):
        states.step([session], [parser.parse(text)])
    assert (len(asked), session.turn) == (1, 1)
    assert session.observation == WebView().view(json.loads(session.screen))
    assert session.observation.startswith("### Page")
    assert session.history[-1]["content"] == '.focus = "e1"'  # A look changes nothing.


@cache
def looked_sessions() -> tuple[Row, ...]:
    """Sessions of the web in which the agent took a look at the page after some actions."""
    recorder = Recorder([load_spec("web")], SmallModelSessions(policies={"blend": 1.0}, max_turns=12), seed=5)
    return tuple(row for number in (0, 11) if (row := recorder.row(number)) is not None)


@pytest.mark.parametrize("number", range(2))
def test_the_answer_to_an_action_says_nothing_of_a_look_that_followed(number: int) -> None:
    row = looked_sessions()[number]
    prompts, task = prompts_for(row, form="state"), task_of(row)
    assert task is not None
    states = shown_states(row, task, ActionParser(load_spec("web")))
    answers = cpt_sample(row, prompts).messages[2::2]
    looked = [turn for turn, (acted, seen) in enumerate(zip(states.acted, states.seen, strict=True)) if acted != seen]
    assert looked
    for turn in looked:
        before = states.seen[turn - 1] if turn else states.begun
        assert "-said" not in answers[turn]["content"]
        found = prompts.read(task, before, answers[turn]["content"], row.actions[turn])
        assert json.loads(found) == json.loads(states.acted[turn])


@pytest.mark.parametrize("taught", [True, False])
def test_fidelity_takes_the_looks_that_an_agent_took(taught: bool) -> None:
    answers: dict[str, str] = {}
    for row in looked_sessions():
        messages = cpt_sample(row, prompts_for(row, form="state")).messages
        answers |= {json.dumps(messages[:turn]): messages[turn]["content"] for turn in range(2, len(messages), 2)}
    generator = ScriptedGenerator(lambda request: answers.get(json.dumps(list(request.messages)), "same"))
    register_world("looked_by_heart", lambda options: options.language(generator, "compact", "state"))
    options = EnvOptions(spec="web", world="looked_by_heart", split="test")
    result, _ = measure(options, FidelityPlan(looked_sessions(), free=not taught))
    side = result.taught if taught else result.free
    assert side is not None and side.measures is not None
    assert side.measures.exact.share == 1.0


def test_a_look_shows_the_page_of_the_state_and_asks_only_where_a_message_box_is_open() -> None:
    asked: list[ChatRequest] = []

    def answer(request: ChatRequest) -> str:
        asked.append(request)
        return "same"

    states, parser, task = world("web", answer), ActionParser(load_spec("web")), generate("web", "undo_order", 3, 0)
    (session,) = states.begin([task], [0])
    assert isinstance(session, LanguageSession)
    machine = load_engine("web").start(task.state, 0, Controls(), {})
    assert isinstance(machine, Restorable)
    sight, boxes, quiet = Sight("web", [machine.observation]), 0, 0
    for planned in task.expert[:-1]:
        text = sight.resolve(planned)
        assert text is not None
        shown = machine.act(parser.parse(text, task.tools).parsed)
        sight.see(shown)
        session.states = (compact(machine.visible_state()),) * 2
        (looked,) = states.step([session.fork()], [parser.parse("browser_snapshot()")])
        assert isinstance(looked, Observation)
        boxes += "### Modal state" in shown
        quiet += not shows("web", shown)
        assert len(asked) == boxes
        if "### Modal state" not in shown:
            assert looked.text == machine.fork().act(SHOW_AGAIN)
    assert quiet > boxes > 0


@pytest.mark.parametrize("domain", DOMAINS)
def test_the_truth_takes_the_place_of_a_wrong_answer_with_its_state(domain: str) -> None:
    row = recorded(domain)[0]
    states = world(domain, lambda request: 'said = "Nothing is here."' if domain in ("mcp", "swe") else "same")
    session, (action, *_) = begun(states, row)
    task = session.task
    truth = shown_states(row, task, ActionParser(load_spec(domain)))
    states.step([session], [action])
    with pytest.raises(ValueError, match="needs its structured state"):
        states.correct(session, row.observations[0])
    states.correct(session, row.observations[0], state=truth.acted[0])
    assert (session.observation, session.screen) == (row.observations[0], truth.acted[0])
    assert session.history[-1]["content"] == learned(domain)[json.dumps(session.history[:-1])]


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_recorded_answer_brings_its_state_along(domain: str) -> None:
    row = recorded(domain)[0]
    states = world(domain)
    session, (action, *_) = begun(states, row)
    twin = session.fork()
    (answer,) = states.step([session], [action])
    assert isinstance(answer, Observation)
    states.accept(twin, action, replace(answer, state=None))
    assert twin.screen == session.screen


@pytest.mark.parametrize("taught", [True, False])
@pytest.mark.parametrize("domain", DOMAINS)
def test_fidelity_scores_the_printed_screen(domain: str, taught: bool) -> None:
    generator = ScriptedGenerator(by_heart(domain))
    register_world("states_by_heart", lambda options: options.language(generator, "compact", "state"))
    options = EnvOptions(spec=domain, world="states_by_heart", split="test")
    result, _ = measure(options, FidelityPlan(recorded(domain), free=not taught))
    side = result.taught if taught else result.free
    assert side is not None
    assert side.measures is not None
    assert side.measures.exact.share == 1.0


@pytest.mark.parametrize(("domain", "profile"), [("search", "compact"), ("android", "full")])
def test_the_form_needs_a_view_and_compact_prompts(domain: str, profile: Any) -> None:
    with pytest.raises(SpecError):
        Prompts(load_spec(domain), PromptOptions(profile=profile, form="state"))


def test_rows_are_not_recorded_in_the_form() -> None:
    with pytest.raises(SpecError, match=r"preparation\.form"):
        Recorder([load_spec("android")], SmallModelSessions(form="state"), seed=0)


def test_an_answer_that_cannot_be_read_is_asked_for_again_and_counted() -> None:
    asked: list[ChatRequest] = []

    def answer(request: ChatRequest) -> Completion:
        asked.append(request)
        text = "The phone shows the clock." if len(asked) < 3 else "same"
        return Completion(text, usage=Usage(completion_tokens=7))

    options = WorldOptions(load_spec("android"), profile="compact", form="state", sampling={"temperature": 0.0})
    for reasks, found in ((1, Failure), (2, Observation)):
        asked.clear()
        sampled = options.model_copy(update={"sampling": {"temperature": 0.0, "reasks": reasks}})
        states = sampled.language(ScriptedGenerator(answer))
        session, actions = begun(states, recorded("android")[0])
        (observed,) = states.step([session], [actions[0]])
        assert isinstance(observed, found)
        assert len(asked) == 1 + reasks
        assert session.failures == (2 if found is Failure else 0)
        assert observed.spent.completion_tokens == len(asked) * 7
    assert isinstance(observed, Observation) and observed.repairs == {"reasks": 2}
    assert observed.spent == observed.usage + observed.lost
    assert [request.sampling.temperature for request in asked] == [0.0, 0.6, 0.6]


def test_a_state_that_is_printed_and_has_no_place_fails_and_is_not_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    class Guided(ScriptedGenerator):
        constrains = True

    def lost(self: AndroidView, shown: Any) -> Any:
        raise AnswerError("nowhere")

    options = WorldOptions(load_spec("android"), profile="compact", form="state", sampling={"thinking": False})
    guided = options.language(Guided(lambda request: "same"))
    session, actions = begun(guided, recorded("android")[0])
    monkeypatch.setattr(AndroidView, "place", lost)
    (answer,) = guided.step([session], [actions[0]])
    assert isinstance(answer, Failure)
    assert (answer.kind, answer.retryable) == (FailureKind.MALFORMED, True)


def test_a_world_that_is_guided_says_so_and_tells_its_generator_what_can_be_read() -> None:
    class Guided(ScriptedGenerator):
        constrains = True

    asked: list[ChatRequest] = []

    def answer(request: ChatRequest) -> str:
        asked.append(request)
        return "same"

    options = WorldOptions(load_spec("android"), profile="compact", form="state", sampling={"thinking": False})
    guided, free = options.language(Guided(answer)), options.language(ScriptedGenerator(answer))
    assert guided.fingerprint.digest != free.fingerprint.digest
    session, actions = begun(guided, recorded("android")[0])
    guided.step([session], [actions[0]])
    allows = asked[0].allows
    assert allows is not None
    assert allows("same", True)
    assert not allows(">tasks/chess", False)
    free.step([session], [actions[0]])
    assert asked[1].allows is None
