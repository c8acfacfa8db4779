"""Warm-up: does a language model learn to act sooner if it was a world model before?

    python benchmarks/claims/warm_up.py                    # five seeds; goes on where it was stopped
    python benchmarks/claims/warm_up.py --quick            # a minute, to see that it runs; its figures mean nothing

Small language models of one shape and one vocabulary learn to act in the terminal by imitating the same few expert
sessions, in the same order and by the same steps. Only their starts differ:

- `terminal`: the bundled world model of the terminal, which has seen 44 million tokens of it.
- `search`: the layers of the bundled world model of the search. It can copy, and comes from the model of seven domains,
  which saw the terminal among them under another vocabulary.
- `search, sessions`: these layers after `--tokens` tokens of the terminal, learned as a world model learns.
- `search, plain text`: these layers after as many tokens of the same messages as plain text: each stands in a random
  place of some session, and every token is learned alike, so that nothing can be learned of what follows from what.
- `scratch`: random weights.

A model plays unseen tasks of the grounded terminal every few steps of imitation. It writes commands, with no menu.
Intervals are 95 %, bootstrapped over seeds and episodes.
"""

from __future__ import annotations

import argparse
import copy
import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from agents import GOAL, Kept, heading, mean, one_thread, row, steps_to_goal

from agentworld_gym.contracts import ChatRequest, Failure, Message
from agentworld_gym.domain.sampling import Sampling
from agentworld_gym.domain.spec import load_spec
from agentworld_gym.episodes.episode import Episode
from agentworld_gym.generators import open_generator
from agentworld_gym.generators.pretrained.loading import load_tokenizer
from agentworld_gym.options import EnvOptions
from agentworld_gym.policies.playing import open_policy, play
from agentworld_gym.recipe.collect.config import PolicyName, SmallModelSessions
from agentworld_gym.recipe.collect.recording_file import collect
from agentworld_gym.recipe.data.samples_from_rows import cpt_sample
from agentworld_gym.recipe.training.model import make_model, write_model
from agentworld_gym.recipe.training.model_config import ModelConfig, ModelShape
from agentworld_gym.recipe.training.sft import train
from agentworld_gym.recipe.training.stage_config import SftConfig
from agentworld_gym.sessions.row_reading import read_rows
from agentworld_gym.sessions.samples import Sample, write_samples

TERMINAL = Path(str(resources.files("agentworld_gym"))) / "models" / "tiny-terminal"
SHAPE = ModelShape(hidden_size=192, intermediate_size=512, num_hidden_layers=6)
"""The shape of the bundled models."""
SEARCH = SHAPE.model_copy(update={"rope_theta": 1e7, "max_position_embeddings": 8192})
"""The same with the positions of the bundled model of the search."""
FAMILIES = ("permissions", "copy_move", "find_file")
MIXTURE: dict[PolicyName, float] = {"expert": 0.1, "mixed": 0.15, "menu": 0.25, "explore": 0.25, "blend": 0.25}
"""Who plays the recorded sessions: as for the bundled model."""


class Writer:
    """A language model that writes the next action of an episode."""

    name = "writer"

    def __init__(self, model: Path) -> None:
        self._lease = open_generator(f"transformers:{model}")

    def begin(self, episode: Episode) -> None:
        """Keep nothing: the episode holds what happened."""

    def act(self, episodes: Sequence[Episode], kept: Sequence[None]) -> list[str]:
        """Write the likeliest action of each episode; what cannot be written ends its episode."""
        sampling = Sampling(temperature=0.0, max_tokens=32, thinking=False)
        asked = [ChatRequest(tuple(chat(one.observations, one.actions)), sampling) for one in episodes]
        actions = ["finish"] * len(asked)
        for place, answer in self._lease.submit(asked):
            actions[place] = "finish" if isinstance(answer, Failure) else answer.text
        return actions

    def close(self) -> None:
        """Let go of the model."""
        self._lease.close()


