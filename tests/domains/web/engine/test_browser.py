"""The browser in process: forms, dialogs, tabs, history, keys, and what the tools say."""

from __future__ import annotations

from typing import Any

import pytest
from web_pages import BODIES, Pages, call, ref, step

from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.engines import Controls, EngineError, Machine, Multilingual
from agentworld_gym.core.screens import read_screen
from agentworld_gym.domains.web.engine.http import HttpRequest, Response
from agentworld_gym.domains.web.engine.machine import WebMachine

HOST = "http://pages.example"


def opened(path: str = "form", **more: Any) -> WebMachine:
    return WebMachine(Pages(BODIES), f"{HOST}/{path}", **more)


def look(machine: WebMachine) -> str:
    return machine.act(call("snapshot"))


def do(machine: WebMachine, name: str, shown: str = "", /, **arguments: Any) -> str:
    """Do something on the page as it is; a snapshot is taken where the last answer held none."""
    seen = machine.observation if "### Snapshot" in machine.observation else look(machine)
    return machine.act(step(seen, name, shown, **arguments))


def shows(observation: str) -> list[str]:
    """The nodes of a snapshot without references."""
    return [
        f"{node.role} {node.name}".strip() + (f": {node.text}" if node.text else "")
        for node in read_screen("web", observation)
    ]


class TestTheAnswer:
    def test_it_has_the_sections_of_playwrights_server(self) -> None:
        machine = opened("moved")
        text = do(machine, "navigate", url="pages.example/who")
        assert text == (
            "### Ran Playwright code\n```js\nawait page.goto('http://pages.example/who');\n```\n"
            "### Page\n- Page URL: http://pages.example/who\n- Page Title: Who\n"
            '### Snapshot\n```yaml\n- heading "nobody" [level=1] [ref=e2]\n```'
        )

    def test_a_reference_that_is_not_there(self) -> None:
        text = opened().act(call("click", ref="e999"))
        assert text == "### Error\nError: Ref e999 not found in the current page snapshot. Try capturing new snapshot."

    def test_references_die_with_the_page(self) -> None:
        machine = opened("links")
        old = ref(machine.observation, 'link "Same"')
        machine.act(call("navigate", url=f"{HOST}/who"))
        assert "Ref" in machine.act(call("click", ref=old))

    def test_a_disabled_button_is_waited_for_in_vain(self) -> None:
        text = do(opened(), "click", 'button "Never"')
        assert text.startswith("### Error\nTimeoutError: locator.click: Timeout 5000ms exceeded.\nCall log:")
        assert "element is not enabled" in text

    def test_an_unknown_tool(self) -> None:
        assert opened().act({"name": "browser_fly", "arguments": {}}) == '### Error\nTool "browser_fly" not found'

    def test_a_page_that_is_missing_is_told_by_the_console(self) -> None:
        text = opened().act(call("navigate", url=f"{HOST}/missing"))
        assert 'heading "Nothing here"' in text
        assert text.split("### Events\n")[1].startswith("- [ERROR] Failed to load resource: the server resp")
        assert "\n- Console: 1 errors, 0 warnings\n### Snapshot\n" in text

    @pytest.mark.parametrize(
        ("tool", "shown", "arguments", "code"),
        [
            ("type", "Name", {"text": "Ann"}, "page.getByRole('textbox', { name: 'Name' }).fill('Ann');"),
            ("press_key", "", {"key": "Tab"}, "page.keyboard.press('Tab');"),
            ("select_option", "Size", {"values": ["Tiny"]}, "page.getByLabel('Size').selectOption('Tiny');"),
        ],
    )
    def test_some_tools_tell_the_code_alone(self, tool: str, shown: str, arguments: Any, code: str) -> None:
        assert do(opened(), tool, shown, **arguments) == f"### Ran Playwright code\n```js\nawait {code}\n```"

    def test_waiting_shows_the_page_and_no_result(self) -> None:
        text = opened("who").act(call("wait_for", time=2))
        assert text == (
            "### Ran Playwright code\n```js\nawait new Promise(f => setTimeout(f, 2 * 1000));\n```\n"
            "### Page\n- Page URL: http://pages.example/who\n- Page Title: Who\n"
            '### Snapshot\n```yaml\n- heading "nobody" [level=1] [ref=e2]\n```'
        )


