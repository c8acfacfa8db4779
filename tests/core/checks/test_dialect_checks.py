"""Language worlds in other dialects: checks are tested as far as the dialect tells, and have no verdict beyond."""

from __future__ import annotations

from typing import Any

import pytest
from worlds import language_world, predicted

from agentworld_gym.core.checks.dialect_checks import in_first_dialect, partial_of
from agentworld_gym.core.contracts import Action, Failure, FailureKind, Observation
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Expect, Task
from agentworld_gym.core.registration import all_domains
from agentworld_gym.core.screens import translation_of
from agentworld_gym.core.tasks.source import TaskSource
from agentworld_gym.domains import DOMAINS
from agentworld_gym.domains.android.engine import AndroidMachine
from agentworld_gym.domains.desktop.engine import DesktopMachine
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.options import EnvOptions

TRANSLATED = sorted((name, dialect) for name, domain in all_domains().items() for dialect in domain.translations)
SCREENS = [pair for pair in TRANSLATED if pair[0] in ("android", "desktop")]
ACTION = Action("look", parsed={"name": "browser_click", "arguments": {}})
HEAD = "**Current Phone State:**\n• **App:** A (a)\n\n"
TREE = f"{HEAD}Accessibility Tree:\n"
LIST = f"{HEAD}Current Clickable UI elements from the device in the schema 'index. className':\n"
SWITCH_ON = '  - Switch text="Dark theme" flags=clickable,checkable,checked bounds=0,0,9,9'
SWITCH_OFF = SWITCH_ON.replace(",checked", "")
TABLE = "tag\ttext\tposition (center x & y)\tsize (w & h)\n"
ON = Expect(matches=r'desc="Dark theme" \| bounds=\S+ \| clickable, checked')
OFF = Expect(matches=r'desc="Dark theme" \| bounds=\S+ \| clickable(?!, checked)')


def score(domain: str, dialect: str, screen: str, expect: Expect) -> float | Failure:
    """What a check finds on a dreamt screen."""
    partial = partial_of(load_spec(f"{domain}:{dialect}"), object())
    assert partial is not None
    return partial.score(expect, [ACTION], [partial.translation.translate(screen, ACTION.parsed)])


def untold(found: float | Failure) -> bool:
    return isinstance(found, Failure) and found.kind is FailureKind.UNJUDGED


def test_droidbots_flags_are_read_and_droidruns_are_not_told() -> None:
    assert (
        score("android", "droidbot", TREE + SWITCH_ON, ON) == score("android", "droidbot", TREE + SWITCH_OFF, OFF) == 1
    )
    assert (
        score("android", "droidbot", TREE + SWITCH_OFF, ON) == score("android", "droidbot", TREE + SWITCH_ON, OFF) == 0
    )
    shown = LIST + '0. Switch: "Dark theme" - (0,0,9,9)'
    assert untold(score("android", "droidrun", shown, ON)) and untold(score("android", "droidrun", shown, OFF))
    assert score("android", "droidrun", shown, Expect(contains='desc="Dark theme"')) == 1


@pytest.mark.parametrize(
    ("expect", "tells"),
    [
        (Expect(contains='| text="Tea"'), True),
        (Expect(matches=r'\| text="Tea"[^\n]*\n[^\n]*\| text="Milk"'), True),
        (Expect(matches=r'(?!.*text="Salt")text="Tea"'), True),
        (Expect(matches=r'text="2027" desc="You, \d'), False),
        (Expect(matches=r'text="2027"\ desc="You, \d'), False),
        (Expect(contains='hint="Search"'), False),
    ],
)
@pytest.mark.parametrize("dialect", ["droidrun", "droidbot"])
def test_texts_are_told_and_a_description_beside_a_text_is_not(dialect: str, expect: Expect, tells: bool) -> None:
    droidbot = TREE + '  - TextView text="Tea" bounds=0,0,9,9\n  - TextView text="Milk" bounds=0,9,9,18'
    droidrun = LIST + '0. TextView: "Tea" - (0,0,9,9)\n1. TextView: "Milk" - (0,9,9,18)'
    found = score("android", dialect, droidbot if dialect == "droidbot" else droidrun, expect)
    assert found == 1.0 if tells else untold(found)


