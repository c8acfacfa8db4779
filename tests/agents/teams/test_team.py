"""A team is data: every shipped one is sound, and a broken one says where."""

from __future__ import annotations

import pytest
import yaml

from agentworld_gym.agents.teams.shipped import shipped_names
from agentworld_gym.agents.teams.team import Role, load_team
from agentworld_gym.base.errors import MissingFile, SpecError
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.tasks import generate

TWO = {"domain": "terminal", "channel": {}, "roles": {"writer": {}, "reader": {"actions": ["cat [a-z.]+"]}}}

OWN = {"reward": {"own": 1.0}, "success": [{"probe": "ls " * 2000, "expect": {"equals": ""}}]}


def written(tmp_path, **changes):
    path = tmp_path / "pair.yaml"
    path.write_text(yaml.safe_dump({**TWO, **changes}, sort_keys=False), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("name", shipped_names("team"))
def test_a_shipped_team_fits_its_domain_and_its_tasks(name):
    team = load_team(name)
    families = team.options.get("families", ())
    assert set(families) <= set(load_spec(team.domain).tasks.families)
    task = generate(team.domain, families[0], 1, 0)
    assert all(role.role_instruction(task, name) for role in team.roles.values())
    assert team.env_id is not None


def test_a_team_of_ones_own_needs_no_code(tmp_path):
    team = load_team(written(tmp_path))
    assert (team.id, list(team.roles), team.colleagues("writer")) == ("pair", ["writer", "reader"], ("reader",))


def test_who_has_no_channel_writes_to_nobody(tmp_path):
    assert load_team(written(tmp_path, channel=None)).colleagues("writer") == ()


@pytest.mark.parametrize(
    "changes, said",
    [
        ({"roles": {}}, "roles: got {}"),
        ({"roles": {"Writer": {}}}, "roles: .*names such as reviewer"),
        ({"roles": {"a": {"writes_to": ["b"]}, "c": {}}}, r"roles.a.writes_to: .*some of c \(got 'b'\)"),
        ({"roles": {"a": {"writes_to": ["a"]}, "c": {}}}, r"roles.a.writes_to: .*some of c"),
        ({"channel": None, "roles": {"a": {"writes_to": ["c"]}, "c": {}}}, "no channel"),
        ({"roles": {"a": {"finishes": False}}}, "at least one that finishes"),
        ({"roles": {"a": {"tools": ["ls"]}}}, "roles.a.tools: .*`actions`, because terminal has no tools"),
        ({"roles": {"a": {"actions": ["("]}}}, "roles.a.actions: .*regular expressions"),
        ({"roles": {"a": {"instruction": "{{ task."}}}, "roles.a.instruction: .*a Jinja template"),
        ({"roles": {"a": {"reward": {"own": 1.0}}}}, "success: .*checks of its own"),
        ({"roles": {"a": {"arguments": {"ls": {"path": "a"}}}}}, "roles.a.arguments: .*terminal has no tools"),
        ({"domain": "swe", "roles": {"a": {"arguments": {"edt": {}}}}}, "roles.a.arguments: got 'edt'.*edit"),
        ({"domain": "swe", "roles": {"a": {"arguments": {"edit": {"file_path": "("}}}}}, "regular expressions"),
        ({"roles": {"a": OWN}}, r"roles.a.success.0.probe: got 'ls ls.*an action that can be read"),
        ({"roles": {"a": {"colour": "red"}}}, "roles.a.colour: .*no such key, but one of"),
        ({"domain": "swe", "roles": {"a": {"actions": ["ls"]}}}, "roles.a.actions: .*`tools`"),
        ({"domain": "swe", "roles": {"a": {"tools": ["red_*"]}}}, "roles.a.tools: got 'red_.*read_file"),
        ({"domain": "sea"}, "sea"),
    ],
)
def test_a_broken_team_names_the_key(tmp_path, changes, said):
    with pytest.raises(SpecError, match=said):
        load_team(written(tmp_path, **changes))


def test_a_team_that_is_not_there_names_those_that_are():
    with pytest.raises(MissingFile, match="one of author-and-reviewer"):
        load_team("author-and-reviwer")


def test_an_instruction_that_does_not_fit_a_task_names_its_role():
    role = Role(instruction="{{ task.colour }}")
    with pytest.raises(SpecError, match=r"team\.yaml: roles\.a: instruction: .*colour"):
        role.role_instruction(generate("terminal", "copy_move", 1, 0), "team.yaml: roles.a")


@pytest.mark.parametrize(
    "command, runs",
    [
        ("python -m pytest -q", True),
        ("python -m pytest -q tests/test_a.py::test_b", True),
        ("git diff", True),
        ("cat checkout/pricing.py", True),
        ("rm -r tests", False),
        ("cat a > b", False),
        ("python -m pytest -q; rm a", False),
        ("python -m pytest --junitxml=a", False),
        ("git diff --output=a", False),
    ],
)
def test_the_shell_of_a_reviewer_changes_nothing(command, runs):
    reviewer = load_team("author-and-reviewer").roles["reviewer"]
    refused = reviewer.refuses("run_shell_command", {"command": command, "timeout": 10})
    assert refused == (None if runs else "command")
