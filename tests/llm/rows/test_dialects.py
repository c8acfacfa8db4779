"""Rows in other dialects than the first one of their domain: how they are recorded, read and rendered again."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from agentworld_gym.agents.collect.config import CollectConfig
from agentworld_gym.agents.collect.recorder import Recorder
from agentworld_gym.agents.collect.recording_file import collect
from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.domains import DOMAINS
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.evaluation.fidelity.cases import cases_of
from agentworld_gym.evaluation.fidelity.measure import rows_of
from agentworld_gym.llm.prompting.prompt import Prompts
from agentworld_gym.llm.retrieval.build import build_index
from agentworld_gym.llm.retrieval.step_retrieval import open_retrieval
from agentworld_gym.llm.rows.parquet import read_parquet, write_parquet
from agentworld_gym.llm.rows.rerendering import prompts_for, rerendered, spec_of, spec_source
from agentworld_gym.llm.rows.row import Row
from agentworld_gym.llm.rows.row_reading import read_rows
from agentworld_gym.llm.rows.samples_from_rows import turn_samples

SECOND = [f"{domain}:{name}" for domain in DOMAINS for name in list(load_spec(domain).dialects)[1:]]


@cache
def recorded(source: str) -> Row:
    """A session of an expert."""
    recorder = Recorder([load_spec(source)], CollectConfig(policies={"expert": 1}), seed=3)
    row = next(row for number in range(20) if (row := recorder.row(number)) is not None)
    return Row.model_validate_json(row.model_dump_json())


@pytest.mark.parametrize("source", SECOND)
def test_a_recorded_row_names_its_dialect_and_is_rendered_again_in_it(source: str) -> None:
    row = recorded(source)
    assert (f"{row.domain}:{row.dialect}", spec_source(row), spec_of(row)) == (source, source, load_spec(source))
    assert rerendered(row, prompts_for(row)) == row
    assert rerendered(row, prompts_for(row, "compact")) != row
    *_, last = turn_samples(row, prompts_for(row))
    assert [message["content"] for message in last.messages[1:-1:2]] == list(row.prompt)


@pytest.mark.parametrize("source", SECOND)
def test_a_row_is_not_rendered_with_the_prompts_of_another_dialect(source: str) -> None:
    with pytest.raises(SpecError, match=rf"row {recorded(source).id}.*dialect"):
        rerendered(recorded(source), Prompts(load_spec(source.partition(":")[0])))


def test_the_dialect_comes_back_from_a_file(tmp_path: Path) -> None:
    rows = [recorded(source) for source in SECOND]
    (tmp_path / "rows.jsonl").write_text("".join(row.model_dump_json() + "\n" for row in rows), encoding="utf-8")
    assert list(read_rows(tmp_path / "rows.jsonl")) == rows
    assert set(rows_of(tmp_path / "rows.jsonl", [], 5)) == set(SECOND)
    pytest.importorskip("pyarrow")
    write_parquet(rows, tmp_path / "rows.parquet")
    assert list(read_parquet(tmp_path / "rows.parquet")) == rows


def test_a_row_without_a_dialect_is_in_the_first_one(tmp_path: Path) -> None:
    for domain in DOMAINS:
        spec = load_spec(domain)
        data = recorded(SECOND[0]).model_dump() | {"task": domain}
        del data["dialect"]
        assert Row.model_validate(data).dialect == spec.dialect
        assert spec_of(Row.model_validate(data)) == spec


@pytest.mark.parametrize(("task", "dialect", "known"), [("android", "droidrum", "droidrun"), ("terminal", "x", "none")])
def test_an_unknown_dialect_is_an_error_that_names_file_line_and_value(
    tmp_path: Path, task: str, dialect: str, known: str
) -> None:
    path = tmp_path / "rows.jsonl"
    good = recorded(SECOND[0]).model_dump()
    path.write_text(f"{json.dumps(good)}\n{json.dumps(good | {'task': task, 'dialect': dialect})}\n", encoding="utf-8")
    with pytest.raises(SpecError, match=rf"rows.jsonl: line 2: dialect.*{dialect}.*{known}"):
        list(read_rows(path))


def test_workers_record_in_the_dialect_and_a_file_goes_on_in_it_alone(tmp_path: Path) -> None:
    path, spec = tmp_path / "rows.jsonl", load_spec("swe:claude-code")
    collect([spec], path, episodes=2, seed=0)
    assert {row.dialect for row in read_rows(path)} == {"claude-code"}
    assert collect([spec], path, episodes=3, seed=0) == 1
    with pytest.raises(SpecError, match=r"line 1: domains.*swe:claude-code.*expected \['swe'\]"):
        collect([load_spec("swe")], path, episodes=4, seed=0)


def test_sessions_are_replayed_in_a_world_of_their_dialect_alone() -> None:
    row = recorded("swe:claude-code")
    runner = EnvOptions(spec="swe", dialect="claude-code", world="grounded").runner()
    (case,) = cases_of([row], runner)
    assert case is not None and case.row == row
    with pytest.raises(SpecError, match=r"claude-code.*cli"):
        list(cases_of([row], EnvOptions(spec="swe", world="grounded").runner()))


def test_an_index_holds_one_dialect_of_a_domain_and_serves_worlds_of_it_alone(tmp_path: Path) -> None:
    row = recorded("mcp:mcpmark")
    build_index([row], tmp_path / "index", split=None)
    assert open_retrieval(str(tmp_path / "index"), prompts_for(row)).index.dialects == {"mcp": "mcpmark"}
    with pytest.raises(SpecError, match=r"mcpmark.*toolathlon"):
        open_retrieval(str(tmp_path / "index"), Prompts(load_spec("mcp")))
    with pytest.raises(SpecError, match=r"dialect.*toolathlon.*mcpmark"):
        build_index([row, recorded("mcp")], tmp_path / "both", split=None)
