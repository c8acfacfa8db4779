"""The family of tasks at a desk: what people report has to be repaired, committed, closed and answered."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from agentworld_gym.core.domain.task import Check, Expect, Split
from agentworld_gym.core.tasks.family import Family, TaskDraft, by_name
from agentworld_gym.domains.mcp.api import load_service
from agentworld_gym.domains.swe.api import (
    PYTHON,
    ROOT,
    SUITE,
    Mutation,
    Repository,
    call,
    draw_repository,
    edit,
    fix,
    listing,
    prints,
    read,
    shell,
    suite_passes,
    templates,
)
from agentworld_gym.domains.work.machine import DESK, USER, first_observation
from agentworld_gym.kit.vocabulary import common_pool

Row = dict[str, Any]


class Report(NamedTuple):
    """A bug that somebody wrote about, with the message and the issue."""

    bug: Mutation
    message: Row
    issue: Row


def reported_bug(rng: random.Random, level: int, split: Split) -> TaskDraft:
    """Draft the repair of what an issue reports; from level 2 on a message does, and at level 3 there are two.

    Level 1 names the issue. Level 2 names nothing: the message leads to the issue, and its sender is answered. Level 3
    has two messages, one of them with an attachment to be kept, and one of the bugs has a second issue.
    """
    template = rng.choice(list(templates().values()))
    repository = draw_repository(rng, template, split)
    first = rng.choice(repository.mutations)
    bugs = [first]
    if level == 3:
        others = [other for other in repository.mutations if other.file != first.file and other.kind != first.kind]
        # A broken import hides the other bug from the tests.
        bugs = sorted([first, rng.choice(others)], key=lambda bug: (bug.kind != "broken_import", bug.test))
    desk = _Desk(rng, split, str(repository.values["package"]))
    reports = [desk.report(bug) for bug in bugs]
    later = desk.issue(f"Again: {reports[0].issue['title'].lower()}", reports[0].bug.symptom) if level == 3 else None
    attached = desk.attach(reports[-1].message) if level == 3 else None
    tables = desk.tables()
    repairs: list[str] = []
    for report in reports:
        repairs += [read(f"{ROOT}/{report.bug.file}"), fix(report.bug), shell(SUITE)]
    numbers = sorted(report.issue["issue_id"] for report in reports)
    message = "Fix " + " and ".join(f"#{number}" for number in numbers)
    path = None if attached is None else f"{ROOT}/docs/{attached['filename']}"
    kept = (
        [] if attached is None else [call("desk-save_attachment", attachment_id=attached["attachment_id"], path=path)]
    )
    looks = [call("desk-get_issue", issue_id=report.issue["issue_id"]) for report in reports]
    if level > 1:
        mail = [call("desk-read_message", message_id=report.message["message_id"]) for report in reports]
        looks = [call("desk-list_messages"), *mail, call("desk-list_issues", status="open"), *looks]
    closing = [call("desk-close_issue", issue_id=number, resolution="fixed") for number in numbers]
    checks = [suite_passes(repository, 0.4), _committed(message, path)]
    checks += [_is_closed(number, "fixed") for number in numbers]
    if later is not None:
        earlier = reports[0].issue["issue_id"]
        closing.append(
            call("desk-close_issue", issue_id=later["issue_id"], resolution="duplicate", duplicate_of=earlier)
        )
        checks.append(_is_closed(later["issue_id"], f'duplicate", "duplicate_of": {earlier}'))
    answers: list[str] = []
    if level > 1:
        for report in reports:
            number, where = report.issue["issue_id"], report.message["message_id"]
            answers.append(call("desk-reply", message_id=where, body=f"It is repaired, see #{number}."))
            checks.append(_is_answered(where, number))
    expert = [*looks, shell(SUITE), *repairs, *kept, shell(f"git add -A && git commit -qm '{message}'")]
    expert += [*closing, *answers]
    return TaskDraft(
        instruction=_instruction(level, reports, message, path),
        state={
            "desk": tables,
            "repository": {
                "root": ROOT,
                "python": PYTHON,
                "git": {"branch": "main", "commits": [{"message": f"Import {repository.values['version']}"}]},
                "files": repository.broken(*bugs),
            },
        },
        success=tuple(checks),
        expert=tuple(expert),
        distractors=tuple(_distractors(rng, repository, reports, tables)),
        first_observation=first_observation(listing(f"{ROOT}/{path}" for path in repository.files)),
        menu_max=len(set(expert)) + 6,
    )


class _Desk:
    """The rows of a desk while a task is drafted."""

    def __init__(self, rng: random.Random, split: Split, package: str) -> None:
        self._rng, self._package = rng, package
        self._words = load_service(str(DESK)).scenario.words
        names = rng.sample(common_pool("people").of(split), 6)
        self._people = [
            {"email": f"{_slug(name)}@workshop.example", "name": name, "team": rng.choice(self._words["teams"])}
            for name in names
        ]
        self._letters = rng.sample(self._words["letters"], 5)
        self._wishes = rng.sample(self._words["wishes"], 4)
        self._writers = iter(rng.sample(self._people, len(self._people)))
        self._number = rng.randint(20, 60)
        self._issues: list[Row] = []
        self._messages: list[Row] = []
        self._attachments: list[Row] = []
        for wish in self._wishes[:2]:
            self.issue(**wish, assignee=rng.choice(self._people)["email"])
        for letter in self._letters[:3]:
            self._letter(**letter, sender=rng.choice(self._people)["email"])

    def issue(self, title: str, body: str, assignee: str | None = USER) -> Row:
        """Add an issue with the next number."""
        self._number += self._rng.randint(1, 3)
        row = {
            "issue_id": self._number,
            "title": title,
            "body": body,
            "reporter": self._rng.choice(self._people)["email"],
            "assignee": assignee,
            "status": "open",
            "resolution": None,
            "duplicate_of": None,
            "created_at": f"2026-02-{len(self._issues) + 10}T09:{self._rng.randint(10, 59)}:00Z",
        }
        self._issues.append(row)
        return row

    def report(self, bug: Mutation) -> Report:
        """Add the message of somebody who met a bug, and the issue that a colleague opened on it."""
        name = bug.function.rpartition(".")[2]
        body = f"{bug.symptom} Can you look into it? It is {self._package}, as installed."
        message = self._letter(f"Something is wrong in {self._package}", body, next(self._writers)["email"])
        issue = self.issue(f"{name} gives a wrong result", f"{bug.symptom} `python -m pytest -q {bug.test}` shows it.")
        return Report(bug, message, issue)

    def attach(self, message: Row) -> Row:
        """Add an attachment to a message."""
        file = self._rng.choice(self._words["attached"])
        row = {"attachment_id": len(self._attachments) + 1, "message_id": message["message_id"], **file}
        self._attachments.append(row)
        return row

    def _letter(self, subject: str, body: str, sender: str) -> Row:
        row = {
            "message_id": len(self._messages) + 1,
            "box": "inbox",
            "in_reply_to": None,
            "sender": sender,
            "recipient": USER,
            "sent_at": f"2026-02-{len(self._messages) + 20}T08:{self._rng.randint(10, 59)}:00Z",
            "subject": subject,
            "body": body,
            "is_read": 0,
        }
        self._messages.append(row)
        return row

    def tables(self) -> dict[str, list[Row]]:
        """Return all rows by table, with some more letters and wishes on top."""
        for wish in self._wishes[2:]:
            self.issue(**wish, assignee=None)
        for letter in self._letters[3:]:
            self._letter(**letter, sender=self._rng.choice(self._people)["email"])
        return {
            "people": [{"email": USER, "name": "You", "team": "Development"}, *self._people],
            "messages": self._messages,
            "attachments": self._attachments,
            "issues": self._issues,
            "comments": [],
        }


def _slug(name: str) -> str:
    return re.sub(r"[^a-z]+", ".", name.lower()).strip(".")


def _instruction(level: int, reports: Sequence[Report], message: str, path: str | None) -> str:
    rule = "without changing the tests, so that the whole suite passes"
    if level == 1:
        number = reports[0].issue["issue_id"]
        return (
            f"Issue #{number} of the tracker is yours. Repair in {ROOT} what it reports, {rule}, commit the repair "
            f'with the message "{message}", and close the issue as fixed.'
        )
    if level == 2:
        return (
            f"{reports[0].message['sender']} has written to you that something is wrong. One of the open issues is "
            f"about it. Repair the cause in {ROOT}, {rule}, and commit the repair with the message Fix #N, where N is "
            "the number of the issue. Close the issue as fixed, and reply to the message with the number, as #N."
        )
    senders = " and ".join(report.message["sender"] for report in reports)
    return (
        f"{senders} have written to you that something is wrong, each of them something else. For each there is an "
        f"open issue, and for one of the two even a second one that was opened later. Repair both causes in {ROOT}, "
        f"{rule}. Keep the file that one of the messages brings as {path}. Commit all of it at once, with the message "
        "Fix #M and #N, where M and N are the numbers of the two issues that came first, the smaller one first. Close "
        "these two as fixed and the second report as a duplicate of its first. Reply to each of the two messages with "
        "the number of its first issue, as #N."
    )


def _committed(message: str, path: str | None) -> Check:
    """Return a check that all is committed at once with a message."""
    command = "git log -1 --format=%s; git rev-list --count HEAD; git status --porcelain | wc -l"
    report = f"{message}\n2\n0\n"
    if path is not None:
        command += f"; git show --name-only --format= HEAD | grep -c '^{path.removeprefix(f'{ROOT}/')}$'"
        report += "1\n"
    return prints(command, report, 0.2)


def _is_closed(number: int, how: str) -> Check:
    pattern = re.escape(f'"status": "closed", "resolution": "{how}')
    return Check(probe=call("desk-get_issue", issue_id=number), expect=Expect(matches=pattern), weight=0.2)


def _is_answered(message: int, number: int) -> Check:
    """Return a check that a reply to a message names the issue, and no other one."""
    pattern = rf'"replies": \[\{{(?!.*#(?!{number}\b)\d).*#{number}\b'
    return Check(probe=call("desk-read_message", message_id=message), expect=Expect(matches=pattern), weight=0.2)


def _distractors(
    rng: random.Random, repository: Repository, reports: Sequence[Report], tables: Mapping[str, Sequence[Row]]
) -> list[str]:
    """Draw wrong repairs, and what belongs to other issues and messages."""
    wrong = [edit(f"{ROOT}/{one.bug.file}", one.bug.broken, text) for one in reports for text in one.bug.wrong[:2]]
    mine = {one.issue["issue_id"] for one in reports}
    other = rng.choice([row["issue_id"] for row in tables["issues"] if row["issue_id"] not in mine])
    letter = rng.choice([row["message_id"] for row in tables["messages"] if "wrong" not in row["subject"]])
    return [
        *wrong,
        call("desk-close_issue", issue_id=other, resolution="fixed"),
        call("desk-close_issue", issue_id=reports[0].issue["issue_id"], resolution="wont_fix"),
        call("desk-read_message", message_id=letter),
        shell("git checkout -- ."),
        shell("git log --oneline"),
        call("desk-list_people"),
        call("desk-list_issues"),
    ]


FAMILIES: Mapping[str, Family] = by_name(reported_bug)
"""Name → family."""
