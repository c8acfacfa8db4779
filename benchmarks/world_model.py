"""How exact the small world model is on unseen sessions, beside two baselines.

    python benchmarks/world_model.py                    # the shipped model, 600 unseen sessions
    python benchmarks/world_model.py --sessions 100     # a sample

Writes a JSON file and the same as Markdown. Also decodes some steps for real, to check that the forward pass tells
what generation writes.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from pathlib import Path
from typing import Any

import agentworld_gym
from agentworld_gym.recipe import evaluate
from agentworld_gym.recipe.collect import collect
from agentworld_gym.recipe.config import load_config
from agentworld_gym.recipe.dataset import encode, pad_id
from agentworld_gym.recipe.rows import Row, read_rows
from agentworld_gym.recipe.tokenizer import load_tokenizer
from agentworld_gym.spec import load_spec
from agentworld_gym.task import Split

SHIPPED = Path(agentworld_gym.__file__).parent / "models" / "tiny-terminal"


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=SHIPPED, help="a model folder")
    parser.add_argument("--sessions", type=int, default=600, help="unseen sessions to evaluate")
    parser.add_argument("--recorded", type=int, default=600, help="training sessions for the nearest recorded step")
    parser.add_argument("--decode", type=int, default=100, help="steps to decode for real")
    parser.add_argument("--out", type=Path, default=Path("runs/world_model.json"), help="where the figures go")
    arguments = parser.parse_args()

    import torch
    from transformers import AutoModelForCausalLM

    torch.set_num_threads(1)
    model: Any = AutoModelForCausalLM.from_pretrained(arguments.model, dtype=torch.float32)
    tokenizer = load_tokenizer(arguments.model)
    spec = load_spec("terminal")
    with tempfile.TemporaryDirectory() as folder:
        unseen = record(Path(folder), arguments.sessions, "test")
        seen = record(Path(folder), arguments.recorded, "train")
    found = evaluate.summary(evaluate.evaluate(model, tokenizer, spec, unseen, seen))
    found["sessions"] = {"unseen": len(unseen), "nearest recorded step": len(seen)}
    found["decoded"] = decoded(model, tokenizer, unseen, arguments.decode)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    table = evaluate.markdown(found)
    arguments.out.with_suffix(".md").write_text(table, encoding="utf-8")
    print(table)
    print(f"decoded for real: {found['decoded']}")


def record(folder: Path, episodes: int, split: Split) -> list[Row]:
    """Sessions of a split, in the mix that the model was trained on."""
    path = folder / f"{split}.jsonl"
    collect([load_spec("terminal")], path, episodes, 1, load_config("tiny-terminal").collect, split)
    return list(read_rows(path))


def decoded(model: Any, tokenizer: Any, sessions: list[Row], count: int) -> dict[str, int]:
    """Of some steps: how many greedy decoding writes exactly, and for how many the forward pass said the same."""
    data = encode(sessions, tokenizer)
    flags = evaluate.exact_by_forward(model, data, pad_id(tokenizer))
    prompts = evaluate.prompts_of(data)
    chosen = random.Random(0).sample(prompts, min(count, len(prompts)))
    texts = evaluate.generated(model, tokenizer, [ids for _, _, ids in chosen])
    exact = [text == sessions[s].observations[t] for (s, t, _), text in zip(chosen, texts, strict=True)]
    agree = [flags[s][t] == right for (s, t, _), right in zip(chosen, exact, strict=True)]
    return {"steps": len(chosen), "exact": sum(exact), "forward pass agrees": sum(agree)}


if __name__ == "__main__":
    main()
