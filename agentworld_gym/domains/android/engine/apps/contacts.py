"""The contacts app: people with numbers, whose names the other apps show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from agentworld_gym.base.documents.strict import Strict
from agentworld_gym.domains.android.engine import widgets
from agentworld_gym.domains.android.engine.app import App, AppScene
from agentworld_gym.domains.android.engine.phone import Screen
from agentworld_gym.kit.gui import Message, Widget, column, row

if TYPE_CHECKING:
    from agentworld_gym.domains.android.engine.phone import Phone

MAX_PEOPLE, MAX_CHARS = 500, 200
FIELDS = (("name", "Name"), ("phone", "Phone"), ("email", "Email"), ("company", "Company"))

Person = dict[str, Any]


class StatedPerson(Strict):
    """One contact."""

    name: str = Field(min_length=1)
    phone: str = ""
    email: str = ""
    company: str = ""
    starred: bool = False


class ContactsSetup(Strict):
    """Contacts as a task states them."""

    people: tuple[StatedPerson, ...] | None = None


def digits(number: str) -> str:
    """Return the digits of a telephone number that count when numbers are compared.

    >>> digits("07700 900-142"), digits("+44 7700 900142")
    ('07700900142', '+447700900142')
    """
    return "".join(c for c in number if c in "0123456789+*#")


def person_of(phone: Phone, number: str) -> Person | None:
    """Return the contact with a number."""
    searched = digits(number)
    people: list[Person] = phone.data["contacts"]["people"]
    return next((person for person in people if searched and digits(person["phone"]) == searched), None)


def title_of(phone: Phone, number: str) -> str:
    """Return the name of the contact with a number, or else the number."""
    person = person_of(phone, number)
    return str(person["name"]) if person else number


def readable(phone: Phone, app: str) -> bool:
    """Return whether a shipped app may read the contacts, which it may unless the permission was removed."""
    return phone.permitted("contacts", app)


def matching(people: list[Person], query: str) -> list[Person]:
    """Return contacts sorted by name; with a query, those whose name, number, address or company contains it."""
    text, number = query.strip().lower(), digits(query)
    matches = [
        person
        for person in people
        if text in f"{person['name']}\n{person['email']}\n{person['company']}".lower()
        or (number and number in digits(person["phone"]))
    ]
    return sorted(matches, key=lambda person: (str(person["name"]).lower(), person["id"]))


class ContactsApp(App):
    """The contacts app: a list with index letters, favourites, search, and a form."""

    id, title, package = "contacts", "Contacts", "com.google.android.contacts"
    State = ContactsSetup

    def begin(self, stated: ContactsSetup, scene: AppScene) -> dict[str, Any]:
        """Return the stated people, or a dozen drawn ones."""
        if stated.people is not None:
            drawn = [person.model_dump() for person in stated.people]
        else:
            names = scene.rng.sample(scene.words["people"], 14)
            numbers = scene.rng.sample(range(1000), len(names))
            drawn = [
                {
                    "name": name,
                    "phone": f"07700 900{number:03}",
                    "email": f"{name.lower().replace(' ', '.')}@post.example" if scene.rng.random() < 0.6 else "",
                    "company": scene.rng.choice(scene.words["companies"]) if scene.rng.random() < 0.4 else "",
                    "starred": scene.rng.random() < 0.2,
                }
                for name, number in zip(names, numbers, strict=True)
            ]
        return {"people": [{"id": number, **person} for number, person in enumerate(drawn, 1)]}

    def view(self, phone: Phone, screen: Screen) -> Widget:
        """Return the list, favourites, the search, one contact, or the form."""
        people: list[Person] = phone.data["contacts"]["people"]
        name = screen["name"]
        if name == "person":
            person = next((p for p in people if p["id"] == screen["person"]), None)
            return widgets.deleted_screen("This contact was deleted") if person is None else _person(person)
        if name == "edit":
            return _form(screen)
        if name == "search":
            return _search(screen, people)
        return _list(phone, screen, people, starred=name == "favorites")

    def update(self, phone: Phone, message: Message) -> None:
        """Open, edit, save, star, share and delete contacts."""
        name, *args = message
        people: list[Person] = phone.data["contacts"]["people"]
        person = next((p for p in people if args and p["id"] == args[0]), None)
        match name.removeprefix("contacts/"):
            case "list":
                phone.replace("main")
            case "favorites":
                phone.replace("favorites")
            case "search":
                phone.push("search", focus="query")
            case "open":
                phone.push("person", person=args[0])
            case "new":
                phone.push("edit", person=None, focus="name", fields={"phone": args[0]} if args else {})
            case "edit" if person:
                phone.push("edit", person=person["id"], fields={key: person[key] for key, _ in FIELDS})
            case "save":
                self._save(phone, people)
            case "discard":
                phone.pop()
            case "star" if person:
                person["starred"] = not person["starred"]
            case "ask_delete" if person:
                phone.confirm(
                    "Delete contact?",
                    f"{person['name']} will be removed from this phone.",
                    ("Cancel", None),
                    ("Delete", ("contacts/delete", person["id"])),
                )
            case "delete" if person:
                people.remove(person)
                phone.pop()
                phone.toast(f"{person['name']} deleted")
            case "share" if person:
                phone.share(", ".join(filter(None, (person["name"], person["phone"], person["email"]))))
            case "call" if person:
                phone.send(("phone/call", person["phone"]))
            case "text" if person:
                phone.send(("messages/write", person["phone"]))

    def back(self, phone: Phone, screen: Screen) -> bool:
        """Ask before a changed form is left."""
        if screen["name"] != "edit" or not self._changed(phone, screen):
            return False
        phone.confirm("Discard your changes?", "", ("Cancel", None), ("Discard", ("contacts/discard",)))
        return True

    def _changed(self, phone: Phone, screen: Screen) -> bool:
        people: list[Person] = phone.data["contacts"]["people"]
        before = next((p for p in people if p["id"] == screen["person"]), {})
        return any(phone.text(key) != before.get(key, "") for key, _ in FIELDS)

    def _save(self, phone: Phone, people: list[Person]) -> None:
        values = {key: phone.text(key).strip()[:MAX_CHARS] for key, _ in FIELDS}
        if not any(values.values()):
            phone.toast("Nothing to save. Contact discarded.")
            phone.pop()
            return
        values["name"] = values["name"] or values["company"] or values["phone"] or values["email"]
        person = next((p for p in people if p["id"] == phone.screen["person"]), None)
        if person is not None:
            person.update(values)
            phone.pop()
        elif len(people) >= MAX_PEOPLE:
            phone.toast("Contacts storage is full")
            return
        else:
            new = {"id": phone.new_id(), **values, "starred": False}
            people.append(new)
            phone.pop()
            phone.push("person", app="contacts", person=new["id"])
        phone.toast("Contact saved")


def _list(phone: Phone, screen: Screen, people: list[Person], starred: bool) -> Widget:
    listed = [person for person in matching(people, "") if person["starred"] or not starred]
    if not starred:
        listed = phone.ordered("contacts", listed)
    letters: list[str] = []
    for person in listed:
        letters.append(person["name"][:1].upper())
    rows = [
        (person, letter if number == 0 or letters[number - 1] != letter else "")
        for number, (person, letter) in enumerate(zip(listed, letters, strict=True))
    ]
    body = (
        widgets.listing(screen, rows, lambda entry: _row(*entry), end=230)
        if rows
        else widgets.empty("No favorites" if starred else "No contacts")
    )
    return widgets.page(
        widgets.bar(
            "Favorites" if starred else "Contacts", widgets.icon("Search contacts", ("contacts/search",)), back=False
        ),
        body,
        floating=widgets.floating("Create contact", ("contacts/new",)),
        bottom=widgets.tabs((("Contacts", ("contacts/list",)), ("Favorites", ("contacts/favorites",))), int(starred)),
    )


def _row(person: Person, letter: str) -> Widget:
    side = Widget(widgets.TEXT, text=letter, shown=bool(letter), width=105, height=widgets.LINE)
    return widgets.item(person["name"], ("contacts/open", person["id"]), leading=side)


def _search(screen: Screen, people: list[Person]) -> Widget:
    field = widgets.entry(screen, "query", "Search contacts", grow=1)
    people_found = matching(people, field.field.value if field.field else "")
    top = row(widgets.icon("Navigate up", widgets.BACK), field, height=widgets.ROW)
    if not people_found:
        return widgets.page(top, widgets.empty("No results"))
    rows = widgets.listing(
        screen,
        people_found,
        lambda p: widgets.item(p["name"], ("contacts/open", p["id"]), detail=p["phone"] or p["email"]),
    )
    return widgets.page(top, rows)


def _person(person: Person) -> Widget:
    number = person["id"]
    star = "Remove from favorites" if person["starred"] else "Add to favorites"
    lines = [row(widgets.gap(widgets.MARGIN), widgets.label(person["name"], grow=1), height=132)]
    if person["phone"]:
        lines.append(
            widgets.item(
                person["phone"],
                ("contacts/call", number),
                detail="Mobile",
                trailing=(widgets.icon("Send text message", ("contacts/text", number)),),
            )
        )
    if person["email"]:
        lines.append(widgets.item(person["email"], detail="Email"))
    if person["company"]:
        lines.append(widgets.item(person["company"], detail="Company"))
    return widgets.page(
        widgets.bar(
            "",
            widgets.icon(star, ("contacts/star", number)),
            widgets.icon("Edit contact", ("contacts/edit", number)),
            widgets.more(("Delete", ("contacts/ask_delete", number)), ("Share", ("contacts/share", number))),
        ),
        widgets.scrolling(*lines),
    )


def _form(screen: Screen) -> Widget:
    title = "Create contact" if screen["person"] is None else "Edit contact"
    fields = [
        column(widgets.entry(screen, key, hint, digits=key == "phone"), padding=(widgets.MARGIN, 12))
        for key, hint in FIELDS
    ]
    save = widgets.button("Save", ("contacts/save",))
    return widgets.page(widgets.bar(title, save, up="Close"), widgets.scrolling(*fields))


APP = ContactsApp()