def test_a_checkbox_has_a_text_or_a_description_and_no_verdict_where_that_decides() -> None:
    tree = TREE + '  - CheckBox text="Gloves" flags=clickable,checkable,checked bounds=0,0,9,9'
    assert untold(score("android", "droidbot", tree, Expect(matches=r'desc="Gloves" \| bounds=\S+ \| .*checked')))
    assert score("android", "droidbot", tree, Expect(matches=r'"Gloves" \| bounds=\S+ \| .*checked')) == 1.0
    assert score("android", "droidbot", tree, Expect(contains='desc="Scarf"')) == 0.0


@pytest.mark.parametrize("state", ["checked", ""])
def test_the_short_table_never_tells_that_a_switch_is_on_or_off(state: str) -> None:
    asks = Expect(matches=rf'(?m)^frame\tPower\t(?=(?:.*\n)*?.*\nswitch\tDim Screen\t""\t\t{state}\t)')
    place = "(60, 70)\t(9, 9)"
    shown = f"{TABLE}frame\tPower\t{place}\nlabel\tDim Screen\t{place}\nswitch\tDim Screen\t{place}"
    assert untold(score("desktop", "autoglm", shown, asks))
    cell = Expect(matches=r"(?m)^table-cell\tB3\t555-0199\t")
    assert score("desktop", "autoglm", f"{TABLE}table-cell\tB3 (555-0199)\t(60, 70)\t(9, 9)", cell) == 1.0


def test_translated_screens_are_what_the_engines_show_as_far_as_a_dialect_tells() -> None:
    phone, desktop = AndroidMachine.start({}, 0), DesktopMachine.start({}, 0)
    for app in ("Clock", "Contacts", "Settings"):
        phone.act({"action_type": "open_app", "app_name": app})
        translate = translation_of("android", "droidbot").translate
        own = [line for line in phone.observation.split("\n") if '" desc="' not in line and "CheckBox" not in line]
        translated = translate(phone.observation_in("droidbot"), None).split("\n")
        missing = [line for line in own if line not in translated]
        assert len(missing) <= len(own) // 20, missing
    assert translation_of("desktop", "autoglm").translate(desktop.observation_in("autoglm"), None).count("\n") == (
        desktop.observation.count("\n")
    )


def task(domain: str, **check: Any) -> Task:
    first = {"desktop": "tag\tname", "android": "[ 0] | android.widget.Button | bounds=[0,0][9,9]"}[domain]
    return Task(id="t", domain=domain, instruction="i", first_observation=first, success=[check])


@pytest.mark.parametrize(("domain", "dialect"), SCREENS)
@pytest.mark.parametrize("probed", [True, False], ids=["probe", "observation"])
def test_an_episode_whose_check_asks_for_more_ends_without_a_verdict(domain: str, dialect: str, probed: bool) -> None:
    spec = load_spec(f"{domain}:{dialect}")
    world = language_world(lambda request: predicted(TREE + SWITCH_ON), f"{domain}:{dialect}")
    expect = {"matches": r'text="Salt" desc="You"\t\tchecked'}
    act = "pyautogui.click(1, 2)" if domain == "desktop" else '{"action_type": "wait"}'
    check = {"probe": act, "expect": expect} if probed else {"observation": expect}
    asked = task(domain, **check)
    runner = EpisodeRunner(spec, world, TaskSource(spec, task=asked))
    ((episode, _, _),) = runner.start([0], {"task": asked})
    runner.advance([episode], [act])
    (end,) = runner.advance([episode], ["finish"])
    assert end.truncated and end.info["failure"]["kind"] == "unjudged" and "success" not in end.info
    assert f"the dialect {dialect} does not show" in end.info["failure"]["message"]


@pytest.mark.parametrize(("domain", "dialect"), TRANSLATED)
def test_a_grounded_world_judges_every_check_in_every_dialect(domain: str, dialect: str) -> None:
    runner = EnvOptions(spec=domain, dialect=dialect, world="grounded").runner()
    ((episode, _, _),) = runner.start([0], {})
    assert partial_of(runner.spec, episode.session) is None is partial_of(runner.spec, episode.session.probe())
    episode.session.close()