class TestForms:
    def test_what_is_sent(self) -> None:
        machine = opened()
        do(machine, "type", 'textbox "Name"', text="Ann: & Bo")
        do(machine, "select_option", 'combobox "Size"', values=["Tiny"])
        do(machine, "click", 'radio "Fast"')
        do(machine, "click", 'checkbox "Gift"')
        text = do(machine, "click", 'button "Order"')
        query = "name=Ann%3A+%26+B&mail=&count=2&day=&size=Tiny&top=Fruit&speed=fast&gift=yes"
        query += "&notes=none&token=t1&fixed=f&go=now"
        assert f"- Page URL: {HOST}/echo?{query}\n" in text  # the name is cut off after its 8 characters

    @pytest.mark.parametrize(
        ("field", "value", "fits"),
        [
            ('textbox "Name"', "", False),
            ('textbox "Mail"', "nobody", False),
            ('textbox "Mail"', "a@b.org", True),
            ('spinbutton "Count"', "0", False),
            ('spinbutton "Count"', "10", False),
            ('spinbutton "Count"', "1.5", False),
            ('spinbutton "Count"', "9", True),
            ('textbox "Day"', "2026-02-30", True),
        ],
    )
    def test_the_browser_refuses_values_and_shows_where(self, field: str, value: str, fits: bool) -> None:
        machine = opened()
        do(machine, "type", 'textbox "Name"', text="Ann")
        do(machine, "type", field, text=value)
        text = do(machine, "click", 'button "Order"')
        assert ("/echo" in text.split("### Snapshot")[0]) is fits
        assert fits or f"{field} [active]" in text

    def test_enter_presses_the_first_button(self) -> None:
        machine = opened()
        text = do(machine, "type", 'textbox "Name"', text="Ann", submit=True)
        assert "go=now" in look(machine)
        assert text.split("```")[1] == (
            "js\nawait page.getByRole('textbox', { name: 'Name' }).fill('Ann');\n"
            "await page.getByRole('textbox', { name: 'Name' }).press('Enter');\n"
        )

    def test_a_post_shows_its_fields_and_cannot_be_gone_back_to(self) -> None:
        machine = opened()
        text = do(machine, "click", 'button "Save draft"')
        assert 'heading "POST other=1"' in text
        assert "listitem: token=t1" in shows(text)
        machine.act(call("navigate", url=f"{HOST}/who"))
        assert "net::ERR_CACHE_MISS" in machine.act(call("navigate_back"))

    def test_several_fields_at_once(self) -> None:
        machine = opened()
        seen = machine.observation
        fields = [
            {"name": "Name", "type": "textbox", "ref": ref(seen, 'textbox "Name"'), "value": "Ann"},
            {"name": "Gift", "type": "checkbox", "ref": ref(seen, 'checkbox "Gift"'), "value": "true"},
            {"name": "Fast", "type": "radio", "ref": ref(seen, 'radio "Fast"'), "value": "true"},
            {"name": "Size", "type": "combobox", "ref": ref(seen, 'combobox "Size"'), "value": "Small"},
        ]
        assert machine.act(call("fill_form", fields=fields)).count("\nawait page.") == 4
        text = look(machine)
        for line in (
            'textbox "Name" [ref=e4]: Ann',
            'checkbox "Gift" [checked]',
            'radio "Fast" [checked] [active]',
            '"Small" [selected]',
        ):
            assert line in text

    def test_back_gives_what_was_typed(self) -> None:
        machine = opened()
        do(machine, "type", 'textbox "Name"', text="Ann")
        do(machine, "click", 'checkbox "Gift"')
        do(machine, "click", 'button "Order"')
        text = machine.act(call("navigate_back"))
        assert "textbox Name: Ann" in shows(text)
        assert 'checkbox "Gift" [checked]' in text
        assert "textbox Name" in shows(do(machine, "click", 'button "Start over"'))


