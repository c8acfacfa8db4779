"""PPO in a grounded world or in a dream, all families or some, tested on unseen tasks of the grounded world.

    python benchmarks/research/ppo.py  # the terminal, levels 1 and 2: three seeds, each with its twin
    python benchmarks/research/ppo.py --domain mcp --levels 1 --max-steps 16
    python benchmarks/research/ppo.py --steps 20000 --seeds 0 --no-twin
    python benchmarks/research/ppo.py --train-worlds grounded tiny --steps 20000 --no-twin  # for real, and in the dream
    # the same in several domains
    python benchmarks/research/ppo.py --runs benchmarks/research/dreams.yaml --out runs/dreams
    python benchmarks/research/ppo.py --runs benchmarks/research/dreams.yaml --domains terminal \\
        --train-worlds tiny --guard 0.9

An agent that is trained in a dream never meets the grounded world before its test; it is tested in its dream too. The
twin is the same MaskablePPO on the same tasks for the same number of steps, masks included; its vectors are all zero,
menu and instruction included. It draws its choices, because its best choice would be the same one for ever. Each agent
plays one episode on each of the unseen test seeds. Intervals are 95 % bootstrap intervals over runs and episodes. With
`--out` each run is kept when it ends, and what was kept is not run again.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import torch
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from agentworld_gym.base.documents.strict import read_yaml
from agentworld_gym.base.statistics.bootstrap import bootstrap_interval
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.envs.episodes.step import Transition
from agentworld_gym.envs.text_encoder import TextEncoder
from agentworld_gym.integrations.sb3.evaluate import evaluate_policy
from agentworld_gym.integrations.sb3.ppo import DEFAULTS, CurvePoint, Training, train_ppo
from agentworld_gym.integrations.sb3.vec_env import make_sb3_env

WORLDS = {"swe": "grounded:monty"}
"""Where the grounded world has variants: the one that is there on every machine."""

GROUNDED = "grounded"

console = Console()


def train(seed: int, world: str, arguments: argparse.Namespace, encoder: TextEncoder, label: str) -> Trained:
    """One training run with a progress bar."""
    counted: Counter[str] = Counter()

    def count(_: object, transition: Transition) -> None:
        counted["steps"] += 1
        for probe, times in transition.info.get("probes", {}).items():
            counted[f"probes {probe}"] += times
        if "source" in transition.info:
            counted[transition.info["source"]] += 1
        if "failure" in transition.info:
            counted[f"failed: {transition.info['failure']['kind']}"] += 1

    env = make_sb3_env(
        env_id(arguments),
        num_envs=arguments.envs,
        seed=1000 * seed,
        encoder=encoder,
        backplay=arguments.backplay,
        bootstrap_at_limit=arguments.bootstrap_at_limit,
        max_steps=arguments.max_steps,
        **tasks(arguments),
        **world_options(world, arguments),
    )
    env.runner.listeners.append(count)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[success]}"),
        TimeRemainingColumn(),
    )
    began = time.process_time()
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task(label, total=arguments.steps, success="")

        def show(point: CurvePoint) -> None:
            progress.update(bar, completed=point.steps, success=f"success {point.success:.2f}")

        training = train_ppo(
            env,
            arguments.steps,
            seed=seed,
            on_progress=show,
            n_steps=arguments.rollout,
            n_epochs=arguments.epochs,
        )
    env.close()
    return Trained(training, counted, time.process_time() - began)


class Trained(NamedTuple):
    """A training run."""

    training: Training
    """The agent, with its curve."""

    counted: Counter[str]
    """How many steps the world took, those played ahead included, and how many of them were grounded or failed."""

    processor_seconds: float
    """The processor's time."""


def env_id(arguments: argparse.Namespace) -> str:
    """The environment's id."""
    return load_spec(arguments.domain).env_id


def tasks(arguments: argparse.Namespace) -> dict[str, Any]:
    """The tasks of training and of tests."""
    return {"levels": arguments.levels, "families": arguments.families}


