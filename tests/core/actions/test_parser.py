"""Actions: each syntax, the ways of finishing, and what the agent is told when a text cannot be read."""

from __future__ import annotations

import json
import pickle
import re
from functools import cache
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentworld_gym.base.errors import SpecError
from agentworld_gym.base.text.escaping import is_valid
from agentworld_gym.core import registration
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.actions.syntaxes import SYNTAXES, ActionSyntax
from agentworld_gym.core.contracts import ActionKind
from agentworld_gym.core.domain.action_spec import SharedSyntax
from agentworld_gym.core.domain.spec import DomainSpec, load_spec
from agentworld_gym.core.screens import stand_in
from agentworld_gym.domains import DOMAINS

TOOLS: tuple[dict[str, Any], ...] = (
    {
        "name": "shop-buy",
        "description": "Buy something.",
        "parameters": {
            "type": "object",
            "required": ["item", "count"],
            "additionalProperties": False,
            "properties": {
                "item": {"type": "string"},
                "count": {"type": "integer", "minimum": 1},
                "speed": {"enum": ["slow", "fast"]},
            },
        },
    },
)


def parser(*syntax: str, limit: int = 4000, **action: Any) -> ActionParser:
    """The parser of a domain made for the test."""
    data = {
        "id": "made",
        "env_id": "AgentWorld/Made-v0",
        "title": "Made",
        "description": "Made for a test.",
        "prompts": "made",
        "action": {"syntax": syntax, "examples": ["x"], "errors": "{{ problem }}", **action},
        "limits": {"max_action_chars": limit},
    }
    return ActionParser(DomainSpec.model_validate(data))


def call(name: str, **arguments: Any) -> str:
    return json.dumps({"name": name, "arguments": arguments})


class TestFinish:
    @pytest.mark.parametrize("domain", DOMAINS)
    def test_finish_means_the_same_in_every_domain(self, domain: str) -> None:
        read = ActionParser(load_spec(domain)).parse
        for text, answer in {"finish": None, " finish \n": None, "finish: 42": "42", "finish :\n a b ": "a b"}.items():
            action = read(text)
            assert (action.kind, action.answer, action.error) == (ActionKind.FINISH, answer, None)
            assert action.raw == text

    @pytest.mark.parametrize("text", ["Finish", "finished", "finish.sh", "finish now", "# finish"])
    def test_only_the_very_verb_finishes(self, text: str) -> None:
        assert parser("command_line").parse(text).kind is ActionKind.ACT

    @pytest.mark.parametrize("text", ["[]", " [ ] ", "[\n]"])
    def test_an_empty_batch_asks_to_confirm_in_the_terminal(self, text: str) -> None:
        action = ActionParser(load_spec("terminal")).parse(text)
        assert (action.kind, action.parsed) == (ActionKind.CONFIRM, [])

    def test_a_domain_has_its_own_ways(self) -> None:
        rules = [
            {"when": {"type": "status"}},
            {"when": {"type": "answer"}, "answer": "text"},
            {"when": {"name": "submit"}, "answer": "arguments.value"},
            {"text": "DONE"},
        ]
        read = parser("json_object", finish_when=rules).parse
        assert read('{"type": "status", "x": 1}').kind is ActionKind.FINISH
        assert read('{"type": "answer", "text": "7"}').answer == "7"
        assert read('{"name": "submit", "arguments": {"value": [1]}}').answer == "[1]"
        assert read(" DONE ").kind is ActionKind.FINISH
        assert read('{"type": "click"}').kind is ActionKind.ACT


