"""Tasks in the wiki: the agent finds, watches, edits and restores pages, and follows them in the tracker."""

from __future__ import annotations

import re

from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.domains.web.tasks.actions import (
    ACCEPT,
    BACK,
    SNAPSHOT,
    choose,
    click,
    fill_in,
    go,
    press,
    url,
    write,
)
from agentworld_gym.domains.web.tasks.scene import Person, WebScene, family, in_row, paragraph, term
from agentworld_gym.domains.web.tasks.tracker import CHANGES, FAULTS, PRIORITIES, Bug, Desk, select

SHELVES = {"House": "Rooms and keys", "People": "Who does what", "Work": "How we work"}
ROOMS = ("Boiler room", "Archive", "Print room", "Bicycle cellar", "Studio", "Workshop", "Server room", "Roof terrace")
CHORES = ("Fire drill", "Coffee beans", "Plants", "First aid", "Post", "Bicycles", "Projector", "Recycling")
HOURS = range(7, 20)


class Book:
    """The wiki of a task while it is being filled."""

    def __init__(self, scene: WebScene) -> None:
        self.scene = scene
        self.people = scene.people(4)
        scene.site("wiki", self.people)
        for name, about in SHELVES.items():
            scene.add("wiki", "categories", category=name, description=about)
        self.pages = scene.rng.randint(1, 30)
        self.revisions = scene.rng.randint(40, 90)

    def page(self, title: str, *texts: str, shelf: str = "Work", notes: tuple[str, ...] = ()) -> list[int]:
        """Add a page in its versions, the oldest first; return the numbers of the versions."""
        self.pages += 1
        self.scene.add("wiki", "pages", page_id=self.pages, title=title)
        self.scene.add("wiki", "page_categories", page_id=self.pages, category=shelf)
        numbers = []
        for place, text in enumerate(texts):
            self.revisions += 1
            numbers.append(self.revisions)
            summary = notes[place] if place < len(notes) else "First version" if place == 0 else "Brought up to date"
            self.scene.add("wiki", "revisions", revision_id=self.revisions, page_id=self.pages, text=text,
                           summary=summary, username=self.people[place % 4].username,
                           edited_at=self.scene.moment(90 - self.revisions / 2))  # fmt: skip
        return numbers


def path(title: str) -> str:
    """Return the address of a page."""
    return f"wiki/wiki/{title.replace(' ', '_')}"


def editor(text: str, summary: str) -> list[str]:
    """Return the actions that rewrite a page and save it."""
    return [fill_in(("Text", text), ("Summary", summary)), press("Save page")]


