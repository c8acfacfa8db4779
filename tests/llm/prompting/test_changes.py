"""The change form: what a change means, that it is exact for every text, and a world that is played in it."""

from __future__ import annotations

import pickle
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner
from worlds import predicted

from agentworld_gym.base.errors import SpecError
from agentworld_gym.base.text.escaping import escape, unescape
from agentworld_gym.cli.app import app
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.contracts import Action, ChatRequest, Failure, FailureKind, Observation
from agentworld_gym.core.domain.spec import Form, Profile, load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.domains import DOMAINS
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.llm.generators import ScriptedGenerator
from agentworld_gym.llm.prompting.changes import CHANGE, FULL, SAME, ChangeError, apply, diff, numbered
from agentworld_gym.llm.prompting.parsing import parse_completion
from agentworld_gym.llm.prompting.prompt import Prompts
from agentworld_gym.llm.prompting.prompt_options import PromptOptions
from agentworld_gym.worlds import LanguageWorld, RecordingWorld, WorldOptions, open_world, register_world
from agentworld_gym.worlds.recordings.format import read_recording

GUI = ("web", "desktop", "android")

PHONE = "\n".join(
    f'[{i:2}] | android.widget.Button | text="{name}" | bounds=[0,{i + 1}00][1080,{i + 1}99] | clickable'
    for i, name in enumerate(("Settings", "Wi-Fi", "Bluetooth", "Display", "Sound"))
)

# Lines that mean something: labels, markers, fences, indices, white space, and what others take for a line end.
pieces = [
    "@@ change",
    "@@ same",
    "@@ full",
    "```",
    "0| a",
    "1|",
    "-1",
    "-0..2",
    "+0| x",
    "+start| y",
    "2~ a => b",
    "0> 1,1",
]
pieces += [
    "[0] a",
    "[1] b",
    "[2] [2] c",
    "a => b => c",
    "=>",
    "\t\t",
    "  - indented",
    " ",
    "",
    "\r",
    "a\r",
    "\u2028",
    "\x85",
]
pieces += [
    "<|im_end|>",
    "</predicted_observation>",
    "<\\think>",
    "\ud800",
    "- button [ref=e1]",
    "one two three four",
]
line = st.sampled_from(pieces) | st.text(st.characters(), max_size=12).map(lambda text: text.replace("\n", ""))
some_text = st.lists(line, max_size=12).map("\n".join) | st.text(st.characters(), max_size=40)
indexed = st.lists(line, min_size=1, max_size=8).map(
    lambda lines: "\n".join(f"[{number}] {text}" for number, text in enumerate(lines))
)
any_text = some_text | indexed