class TestTerminal:
    def test_a_batch_gets_its_default_duration(self) -> None:
        read = parser("keystroke_batch", "command_line").parse
        assert read('[{"keystrokes": "ls\\n"}, {"keystrokes": "C-c", "duration": 3}]').parsed == [
            {"keystrokes": "ls\n", "duration": 1.0},
            {"keystrokes": "C-c", "duration": 3},
        ]

    @pytest.mark.parametrize(
        ("seconds", "shown"),
        [("1e-07", "0.0000001"), ("0.00005", "0.00005"), ("1e20", "1" + "0" * 20 + ".0"), ("2", "2.0"), ("0.1", "0.1")],
    )
    def test_a_duration_is_shown_as_a_decimal_with_a_point(self, seconds: str, shown: str) -> None:
        read = ActionParser(load_spec("terminal"))
        text = r'    "duration": 1e-07'
        action = read.parse(json.dumps([{"keystrokes": text}])[:-2] + f', "duration": {seconds}}}]')
        lines = [f'    "keystrokes": {json.dumps(text)},', f'    "duration": {shown}']
        assert read.action_block(action).split("\n")[2:4] == lines
        assert read.parse(read.action_block(action)).parsed == action.parsed

    @pytest.mark.parametrize("text", ["ls -la", "cat <<E\na\nE", "  indented", "echo '[x]'", "{ ls; }", "", "#"])
    def test_any_other_text_is_a_command_line_with_enter(self, text: str) -> None:
        action = parser("keystroke_batch", "command_line").parse(text)
        assert action.parsed == [{"keystrokes": text + "\n", "duration": 1.0}]

    def test_a_final_line_break_is_the_enter(self) -> None:
        assert parser("command_line").parse("ls\r\n").parsed == [{"keystrokes": "ls\n", "duration": 1.0}]

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            ("[-f x ] && ls", "not valid JSON"),
            ('["ls"]', "item 0 must be an object"),
            ('[{"keystrokes": "a"}, {"keys": "b"}]', "item 1 must be an object with a string 'keystrokes'"),
            ('[{"keystrokes": 1}]', "string 'keystrokes'"),
            ('[{"keystrokes": "", "duration": "1"}]', "item 0: 'duration' must be a number"),
            ('[{"keystrokes": "", "duration": true}]', "'duration' must be a number"),
            ('[{"keystrokes": "", "duration": -1}]', "0.duration: -1.0 is less than the minimum of 0"),
            ('[{"keystrokes": "", "other": 1}]', "'other' was unexpected"),
        ],
    )
    def test_a_broken_batch_is_an_error(self, text: str, problem: str) -> None:
        action = ActionParser(load_spec("terminal")).parse(text)
        assert action.error is not None and problem in action.error
        assert action.parsed is None and action.raw == text


class TestToolCalls:
    def test_a_call_that_fits_is_read(self) -> None:
        action = parser("tool_call").parse(call("shop-buy", item="tea", count=2), TOOLS)
        assert action.parsed == {"name": "shop-buy", "arguments": {"item": "tea", "count": 2}}

    @pytest.mark.parametrize("arguments", ['{"item": "tea", "count": 2}', {"item": "tea", "count": 2}])
    def test_arguments_may_be_their_json_text(self, arguments: object) -> None:
        text = json.dumps({"name": "shop-buy", "arguments": arguments})
        for as_string in (True, False):
            action = parser("tool_call", arguments_as_string=as_string).parse(text, TOOLS)
            assert action.parsed == {"name": "shop-buy", "arguments": {"item": "tea", "count": 2}}

    @pytest.mark.parametrize(
        "text", ['{"name": "f"}', '{"name": "f", "arguments": null}', '{"name": "f", "arguments": ""}']
    )
    def test_no_arguments_are_none(self, text: str) -> None:
        assert parser("tool_call").parse(text).parsed == {"name": "f", "arguments": {}}

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            (call("shop-sell"), "Unknown tool: shop-sell"),
            (
                call("shop-buy", item="tea"),
                "Error calling tool 'shop-buy': 1 validation error for call[shop-buy]\ncount\n"
                "  Missing required argument [type=missing_argument, input_value={'item': 'tea'}, input_type=dict]\n"
                "    For further information visit https://errors.pydantic.dev/2.11/v/missing_argument",
            ),
            (
                call("shop-buy", item=5, count=1),
                "item\n  Input should be a valid string [type=string_type, input_value=5, input_type=int]",
            ),
            (
                call("shop-buy", item="tea", count=1, colour="red"),
                "colour\n  Unexpected keyword argument "
                "[type=unexpected_keyword_argument, input_value='red', input_type=str]",
            ),
            (
                call("shop-buy", item="tea", count=1, speed="x"),
                "speed\n  Input should be 'slow' or 'fast' [type=literal_error, input_value='x', input_type=str]",
            ),
            (call("shop-buy", item="tea", count=0), "count\n  0 is less than the minimum of 1 [type=value_error"),
            (call("shop-buy"), "2 validation errors for call[shop-buy]\n"),
            ('{"name": "shop-buy", "arguments": [1]}', "'arguments' must be an object"),
            ('{"name": "shop-buy", "arguments": "{"}', "'arguments' is not valid JSON"),
            ('{"arguments": {}}', "a tool call needs a string 'name'"),
            ('{"name": "shop-buy"', "the action is not valid JSON"),
            ("buy tea", 'expected a tool call {"name": ..., "arguments": {...}}, such as {"name": "shop-buy", "argu'),
        ],
    )
    def test_a_wrong_call_is_refused_as_a_tool_server_would(self, text: str, problem: str) -> None:
        action = parser("tool_call").parse(text, TOOLS)
        assert action.error is not None and problem in action.error

    @pytest.mark.parametrize("domain", ["mcp", "search", "swe", "swe:claude-code", "work"])
    def test_the_form_that_an_error_names_is_that_of_its_example(self, domain: str) -> None:
        error = ActionParser(load_spec(domain)).parse("buy tea").error
        form = re.search(r'"arguments": (.*?\}).*, such as .*"arguments": (.)', error or "")
        assert form and form[1].startswith(form[2])

    def test_tools_of_the_domain_and_of_the_task_add_up(self) -> None:
        read = parser("tool_call", tools=[{"name": "look"}]).parse
        assert read(call("look"), TOOLS).error is None
        assert read(call("shop-buy", item="tea", count=1), TOOLS).error is None
        assert read(call("shop-buy", item="tea", count=1)).error == "Unknown tool: shop-buy"

    def test_a_broken_tool_is_told_apart_from_a_broken_action(self) -> None:
        with pytest.raises(SpecError, match=r"tools\.0\.parameters \(f\).*JSON Schema"):
            parser("tool_call").parse("x", [{"name": "f", "parameters": {"type": "whatever"}}])
        with pytest.raises(SpecError, match="cannot fetch"):
            parser("tool_call", tools=[{"name": "f", "parameters": {"$ref": "http://localhost/x"}}])


