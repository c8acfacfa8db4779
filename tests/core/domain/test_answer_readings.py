"""How people and language models write an answer: dress, sentences, notations. One thing said is one thing meant."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agentworld_gym.core.domain.answer_readings import LONGEST, readings
from agentworld_gym.core.domain.task import AnswerTest, Expect

CAPTAIN = (
    "In the tower where the widest bell of the foundry Garsdyke and Daughters hangs, a guild of ringers is at home. "
    "Who is its captain? Keep the name of the guild in your memory under the key guild, then finish with the "
    "captain's name."
)
SPRINT = (
    "Sprint 7 of Compass Billing (COM) ends today, ahead of time. Then complete the running sprint. Finish with the "
    "points that Sprint 8 still has room for."
)
HEAVIER = "Which of the two bells is heavier, Old Tom or Sweet Ann? Finish with its name."
OPEN = "Close the later one as duplicate. Finish with the key of the issue that stays open."
SUM = "Pay the invoice D-5518, 86.40 euros. Finish with the balance of the Holiday savings."
GATE = "Reply to that question. Finish with the gate, such as 'gate 1'."
PRICE = "Reply to that question. Finish with the price, such as '10 euros'."
DAY = "Reply to that question. Finish with the day, such as '15 June'."


@pytest.mark.parametrize(
    ("question", "right", "said"),
    [
        (CAPTAIN, "Tabitha Metcarr", said)
        for said in (
            "Tabitha Metcarr",
            "tabitha metcarr.",
            "**Tabitha Metcarr**",
            "`Tabitha Metcarr`",
            "“Tabitha Metcarr”",
            "«Tabitha Metcarr»",
            "Tabitha\u00a0Metcarr",
            "Tabitha\u200b Metcarr",
            "Answer: Tabitha Metcarr",
            "**Answer:** Tabitha Metcarr",
            "Final answer: Tabitha Metcarr.",
            "The answer is Tabitha Metcarr.",
            "It is Tabitha Metcarr.",
            "It's Tabitha Metcarr",
            "The captain's name is Tabitha Metcarr.",
            "The captain is **Tabitha Metcarr**.",
            "Its captain is Tabitha Metcarr.",
            "Captain: Tabitha Metcarr",
            "Tabitha Metcarr is its captain.",
            "Tabitha Metcarr is the captain of the guild.",
            "Tabitha Metcarr, captain of the guild",
            "The captain of the Guild of the Long Stay is Tabitha Metcarr.",
            "Tabitha Metcarr is the captain of the Guild of the Long Stay.",
            '{"answer": "Tabitha Metcarr"}',
            "<answer>Tabitha Metcarr</answer>",
            "\\boxed{\\text{Tabitha Metcarr}}",
            "```\nTabitha Metcarr\n```",
            "Answer:\n\nTabitha Metcarr",
        )
    ]
    + [
        (HEAVIER, "Old Tom", said)
        for said in ("Old Tom is heavier.", "Old Tom is heavier than Sweet Ann", "It is Old Tom")
    ]
    + [(HEAVIER, "Old Tom", "The heavier of the two bells is Old Tom.")]
    + [
        (OPEN, "COM-24", said)
        for said in ("COM-24 stays open.", "The issue that stays open is COM‑24.", "Issue COM-24")
    ]
    + [(OPEN, "COM-24", "#COM-24"), (OPEN, "joran.visser", "@joran.visser"), (OPEN, "COM-24", "COM–24")]
    + [(GATE, "gate 3", said) for said in ("Gate 3", "**Gate 3**", "It is gate 3.", "The gate is gate 3")]
    + [(PRICE, "54 euros", said) for said in ("54 Euro", "€54", "54 €", "54.00 euros", "EUR 54", "54 EUR")]
    + [(DAY, "3 June", said) for said in ("June 3", "June 3rd", "3rd of June", "Wednesday, 3 June 2026", "2026-06-03")]
    + [("When? Finish with the time.", "13:00", said) for said in ("1 PM", "1:00 p.m.", "At 13:00.", "It is 1:00 p.m.")]
    + [("When? Finish with the time.", "06:31", said) for said in ("6:31", "6:31 AM", "The time is 06:31.")]
    + [("Who?", "Zoë Müller", said) for said in ("Zoe Muller", "Zoe\u0308 Mu\u0308ller", "zoë müller")]
    + [("Where?", "Myrkmouth-on-Reach", said) for said in ("Myrkmouth‑on‑Reach", "Myrkmouth on Reach")]
    + [("Which mill?", "Salt and Stone", "Salt & Stone"), ("Which?", "a red kite", "Red kite")],
)
def test_a_name_is_the_same_in_every_dress(question: str, right: str, said: str) -> None:
    assert Expect(items=(right,)).score(said, question) == 1.0
    assert AnswerTest(equals=right).score(said, question) == 1.0


@pytest.mark.parametrize(
    "said",
    [
        "Tabitha Metcarr or Barnaby Rathmoll",
        "Tabitha Metcarr, Barnaby Rathmoll",
        "Tabitha Metcarr and Barnaby Rathmoll",
        "Tabitha Metcarr / Barnaby Rathmoll",
        "Tabitha Metcarr (Barnaby Rathmoll)",
        "Tabitha Metcarr; captain Barnaby Rathmoll",
        "not Tabitha Metcarr",
        "The captain is not Tabitha Metcarr.",
        "The captain is either Barnaby Rathmoll or Tabitha Metcarr.",
        "The captain may be Tabitha Metcarr.",
        "The captain is Tabitha Metcarr. Or the captain is Barnaby Rathmoll.",
        "The captain is Barnaby Rathmoll.\nTabitha Metcarr",
        "Barnaby Rathmoll is Tabitha Metcarr",
        "Tabitha Metcarr is Barnaby Rathmoll",
        "Guild: Tabitha Metcarr; captain: Barnaby Rathmoll",
        '{"answer": "Tabitha Metcarr", "other": "Barnaby Rathmoll"}',
        '{"answer": "Barnaby Rathmoll", "other": ["Tabitha Metcarr"]}',
        "The captain is not Barnaby Rathmoll but Tabitha Metcarr.",
        "Is it Tabitha Metcarr? The captain is Barnaby Rathmoll.",
        "Tabitha",
        "",
    ],
)
def test_a_choice_a_denial_and_a_second_name_are_no_answer(said: str) -> None:
    assert Expect(items=("Tabitha Metcarr",)).score(said, CAPTAIN) == 0.0
    assert AnswerTest(equals="Tabitha Metcarr").score(said, CAPTAIN) == 0.0


@pytest.mark.parametrize(
    ("question", "right", "said"),
    [
        (SPRINT, 4, "4"),
        (SPRINT, 4, "4 points"),
        (SPRINT, 4, "Sprint 8 still has room for 4 points."),
        (SPRINT, 4, "Sprint 8 has room for **4** points."),
        (SPRINT, 4, "There are 4 points left in Sprint 8 of COM."),
        (SUM, 988.3, "988.30 EUR"),
        (SUM, 988.3, "€ 988.30"),
        (SUM, 988.3, "988,30 €"),
        (SUM, 1988.3, "1.988,30 €"),
        (SUM, 1988.3, "1 988,30 euros"),
        (SUM, 1988.3, "1\u202f988.30"),
        (SUM, 1988.3, "1’988.30"),
        (SUM, 988.3, "The balance of the Holiday savings is 988.30 euros after the invoice D-5518."),
        (SUM, 988.3, "After paying 86.40 euros, the balance is 988.30 euros."),
        (SUM, 988.3, "\\boxed{988.30}"),
        (SUM, 988.3, "$988.30$"),
        (SUM, 988.3, '{"balance": 988.3}'),
    ],
)
def test_a_number_is_the_same_in_a_sentence(question: str, right: float, said: str) -> None:
    assert AnswerTest(number=right, tolerance=0.005).score(said, question) == 1.0


@pytest.mark.parametrize(
    "said", ["8 or 4", "8, 4", "8 4", "Sprint 8: 4 or 5 points", "between 4 and 9 points", "5 points, not 4"]
)
def test_two_numbers_are_no_answer(said: str) -> None:
    assert AnswerTest(number=4).score(said, SPRINT) == 0.0


TICKED = "Tick what was bought. Finish with the number of items that are not ticked then."
CANNOT = "Close what cannot be reproduced, and move what may not be left. Finish with the number of the issue."
APART = "How far is the line between Ada's house and the mill? Finish with the length."


@pytest.mark.parametrize(
    "said",
    [
        "not 4",
        "not 4 but unknown",
        "4 or none",
        "4 or something else",
        "4 unknown",
        "either 4 or more",
        "maybe 4",
        "it may be 4",
        "between 4 and unknown",
        "it isn't 4",
        "never 4 points",
        "4\nor not",
        "not four",
        "The number is not 4.",
    ],
)
@pytest.mark.parametrize("question", [SPRINT, TICKED, CANNOT, APART, ""])
@pytest.mark.parametrize(
    "right",
    [
        AnswerTest(number=4),
        AnswerTest(equals="4"),
        AnswerTest(items=("4",)),
        AnswerTest(matches=r"\D*4\D*"),
        AnswerTest(number=4, matches=r"[^\d]*(?:4|four)[^\d]*"),
    ],
    ids=["number", "equals", "items", "matches", "number and matches"],
)
def test_a_number_that_is_denied_or_left_open_is_no_answer(right: AnswerTest, question: str, said: str) -> None:
    assert right.score("4", question) == 1.0
    assert right.score(said, question) == 0.0


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (TICKED, "4 items are not ticked."),
        (TICKED, "4 items aren't ticked."),
        (TICKED, "The number of items that are not ticked is 4"),
        (TICKED, "not ticked: 4"),
        (CANNOT, "4 can not be reproduced"),
        (APART, "The line between Ada's house and the mill is 4 m long."),
        (APART, "Between Ada's house and the mill: 4"),
        ("How many letters are from Ada or Bo?", "4 letters are from Ada or Bo."),
    ],
)
def test_a_choice_or_denial_of_the_question_may_be_repeated(question: str, said: str) -> None:
    assert AnswerTest(number=4).score(said, question) == 1.0
    assert AnswerTest(matches=r"\D*4\D*").score(said, question) == 1.0


def test_a_right_answer_may_itself_be_a_choice_or_a_denial() -> None:
    assert AnswerTest(matches=r"(?i)\W*neither (?:of them)?\W*").holds("Neither of them.", "Which bell is cracked?")
    assert AnswerTest(matches=r"red or (?:dark )?blue").holds("red or blue", "In which colours does it come?")
    assert AnswerTest(matches="It isn’t cracked").holds("It isn’t cracked", "How is the bell?")
    assert AnswerTest(equals="Not Yet").holds("Not Yet", "What is the boat called?")


def test_a_list_and_a_table_may_stand_in_a_sentence() -> None:
    question = "Which choirs sang in the final? Finish with their names, separated by semicolons."
    right = AnswerTest(items=("Quarrymen's Chorus", "Saint Orla's Girls", "Tannery Eight"))
    for said in (
        "The choirs that sang in the final are the Quarrymen’s Chorus, Saint Orla's Girls and the Tannery Eight.",
        "The Quarrymen's Chorus, Saint Orla's Girls, and the Tannery Eight sang in the final.",
        '{"choirs": ["Quarrymen\'s Chorus", "Saint Orla\'s Girls", "Tannery Eight"]}',
        "**Choirs:**\n- Quarrymen's Chorus\n- Saint Orla's Girls\n- Tannery Eight",
    ):
        assert right.score(said, question) == 1.0, said
    assert right.score("The Mill Singers and the Tannery Eight sang in the final.", question) < 1.0


NAMES = ("Ada Brook", "Bo Crane", "Old Tom", "Sweet Ann", "4", "8", "COM-24")
GLUE = ("is", "the captain", "captain", "of", "the guild", ":", ",", "and", "bell", "heavier", "than", "it", "'s", "in")
WORDS = st.lists(st.sampled_from(GLUE), max_size=3).map(" ".join)


@settings(max_examples=600)
@given(st.tuples(WORDS, st.sampled_from(NAMES), WORDS, st.sampled_from(NAMES), WORDS))
@example(("", "Old Tom", "is heavier than", "Ada Brook", ""))
@example(("The captain", "Ada Brook", "is", "Old Tom", ""))
@example(("The captain", "Ada Brook", "is in", "Old Tom", "'s guild"))
def test_no_text_answers_with_two_different_names(words: tuple[str, ...]) -> None:
    said = " ".join(filter(None, words)).replace(" ,", ",").replace(" :", ":").replace(" '", "'")
    for question in (CAPTAIN, HEAVIER, SPRINT, ""):
        taken = [name for name in NAMES if AnswerTest(items=(name,)).score(said, question) == 1.0]
        assert len(taken) < 2, (said, question, taken)
        numbers = [name for name in ("4", "8") if AnswerTest(number=float(name)).score(said, question) == 1.0]
        assert len(numbers) < 2, (said, question, numbers)


@given(st.text(max_size=LONGEST + 20), st.text(max_size=80))
def test_every_text_has_readings_of_which_the_first_is_itself(said: str, question: str) -> None:
    assert readings(said, question)[0] == said


def test_what_a_program_wrote_is_compared_by_its_letters() -> None:
    """A probe of a file is no answer in words: `equals` and `matches` outside of answers see the text as it is."""
    assert not Expect(equals="south").holds("The answer is south", "Which is it?")
    assert not Expect(matches=r"\Asouth\Z").holds("**south**")
