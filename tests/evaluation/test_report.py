"""The page of results: one file, readable, and safe whatever a world model wrote."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentworld_gym.base.errors import SpecError
from agentworld_gym.base.statistics.bootstrap import Share
from agentworld_gym.evaluation.report import read_result, write_page
from agentworld_gym.evaluation.report.charts import COLOURS, ChartPoint, curve, lines, reliability
from agentworld_gym.evaluation.report.page import page
from agentworld_gym.evaluation.results.base import excerpt
from agentworld_gym.evaluation.results.bench import (
    Averages,
    BenchResult,
    EvaluatedRows,
    Judged,
    Matched,
    Measured,
    Party,
    PartyTokens,
)
from agentworld_gym.evaluation.results.fidelity import (
    BaselineFidelity,
    Bin,
    Calibration,
    Cell,
    Consistency,
    DomainFidelity,
    Example,
    FidelityResult,
    FidelityRun,
    Measures,
    Probes,
)
from agentworld_gym.evaluation.results.transfer import Parting, Side, TransferResult

HOSTILE = "</pre><script>alert(1)</script><!-- {{ 7 * 7 }} \U0001f600 \x1b[2J"


def share(mean: float) -> Share:
    return Share(share=mean, low=max(mean - 0.1, -1), high=min(mean + 0.1, 1), count=40, groups=5)


def measures(mean: float) -> Measures:
    one = share(mean)
    return Measures(exact=one, deterministic=one, normalised=one, similarity=one, valid=one)


def run(mean: float, **more: object) -> FidelityRun:
    turns = {str(turn): Cell(exact=share(mean), deterministic=share(mean / turn)) for turn in (1, 2, 3)}
    changed = {name: Cell(exact=share(mean), deterministic=share(mean)) for name in ("0", "1", "2–4", "5+")}
    families = {name: Cell(exact=share(mean), deterministic=share(mean)) for name in ("copy_move", HOSTILE)}
    groups = {"turn": turns, "fields changed": changed, "family": families}
    values = {"measures": measures(mean), "failures": {}, "groups": groups, "kinds": {"metadata": share(0.5)}, **more}
    return FidelityRun.model_validate(values)


PROBES = Probes(agreement=share(0.8), both=3, neither=4, only_dream=1, only_grounded=2, failed=0)
PLANS = Consistency(
    policy="mixed", plans=4, tasks=30, ratio=0.87, low=0.7, high=1.0, replayed=share(0.7), direct=share(0.8),
    precision=0.9, recall=None, failures={},
)  # fmt: skip
FIDELITY = FidelityResult(
    world=HOSTILE,
    split="test",
    source="40 sessions",
    options={"profile": "compact", "retrieval": None, "levels": [1, 2], "sampling": {"temperature": 0.5}, "seed": 0},
    domains=(
        DomainFidelity(
            domain="terminal", sessions=5, steps=40, stale=2, fingerprint="f", taught=run(0.9),
            free=run(0.6, failures={"timeout": 3}, lost=4, probes=PROBES),
            baselines={"copy": measures(0.1), "nearest": measures(0.3), "worldbook": measures(0.5)},
            nearest=BaselineFidelity(sessions=400, turns=3100, saw=14_000, taught=run(0.3),
                                     errors={"true history": share(0.2)}),
            worldbook=BaselineFidelity(sessions=400, turns=3100, taught=run(0.5)),
            calibration=(Calibration(measure="sequence", count=9, error=0.125,
                                     bins=(Bin(low=0.8, high=0.9, confidence=0.85, exact=share(0.7)),)),
                         Calibration(measure="token", count=9, error=0.375,
                                     bins=(Bin(low=0.9, high=1, confidence=0.95, exact=share(0.7)),)),),
            consistency=PLANS,
            examples=(Example(session="s", turn=1, action=HOSTILE, truth=HOSTILE, predicted=HOSTILE),),
        ),
        DomainFidelity(domain="mcp", sessions=0, steps=0, stale=0, fingerprint="f", taught=None, free=None),
        DomainFidelity(domain="web", sessions=1, steps=2, stale=0, fingerprint="f", taught=None,
                       free=FidelityRun(measures=None, failures={"server": 2})),
    ),
)  # fmt: skip
SIDE = Side(world="tiny", fingerprint="f", success=share(0.9), reward=0.5, steps=4.2, failures={}, traces="dream.jsonl")
PARTING = Parting(
    task_id="copy-1", seed=4, family="copy", level=1, dream=True, grounded=False, turn=2, part="observation",
    dream_action=HOSTILE, grounded_action="ls", dream_observation=HOSTILE, grounded_observation="a",
    dream_episode="e1", grounded_episode="e2",
)  # fmt: skip
TRANSFER = TransferResult(
    domain="terminal", policy="agent", split="test", tasks=40, dream=SIDE, grounded=SIDE, gap=share(0.4), agree=30,
    only_dream=10, only_grounded=0, families={"copy": (share(0.9), share(0.5)), "move": (share(1), share(1))},
    partings=(PARTING,), options={"seeds": "0 to 39", "form": "change"},
)  # fmt: skip
UNJUDGED = Side(
    world="tiny", fingerprint="f", success=None, reward=None, steps=None, failures={"timeout": 40}, traces=None
)
NOTHING = TRANSFER.model_copy(update={"gap": None, "dream": UNJUDGED})
AVERAGES = Averages(excluded=share(0.5), as_zero=share(0.4))
MEASURED = Measured(measures={"exact": AVERAGES, "valid": AVERAGES}, kinds={"metadata": AVERAGES})
BENCH = BenchResult(
    package="0",
    model=Party(handle=HOSTILE, digest="d", parts={}, sampling={}),
    judge=None,
    rows=EvaluatedRows(
        files=["a.jsonl", "b.jsonl"],
        turns="last",
        count=40,
        domains={"terminal": 40},
        digest="0123abcd",
        failures={"timeout": 1},
    ),
    judged=Judged(micro=AVERAGES, macro=AVERAGES, domains={"terminal": AVERAGES}, dimensions={}, failures={}),
    matched=Matched(micro=MEASURED, macro=MEASURED, domains={"terminal": MEASURED}),
    tokens={"model": PartyTokens()},
)
RESULTS = {"fidelity": FIDELITY, "transfer": TRANSFER, "failed transfer": NOTHING, "bench": BENCH}


@pytest.mark.parametrize("result", RESULTS.values(), ids=RESULTS)
def test_every_result_has_a_page_that_needs_nothing_else(result: FidelityResult):
    html = page([result])
    assert not re.search(r"<(script|link|img|iframe)|\b(src|href)=|https?://", html)
    assert "<h2>" in html and "{{" not in html.replace("{{ 7 * 7 }}", "")


@pytest.mark.parametrize("result", RESULTS.values(), ids=RESULTS)
def test_a_result_comes_back_from_its_file(result: FidelityResult, tmp_path: Path):
    result.write(tmp_path / "result.json")
    assert read_result(tmp_path / "result.json") == result


def test_what_worlds_wrote_stays_text():
    html = page(list(RESULTS.values()))
    assert "alert(1)" in html and "<script" not in html and "&lt;script&gt;" in html
    assert "{{ 7 * 7 }}" in html


def test_the_page_says_what_a_reader_wants_to_know():
    html = page([FIDELITY])
    assert "true history" in html and "nearest answer" in html and "worldbook" in html
    assert "Beside what needs no training" in html and "14000" in html
    assert "2–4" in html and "metadata" in html
    assert "timeout 3" in html and "4 steps were left unplayed" in html
    assert "2 recorded sessions were left out" in html
    assert "0.125" in html and "0.87" in html
    assert html.count("<svg") >= 2


def test_what_was_asked_for_stands_on_the_page_without_what_was_left_out():
    shown = re.sub(r"</?code>", "", page([FIDELITY, TRANSFER]))
    assert "Asked for: profile compact, levels 1, 2, sampling temperature=0.5, seed 0." in shown
    assert "Asked for: seeds 0 to 39, form change." in shown and "retrieval" not in shown


def test_bars_say_of_how_many_steps_in_how_many_sessions():
    assert "of 40 in 5" in page([FIDELITY]) and "of 40 in 5" in page([BENCH])


def test_the_page_of_a_benchmark_has_kinds_of_content_by_domain_with_and_without_what_failed():
    table = page([BENCH]).partition("By kind of content")[2].partition("<h3>")[0]
    cells = [re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", row)).strip() for row in table.split("<tr>")[1:]]
    known, zero = "0.500 0.400 to 0.600 of 40 in 5", "0.400 0.300 to 0.500 of 40 in 5"
    assert cells[:4] == ["failures excluded metadata", f"macro mean of the domains {known}",
                         f"micro mean of the rows {known}", f"terminal {known}"]  # fmt: skip
    assert cells[4:] == ["failures as zero metadata", f"macro mean of the domains {zero}",
                         f"micro mean of the rows {zero}", f"terminal {zero}"]  # fmt: skip


def test_the_page_of_a_benchmark_names_its_files():
    assert "of a.jsonl, b.jsonl" in page([BENCH]) and "0123abcd" in page([BENCH])


def test_both_confidences_are_plotted():
    html = page([FIDELITY])
    assert html.count("terminal: exact by confidence") == 2
    assert "probability of the whole prediction" in html and "geometric mean of the tokens" in html
    assert "0.125" in html and "0.375" in html
    assert "0.900 to 1.000" in html and "40 predictions: confidence 0.950, exact 0.700 [0.600, 0.800]" in html


def test_a_world_that_cannot_be_taught_keeps_the_colour_of_its_own_history():
    (domain,) = (one for one in FIDELITY.domains if one.domain == "terminal")
    alone = FIDELITY.model_copy(update={"domains": (domain.model_copy(update={"taught": None}),)})
    html = page([alone])
    own = COLOURS[1]
    assert f'stroke="{own}" stroke-width="2.5" stroke-dasharray' in html
    assert f'stroke="{COLOURS[0]}" stroke-width="2.5"' not in html
    assert set(re.findall(r'class="fill" style="[^"]*background:(var[^"]*)"', html)) == {own, *COLOURS[2:]}


def test_kinds_of_content_have_no_heading_where_none_were_seen():
    (domain,) = (one for one in FIDELITY.domains if one.domain == "terminal")
    bare = FIDELITY.model_copy(update={"domains": (domain.model_copy(update={"taught": run(0.9, kinds={})}),)})
    assert "By kind of content" in page([FIDELITY]) and "By kind of content" not in page([bare])


def test_partings_that_are_not_all_listed_are_counted():
    assert "the first 1 of 10" in page([TRANSFER])
    assert "differs." in page([TRANSFER.model_copy(update={"only_dream": 1})])


def test_a_world_without_a_judged_episode_has_no_return():
    row = page([NOTHING]).partition("failures</th></tr>")[2].partition("</tr>")[0]
    assert re.findall(r'class="number">([^<]*)<', row) == ["–", "–", "–"] and "timeout 40" in row


def test_the_verdict_stands_on_the_page():
    assert "The agent learned the simulator" in page([TRANSFER])
    assert "nothing can be compared" in page([NOTHING])


def test_several_results_share_a_page(tmp_path: Path):
    write_page(tmp_path / "deep" / "page.html", list(RESULTS.values()))
    assert (tmp_path / "deep" / "page.html").read_text(encoding="utf-8").count("<section>") == len(RESULTS)


BROKEN = {"{": "JSON", "[]": "bench, fidelity, transfer", '{"kind": "x"}': "'x'", '{"kind": "fidelity"}': "world"}


@pytest.mark.parametrize(("text", "said"), BROKEN.items())
def test_a_file_that_is_no_result_is_refused(text: str, said: str, tmp_path: Path):
    (tmp_path / "bad.json").write_text(text)
    with pytest.raises(SpecError, match=said):
        read_result(tmp_path / "bad.json")


UNIT = st.floats(0, 1)


@given(st.lists(st.tuples(st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=8),
                          UNIT, UNIT, UNIT), max_size=6))  # fmt: skip
def test_plots_are_well_formed_whatever_they_show(rows: list[tuple[str, float, float, float]]):
    points = [ChartPoint(*row) for row in rows]
    bins = [Bin(low=0, high=1, confidence=mean, exact=share(low)) for _, mean, low, _ in rows]
    learned = curve([(1000 * place, point.value) for place, point in enumerate(points)], "t", "steps")
    for svg in (lines({"a": points, "b": points[1:]}, "<title>", "&"), reliability(bins, "t", "a"), learned):
        ElementTree.fromstring(svg)
        for x, y in re.findall(r'cx="([\d.-]+)" cy="([\d.-]+)"', svg):
            assert 0 <= float(x) <= 420 and 0 <= float(y) <= 230


@given(st.text(st.characters(codec=None), max_size=50))
def test_whatever_a_world_wrote_can_be_quoted(text: str):
    assert excerpt(text).encode("utf-8").decode() == excerpt(text)
    assert excerpt(text * 100).startswith(excerpt(text[:10]))
