"""Options of prompts are one record, which takes from a domain what its prompts need."""

from __future__ import annotations

import pickle

import pytest

from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.engines.catalog import load_index
from agentworld_gym.llm.prompting.prompt import Prompts
from agentworld_gym.llm.prompting.prompt_options import PromptOptions


def test_only_the_form_state_takes_the_view_of_a_domain():
    assert PromptOptions("compact", "state").for_domain("terminal").view is not None
    assert PromptOptions("compact", "change").for_domain("terminal").view is None


def test_only_the_compact_profile_takes_the_index_of_a_domain():
    assert PromptOptions("compact").for_domain("search").index == load_index("search")
    assert PromptOptions().for_domain("search").index is None


@pytest.mark.parametrize(("profile", "form"), [("full", "change"), ("compact", "state")])
def test_prompts_come_back_from_a_pickle_as_they_were(profile, form):
    prompts = Prompts(load_spec("web"), PromptOptions(profile, form).for_domain("web"))
    again = pickle.loads(pickle.dumps(prompts))
    assert (again.digest, again.options.form) == (prompts.digest, form)
