"""PPO in a grounded world, all families or some, against its twin that sees a constant observation.

    python benchmarks/ppo.py                       # the terminal, levels 1 and 2: three seeds, each with its twin
    python benchmarks/ppo.py --domain mcp --levels 1 --max-steps 16
    python benchmarks/ppo.py --steps 20000 --seeds 0 --no-twin
    python benchmarks/ppo.py --train-world tiny --steps 20000 --no-twin    # trained in the dream, tested for real
    python benchmarks/ppo.py --domain mcp --families pay_bill --levels 1 --train-world tiny --no-twin

With `--train-world` the agent never meets the grounded world before its test; it is tested in the dream too.

Both are the same MaskablePPO on the same tasks for the same number of steps, masks included; the twin's vectors are all
zero, menu and instruction included. Each agent plays one episode on each of the unseen test seeds. The twin draws its
choices, because its best choice would be the same one for ever. Intervals are 95 % bootstrap intervals over runs and
episodes.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from agentworld_gym.domain.spec import load_spec
from agentworld_gym.integrations.sb3.evaluate import evaluate_policy
from agentworld_gym.integrations.sb3.ppo import Point, Training, train_ppo
from agentworld_gym.integrations.sb3.vec_env import make_sb3_env
from agentworld_gym.policies.text_encoder import TextEncoder
from agentworld_gym.statistics.bootstrap import bootstrap_interval

WORLDS = {"swe": "grounded:monty"}
"""Where the grounded world has variants: the one that is there on every machine."""

console = Console()


def train(seed: int, arguments: argparse.Namespace, encoder: TextEncoder, label: str) -> Training:
    """One training run with a progress bar."""
    steps, options = arguments.steps, world_options(arguments)
    options = {**options, **dream_options(arguments)}
    env = make_sb3_env(
        env_id(arguments), num_envs=32, seed=1000 * seed, encoder=encoder, backplay=arguments.backplay, **options
    )
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[success]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task(label, total=steps, success="")

        def show(point: Point) -> None:
            progress.update(bar, completed=point.steps, success=f"success {point.success:.2f}")

        training = train_ppo(env, steps, seed=seed, on_progress=show)
    env.close()
    return training


def env_id(arguments: argparse.Namespace) -> str:
    """The environment's id."""
    return load_spec(arguments.domain).env_id


def world_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """What training and evaluation make the environment with."""
    world = WORLDS.get(arguments.domain, "grounded")
    return {
        "world": world,
        "levels": arguments.levels,
        "families": arguments.families,
        "max_steps": arguments.max_steps,
    }


def dream_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """What differs in the world of `--train-world`, if there is one."""
    if not arguments.train_world:
        return {}
    cut = {"sampling": {"max_tokens": arguments.max_tokens}} if arguments.max_tokens else {}
    return {"world": arguments.train_world, **cut}


def measure(seed: int, arguments: argparse.Namespace, blind: bool) -> dict[str, Any]:
    """Train one agent and play the test seeds."""
    encoder = TextEncoder(blind=blind)
    label = f"seed {seed}, {'constant observation' if blind else 'PPO'}"
    training = train(seed, arguments, encoder, label)
    options = world_options(arguments)
    result = evaluate_policy(
        training.model,
        env_id(arguments),
        range(arguments.episodes),
        world=options["world"],
        levels=options["levels"],
        families=options["families"],
        encoder=encoder,
        deterministic=not blind,
    )
    dreamed = None
    if arguments.train_world:
        dreamed = evaluate_policy(
            training.model,
            env_id(arguments),
            range(arguments.dreams),
            levels=options["levels"],
            families=options["families"],
            **dream_options(arguments),
            encoder=encoder,
            deterministic=not blind,
        )
    if arguments.save and not blind:
        training.model.save(arguments.save / f"ppo-{seed}")
    return {
        "seed": seed,
        "steps": training.model.num_timesteps,
        "train_seconds": round(training.seconds, 1),
        "success": result.success,
        "interval": result.interval(),
        "by_family": result.by_family(),
        "successes": result.successes,
        "failures": result.failures,
        "dreamed": dreamed
        and {"success": dreamed.success, "interval": dreamed.interval(), "failures": dreamed.failures},
        "curve": [asdict(point) for point in training.curve],
    }


def table(report: dict[str, list[dict[str, Any]]]) -> Table:
    """Success of each run and of all together."""
    rows = Table("agent", "seed", "steps", "seconds", "success", "95 % interval", "in the dream")
    for agent, runs in report.items():
        for run in runs:
            interval = "{:.3f} to {:.3f}".format(*run["interval"])
            cells = (agent, run["seed"], run["steps"], run["train_seconds"], f"{run['success']:.3f}", interval)
            cells += (_dreamed(run["dreamed"]),)
            rows.add_row(*map(str, cells))
        low, high = bootstrap_interval([run["successes"] for run in runs])
        mean = sum(run["success"] for run in runs) / len(runs)
        rows.add_row(agent, "all", "", "", f"{mean:.3f}", f"{low:.3f} to {high:.3f}")
    return rows


def _dreamed(found: dict[str, Any] | None) -> str:
    return "{:.3f}, {:.3f} to {:.3f}".format(found["success"], *found["interval"]) if found else ""


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--domain", default="terminal")
    parser.add_argument("--train-world", help="where to train, such as `tiny`; the test is in the grounded world")
    parser.add_argument("--dreams", type=int, default=100, help="unseen test seeds in the world of --train-world")
    parser.add_argument("--max-tokens", type=int, help="cut answers of --train-world off there, in its test too")
    parser.add_argument("--levels", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--families", nargs="+", help="of tasks; default: all of the domain")
    parser.add_argument("--max-steps", type=int, default=12, help="step limit in training")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--steps", type=int, default=120_000, help="training steps of each run")
    parser.add_argument("--episodes", type=int, default=200, help="unseen test seeds")
    parser.add_argument(
        "--backplay", type=float, default=0.0, help="share of training episodes begun on the expert's way"
    )
    parser.add_argument("--no-twin", action="store_true", help="leave the constant observation out")
    parser.add_argument("--out", type=Path, help="write everything measured to this JSON file")
    parser.add_argument("--save", type=Path, help="keep the agents in this folder")
    arguments = parser.parse_args()
    if arguments.max_tokens and not arguments.train_world:
        parser.error("--max-tokens: only with --train-world")
    torch.set_num_threads(1)
    report: dict[str, list[dict[str, Any]]] = {"PPO": []}
    if not arguments.no_twin:
        report["constant observation"] = []
    for seed in arguments.seeds:
        for agent, runs in report.items():
            runs.append(measure(seed, arguments, blind=agent != "PPO"))
            if arguments.out:
                arguments.out.write_text(json.dumps(report, indent=1))
    console.print(table(report))


if __name__ == "__main__":
    main()
