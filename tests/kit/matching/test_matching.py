"""How predictions are compared with the truth: what counts as right, what as plausible, and what never fails."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentworld_gym.core.engines import Span
from agentworld_gym.core.engines.catalog import engine_names
from agentworld_gym.kit.matching import MatchResult, match
from agentworld_gym.kit.matching.compare import longest_common, similarity
from agentworld_gym.kit.matching.gaps import aligned, gaps_of
from agentworld_gym.kit.matching.plausibility import plausible

DOMAINS = engine_names()
KINDS = ("deterministic", "pre-existing", "metadata")
texts = st.text(st.characters(codec="utf-8"), max_size=200) | st.text("ab 1\n[]{}\"'\t-:", max_size=80)


def spans_in(draw: st.DrawFn, text: str) -> list[Span]:
    edges = sorted(draw(st.lists(st.integers(0, len(text)), max_size=6)))
    return [Span(a, b, draw(st.sampled_from(KINDS))) for a, b in zip(edges[::2], edges[1::2], strict=False)]


@st.composite
def truths(draw: st.DrawFn) -> tuple[str, list[Span]]:
    text = draw(texts)
    return text, spans_in(draw, text)


def span(text: str, part: str, kind: str = "metadata") -> Span:
    start = text.index(part)
    return Span(start, start + len(part), kind)  # type: ignore[arg-type]


# What holds for every text


@given(st.sampled_from(DOMAINS), truths())
def test_a_text_matches_itself(domain: str, truth: tuple[str, list[Span]]) -> None:
    text, spans = truth
    found = match(domain, text, text, spans)
    assert found.exact and found.normalised and found.deterministic and found.valid and found.similarity == 1
    assert found.tree in (None, 1.0) and all(found.kinds.values())


@given(st.sampled_from([*DOMAINS, "custom"]), texts, truths(), texts)
def test_any_two_texts_can_be_compared(domain: str, predicted: str, truth: tuple[str, list[Span]], before: str) -> None:
    text, spans = truth
    found = match(domain, predicted, text, spans, before)
    assert found.exact == (predicted.strip() == text.strip())
    assert 0 <= found.similarity <= 1 and (found.similarity < 1 or found.exact)
    assert found.deterministic or not found.exact
    assert found.tree is None or 0 <= found.tree <= 1
    due = {span.kind for span in spans if span.start < span.end} | {"deterministic"}
    assert set(found.kinds) <= due | {"pre-existing"}


@given(st.sampled_from(DOMAINS), texts, texts)
def test_what_compares_two_texts_as_equals_is_symmetric(domain: str, one: str, other: str) -> None:
    there, back = match(domain, one, other), match(domain, other, one)
    assert (there.exact, there.normalised, there.similarity) == (back.exact, back.normalised, back.similarity)
    if there.tree is not None and back.tree is not None:
        assert there.tree == back.tree


@given(st.text("abc", max_size=30), st.text("abc", max_size=30))
def test_the_longest_common_subsequence_is_the_textbook_one(one: str, other: str) -> None:
    row = [0] * (len(other) + 1)
    for mine in one:
        last, row = row, [0]
        for place, theirs in enumerate(other):
            row.append(last[place] + 1 if mine == theirs else max(row[-1], last[place + 1]))
    assert longest_common(one, other) == row[-1]


@given(truths(), st.data())
def test_only_gaps_may_differ(truth: tuple[str, list[Span]], data: st.DataObject) -> None:
    """Whatever stands in the gaps of a line, the fixed text around them is still found."""
    text, spans = truth
    gaps = gaps_of(text, spans)
    predicted, place = "", 0
    for gap in gaps:
        filling = text[gap.start : gap.end]
        if "\n" not in filling:
            filling = data.draw(st.text("xyz", max_size=5))
        predicted += text[place : gap.start] + filling
        place = gap.end
    predicted += text[place:]
    if len(gaps) < 2:  # with more, the filling of one may hold the text behind another
        assert aligned(predicted, text, gaps) is not None


def test_long_texts_are_compared_too() -> None:
    one = "".join(f"line {n % 97} of {n % 89}\n" for n in range(60_000))
    other = "".join(f"line {n % 89} of {n % 97}\n" for n in range(60_000))
    assert 0.5 < similarity(one, other) < 1


@pytest.mark.parametrize("piece", ["a", "a@b:~"])
def test_a_model_that_never_stops_is_compared_in_a_moment(piece: str) -> None:
    """Looking for a prompt at every place of a long line would take hours here."""
    assert not match("terminal", piece * (1_000_000 // len(piece)), RUN, before=RUN).valid


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("before", ["", "\n", "  \n "])
@pytest.mark.parametrize("after", ["", " ", "\n\n"])
def test_white_space_around_an_observation_decides_nothing(domain: str, before: str, after: str) -> None:
    truth = RUN
    for predicted, due in ((f"{before}{truth}{after}", truth), (truth.strip(), f"{before}{truth.strip()}{after}")):
        found = match(domain, predicted, due)
        assert found.exact and found.valid and found.similarity == 1.0
    assert match(domain, before + after, after + before).exact


# By kind of content

RUN = "pytest\n3 passed in 0.02s\ndev@box:~$"


def timed(predicted: str) -> MatchResult:
    return match("terminal", predicted, RUN, [span(RUN, "0.02s")])


@pytest.mark.parametrize(
    ("predicted", "deterministic", "metadata"),
    [
        (RUN.replace("0.02", "1.31"), True, True),
        (RUN.replace("0.02s", "soon"), True, False),
        (RUN.replace("0.02s", "99999.00s"), True, False),
        (RUN.replace("3 passed", "4 passed"), False, True),
        (RUN.replace("0.02s", "0.02s\nWARNING: slow"), False, True),
        (RUN.replace("in 0.02s", ""), False, False),
        ("", False, False),
    ],
)
def test_fixed_text_and_metadata_are_told_apart(predicted: str, deterministic: bool, metadata: bool) -> None:
    found = timed(predicted)
    assert (found.deterministic, found.kinds["deterministic"], found.kinds["metadata"]) == (
        deterministic,
        deterministic,
        metadata,
    )
    assert not found.exact


def test_a_line_cannot_hide_in_a_gap_and_neither_can_a_novel() -> None:
    truth = "name: Ada\nage: 3"
    spans = [span(truth, "Ada", "pre-existing")]
    assert match("mcp", "name: Grace\nage: 3", truth, spans).kinds == {"deterministic": True, "pre-existing": True}
    assert not match("mcp", "name: Grace\nrole: admin\nage: 3", truth, spans).deterministic
    assert match("mcp", f"name: {'very ' * 100}long\nage: 3", truth, spans).kinds["pre-existing"] is False


@pytest.mark.parametrize(
    ("truth", "gaps", "predicted", "fillings"),
    [
        ("Mon May 4 3s\n$", ["Mon May 4", "3s"], "Tue May 5 4s\n$", ["Tue May 5", "4s"]),
        ("a\nb\nc", ["a\nb", "c"], "x\ny\nz", ["x\ny", "z"]),
        ("a---b", ["a-", "b"], "x---y", ["x-", "y"]),  # where the piece begins inside of the gap and ends behind it
        ("red box 12 g", ["red box", "12"], "bag 15 g", ["bag", "15"]),  # fewer than the truth has
        ("a b c= d", ["a b", "c", "d"], "x c= q", ["x", "c", "q"]),  # skipping one leaves no room for the rest
    ],
)
def test_a_gap_may_hold_the_text_that_follows_it(
    truth: str, gaps: list[str], predicted: str, fillings: list[str]
) -> None:
    places = [span(truth, text) for text in gaps]
    assert aligned(predicted, truth, gaps_of(truth, places)) == fillings


@pytest.mark.parametrize(
    ("given", "truth", "right"),
    [
        ("2024-02-30", "2023-12-01", True),  # days are not counted by month
        ("2024-13-01", "2023-12-01", False),
        ("23:59", "07:10", True),
        ("24:00", "07:10", False),
        ("Sep 12  18:44", "May 27  11:42", True),
        ("Foo 12  18:44", "May 27  11:42", False),
        ("(1, 2)\t(3, 4)", "(420, 253)\t(200, 40)", True),
        ("(1, 2) (3, 4)", "(420, 253)\t(200, 40)", True),
        ("(1, 2)", "(420, 253)\t(200, 40)", False),
        ("0f3a9bc", "45fcc4c", True),
        ("0f3a9b", "45fcc4c", False),
        ("9f1c2d3e-aaaa", "1f1c2d3e-bbbb", True),
        ("0b1d0f5e-1a2b-4c3d-9e8f-00aa11bb22cc", "8c5e7a90-4f12-4e6b-a111-5d6e7f8a9b0c", True),
        ("0b1d0f5e-1a2b-4c3d-9e8f", "8c5e7a90-4f12-4e6b-a111-5d6e7f8a9b0c", False),
    ],
)
def test_metadata_has_the_form_and_the_range_of_the_true_one(given: str, truth: str, right: bool) -> None:
    assert plausible("metadata", given, truth) is right


@pytest.mark.parametrize(
    ("given", "truth", "right"),
    [
        ("https://b.example/x\nTitle: B", "https://a.example/y\nTitle: A", True),
        ("https://b.example/x\nHeadline: B", "https://a.example/y\nTitle: A", False),
        ("see below\nTitle: B", "https://a.example/y\nTitle: A", False),
        ("12.50", "7", True),
        ("twelve", "7", False),
        (" ", "7", False),
    ],
)
def test_pre_existing_content_keeps_its_form(given: str, truth: str, right: bool) -> None:
    assert plausible("pre-existing", given, truth) is right


# By domain

PAGE = """### Page
- Page URL: http://shop.example/
- Page Title: Shop
### Snapshot
```yaml
- list [ref=e1]:
  - link "Cart" [ref=e2]:
    - /url: /cart
  - button "Buy" [ref=e3]
```"""
TABLE = 'tag\tname\ttext\nmenu\tFile\t""\t\t\t(0, 0)\t(88, 27)\npush-button\tSave\t""\t\t\t(0, 40)\t(70, 64)'
PHONE = (
    '[ 0] | android.widget.TextView | text="Files" | bounds=[48,128][828,256]\n'
    '[ 1] | android.widget.ImageButton | desc="Search" | bounds=[828,128][954,256] | clickable'
)


def test_the_tree_of_a_page_counts_elements_whatever_their_references() -> None:
    assert match("web", PAGE.replace("ref=e", "ref=f"), PAGE).tree == 1.0
    sold = match("web", PAGE.replace('"Buy"', '"Sold out"'), PAGE)
    assert sold.valid and sold.tree == 0.75
    assert match("web", PAGE.replace("Title: Shop", "Title: Bank"), PAGE).tree == 0.75
    assert match("web", "### Error\nno such element", PAGE).tree == 0.0
    assert match("web", "### Error\nno such page", "### Error\nno such element").tree is None


def test_screens_need_every_line_to_be_readable() -> None:
    for domain, screen in (("web", PAGE), ("desktop", TABLE), ("android", PHONE)):
        copied = match(domain, screen.replace("Save", "Open").replace("Files", "Music").replace("Cart", "Home"), screen)
        assert copied.valid and copied.tree is not None and 0 < copied.tree < 1
        for broken in (screen[: len(screen) * 2 // 3], screen + "\nThe button is now pressed.", "A nice screen.", ""):
            assert not match(domain, broken, screen).valid, (domain, broken)


@pytest.mark.parametrize(
    ("domain", "predicted", "truth", "valid"),
    [
        ("terminal", "ls\na.txt\ndev@box:~$", "ls\nb.txt\ndev@box:~/work$", True),
        ("terminal", "ls\na.txt", "ls\nb.txt\ndev@box:~/work$", False),
        ("terminal", "ls\na.txt\nroot@other:~#", "ls\nb.txt\ndev@box:~$", False),
        ("terminal", "> ", "cat <<EOF\n> ", True),
        ("mcp", '{"a": 1}', '{"b": [2]}', True),
        ("mcp", '{"a": 1', '{"b": [2]}', False),
        ("mcp", '["a"]', '{"b": [2]}', False),
        ("mcp", "no such tool", "an error", True),
        ("search", "[1] http://a\nTitle: A\n\n[2] http://b\nTitle: B", "[1] http://c\nTitle: C", True),
        ("search", "[1] http://a\nTitle: A\n\n[3] http://b\nTitle: B", "[1] http://c\nTitle: C", False),
        ("search", "# A page", "[1] http://c\nTitle: C", False),
        ("swe", "Command: ls\nOutput: a\nExit Code: 0", "Command: ls\nOutput: b\nExit Code: 0", True),
        ("swe", "Command: ls\nOutput: a", "Command: ls\nOutput: b\nExit Code: 0", False),
        ("swe", "import os", "     1\timport os\n", False),
        ("swe", "     1\timport re\n", "     1\timport os\n", True),
    ],
)
def test_an_observation_has_the_form_that_is_due(domain: str, predicted: str, truth: str, valid: bool) -> None:
    assert match(domain, predicted, truth).valid is valid


def test_only_what_means_nothing_is_normalised() -> None:
    assert match("terminal", "a  b \r\n$", "a b\n$").normalised
    assert not match("terminal", "a\n  b", "a\nb").normalised
    assert not match("terminal", "A", "a").normalised
    assert match("search", "Title: A", "title: a").normalised
    assert match("mcp", '{"b":1, "a": 2}', '{"a": 2, "b": 1}').normalised
    assert not match("mcp", '{"a": 1}', '{"a": "1"}').normalised


@pytest.mark.parametrize("domain", ["android", "desktop"])
def test_a_screen_whose_elements_are_all_wrong_has_none_of_the_tree(domain: str) -> None:
    screens = {
        "android": '[ 0] | android.widget.Button | text="{}" | bounds=[0,0][9,9]',
        "desktop": "tag\tname\ttext\tclass\tdescription\tposition\tsize\npush-button\t{}\t\t\t\t(1, 1)\t(9, 9)",
    }
    shown = screens[domain]
    assert match(domain, shown.format("Save"), shown.format("Save"), []).tree == 1.0
    assert match(domain, shown.format("Quit"), shown.format("Save"), []).tree == 0.0
