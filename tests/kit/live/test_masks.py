"""What varies between two equal episodes is learned as patterns, and nothing else is marked."""

from __future__ import annotations

import pytest

from agentworld_gym.kit.live import Masks
from agentworld_gym.kit.live.masks import varied


@pytest.mark.parametrize(
    ("first", "second", "kind", "further"),
    [
        ('{"pid": 421, "id": 7}', '{"pid": 9, "id": 7}', "number", '{"pid": 77, "id": 8}'),
        ("at 2026-01-02T03:04:05.123Z: ok", "at 2026-01-02T03:04:06Z: ok", "time", "at 2027-05-06T00:00:00Z: ok"),
        ("took 0.31 s", "took 12.4 s", "number", "took 3 s"),
        ("file a.9ab1c2d3e4.tmp", "file a.0ffdd012ab.tmp", "identifier", "file a.0123abc9.tmp"),
        ("commit 3f2c9ab1 made", "commit 90aa12ffde made", "identifier", "commit 0123abc9 made"),
        ("in /tmp/ab12/x", "in /tmp/zz9/x", "path", "in /tmp/q/x"),
        ("host a1b2 up", "host ffx9 up", "word", "host zz up"),
    ],
)
def test_a_piece_that_varies_is_learned_with_what_stands_before_it(
    first: str, second: str, kind: str, further: str
) -> None:
    (piece,) = varied(first, second)
    assert piece.kind == kind and piece.mask is not None
    masks = Masks([piece.mask])
    assert masks.without(first) == masks.without(second)
    (span,) = masks.spans(further)
    assert span.kind == "metadata"


def test_a_learned_mask_leaves_other_numbers_alone() -> None:
    (piece,) = varied('{"pid": 421, "id": 7}', '{"pid": 9, "id": 7}')
    assert Masks([str(piece.mask)]).without('{"pid": 1, "id": 7}') == '{"pid": …, "id": 7}'


def test_patterns_that_are_learned_come_beside_those_that_there_are() -> None:
    assert Masks([r"pid (\d+)"]).also([r"at (\d+)"]).without("pid 7 at 9 in 3") == "pid … at … in 3"


def test_lines_in_another_order_are_an_order_and_have_no_mask() -> None:
    (piece,) = varied("b\na\nc", "a\nb\nc")
    assert (piece.kind, piece.mask) == ("order", None)


def test_texts_that_have_little_in_common_have_no_mask() -> None:
    assert {piece.mask for piece in varied("it worked", "there is no such file")} == {None}
