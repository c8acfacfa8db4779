"""Measures how a world model answers in Search with the index and without it: what comes back, and what it costs.

python benchmarks/research/search_answers.py [--sessions 100] [--controls 0.0]

The steps are those of recorded sessions in compact prompts, with the policies of the shipped configurations of small
models. The tokens are those of a small tokenizer of 4,096 pieces that is built from the messages of the same form.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence

from agentworld_gym.agents.collect.recorder import Recorder
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.engines.catalog import load_index
from agentworld_gym.llm.prompting.prompt import Prompts
from agentworld_gym.llm.prompting.prompt_options import PromptOptions
from agentworld_gym.llm.prompting.references.contract import MARK
from agentworld_gym.llm.rows.rerendering import rendered_turns, task_of
from agentworld_gym.llm.rows.row import Row
from agentworld_gym.recipe.config_files import load_config
from agentworld_gym.recipe.data.small_tokenizer import build_tokenizer

SPEC = load_spec("search")


def recorded(sessions: int, controls: float) -> list[Row]:
    """Sessions with the policies of the bundled model's configuration, some of them with controls."""
    config = load_config("search").collect.model_copy(update={"controls_share": controls})
    recorder = Recorder([SPEC], config, seed=5)
    return [row for number in range(sessions) if (row := recorder.row(number)) is not None]


def answers(rows: Sequence[Row], prompts: Prompts) -> Iterator[tuple[str, str, bool]]:
    """The tool of each step, the answer, and whether the answer gives what was recorded."""
    for row in rows:
        task = task_of(row)
        assert task is not None
        for turn in rendered_turns(row, prompts, task):
            answer = prompts.answer(task, turn.screen, turn.observation, turn.action)
            back = prompts.read(task, turn.screen, answer, turn.action) == turn.observation
            yield tool(turn.action), answer, back


def tool(action: str) -> str:
    """The name of the tool that an action calls."""
    try:
        return str(json.loads(action)["name"])
    except (ValueError, KeyError, TypeError):
        return "none"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sessions", type=int, default=100)
    parser.add_argument("--controls", type=float, default=0.0, help="the share of sessions with controls in force")
    options = parser.parse_args()
    rows = recorded(options.sessions, options.controls)
    for name, index in (("without the index", None), ("with it", load_index("search"))):
        prompts = Prompts(SPEC, PromptOptions("compact", index=index))
        found = list(answers(rows, prompts))
        tokenizer = build_tokenizer([answer for _, answer, _ in found], 4096)
        groups = defaultdict(list)
        for called, answer, back in found:
            groups[called].append((len(tokenizer.encode(answer).ids), answer, back))
            groups["all"].append(groups[called][-1])
        print(f"{name}: {len(rows)} sessions")
        for called, group in sorted(groups.items()):
            sizes = sorted(size for size, _, _ in group)
            short = sum(answer.startswith(MARK) for _, answer, _ in group)
            same = sum(back for *_, back in group)
            mean, decile = statistics.mean(sizes), sizes[len(sizes) * 9 // 10]
            print(f"  {called:14} answers {len(group):4}  short {short:4}  read back {same:4}", end="  ")
            print(f"tokens {sum(sizes):6}  mean {mean:6.1f}  ninth decile {decile:4}  longest {sizes[-1]:4}")


if __name__ == "__main__":
    main()
