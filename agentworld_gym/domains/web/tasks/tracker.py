"""Tasks in the issue tracker: the agent assigns, labels and opens issues, and closes duplicates."""

from __future__ import annotations

from typing import NamedTuple

from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.domains.web.tasks.actions import BACK, choose, click, fill_in, go, press, url, write
from agentworld_gym.domains.web.tasks.scene import Person, WebScene, family, in_row, paragraph, term


class Bug(NamedTuple):
    """A fault in two wordings, and its area."""

    title: str
    again: str
    text: str
    area: str


FAULTS = (
    Bug("Export loses umlauts", "Special letters are missing in the file", "Müller comes out as M?ller.", "reports"),
    Bug("Totals are off by one cent", "Sum does not match the rows", "Three rows of 0.335 make 1.00.", "billing"),
    Bug("Reminder is sent twice", "Customers get two reminders", "Both servers seem to run the job.", "mail"),
    Bug("App ends when the phone is turned", "Crash after rotating", "It happens every second time.", "mobile"),
    Bug("Search ignores the second word", "Searching for two words finds too much", "Only the first one counts.",
          "search"),
    Bug("Login fails with a long password", "Cannot sign in at all", "More than 64 letters are refused.", "login"),
    Bug("Invoice shows the wrong currency", "Euros instead of francs", "The account is in Swiss francs.", "billing"),
    Bug("Dates begin on Sunday", "Calendar has the wrong first day", "Our weeks begin on Monday.", "reports"),
)  # fmt: skip
WISHES = ("Dark colours for the evening", "Shortcuts for the keyboard", "Contacts from a file", "Pay in three parts")
TEAMS = ("Platform", "Mobile", "Billing", "Support")
PRIORITIES = ("low", "medium", "high", "urgent")
LABELS = ("billing", "crash", "docs", "mobile", "regression", "security")
RELEASES = ("Release 4.1", "Release 4.2", "Release 5.0", "Spring cleaning")
CHANGES = "group 'Change the selected issues'"


class Desk:
    """The tracker of a task while it is being filled; issues are numbered in the order in which they are added."""

    def __init__(self, scene: WebScene, role: str = "developer") -> None:
        self.scene = scene
        self.people = scene.people(4)
        scene.site("tracker", self.people, role)
        for row, team in zip(scene.rows("tracker", "users")[1:], scene.mixed(TEAMS), strict=True):
            row["team"] = team
        self.number = scene.rng.randint(10, 300)
        for label in LABELS:
            scene.add("tracker", "labels", label=label)
        for place, release in enumerate(RELEASES):
            scene.add("tracker", "milestones", title=release, due_on=scene.day(20 + 10 * place))

    def team(self, person: Person) -> str:
        """Return the team of a person."""
        rows = self.scene.rows("tracker", "users")
        return next(str(row["team"]) for row in rows if row["username"] == person.username)

    def issue(self, title: str, text: str = "It happens on all our machines.", **more: object) -> int:
        """Add an issue and return its number."""
        self.number += self.scene.rng.randint(1, 4)
        age = 30 - self.number % 25
        row = {"author": self.people[self.number % 4].username, "opened_at": self.scene.moment(age), **more}
        self.scene.add("tracker", "issues", issue_id=self.number, title=title, text=text, **row)
        return self.number


def select(number: int) -> str:
    """Return the action that ticks an issue of the list."""
    return click(f"Select issue {number}", "checkbox")


def change(field: str, value: str) -> str:
    """Return the action that chooses what selected issues get."""
    return choose(field, value, CHANGES)