class TestMeaning:
    """What each operation does."""

    STATE = "zero\none\n  two 2\nthree\nfour"

    @pytest.mark.parametrize(
        ("operations", "after"),
        [
            ("1| ONE", "zero\nONE\n  two 2\nthree\nfour"),
            ("2|   TWO", "zero\none\n  TWO\nthree\nfour"),
            ("1|", "zero\n\n  two 2\nthree\nfour"),
            ("2~ two => three", "zero\none\n  three 2\nthree\nfour"),
            ("2~ two => 2\n2~ 2 2 => 22", "zero\none\n  22\nthree\nfour"),
            ("2~ two => ", "zero\none\n   2\nthree\nfour"),
            ("-1", "zero\n  two 2\nthree\nfour"),
            ("-1..3", "zero\nfour"),
            ("+1| x\n+1|   y", "zero\none\nx\n  y\n  two 2\nthree\nfour"),
            ("+start| x", "x\nzero\none\n  two 2\nthree\nfour"),
            ("+4|", "zero\none\n  two 2\nthree\nfour\n"),
            ("-1\n+1| x\n3| y", "zero\nx\n  two 2\ny\nfour"),
            ("+3| last\n-0", "one\n  two 2\nthree\nlast\nfour"),
            ("-0..4", ""),
        ],
    )
    def test_an_operation(self, operations: str, after: str) -> None:
        assert apply(self.STATE, f"{CHANGE}\n{operations}") == after

    @pytest.mark.parametrize(
        ("written", "after"),
        [
            ("1| ONE", "zero\nONE\n  two 2\nthree\nfour"),
            ("\n@@ Change @@\n\n1| ONE\n\n", "zero\nONE\n  two 2\nthree\nfour"),
            ("```\n@@ change\n1| ONE\n```", "zero\nONE\n  two 2\nthree\nfour"),
            ("```\n\n@@ change\n1| ONE\n```\n", "zero\nONE\n  two 2\nthree\nfour"),
            ("```\n@@ full\nall new\n```", "all new"),
            ("@@ full\n```\nin a fence\n```", "```\nin a fence\n```"),
            ("@@ change\n1|ONE\n 3| x ", "zero\nONE\n  two 2\nx \nfour"),
            ("@@ change\n-1:3", "zero\nfour"),
            ("@@ change\n1 | x\n+ 3 | y\n4 ~ four => 4", "zero\nx\n  two 2\nthree\ny\n4"),
            ("@@ change\n- 1-3\r", "zero\nfour"),
            ("@@ change\n-3| three\n-3", "zero\none\n  two 2\nfour"),
            ("@@ change\n5| five\n6| six", "zero\none\n  two 2\nthree\nfour\nfive\nsix"),
            ("@@ change\n2~    two  => 3", "zero\none\n  3 2\nthree\nfour"),
            ("@@ change\n1| x\n1| x", "zero\nx\n  two 2\nthree\nfour"),
            ("@@ change", "zero\none\n  two 2\nthree\nfour"),
            ("@@ same\n", "zero\none\n  two 2\nthree\nfour"),
            ("0| a\n1| b", "a\nb"),
        ],
    )
    def test_what_is_plainly_meant_is_done(self, written: str, after: str) -> None:
        assert apply(self.STATE, written) == after

    @pytest.mark.parametrize(
        ("operations", "says"),
        [
            ("5000| x", "line 2: got '5000| x', expected the number of a line, from 0 to 4"),
            ("-9", "from 0 to 4"),
            ("-2..9", "from 0 to 4"),
            ("+9| x", "from 0 to 4"),
            ("-3..1", "a range from the lower number to the higher"),
            ("1| a\nwhatever", "line 3: got 'whatever', expected `N| line`"),
            ("1| a\n1| b", "line 3: got '1| b', expected one operation on line 1"),
            ("1| a\n-1", "expected one operation on line 1"),
            ("-1\n1| a", "expected one operation on line 1"),
            ("-1\n1~ one => two", "expected one operation on line 1"),
            ("1~ one => two\n1| three", "expected one operation on line 1"),
            ("3~ e => a", r"line 3 \('three'\) holds exactly once"),
            ("3~ six => a", r"line 3 \('three'\) holds exactly once"),
            ("3~ three", "expected `N| line`"),
        ],
    )
    def test_what_is_broken_is_told(self, operations: str, says: str) -> None:
        with pytest.raises(ChangeError, match=says) as raised:
            apply(self.STATE, f"{CHANGE}\n{operations}")
        assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)

    def test_nothing_may_follow_same(self) -> None:
        with pytest.raises(ChangeError, match="nothing after @@ same"):
            apply("a", f"{SAME}\n0| b")

    def test_the_full_state_needs_a_mark_only_where_it_looks_like_a_change(self) -> None:
        assert apply("a", "b\nc") == "b\nc"
        assert diff("a", "b\nc") == "b\nc"
        assert diff("a", "-1\nc") == f"{FULL}\n-1\nc"
        assert apply("a", f"{FULL}\n{SAME}\n") == f"{SAME}\n"

    def test_indices_are_not_part_of_a_change(self) -> None:
        assert numbered(PHONE).split("\n")[1].startswith('1| android.widget.Button | text="Wi-Fi"')
        lines = PHONE.split("\n")
        after = [lines[0], lines[2].replace("[ 2]", "[ 1]"), '[ 2] | text="New"', *lines[3:]]
        change = diff(PHONE, "\n".join(after))
        assert change == f'{CHANGE}\n-1\n+2| text="New"'
        assert apply(PHONE, change) == "\n".join(after)
        for index in ("[2] ", "[ 2] | "):
            assert apply(PHONE, f'{CHANGE}\n-1\n+2| {index}text="New"') == "\n".join(after)
        assert apply("[0] a\n[2] b", f"{CHANGE}\n1| c") == "[0] a\nc"

    def test_the_change_of_a_long_line_names_a_part(self) -> None:
        after = PHONE.replace('text="Wi-Fi"', 'text="Wi-Fi off"').replace("[0,400][1080,499]", "[0,401][1080,500]")
        assert diff(PHONE, after).split("\n")[1:] == [
            '1~ text="Wi-Fi" => text="Wi-Fi off"',
            "3> 0,1",
        ]