def world_options(world: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """What an environment of a world is made with."""
    if world == GROUNDED:
        return {"world": WORLDS.get(arguments.domain, GROUNDED)}
    cut = {"sampling": {"max_tokens": arguments.max_tokens}} if arguments.max_tokens else {}
    guard = {"guard": {"least": arguments.guard, "remedy": arguments.remedy}} if arguments.guard else {}
    return {"world": world, "language": {**arguments.language, **cut, **guard}}


def measure(seed: int, world: str, arguments: argparse.Namespace, blind: bool) -> dict[str, Any]:
    """Train one agent and play the test seeds."""
    encoder = TextEncoder(blind=blind)
    label = f"{arguments.domain}, seed {seed}, {name_of(world, blind)}"
    trained = train(seed, world, arguments, encoder, label)
    training = trained.training
    shared = {**tasks(arguments), "encoder": encoder, "deterministic": not blind}
    episodes, real = range(arguments.episodes), world_options(GROUNDED, arguments)
    result = evaluate_policy(training.model, env_id(arguments), episodes, **real, **shared)
    dreamed = None
    if world != GROUNDED and arguments.dreams:
        options = world_options(world, arguments)
        dreamed = evaluate_policy(training.model, env_id(arguments), range(arguments.dreams), **options, **shared)
    if arguments.save and not blind:
        training.model.save(arguments.save / f"ppo-{seed}")
    return {
        "seed": seed,
        "steps": training.model.num_timesteps,
        "train_seconds": round(training.seconds, 1),
        "processor_seconds": round(trained.processor_seconds, 1),
        "counted": dict(trained.counted),
        "success": result.success,
        "interval": result.interval(),
        "by_family": result.by_family(),
        "successes": result.successes,
        "failures": result.failures,
        "dreamed": dreamed
        and {"success": dreamed.success, "interval": dreamed.interval(), "failures": dreamed.failures},
        "curve": [asdict(point) for point in training.curve],
    }


def name_of(world: str, blind: bool) -> str:
    """The name of an agent in the report."""
    if blind:
        return "constant observation"
    return "PPO" if world == GROUNDED else f"PPO in {world}"


def table(title: str, report: dict[str, list[dict[str, Any]]]) -> Table:
    """Success of each run and of all together."""
    rows = Table("agent", "seed", "steps", "CPU s", "success", "95 % interval", "in the dream", title=title)
    for agent, runs in report.items():
        for run in runs:
            interval = "{:.3f} to {:.3f}".format(*run["interval"])
            cells = (agent, run["seed"], run["steps"], run["processor_seconds"], f"{run['success']:.3f}", interval)
            cells += (_dreamed(run["dreamed"]),)
            rows.add_row(*map(str, cells))
        low, high = bootstrap_interval([run["successes"] for run in runs])
        mean = sum(run["success"] for run in runs) / len(runs)
        share = f"{mean / real:.2f} of the grounded" if agent != "PPO" and (real := _mean(report.get("PPO"))) else ""
        rows.add_row(agent, "all", "", "", f"{mean:.3f}", f"{low:.3f} to {high:.3f}", share)
    return rows


def _mean(runs: list[dict[str, Any]] | None) -> float:
    return sum(run["success"] for run in runs) / len(runs) if runs else 0.0


def _dreamed(found: dict[str, Any] | None) -> str:
    return "{:.3f}, {:.3f} to {:.3f}".format(found["success"], *found["interval"]) if found else ""


def run(arguments: argparse.Namespace, kept: Path | None) -> None:
    """Train and test what is not kept yet, and print the table."""
    report: dict[str, list[dict[str, Any]]] = json.loads(kept.read_text()) if kept and kept.is_file() else {}
    agents = [(world, False) for world in arguments.train_worlds]
    if not arguments.no_twin:
        agents.append((arguments.train_worlds[0], True))
    for seed in arguments.seeds:
        for world, blind in agents:
            runs = report.setdefault(name_of(world, blind), [])
            if seed in [run["seed"] for run in runs]:
                continue
            runs.append(measure(seed, world, arguments, blind))
            if kept:
                kept.parent.mkdir(parents=True, exist_ok=True)
                kept.write_text(json.dumps(report, indent=1))
    console.print(table(arguments.domain, report))


def parser_with(defaults: Mapping[str, Any]) -> argparse.ArgumentParser:
    """The parser of the command line, with other defaults for some options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--domain", default="terminal")
    parser.add_argument(
        "--train-worlds", nargs="+", default=[GROUNDED], help="where to train: grounded, tiny, or another dream"
    )
    parser.add_argument("--runs", type=Path, help="a YAML file of options by domain, all of which are run")
    parser.add_argument("--domains", nargs="+", help="those of --runs; default: all")
    parser.add_argument("--dreams", type=int, default=100, help="unseen test seeds in a dream")
    parser.add_argument("--max-tokens", type=int, help="cut answers of a dream off there, in its test too")
    parser.add_argument("--guard", type=float, help="the least probability of an answer of a dream")
    parser.add_argument("--remedy", choices=["end", "ground"], default="end", help="what to do with less likely ones")
    parser.add_argument("--levels", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--families", nargs="+", help="of tasks; default: all of the domain")
    parser.add_argument("--max-steps", type=int, default=12, help="step limit in training")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--steps", type=int, default=120_000, help="training steps of each run")
    parser.add_argument("--envs", type=int, default=32, help="environments of a wave")
    parser.add_argument("--rollout", type=int, default=DEFAULTS["n_steps"], help="steps of each environment in one")
    parser.add_argument("--epochs", type=int, default=DEFAULTS["n_epochs"], help="of each rollout")
    parser.add_argument("--episodes", type=int, default=200, help="unseen test seeds")
    parser.add_argument(
        "--backplay", type=float, default=0.0, help="share of training episodes begun on the expert's way"
    )
    parser.add_argument(
        "--bootstrap-at-limit",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="whether the value of what would come after the step limit counts",
    )
    parser.add_argument("--no-twin", action="store_true", help="leave the constant observation out")
    parser.add_argument("--out", type=Path, help="keep what is measured in this JSON file; with --runs, a folder")
    parser.add_argument("--save", type=Path, help="keep the agents in this folder")
    parser.set_defaults(language={})
    if unknown := defaults.keys() - vars(parser.parse_args([])).keys():
        parser.error(f"there is no option {min(unknown)}")
    parser.set_defaults(**defaults)
    return parser


def main() -> None:
    """Run it; what the command line says comes before what the file of --runs says."""
    arguments = parser_with({}).parse_args()
    torch.set_num_threads(1)
    if arguments.runs is None:
        run(arguments, arguments.out)
        return
    for domain, options in read_yaml(arguments.runs).items():
        if arguments.domains is None or domain in arguments.domains:
            chosen = parser_with({**options, "domain": domain}).parse_args()
            run(chosen, chosen.out and chosen.out / f"{domain}.json")


if __name__ == "__main__":
    main()