@family
def triage_issues(scene: WebScene, level: int) -> TaskDraft:
    """The agent gives issues an assignee and a priority, and at level 3 closes a duplicate."""
    desk = Desk(scene)
    faults = scene.mixed(FAULTS)
    owner, other, third, _ = scene.mixed(desk.people)
    scene.start("tracker/")
    priority, unlike = scene.some(("low", "high", "urgent"), 2)
    if level == 1:
        numbers = [desk.issue(fault.title, fault.text) for fault in faults]
        right, stray, last, fourth = scene.some(range(8), 4)
        number = numbers[right]
        title = faults[right].title
        goal = scene.say(f"Give the issue '{title}' to {owner.name} with the priority {priority}.",
                         f"'{title}' is for {owner.name}, priority {priority}: set this in the tracker.")  # fmt: skip
        expert = [select(number), change("Priority", priority), change("Assignee", owner.name), press("Change issues")]
        page = go(f"tracker/issues/{number}")
        checks = [
            scene.shows(page, term("Priority", priority), term("Assignee", owner.name)),
            scene.shows(
                go("tracker/"),
                in_row(f"#{number} ", f'"{owner.name}"'),
                *(in_row(f"#{other} ", '"medium"', '"nobody"') for other in numbers if other != number),
            ),
        ]
        turns = [
            select(numbers[stray]),
            change("Assignee", other.name),
            change("Priority", unlike),
            click(f"#{number} {faults[right].title}"),
            BACK,
        ]
        return scene.draft(f"{goal} Finish with its number.", expert, turns, checks, f"#{number}",
                           [f"#{numbers[n]}" for n in (stray, last, fourth)], 13)  # fmt: skip
    label, odd = scene.some(LABELS, 2)
    if level == 2:
        lost = scene.some(WISHES, 2)
        rows = [(fault.title, "bug") for fault in faults[:3]] + [(wish, "feature") for wish in lost]
        taken = scene.mixed([0, 1, 2])[0]
        made: dict[int, int] = {}
        for place in scene.mixed(range(5)):
            title, kind = rows[place]
            made[place] = desk.issue(title, kind=kind, assignee=third.username if place == taken else None)
        free = [place for place in range(3) if place != taken]
        expert = [
            *(select(made[place]) for place in free),
            change("Assignee", owner.name),
            change("Priority", priority),
            change("Add label", label),
            press("Change issues"),
            click("People"),
        ]
        cells = (f'"{priority}"', f'"{owner.name}"', f'"{label}"')
        checks = [
            scene.shows(
                go("tracker/"),
                *(in_row(f"#{made[place]} ", *cells) for place in free),
                in_row(f"#{made[taken]} ", '"medium"', f'"{third.name}"', '"none"'),
                *(in_row(f"#{made[place]} ", '"medium"', '"nobody"', '"none"') for place in (3, 4)),
            )
        ]
        instruction = scene.say(
            f"Every open bug in the tracker that nobody works on goes to {owner.name}, with the priority {priority} and"
            f" the label {label}. Change nothing else. Finish with {owner.first}'s team.",
            f"{owner.name} takes all bugs that have no assignee: assign them, set their priority to {priority}, and add"
            f" the label {label}. Finish with the team that {owner.first} is in.",
        )
        turns = [
            select(made[taken]),
            change("Assignee", other.name),
            select(made[3]),
            change("Add label", odd),
            change("Priority", unlike),
        ]
        teams = [desk.team(person) for person in desk.people if person != owner]
        return scene.draft(instruction, expert, turns, checks, desk.team(owner), teams, 15)
    fault, near = faults[0], faults[1]
    titles = {fault.title: fault.text, fault.again: fault.text, near.title: near.text, near.again: near.text}
    order = scene.mixed(title for title in titles if title != fault.again)
    order.insert(scene.rng.randint(order.index(fault.title) + 1, 3), fault.again)
    made_by_title = {title: desk.issue(title, titles[title]) for title in order}
    old, double, twin, noise = (made_by_title[title] for title in titles)
    team = desk.team(owner)
    expert = [
        click("People"),
        click("Issues"),
        click(f"#{double} {fault.again}"),
        click("close this issue"),
        click("Duplicate of another issue", "radio"),
        write("Duplicate of", str(old), "spinbutton"),
        press("Close issue"),
        click("#", part=True),
        click("Properties", "generic"),
        choose("Assignee", owner.name),
        press("Save properties"),
    ]
    checks = [
        scene.shows(go(f"tracker/issues/{double}"), r"Closed \(duplicate of", rf'link "#{old}"'),
        scene.shows(go(f"tracker/issues/{old}"), "Open, opened by", term("Assignee", owner.name)),
    ]
    instruction = (
        f"'{fault.again}' tells of the same fault as an older issue. Close it as a duplicate of that one, and give the"
        f" older one to whoever is in the team {team}. Finish with the number of the older one."
    )
    turns = [
        write("Duplicate of", str(twin), "spinbutton"),
        write("Duplicate of", str(noise), "spinbutton"),
    ]
    return scene.draft(instruction, expert, turns, checks, f"#{old}", [f"#{twin}", f"#{noise}"], 16)