def test_every_further_dialect_has_a_translation() -> None:
    further = {(domain, name) for domain in DOMAINS for name in list(load_spec(domain).dialects)[1:]}
    assert further == set(TRANSLATED)


PAGE = """URL: http://a.example/
{error}
RootWebArea 'Tea', focused
	[2] row 'Hot tea (closed) 3'
		[3] cell 'Hot tea (closed)'
			[4] link 'Hot tea', clickable
		[5] cell '3'
	[6] checkbox 'Milk', clickable, checked='true'"""


@pytest.mark.parametrize(
    ("expect", "found"),
    [
        (Expect(matches=r'link "Hot tea"[^\n]*\n *- text: \(closed\)\n *- cell "3"'), 1.0),
        (Expect(contains='- checkbox "Milk" [checked]'), 1.0),
        (Expect(contains='"Green tea"'), 0.0),
        (Expect(contains="/url: /tea"), None),
        (Expect(matches=r"heading .* \[level=2\]"), None),
    ],
)
def test_a_tree_of_browsergym_tells_rows_and_states_and_no_addresses(expect: Expect, found: float | None) -> None:
    shown = score("web", "browsergym", PAGE.format(error=""), expect)
    assert untold(shown) if found is None else shown == found


def test_after_an_action_that_failed_no_page_is_tested_and_after_a_quiet_one_nothing_is() -> None:
    failed = PAGE.format(error="Error of the last action: Ref e9 not found\n")
    assert score("web", "browsergym", failed, Expect(contains='"Milk"')) == 0.0
    assert score("web", "browsergym", failed, Expect(contains="### Error\nError: Ref e9")) == 1.0
    assert untold(answered("web:browsergym", {"name": "browser_type"}, PAGE.format(error=""), Expect(contains="Milk")))


def answered(source: str, call: object, shown: str, expect: Expect) -> float | Failure:
    """What a check finds in the answer to a call."""
    spec, action = load_spec(source), Action("call", parsed=call)
    partial = partial_of(spec, object())
    assert partial is not None
    return partial.score(expect, [action], [in_first_dialect(spec, object(), action, Observation(shown))])


def shell(command: str, **more: object) -> dict[str, object]:
    return {"name": "run_shell_command", "arguments": {"command": command, **more}}


@pytest.mark.parametrize(
    ("call", "shown", "found"),
    [
        (shell("make"), "", 1.0),
        (shell("make"), "Done.", 0.0),
        (shell("make"), "Exit code 2\nNo rule.", 0.0),
        (shell("make", directory="src"), "", None),
        (shell("make &"), "", None),
        (shell("make"), "Exit code 137\nKilled", None),
        (shell("make"), "<tool_use_error>Error: no</tool_use_error>", None),
        ({"name": "read_file", "arguments": {"absolute_path": "/a"}}, "     1→a", None),
    ],
)
def test_claude_code_tells_what_a_command_printed_and_of_other_tools_nothing(
    call: object, shown: str, found: float | None
) -> None:
    expect = Expect(matches=r"\nOutput: \(none\)\nError: \(none\)\nExit Code: 0\n")
    answer = answered("swe:claude-code", call, shown, expect)
    assert untold(answer) if found is None else answer == found


def test_an_answer_that_passes_decides_beside_one_that_is_not_told() -> None:
    partial = partial_of(load_spec("swe:claude-code"), object())
    assert partial is not None
    read, make = Action("r", parsed={"name": "read_file"}), Action("m", parsed=shell("make"))
    report = partial.translation.translate("Done.", make.parsed)
    assert partial.score(Expect(contains="Done."), [read, make], ["     1→a", report]) == 1.0
    assert untold(partial.score(Expect(contains="Gone."), [read, make], ["     1→a", report]))


def test_an_error_of_mcpmark_names_no_server() -> None:
    wrong = "Error calling tool 'get_order': 1 validation error"
    assert untold(answered("mcp:mcpmark", {"name": "shop-get_order"}, wrong, Expect(contains="Error calling tool 's")))
    assert answered("mcp:mcpmark", {"name": "shop-get_order"}, '{"a": 1}', Expect(contains='"a": 1')) == 1.0