class TestDialogs:
    def test_nothing_else_works_while_one_is_open(self) -> None:
        machine = opened("asking")
        text = do(machine, "click", 'button "Delete"')
        line = '- ["confirm" dialog with message "Delete it?"]: can be handled by browser_handle_dialog'
        assert text.endswith(f"### Modal state\n{line}")
        assert machine.act(call("snapshot")) == (
            f'### Error\nError: Tool "browser_snapshot" does not handle the modal state.\n### Modal state\n{line}'
        )

    @pytest.mark.parametrize("accept", [True, False])
    def test_an_answer_decides(self, accept: bool) -> None:
        machine = opened("asking")
        do(machine, "click", 'button "Delete"')
        text = machine.act(call("handle_dialog", accept=accept))
        assert ("listitem: act=delete" in shows(text)) is accept

    def test_what_is_typed_into_a_prompt_is_sent(self) -> None:
        machine = opened("asking")
        do(machine, "click", 'button "Rename"')
        assert "listitem: title=Tea" in shows(machine.act(call("handle_dialog", accept=True, promptText="Tea")))

    def test_a_box_takes_the_focus_and_covers_the_page(self) -> None:
        machine = opened("asking")
        assert 'button "Done" [active]' in do(machine, "click", 'button "Open box"')
        assert "intercepts pointer events" in do(machine, "click", 'button "About"')
        machine.act(call("snapshot"))
        machine.act(call("press_key", key="Escape"))
        text = look(machine)
        assert "dialog" not in text
        assert 'button "Open box" [active]' in text

    def test_a_page_may_open_with_one(self) -> None:
        machine = opened("notice")
        assert 'dialog "Cookies"' in machine.observation
        assert "Cookies" not in do(machine, "click", 'button "Accept"')

    def test_no_dialog_to_handle(self) -> None:
        text = opened().act(call("handle_dialog", accept=True))
        assert 'The tool "browser_handle_dialog" can only be used when there is related modal state present.' in text


class TestBehaviours:
    def test_a_list_is_filtered_as_one_types(self) -> None:
        machine = opened("unfolding")
        do(machine, "type", "Filter fruit", text="pl")
        text = look(machine)
        assert [line for line in shows(text) if "listitem" in line] == ["listitem: Apple", "listitem: Plum"]

    def test_a_button_unfolds(self) -> None:
        machine = opened("unfolding")
        text = do(machine, "click", 'button "Show more"')
        assert "paragraph: Hidden thing" in shows(text)
        assert 'button "Show more" [expanded]' in text
        assert "Hidden thing" not in do(machine, "click", 'button "Show more"')

    def test_tabs_show_their_panels(self) -> None:
        machine = opened("unfolding")
        text = do(machine, "click", 'tab "Second"')
        assert "tabpanel Second: Two panel" in shows(text)
        assert "One panel" not in text

    def test_a_choice_may_send_its_form(self) -> None:
        machine = opened("unfolding")
        do(machine, "select_option", "Order by", values=["price"])
        assert "/echo?sort=price" in look(machine)


class TestHistoryAndTabs:
    def test_back_and_forward(self) -> None:
        machine = opened("links")
        do(machine, "click", 'link "Moved"')
        assert f"URL: {HOST}/echo?moved=1" in machine.observation
        assert f"URL: {HOST}/links\n" in machine.act(call("navigate_back"))
        assert f"URL: {HOST}/echo?moved=1" in machine.act(call("navigate_forward"))
        assert f"URL: {HOST}/echo?moved=1" in machine.act(call("navigate_forward"))

    def test_a_fragment_loads_nothing(self) -> None:
        machine = opened("links")
        loads = machine.state()["pages/visits/links"]
        assert f"URL: {HOST}/links#below" in do(machine, "click", 'link "Below"')
        assert machine.state()["pages/visits/links"] == loads

    def test_a_link_opens_a_tab_behind(self) -> None:
        machine = opened("links")
        text = do(machine, "click", 'link "Who"')
        assert f"### Open tabs\n- 0: (current) [Page]({HOST}/links)\n- 1: [Who]({HOST}/who)\n" in text
        text = machine.act(call("tabs", action="select", index=1))
        assert 'heading "nobody"' in text
        text = machine.act(call("tabs", action="close"))
        assert text.startswith(f"### Page\n- Page URL: {HOST}/links\n")
        assert text.endswith(f"\n```\n### Result\n- 0: (current) [Page]({HOST}/links)")

    def test_cookies_stay(self) -> None:
        machine = opened("links")
        assert 'heading "ana"' in do(machine, "click", 'link "Sign in"')
        assert machine.state()["cookie/pages.example/user"] == "ana"
        machine.act(call("navigate", url=f"{HOST}/links"))
        assert 'heading "nobody"' in do(machine, "click", 'link "Sign out"')

    def test_an_address_without_a_site(self) -> None:
        machine = opened("links")
        url = "http://nowhere.example/"
        assert (
            machine.act(call("navigate", url=url))
            == f"### Error\nError: page.goto: net::ERR_NAME_NOT_RESOLVED at {url}"
        )
        assert "heading This site can’t be reached" in shows(machine.act(call("snapshot")))
        assert f"URL: {HOST}/links" in machine.act(call("navigate_back"))

    def test_a_broken_connection_can_be_tried_again(self) -> None:
        machine = opened("reset")
        assert "ERR_CONNECTION_RESET" in machine.observation
        do(machine, "click", 'button "Reload"')
        assert machine.state()["pages/visits/reset"] == 2

    @pytest.mark.parametrize("wait", [call("snapshot"), call("wait_for", time=1), call("wait_for", text="Loaded")])
    def test_a_page_may_load_itself_again(self, wait: dict[str, Any]) -> None:
        machine = opened("twice")
        assert "Loading" in machine.observation
        assert 'heading "Loaded"' in machine.act(wait)