@family
def open_issue(scene: WebScene, level: int) -> TaskDraft:
    """The agent opens an issue; at level 3 a mail tells it, and the form does not accept it at once."""
    desk = Desk(scene)
    fault, *others = scene.some(FAULTS, 3)
    for other in others:
        desk.issue(other.title, other.text)
    owner, unlike, customer, rest = scene.mixed(desk.people)
    scene.start("tracker/")
    priority, odd = scene.some(("low", "high", "urgent"), 2)
    number = desk.number + 1
    page = go(f"tracker/issues/{number}")
    heading = rf'heading "{fault.title} #{number}"'
    fill = fill_in(("Title", fault.title), ("Description", fault.text))
    stray = fill_in(("Title", others[0].title), ("Description", others[0].text))
    wrong = _near(scene, number)
    if level == 1:
        expert = [click("New issue"), fill, choose("Priority", priority), press("Open issue")]
        checks = [scene.shows(page, heading, term("Priority", priority), paragraph(fault.text))]
        goal = scene.say(
            f"Open an issue '{fault.title}' with the description '{fault.text}' and priority {priority}.",
            f"Report '{fault.title}' in the tracker, priority {priority}, description '{fault.text}'.",
        )
        turns = [choose("Priority", odd), stray, choose("Kind", "feature"), click("Board"), BACK]
        return scene.draft(f"{goal} Finish with its number.", expert, turns, checks, f"#{number}", wrong, 13)
    label, strange = scene.some(LABELS, 2)
    release, later = scene.some(RELEASES, 2)
    ticks = [click(label, "checkbox"), choose("Milestone", release), choose("Assignee", owner.name)]
    wants = [heading, term("Priority", priority), term("Assignee", owner.name), term("Labels", label)]
    turns = [
        choose("Assignee", unlike.name),
        click(strange, "checkbox"),
        choose("Priority", odd),
        choose("Milestone", later),
    ]
    if level == 2:
        expert = [click("New issue"), fill, choose("Kind", "task"), choose("Priority", priority), *ticks,
                  press("Open issue")]  # fmt: skip
        wants += [rf'link "{release}"', term("Kind", "task")]
        instruction = scene.say(
            f"Open a task '{fault.title}' with the description '{fault.text}': priority {priority}, for {owner.name},"
            f" in the milestone {release}, with the label {label} and no other. Finish with its number.",
            f"{owner.name} has to do this before {release} (which is the milestone): '{fault.title}', described as"
            f" '{fault.text}'. Open a task for it with priority {priority} and just the label {label}. Finish with its"
            " number.",
        )
        checks = [scene.shows(page, *wants, lacking=[r": Labels\n[^\n]*, "])]
        return scene.draft(instruction, expert, turns, checks, f"#{number}", wrong, 16)
    scene.state["open"] = ""
    scene.site("mail")
    for sender, told, weight in ((customer, fault, priority), (rest, others[1], odd)):
        scene.add("mail", "messages", owner=scene.me.username, sender=sender.address, sender_name=sender.name,
                  recipients=scene.me.address, subject=f"From {sender.first}", sent_at=scene.moment(1),
                  text=f"Hello,\n\nlook at this:\n\n{told.title}\n\n{told.text}\n\nIt is {weight}.")  # fmt: skip
    loads = [*[owner], *[unlike] * 2, *[customer] * 2, *[rest] * 3, *[scene.me] * 3]
    for person, noun in zip(scene.mixed(loads), scene.words("nouns", len(loads)), strict=True):
        desk.issue(f"Rewrite the {noun} page", kind="task", assignee=person.username)
    number = desk.number + 1
    page, wants[0] = go(f"tracker/issues/{number}"), rf'heading "{fault.title} #{number}"'
    scene.start("mail/folders/inbox")
    expert = [
        click(f"From {customer.first}"),
        go("tracker/people"),
        click("New issue"),
        fill,
        choose("Priority", priority),
        choose("Assignee", owner.name),
        click(label, "checkbox"),
        press("Open issue"),
        write("Comment", f"Told by {customer.name}"),
        press("Add comment"),
    ]
    instruction = (
        f"{customer.name} has written you a mail about a fault. Open a bug for it in the tracker ({url('tracker/')}):"
        f" title and description in {customer.first}'s words, the priority as {customer.first} sees it, the label"
        f" {label}, and as assignee the person who has the fewest open issues. Then comment on it 'Told by' and the"
        " name of who wrote. Finish with its number."
    )
    wrong = _near(scene, number)[:2]
    turns = [turns[0], choose("Priority", odd), stray, click(strange, "checkbox")]
    wants += [paragraph(f"Told by {customer.name}"), paragraph(fault.text)]
    return scene.draft(instruction, expert, turns, [scene.shows(page, *wants)], f"#{number}", wrong, 16)


def _near(scene: WebScene, number: int) -> list[str]:
    """Return numbers around a given one, which may lie anywhere among them."""
    first = number - scene.rng.randrange(4)
    return scene.mixed(f"#{other}" for other in range(first, first + 4) if other != number)
