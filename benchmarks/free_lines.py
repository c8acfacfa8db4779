"""Types what a newcomer might type into a terminal or a repository of a language world, and compares both worlds.

    python benchmarks/free_lines.py swe --world tiny
    python benchmarks/free_lines.py terminal --world transformers:runs/terminal-state/model --profile compact \\
        --form state --wrong

`free_lines/DOMAIN.yaml` holds the lines, which were written by hand, and the files that they speak of. Each entry is
typed into a fresh episode of the language world, which has its own answers as its history, and into one of the grounded
world. A step in which the language world fails is wrong, and so are those after it.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentworld_gym.documents.strict import read_yaml
from agentworld_gym.episodes.runner import EpisodeRunner
from agentworld_gym.options import EnvOptions

LINES = Path(__file__).with_suffix("")
GROUNDED = {"swe": "grounded:monty"}
"""The grounded world of a domain where it is not `grounded`."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What two worlds show after one action."""

    action: str
    true: str
    shown: str

    @property
    def right(self) -> bool:
        """Whether both show the same."""
        return self.true == self.shown


def episodes(domain: str, document: Mapping[str, Any]) -> Iterator[list[str]]:
    """The actions of each episode."""
    for entry in document["episodes"]:
        lines = entry if isinstance(entry, list) else [entry]
        yield [action for line in lines for action in (_calls(line) if domain == "swe" else _keystrokes(line))]


def _keystrokes(line: Any) -> Iterator[str]:
    """The keystrokes of a line; a mapping gives them in its place."""
    for keys in line["keys"] if isinstance(line, Mapping) else [f"{line}\n"]:
        yield json.dumps([{"keystrokes": keys}], ensure_ascii=False)


def _calls(line: Any) -> Iterator[str]:
    """The call that runs a line; a mapping gives the arguments of another tool by its name."""
    calls = line if isinstance(line, Mapping) else {"run_shell_command": {"command": line}}
    for name, arguments in calls.items():
        yield json.dumps({"name": name, "arguments": json.dumps(arguments)}, ensure_ascii=False)


def observations(runner: EpisodeRunner, actions: list[str]) -> Iterator[str]:
    """What a world shows after each action; the failure of a world ends the episode."""
    [(episode, _, _)] = runner.start([0], {})
    with closing(episode.session):
        for action in actions:
            [taken] = runner.advance([episode], [action])
            yield taken.observation if taken.answered else f"failed: {taken.info.get('failure')}"
            if taken.terminated or taken.truncated:
                return


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("domain", choices=sorted(path.stem for path in LINES.glob("*.yaml")))
    parser.add_argument("--world", default="tiny", help="the language world")
    parser.add_argument("--profile", help="the profile of its prompts")
    parser.add_argument("--form", help="the form in which its model writes a next state")
    parser.add_argument("--wrong", action="store_true", help="show what was answered wrongly")
    options = parser.parse_args()
    domain, document = options.domain, read_yaml(LINES / f"{options.domain}.yaml")
    task = {"instruction": "Look around.", "state": document["state"], "success": [{"answer": {"equals": "done"}}]}
    asked = {name: value for name in ("profile", "form") if (value := getattr(options, name)) is not None}
    answers: list[list[Answer]] = []
    with (
        closing(EnvOptions(spec=domain, world=options.world, task=task, judge="none", **asked).runner()) as dreamt,
        closing(
            EnvOptions(spec=domain, world=GROUNDED.get(domain, "grounded"), task=task, judge="none").runner()
        ) as grounded,
    ):
        for actions in episodes(domain, document):
            true, shown = [*observations(grounded, actions)], [*observations(dreamt, actions)]
            shown += ["failed"] * (len(true) - len(shown))
            answers.append([Answer(*one) for one in zip(actions, true, shown, strict=True)])
    steps = [answer for episode in answers for answer in episode]
    for answer in steps if options.wrong else ():
        if not answer.right:
            print(f"{answer.action[:200]}\n  true  {answer.true[:600]!r}\n  shown {answer.shown[:600]!r}")
    whole = sum(all(answer.right for answer in episode) for episode in answers)
    print(f"equal observations: {sum(answer.right for answer in steps)} of {len(steps)}")
    print(f"episodes all of whose observations are equal: {whole} of {len(answers)}")


if __name__ == "__main__":
    main()
