"""Letters that ask questions, and the letters in which the answers stand."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agentworld_gym.core.tasks.patterns import literal
from agentworld_gym.domains.mcp.tasks.scene import ToolScene

SITES = ("Quarry Lane", "Mill Yard", "Harbour Court", "Linden Park", "Abbey Green", "Weaver Street", "Tannery Square")
LIGHTS = ("lanterns", "floodlights", "path lights", "wall lamps", "string lights")
WEEKDAYS = ("Tuesday", "Wednesday", "Thursday", "Friday")


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic of letters as texts to fill: `{site}` leads to `{key}`, and what is looked up for the key is
    `{value}`."""

    what: str
    keys: tuple[str, ...]
    values: tuple[str, ...]
    subject: str
    question: str
    site_question: str
    hop: str
    source_subject: str
    source_line: str
    columns: tuple[str, str]
    filename: str
    reply: str


TOPICS = (
    Topic(
        what="the gate, such as 'gate 1'",
        keys=WEEKDAYS,
        values=tuple(f"gate {number}" for number in range(2, 12)),
        subject="Where to unload",
        question="our truck comes on {key}. At which gate shall the driver unload?",
        site_question="our truck with the goods for {site} is on its way. At which gate shall the driver unload?",
        hop="the truck with the goods for {site} is planned for {key}.",
        source_subject="Gates next week",
        source_line="on {key} it is {value}",
        columns=("day", "gate"),
        filename="gates.csv",
        reply="Please unload at {value}. Regards, Nora",
    ),
    Topic(
        what="the order number",
        keys=LIGHTS,
        values=tuple(f"PO-{number}" for number in range(4410, 4490, 7)),
        subject="Order number for our invoice",
        question="for our invoice I need the number of your order of {key}. Can you send it to me?",
        site_question="for our invoice I need the number of your order for {site}. Can you send it to me?",
        hop="for {site} we take the {key}.",
        source_subject="Purchase orders of May",
        source_line="the {key} are {value}",
        columns=("goods", "order"),
        filename="orders.csv",
        reply="The number is {value}. Regards, Nora",
    ),
    Topic(
        what="the price, such as '10 euros'",
        keys=LIGHTS,
        values=tuple(f"{number} euros" for number in range(24, 96, 6)),
        subject="Price for a reorder",
        question="we would like to order more of the {key}. What does a piece cost now?",
        site_question="we would like to order more of what you delivered to {site}. What does a piece cost now?",
        hop="{site} got the {key}, and they look good there.",
        source_subject="Prices from May on",
        source_line="the {key} cost {value}",
        columns=("item", "price"),
        filename="prices.csv",
        reply="A piece costs {value}. Regards, Nora",
    ),
    Topic(
        what="the day, such as '15 June'",
        keys=LIGHTS,
        values=tuple(f"{day} June" for day in (1, 2, 3, 4, 5, 8, 9, 10, 11, 12)),
        subject="Date of the samples",
        question="you promised us samples of the {key}. On which day do they leave your house?",
        site_question="you promised us samples of the lights for {site}. On which day do they leave your house?",
        hop="the architect wants to see the {key} at {site}.",
        source_subject="Samples in June",
        source_line="the {key} leave on {value}",
        columns=("samples", "leaves"),
        filename="samples.csv",
        reply="They leave on {value}. Regards, Nora",
    ),
    Topic(
        what="the shelf, such as 'shelf A1'",
        keys=LIGHTS,
        values=tuple(f"shelf {row}{number}" for row in "BCDE" for number in (1, 4, 7)),
        subject="Pick-up of the returned lamps",
        question="we pick up the returned {key} tomorrow. On which shelf do they lie?",
        site_question="we pick up the lamps that came back from {site} tomorrow. On which shelf do they lie?",
        hop="from {site} the {key} came back, a cable was too short.",
        source_subject="Returns in the warehouse",
        source_line="the {key} lie on {value}",
        columns=("goods", "shelf"),
        filename="returns.csv",
        reply="They lie on {value}. Regards, Nora",
    ),
)


