"""How many different answers a model of the state form writes, and how much the commonest of them are.

    python benchmarks/research/answer_shapes.py terminal                    # 200 sessions of validation tasks
    python benchmarks/research/answer_shapes.py web --sessions 50 --split test --seed 7

The answers are the true ones to recorded actions. An answer to a line of several commands has a part for each of them,
and parts are counted one by one. The shape of a part is the part without numbers and without what stands in texts
beside names of values, so that it says what changes, and not to what.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter

from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.evaluation.fidelity.measure import record
from agentworld_gym.llm.bundled_models import bundled_model
from agentworld_gym.llm.rows.rerendering import prompts_for
from agentworld_gym.llm.rows.samples_from_rows import cpt_sample

TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')
NAME = re.compile(r"\{[^{}]*\}")
NUMBER = re.compile(r"\d+")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("domain", nargs="?", default="terminal")
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--split", default="validation")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    form = bundled_model("tiny", load_spec(asked.domain), {}).form(load_spec(asked.domain))
    parts: Counter[str] = Counter()
    for row in record(asked.domain, asked.sessions, asked.seed, asked.split):
        messages = cpt_sample(row, prompts_for(row, "compact", form)).messages
        parts.update(part for message in messages[2::2] for part in message["content"].split("\n;\n"))
    shapes: Counter[str] = Counter()
    for part, count in parts.items():
        shapes[shape(part)] += count
    total = parts.total()
    print(f"{total} parts of answers: {len(parts)} different ones, {len(shapes)} different shapes")
    for what, counted in (("answers", parts), ("shapes", shapes)):
        print(f"the commonest {what}:")
        for part, count in counted.most_common(10):
            print(f"  {count / total:6.1%}  {part!r}")


def shape(part: str) -> str:
    """What a part of an answer changes, and not to what.

    >>> shape('{2}/text = "a {1} b"'), shape('status = 127')
    ('{N}/text = "…{N}"', 'status = N')
    """
    return NUMBER.sub("N", TEXT.sub(_outline, part))


def _outline(found: re.Match[str]) -> str:
    text = found[0][1:-1]
    return f'"{"…" if NAME.sub("", text) else ""}{"".join(NAME.findall(text))}"'


if __name__ == "__main__":
    main()
