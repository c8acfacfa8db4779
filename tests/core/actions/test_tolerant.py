"""What language models write is read as the action that they mean, and everything else as the exact parser reads it."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from functools import lru_cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.actions.tolerant import TolerantParser
from agentworld_gym.core.contracts import Action, ActionKind
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.screens import stand_in
from agentworld_gym.core.tasks import generate
from agentworld_gym.domains import DOMAINS

CALL = '{"name": "web_search", "arguments": {"query": "tram"}}'
SCREENS = {"terminal": "ls -la", "desktop": "pyautogui.click(1, 2)", "search": CALL, "web": 'browser_click(ref="e1")'}
SCREENS |= {"android": '{"action_type": "click", "index": 3}', "mcp": '{"name": "shop-list_orders", "arguments": {}}'}
SCREENS |= {"swe": '{"name": "list_directory", "arguments": {"path": "/repo"}}'}
"""An action of each domain."""

FINISHES = [
    "Thought: I know it.\nAction: finish\nAction Input: 16.34",
    "Finish: 16.34",
    "FINISH: 16.34",
    "finish 16.34",
    "finish : 16.34",
    "**finish: 16.34**",
    "`finish: 16.34`",
    'finish("16.34")',
    'finish(answer="16.34")',
    "finish(16.34)",
    '{"name": "finish", "arguments": {"answer": "16.34"}}',
    '{"name": "finish", "arguments": {"answer": 16.34}}',
    '{"name": "finish", "arguments": "{\\"answer\\": \\"16.34\\"}"}',
    '<tool_call>\n{"name": "finish", "arguments": {"answer": "16.34"}}\n</tool_call>',
    '```json\n{"name": "finish", "arguments": {"answer": "16.34"}}\n```',
    'I am done.\n<tool_call>{"name": "finish", "arguments": {"answer": "16.34"}}</tool_call>',
    "Done.\nfinish: 16.34",
    "The sum is 16.34, as I counted.\n\nFinish: 16.34",
    "```\nfinish: 16.34\n```",
    "finish: 16.34\n```",
    "I know it now.\n```text\nfinish: 16.34\n```",
    "<think>Is it finish: 3?</think>finish: 16.34",
    "<think>\nIs it 3?\n</think>\n\nDone.\nfinish: 16.34",
    "Is it finish: 3? No.\n</think>\n\nfinish: 16.34",
]

COMMANDS = [
    "ls",
    "cat a.txt",
    "make test",
    "echo Hello World.",
    "echo I will now list the files.",
    "Rscript plot.R",
    "PATH=/bin ls the files here.",
    "README=1 make all of it.",
    "R",
    "time make",
    "let a=1",
    "yes | head -n 3",
    "test -f finish && echo yes",
    "finish_report.sh",
    "finishing",
    "finish | tee log",
    "finish --help",
    "finish=3; echo $finish",
    "finish > a.txt",
    "finish the report",
    "./Finish 3",
    "cat > a.md <<'EOF'\n# Title\n```bash\nls\n```\nEOF",
    "cat > a.md <<'EOF'\nDone.\nfinish: 3\nEOF",
    'printf "\n```\nls\n```\n" > a.md',
    "grep -c '</think>' a.txt",
    "grep '<think>' a.txt",
    'echo \'{"name": "finish", "arguments": {}}\' > a.json',
    "{ ls; }",
    "[ -f a ] && echo yes",
    "echo `date`",
    "`cat run.sh`",
    "for i in 1 2; do\nfinish\ndone",
    "make report\nfinish: 3",
    "Xvfb :1",
    "# a comment",
    "I",
    "Done",
]

SENTENCES = [
    "I will now list the files.",
    "I'll list the files first",
    "Let me look at `notes.txt`.",
    "The task is complete.",
    "Okay, I will look.",
    "First, I list them.\n\nThen I sort them.",
    "Files have been moved successfully.",
    "Hello, how can I help you?",
]


@lru_cache
def tolerant(domain: str) -> TolerantParser:
    return TolerantParser(exact(domain))


@lru_cache
def exact(domain: str) -> ActionParser:
    return ActionParser(load_spec(domain))


def replays(domain: str, action: Action) -> bool:
    """Whether the exact parser, and the tolerant one, read what is logged of an action as the same action."""
    again = [parser.parse(action.raw) for parser in (exact(domain), tolerant(domain))]
    return action.error is not None or again == [replace(action, written=None)] * 2


@pytest.mark.parametrize("text", FINISHES)
@pytest.mark.parametrize("domain", DOMAINS)
def test_the_end_is_read_in_the_ways_that_models_write_it(domain: str, text: str):
    action = tolerant(domain).parse(text)
    assert (action.kind, action.answer) == (ActionKind.FINISH, "16.34") and replays(domain, action)
    assert action.written == (None if text == "finish : 16.34" else text)


@pytest.mark.parametrize(
    "text", ["Finish", "finish.", "finish()", '{"name": "finish", "arguments": {}}', "Done.\nfinish"]
)
@pytest.mark.parametrize("domain", DOMAINS)
def test_an_end_without_an_answer_has_none(domain: str, text: str):
    action = tolerant(domain).parse(text)
    assert (action.raw, action.kind, action.answer) == ("finish", ActionKind.FINISH, None)


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize(
    "around",
    [
        "<think>Look first: ```x```</think>\n{}",
        "Look first.\n</think>\n\n{}",
        "```\n{}\n```",
        "```{fence}\n{}\n```",
        "```{fence}\n{}",
        "I'll do this:\n```{fence}\n{}\n```\nIt shows what I need.",
        "<think>Hm.</think>\nNow then:\n\n```{fence}\n{}\n```",
    ],
)
def test_an_action_is_read_past_thinking_and_fences(domain: str, around: str):
    meant, fence = SCREENS[domain], {"terminal": "bash", "desktop": "python", "web": ""}.get(domain, "json")
    text = around.replace("{fence}", fence).replace("{}", meant)
    action = tolerant(domain).parse(text)
    assert action == replace(exact(domain).parse(meant), written=text) and action.error is None


@pytest.mark.parametrize(
    "text",
    [
        f"<tool_call>\n{CALL}\n</tool_call>",
        f"<tool_call>{CALL}",
        f"I look for the tram: {CALL}",
        f"First the tram.\n\n{CALL}\n\nThen I answer.",
        f"I repeat myself: {CALL} {CALL}",
        f"{CALL}\n```",
    ],
)
def test_a_call_is_read_in_prose_and_between_tags(text: str):
    assert tolerant("search").parse(text) == replace(exact("search").parse(CALL), written=text)


@pytest.mark.parametrize(
    "text",
    [
        'Thought: I look.\nAction: web_search\nAction Input: {"query": "tram"}',
        '**Thought:** I look.\n**Action:** web_search\n**Action Input:** {"query": "tram"}\nObservation: Nothing.',
        "I look.\n<function=web_search>\n<parameter=query>\ntram\n</parameter>\n</function>",
        "<tool_call>\n<function=web_search>\n<parameter=query>\ntram\n</parameter>\n</function>\n</tool_call>",
    ],
)
def test_the_form_of_react_and_calls_in_tags_are_read(text: str):
    action = tolerant("search").parse(text)
    assert action.error is None and action.parsed["arguments"] == {"query": "tram"} and action.written == text


@pytest.mark.parametrize(
    "text",
    [
        "Thought: I look.\nAction: ls -la",
        'Thought: I look.\nAction: bash\nAction Input: {"command": "ls -la"}',
        "I look.\n<function=bash>\n<parameter=command>\nls -la\n</parameter>\n</function>",
        "Let me look around first.\n\nls -la",
        "$ ls -la",
    ],
)
def test_a_command_is_read_behind_a_thought_a_sentence_or_a_prompt(text: str):
    assert tolerant("terminal").parse(text) == replace(exact("terminal").parse("ls -la"), written=text)


ANSWERS = [
    "Answer: Tarn",
    "answer: Tarn",
    "**Answer:** Tarn",
    "**Answer: Tarn**",
    "Final Answer: Tarn",
    "I have read both pages.\n\n**Final answer:**\n\nTarn",
    "<answer>Tarn</answer>",
    "It follows that <answer>\nTarn\n</answer>",
    r"\boxed{Tarn}",
    r"The lake is $\boxed{\text{Tarn}}$.",
    r"**Answer:** $\boxed{Tarn}$",
    "```\nAnswer: Tarn\n```",
    "<think>Answer: Mere? No.</think>\nAnswer: `Tarn`",
]
CALLS_ONLY = ["mcp", "search", "swe", "web", "android"]


@pytest.mark.parametrize("text", ANSWERS)
@pytest.mark.parametrize("domain", CALLS_ONLY)
def test_an_answer_that_is_marked_as_such_is_the_final_one_where_actions_are_calls(domain: str, text: str):
    action = tolerant(domain).parse(text)
    assert (action.raw, action.kind, action.answer) == ("finish: Tarn", ActionKind.FINISH, "Tarn")
    assert action.written == text and replays(domain, action)


@pytest.mark.parametrize(
    "text", [one for one in ANSWERS if one[:4].lower() in ("answ", "fina", "**an", "<ans", "\\box")]
)
@pytest.mark.parametrize("domain", ["terminal", "desktop"])
def test_a_marked_answer_is_not_typed_where_texts_are_commands(domain: str, text: str):
    assert tolerant(domain).parse(text).error is not None


@pytest.mark.parametrize("text", ["printf 'x\nAnswer: 42' > f", "cat > f <<E\nAnswer: 42\nE", "echo '\\boxed{2}'"])
def test_a_command_that_writes_a_marked_answer_is_a_command(text: str):
    assert tolerant("terminal").parse(text).error is None


@pytest.mark.parametrize("text", ANSWERS)
@pytest.mark.parametrize("domain", ["terminal", "desktop"])
def test_a_marked_answer_ends_nothing_where_texts_are_commands(domain: str, text: str):
    assert tolerant(domain).parse(text).kind is ActionKind.ACT


@pytest.mark.parametrize(
    "text",
    [
        *SENTENCES,
        "The answer is Tarn.",
        "The answer: Tarn.",
        "My answer will be about lakes.",
        "Answer: I will look it up first.",
        "Answer: let me search for it.",
        "Answer: Tarn\nAnswer: Mere",
        "Answer: Tarn\nI check it once more.",
        r"\boxed{Tarn} or \boxed{Mere}",
        r"<answer>Tarn</answer>, or \boxed{Mere}",
        "Answer:",
        "<answer></answer>",
        r"\boxed{Tarn",
        'Answer: Tarn\n{"name": "web_search", "arguments": {"query": 3}}',
    ],
)
def test_a_sentence_or_a_doubtful_answer_ends_nothing(text: str):
    action = tolerant("search").parse(text)
    assert (action.kind, action.error is None) == (ActionKind.ACT, False)


SERVER_CALLS = [
    '{"name": "mcp__net__web_search", "arguments": {"query": "mcp__net__web_search"}}',
    '{"type": "tool_use", "name": "mcp__net__web_search", "input": {"query": "mcp__net__web_search"}}',
    '{"functionCall": {"name": "mcp__net__web_search", "args": {"query": "mcp__net__web_search"}}}',
    'I look.\n<tool_call>{"name": "mcp__a__b__web_search", "arguments": {"query": "mcp__net__web_search"}}</tool_call>',
    "<function=mcp__net__web_search>\n<parameter=query>\nmcp__net__web_search\n</parameter>\n</function>",
    'Thought: I look.\nAction: mcp__net__web_search\nAction Input: {"query": "mcp__net__web_search"}',
]


@pytest.mark.parametrize("text", SERVER_CALLS)
def test_a_tool_is_called_by_the_name_that_it_has_in_claude_code(text: str):
    action = tolerant("search").parse(text)
    assert action.parsed == {"name": "web_search", "arguments": {"query": "mcp__net__web_search"}}
    assert action.written == text and replays("search", action)


def test_the_server_of_a_tool_may_be_its_own_or_that_of_an_agent_program():
    tools = [{"name": name, "parameters": {"type": "object"}} for name in ("shop-pay", "bank-pay", "mcp__net__see")]
    for called, meant in {
        "mcp__shop__pay": "shop-pay",
        "mcp__agentworld__bank-pay": "bank-pay",
        "mcp__net__see": "mcp__net__see",
        "mcp__agentworld__pay": None,
        "mcp__pay": None,
    }.items():
        action = tolerant("mcp").parse(json.dumps({"name": called, "arguments": {}}), tools)
        assert (action.parsed or {}).get("name") == meant
    end = tolerant("mcp").parse('{"name": "mcp__agentworld__finish", "arguments": {"answer": "3"}}', tools)
    assert (end.kind, end.answer) == (ActionKind.FINISH, "3")
    assert tolerant("web").parse('mcp__playwright__browser_click(ref="e1")').raw == 'browser_click(ref="e1")'


def test_two_labelled_actions_are_not_one():
    assert tolerant("terminal").parse("Thought: both.\nAction: ls\nAction: pwd").raw not in ("ls", "pwd")


def test_a_broken_call_in_prose_is_refused_in_the_words_of_its_tool():
    broken = '{"name": "web_search", "arguments": {"query": 3}}'
    action = tolerant("search").parse(f"I search: {broken}")
    assert action.error == exact("search").parse(broken).error and "web_search" in str(action.error)


def test_several_actions_are_refused_and_none_is_chosen():
    other = CALL.replace("tram", "bus")
    for domain, text in (("search", f"{CALL}\n{other}"), ("search", f"{CALL}\nfinish: 3")):
        assert "write one at a time" in str(tolerant(domain).parse(text).error)
    assert "2 actions" in str(tolerant("terminal").parse("```bash\nls\n```\n```bash\npwd\n```").error)


@pytest.mark.parametrize("text", COMMANDS)
def test_a_command_is_a_command(text: str):
    action = tolerant("terminal").parse(text)
    assert action == exact("terminal").parse(text) and action.error is None


@pytest.mark.parametrize("text", [*SENTENCES, *(f"<think>Hm.</think>{one}" for one in SENTENCES)])
def test_a_sentence_is_not_typed_into_a_shell(text: str):
    action = tolerant("terminal").parse(text)
    assert action.raw == text.removeprefix("<think>Hm.</think>") and action.written == (
        None if action.raw == text else text
    )
    assert "a sentence and no command" in str(action.error)
    assert "plain command line" in str(action.error)  # The error of the domain says how to act.


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("```python\nprint(1)\n```", "a block of python is no command line"),
        ('{"name": "bash", "arguments": {"path": "ls"}}', "a JSON object and no command"),
        ('<tool_call>{"name": "bash", "arguments": {}}</tool_call>', "a JSON object and no command"),
        ('{"name": "finish", "arguments": {"result": "3"}}', "finish takes one argument, 'answer'"),
        ("<think>I wonder", "no action stands behind it"),
        ("<think>I wonder</think>\n", "no action stands behind the thinking"),
        ("```bash\n```", "the block is empty"),
    ],
)
def test_what_no_shell_can_run_is_refused(text: str, problem: str):
    assert problem in str(tolerant("terminal").parse(text).error)


def test_keystrokes_are_read_in_prose_and_fences():
    keys = '[{"keystrokes": "ls\\n", "duration": 0.1}]'
    for text in (f"I look.\n{keys}", f"```json\n{keys}\n```", f"I look.\n<tool_call>{keys}</tool_call>"):
        assert tolerant("terminal").parse(text) == replace(exact("terminal").parse(keys), written=text)


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "bash", "arguments": {"command": "ls -la"}}',
        'I look.\n<tool_call>\n{"name": "bash", "arguments": {"command": "ls -la"}}\n</tool_call>',
        '```json\n{"command": "ls -la"}\n```',
        "```console\n$ ls -la\n```",
        "ls -la\n```",
    ],
)
def test_a_call_of_a_shell_is_the_command_in_it(text: str):
    assert tolerant("terminal").parse(text) == replace(exact("terminal").parse("ls -la"), written=text)
    (keys,) = tolerant("terminal").parse('{"keystrokes": "C-c", "duration": 1}').parsed
    assert keys == {"keystrokes": "C-c", "duration": 1.0}


@pytest.mark.parametrize("text", SENTENCES[:2])
def test_a_sentence_is_no_code(text: str):
    assert "a sentence and no Python code" in str(tolerant("desktop").parse(text).error)


def test_a_call_of_finish_with_other_arguments_is_told_which_it_takes():
    error = tolerant("search").parse('I end.\n{"name": "finish", "arguments": {"result": "3"}}').error
    assert "finish takes one argument, 'answer'" in str(error)


def test_the_way_of_a_domain_to_end_is_read_behind_prose():
    assert tolerant("desktop").parse("The file is saved.\nDONE").kind is ActionKind.FINISH
    assert tolerant("terminal").parse("I am done.\n```json\n[]\n```").kind is ActionKind.CONFIRM


@pytest.mark.parametrize(
    "code", ["finish = 3\nprint(finish)", "text = '''\n```\nls\n```\n'''", "x = 1\nfinish: int = 3"]
)
def test_python_stays_as_it_is(code: str):
    assert tolerant("desktop").parse(code) == exact("desktop").parse(code)


def test_a_tool_of_the_task_that_is_called_finish_is_called():
    tool = {"name": "finish", "description": "", "parameters": {"type": "object"}}
    assert tolerant("mcp").parse('{"name": "finish", "arguments": {}}', [tool]).kind is ActionKind.ACT


@pytest.mark.parametrize("domain", DOMAINS)
def test_what_tasks_and_specs_name_is_read_as_the_exact_parser_reads_it(domain: str):
    spec = load_spec(domain)
    tasks = [generate(domain, family, level, 0) for family in spec.tasks.families for level in (1, 2, 3)]
    for task in [*tasks, *spec.handwritten_tasks()]:
        probes = [probe for check in task.success for probe in check.probes]
        for text in {*task.expert, *task.menu, *probes}:
            action = stand_in(domain, text)
            assert tolerant(domain).parse(action, task.tools) == exact(domain).parse(action, task.tools)
    for dialect in spec.in_every_dialect():
        read, same = TolerantParser(ActionParser(dialect)), ActionParser(dialect)
        ends = [rule.text for rule in dialect.action.finish_when if rule.text is not None]
        for example in [*dialect.action.examples, *ends]:
            assert read.parse(example) == same.parse(example)


WORDS = st.sampled_from(
    ["finish", "finish:", "Finish: 3", "ls", "I will", "Done.", "```", "```bash", "<think>", "</think>", "<tool_call>",
     "</tool_call>", CALL, '{"name": "finish", "arguments": {"answer": "x\\n```"}}', "{", "}", "'", "<<EOF", "[", "]",
     "\n", "\n\n", " ", "DONE", "Answer: 3", "<answer>4</answer>", r"\boxed{3}", SERVER_CALLS[0],
     'browser_click(ref="e1")', "finish(3)", "**", "`", "[]", SCREENS["android"], "\ud800"]
)  # fmt: skip


@given(st.sampled_from(DOMAINS), st.lists(WORDS | st.text(max_size=5), max_size=9).map("".join))
def test_what_is_logged_replays_to_the_same_whatever_was_written(domain: str, text: str):
    action = tolerant(domain).parse(text)
    assert replays(domain, action)
    if action.error is not None:
        assert action.kind is ActionKind.ACT
    if action.written is None and action.error is None:
        assert action == exact(domain).parse(text)


@pytest.mark.parametrize("domain", DOMAINS)
def test_hostile_texts_are_read_in_bounded_work(domain: str):
    for text in (
        "{" * 100_000,
        '{"a":' * 30_000,
        "```\n" * 50_000,
        "<think>" * 30_000,
        "</think>" * 30_000,
        "I " * 90_000,
        "<answer>" * 24_000,
        "\\boxed{" * 24_000,
        "Answer: " * 24_000,
        '{"name": "mcp' + "__a" * 60_000 + '"}',
        "mcp__a__b(\n" * 18_000,
    ):
        assert isinstance(tolerant(domain).parse(text), Action)


def test_a_reader_travels_to_another_process():
    twin = pickle.loads(pickle.dumps(tolerant("terminal")))
    assert twin.parse("```\nls\n```").raw == "ls"


def test_calls_that_hold_fences_and_thinking_stay_as_they_are():
    content = "# T\n```bash\nls\n```\n<think>x</think>\nfinish: 3\n"
    text = json.dumps({"name": "write_file", "arguments": {"file_path": "/repo/a.md", "content": content}})
    assert tolerant("swe").parse(text) == exact("swe").parse(text)