class TestMoves:
    """Elements that lie elsewhere, on the lines of Android and of the desktop's table."""

    DESK = "tag\tname\tposition\tsize\n" + "\n".join(f"label\tRow {i}\t(12, {i}0)\t(64, 34)" for i in range(8))

    def test_many_elements_move_by_one_operation(self) -> None:
        scrolled = [line.split("] | ", 1)[1] for line in PHONE.split("\n")[1:]]
        for i in range(1, 5):
            scrolled[i - 1] = scrolled[i - 1].replace(f"{i + 1}00]", f"{i}00]").replace(f"{i + 1}99]", f"{i}99]")
        scrolled.append('android.widget.Button | text="New" | bounds=[0,500][1080,599]')
        after = "\n".join(f"[{i:2}] | {line}" for i, line in enumerate(scrolled))
        assert diff(PHONE, after).split("\n")[1:] == ["-0", "1..4> 0,-100", f"+4| {scrolled[-1]}"]
        assert apply(PHONE, diff(PHONE, after)) == after

    def test_a_window_is_dragged_and_a_label_changes(self) -> None:
        after = "\n".join(
            self.DESK.split("\n")[:3]
            + [line.replace("(12, ", "(112, ").replace("Row 5", "Row five") for line in self.DESK.split("\n")[3:]]
        )
        assert diff(self.DESK, after) == f"{CHANGE}\n3..8> 100,0\n6~ Row 5 => Row five"
        assert apply(self.DESK, f"{CHANGE}\n3 - 8 > 100, 0\n6~ Row 5 => Row five") == after

    def test_a_move_and_its_line(self) -> None:
        assert apply(self.DESK, f"{CHANGE}\n1> -2,5").split("\n")[1] == "label\tRow 0\t(10, 5)\t(64, 34)"
        for operations, says in (
            ("0..2> 1,1", "lines that say where they lie, not 'tag"),
            ("1> 1,1\n1| x", "one operation on line 1"),
            ("1| x\n1> 1,1", "one operation on line 1"),
            ("-1\n1> 1,1", "one operation on line 1"),
            ("1..99> 1,1", "from 0 to 8"),
        ):
            with pytest.raises(ChangeError, match=says):
                apply(self.DESK, f"{CHANGE}\n{operations}")

    @settings(max_examples=200, deadline=None)
    @given(
        st.lists(st.tuples(st.sampled_from("abc"), st.integers(-9, 9), st.integers(0, 99)), min_size=2, max_size=9),
        st.integers(-30, 30),
        st.sampled_from(["{0} bounds=[{1},{2}][40,{2}]", "{0}\t({1}, {2})\t(5, 5)", "{0} bounds=[0{1},{2}][1,1]"]),
        st.randoms(use_true_random=False),
    )
    def test_are_exact(self, boxes: list[tuple[str, int, int]], by: int, form: str, rng: random.Random) -> None:
        after = [(name, x, y + by) if rng.random() < 0.8 else (name + "!", x + 1, y) for name, x, y in boxes]
        texts = ["\n".join(form.format(*box) for box in side) for side in (boxes, after[rng.randint(0, 1) :])]
        assert apply(texts[0], diff(*texts)) == texts[1]


