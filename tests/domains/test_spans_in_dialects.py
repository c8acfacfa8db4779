"""The pieces of an observation that are not deterministic, in every dialect that an engine speaks."""

from __future__ import annotations

from typing import Any

import pytest

from agentworld_gym.agents.collect.config import CollectConfig
from agentworld_gym.agents.collect.recorder import Recorder
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.engines import EngineError, Multilingual
from agentworld_gym.core.engines.catalog import load_engine
from agentworld_gym.core.tasks import families, generate
from agentworld_gym.domains import DOMAINS
from agentworld_gym.domains.android.engine import AndroidMachine
from agentworld_gym.domains.desktop.engine import DesktopMachine
from agentworld_gym.domains.mcp.engine import ToolMachine
from agentworld_gym.domains.swe.engine import SweEngine

SECOND = [(domain, name) for domain in DOMAINS for name in list(load_spec(domain).dialects)[1:]]
ADDING = "/repo/a.py"


def marked(machine: Any, dialect: str = "") -> list[tuple[str, str]]:
    """The pieces of what a machine shows, with their kinds."""
    text = machine.observation_in(dialect) if dialect else machine.observation
    spans = machine.spans_in(dialect) if dialect else machine.spans
    return [(text[span.start : span.end], span.kind) for span in spans]


@pytest.mark.parametrize(("domain", "dialect"), SECOND)
def test_recorded_spans_are_pieces_of_what_the_dialect_shows(domain: str, dialect: str) -> None:
    """A row is only valid where spans lie within its observations, in order and without overlap."""
    config = CollectConfig(probe_share=1.0)
    first, second = (Recorder([load_spec(source)], config, 5) for source in (domain, f"{domain}:{dialect}"))
    kinds, own = set[str](), set[str]()
    for number in range(6):
        row, other = first.row(number), second.row(number)
        assert row is not None and other is not None and len(other.spans) == other.turn_idx
        own |= {span.kind for spans in row.spans for span in spans}
        kinds |= {span.kind for spans in other.spans for span in spans}
        assert other.changes == row.changes
    assert kinds >= own


@pytest.mark.parametrize(("domain", "dialect"), SECOND)
def test_a_dialect_that_an_engine_does_not_speak_has_no_spans(domain: str, dialect: str) -> None:
    task = generate(domain, sorted(families(domain))[0], 1, 0)
    machine = load_engine(domain).start(task.state, 0)
    assert isinstance(machine, Multilingual) and isinstance(machine.spans_in(dialect), tuple)
    with pytest.raises(EngineError):
        machine.spans_in("cobol")
    machine.close()


@pytest.mark.parametrize("dialect", ["droidrun", "droidbot"])
def test_a_phone_marks_the_same_texts_and_the_digests_of_droidbot(dialect: str) -> None:
    machine = AndroidMachine.start({}, 1)
    for app in ("Files", "Clock", "Contacts", "Files"):
        machine.act({"action_type": "open_app", "app_name": app})
        own = marked(machine, dialect)
        if dialect == "droidbot":
            (digest, kind), *own = own
            assert (len(digest), kind) == (65, "metadata")
        assert own == marked(machine)


def test_the_text_of_the_focused_field_is_marked_above_the_elements_too() -> None:
    machine = AndroidMachine.start({}, 1)
    text = next(text for text in machine._stored if text.isalpha())
    field = next(element for element in machine._display.elements)
    focused = field.widget.__class__("android.widget.EditText", text=text, flags=("focused", "editable"))
    machine._display.elements[:] = [field._replace(widget=focused)]
    assert marked(machine, "droidrun") == [(text, "pre-existing")] * 2


def test_a_desktop_marks_name_text_and_place_where_they_share_a_cell() -> None:
    machine = DesktopMachine.start({"files": {"/home/user/Documents/todo.txt": "Milk"}}, 0)
    assert set(marked(machine, "autoglm")) == set(marked(machine))
    machine.act("subprocess.Popen(['nautilus', '/home/user/Documents'])")
    own, shown = marked(machine, "autoglm"), machine.observation_in("autoglm")
    assert {kind for _, kind in own} == {"pre-existing", "metadata"}
    assert all(f"\t{text}" in shown or f" ({text})" in shown for text, _ in own)
    names = {text for text, kind in marked(machine) if kind == "pre-existing"}
    assert {text for text, kind in own if kind == "pre-existing"} == names


def test_a_tool_server_marks_what_it_made_up_in_both_dialects() -> None:
    machine = ToolMachine.start({"scenario": "shop", "size": "small", "seed": 1}, 0)
    machine.act({"name": "shop-list_coupons", "arguments": {}})
    assert marked(machine) and marked(machine, "mcpmark") == marked(machine)
    machine.act({"name": "shop-get_order", "arguments": {"order_id": "x"}})
    assert machine.observation_in("mcpmark") != machine.observation
    assert marked(machine, "mcpmark") == marked(machine)


def test_claude_code_marks_hashes_packages_and_times_but_no_process() -> None:
    machine = SweEngine("monty").start({"files": {ADDING: "a = 1\n"}}, 0)

    def shown(name: str, **arguments: Any) -> list[tuple[str, str]]:
        machine.act({"name": name, "arguments": arguments})
        return marked(machine, "claude-code")

    pieces = shown("run_shell_command", command="git log; sleep 100 &")
    assert [(len(text), kind) for text, kind in pieces] == [(40, "metadata"), (29, "metadata")]
    assert shown("run_shell_command", command="pip list") == [(machine.observation_in("claude-code"), "pre-existing")]
    assert shown("run_shell_command", command="true") == []
    assert shown("run_shell_command", command="echo hi", is_background=True) == []
    assert shown("read_file", absolute_path=ADDING) == []
    assert shown("run_shell_command", command="sleep 900 &", is_background=True) == []
    [(time, kind)] = shown("BashOutput", bash_id="bash_1")
    assert time in machine.observation_in("claude-code") and kind == "metadata"
