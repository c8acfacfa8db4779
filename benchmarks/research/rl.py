"""Whether rewards of the verifiers alone improve a small world model of the terminal.

    python benchmarks/research/rl.py MODEL --out runs/rl-demo [--steps 60] [--sessions 900] [--turns 400]
        [--after FOLDER]

Records sessions of families whose contents have to be computed, trains on them by GSPO, and compares the model before
and after on turns of unseen tasks that print something: greedy and sampled, the share that the verifiers pass, with
95 % intervals over sessions. `--after` compares with a model that is there already and trains nothing.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from agentworld_gym.agents.collect.config import CollectConfig
from agentworld_gym.agents.collect.recording_file import collect
from agentworld_gym.base.statistics.bootstrap import interval
from agentworld_gym.core.contracts import ChatRequest, Failure
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Split
from agentworld_gym.llm.generators import open_generator
from agentworld_gym.llm.prompting.parsing import parse_completion
from agentworld_gym.llm.rows.row import Row
from agentworld_gym.llm.rows.row_reading import read_rows
from agentworld_gym.recipe.rl.config import RlConfig
from agentworld_gym.recipe.rl.gspo import train
from agentworld_gym.recipe.rl.verifiers import verify

HARD = ("edit_in_place", "filter_lines", "sort_unique", "pipeline", "aggregate_csv")
LONGEST = 1500
"""Characters of a prompt."""


def recorded(path: Path, sessions: int, split: Split) -> Path:
    """Sessions in compact prompts, recorded once."""
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        config = CollectConfig(profile="compact", families=HARD)
        collect([load_spec("terminal")], path, episodes=sessions, seed=6, config=config, split=split)
    return path


def unseen(path: Path, count: int) -> list[Row]:
    """Turns that print something."""
    turns = (turn for row in read_rows(path) for turn in row.turns() if turn.observations[-1].count("\n") > 1)
    fit = (turn for turn in turns if sum(len(message["content"]) for message in turn.request()) < LONGEST)
    return [turn for turn in fit if not verify(turn, turn.observations[-1]).skipped][:count]


def passed(model: str, turns: list[Row], temperature: float) -> list[float]:
    """Which of the predictions for some turns the verifiers pass, as 1 and 0."""
    lease = open_generator(f"transformers:{model}")
    sampling = Sampling(temperature=temperature, max_tokens=192, thinking=False, seed=0)
    found = [0.0] * len(turns)
    try:
        for place, answer in lease.submit([ChatRequest(turn.request(), sampling) for turn in turns]):
            if isinstance(answer, Failure):
                raise SystemExit(f"{model}: {answer.message}")
            prediction = parse_completion(answer.text)
            found[place] = float(prediction is not None and verify(turns[place], prediction).passed)
    finally:
        lease.close()
    return found


def main() -> None:
    """Train and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--sessions", type=int, default=900, help="to learn from; a fifth as many to test on")
    parser.add_argument("--turns", type=int, default=400, help="to test on, at most")
    parser.add_argument("--after", type=Path)
    options = parser.parse_args()
    after = options.after or options.out / "model"
    if options.after is None:
        rows = recorded(options.out / "train.jsonl", options.sessions, "train")
        config = RlConfig.model_validate(
            {
                "name": "rl-demo",
                "model": {"path": options.model},
                "data": {"rows": [str(rows)], "pool": None, "max_prompt_tokens": 512, "min_answer_tokens": 26},
                "reward": {"rubric": 0, "highest": 1},
                "sampling": {"temperature": 1.2, "max_tokens": 128},
                "steps": options.steps,
                "batch": 64,
                "learning_rate": 1e-4,
                "warmup_steps": 5,
                "checkpoint_steps": 10,
            }
        )
        train(config, options.out, lambda line: print(line["step"], round(line["reward"], 3), flush=True))
    turns = unseen(recorded(options.out / "validation.jsonl", options.sessions // 5, "validation"), options.turns)
    sessions = [turn.id for turn in turns]
    for name, temperature in (("greedy", 0.0), ("sampled", 1.0)):
        before, now = (passed(str(model), turns, temperature) for model in (options.model, after))
        gains = [new - old for old, new in zip(before, now, strict=True)]
        parts = {
            "before": interval(before, sessions, bounds=(0, 1)),
            "after": interval(now, sessions, bounds=(0, 1)),
            "difference": interval(gains, sessions, bounds=(-1, 1)),
        }
        print(f"{name}, {len(turns)} turns:", ", ".join(f"{key} {share}" for key, share in parts.items()))


if __name__ == "__main__":
    main()