class TestFunctionCalls:
    tools = ({"name": "click", "parameters": {"properties": {"bid": {"type": "string"}, "button": {}}}},)

    @pytest.mark.parametrize(
        "text", ["click('12', 'left')", 'click( "12", button="left" )', "click(button='left', bid='12')"]
    )
    def test_arguments_are_bound_to_the_parameters(self, text: str) -> None:
        action = parser("function_call").parse(text, self.tools)
        assert action.parsed == {"name": "click", "arguments": {"bid": "12", "button": "left"}}

    def test_without_tools_positions_are_names(self) -> None:
        assert parser("function_call").parse("f(-1, (2, None), k=True)").parsed == {
            "name": "f",
            "arguments": {"arg0": -1, "arg1": [2, None], "k": True},
        }

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            ("click(open('x'))", "literal arguments: texts in quotes, numbers, lists and the like, as in click('e17')"),
            ("click(e17)", "literal arguments: texts in quotes, numbers, lists and the like, as in click('e17')"),
            ("click([e17])", "literal arguments: texts in quotes"),
            ("click(ref=lambda: 1)", "literal arguments: texts in quotes"),
            ("click(**{'bid': '1'})", "literal arguments: ** is not one"),
            ("click('1', bid='2')", "multiple values for argument 'bid'"),
            ("click('1', '2', '3')", "click() takes 2 positional arguments but 3 were given"),
            ("tap('1')", "Unknown tool: tap"),
            ("click(1)", "Input should be a valid string"),
            ("click({1, 2})", "not plain data"),
            ("click(", "expected a function call"),
            ("a.b()", "expected a function call"),
        ],
    )
    def test_anything_but_literals_is_refused(self, text: str, problem: str) -> None:
        action = parser("function_call").parse(text, self.tools)
        assert action.error is not None and problem in action.error