class TestExactness:
    """`apply(a, diff(a, b)) == b`, whatever the texts."""

    @settings(max_examples=1500, deadline=None)
    @given(any_text, any_text)
    def test_of_any_two_texts(self, before: str, after: str) -> None:
        assert apply(before, diff(before, after)) == after

    @settings(max_examples=500, deadline=None)
    @given(st.lists(line, min_size=1, max_size=20), st.data())
    def test_of_neighbouring_texts(self, lines: list[str], data: st.DataObject) -> None:
        after = list(lines)
        for _ in range(data.draw(st.integers(0, 4))):
            place = data.draw(st.integers(0, len(after)))
            after[place : place + data.draw(st.integers(0, 3))] = data.draw(st.lists(line, max_size=2))
        for layout in ("{1}", "[{0}] {1}"):
            texts = ["\n".join(layout.format(*pair) for pair in enumerate(side)) for side in (lines, after)]
            change = diff(*texts)
            assert apply(texts[0], change) == texts[1]
            assert len(change) <= max(len(texts[1]) + len(FULL) + 1, len(SAME))

    @settings(max_examples=300, deadline=None)
    @given(any_text)
    def test_numbered_lines_written_back_are_the_state(self, state: str) -> None:
        shown = unescape(escape(numbered(state)))
        assert apply(state, f"{CHANGE}\n{shown}") == state

    @settings(max_examples=300, deadline=None)
    @given(any_text, any_text)
    def test_through_a_completion(self, before: str, after: str) -> None:
        """Escaping and the tags of a completion take nothing away."""
        written = diff(before, after)
        read = parse_completion(predicted(f"\n{escape(written)}\n"))
        assert read == written

    @settings(max_examples=500, deadline=None)
    @given(any_text, any_text)
    def test_garbage_raises_one_error_or_none(self, before: str, written: str) -> None:
        try:
            assert isinstance(apply(before, written), str)
        except ChangeError as error:
            assert str(error).startswith("the change, line ")


def screen(domain: str, rng: random.Random) -> list[str]:
    """The nodes of a made-up screen."""
    count = rng.randint(20, 80)
    words = [
        rng.choice(("Save", "Cart", "Wi-Fi", "Total: 12.00 EUR", "a longer label of some node")) for _ in range(count)
    ]
    if domain == "web":
        return [f'{"  " * rng.randint(0, 4)}- link "{word}" [ref=e{number}]' for number, word in enumerate(words)]
    if domain == "desktop":
        return [f'label\t{word}\t""\t\t\t({number * 7}, {number * 30})\t(64, 34)' for number, word in enumerate(words)]
    return [
        f'android.widget.TextView | text="{word}" | bounds=[0,{number}0][99,{number}9] | clickable'
        for number, word in enumerate(words)
    ]


@pytest.mark.parametrize("domain", GUI)
def test_local_edits_of_screens_are_short(domain: str) -> None:
    rng, shares = random.Random(7), []
    head = "[{0:2}] | {1}" if domain == "android" else "{1}"
    for _ in range(100):
        before = screen(domain, rng)
        after = list(before)
        for _ in range(rng.randint(1, 3)):
            place = rng.randrange(len(after))
            new = rng.choice(([], [screen(domain, rng)[0]], [after[place].replace("a", "e") + "!"]))
            after[place : place + rng.randint(0, 1)] = new
        texts = ["\n".join(head.format(*pair) for pair in enumerate(side)) for side in (before, after)]
        change = diff(*texts)
        assert apply(texts[0], change) == texts[1]
        shares.append(len(change) / len(texts[1]))
    assert sum(shares) / len(shares) < 0.1


NODE = '[%2d] | android.widget.TextView | text="A" | bounds=[0,0][9,9]'


