"""The office and the project tracker: what every tool does and refuses, rows that agree, and their tasks."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentworld_gym.agents.policies.scripted import menu_policy
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Check, Task, load_task
from agentworld_gym.core.tasks import generate
from agentworld_gym.domains.mcp.engine.machine import ToolMachine
from agentworld_gym.domains.mcp.engine.service import generated, load_service
from agentworld_gym.kit.tables.database import open_image

HANDWRITTEN = sorted(
    path
    for path in (Path(__file__).parents[4] / "domain_specs" / "tasks" / "mcp").glob("*.yaml")
    if path.name.startswith(("office-", "tracker-"))
)
FAMILIES = {
    "office": ("answer_mail", "reschedule_meeting", "tidy_invitations"),
    "tracker": ("close_duplicates", "roll_sprint", "triage_issues"),
}
EVERY_LEVEL = [(family, level) for families in FAMILIES.values() for family in families for level in (1, 2, 3)]
PARSER = ActionParser(load_spec("mcp"))

# Two small servers, written as tables: the header, then the rows. `-` is null.

ME, CARLO, HANNE, OLEG = "nora.feldt@bw.example", "carlo@bw.example", "hanne@bw.example", "oleg@bw.example"
OFFICE = f"""
users: email | name | department | job_title | desk
  {ME} | Nora Feldt | Sales | Sales lead | 2-A01
  {CARLO} | Carlo Ventresca | Sales | Sales manager | 2-A02
  {HANNE} | Hanne Overby | Design | Design lead | 3-B04
  {OLEG} | Oleg Baranov | Logistics | Logistics analyst | -
contacts: contact_id | owner | name | email | company | phone
  1 | {ME} | Lukas Obermann | lukas@glas.example | Obermann Glas | 1234
calendars: calendar_id | owner | name | visibility
  1 | {ME} | Work | free_busy
  2 | {CARLO} | Work | public
  3 | {HANNE} | Work | free_busy
  4 | {OLEG} | Work | free_busy
  5 | {OLEG} | Private | private
calendar_shares: calendar_id | email | role
  4 | {ME} | writer
rooms: room_id | name | floor | capacity | equipment
  1 | Acorn | 1 | 2 | screen
  2 | Birch | 1 | 6 | projector
events: event_id | calendar_id | organizer | title | start | end | room_id | status
  11 | 1 | {ME} | Budget check | 2026-05-19T10:00:00 | 2026-05-19T11:00:00 | 1 | confirmed
  12 | 2 | {CARLO} | Supplier call | 2026-05-19T10:30:00 | 2026-05-19T11:30:00 | 2 | confirmed
  13 | 3 | {HANNE} | Design review | 2026-05-20T09:00:00 | 2026-05-20T10:00:00 | - | confirmed
  14 | 1 | {ME} | Old plan | 2026-05-20T14:00:00 | 2026-05-20T15:00:00 | - | cancelled
  15 | 5 | {OLEG} | Dentist | 2026-05-19T08:00:00 | 2026-05-19T09:00:00 | - | confirmed
  16 | 3 | {HANNE} | Salary talk | 2026-05-21T09:00:00 | 2026-05-21T10:00:00 | - | confirmed
attendees: event_id | email | response
  11 | {ME} | accepted
  11 | {HANNE} | tentative
  12 | {CARLO} | accepted
  13 | {HANNE} | accepted
  13 | {ME} | needs_action
  14 | {ME} | accepted
  15 | {OLEG} | accepted
  16 | {HANNE} | accepted
folders: folder_id | owner | name | kind
  1 | {ME} | Inbox | inbox
  2 | {ME} | Sent | sent
  3 | {ME} | Trash | trash
  4 | {ME} | Archive | custom
  5 | {OLEG} | Inbox | inbox
messages: message_id | folder_id | thread_id | in_reply_to | sender | sent_at | subject | body | is_read
  51 | 1 | 51 | - | lukas@glas.example | 2026-05-11T09:00:00 | Invoice 158 | Please find it attached. | 0
  52 | 4 | 52 | - | {CARLO} | 2026-05-12T09:00:00 | Lunch | On Friday? | 1
  53 | 2 | 52 | 52 | {ME} | 2026-05-12T09:30:00 | Re: Lunch | Gladly. | 1
  54 | 1 | 54 | - | no-reply@bw.example | 2026-05-13T09:00:00 | Access card | It is ready. | 0
  55 | 5 | 55 | - | {HANNE} | 2026-05-13T10:00:00 | Secret | For Oleg alone. | 1
  56 | 3 | 56 | - | {CARLO} | 2026-05-14T10:00:00 | Old news | Nothing. | 1
recipients: message_id | email | kind
  51 | {ME} | to
  51 | {HANNE} | cc
  52 | {ME} | to
labels: label_id | owner | name
  1 | {ME} | Urgent
  2 | {ME} | Team
message_labels: message_id | label_id
  52 | 2
attachments: attachment_id | message_id | filename | content_type | content
  71 | 51 | invoice.txt | text/plain | Total: 266.50 euros.
  72 | 55 | secret.txt | text/plain | Secret.
todos: todo_id | owner | title | due | status
  1 | {ME} | Hand in the travel costs | 2026-05-22 | open
  2 | {ME} | Thank the team | - | done
  3 | {OLEG} | Count the pallets | - | open
"""

TRACKER = """
users: username | name | email | active
  rhea.lindholm | Rhea Lindholm | rhea@tw.example | 1
  hiba | Hiba Rahal | hiba@tw.example | 1
  joran | Joran Visser | joran@tw.example | 1
  kaya | Kaya Tanaka | kaya@tw.example | 1
  levin | Levin Roth | levin@tw.example | 0