def chat(observations: Sequence[str], actions: Sequence[str]) -> list[Message]:
    """What an agent saw and did, as a chat in which the agent is the assistant."""
    turns = [Message(role="user", content=observations[0])]
    for action, seen in zip(actions, observations[1:], strict=False):
        turns += [Message(role="assistant", content=action), Message(role="user", content=seen)]
    return turns


def options(split: str) -> EnvOptions:
    """The grounded terminal with the tasks to act in."""
    return EnvOptions(spec="terminal", world="grounded", families=list(FAMILIES), levels=[1], split=split, max_steps=8)


def demonstrations(sessions: int) -> list[Sample]:
    """Expert sessions on training tasks, of which the actions are learned."""
    runner = options("train").runner()
    try:
        played = sorted(play(runner, open_policy("expert", runner.spec), range(sessions)), key=lambda one: one.place)
    finally:
        runner.close()
    samples = []
    for one in played:
        turns = [*chat(one.observations, one.actions[:-1]), Message(role="assistant", content=one.actions[-1])]
        weights = [1.0] * len(one.actions)
        samples.append(Sample(id=one.id, domain="terminal", messages=tuple(turns), weights=tuple(weights)))
    return samples


def recorded(file: Path, sessions: int) -> list[Sample]:
    """Sessions of the same families for a world model to learn from, weighed as in its pre-training."""
    config = SmallModelSessions(policies=MIXTURE, levels={1: 1.0}, families=FAMILIES, probe_share=0.6, max_turns=8)
    collect([load_spec("terminal")], file, sessions, 0, config)
    return [cpt_sample(one, context_weight=0.1) for one in read_rows(file)]


def as_plain_text(samples: Sequence[Sample]) -> list[Sample]:
    """The same messages, each in the place of another one with its role, and every token learned alike."""
    draws = random.Random(0)
    contents: dict[str, list[str]] = {}
    for sample in samples:
        for message in sample.messages:
            contents.setdefault(message["role"], []).append(message["content"])
    for texts in contents.values():
        draws.shuffle(texts)
    return [
        sample.model_copy(
            update={
                "messages": tuple(
                    {**message, "content": contents[message["role"]].pop()} for message in sample.messages
                ),
                "weights": (1.0,) * len(sample.weights),
                "context_weight": 1.0,
            }
        )
        for sample in samples
    ]


def configuration(model: Path, samples: Path, seed: int, **budget: Any) -> SftConfig:
    """A short training on one thread at the rates for a model from scratch, whatever it starts from."""
    rates = {"optimizer": "muon+adamw", "muon_lr": 0.02, "adamw_lr": 3e-3, "curriculum": 0.0, "tensorboard": False}
    return SftConfig.model_validate(
        {
            "name": "warm-up",
            "data": {"samples": [str(samples)], "max_tokens": 512, "validation": 0},
            "model": {"path": str(model)},
            "train": {"seed": seed, **rates, **budget},
        }
    )


def made(folder: Path, config: ModelConfig, seed: int) -> Path:
    """A model with the vocabulary of the bundled model of the terminal."""
    tokenizer = load_tokenizer(TERMINAL, local_files_only=True)
    return write_model(make_model(config, tokenizer, seed), tokenizer, folder)


def pretrained(folder: Path, start: Path, samples: Path, tokens: int) -> Path:
    """A model that has learned from sessions."""
    config = configuration(start, samples, 0, max_tokens=tokens, batch_tokens=2048, checkpoint_seconds=600)
    outcome = train(config, folder)
    if outcome.model is None:
        raise KeyboardInterrupt
    return outcome.model


def imitated(start: Path, samples: Path, seed: int, steps: int, every: int, tasks: int) -> dict[str, Any]:
    """Which unseen tasks a model solves after so many steps of imitation."""
    curve: dict[str, str] = {}
    began = time.process_time()
    tokenizer = load_tokenizer(start, local_files_only=True)
    with tempfile.TemporaryDirectory() as name:

        def evaluate(model: Any) -> dict[str, Any]:
            done = every * (len(curve) + 1)
            if done <= steps:
                folder = write_model(copy.deepcopy(model), tokenizer, Path(name) / f"model-{done}")
                curve[str(done)] = played(folder, tasks)
            return {}

        config = configuration(start, samples, seed, max_steps=steps, batch_tokens=512, checkpoint_steps=every)
        train(config, Path(name) / "run", evaluate=evaluate)
    return {"curve": curve, "seconds": round(time.process_time() - began, 1)}


