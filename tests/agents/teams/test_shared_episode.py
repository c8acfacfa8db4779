"""What a role is shown of the others."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from agentworld_gym.agents.teams.shared_episode import Letter, begin_shared
from agentworld_gym.agents.teams.team import load_team
from agentworld_gym.core.contracts import ActionKind
from agentworld_gym.envs.options import EnvOptions


@given(st.text())
def test_no_message_can_pass_for_one_of_another_role(text):
    first, *others = str(Letter("author", text)).splitlines()
    assert first.startswith("[author] ")
    assert all(line.startswith("  ") for line in others)


@settings(max_examples=30)
@given(st.text(min_size=1, max_size=200), st.sampled_from(["author", "reviewer"]))
def test_whatever_a_role_writes_is_read_as_its_own_or_refused(text, name):
    team = load_team("author-and-reviewer")
    runner = EnvOptions(spec="swe", world="scripted").runner()
    shared = begin_shared(runner, team, 0, {})
    for action in (text, f"message: {text}", json.dumps({"name": text, "arguments": {}})):
        shared.act(name, action)
        taken = shared.episode.taken[-1]
        assert (taken.raw, taken.agent) == (action, name)
        other = next(one for one in team.roles if one != name)
        delivered = [letter.text for letter in shared.inbox[other]]
        assert bool(delivered) == (taken.kind is ActionKind.MESSAGE and action.strip() != "wait")
        assert delivered in ([], [action.partition(":")[2].strip()])
        shared.mark_read(other)
        if shared.episode.over:
            break
    shared.episode.session.close()
    runner.close()