@family
def look_up(scene: WebScene, level: int) -> TaskDraft:
    """The agent follows links to a fact, and watches, changes and links the page."""
    book = Book(scene)
    rooms, chores = scene.some(ROOMS, 4), scene.some(CHORES, 3)
    hours = [f"{hour}:30" for hour in scene.some(HOURS, 4)]
    keepers = scene.mixed(book.people)
    room, other, third, _ = rooms
    keys = {
        name: f"The {name.lower()} is open from {hour}. {keeper.name} keeps the key."
        for name, hour, keeper in zip(rooms, hours, keepers, strict=True)
    }
    chore, second, last = chores
    scene.start("wiki/")
    wrong = [keeper.name for keeper in keepers[1:]]
    if level == 1:
        for name in scene.mixed(rooms[:3]):
            book.page(name, keys[name], shelf="House")
        for name in scene.mixed(chores):
            book.page(name, f"{name} are looked after on Mondays, see [[{scene.pick(rooms[1:3])}]].", shelf="Work")
        # The start page shows what changed last; these pages are no rooms.
        for person in scene.some(book.people, 5 - 1):
            book.page(f"About {person.first}", f"{person.name} is with us since 2019 and likes tea.", shelf="People")
        book.page("House rules", "Close the windows in the evening, please.", shelf="Work")
        expert = [click("House"), click(room), press("Watch this page")]
        goal = scene.say(f"Find the page about the {room.lower()} in the wiki and watch it.",
                         f"Watch the wiki's page about the {room.lower()}.")  # fmt: skip
        checks = [scene.shows(go("wiki/watched"), f'link "{room}"', lacking=[f'link "{name}"' for name in rooms[1:]])]
        turns = [click(other), click("Work"), click(third), click("Talk"), BACK, click("Watched pages")]
        return scene.draft(f"{goal} Finish with who keeps the key.", expert, turns, checks, keepers[0].name, wrong, 12)
    for name in scene.mixed(rooms):
        book.page(name, keys[name], shelf="House")
    meets = dict(zip(chores, scene.some(rooms, 3), strict=True))
    meets[chore] = room
    for name in scene.mixed(chores):
        text = f"{name} is a thing for all of us. We meet for it in the [[{meets[name]}]], before noon."
        book.page(name, text, shelf="Work")
    fresh = f"The {room.lower()} is open from {hours[1]}. {keepers[0].name} keeps the key."
    search = write("Search the handbook", chore, "searchbox", submit=True)
    if level == 2:
        expert = [
            search,
            SNAPSHOT,
            click(chore),
            click(room),
            click("Edit"),
            *editor(fresh, "New hours"),
            click("History"),
        ]
        checks = [
            scene.shows(go(path(room)), rf"{re.escape(fresh)}\n"),
            scene.shows(go(f"{path(room)}/history"), in_row(scene.me.name, "New hours")),
        ]
        instruction = (
            f"The wiki says in which room we meet for '{chore}'. That room opens at {hours[1]} from now on: change the"
            " time on the page of the room, and leave the rest of its text as it is; the summary is 'New hours'. Finish"
            " with who keeps the key."
        )
        # Equally many texts name each person, so that the menu alone does not tell the answer.
        bad = [
            f"The {name.lower()} is open from {hours[1]}. {keeper.name} keeps the key."
            for name, keeper in zip(rooms[1:], keepers[1:], strict=True)
        ]
        turns = [fill_in(("Text", text), ("Summary", "New hours")) for text in bad]
        turns.append(write("Search the handbook", second, "searchbox", submit=True))
        return scene.draft(instruction, expert, turns, checks, keepers[0].name, wrong, 15)
    truth = f"{last} is done on the first Monday of the month. Whoever keeps the key of the [[{room}]] leads it."
    spoiled = f"{last} is great fun and nobody has to come. Whoever keeps the key of the [[{other}]] leads it."
    notes = ("First version", "Who leads it", "Just for fun", "A comma")
    texts = (f"{last} is done once a month.", truth, spoiled, spoiled.replace("fun and", "fun, and"))
    versions = book.page(f"{last} day", *texts, notes=notes)
    expert = [
        click("All pages"),
        click(f"{last} day"),
        click("History"),
        click(f"Version {versions[1]}"),
        press("Restore this version"),
        ACCEPT,
        click(room),
        click("Edit"),
        *editor(f"{keys[room]} See [[{last} day]].", "Link added"),
        press("Watch this page"),
    ]
    instruction = (
        f"Somebody has spoiled the wiki's page '{last} day' just for fun. Restore its last good version. Then append"
        f" ' See [[{last} day]].' to the page of the room that the good version names (summary 'Link added'), and watch"
        " that page. Finish with who leads it."
    )
    good, better = (re.escape(text) for text in (f"{last} is done on the first Monday", keys[room]))
    checks = [
        scene.shows(go(path(f"{last} day")), good, f'link "{room}"'),
        scene.shows(go(path(room)), better.removesuffix(r"\."), f'link "{last} day"', 'button "Stop watching"'),
    ]
    turns = [
        fill_in(("Text", f"{keys[name]} See [[{last} day]]."), ("Summary", "Link added")) for name in (other, third)
    ]
    return scene.draft(instruction, expert, turns, checks, keepers[0].name, wrong[:2], 16)