class TestOtherSyntaxes:
    def test_the_first_syntax_that_can_read_it_wins(self) -> None:
        read = parser("json_object", "plain_text").parse
        assert read('{"a": 1}').parsed == {"a": 1}
        assert read("{a}").parsed == "{a}"

    def test_code_and_text_are_kept_as_written(self) -> None:
        for syntax in ("python_code", "plain_text"):
            assert parser(syntax).parse(" x = 1\n").parsed == " x = 1\n"
            assert parser(syntax).parse(" \n").error is not None

    def test_the_schema_of_the_domain_is_tested(self) -> None:
        read = parser("json_object", schema={"properties": {"index": {"type": "integer"}}}).parse
        assert read('{"index": 3}').error is None
        assert read('{"index": "3"}').error == 'index: "3" is not of type "integer"'

    def test_the_error_is_in_the_words_of_the_domain(self) -> None:
        read = parser("json_object", errors="{{ raw | upper }}? {{ problem }}").parse
        assert str(read("{x").error).startswith("{X? the action is not valid JSON")


class TestShown:
    def test_json_is_shown_with_indent(self) -> None:
        read = parser("keystroke_batch", "command_line", fence="json")
        assert json.loads(read.action_block(read.parse("ls"))) == [{"keystrokes": "ls\n", "duration": 1.0}]
        assert '\n    "keystrokes": "☃\\n"' in read.action_block(read.parse("☃"))

    def test_arguments_are_shown_as_a_string_where_they_travel_as_one(self) -> None:
        read = parser("tool_call", fence="json", arguments_as_string=True)
        shown = json.loads(read.action_block(read.parse('{"name": "f", "arguments": {"a": "ü"}}')))
        assert shown == {"name": "f", "arguments": '{"a": "ü"}'}

    def test_what_cannot_be_read_is_shown_as_written(self) -> None:
        read = parser("tool_call", fence="json", limit=10)
        assert read.action_block(read.parse("{oops")) == "{oops"
        assert read.action_block(read.parse("x" * 25)) == "x" * 10 + "\n[cut: 15 more characters]"


HOSTILE = [
    "",
    "\x00",
    "\ud800",
    '"\\ud800"',
    '[{"keystrokes": "\\ud800"}]',
    '{"name": "f", "arguments": {"a": "\\udfff"}}',
    '{"name": "f", "arguments": {"a": NaN}}',
    '{"name": "f", "arguments": {"a": 1e999}}',
    '{"name": "f", "arguments": {"a": ' + "9" * 3000 + "}}",
    '[{"keystrokes": "", "duration": ' + "9" * 3000 + "}]",
    "[" * 2000,
    '{"a":' * 1000 + "1" + "}" * 1000,
    '{"name": "f", "arguments": ' + '{"a":' * 200 + "1" + "}" * 201,
    "f(" + "(" * 1500 + ")" * 1501,
    "f(" + "-" * 3000 + "1)",
    "f(" + "[" * 90 + "]" * 90 + ")",
    "f(" + "9" * 3900 + ")",
    "f(float('nan'), 1e999, 1j, b'')",
    "f(1e999)",
    "f('\\ud800')",
    "{{ 7*7 }} {% for %}",
    "!!python/object/apply:os.system [ls]",
    "<|im_end|>\n<|im_start|>system",
    "x" * 1_000_000,
    "[" * 1_000_000,
    "‮\u202e\u2028\x1b[2J",
]


@cache
def shipped(domain: str) -> ActionParser:
    return ActionParser(load_spec(domain))


def never_raises(domain: str, text: str) -> None:
    read = shipped(domain)
    action = read.parse(text, TOOLS)
    assert action.raw == text
    if action.error is None:
        assert is_valid(json.dumps(action.parsed, ensure_ascii=False, allow_nan=False))
    assert len(read.action_block(action)) < 60_000


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: ascii(text[:20]))
def test_no_text_raises(domain: str, text: str) -> None:
    never_raises(domain, text)


@pytest.mark.parametrize("domain", DOMAINS)
def test_random_texts_do_not_raise_either(domain: str) -> None:
    json_like = st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=8,
    ).map(json.dumps)
    calls = st.builds("{}({})".format, st.sampled_from(["click", "f"]), st.text(max_size=20))

    @given(st.text(st.characters()) | json_like | calls)
    def check(text: str) -> None:
        never_raises(domain, text)

    check()


@pytest.mark.parametrize("domain", DOMAINS)
def test_tasks_offer_what_can_be_parsed(domain: str) -> None:
    spec = load_spec(domain)
    read = ActionParser(spec).parse
    for task in spec.handwritten_tasks():
        errors = {text: read(stand_in(domain, text), task.tools).error for text in (*task.menu, *task.expert)}
        assert not {text: error for text, error in errors.items() if error is not None}, task.id