def played(model: Path, tasks: int) -> str:
    """Which unseen tasks a model solves in the grounded terminal, as 1 and 0."""
    runner, writer = options("test").runner(), Writer(model)
    try:
        episodes = sorted(play(runner, writer, range(tasks)), key=lambda one: one.place)
    finally:
        writer.close()
        runner.close()
    return "".join(str(int(bool(one.success))) for one in episodes)


def starts(folder: Path, chosen: argparse.Namespace) -> Iterator[tuple[str, int, int, Path]]:
    """The models to start from: name, tokens of pre-training here, seed, and folder. Pre-training has one seed."""
    sessions, text = folder / "sessions.jsonl", folder / "text.jsonl"
    samples = recorded(folder / "rows.jsonl", chosen.sessions)
    write_samples(sessions, samples)
    write_samples(text, as_plain_text(samples))
    search = made(folder / "search", ModelConfig(shape=SEARCH, layers_of="tiny-search"), 0)
    further = {"sessions": pretrained(folder / "of-sessions", search, sessions, chosen.tokens)}
    further["plain text"] = pretrained(folder / "of-text", search, text, chosen.tokens)
    for seed in chosen.seeds:
        yield "terminal", 0, seed, TERMINAL
        yield "search", 0, seed, search
        for name, model in further.items():
            yield f"search, {name}", chosen.tokens, seed, model
        yield "scratch", 0, seed, made(folder / f"scratch-{seed}", ModelConfig(shape=SHAPE), seed)


def report(runs: Sequence[dict[str, Any]]) -> str:
    """Success after each number of steps, and the steps to the goal, as a table in Markdown."""
    places = list(dict.fromkeys(place for run in runs for place in run["curve"]))
    lines = [heading("start", "seeds", *(f"{place} steps" for place in places), f"steps to {GOAL}, seed by seed")]
    for start in dict.fromkeys(run["start"] for run in runs):
        own = [run for run in runs if run["start"] == start]
        reached = ", ".join(str(steps_to_goal(run) or "–") for run in own)
        lines.append(row(start, len(own), *(mean([run["curve"][place] for run in own]) for place in places), reached))
    return "\n".join(lines)


def main() -> None:
    """Run what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--sessions", type=int, default=300, help="recorded for pre-training")
    parser.add_argument("--tokens", type=int, default=100_000, help="of pre-training")
    parser.add_argument("--experts", type=int, default=150, help="sessions to imitate")
    parser.add_argument("--steps", type=int, default=60, help="of imitation, 512 tokens each")
    parser.add_argument("--every", type=int, default=15, help="steps between two tests")
    parser.add_argument("--tasks", type=int, default=24, help="unseen test tasks")
    parser.add_argument("--folder", type=Path, default=Path("runs/warm_up"), help="where models lie")
    parser.add_argument("--out", type=Path, help="for finished runs; without it --quick keeps none")
    parser.add_argument("--quick", action="store_true", help="one seed and a few steps")
    chosen = parser.parse_args()
    if chosen.quick:
        chosen.seeds, chosen.sessions, chosen.tokens, chosen.experts = [0], 20, 4096, 10
        chosen.steps, chosen.every, chosen.tasks = 2, 2, 2
    one_thread()
    kept, runs = Kept.of("warm_up", chosen), []
    samples = chosen.folder / "demonstrations.jsonl"
    write_samples(samples, demonstrations(chosen.experts))
    sizes = [chosen.experts, chosen.steps, chosen.every, chosen.tasks]
    for start, tokens, seed, model in starts(chosen.folder, chosen):
        key = {"start": start, "seed": seed, "sizes": [tokens, *sizes]}
        runs.append(kept.run(key, lambda m=model, s=seed: imitated(m, samples, s, *sizes[1:])))
    print(report(runs))


if __name__ == "__main__":
    main()
