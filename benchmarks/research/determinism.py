"""Whether two runs with one seed give the same weights, bit for bit; and which weights another seed gives.

Two whole runs from scratch (tokenizer, tokens, model, training) on the same recorded sessions, and a third with another
seed. Exit status 1 if the first two differ.

    python benchmarks/research/determinism.py
    python benchmarks/research/determinism.py --bfloat16 --compile --threads 2
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch

from agentworld_gym.agents.collect.config import SmallModelSessions
from agentworld_gym.agents.collect.recording_file import collect
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.recipe.training.checkpoints import Checkpoints
from agentworld_gym.recipe.training.cpt import train
from agentworld_gym.recipe.training.model import CHECKPOINTS
from agentworld_gym.recipe.training.stage_config import CptConfig

SHAPE = {"hidden_size": 64, "intermediate_size": 192, "num_hidden_layers": 3, "head_dim": 16, "vocab_size": 700}


def weights(rows: Path, folder: Path, options: argparse.Namespace, seed: int) -> dict[str, Any]:
    """What a run leaves in its last checkpoint."""
    config = CptConfig.model_validate(
        {
            "name": "determinism",
            "data": {"rows": [str(rows)], "domains": ["terminal"], "max_tokens": 1024, "validation": 0},
            "preparation": {"pool": None, "context_weight": 0.1},
            "model": {"shape": SHAPE},
            "train": {
                "seed": seed,
                "threads": options.threads,
                "compile": options.compile,
                "bfloat16": options.bfloat16,
                "max_steps": options.steps,
                "batch_tokens": 1024,
                "short_tokens": 192,
                "tensorboard": False,
            },
        }
    )
    train(config, folder)
    state = Checkpoints(folder / CHECKPOINTS).read()
    if state is None:
        raise SystemExit("the run left no checkpoint")
    found: dict[str, Any] = state["model"]
    return found


def main() -> int:
    """Print what differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--bfloat16", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        rows = Path(name) / "rows.jsonl"
        collect([load_spec("terminal")], rows, options.sessions, 0, SmallModelSessions(max_turns=8))
        first, second, other = (
            weights(rows, Path(name) / str(run), options, seed) for run, seed in enumerate((0, 0, 1))
        )
    count = sum(value.numel() for value in first.values())
    same = sum(int((first[key] == second[key]).sum()) for key in first)
    equal = sum(int((first[key] == other[key]).sum()) for key in first)
    far = max(float((first[key] - second[key]).abs().max()) for key in first)
    print(f"{options.steps} steps, {count:,} weights, torch {torch.__version__}, {options.threads} thread(s)")
    print(f"one seed: {same:,} equal, the largest difference is {far:g}")
    print(f"another seed: {equal:,} equal")
    return int(same != count)


if __name__ == "__main__":
    sys.exit(main())
