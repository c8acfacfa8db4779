"""Exactness without decoding: one forward pass over a session tells which of its observations greedy decoding writes.

This is far faster than asking for each step. It needs a model in this process that was trained on whole sessions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.contracts import FailureKind, World
from agentworld_gym.evaluation.fidelity.cases import ReplayCase
from agentworld_gym.evaluation.fidelity.replay import ReplayedStep
from agentworld_gym.llm.rows.samples_from_rows import cpt_sample
from agentworld_gym.llm.rows.turn_weights import Weighting
from agentworld_gym.llm.teacher_forcing import exact_answers
from agentworld_gym.worlds.language import LanguageWorld

AT_ONCE = 32
"""The number of sessions that are tokenized together."""


def exact_steps(
    world: World[Any], cases: Sequence[ReplayCase], on_progress: Callable[[int], None] | None = None
) -> Iterator[ReplayedStep]:
    """Yield every step that a world is asked for, with whether its greedy answer to the true history is exact.

    A step beyond the model's context is a failure, as it is when it is asked for.

    Args:
        world: A language world over a model in this process.
        cases: The sessions.
        on_progress: A function that is called with how many sessions are done.

    Raises:
        SpecError: The world cannot be measured so, as in `folder_of`.
    """
    import torch

    from agentworld_gym.llm.generators.pretrained.loading import load_model, load_tokenizer
    from agentworld_gym.llm.generators.pretrained.progress_bars import without_progress_bars

    folder = folder_of(world)
    tokenizer = load_tokenizer(folder, local_files_only=True)
    with without_progress_bars():
        model: Any = load_model(folder, local_files_only=True)
    model.eval().to("cuda" if torch.cuda.is_available() else "cpu")
    prompts, equal = world.prompts, Weighting(rule="equal")  # type: ignore[attr-defined]
    for start in range(0, len(cases), AT_ONCE):
        # Two recordings may give their sessions the same id, so that the place serves as the name.
        named = [(str(place), case) for place, case in enumerate(cases[start : start + AT_ONCE], start)]
        samples = [cpt_sample(case.row, prompts, equal).model_copy(update={"id": name}) for name, case in named]
        for sample, flags in exact_answers(model, tokenizer, samples, model.config.max_position_embeddings):
            place = int(sample.id)
            for turn, (flag, asked) in enumerate(zip(flags, cases[place].asked, strict=True)):
                if asked:
                    yield ReplayedStep(
                        place, turn, exact=flag, failure=FailureKind.OVERFLOW.value if flag is None else None
                    )
        if on_progress:
            on_progress(min(start + AT_ONCE, len(cases)))


def folder_of(world: World[Any]) -> Path:
    """Return the folder of the model of a world.

    Raises:
        SpecError: The model is not in this process, or it is asked in another way than the sessions are written.
    """
    from agentworld_gym.llm.generators.handles import unwrapped
    from agentworld_gym.llm.generators.transformers import TransformersGenerator

    generator = unwrapped(world.generator) if isinstance(world, LanguageWorld) else None
    if not isinstance(world, LanguageWorld) or not isinstance(generator, TransformersGenerator):
        raise SpecError("options", "quick", True, "a model in this process: --world transformers:DIR, or tiny")
    wrong = {
        "--profile compact": bool(world.prompts.closing),
        "--sampling thinking=false": world.sampling.thinking,
        "no --retrieval and no --worldbook": world.retrieval is not None,
    }
    if missing := [option for option, is_wrong in wrong.items() if is_wrong]:
        raise SpecError("options", "quick", True, f"{', '.join(missing)} with it")
    return generator.path
