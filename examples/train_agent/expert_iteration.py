"""Expert iteration, the simplest loop that learns from success: sample episodes, keep those that won, train on them.

    python examples/train_agent/expert_iteration.py terminal --model runs/agent --families permissions --out runs/loop
    python examples/train_agent/expert_iteration.py terminal --model runs/agent --where dream --out runs/loop
    python examples/train_agent/expert_iteration.py terminal --model runs/agent --where guarded --out runs/loop

Each round plays tasks that are new to it. `--where` says who plays the environment: the grounded world, a dream (the
world model of `--dream`), or the dream under a guard, which grounds the steps of which the model is unsure. In a dream
the model also says what won, so evaluate in the grounded world: `agentworld eval agent --agent
transformers:runs/loop/2/model`. `pip install -e '.[train]'` in a clone.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from sft import fine_tune

from agentworld_gym.agents.policies.playing import play
from agentworld_gym.agents.policies.registry import opened_policy
from agentworld_gym.base.statistics.bootstrap import Share
from agentworld_gym.base.statistics.proportions import proportion
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.llm.generators.pretrained.catalog import model_source
from agentworld_gym.recipe.export.exporting import export
from agentworld_gym.recipe.export.reading import recordings


def world(where: str, dream: str, least: float) -> dict[str, Any]:
    """Return the options of a world.

    Args:
        where: `grounded`, `dream` or `guarded`.
        dream: The handle of the world model.
        least: The least probability of an answer of a guarded one.
    """
    if where == "grounded":
        return {"world": "grounded"}
    guard = {"language": {"guard": {"least": least, "remedy": "ground"}}}
    return {"world": dream, **(guard if where == "guarded" else {})}


def sample(options: EnvOptions, agent: str, seeds: range, sampling: dict[str, Any], draw: int, width: int) -> Share:
    """Let an agent play one episode for each seed, into the traces that the options name; return its success."""
    runner = options.runner()
    try:
        with opened_policy(agent, runner.spec, draw, sampling) as policy:
            played = list(play(runner, policy, seeds, wave=width))
    finally:
        runner.close()
    return proportion([one.success for one in played if one.success is not None])


def main(arguments: list[str] | None = None) -> list[Share]:
    """Return the success of the sampled episodes of each round."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("domain", help="the domain, such as terminal")
    parser.add_argument("--model", required=True, help="the model to begin with, which should win now and then")
    parser.add_argument("--engine", choices=["transformers", "vllm"], default="transformers", help="what samples")
    parser.add_argument("--where", choices=["grounded", "dream", "guarded"], default="grounded")
    parser.add_argument("--dream", default="tiny", help="the world model: tiny, a server's URL, vllm:MODEL, ...")
    parser.add_argument("--least", type=float, default=0.9, help="the least probability of an answer of a guarded one")
    parser.add_argument("--families", nargs="+", help="families of tasks; else all")
    parser.add_argument("--levels", nargs="+", type=int, default=[1])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--episodes", type=int, default=128, help="episodes of a round")
    parser.add_argument("--width", type=int, default=64, help="episodes that run at a time")
    parser.add_argument("--turns", type=int, help="actions of an episode at most; else those of the domain")
    parser.add_argument("--temperature", type=float, default=1.0, help="how freely the agent samples")
    parser.add_argument("--tokens", type=int, default=256, help="tokens of an action at most")
    parser.add_argument("--rate", type=float, default=5e-5, help="the learning rate")
    parser.add_argument("--batch", type=int, default=8, help="sessions of a step")
    parser.add_argument("--lora", type=int, default=0, help="the rank of LoRA; 0 trains all weights")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the first task; the others count up")
    parser.add_argument("--out", type=Path, required=True, help="a folder for the rounds")
    chosen = parser.parse_args(arguments)
    if chosen.out.exists():
        parser.error(f"{chosen.out} is there already, and its episodes would be learned as well")

    model, shares = model_source(chosen.model), []
    sampling = {"temperature": chosen.temperature, "max_tokens": chosen.tokens}
    for number in range(chosen.rounds):
        folder = chosen.out / str(number)
        options = EnvOptions(
            spec=chosen.domain,
            families=chosen.families,
            levels=chosen.levels,
            max_steps=chosen.turns,
            traces=str(folder / "traces"),
            **world(chosen.where, chosen.dream, chosen.least),
        )
        first = chosen.seed + number * chosen.episodes
        seeds = range(first, first + chosen.episodes)
        shares.append(sample(options, f"{chosen.engine}:{model}", seeds, sampling, number, chosen.width))
        kept = export(recordings([folder / "traces"]), "chat", folder / "chat").kept
        print(f"round {number}: success {shares[-1]}, {kept} sessions to learn from", flush=True)
        if not kept:
            print("nothing won: begin with easier tasks, or with a model that has imitated some sessions (sft.py)")
            break
        data, trained = folder / "chat", folder / "model"
        fine_tune(model, data, trained, rate=chosen.rate, batch=chosen.batch, lora=chosen.lora, seed=number)
        model = str(trained)
    return shares


if __name__ == "__main__":
    main()
