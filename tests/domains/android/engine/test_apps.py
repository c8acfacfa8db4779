"""The phone's apps as a hand uses them: people, messages, notes, plans, calls and orders, and what they share."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.screens import read_screen, resolve_if_shown
from agentworld_gym.core.screens.node import ScreenNode
from agentworld_gym.domains.android.engine.machine import AndroidMachine

PEOPLE: list[dict[str, Any]] = [
    {"name": "Alma Petrov", "phone": "07700 900101", "email": "alma@post.example", "starred": True},
    {"name": "Bruno Keller", "phone": "07700 900102", "company": "Ivywood Books"},
    {"name": "Cora Ravel", "phone": "07700 900103"},
]
STATE: dict[str, Any] = {
    "time": "2026-03-04 09:41",
    "contacts": {"people": PEOPLE},
    "messages": {
        "threads": [
            {"who": "Bruno Keller", "unread": 1, "texts": [{"text": "Your book is here.", "time": "2026-03-04 08:10"}]},
            {"who": "07700 900555", "texts": [{"text": "Hello, this is Dario.", "time": "2026-03-03 18:00"}]},
        ]
    },
    "notes": {
        "notes": [
            {"title": "Garden", "text": "Seeds: dill, beans.\nSpade is at Cora's.", "label": "Home"},
            {"title": "Trip", "items": [{"text": "Tickets"}, {"text": "Maps", "done": True}], "pinned": True},
        ]
    },
    "calendar": {
        "events": [
            {"title": "Dentist", "date": "2026-03-04", "start": "11:00", "end": "12:00", "place": "Mill Road 4"},
            {"title": "Choir", "date": "2026-03-05", "start": "19:00", "end": "21:00", "reminder": 10},
        ]
    },
    "permissions": {"files/files": "allowed"},
    "phone": {"calls": [{"who": "Cora Ravel", "kind": "missed", "time": "2026-03-04 09:05"}]},
    "shop": {
        "products": [
            {"name": "Butter", "category": "Dairy", "price": 265},
            {"name": "Rye bread", "category": "Bakery", "price": 340, "stock": 2},
        ],
        "slots": ["Tomorrow 8:00-10:00", "Saturday 9:00-11:00"],
    },
}


class Hand:
    """Uses a phone by what its elements are called."""

    def __init__(self, **state: Any) -> None:
        self.machine = AndroidMachine.start({**STATE, **state}, 0)

    @property
    def screen(self) -> list[ScreenNode]:
        return read_screen("android", self.machine.observation)

    @property
    def texts(self) -> list[str]:
        return [node.label for node in self.screen if node.label]

    def do(self, **action: Any) -> Hand:
        """Do an action whose `index` is a locator without its brackets."""
        at = action.pop("at", None)
        if at is not None:
            index = resolve_if_shown(f"@{{{at}}}", self.screen)
            assert index is not None, f"{at} is not on the screen: {self.texts}"
            action["index"] = int(index)
        self.machine.act(action)
        return self

    def app(self, name: str) -> Hand:
        return self.do(action_type="open_app", app_name=name)

    def tap(self, *names: str) -> Hand:
        for name in names:
            self.do(action_type="click", at=name)
        return self

    def hold(self, name: str) -> Hand:
        return self.do(action_type="long_press", at=name)

    def type(self, name: str, text: str, clear: bool = False) -> Hand:
        return self.do(action_type="input_text", at=name, text=text, clear_text=clear)

    def back(self) -> Hand:
        return self.do(action_type="navigate_back")


def test_a_contact_is_found_where_the_alphabet_puts_it() -> None:
    hand = Hand().app("Contacts").tap("'Create contact'").type("'Name'", "Bela Dorn").type("'Phone'", "07700 900199")
    hand.tap("Button 'Save'")
    assert {"Bela Dorn", "07700 900199"} <= set(hand.texts)
    names = [node.text for node in hand.app("Contacts").screen if node.text[1:].strip() and node.role == "TextView"]
    assert names == ["Contacts", "Alma Petrov", "Bela Dorn", "Bruno Keller", "Cora Ravel", "Contacts", "Favorites"]


def test_a_new_name_shows_in_messages_and_calls() -> None:
    hand = Hand().app("Messages").tap("'07700 900555'", "'More options'", "'Add contact'").type("'Name'", "Dario Varga")
    assert "07700 900555" in hand.texts
    hand.tap("Button 'Save'")
    assert "Dario Varga" in hand.app("Messages").texts
    hand.tap("'Dario Varga'", "'Call'", "'End call'")
    assert hand.app("Phone").texts[2:4] == ["Dario Varga", "Outgoing, 9:41 AM"]


def test_a_deleted_contact_leaves_its_number() -> None:
    hand = Hand().app("Contacts").tap("'Bruno Keller'", "'More options'", "'Delete'", "'Cancel'")
    assert "Ivywood Books" in hand.texts
    hand.tap("'More options'", "'Delete'", "Button 'Delete'")
    assert "Bruno Keller" not in hand.texts
    assert "07700 900102" in hand.app("Messages").texts


def test_an_empty_search_day_and_form_say_so() -> None:
    assert "Nothing found" in Hand().app("Pantry").type("'Search products'", "zzz").texts
    assert "Nothing planned" in Hand(calendar={"events": []}).app("Calendar").texts
    hand = Hand().app("Contacts").tap("'Create contact'", "Button 'Save'")
    assert "Nothing to save. Contact discarded." in hand.texts


def test_favourites_have_a_tab_of_their_own() -> None:
    hand = Hand().app("Contacts").tap("'Cora Ravel'", "'Add to favorites'").back().tap("'Favorites'")
    assert {"Alma Petrov", "Cora Ravel"} <= set(hand.texts) and "Bruno Keller" not in hand.texts


def test_a_changed_form_asks_before_it_is_left() -> None:
    hand = Hand().app("Contacts").tap("'Cora Ravel'", "'Edit contact'").type("'Email'", "cora@post.example")
    hand.back().back()
    assert "Discard your changes?" in hand.texts
    hand.tap("Button 'Cancel'", "Button 'Save'")
    assert "cora@post.example" in hand.texts


def test_a_form_that_was_not_changed_is_left_at_once() -> None:
    hand = Hand().app("Contacts").tap("'Cora Ravel'", "'Edit contact'").back()
    assert "Send text message" in hand.texts


@pytest.mark.parametrize(
    ("query", "found"), [("cora", "Cora Ravel"), ("900102", "Bruno Keller"), ("ivy", "Bruno Keller")]
)
def test_contacts_are_searched_by_name_number_and_company(query: str, found: str) -> None:
    hand = Hand().app("Contacts").tap("'Search contacts'").type("EditText", query)
    assert [text for text in hand.texts if text in {person["name"] for person in PEOPLE}] == [found]


def test_an_opened_conversation_is_read() -> None:
    hand = Hand().app("Messages")
    assert "1 unread" in hand.texts
    hand.tap("'Bruno Keller'")
    assert "Your book is here." in hand.texts
    assert "1 unread" not in hand.app("Messages").texts


def test_a_message_goes_to_a_contact_and_comes_first() -> None:
    hand = Hand().app("Messages").tap("'Start chat'").type("EditText", "alm").tap("'Alma Petrov'")
    hand.type("'Text message'", "Good morning").tap("'Send SMS'")
    assert "Good morning" in hand.texts and "You, 9:41 AM" in [node.description for node in hand.screen]
    assert hand.app("Messages").texts[3:5] == ["Alma Petrov", "You: Good morning"]


def test_a_message_goes_to_a_number() -> None:
    hand = Hand().app("Messages").tap("'Start chat'").type("EditText", "07700900102").do(action_type="keyboard_enter")
    assert "Your book is here." in hand.texts


def test_nothing_is_sent_in_airplane_mode_until_it_is_off() -> None:
    hand = Hand(settings={"airplane": True}).app("Messages").tap("'Bruno Keller'").type("'Text message'", "Thanks")
    hand.tap("'Send SMS'")
    assert "You, not sent. Tap to try again" in [node.description for node in hand.screen]
    hand.app("Phone").tap("'Call Cora Ravel'")
    assert "Turn off airplane mode to make a call" in hand.texts


def test_a_message_is_forwarded() -> None:
    hand = Hand().app("Messages").tap("'Bruno Keller'").hold("'Your book is here.'").tap("'Forward'", "'Cora Ravel'")
    hand.tap("'Send SMS'")
    assert "Cora Ravel" in hand.texts and "Your book is here." in hand.texts


def test_a_conversation_is_deleted_after_a_question() -> None:
    hand = Hand().app("Messages").hold("'Bruno Keller'").tap("'Delete'")
    assert "Delete this conversation?" in hand.texts
    hand.tap("Button 'Delete'")
    assert "Bruno Keller" not in hand.texts


def test_without_the_permission_messages_knows_no_names() -> None:
    texts = Hand(permissions={"messages/contacts": "denied"}).app("Messages").texts
    assert "07700 900102" in texts and "Bruno Keller" not in texts


def test_a_note_is_saved_as_it_is_typed() -> None:
    hand = (
        Hand()
        .app("Notes")
        .tap("'New text note'")
        .type("'Note'", "Gate code 4471")
        .type("'Title'", "Gate")
        .back()
        .back()
    )
    assert {"Gate", "Gate code 4471"} <= set(hand.texts)
    hand.type("'Search your notes'", "4471")
    assert "Garden" not in hand.texts and "Gate" in hand.texts


def test_an_empty_note_is_not_kept() -> None:
    hand = Hand().app("Notes").tap("'New text note'").back().back()
    assert "Empty note discarded" in hand.texts and "Untitled" not in hand.texts


def test_a_checklist_is_ticked_extended_and_counted() -> None:
    hand = Hand().app("Notes")
    assert "1 of 2 done" in hand.texts
    hand.tap("'Trip'", "'Tickets'").type("'List item'", "Charger").tap("'Add item'").hold("TextView 'Maps'").tap(
        "'Delete'"
    )
    assert [(node.description, "checked" in node.flags) for node in hand.screen if node.role == "CheckBox"] == [
        ("Tickets", True),
        ("Charger", False),
    ]
    assert "1 of 2 done" in hand.back().back().texts


def test_pinned_notes_come_first_and_labels_filter() -> None:
    hand = Hand().app("Notes")
    assert hand.texts.index("Trip") < hand.texts.index("Garden")
    hand.tap("CheckBox 'Home'")
    assert "Trip" not in hand.texts
    hand.tap("CheckBox 'All'").hold("'Trip'").tap("'Label'", "'Create new label'").type("EditText", "Travel").tap(
        "'OK'"
    )
    hand.tap("CheckBox 'Travel'")
    assert "Trip" in hand.texts and "Garden" not in hand.texts


def test_a_deleted_note_comes_back_by_undo() -> None:
    hand = Hand().app("Notes").hold("'Garden'").tap("'Delete'")
    assert "Garden" not in hand.texts
    assert "Garden" in hand.tap("'Undo'").texts


def test_a_note_is_sent_as_a_message() -> None:
    hand = Hand().app("Notes").tap("'Trip'", "'More options'", "'Send'", "'Messages'", "'Cora Ravel'", "'Send SMS'")
    assert "Trip\n[ ] Tickets\n[x] Maps" in hand.texts


def test_a_file_is_sent_by_its_name() -> None:
    files = {"files": [{"name": "map.pdf"}]}
    hand = Hand(files=files).app("Files").tap("'map.pdf'", "'Share'", "'Messages'", "'Cora Ravel'", "'Send SMS'")
    assert "map.pdf" in hand.texts and "You, 9:41 AM" in [node.description for node in hand.screen]


def test_an_event_is_made_in_a_free_hour() -> None:
    hand = Hand().app("Calendar").tap("'Day'", "'2:00 PM'").type("'Add title'", "Haircut").tap("Button 'Save'")
    assert "Haircut, 2:00 PM – 3:00 PM" in hand.texts
    assert "2:00 PM – 3:00 PM" in hand.tap("'Schedule'").texts


def test_an_event_moves_with_its_length_and_tells_conflicts() -> None:
    hand = Hand().app("Calendar").tap("'Choir'", "'Edit event'", "'Thu, Mar 5, 2026'")
    hand.tap("'Wednesday, March 4, 2026'", "'OK'", "'7:00 PM'")
    hand.type("'Hour'", "10", clear=True).tap("'AM'", "'OK'")
    assert "Conflicts with Dentist" in hand.texts
    hand.tap("Button 'Save'")
    assert "Wed, Mar 4, 10:00 AM – 12:00 PM" in hand.texts


def test_guests_come_from_the_contacts_once_that_is_allowed() -> None:
    hand = Hand().app("Calendar").tap("'Dentist'", "'Edit event'", "'Add guest'")
    assert "Allow Calendar to access your contacts?" in hand.texts
    hand.tap("'Allow'", "'Alma Petrov'", "Button 'Save'")
    assert hand.texts[hand.texts.index("Alma Petrov") + 1] == "Guest"


def test_the_month_counts_events_and_leads_to_a_day() -> None:
    hand = Hand().app("Calendar").tap("'Month'")
    assert "Thursday, March 5, 1 event" in [node.description for node in hand.screen]
    hand.tap("'Thursday, March 5, 1 event'").do(action_type="scroll", direction="down")
    assert "Choir, 7:00 PM – 9:00 PM" in hand.texts


def test_the_letters_of_the_week_stand_above_their_days() -> None:
    hand = Hand().app("Calendar").tap("'Month'")
    letters = [node.box.x for node in hand.screen if node.text in tuple("MTWFS") and node.box]
    days = [node.box.x for node in hand.screen if "March " in node.description and node.box]
    assert letters == sorted(set(letters)) == sorted(set(days))


def test_a_reminder_is_a_notification() -> None:
    hand = Hand(time="2026-03-05 18:49").do(action_type="wait")
    assert any(row["title"] == "Choir" for row in hand.machine.phone.model["notifications"])


def test_a_number_is_dialled_and_the_call_logged() -> None:
    hand = Hand().app("Phone").tap("'Keypad'")
    for key in "07700":
        hand.tap(f"Button '{key}'")
    hand.tap("'Backspace'", "Button 'Call'")
    assert "Calling…" in hand.texts and "0770" in hand.texts
    for _ in range(3):
        hand.do(action_type="wait")
    hand.tap("'End call'")
    assert "0770" in hand.app("Phone").texts
    assert "9:44 AM, 2 min 0 sec" in hand.tap("'0770'").texts


def test_an_order_needs_a_basket_and_a_time() -> None:
    hand = (
        Hand().app("Pantry").tap("'Add Rye bread to basket'", "'Add Rye bread to basket'", "'Add Rye bread to basket'")
    )
    assert "There is no more of this in stock" in hand.texts
    hand.tap("'Basket (2)'", "'Order'")
    assert "Choose a delivery time first" in hand.texts
    hand.tap("'Choose a time'", "'Saturday 9:00-11:00'", "'Order'")
    assert "€6.80, delivered Saturday 9:00-11:00." in hand.texts
    hand.tap("'Place order'")
    assert {"Order 4101", "Placed, €6.80", "Basket"} <= set(hand.texts)
    hand.tap("'Order 4101'", "'More options'", "'Cancel order'", "Button 'Cancel order'")
    assert "Cancelled" in hand.texts


def test_the_whole_phone_is_drawn_from_its_seed() -> None:
    first, same, other = (AndroidMachine.start({}, seed).state() for seed in (1, 1, 2))
    assert first == same != other
    assert sum(key.startswith("contacts/people") and key.endswith("/name") for key in first) >= 10


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("contacts", {"people": [{"name": ""}]}),
        ("calendar", {"events": [{"title": "x", "date": "2026-03-04", "start": "25:00", "end": "26:00"}]}),
        ("shop", {"products": [{"name": "Tea", "category": "Dry", "price": 0}]}),
        ("phone", {"calls": [{"who": "x", "kind": "lost", "time": "2026-03-04 10:00"}]}),
    ],
)
def test_a_wrong_state_names_its_key(key: str, value: dict[str, Any]) -> None:
    with pytest.raises(SpecError, match=f"task state.*{key}"):
        AndroidMachine.start({key: value}, 0)


APPS = ("Contacts", "Messages", "Phone", "Notes", "Calendar", "Pantry")
GESTURES = st.one_of(
    st.tuples(st.just("click"), st.integers(0, 60)),
    st.tuples(st.just("long_press"), st.integers(0, 60)),
    st.tuples(st.just("input_text"), st.text("a0 ,\n", max_size=4)),
    st.tuples(st.sampled_from(["navigate_back", "keyboard_enter", "wait"]), st.none()),
    st.tuples(st.just("scroll"), st.sampled_from(["up", "down"])),
)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(APPS), st.lists(GESTURES, max_size=25))
def test_whatever_is_touched_there_is_a_screen_and_a_fork_shows_the_same(
    app: str, gestures: list[tuple[str, Any]]
) -> None:
    hand = Hand().app(app)
    twin = hand.machine.fork()
    for name, value in gestures:
        key = {"input_text": "text", "scroll": "direction"}.get(name, "index")
        action = {"action_type": name} if value is None else {"action_type": name, key: value}
        assert hand.machine.act(action) == twin.act(action)
        assert hand.screen
    assert hand.machine.state() == twin.state()


@pytest.mark.parametrize("kind", ["person", "note", "event", "thread"])
def test_a_screen_whose_subject_is_gone_says_so(kind: str) -> None:
    hand = Hand().app({"person": "Contacts", "note": "Notes", "event": "Calendar", "thread": "Messages"}[kind])
    hand.tap({"person": "'Cora Ravel'", "note": "'Garden'", "event": "'Dentist'", "thread": "'Bruno Keller'"}[kind])
    data = hand.machine.phone.data
    data["contacts"]["people"].clear()
    data["notes"]["notes"].clear()
    data["calendar"]["events"].clear()
    data["messages"]["threads"].clear()
    hand.do(action_type="wait")
    assert any("deleted" in text or "Texting with" in text for text in hand.texts)