projects: project_key | name | lead | wip_limit | last_number | archived
  ATL | Atlas Maps | rhea.lindholm | 1 | 7 | 0
  BEE | Beehive Chat | joran | 2 | 2 | 0
  COM | Compass Billing | joran | 2 | 1 | 0
  OLD | Old Thing | rhea.lindholm | 2 | 0 | 1
members: project_key | username | role
  ATL | rhea.lindholm | maintainer
  ATL | hiba | developer
  ATL | joran | developer
  BEE | rhea.lindholm | reporter
  BEE | joran | maintainer
milestones: milestone_id | project_key | title | due_date | state
  21 | ATL | Release 3.0 | 2026-10-02 | open
  22 | ATL | Release 3.1 | 2026-11-13 | open
  23 | ATL | Release 2.9 | 2026-08-21 | closed
sprints: sprint_id | project_key | name | state | start_date | end_date | capacity
  41 | ATL | Sprint 17 | active | 2026-09-07 | 2026-09-18 | 9
  42 | ATL | Sprint 18 | planned | 2026-09-21 | 2026-10-02 | 4
  43 | BEE | Sprint 5 | planned | 2026-09-21 | 2026-10-02 | 9
issues: issue_key | title | status | resolution | priority | points | assignee | milestone_id | sprint_id
  ATL-1 | Crash in the search box | open | - | high | 3 | joran | 21 | 41
  ATL-2 | Search box: crash | open | - | low | - | - | - | -
  ATL-3 | Write tests | in_progress | - | medium | 2 | hiba | - | -
  ATL-4 | Add paging | in_review | - | medium | 5 | hiba | - | -
  ATL-5 | Old flags | closed | fixed | low | 1 | hiba | - | -
  ATL-6 | Lost input | in_review | - | low | 1 | joran | - | -
  BEE-1 | Garbled umlauts | open | - | low | 1 | - | - | -
  COM-1 | Wrong sum | open | - | low | 1 | - | - | -
labels: label_id | project_key | name | color
  61 | ATL | regression | #d73a4a
  62 | ATL | security | #b60205
issue_labels: issue_key | label_id
  ATL-1 | 61
comments: comment_id | issue_key | author | body | created_at
  81 | ATL-1 | hiba | It happens on every second try. | 2026-09-02T09:00:00Z
  82 | ATL-1 | rhea.lindholm | Which browser? | 2026-09-03T09:00:00Z
watchers: issue_key | username
  ATL-1 | hiba
links: link_id | source | kind | target
  31 | ATL-1 | blocks | ATL-4
history: history_id | issue_key | author | field | old_value | new_value | changed_at
  91 | ATL-1 | hiba | priority | low | high | 2026-09-02T10:00:00Z
worklogs: worklog_id | issue_key | author | minutes | day | note
  1 | ATL-3 | hiba | 45 | 2026-09-08 | Tests