class TestOtherTools:
    def test_waiting_in_vain(self) -> None:
        text = opened("links").act(call("wait_for", text="Nothing like this"))
        assert text.startswith("### Error\nTimeoutError: locator.waitFor: Timeout 5000ms exceeded.")
        assert opened("links").act(call("wait_for", textGone="Below")).startswith("### Error\nTimeoutError")

    @pytest.mark.parametrize(
        ("source", "value"),
        [
            ("() => document.title", '"Page"'),
            ("() => { return window.location.href; }", f'"{HOST}/links"'),
            ("document.querySelectorAll('nav a').length", "error"),
            ("() => document.querySelectorAll('a').length", "9"),
            ("() => document.querySelector('#below').textContent", '"Below here"'),
            ("() => fetch('http://example.org')", "error"),
        ],
    )
    def test_a_few_expressions_are_understood(self, source: str, value: str) -> None:
        text = opened("links").act(call("evaluate", function=source))
        assert (
            ("this browser runs no scripts" in text or "only simple" in text)
            if value == "error"
            else text.endswith(f"\n```\n### Result\n{value}")
        )

    def test_an_expression_may_read_an_element(self) -> None:
        machine = opened()
        text = do(machine, "evaluate", 'spinbutton "Count"', function="(element) => element.value")
        assert text.endswith('\n### Result\n"2"')

    def test_the_requests_of_a_page(self) -> None:
        machine = opened("moved")
        assert machine.act(call("network_requests")) == (
            f"### Result\n[GET] {HOST}/moved => [302] Found\n[GET] {HOST}/echo?moved=1 => [200] OK"
        )

    def test_keys(self) -> None:
        machine = opened()
        machine.act(call("press_key", key="Tab"))
        for key in "Bob!":
            machine.act(call("press_key", key=key))
        assert 'textbox "Name" [active]' in look(machine)
        machine.act(call("press_key", key="Backspace"))
        assert "textbox Name: Bob" in shows(look(machine))
        machine.act(call("press_key", key="Control+a"))
        machine.act(call("press_key", key="Z"))
        assert "textbox Name: Z" in shows(look(machine))
        assert 'Unknown key: "Fly"' in machine.act(call("press_key", key="Fly"))

    def test_browsergyms_calls_do_the_same(self) -> None:
        left, right = opened(), opened()
        name, order = (ref(left.observation, text) for text in ('textbox "Name"', 'button "Order"'))
        left.act(call("type", ref=name, text="Ann"))
        right.act({"name": "fill", "arguments": {"bid": name, "value": "Ann"}})
        assert left.act(call("click", ref=order)) == right.act({"name": "click", "arguments": {"bid": order}})
        assert left.act(call("navigate_back")) == right.act({"name": "go_back", "arguments": {}})


