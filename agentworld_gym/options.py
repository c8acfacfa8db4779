"""The options that every face takes, and how they become an episode runner."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from agentworld_gym.checks.rubric import RubricJudge
from agentworld_gym.contracts import World
from agentworld_gym.domain.spec import Form, load_spec
from agentworld_gym.domain.task import Split, Task
from agentworld_gym.episodes.runner import EpisodeRunner
from agentworld_gym.errors import SpecError
from agentworld_gym.generators import open_generator
from agentworld_gym.prompting.prompt import Profile
from agentworld_gym.tasks.source import TaskSource
from agentworld_gym.traces.log import TraceLogs
from agentworld_gym.worlds.grounded import GroundedWorld
from agentworld_gym.worlds.language import LanguageWorld
from agentworld_gym.worlds.recorded import RecordedWorld, RecordingWorld
from agentworld_gym.worlds.registry import WorldOptions, open_world
from agentworld_gym.worlds.scripted import ScriptedWorld

_KINDS: Mapping[str, tuple[Any, str]] = {
    "spec": (str | os.PathLike, "a domain's name, the id of its environment, or the path of a spec"),
    "world": (str, "a world, as in world='grounded'"),
    "prompts": (str | os.PathLike | None, "a folder of prompt templates"),
    "system_prompt": (str | None, "a text"),
    "sampling": (Mapping | None, "values by name, as in {'temperature': 0.0}"),
    "generator": (Mapping | None, "values by name, as in {'deadline_s': 60}"),
    "retrieval": (str | os.PathLike | Mapping | None, "the path of an index, or {'path': ..., 'k': 3}"),
    "ledger": (bool | None, "True or False"),
    "judge": (str, "same, none, or a generator's handle"),
    "families": (Sequence | None, "a list of families"),
    "levels": (Sequence, "some of 1, 2, 3"),
    "task": (str | Mapping | Task | None, "an id, or the path of a YAML file"),
    "max_steps": (int | None, "an integer of at least 1"),
    "traces": (str | os.PathLike | None, "a folder"),
    "expect_fingerprint": (str | Mapping | None, "a digest, or the dictionary of a fingerprint"),
}
"""What each option must be, as types and in words; the others are tested where they are used."""


@dataclass(frozen=True, kw_only=True)
class EnvOptions:
    """Everything `gym.make` takes; all of it is JSON.

    Args:
        spec: a domain's name, the id of its environment, or the path of a YAML spec.
        world: who answers; see `agentworld_gym.worlds.open_world`.
        profile: `full` or `compact` prompts; None takes what the world prefers.
        form: how a language world writes the next state, `full` or as the `change` against the current one; None takes
            the spec's.
        ledger: whether a language world writes what changed in the hidden state behind each observation; see
            `agentworld_gym.prompting.ledger`. None means that it does not.
        prompts: another folder of prompt templates.
        system_prompt: a ready system prompt, used as it is.
        sampling: fields of the spec's sampling to replace, such as `{"temperature": 0.0}`.
        generator: options of the generator's class, such as `{"deadline_s": 60}` or `{"max_model_len": 8192}`.
        retrieval: an index that `agentworld index` wrote: each request of a language world shows the recorded steps
            most like the next one. A path, or a mapping with `path`, `k` (3) and `max_chars` (3000); None shows none.
        judge: who scores rubrics: `same` (the world's generator), `none`, or a generator's handle.
        families, levels, split: which generated tasks; None takes all families of the spec.
        task: always this task, by id or path.
        controls: name → strength, for every episode.
        max_steps: step limit; None takes the task's or the spec's.
        traces: a folder for logs; None writes none.
        expect_fingerprint: refuse any other world: a digest, or the dictionary of `Fingerprint.as_dict`.
    """

    spec: str
    world: str = "auto"
    profile: Profile | None = None
    form: Form | None = None
    ledger: bool | None = None
    prompts: str | None = None
    system_prompt: str | None = None
    sampling: Mapping[str, Any] | None = None
    generator: Mapping[str, Any] | None = None
    retrieval: str | Mapping[str, Any] | None = None
    judge: str = "same"
    families: Sequence[str] | None = None
    levels: Sequence[int] = (1,)
    split: Split = "train"
    task: str | None = None
    controls: Mapping[str, float] | None = None
    max_steps: int | None = None
    traces: str | None = None
    expect_fingerprint: str | Mapping[str, Any] | None = None

    def runner(self) -> EpisodeRunner:
        """Open the world and everything around it.

        Raises:
            SpecError: a spec or an option is wrong.
            WorldNotConfigured: the domain has no such world.
            FingerprintMismatch: it is another world than expected.
        """
        for key, (kinds, words) in _KINDS.items():
            value = getattr(self, key)
            loose = (isinstance(value, bool) and key != "ledger") or (
                isinstance(value, str) and key in ("families", "levels")
            )
            if loose or not isinstance(value, kinds):
                raise SpecError("options", key, value, words)
        if self.max_steps is not None and self.max_steps < 1:
            raise SpecError("options", "max_steps", self.max_steps, "an integer of at least 1")
        for key, value, known in (("profile", self.profile, Profile), ("form", self.form, Form)):
            if value not in (None, *get_args(known)):
                raise SpecError("options", key, value, f"one of {', '.join(get_args(known))}")
        spec = load_spec(self.spec)
        source = TaskSource(
            spec,
            names=self.families,
            levels=self.levels,
            split=self.split,
            task=self.task,
            controls=self.controls,
        )
        folder = None if self.prompts is None else Path(self.prompts)
        if folder is not None and not folder.is_dir():
            raise SpecError("options", "prompts", self.prompts, "a folder of prompt templates")
        options = WorldOptions(
            spec,
            self.profile,
            folder,
            self.system_prompt,
            self.sampling,
            self.generator,
            self.form,
            self.retrieval,
            self.ledger,
        )
        options.chosen_sampling()  # a wrong key is told before a model is loaded
        with ExitStack() as opened:
            world = open_world(self.world, options)
            opened.callback(world.close)
            inner = world.inner if isinstance(world, RecordingWorld) else world
            if isinstance(inner, GroundedWorld | ScriptedWorld | RecordedWorld):
                kept = (("form", "has a form"), ("ledger", "keeps a ledger"), ("retrieval", "is shown recorded steps"))
                for key, words in kept:
                    if (value := getattr(self, key)) is not None:
                        raise SpecError("options", key, value, f"None: only a language world {words}, not {self.world}")
            if self.expect_fingerprint is not None:
                world.fingerprint.expect(self.expect_fingerprint)
            judge = self._judge(options, inner)
            if judge is not None:
                opened.callback(judge.generator.close)
            traces = None if self.traces is None else TraceLogs(Path(self.traces), spec.env_id, world.fingerprint)
            runner = EpisodeRunner(spec, world, source, judge=judge, max_steps=self.max_steps, traces=traces)
            opened.pop_all()
        return runner

    def _judge(self, options: WorldOptions, world: World[Any]) -> RubricJudge | None:
        sampling = options.spec.sampling.sampling()
        if self.judge == "same":
            if isinstance(world, LanguageWorld):
                return RubricJudge(world.prompts, world.generator, sampling)
            return None
        if self.judge == "none":
            return None
        return RubricJudge(options.templates(), open_generator(self.judge), sampling)
