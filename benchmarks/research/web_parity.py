"""Holds the browser in process against an installed Chromium: both do the same, and their answers are compared.

python benchmarks/research/web_parity.py [--steps 300] [--seed 0] [--out parity.json]

Every site is walked over at random; half of the sessions are signed in from the start, the others try to sign in.
An answer is compared line by line, but for the code that ran, which is compared by itself; after a difference the
walk begins anew on another page.
"""

from __future__ import annotations

import argparse
import difflib
import json
import random
import re
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from agentworld_gym.domains.web.engine.chromium.machine import ChromiumEngine
from agentworld_gym.domains.web.engine.machine import WebMachine

sys.path.append(str(Path(__file__).resolve().parents[1] / "speed"))

from web_walk import next_action, signing_in, states

_CODE = re.compile(r"### Ran Playwright code\n```js\n(.*?)\n```\n?", re.S)
_ERROR = re.compile(r"^((?:Timeout)?Error: .*)$", re.M)


def split(answer: str) -> tuple[str, str]:
    """An answer without its code, and the code; of an error only the first line counts."""
    code = _CODE.search(answer)
    rest = _CODE.sub("", answer, count=1)
    error = _ERROR.search(rest) if rest.startswith("### Error") else None
    return (error[1] if error else rest), (code[1] if code else "")


def walk(state: dict[str, Any], seed: int, steps: int) -> tuple[list[dict[str, Any]], int, int, int, int]:
    """The differences of one session, and how many steps, snapshots, equal lines and lines there were."""
    rng = random.Random(seed)
    ours, theirs = WebMachine.start(state, seed), ChromiumEngine().start(state, seed)
    differences: list[dict[str, Any]] = []
    done = equal = lines = same_lines = 0
    actions: list[dict[str, Any]] = [{"name": "start"}]
    mine, real = ours.observation, theirs.observation
    site = next(iter(state["sites"]))
    planned = [] if "signed_in" in state else signing_in(site, ours, right=seed % 2 == 0)
    try:
        for _ in range(steps + 1):
            (left, code), (right, real_code) = split(mine), split(real)
            done += 1
            pairs = list(difflib.unified_diff(right.split("\n"), left.split("\n"), lineterm="", n=0))[2:]
            lines += right.count("\n") + 1
            same_lines += right.count("\n") + 1 - sum(line.startswith("-") for line in pairs)
            equal += not pairs
            if pairs:
                differences.append({"state": state, "actions": actions[-6:], "difference": pairs[:30]})
                break
            if code != real_code:
                differences.append({"action": actions[-1], "code": [real_code, code]})
            actions.append(planned.pop(0)(mine) if planned else next_action(mine, rng))
            mine, real = ours.act(actions[-1]), theirs.act(actions[-1])
    finally:
        ours.close()
        theirs.close()
    return differences, done, equal, same_lines, lines


def main() -> None:
    """Walk, compare, and say what differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--steps", type=int, default=300, help="how many steps to compare")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=None, help="where to save the result as JSON")
    options = parser.parse_args()
    began = time.time()
    totals: Counter[str] = Counter()
    differences: list[dict[str, Any]] = []
    for number, state in enumerate(states(1000, options.seed)):
        if totals["steps"] >= options.steps:
            break
        found, done, equal, same_lines, lines = walk(state, options.seed + number, 15)
        totals.update(steps=done, equal=equal, same_lines=same_lines, lines=lines, sessions=1)
        totals["equal code"] += done - sum("code" in item for item in found)
        differences += found
    for item in differences:
        if "difference" in item:
            print(json.dumps(item["state"]), *map(json.dumps, item["actions"]), *item["difference"], sep="\n  ")
    codes = [item for item in differences if "code" in item]
    for item in codes[:10]:
        print(json.dumps(item["action"]), *item["code"], sep="\n  ")
    result = {
        **totals,
        "answers that agree": round(totals["equal"] / totals["steps"], 4),
        "lines that agree": round(totals["same_lines"] / totals["lines"], 4),
        "seconds": round(time.time() - began, 1),
    }
    print(json.dumps(result))
    if options.out is not None:
        options.out.write_text(json.dumps({"totals": result, "differences": differences}, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