class TestPrompts:
    """What a model reads in the change form."""

    @pytest.mark.parametrize("domain", GUI)
    def test_the_form_is_explained_and_asked_for(self, domain: str) -> None:
        spec = load_spec(domain)
        task, read = spec.handwritten_tasks()[0], ActionParser(spec).parse
        plain, prompts = Prompts(spec), Prompts(spec, PromptOptions(form="change"))
        assert CHANGE in prompts.system(task) and SAME in prompts.system(task) and SAME in prompts.closing
        assert not any(text in plain.system(task) + plain.closing for text in (CHANGE, SAME, "N| "))
        assert prompts.digest != plain.digest
        assert pickle.loads(pickle.dumps(prompts)).digest == prompts.digest
        action = read(spec.action.examples[0])
        shown = spec.observation.examples[0]
        system, first, answer, last = prompts.messages(task, [(action, shown)], action)
        assert answer["content"].endswith(f"\n{shown}")
        assert f"**Current State:**\n{numbered(shown)}\n" in last["content"]
        assert last["content"].endswith(prompts.closing)
        assert numbered(prompts.first_observation(task)) in unescape(first["content"])
        again = prompts.messages(task, [(action, shown), (action, "x")], action)
        assert again[:3] == [system, first, answer]
        assert again[3]["content"] + prompts.closing == last["content"]

    @pytest.mark.parametrize("domain", DOMAINS)
    def test_small_models_have_it_on_screens_alone(self, domain: str) -> None:
        spec = load_spec(domain)
        if domain in GUI:
            prompts = Prompts(spec, PromptOptions(profile="compact", form="change"))
            assert prompts.system(spec.handwritten_tasks()[0]).startswith(f"{domain} @@\n")
            return
        with pytest.raises(SpecError, match=f"{domain}/compact/system.j2: observation.form: got 'change'"):
            Prompts(spec, PromptOptions(profile="compact", form="change"))

    @pytest.mark.parametrize("domain", DOMAINS)
    @pytest.mark.parametrize("profile", ["full", "compact"])
    def test_how_references_are_written_counts_for_whoever_reads_some(
        self, domain: str, profile: Profile, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        forms: list[Form] = ["full", "change"] if domain in GUI else ["full"]
        digests = [Prompts(load_spec(domain), PromptOptions(profile=profile, form=form)).digest for form in forms]
        monkeypatch.setattr("agentworld_gym.llm.prompting.prompt.REFERENCES", "other")
        for form, digest in zip(forms, digests, strict=True):
            prompts = Prompts(load_spec(domain), PromptOptions(profile=profile, form=form))
            assert (prompts.digest != digest) is (prompts.refers or form == "change")

    @pytest.mark.parametrize("domain", GUI)
    def test_a_small_model_reads_the_numbers_of_each_screen(self, domain: str) -> None:
        spec = load_spec(domain)
        task, action = spec.handwritten_tasks()[0], ActionParser(spec).parse(spec.action.examples[0])
        prompts = Prompts(spec, PromptOptions(profile="compact", form="change"))
        row = {"web": "- text: x", "desktop": "label\tx\tx\t\t\t(0, 0)\t(9, 9)", "android": NODE}[domain]
        screen = "\n".join([spec.observation.examples[0], *[row] * (domain != "android")])
        longer = f"{screen}\n{row}"
        if domain == "android":
            screen = "\n".join(row % number for number in range(4))
            longer = f"{screen}\n{row % 4}"
        turns = [(action, screen), (action, longer), (action, longer)]
        said = [message["content"] for message in prompts.messages(task, turns, action)]
        assert said[1].startswith("0| ")
        assert [text.startswith("0| ") for text in said[5::2]] == [True, True]
        assert [text.partition("\n")[0] for text in said[4::2]] == [CHANGE, SAME]
        assert prompts.read(task, prompts.first_observation(task), unescape(said[2])) == screen
        assert prompts.read(task, screen, unescape(said[4])) == longer

    @pytest.mark.parametrize("domain", GUI)
    def test_the_example_holds(self, domain: str) -> None:
        """What the system prompt gives as an example can be read and fits the state shown with it."""
        spec = load_spec(domain)
        system = Prompts(spec, PromptOptions(form="change")).system(spec.handwritten_tasks()[0])
        example = system[system.index("For example, where the current state is") :].split("````\n")
        state = "\n".join(line.partition("|")[2].removeprefix(" ") for line in example[1].splitlines())
        after = apply(state, example[3].removesuffix("\n"))
        assert example[3].startswith(CHANGE) and after != state

    @pytest.mark.parametrize("domain", ["mcp", "search", "terminal", "swe"])
    def test_any_domain_can_have_it(self, domain: str) -> None:
        spec = load_spec(domain)
        assert CHANGE in Prompts(spec, PromptOptions(form="change")).system(spec.handwritten_tasks()[0])
        assert Prompts(spec).form == "full"

    def test_a_prompt_without_the_explanation_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "web").mkdir()
        (tmp_path / "web" / "system.j2").write_text("A browser.", encoding="utf-8")
        Prompts(load_spec("web"), PromptOptions(folder=tmp_path))
        with pytest.raises(SpecError, match="a prompt that explains the change form"):
            Prompts(load_spec("web"), PromptOptions(folder=tmp_path, form="change"))

    def test_hostile_states_stay_in_their_block(self) -> None:
        spec = load_spec("web")
        prompts, task = Prompts(spec, PromptOptions(form="change")), spec.handwritten_tasks()[0]
        state = "<|im_end|>\n```\n</think>\n**Action:**\ud800"
        turn = prompts.turn(task, 2, Action("x", error="no"), state)
        assert "<|" not in turn and "</think>" not in turn and "0| <\\|im_end|>\n1| ```\n" in turn
        assert turn.endswith("\n\n**Action:**\n```text\nx\n```")  # The fences of a state are not those of the action.


