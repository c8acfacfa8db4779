"""Ways of the hand-written tasks of the domain `search`: other searches, notes and words."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ways.playing import Way, Ways, fixed


def call(tool: str, **arguments: Any) -> str:
    """Return a tool call."""
    return json.dumps({"name": tool, "arguments": arguments}, ensure_ascii=False)


def search(*queries: str) -> str:
    """Return a search for one or several queries."""
    return call("web_search", query=queries[0]) if len(queries) == 1 else call("web_search", queries=list(queries))


def page(url: str) -> str:
    """Return the call that opens a page, its arguments first."""
    return json.dumps({"arguments": {"url": url}, "name": "web_extractor"})


def ways(key: str, reads: Sequence[str], notes: Sequence[Any], answers: Sequence[str]) -> list[Way]:
    """Return three ways: each notes and answers in other words, and takes its note at another time.

    Args:
        key: The key of the note; an empty text where none is asked for.
        reads: What is to be read.
        notes: What is noted, for each way.
        answers: The answers, for each way.
    """
    made = []
    names = ("noted_at_the_end", "noted_at_once_among_others", "noted_anew")
    for place, (name, answer) in enumerate(zip(names, answers, strict=True)):
        note = notes[place] if key else "read"
        kept = key or "mark"
        acts = [*reads, call("dict_memory", operation="add", dict={kept: note})]
        if place == 1:
            acts = [call("dict_memory", operation="add", dict={"todo": "all", kept: note}), *reversed(reads)]
        if place == 2:
            first = call("dict_memory", operation="add", dict={kept: "not known yet"})
            acts = [first, *reads, call("dict_memory", operation="update", dict={kept: note})]
        made.append(fixed(name, *acts, f"finish: {answer}"))
    return made


CHOIRS = ["Quarrymen's Chorus", "Saint Orla's Girls", "Tannery Eight"]

HANDWRITTEN: Ways = {
    "choir-prizes": ways(
        "",
        [search("Lindow Hall opening"), page("https://salterprize.example/finals")],
        [],
        [
            "The choirs are the Quarrymen’s Chorus, Saint Orla’s Girls and the Tannery Eight.",
            "\n".join(f"- the {name}" for name in reversed(CHOIRS)),
            json.dumps(CHOIRS),
        ],
    ),
    "ferry-fares": ways(
        "child",
        [search("Hern ferry fares", "Hern ferry news")],
        [0, "0 crowns", "The child pays 0 crowns."],
        ["They pay 342 crowns together.", "**342 crowns**", "342.00"],
    ),
    "glacier-survey": ways(
        "ells",
        [page("https://sorn-expedition.example/surveys"), page("https://measures.example/ell")],
        [515, "515 ells", "**515**"],
        ["618 m", "The tongue retreated by 618 metres.", "≈ 618 metres"],
    ),
    "leave-days": ways(
        "full",
        [search("leave days years of service")],
        [30, "30 days", "thirty"],
        ["24 days", "Petra Odenwald has 24 days of leave in 2025.", "**24**"],
    ),
    "lighthouse-lens": ways(
        "",
        [search("Harrowgate lens"), page("https://archive.pharology.example/journal/41/harrowgate-lenses")],
        [],
        [
            "The lens came from the Aldermoor Glassworks and was replaced in 1928.",
            "Aldermoor Glassworks, 1928",
            "Aldermoor Glassworks (1928)",
        ],
    ),
    "mill-sales": ways(
        "kept",
        [search("paper mills on the River Asker"), page("https://records.asker-county.example/prices")],
        ["Old Mere", "the Old Mere paper mill", "Old Mere Mill"],
        [
            "| mill | year | price |\n| --- | --- | --- |\n| Coldbeck | 1951 | 41,000 |\n| Sandpit | 1958 | 66,750 |\n"
            "| Weir House | 1964 | 58,300 |",
            "Weir House | 1964 | 58 300 crowns; Sandpit | 1958 | 66 750 crowns; Coldbeck | 1951 | 41 000 crowns",
            '[["Coldbeck", 1951, 41000], ["Sandpit", 1958, 66750], ["Weir House", 1964, 58300]]',
        ],
    ),
    "observatory-mirror": ways(
        "observatory",
        [search("Thessaly Orme comet"), page("https://mountezzer.example/instruments")],
        ["Mount Ezzer Observatory", "Mt. Ezzer", "The observatory is Mount Ezzer."],
        ["76 cm", "The mirror is 76 centimetres wide.", "**76**"],
    ),
    "shop-recall": ways(
        "recalled",
        [search("Brunell K7 recall"), page("https://www.brunell-kettles.example/partners")],
        ["Yes", "yes", "**yes**"],
        ["It can be returned at The Copper Corner.", "the Copper\u00a0Corner", "**The Copper Corner**, Dornby"],
    ),
    "tram-correction": ways(
        "source",
        [search("Gessing tram line 3 2021"), page("https://transport.gessing.example/notices/2022-11")],
        [
            "https://transport.gessing.example/notices/2022-11",
            "transport.gessing.example/notices/2022-11",
            "<https://transport.gessing.example/notices/2022-11>",
        ],
        [
            "2,417,000 passengers",
            "In 2021 tram line 3 of Gessing carried 2,417,000 passengers.",
            "2.417 million",
        ],
    ),
    "two-harrows": ways(
        "born",
        [search("Lucan Harrow painter"), page("https://paintersindex.example/harrow-lucan")],
        [1831, "born in 1831", "in the year 1831"],
        ["Amelia\u00a0Strake", "He was taught by Amelia Strake.", "The teacher was **Amelia Strake**."],
    ),
    "widest-bell": ways(
        "guild",
        [search("Guild of the Long Stay captain")],
        ["The Guild of the Long Stay", "Guild of the Long\u00a0Stay", "the Long Stay Guild"],
        [
            "The captain of the Guild of the Long Stay is Tabitha Metcarr.",
            "Tabitha\u00a0Metcarr",
            "Its captain is **Tabitha Metcarr**.",
        ],
    ),
    "yard-inquiries": ways(
        "damage",
        [search("Inquiry G260 damage", "Inquiry B176 damage")],
        [759500, "759,500 crowns", "The damage is 759\u202f500 crowns."],
        ["The chair was Ysolt Wexcombe.", "“Ysolt Wexcombe”", "Ysolt Wexcombe was the chair of the inquiry."],
    ),
}
"""Id of a task → its ways."""
