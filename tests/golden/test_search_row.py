"""A search session as AgentWorldBench lays it out: read, and answered by the grounded engine."""

from __future__ import annotations

from golden_rows import Golden

from agentworld_gym.domains.search.engine.machine import SearchMachine

ROW = Golden("search.yaml", "search")
ATLAS = "https://en.atlas.example/wiki/Lake_Orvel"
POST = "https://www.sorrel-post.example/2024/06/orvel-ferry"
STORY = "The ferry over Lake Orvel has started again after two years, and it crosses every hour."
PAGES = [
    {"url": ATLAS, "title": "Lake Orvel - Atlas", "content": ROW.observations[1]},
    {"url": POST, "title": "Ferry over Lake Orvel starts again", "date": "2024-06-18", "content": STORY},
]


def test_the_actions_of_the_row_are_read() -> None:
    note = {"depth": "112 m", "survey": "2019, after Émile's"}
    assert [action.parsed for action in ROW.actions] == [
        {"name": "web_search", "arguments": {"queries": ["Lake Orvel depth", "Orvel ferry"]}},
        {"name": "web_extractor", "arguments": {"url": ATLAS}},
        {"name": "dict_memory", "arguments": {"operation": "add", "dict": note}},
        {"name": "dict_memory", "arguments": {"operation": "retrieve", "key_list": ["width"]}},
        {"name": "dict_memory", "arguments": {"operation": "remove_all"}},
    ]
    assert not [action.error for action in ROW.actions if action.error]


def test_the_engine_answers_as_in_the_row() -> None:
    machine = SearchMachine.start({"pages": PAGES}, seed=0)
    assert [machine.act(action.parsed) for action in ROW.actions] == ROW.observations
