"""The toolkit of the graphical engines."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentworld_gym.kit.gui import (
    Field,
    Metrics,
    Widget,
    centre,
    column,
    copied,
    find,
    flat,
    focusables,
    grid,
    handler,
    hit,
    layers,
    place,
    row,
    scroll,
    scrollable,
    visible,
)
from agentworld_gym.kit.gui.text_field import MAX_CHARS

METRICS = Metrics(char=8, line=20)


def button(name: str, **options: object) -> Widget:
    return Widget("button", name, key=name, on={"click": ("press", name)}, flags=("focusable",), **options)  # type: ignore[arg-type]


def placed(root: Widget, **offsets: int) -> Widget:
    return place(root, 0, 0, 400, 200, METRICS, offsets)


def test_a_column_stacks_what_it_holds_and_gives_the_rest_to_what_grows() -> None:
    root = placed(column(button("a", height=30), button("b", grow=1), button("c", height=50), gap=10))
    assert [(child.y, child.h, child.w) for child in root.children] == [(0, 30, 400), (40, 100, 400), (150, 50, 400)]


def test_a_row_shares_its_width_and_a_grid_has_columns_of_one_width() -> None:
    line = row(button("a", width=100), button("b", grow=2), button("c", grow=1), height=40)
    cells = grid(2, [button(name, height=20) for name in "defg"], gap=4)
    placed(column(line, cells))
    assert [(child.x, child.w) for child in line.children] == [(0, 100), (100, 200), (300, 100)]
    assert [(child.x, child.y) for child in cells.children] == [(0, 40), (202, 40), (0, 64), (202, 64)]


def test_a_field_that_is_made_with_a_long_text_holds_as_much_as_one_that_is_typed_into() -> None:
    field = Field("x" * (MAX_CHARS + 1), cursor=MAX_CHARS + 1)
    assert len(field.value) == MAX_CHARS == field.cursor


def test_a_click_hits_what_is_drawn_last_and_a_modal_widget_keeps_it_from_the_rest() -> None:
    below, above = button("below", width=400, height=200), button("above", width=50, height=50, at=(10, 10))
    root = placed(layers(below, above))
    assert [hit(root, x, 20)[0].name for x in (20, 100)] == ["above", "below"]
    above.modal = True
    assert handler(hit(root, 20, 20), "click") == (above, ("press", "above"))
    assert handler(hit(root, 100, 20), "click") is None
    assert hit(root, -1, 20) == hit(root, 400, 20) == []


def test_a_disabled_widget_stops_what_would_reach_the_one_around_it() -> None:
    inner = Widget("label", "inner", flags=("disabled",), height=20)
    root = placed(column(inner, role="item", name="outer", on={"click": ("open",)}))
    assert handler(hit(root, 5, 5), "click") is None
    assert handler(hit(root, 5, 100), "click") == (root, ("open",))


def test_what_is_scrolled_away_is_neither_shown_nor_hit() -> None:
    items = [button(str(number), height=50) for number in range(10)]
    root = placed(column(scroll("list", *items, role="list")), list=120)
    (area,) = root.children
    assert (area.extent, area.offset) == (500, 120)
    assert [widget.name for widget in visible(root)] == ["", "2", "3", "4", "5"]
    assert hit(root, 5, 0)[0].name == "2" and scrollable(hit(root, 5, 0)) is area
    assert placed(column(scroll("list", *items)), list=10_000).children[0].offset == 300


def test_focus_goes_through_the_tree_and_stays_in_a_dialog() -> None:
    dialog = column(button("yes"), button("no"), modal=True, width=100, height=50)
    off = button("off")
    off.flags = ("focusable", "disabled")
    root = placed(layers(column(button("a"), off, Widget("entry", key="text", field=Field())), dialog))
    assert [widget.name for widget in focusables(root)] == ["yes", "no"]
    dialog.modal = False
    assert [widget.key for widget in focusables(root)] == ["a", "text", "yes", "no"]
    assert find(root, "no") is dialog.children[1] and find(root, "none") is None


@given(st.lists(st.integers(10, 60), min_size=1, max_size=12), st.integers(0, 800))
def test_the_middle_of_whatever_is_shown_hits_it(heights: list[int], offset: int) -> None:
    items = [button(str(number), height=height) for number, height in enumerate(heights)]
    root = placed(column(button("top", height=20), scroll("list", *items)), list=offset)
    for widget in visible(root):
        assert hit(root, *centre(widget))[0] is widget


KEYS = st.sampled_from(["backspace", "delete", "left", "right", "up", "down", "home", "end"])


@given(st.lists(st.one_of(st.text(max_size=5), st.tuples(KEYS, st.booleans())), max_size=30), st.booleans())
def test_a_field_is_never_out_of_its_text(inputs: list[str | tuple[str, bool]], multiline: bool) -> None:
    field = Field(multiline=multiline)
    for item in inputs:
        if isinstance(item, str):
            field.insert(item)
        else:
            field.press(*item)
        assert 0 <= field.selection[0] <= field.selection[1] <= len(field.value)
        assert multiline or "\n" not in field.value


def test_the_keys_of_a_field_of_several_lines() -> None:
    field = Field("first\nsecond\nx", multiline=True)
    field.place(9)
    field.press("up")
    assert field.cursor == 3
    for _ in range(2):
        field.press("down")
    assert field.cursor == 14
    field.press("home")
    field.press("end", shift=True)
    assert field.selected == "x"
    assert not field.press("f5")


def test_a_field_is_full_at_some_point() -> None:
    field = Field("x" * (MAX_CHARS - 1))
    field.insert("abc")
    assert field.value.endswith("xa") and len(field.value) == MAX_CHARS
    field.select_all()
    field.insert("abc")
    assert field.value == "abc"


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", min_size=1, max_size=2), inner, max_size=3)
    ),
    max_leaves=10,
)


@given(st.dictionaries(st.text("abc", min_size=1, max_size=2), PLAIN, max_size=4))
def test_a_copy_of_a_model_is_equal_and_its_own(model: dict[str, object]) -> None:
    twin = copied(model)
    assert twin == model and flat(twin) == flat(model)
    twin["more"] = 1
    assert "more" not in model