"""

WORKS: list[tuple[str, dict[str, Any], str]] = [
    ("office-list_users", {"department": "Sales"}, '"name": "Carlo Ventresca"'),
    ("office-get_user", {"email": OLEG}, '"name": "Private"'),
    ("office-list_contacts", {"query": "glas"}, '"company": "Obermann Glas"'),
    ("office-create_contact", {"name": "Mina Kader", "email": "mina@kader.example"}, '"contact_id": 2'),
    ("office-list_calendars", {}, '"calendar_id": 4, "owner": "oleg@bw.example", "name": "Work"'),
    ("office-share_calendar", {"calendar_id": 1, "email": CARLO, "role": "reader"}, '"role": "reader"'),
    ("office-list_events", {"start": "2026-05-19T10:59:00", "response": "accepted"}, '"count": 1'),
    ("office-list_events", {"calendar_id": 2}, '"title": "Supplier call"'),
    ("office-get_event", {"event_id": 12}, '"room": "Birch"'),
    (
        "office-create_event",
        {
            "title": "Kick-off",
            "start": "2026-05-19T11:30:00",
            "end": "2026-05-19T12:00:00",
            "room_id": 2,
            "attendees": [CARLO],
        },
        '"response": "needs_action"',
    ),
    ("office-update_event", {"event_id": 11, "start": "2026-05-19T12:00:00"}, '"end": "2026-05-19T13:00:00"'),
    (
        "office-cancel_event",
        {"event_id": 11},
        '"status": "cancelled"',
    ),
    ("office-respond_to_event", {"event_id": 13, "response": "declined"}, '"response": "declined"'),
    ("office-remove_attendee", {"event_id": 11, "email": HANNE}, '"attendees": [{"email": "nora.feldt@bw.example"'),
    (
        "office-get_free_busy",
        {"emails": [ME, HANNE, OLEG], "start": "2026-05-19T08:00:00", "end": "2026-05-19T18:00:00"},
        '"count": 2',
    ),
    ("office-list_rooms", {"equipment": "PROJECTOR"}, '"count": 1'),
    (
        "office-find_free_rooms",
        {"start": "2026-05-19T09:30:00", "end": "2026-05-19T10:30:00"},
        '{"rooms": [{"room_id": 2',
    ),
    ("office-list_room_bookings", {"room_id": 1, "date": "2026-05-19"}, '"event_id": 11'),
    ("office-release_room", {"event_id": 11}, '"room_id": null'),
    ("office-list_folders", {}, '"name": "Inbox", "kind": "inbox", "total": 2, "unread": 2'),
    ("office-create_folder", {"name": "Suppliers"}, '"kind": "custom"'),
    ("office-list_messages", {"folder_id": 4, "label": "Team"}, '"message_id": 52'),
    ("office-search_messages", {"has_attachment": True}, '"message_id": 51'),
    ("office-get_message", {"message_id": 51}, '"filename": "invoice.txt", "content_type": "text/plain", "size": 20'),
    ("office-get_thread", {"thread_id": 52}, '"body": "Gladly."'),
    ("office-send_message", {"to": [CARLO], "subject": "Hi", "body": "There"}, '"message_id": 57, "thread_id": 57'),
    (
        "office-reply_to_message",
        {"message_id": 51, "body": "Paid.", "reply_all": True},
        f'"email": "{HANNE}", "kind": "cc"',
    ),
    ("office-forward_message", {"message_id": 51, "to": [CARLO], "comment": "FYI"}, '"filename": "invoice.txt"'),
    ("office-move_messages", {"message_ids": [51, 54], "folder_id": 4}, '"total": 3'),
    ("office-mark_message", {"message_id": 51, "is_read": True}, '"is_read": true, "is_starred": false'),
    ("office-delete_message", {"message_id": 51}, '"result": "moved to trash"'),
    ("office-delete_message", {"message_id": 56}, '"result": "deleted"'),
    ("office-list_labels", {}, '"name": "Team", "messages": 1'),
    ("office-add_label", {"message_id": 51, "label": "Urgent"}, '"name": "Urgent"'),
    ("office-remove_label", {"message_id": 52, "label": "Team"}, '"labels": []'),
    ("office-get_attachment", {"attachment_id": 71}, "266.50"),
    ("office-list_todos", {"status": "open"}, '"count": 1'),
    ("office-create_todo", {"title": "Pay", "due": "2026-05-29", "message_id": 51}, '"todo_id": 4'),
    ("office-complete_todo", {"todo_id": 1}, '"status": "done"'),
    ("tracker-list_users", {"active": False}, '"username": "levin"'),
    ("tracker-get_user", {"username": "joran"}, '"project_key": "BEE", "role": "maintainer"'),
    (
        "tracker-list_projects",
        {},
        '"project_key": "ATL", "name": "Atlas Maps", "lead": "rhea.lindholm", "open_issues": 5',
    ),
    ("tracker-get_project", {"project_key": "ATL"}, '"wip_limit": 1, "archived": false'),
    ("tracker-list_members", {"project_key": "ATL"}, '"open_issues": 2, "in_progress": 1, "open_points": 7'),
    ("tracker-add_member", {"project_key": "ATL", "username": "kaya"}, '"role": "developer"'),
    ("tracker-list_issues", {"project_key": "ATL", "assignee": "", "status": "not_closed"}, '"count": 1'),
    ("tracker-list_issues", {"project_key": "ATL", "label": "regression"}, '"labels": ["regression"]'),
    ("tracker-search_issues", {"query": "EVERY second"}, '"issue_key": "ATL-1"'),
    ("tracker-get_issue", {"issue_key": "ATL-4"}, '"kind": "blocked_by", "issue_key": "ATL-1"'),
    ("tracker-create_issue", {"project_key": "ATL", "title": "New"}, '"issue_key": "ATL-8"'),
    ("tracker-update_issue", {"issue_key": "ATL-2", "points": 8}, '"points": 8'),
    ("tracker-assign_issue", {"issue_key": "ATL-2", "username": "hiba"}, '"assignee": "hiba"'),
    ("tracker-unassign_issue", {"issue_key": "ATL-1"}, '"assignee": null'),
    ("tracker-transition_issue", {"issue_key": "ATL-1", "status": "in_progress"}, '"status": "in_progress"'),
    ("tracker-close_issue", {"issue_key": "ATL-6", "resolution": "fixed"}, '"resolution": "fixed"'),
    ("tracker-reopen_issue", {"issue_key": "ATL-5"}, '"status": "open", "resolution": null'),
    ("tracker-get_history", {"issue_key": "ATL-1"}, '"old_value": "low", "new_value": "high"'),
    ("tracker-list_labels", {"project_key": "ATL"}, '"name": "regression", "color": "#d73a4a", "open_issues": 1'),
    ("tracker-create_label", {"project_key": "ATL", "name": "customer"}, '"color": "#8899aa"'),
    ("tracker-add_labels", {"issue_key": "ATL-2", "labels": ["security", "regression"]}, '"name": "security"'),
    ("tracker-remove_label", {"issue_key": "ATL-1", "label": "regression"}, '"labels": []'),
    ("tracker-list_comments", {"issue_key": "ATL-1"}, '"count": 2'),
    ("tracker-add_comment", {"issue_key": "ATL-5", "body": "Thanks."}, '"author": "rhea.lindholm"'),
    ("tracker-edit_comment", {"comment_id": 82, "body": "Which version?"}, '"body": "Which version?"'),
    ("tracker-link_issues", {"source": "ATL-2", "kind": "duplicates", "target": "ATL-1"}, '"link_id": 32'),
    ("tracker-unlink_issues", {"link_id": 31}, '"result": "removed"'),
    ("tracker-watch_issue", {"issue_key": "ATL-1"}, '{"username": "rhea.lindholm"}'),
    ("tracker-unwatch_issue", {"issue_key": "ATL-1", "username": "hiba"}, '"watchers": []'),
    ("tracker-list_milestones", {"project_key": "ATL"}, '"state": "open", "open_issues": 1, "open_points": 3'),
    ("tracker-create_milestone", {"project_key": "ATL", "title": "Release 4.0"}, '"milestone_id": 24'),
    ("tracker-set_milestone", {"issue_key": "ATL-2", "milestone_id": 22}, '"milestone": "Release 3.1"'),
    ("tracker-close_milestone", {"milestone_id": 22}, '"state": "closed"'),
    ("tracker-list_sprints", {"project_key": "ATL"}, '"capacity": 9, "points": 3, "open_points": 3'),
    ("tracker-get_sprint", {"sprint_id": 41}, '"issue_key": "ATL-1"'),
    ("tracker-set_sprint", {"issue_key": "ATL-1", "sprint_id": 42}, '"sprint": "Sprint 18"'),
    ("tracker-remove_from_sprint", {"issue_key": "ATL-1"}, '"sprint": null'),
    ("tracker-log_work", {"issue_key": "ATL-3", "minutes": 30}, '"day": "2026-09-14"'),
    ("tracker-list_worklogs", {"issue_key": "ATL-3"}, '"minutes": 45'),
]

REFUSED: list[tuple[str, dict[str, Any], int, str]] = [
    ("office-get_user", {"email": "x@bw.example"}, 404, "User x@bw.example not found"),
    ("office-create_contact", {"name": "X", "email": "nowhere"}, 422, "'nowhere' is not a valid e-mail address"),
    (
        "office-create_contact",
        {"name": "X", "email": "lukas@glas.example"},
        409,
        "A contact with the address lukas@glas.example already exists (contact 1)",
    ),
    (
        "office-share_calendar",
        {"calendar_id": 2, "email": OLEG, "role": "reader"},
        403,
        "Only carlo@bw.example can share the calendar 'Work'",
    ),
    ("office-share_calendar", {"calendar_id": 9, "email": OLEG, "role": "reader"}, 404, "Calendar 9 not found"),
    (
        "office-list_events",
        {"calendar_id": 3},
        403,
        "You do not have permission to read the calendar 'Work' of hanne@bw.example",
    ),
    (
        "office-list_events",
        {"start": "2026-02-30T10:00:00"},
        422,
        "'2026-02-30T10:00:00' is not a valid start time, expected the form 2026-05-18T14:00:00",
    ),
    ("office-get_event", {"event_id": 99}, 404, "Event 99 not found"),
    ("office-get_event", {"event_id": 16}, 403, "You do not have permission to read event 16"),
    (
        "office-create_event",
        {"title": "X", "start": "2026-05-19T11:00:00", "end": "2026-05-19T12:00:00", "room_id": 2},
        409,
        "Room 'Birch' is already booked from 2026-05-19T10:30:00 to 2026-05-19T11:30:00",
    ),
    (
        "office-create_event",
        {"title": "X", "start": "2026-05-19T11:00:00", "end": "2026-05-19T12:00:00", "calendar_id": 2},
        403,
        "You do not have permission to change the calendar 'Work' of carlo@bw.example",
    ),
    (
        "office-create_event",
        {"title": "X", "start": "2026-05-19T11:00:00", "end": "2026-05-19T11:00:00"},
        400,
        "The event must end after it starts",
    ),
    (
        "office-update_event",
        {"event_id": 12, "title": "X"},
        403,
        "Only the organizer (carlo@bw.example) can change event 12",
    ),
    ("office-update_event", {"event_id": 11, "end": "2026-05-19T09:00:00"}, 400, "The event must end after it starts"),
    ("office-cancel_event", {"event_id": 14}, 409, "Event 14 is cancelled"),
    ("office-respond_to_event", {"event_id": 12, "response": "accepted"}, 403, "You are not invited to event 12"),
    (
        "office-respond_to_event",
        {"event_id": 11, "response": "declined"},
        400,
        "You organize event 11; cancel it instead",
    ),
    ("office-add_attendees", {"event_id": 11, "emails": [CARLO]}, 409, "Room 'Acorn' seats only 2"),
    (
        "office-add_attendees",
        {"event_id": 11, "emails": [HANNE]},
        409,
        "hanne@bw.example is already invited to event 11 (tentative)",
    ),
    ("office-remove_attendee", {"event_id": 11, "email": CARLO}, 404, "carlo@bw.example is not invited to event 11"),
    (
        "office-get_free_busy",
        {"emails": [ME, "x@bw.example"], "start": "2026-05-19T08:00:00", "end": "2026-05-19T18:00:00"},
        404,
        "User x@bw.example not found",
    ),
    (
        "office-find_free_rooms",
        {"start": "2026-05-19T10:00:00", "end": "tomorrow"},
        422,
        "'tomorrow' is not a valid end time, expected the form 2026-05-18T15:00:00",
    ),
    ("office-list_room_bookings", {"room_id": 9, "date": "2026-05-19"}, 404, "Room 9 not found"),
    (
        "office-book_room",
        {"event_id": 11, "room_id": 2},
        409,
        "Room 'Birch' is already booked from 2026-05-19T10:30:00 to 2026-05-19T11:30:00",
    ),
    ("office-release_room", {"event_id": 13}, 403, "Only the organizer (hanne@bw.example) can change event 13"),
    ("office-create_folder", {"name": "inbox"}, 409, "A folder named 'inbox' already exists (folder 1)"),
    ("office-list_messages", {"folder_id": 5}, 403, "Folder 5 belongs to another mailbox"),
    ("office-get_message", {"message_id": 55}, 403, "Message 55 belongs to another mailbox"),
    ("office-get_thread", {"thread_id": 55}, 404, "Thread 55 not found"),
    (
        "office-send_message",
        {"to": [CARLO, "carlo"], "subject": "Hi", "body": "There"},
        422,
        "'carlo' is not a valid e-mail address",
    ),
    (
        "office-reply_to_message",
        {"message_id": 54, "body": "Thanks."},
        400,
        "Message 54 comes from an address that takes no replies",
    ),
    ("office-forward_message", {"message_id": 99, "to": [CARLO]}, 404, "Message 99 not found"),
    (
        "office-move_messages",
        {"message_ids": [51, 52], "folder_id": 4},
        409,
        "Message 52 is already in the folder 'Archive'",
    ),
    ("office-mark_message", {"message_id": 99, "is_read": True}, 404, "Message 99 not found"),
    ("office-delete_message", {"message_id": 55}, 403, "Message 55 belongs to another mailbox"),
    ("office-add_label", {"message_id": 51, "label": "Fun"}, 404, "Label 'Fun' not found"),
    ("office-remove_label", {"message_id": 51, "label": "Team"}, 404, "Message 51 does not have the label 'Team'"),
    ("office-get_attachment", {"attachment_id": 72}, 403, "Attachment 72 belongs to another mailbox"),
    (
        "office-create_todo",
        {"title": "X", "due": "soon"},
        422,
        "'soon' is not a valid date, expected the form 2026-05-18",
    ),
    ("office-complete_todo", {"todo_id": 3}, 404, "To-do 3 not found"),
    ("office-complete_todo", {"todo_id": 2}, 409, "To-do 2 is already done"),
    ("tracker-get_user", {"username": "nobody"}, 404, "User 'nobody' not found"),
    ("tracker-get_project", {"project_key": "XXX"}, 404, "Project 'XXX' not found"),
    ("tracker-list_members", {"project_key": "XXX"}, 404, "Project 'XXX' not found"),
    (
        "tracker-add_member",
        {"project_key": "BEE", "username": "kaya"},
        403,
        "Only maintainers of project BEE may do this",
    ),
    ("tracker-add_member", {"project_key": "ATL", "username": "levin"}, 409, "User 'levin' is deactivated"),
    (
        "tracker-remove_member",
        {"project_key": "ATL", "username": "hiba"},
        409,
        "User 'hiba' still has 2 open issues in project ATL",
    ),
    ("tracker-list_issues", {"project_key": "atl"}, 404, "Project 'atl' not found"),
    ("tracker-get_issue", {"issue_key": "ATL-99"}, 404, "Issue ATL-99 not found"),
    ("tracker-create_issue", {"project_key": "OLD", "title": "X"}, 409, "Project OLD is archived"),
    ("tracker-create_issue", {"project_key": "COM", "title": "X"}, 403, "You are not a member of project COM"),
    (
        "tracker-update_issue",
        {"issue_key": "ATL-5", "title": "X"},
        409,
        "Issue ATL-5 is closed (fixed) and cannot be changed; reopen it first",
    ),
    (
        "tracker-update_issue",
        {"issue_key": "BEE-1", "title": "X"},
        403,
        "Your role in project BEE (reporter) does not allow this",
    ),
    (
        "tracker-assign_issue",
        {"issue_key": "ATL-1", "username": "kaya"},
        409,
        "User 'kaya' is not a member of project ATL",
    ),
    ("tracker-unassign_issue", {"issue_key": "ATL-3"}, 409, "Issue ATL-3 is in_progress and needs an assignee"),
    (
        "tracker-transition_issue",
        {"issue_key": "ATL-4", "status": "in_progress"},
        409,
        "WIP limit reached: 'hiba' already has 1 issues in progress (limit 1)",
    ),
    (
        "tracker-transition_issue",
        {"issue_key": "ATL-1", "status": "in_review"},
        409,
        "Issue ATL-1 cannot go from open to in_review",
    ),
    ("tracker-transition_issue", {"issue_key": "ATL-2", "status": "in_progress"}, 409, "Issue ATL-2 has no assignee"),
    ("tracker-close_issue", {"issue_key": "ATL-4", "resolution": "fixed"}, 409, "Issue ATL-4 is blocked by ATL-1"),
    (
        "tracker-close_issue",
        {"issue_key": "ATL-3", "resolution": "fixed"},
        409,
        "Issue ATL-3 is in_progress; only issues in review can be closed as fixed",
    ),
    (
        "tracker-close_issue",
        {"issue_key": "ATL-2", "resolution": "duplicate"},
        409,
        "Issue ATL-2 has no link 'duplicates' to another issue",
    ),
    ("tracker-reopen_issue", {"issue_key": "ATL-1"}, 409, "Issue ATL-1 is not closed (open)"),
    ("tracker-get_history", {"issue_key": "ATL-99"}, 404, "Issue ATL-99 not found"),
    ("tracker-list_labels", {"project_key": "XXX"}, 404, "Project 'XXX' not found"),
    (
        "tracker-create_label",
        {"project_key": "ATL", "name": "security"},
        409,
        "Label 'security' already exists in project ATL",
    ),
    (
        "tracker-add_labels",
        {"issue_key": "ATL-1", "labels": ["security", "regression"]},
        409,
        "Issue ATL-1 already has the label 'regression'",
    ),
    (
        "tracker-remove_label",
        {"issue_key": "ATL-1", "label": "security"},
        404,
        "Issue ATL-1 does not have the label 'security'",
    ),
    ("tracker-list_comments", {"issue_key": "ATL-99"}, 404, "Issue ATL-99 not found"),
    ("tracker-add_comment", {"issue_key": "COM-1", "body": "X"}, 403, "You are not a member of project COM"),
    ("tracker-edit_comment", {"comment_id": 81, "body": "X"}, 403, "Comment 81 was written by 'hiba'"),
    (
        "tracker-link_issues",
        {"source": "ATL-4", "kind": "blocks", "target": "ATL-1"},
        409,
        "ATL-1 already blocks ATL-4; a link cannot go both ways",
    ),
    ("tracker-unlink_issues", {"link_id": 99}, 404, "Link 99 not found"),
    ("tracker-watch_issue", {"issue_key": "ATL-1", "username": "hiba"}, 409, "User 'hiba' already watches ATL-1"),
    ("tracker-unwatch_issue", {"issue_key": "ATL-1"}, 404, "User 'rhea.lindholm' does not watch ATL-1"),
    ("tracker-list_milestones", {"project_key": "XXX"}, 404, "Project 'XXX' not found"),
    (
        "tracker-create_milestone",
        {"project_key": "ATL", "title": "Release 3.0"},
        409,
        "Milestone 'Release 3.0' already exists in project ATL (milestone 21)",
    ),
    ("tracker-set_milestone", {"issue_key": "ATL-1", "milestone_id": 23}, 409, "Milestone 'Release 2.9' is closed"),
    ("tracker-close_milestone", {"milestone_id": 21}, 409, "Milestone 'Release 3.0' still has open issues: 1"),
    ("tracker-list_sprints", {"project_key": "XXX"}, 404, "Project 'XXX' not found"),
    ("tracker-get_sprint", {"sprint_id": 99}, 404, "Sprint 99 not found"),
    (
        "tracker-set_sprint",
        {"issue_key": "ATL-4", "sprint_id": 42},
        409,
        "Sprint 'Sprint 18' has 4 points left, issue ATL-4 needs 5",
    ),
    ("tracker-set_sprint", {"issue_key": "ATL-2", "sprint_id": 42}, 409, "Issue ATL-2 has no estimate"),
    ("tracker-remove_from_sprint", {"issue_key": "ATL-2"}, 400, "Issue ATL-2 is in no sprint"),
    ("tracker-start_sprint", {"sprint_id": 42}, 409, "Sprint 'Sprint 17' is still active in project ATL"),
    ("tracker-complete_sprint", {"sprint_id": 41}, 409, "Sprint 'Sprint 17' still has open issues: 1"),
    (
        "tracker-log_work",
        {"issue_key": "ATL-1", "minutes": 30, "day": "2026-09-15"},
        400,
        "Work cannot be booked in the future",
    ),
    ("tracker-list_worklogs", {"issue_key": "ATL-99"}, 404, "Issue ATL-99 not found"),
]

INVALID: list[tuple[str, dict[str, Any]]] = [
    *((f"office-{name}", {"limit": 0}) for name in ("list_users", "list_contacts", "list_rooms", "list_folders")),
    ("office-list_calendars", {"owner": 3}),
    ("office-search_messages", {"has_attachment": "yes"}),
    ("office-list_labels", {"offset": -1}),
    ("office-list_todos", {"status": "late"}),
    ("tracker-list_users", {"active": "no"}),
    ("tracker-list_projects", {"limit": 500}),
    ("tracker-search_issues", {"query": ""}),
]

LATER: list[tuple[list[tuple[str, dict[str, Any]]], str, dict[str, Any], str]] = [
    (
        [("office-update_event", {"event_id": 11, "start": "2026-05-19T13:00:00"})],
        "office-book_room",
        {"event_id": 11, "room_id": 2},
        '"room": "Birch"',
    ),
    (
        [("office-release_room", {"event_id": 11})],
        "office-add_attendees",
        {"event_id": 11, "emails": [CARLO, OLEG]},
        '{"email": "oleg@bw.example", "response": "needs_action"}',
    ),
    (
        [("office-send_message", {"to": [CARLO], "subject": "Hi", "body": "There"})],
        "office-list_messages",
        {"folder_id": 2},
        '"subject": "Hi"',
    ),
    (
        [("office-update_event", {"event_id": 11, "start": "2026-05-19T13:00:00"})],
        "office-get_event",
        {"event_id": 11},
        '{"email": "hanne@bw.example", "response": "needs_action"}',
    ),
    (
        [("tracker-remove_from_sprint", {"issue_key": "ATL-1"})],
        "tracker-complete_sprint",
        {"sprint_id": 41},
        '"state": "completed"',
    ),
    (
        [
            ("tracker-set_sprint", {"issue_key": "ATL-1", "sprint_id": 42}),
            ("tracker-complete_sprint", {"sprint_id": 41}),
        ],
        "tracker-start_sprint",
        {"sprint_id": 42},
        '"state": "active"',
    ),
    (
        [("tracker-link_issues", {"source": "ATL-2", "kind": "duplicates", "target": "ATL-1"})],
        "tracker-close_issue",
        {"issue_key": "ATL-2", "resolution": "duplicate"},
        '"resolution": "duplicate"',
    ),
    (
        [
            ("tracker-unassign_issue", {"issue_key": "ATL-1"}),
            ("tracker-close_issue", {"issue_key": "ATL-6", "resolution": "fixed"}),
        ],
        "tracker-remove_member",
        {"project_key": "ATL", "username": "joran"},
        '"result": "removed"',
    ),
    (
        [("tracker-assign_issue", {"issue_key": "ATL-1", "username": "hiba"})],
        "tracker-get_history",
        {"issue_key": "ATL-1"},
        '"field": "assignee", "old_value": "joran", "new_value": "hiba"',
    ),
]


def read(text: str) -> dict[str, list[dict[str, Any]]]:
    """Tables as they stand above."""
    tables: dict[str, list[dict[str, Any]]] = {}
    for line in text.strip().splitlines():
        if not line.startswith(" "):
            name, _, header = line.partition(": ")
            columns = [column.strip() for column in header.split("|")]
            rows = tables[name] = []
        else:
            cells = [None if cell.strip() == "-" else cell.strip() for cell in line.split("|")]
            rows.append(dict(zip(columns, cells, strict=True)))
    return tables


def completed(tables: dict[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    """Every issue with its project, its number and a reporter, and filed on a day of its own."""
    for issue in tables["issues"]:
        project, number = issue["issue_key"].split("-")
        filed = f"2026-09-0{number}T08:00:00Z"
        issue.update(project_key=project, number=number, reporter="hiba", created_at=filed, updated_at=filed)
    return tables


STATES: dict[str, dict[str, Any]] = {
    "office": {"scenario": "office", "user": ME, "tables": read(OFFICE)},
    "tracker": {"scenario": "tracker", "tables": completed(read(TRACKER))},
}


def call(machine: ToolMachine, tool: str, arguments: dict[str, Any]) -> str:
    return machine.act({"name": tool, "arguments": arguments})


def server(tool: str) -> ToolMachine:
    return ToolMachine.start(STATES[tool.split("-")[0]], 0)


def test_every_tool_is_shown_to_succeed_and_to_fail() -> None:
    for scenario in STATES:
        tools = set(load_service(scenario).tools)
        assert len(tools) >= 20
        assert tools <= {case[0] for case in WORKS} | {case[1] for case in LATER}
        assert tools <= {case[0] for case in REFUSED} | {case[0] for case in INVALID}


@pytest.mark.parametrize(("tool", "arguments", "shown"), WORKS)
def test_what_a_tool_does(tool: str, arguments: dict[str, Any], shown: str) -> None:
    machine = server(tool)
    before = machine.state()
    text = call(machine, tool, arguments)
    assert shown in text
    assert (machine.state() != before) == load_service(tool.split("-")[0]).tools[tool].writes


@pytest.mark.parametrize(("first", "tool", "arguments", "shown"), LATER)
def test_what_a_tool_does_after_others(
    first: list[tuple[str, dict[str, Any]]], tool: str, arguments: dict[str, Any], shown: str
) -> None:
    machine = server(tool)
    for earlier in first:
        assert '"status": "error"' not in call(machine, *earlier)
    assert shown in call(machine, tool, arguments)


@pytest.mark.parametrize(("tool", "arguments", "code", "message"), REFUSED)
def test_what_a_tool_refuses_changes_nothing(tool: str, arguments: dict[str, Any], code: int, message: str) -> None:
    machine = server(tool)
    before = machine.state()
    assert json.loads(call(machine, tool, arguments)) == {"status": "error", "code": code, "message": message}
    assert machine.state() == before


@pytest.mark.parametrize(("tool", "arguments"), INVALID)
def test_arguments_that_break_the_schema(tool: str, arguments: dict[str, Any]) -> None:
    text = call(server(tool), tool, arguments)
    (name,) = arguments
    assert text.startswith(f"Error calling tool '{tool}': 1 validation error for call[{tool}]\n{name}\n  ")


# Rows

ACCOUNT = {"office": "email", "tracker": "username"}
CONSISTENT = {
    "office": (
        'SELECT 1 FROM events WHERE "end" <= start OR length(start) <> 19 OR length("end") <> 19',
        "SELECT 1 FROM events a JOIN events b ON a.room_id = b.room_id AND a.event_id < b.event_id "
        'AND a.start < b."end" AND b.start < a."end"',
        "SELECT 1 FROM events e JOIN rooms r USING (room_id) WHERE r.capacity < "
        "(SELECT count(*) FROM attendees a WHERE a.event_id = e.event_id)",
        "SELECT 1 FROM events e WHERE organizer NOT IN (SELECT email FROM attendees a WHERE a.event_id = e.event_id)",
        "SELECT 1 FROM messages a JOIN messages b ON a.message_id < b.message_id AND a.sent_at > b.sent_at",
        "SELECT 1 FROM messages r JOIN messages m ON m.message_id = r.in_reply_to WHERE r.thread_id <> m.thread_id",
        "SELECT 1 FROM messages m WHERE sent_at > '2026-05-18T08:30:00' OR NOT EXISTS "
        "(SELECT 1 FROM recipients r WHERE r.message_id = m.message_id)",
        "SELECT 1 FROM messages m JOIN folders f USING (folder_id) WHERE f.kind = 'inbox' AND m.sender = f.owner",
    ),
    "tracker": (
        "SELECT 1 FROM issues WHERE created_at > updated_at OR updated_at > '2026-09-14T09:00:00Z'",
        "SELECT 1 FROM issues a JOIN issues b USING (project_key) "
        "WHERE a.number < b.number AND a.created_at > b.created_at",
        "SELECT 1 FROM issues WHERE status IN ('in_progress', 'in_review') AND assignee IS NULL",
        "SELECT 1 FROM issues i WHERE assignee NOT IN "
        "(SELECT username FROM members m WHERE m.project_key = i.project_key)",
        "SELECT 1 FROM issues i JOIN projects p USING (project_key) WHERE i.status = 'in_progress' "
        "GROUP BY i.project_key, i.assignee HAVING count(*) > max(p.wip_limit)",
        "SELECT 1 FROM issues i JOIN sprints s USING (sprint_id) WHERE s.project_key <> i.project_key "
        "OR s.state = 'completed' AND i.status <> 'closed'",
        "SELECT 1 FROM sprints s WHERE capacity < (SELECT sum(points) FROM issues i WHERE i.sprint_id = s.sprint_id)",
        "SELECT 1 FROM sprints WHERE state = 'active' GROUP BY project_key HAVING count(*) > 1",
        "SELECT 1 FROM issue_labels il JOIN issues i USING (issue_key) JOIN labels l USING (label_id) "
        "WHERE l.project_key <> i.project_key",
        "SELECT 1 FROM comments c JOIN issues i USING (issue_key) WHERE c.created_at < i.created_at",
    ),
}


@pytest.mark.parametrize("scenario", ["office", "tracker"])
def test_generated_rows_agree_with_each_other(scenario: str) -> None:
    user = load_service(scenario).scenario.about.user
    for size, seeds in (("small", range(15)), ("full", range(2))):
        for seed in seeds:
            connection = open_image(generated(scenario, size, seed))  # type: ignore[arg-type]
            assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
            for sql in CONSISTENT[scenario]:
                assert connection.execute(sql).fetchall() == [], (sql, size, seed)
            tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
            total = sum(connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in tables)
            assert len(tables) >= 8
            assert total <= 60 if size == "small" else total >= 300
            assert user in [value for (value,) in connection.execute(f"SELECT {ACCOUNT[scenario]} FROM users")]


# Tasks


def play(task: Task, actions: Iterable[str]) -> bool:
    """Whether a task succeeds when these actions are taken, up to the first `finish`."""
    machine, answer = ToolMachine.start(task.state, 0), None
    for text in actions:
        if text.startswith("finish"):
            answer = text.removeprefix("finish").removeprefix(": ")
            break
        machine.act(PARSER.parse(text, task.tools).parsed)
    return answer is not None and all(holds(machine, check, answer) for check in task.success)


def holds(machine: ToolMachine, check: Check, answer: str) -> bool:
    if check.answer is not None:
        return check.answer.holds(answer)
    assert check.probe is not None and check.expect is not None
    return check.expect.holds(machine.fork().act(json.loads(check.probe)))


@pytest.mark.parametrize(("family", "level"), EVERY_LEVEL)
def test_the_expert_succeeds_and_neither_its_answer_nor_chance_is_enough(family: str, level: int) -> None:
    lucky = 0
    for seed in range(6):
        task = generate("mcp", family, level, seed)
        assert play(task, task.expert), task.id
        assert not play(task, [task.expert[-1]]), task.id
        lucky += play(task, menu_policy(task, random.Random(seed)))
    assert lucky <= 1


@pytest.mark.parametrize(("family", "level"), EVERY_LEVEL)
def test_every_change_of_the_expert_is_needed(family: str, level: int) -> None:
    task = generate("mcp", family, level, 3)
    tools = load_service(task.state["scenario"]).tools
    changes = [text for text in task.expert[:-1] if tools[json.loads(text)["name"]].writes]
    assert changes
    for change in changes:
        assert not play(task, [text for text in task.expert if text != change]), change
    assert len(task.expert) > (6 if level == 3 else 4)
    assert 8 <= len(task.menu) <= 16
    assert sum(text.startswith("finish") for text in task.menu) >= 2


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("both", ["{} or {}", "{1} or {0}", "{0} {1}", "{}, if not {}"])
def test_a_reply_that_names_a_second_value_in_short_answers_nothing(both: str, seed: int) -> None:
    task = generate("mcp", "answer_mail", 1, seed)
    right = task.expert[-1].removeprefix("finish: ")
    wrong = next(entry for entry in task.menu if "reply_to" in entry and entry not in task.expert)
    word = next(word for word in re.findall(r"\w+", right) if word not in wrong)
    other = next(
        entry.removeprefix("finish: ") for entry in task.menu if entry.startswith("finish: ") and right not in entry
    )
    short = next(one for one in re.findall(r"\w+", other) if one not in right)
    assert word in task.expert[-2]
    assert not play(task, [*task.expert[:-2], task.expert[-2].replace(word, both.format(word, short)), task.expert[-1]])


def test_handwritten_tasks_are_there() -> None:
    assert len(HANDWRITTEN) >= 5


@pytest.mark.parametrize("path", HANDWRITTEN, ids=lambda path: path.stem)
def test_handwritten_tasks_are_won_by_their_experts_alone(path: Path) -> None:
    task = load_task(path, "mcp")
    assert play(task, task.expert)
    assert not play(task, task.expert[-1:])
    wrong = [text for text in task.menu if text.startswith("finish") and text not in task.expert]
    assert wrong
    for text in wrong:
        assert not play(task, [*task.expert[:-1], text])
    assert task.first_observation == ToolMachine.start(task.state, 0).observation


@pytest.mark.parametrize("path", HANDWRITTEN, ids=lambda path: path.stem)
def test_handwritten_tasks_list_tools_as_their_server_does(path: Path) -> None:
    task = yaml.safe_load(path.read_text(encoding="utf-8"))
    listed = {tool["name"]: tool for tool in load_service(task["state"]["scenario"]).listed}
    for tool in task["tools"]:
        assert tool == listed[tool["name"]]