@dataclass(frozen=True, slots=True)
class LetterQuestion:
    """One question with its letters. The first of `keys` and of `found` belong to it, the others are distractors."""

    topic: Topic
    sender: str
    keys: tuple[str, ...]
    found: tuple[str, ...]
    order: tuple[int, ...]
    site: str
    other_site: str
    old_letter: tuple[str, str]

    @property
    def values(self) -> tuple[str, str, str]:
        """The right value and two wrong ones."""
        return self.found[0], self.found[1], self.found[2]

    @property
    def others(self) -> tuple[str, ...]:
        """All wrong values."""
        return self.found[1:]

    @property
    def telltales(self) -> tuple[str, ...]:
        """The words and numbers in which wrong values differ from the right one, such as 10 in "3 or 10 June"."""
        right = re.findall(r"\w+", self.found[0])
        words = {word: None for value in self.others for word in re.findall(r"\w+", value)}
        return tuple(word for word in words if word not in right)

    @property
    def what(self) -> str:
        """The thing that is asked for."""
        return self.topic.what

    @property
    def filename(self) -> str:
        """The file name of the attachment with the table."""
        return self.topic.filename

    @property
    def letter(self) -> tuple[str, str]:
        """Return the subject and text of the letter that asks."""
        text = self.topic.site_question if self.site else self.topic.question
        asked = text.format(key=self.keys[0], site=self.site)
        return self.topic.subject, f"Hello Nora, {asked} Kind regards, {self.sender}"

    @property
    def hop_letter(self) -> tuple[str, str]:
        """Return the subject and text of the letter that leads from the site to the key."""
        return f"News from {self.site}", self._hop(self.site, self.keys[0])

    @property
    def other_hop_letter(self) -> tuple[str, str]:
        """Return the subject and text of a letter that leads from another site to another key."""
        return f"News from {self.other_site}", self._hop(self.other_site, self.keys[1])

    @property
    def table(self) -> str:
        """Return the text of the attachment: all keys with their values."""
        rows = [f"{self.keys[index]},{self.found[index]}" for index in self.order]
        return "\n".join([",".join(self.topic.columns), *rows])

    def source_letter(self, in_attachment: bool) -> tuple[str, str]:
        """Return the subject and text of the letter that holds the values or has them attached."""
        lines = [self.topic.source_line.format(key=self.keys[index], value=self.found[index]) for index in self.order]
        text = "you find the list attached." if in_attachment else f"for your information: {'; '.join(lines)}."
        return self.topic.source_subject, f"Hello, {text} Regards,"

    def reply(self, value: str) -> str:
        """Return an answer with a value."""
        return self.topic.reply.format(value=value)

    def _hop(self, site: str, key: str) -> str:
        return f"Hi Nora, just so that you know: {self.topic.hop.format(site=site, key=key)} Best,"


_BLANK = r"(?:[^\S\n]|\\[nrt])"
_HYPHEN = r"[-\u2010\u2011\u2012\u2013]"
_NTH = r"(?:st|nd|rd|th)?"


def letter_pattern(value: str) -> str:
    r"""Return a pattern for the ways in which people write a value in a letter, as it stands in JSON.

    >>> ways = {"54 euros": ["€54", "54.00 EUR", "54 euros"], "3 June": ["June 3rd", "the 3rd of June", "2026-06-03"],
    ...         "PO-4417": ["po‑4417", "PO 4417"], "gate 3": ["Gate no. 3"], "shelf B4": ["shelf B4"]}
    >>> all(re.search(letter_pattern(value), said, re.IGNORECASE) for value, many in ways.items() for said in many)
    True
    >>> [bool(re.fullmatch(letter_pattern("3 June"), said)) for said in ("13 June", "3 July", "2026-06-13")]
    [False, False, False]
    """
    first, _, second = value.partition(" ")
    if second == "euros":
        sum_ = rf"{first}(?:[.,]00)?"
        return rf"(?:€{_BLANK}?{sum_}|EUR{_BLANK}?{sum_}|{sum_}{_BLANK}?(?:euros?|EUR|€))"
    if second == "June":
        day = rf"0?{first}{_NTH}"
        return rf"(?:{day}{_BLANK}+(?:of{_BLANK}+)?June?|June?{_BLANK}+(?:the{_BLANK}+)?{day}|2026-06-{int(first):02})"
    if first == "gate":
        return rf"gate{_BLANK}*(?:no\.?|number|#)?{_BLANK}*{second}"
    if first == "shelf":
        return rf"shelf:?{_BLANK}*{second[0]}(?:{_HYPHEN}|{_BLANK})?{second[1:]}"
    return literal(value).replace("-", rf"(?:{_HYPHEN}|{_BLANK})?")


def telling(word: str) -> str:
    """Return a pattern for a word or number that gives a wrong value away.

    >>> [bool(re.fullmatch(telling("2"), said)) for said in ("2", "2nd", "02", "12")]
    [True, True, True, False]
    """
    return rf"0?{word}{_NTH}" if word.isdecimal() else re.escape(word)


def invented(scene: ToolScene, sender: str, site: bool) -> LetterQuestion:
    """Draw a question; with `site` it takes one more letter to know what to look up."""
    topic = scene.pick(TOPICS)
    count = min(4, len(topic.keys))
    keys, values = scene.some(topic.keys, count), scene.some(topic.values, count)
    here, there = scene.some(SITES, 2)
    old = scene.pick(scene.service.scenario.words["partner_letters"])
    return LetterQuestion(
        topic=topic,
        sender=sender.split()[0],
        keys=tuple(keys),
        found=tuple(values),
        order=tuple(scene.some(range(count), count)),
        site=here if site else "",
        other_site=there if site else "",
        old_letter=(old["subject"], f"Hello, {old['body']} Regards, {sender.split()[0]}"),
    )