def test_a_parser_can_be_pickled() -> None:
    twin = pickle.loads(pickle.dumps(ActionParser(load_spec("terminal"))))
    assert twin.parse("ls").parsed == [{"keystrokes": "ls\n", "duration": 1.0}]


def test_the_agent_is_kept() -> None:
    assert {parser("command_line").parse(text, agent="a1").agent for text in ("ls", "finish", "\ud800")} == {"a1"}


@pytest.mark.parametrize(
    ("domain", "text"),
    [
        ("web", "click('@{link 'Cart'}')"),
        ("desktop", "pyautogui.click(@{push-button 'Save'})"),
        ("android", '{"action_type": "click", "index": @{Button \'Save\'}}'),
    ],
)
def test_a_locator_that_was_not_resolved_is_told_so(domain: str, text: str) -> None:
    error = ActionParser(load_spec(domain)).parse(text).error
    assert error is not None and "env.unwrapped.menu and agentworld_gym.core.screens.resolve" in error


@pytest.mark.parametrize(
    ("domain", "text"),
    [
        ("desktop", "pyautogui.write('git stash drop stash@{0}')"),
        ("desktop", "pyautogui.write('@{')"),
        ("terminal", "git log HEAD@{upstream}"),
        ("android", "finish: @{Button 'Save'}"),
    ],
)
def test_what_is_no_locator_is_an_action(domain: str, text: str) -> None:
    assert ActionParser(load_spec(domain)).parse(text).error is None


def test_every_choice_and_every_way_to_fit_is_told() -> None:
    read = ActionParser(load_spec("android")).parse
    wrong = read('{"action_type": "clik"}').error
    assert wrong is not None and "candidates" not in wrong
    assert '"clik" is not one of' in wrong and '"click"' in wrong and '"status"' in wrong
    assert read('{"action_type": "click"}').error == "Action error: needs index, or x and y"
    search = ActionParser(load_spec("search")).parse(call("web_search"))
    assert search.error is not None and "needs queries, or query" in search.error


@pytest.mark.parametrize(
    "line",
    [
        "[ -f a ] && echo yes",
        '[ "$x" = y ] || exit',
        "[[ $a == b* ]] && ls",
        "  [ ! -e x ]; echo $?",
        "[ 1 -lt 2 ]",
        "[[ -n $HOME && -d docs ]]",
        "[ $(ls | wc -l) -gt 3 ] && echo many",
        "[\t-d docs ]",
    ],
)
def test_a_test_of_the_shell_is_a_command_line(line: str) -> None:
    action = ActionParser(load_spec("terminal")).parse(line)
    assert action.error is None
    assert action.parsed == [{"keystrokes": f"{line}\n", "duration": 1.0}]


@pytest.mark.parametrize("text", ["[", "[x]", '[ {"keystrokes": "ls" ', "[[", "[ [", '[\n  {"keystrokes": 1}]', "[1]"])
def test_a_broken_batch_of_keys_is_no_command_line(text: str) -> None:
    assert ActionParser(load_spec("terminal")).parse(text).error is not None


@pytest.mark.parametrize("text", ["[]", "[ ]", "[\n]"])
def test_an_empty_batch_asks_to_confirm_with_any_white_space(text: str) -> None:
    assert ActionParser(load_spec("terminal")).parse(text).kind is ActionKind.CONFIRM


def test_every_shared_syntax_has_a_reader() -> None:
    assert set(SYNTAXES) == set(get_args(SharedSyntax))


SPOKEN = ActionSyntax(lambda text, _tools: {"moved": json.loads(text)["go"]}, "a move", as_written=True)


def test_a_domain_brings_a_syntax_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="one of "):
        parser("spoken_move")
    syntaxes = {"spoken_move": f"{__name__}:SPOKEN"}
    domain = registration.Domain(id="eighth", env_id="AgentWorld/Eighth-v0", syntaxes=syntaxes)
    monkeypatch.setitem(registration._REGISTRY.domains, "eighth", domain)
    speaks = parser("spoken_move", fence="json")
    move = speaks.parse('{"go": "north"}')
    assert move.error is None and move.parsed == {"moved": "north"}
    assert json.loads(speaks.action_block(move)) == {"go": "north"}, "the keys are those that the agent wrote"