class TestTheMachine:
    def test_a_fork_goes_its_own_way(self) -> None:
        machine = opened()
        twin = machine.fork()
        assert twin.state() == machine.state()
        do(twin, "type", 'textbox "Name"', text="Ann")
        assert twin.state() != machine.state()
        assert do(machine, "type", 'textbox "Name"', text="Ann") == twin.observation
        twin.close()
        assert isinstance(machine, Machine)

    def test_the_state_tells_what_an_action_changed(self) -> None:
        machine = opened()
        before = machine.state()
        do(machine, "type", 'textbox "Name"', text="Ann")
        after = machine.state()
        changed = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
        assert changed == {"tab/0/focus", "tab/0/value/input4:name"}

    def test_a_page_is_new_once(self) -> None:
        machine = opened("links")
        [span] = machine.spans
        assert machine.observation[span.start : span.end].startswith("- generic [active] [ref=e1]:")
        assert span.kind == "pre-existing"
        machine.act(call("snapshot"))
        assert machine.spans == ()
        assert opened("links", stated_hosts=frozenset({"pages.example"})).spans == ()

    @pytest.mark.parametrize("dialect", ["playwright", "browsergym"])
    def test_a_redrawn_page_has_other_references(self, dialect: str) -> None:
        machine = opened("links", controls=Controls({"stale-element": 1.0}))

        def last() -> dict[str, Any]:
            shown = machine.observation if dialect == "playwright" else machine.observation_in(dialect)
            return {"name": "click", "arguments": {"bid": read_screen("web", shown)[-1].handle}}

        action = last()
        assert "not found in the current page snapshot" in machine.act(action)
        machine.act(call("snapshot"))
        again = last()
        assert again != action
        assert "not found" not in machine.act(again)

    def test_a_state_that_is_wrong(self) -> None:
        with pytest.raises(SpecError, match="open"):
            WebMachine.start({"open": "http://elsewhere.example/"}, 0)

    def test_after_its_end(self) -> None:
        machine = opened()
        machine.close()
        machine.close()
        with pytest.raises(EngineError):
            machine.act(call("snapshot"))


def test_the_dialect_of_browsergym() -> None:
    machine = opened("asking")

    def after(name: str, **arguments: Any) -> str:
        machine.act({"name": name, "arguments": arguments})
        return machine.observation_in("browsergym")

    lines = machine.observation_in("browsergym").split("\n")
    assert lines[:3] == [f"URL: {HOST}/asking", "", "RootWebArea 'Page', focused"]
    number = ref(machine.observation, 'button "Delete"')[1:]
    assert f"\t\t[{number}] button 'Delete', clickable" in lines
    assert after("click", bid="77").split("\n")[1].startswith("Error of the last action: Ref e77 not found")
    text = after("focus", bid=number)
    assert f"Focused element: {number}" in text
    assert f"\t\t[{number}] button 'Delete', clickable, focused" in text
    assert "RootWebArea" not in after("click", bid=number)
    with pytest.raises(EngineError, match="does not speak"):
        machine.observation_in("esperanto")
    assert isinstance(machine, Multilingual)


def test_browsergym_shows_a_page_after_every_action_and_so_it_is_new_once() -> None:
    machine = opened("asking")
    text = machine.observation_in("browsergym")
    [span] = machine.spans_in("browsergym")
    assert text[span.start : span.end] == text.partition("\n\n")[2] and span.kind == "pre-existing"
    machine.act({"name": "click", "arguments": {"bid": ref(machine.observation, 'button "Delete"')[1:]}})
    assert machine.spans_in("browsergym") == (), "a dialog hides the page"
    machine.act(call("handle_dialog", accept=False))
    assert machine.spans_in("browsergym") == ()
    assert opened("links", stated_hosts=frozenset({"pages.example"})).spans_in("browsergym") == ()


def test_what_has_no_reference_has_a_bid_of_its_own() -> None:
    machine = opened()
    nodes = read_screen("web", machine.observation_in("browsergym"))
    handles = [node.handle for node in nodes if node.handle is not None]
    assert len(set(handles)) == len(handles)
    assert {node.handle for node in read_screen("web", machine.observation) if node.handle} & set(handles)
    assert all(node.handle for node in nodes if node.role == "option")


def test_a_link_opens_behind_with_control_and_not_at_all_with_alt() -> None:
    for modifiers, tabs in ((["Control"], 2), (["Shift"], 2), (["Alt"], 1)):
        machine = WebMachine(Pages(BODIES), "http://pages.example/links")
        machine.act(step(machine.observation, "click", 'link "Form"', modifiers=modifiers))
        assert machine.browser.tab.url == "http://pages.example/links"
        assert [tab.url for tab in machine.browser.tabs[1:]] == ["http://pages.example/form"] * (tabs - 1)
        machine.close()


def test_after_a_form_whose_target_broke_only_the_target_is_loaded_again() -> None:
    class Broken(Pages):
        posts = 0

        def fetch(self, request: HttpRequest) -> Response | None:
            if request.method == "POST":
                self.posts += 1
                return Response(303, location="/reset")
            return super().fetch(request)

    internet = Broken({"send": '<form method="post"><button>Go</button></form>'})
    machine = WebMachine(internet, "http://pages.example/send")
    machine.act(step(machine.observation, "click", "Go"))
    machine.act(step(machine.observation, "click", "Reload"))
    assert internet.posts == 1 and internet.visits["reset"] == 2
    machine.close()