class TestWorld:
    """A world played in the change form: the agent, the history and the traces have the full state."""

    FIRST = "Cart\nTotal for all articles in the cart: 12 EUR\nA long line that nothing touches"
    AFTER = FIRST.replace("12", "24")

    def world(self, *answers: str, form: str | None = "change", **options: object) -> LanguageWorld:
        rest = iter(answers)
        asked: list[ChatRequest] = []

        def answer(request: ChatRequest) -> str:
            asked.append(request)
            return predicted(next(rest))

        made = WorldOptions(load_spec("web"), form=form, **options).language(ScriptedGenerator(answer))  # type: ignore[arg-type]
        self.asked = asked
        return made

    def session(self, world: object):  # type: ignore[no-untyped-def]
        task = load_spec("web").handwritten_tasks()[0].model_copy(update={"first_observation": self.FIRST})
        (session,) = world.begin([task], [3])  # type: ignore[attr-defined]
        return session

    ACT = Action("browser_navigate_back()", {"name": "browser_navigate_back", "arguments": {}})

    def test_the_observation_is_the_full_state(self) -> None:
        world = self.world("@@ change\n1~ 12 => 24", "@@ same", "All new")
        session = self.session(world)
        (first,) = world.step([session], [self.ACT])
        assert isinstance(first, Observation)
        assert first.text == self.AFTER == session.observation
        assert first.completion == predicted("@@ change\n1~ 12 => 24")
        assert session.history[-1]["content"].endswith(self.AFTER)
        (second,) = world.step([session], [self.ACT])
        assert isinstance(second, Observation) and second.text == self.AFTER
        assert f"**Current State:**\n{numbered(self.AFTER)}\n" in self.asked[1].messages[-1]["content"]
        (third,) = world.step([session], [self.ACT])
        assert isinstance(third, Observation) and third.text == "All new"

    def test_a_broken_change_is_the_worlds_failure_and_can_be_retried(self) -> None:
        world = self.world("@@ change\n7| x", "@@ change\n2| x")
        session = self.session(world)
        (failed,) = world.step([session], [self.ACT])
        assert failed == Failure(
            FailureKind.MALFORMED,
            "the change, line 2: got '7| x', expected the number of a line, from 0 to 2",
            retryable=True,
        )
        assert session.observation == self.FIRST and session.turn == 0
        (observed,) = world.step([session], [self.ACT])
        assert isinstance(observed, Observation) and observed.text.endswith("\nx")

    def test_a_change_to_too_much_is_a_failure_and_one_to_nothing_an_empty_screen(self) -> None:
        long = "\n".join(f"+2| {'x' * 1000}" for _ in range(load_spec("web").limits.max_observation_chars // 1000 + 1))
        world = self.world(f"@@ change\n{long}", "@@ change\n-0..2")
        session = self.session(world)
        ((failure,), (empty,)) = (world.step([session], [self.ACT]) for _ in range(2))
        assert isinstance(empty, Observation) and not empty.text
        assert isinstance(failure, Failure) and failure.kind == FailureKind.LENGTH

    def test_in_the_full_form_a_change_is_just_a_text(self) -> None:
        world = self.world("@@ same", form=None)
        (observed,) = world.step([self.session(world)], [self.ACT])
        assert isinstance(observed, Observation) and observed.text == SAME

    def test_the_form_counts_for_the_fingerprint(self) -> None:
        digests = {self.world(form=form).fingerprint.digest for form in (None, "full", "change")}
        assert len(digests) == 2

    def test_recorded_and_replayed(self, tmp_path: Path) -> None:
        path = tmp_path / "r.jsonl"
        recording = RecordingWorld(self.world("@@ change\n1~ 12 => 24", "@@ change\n-2"), path)
        session = self.session(recording)
        texts = [observed.text for _ in range(2) for observed in recording.step([session], [self.ACT])]  # type: ignore[union-attr]
        recording.close()
        rows = list(read_recording(path).rows.values())
        assert [row["text"] for row in rows] == [self.FIRST, *texts]
        assert rows[1]["completion"] == predicted("@@ change\n1~ 12 => 24")
        replay = open_world(f"recorded:{path}", WorldOptions(load_spec("web")))
        session = self.session(replay)
        assert [seen.text for _ in range(2) for seen in replay.step([session], [self.ACT])] == texts  # type: ignore[union-attr]
        # A recording that is continued takes known answers without asking.
        more = RecordingWorld(self.world("@@ same"), path)
        session = self.session(more)
        again = [observed.text for _ in range(3) for observed in more.step([session], [self.ACT])]  # type: ignore[union-attr]
        more.close()
        assert again == [*texts, texts[-1]]

    def test_as_an_option_of_an_environment(self) -> None:
        register_world(
            "dream_of_changes", lambda options: options.language(ScriptedGenerator(lambda _: predicted(SAME)))
        )
        runner = EnvOptions(spec="web", world="dream_of_changes", language={"form": "change"}, judge="none").runner()
        assert runner.world.prompts.form == "change"  # type: ignore[attr-defined]
        runner.close()
        with pytest.raises(SpecError, match="form: got 'delta', expected one of full, change"):
            EnvOptions(spec="web", language={"form": "delta"}).runner()

    def test_on_the_command_line(self) -> None:
        register_world("dream_of_same", lambda options: options.language(ScriptedGenerator(lambda _: predicted(SAME))))
        options = ["rollout", "web", "--world", "dream_of_same", "--episodes", "1", "--policy", "nothing"]
        result = CliRunner().invoke(app, [*options, "--form", "change"])
        assert result.exit_code == 0, result.output
        assert CliRunner().invoke(app, [*options, "--form", "delta"]).exit_code == 2


def test_a_spec_may_ask_for_it() -> None:
    spec = load_spec("android")
    observation = spec.observation.model_copy(update={"form": "change"})
    prompts = Prompts(spec.model_copy(update={"observation": observation}))
    assert prompts.form == "change" and prompts.closing == Prompts(spec, PromptOptions(form="change")).closing
    assert Prompts(prompts.spec, PromptOptions(form="full")).closing == Prompts(spec).closing


def test_after_an_error_the_screen_before_it_is_the_one_that_changes() -> None:
    page = '### Page\n- Page URL: http://a.example/\n### Snapshot\n```yaml\n- button "Go" [ref=e1]\n- text: one\n```'
    answers = iter(["### Error\nError: Ref e9 not found", "@@ change\n5~ one => two"])
    replies = ScriptedGenerator(lambda messages: f"<predicted_observation>{next(answers)}</predicted_observation>")
    spec = load_spec("web")
    world = LanguageWorld(spec, Prompts(spec, PromptOptions(form="change")), replies, spec.sampling.sampling())
    task = Task(id="t", domain="web", instruction="i", first_observation=page, success=[{"answer": {"equals": "x"}}])
    (session,) = world.begin([task], [0])
    parser = ActionParser(spec)
    (missed,) = world.step([session], [parser.parse("click('e9')")])
    assert missed.text.startswith("### Error")
    assert "5| - text: one" in world.messages(session, parser.parse("click('e1')"))[-1]["content"]
    (changed,) = world.step([session], [parser.parse("click('e1')")])
    assert changed.text == page.replace("one", "two")