@family
def follow_policy(scene: WebScene, level: int) -> TaskDraft:
    """The agent sets issues of the tracker as a policy in the wiki says: who handles a fault, how soon, and who stands
    in."""
    book = Book(scene)
    desk = Desk(scene)
    scene.rows("tracker", "users")[1:] = []
    scene.join("tracker", *book.people)
    desk.people = book.people
    faults: list[Bug] = []
    for fault in scene.mixed(FAULTS):
        if fault.area not in {other.area for other in faults}:
            faults.append(fault)
    fault, second, third, _ = faults[:4]
    duty, stand_in, other, away = scene.mixed(book.people)
    priority, unlike, last = scene.some([p for p in PRIORITIES if p != "medium"], 3)
    rules = {
        fault.area: (duty, priority),
        second.area: (other, unlike),
        third.area: (away, last),
    }
    numbers = {
        entry.area: desk.issue(entry.title, f"{entry.text} Area: {entry.area}.") for entry in scene.mixed(faults[:4])
    }
    number = numbers[fault.area]

    def lines(people: dict[str, tuple[Person, str]]) -> str:
        rules = [f"- Faults in {area} go to {who.name}, priority {level}." for area, (who, level) in people.items()]
        return "\n".join(["How we handle faults:", "", *scene.mixed(rules)])

    def settle(person: Person, value: str) -> list[str]:
        return [select(number), choose("Assignee", person.name, CHANGES), choose("Priority", value, CHANGES),
                press("Change issues")]  # fmt: skip

    def settled(person: Person, value: str) -> list[str]:
        mine = in_row(f"#{number} ", f'"{value}"', f'"{person.name}"')
        return [mine, *(in_row(f"#{n} ", '"medium"', '"nobody"') for area, n in numbers.items() if area != fault.area)]

    home = go("tracker/")
    page = go(f"tracker/issues/{number}")
    goal = f"set assignee and priority of the issue '{fault.title}'"
    picks = [
        select(numbers[second.area]),
        choose("Assignee", other.name, CHANGES),
        choose("Priority", unlike, CHANGES),
        choose("Assignee", away.name, CHANGES),
        choose("Priority", last, CHANGES),
    ]
    where = f"The tracker is at {url('tracker/')}."
    if level == 1:
        book.page("Faults", lines(rules))
        scene.start(path("Faults"))
        expert = [home, *settle(duty, priority)]
        checks = [scene.shows(home, *settled(duty, priority))]
        instruction = scene.say(
            f"The wiki's page 'Faults' is open. As it says, {goal}, which is about {fault.area}. {where}",
            f"Do in the tracker what the open page of the wiki wants: {goal} (its area is {fault.area}). {where}",
        )
        instruction += " Finish with the number of the issue."
        wrong = [f"#{other}" for other in numbers.values() if other != number]
        return scene.draft(instruction, expert, picks, checks, f"#{number}", wrong, 13)
    days = scene.some(range(2, 20), 2)
    gone = {duty: days[0], other: -days[1]}
    absent = [
        f"- {who.name} is away until {scene.day(gone[who])}, {help_.name} stands in."
        for who, help_ in ((duty, stand_in), (other, away))
    ]
    book.page("Faults", f"{lines(rules)}\n\nWho is away stands at [[Absences]].")
    book.page("Absences", "\n".join(["Who is away, and who stands in:", "", *scene.mixed(absent)]), shelf="People")
    who = stand_in
    turns = [choose("Assignee", duty.name, CHANGES), *picks[:3]]
    if level == 2:
        scene.start(path("Faults"))
        expert = [click("Absences"), home, *settle(who, priority), click(f"#{number} {fault.title}")]
        scene.need(scene.rows("tracker", "issues"))
        author = next(row for row in scene.rows("tracker", "issues") if row["issue_id"] == number)
        author["author"] = scene.pick([duty, other]).username
        names = {person.username: person.name for person in book.people}
        checks = [scene.shows(home, *settled(who, priority))]
        instruction = (
            f"As the wiki's open page says, {goal}, which is about {fault.area}. Today is {scene.day(0)}; who is away"
            f" is replaced. {where} Finish with the name of who opened the issue."
        )
        opener = names[str(author["author"])]
        wrong = [name for name in names.values() if name != opener]
        return scene.draft(instruction, expert, turns, checks, opener, wrong, 15)
    scene.state["open"] = ""
    scene.site("mail")
    chief = scene.people(1)[0]
    shift = scene.mixed([(fault, last), (second, priority)])
    text = "\n\n".join(
        [
            "Hello,",
            *(f"faults in {entry.area} have the priority {value} from today on." for entry, value in shift),
            chief.first,
        ]
    )
    scene.add("mail", "messages", owner=scene.me.username, sender=chief.address, sender_name=chief.name,
              recipients=scene.me.address, subject="New priorities", text=text, sent_at=scene.moment(0.1))  # fmt: skip
    text = f"Hello,\n\nfaults in {fault.area} have the priority {unlike} for now.\n\n{other.first}"
    scene.add("mail", "messages", owner=scene.me.username, sender=other.address, sender_name=other.name,
              recipients=scene.me.address, subject="Priorities", text=text, sent_at=scene.moment(40))  # fmt: skip
    scene.start("mail/folders/inbox")
    note = f"Handled by {who.name}"
    expert = [
        click("New priorities"),
        go(path("Faults")),
        click("Absences"),
        home,
        *settle(who, last),
        click(f"#{number} {fault.title}"),
        write("Comment", note),
        press("Add comment"),
    ]
    checks = [
        scene.shows(home, *settled(who, last)),
        scene.shows(page, term("Assignee", who.name), paragraph(note)),
    ]
    instruction = (
        f"In the tracker, {goal}, which is about {fault.area}, as the wiki's page {url(path('Faults'))} says."
        f" Today is {scene.day(0)}; who is away is replaced, and {chief.name} wrote you a mail today that changes"
        f" priorities. Comment on the issue 'Handled by' and its assignee's name. {where} Finish with its priority."
    )
    turns = [choose("Priority", value, CHANGES) for value in (priority, unlike)]
    return scene.draft(instruction, expert, turns, checks, last, [priority, unlike], 16)
