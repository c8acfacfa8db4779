"""Types what a newcomer might type into a terminal or a repository of a language world, and compares both worlds.

    python benchmarks/research/free_lines.py                           # what a newcomer typed into the terminal
    python benchmarks/research/free_lines.py swe_newcomer --guard 0.9  # the steps that the model doubts are grounded
    python benchmarks/research/free_lines.py terminal --world transformers:runs/terminal-state/model \\
        --profile compact \\
        --form state --wrong

A file of `free_lines` holds lines that were written by hand, with the files that they speak of or the seed of a task.
Each entry is typed into a fresh episode of the language world, which has its own answers as its history, and into one
of the grounded world. A step in which the language world fails is wrong, and so are those after it. Digests of commits
and of process groups are not compared, because they follow from all that was done before.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentworld_gym.base.documents.strict import read_yaml
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.options import EnvOptions

LINES = Path(__file__).with_suffix("")
GROUNDED = {"swe": "grounded:monty"}
"""The grounded world of a domain where it is not `grounded`."""
DIGEST = re.compile(r"(?<=PGID: )\d+|\b[0-9a-f]{7,40}\b")
MAX_STEPS = 50


@dataclass(frozen=True, slots=True)
class Answer:
    """What two worlds show after one action."""

    action: str
    true: str
    shown: str
    grounded: bool = False
    """Whether the guard sent the step to the grounded world."""

    @property
    def right(self) -> bool:
        """Whether both show the same, digests aside."""
        return DIGEST.sub("#", self.true) == DIGEST.sub("#", self.shown)


def episodes(domain: str, document: Mapping[str, Any]) -> Iterator[tuple[int, list[str]]]:
    """The seed of each episode, and its actions."""
    for entry in document["episodes"]:
        seed, typed = (entry["seed"], entry["lines"]) if isinstance(entry, Mapping) and "seed" in entry else (0, entry)
        lines = typed if isinstance(typed, list) else [typed]
        yield seed, [action for line in lines for action in (_calls(line) if domain == "swe" else _keystrokes(line))]


def _keystrokes(line: Any) -> Iterator[str]:
    """The keystrokes of a line; a mapping gives them in its place."""
    for keys in line["keys"] if isinstance(line, Mapping) else [f"{line}\n"]:
        yield json.dumps([{"keystrokes": keys}], ensure_ascii=False)


def _calls(line: Any) -> Iterator[str]:
    """The call that runs a line; a mapping gives the arguments of another tool by its name."""
    calls = line if isinstance(line, Mapping) else {"run_shell_command": {"command": line}}
    for name, arguments in calls.items():
        yield json.dumps({"name": name, "arguments": json.dumps(arguments)}, ensure_ascii=False)


def observations(runner: EpisodeRunner, seed: int, actions: list[str]) -> Iterator[tuple[str, bool]]:
    """What a world shows after each action, and whether its guard grounded it; a failure ends the episode."""
    [(episode, _, _)] = runner.start([seed], {})
    with closing(episode.session):
        for action in actions:
            [taken] = runner.advance([episode], [action])
            shown = taken.observation if taken.answered else f"failed: {taken.info.get('failure')}"
            yield shown, taken.info.get("source") == "grounded"
            if taken.terminated or taken.truncated:
                return


def compared(dreamt: EpisodeRunner, grounded: EpisodeRunner, seed: int, actions: list[str]) -> list[Answer]:
    """What both worlds show after the actions of an episode."""
    true = [shown for shown, _ in observations(grounded, seed, actions)]
    dreams = [*observations(dreamt, seed, actions)]
    dreams += [("failed", False)] * (len(true) - len(dreams))
    return [Answer(action, seen, *dream) for action, seen, dream in zip(actions, true, dreams, strict=False)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    files = sorted(path.stem for path in LINES.glob("*.yaml"))
    parser.add_argument("lines", nargs="?", choices=files, default="terminal_newcomer", help="the file of lines")
    parser.add_argument("--world", default="tiny", help="the language world")
    parser.add_argument("--profile", help="the profile of its prompts")
    parser.add_argument("--form", help="the form in which its model writes a next state")
    parser.add_argument("--guard", type=float, help="the least probability of an answer that is not grounded")
    parser.add_argument("--wrong", action="store_true", help="show what was answered wrongly")
    options = parser.parse_args()
    domain, document = options.lines.partition("_")[0], read_yaml(LINES / f"{options.lines}.yaml")
    given: dict[str, Any] = {"spec": domain, "judge": "none", "split": "test", "max_steps": MAX_STEPS}
    if "state" in document:
        success = [{"answer": {"equals": "done"}}]
        given = {**given, "task": {"instruction": "Look around.", "state": document["state"], "success": success}}
    asked: dict[str, Any] = {name: value for name in ("profile", "form") if (value := getattr(options, name))}
    if options.guard is not None:
        asked["guard"] = {"least": options.guard, "remedy": "ground"}
    with (
        closing(EnvOptions(world=options.world, **given, language=asked).runner()) as dreamt,
        closing(EnvOptions(world=GROUNDED.get(domain, "grounded"), **given).runner()) as grounded,
    ):
        answers = [compared(dreamt, grounded, *episode) for episode in episodes(domain, document)]
    steps = [answer for episode in answers for answer in episode]
    for answer in steps if options.wrong else ():
        if not answer.right:
            print(f"{answer.action[:200]}\n  true  {answer.true[:600]!r}\n  shown {answer.shown[:600]!r}")
    whole = sum(all(answer.right for answer in episode) for episode in answers)
    print(f"equal observations: {sum(answer.right for answer in steps)} of {len(steps)}")
    print(f"episodes all of whose observations are equal: {whole} of {len(answers)}")
    if options.guard is not None:
        left = [answer for answer in steps if not answer.grounded]
        print(f"grounded: {len(steps) - len(left)} of {len(steps)}")
        print(f"wrong and confident, of those left: {sum(not answer.right for answer in left)} of {len(left)}")


if __name__ == "__main__":
    main()
