"""The options of language worlds, and what a factory of worlds is given."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Self, get_args

from pydantic import AfterValidator

from agentworld_gym.base.documents.options import ExpectedValue, Options
from agentworld_gym.base.documents.strict import validated
from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.contracts import Generator
from agentworld_gym.core.contracts.verdict import Told
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.core.domain.spec import DomainSpec, Form, Profile, SamplingSpec
from agentworld_gym.core.engines.catalog import has_engine
from agentworld_gym.llm.generators import open_generator
from agentworld_gym.llm.prompting.official import GET, VARIABLE, OfficialPrompts, was_trained_with_them
from agentworld_gym.llm.prompting.prompt import Prompts
from agentworld_gym.llm.prompting.prompt_options import PromptOptions
from agentworld_gym.llm.prompting.state_answers import StateAnswers
from agentworld_gym.llm.training_coverage import Unseen
from agentworld_gym.llm.worldbook import BookAnswers, Worldbook
from agentworld_gym.llm.worldbook.pages import BookPages, must_be_of, open_pages
from agentworld_gym.worlds.checks import CheckOptions, Checks
from agentworld_gym.worlds.grounded import GroundedWorld
from agentworld_gym.worlds.grounded_variants import open_grounded
from agentworld_gym.worlds.guard import Guard, GuardOptions
from agentworld_gym.worlds.language import LanguageWorld, Retrieval, shown_together

log = logging.getLogger(__name__)

FilePath = str | os.PathLike[str]


def _existing_folder(path: FilePath | None) -> FilePath | None:
    if path is not None and OfficialPrompts.named(path) is None and not Path(path).is_dir():
        raise ValueError("there is no such folder")
    return path


@lru_cache(maxsize=64)
def _advise(model: str) -> None:
    """Warn once that a model that was trained with the official prompts reads others."""
    if was_trained_with_them(model):
        advice = f'language={{"prompts": "official"}} takes them, once {GET} has fetched them'
        log.warning("%s was trained with its official prompts, and reads those of this package: %s", model, advice)


class LanguageOptions(Options):
    """How a language world is prompted and sampled: `gym.make(..., language={...})`. No other world needs any of it.

    >>> LanguageOptions(form="change", sampling={"temperature": 0.0}).form
    'change'

    Raises:
        SpecError: A value does not fit.
        UnknownOption: There is no such option.
    """

    profile: Annotated[Profile | None, ExpectedValue(f"one of {', '.join(get_args(Profile))}")] = None
    """Which prompts the model reads, `full` or `compact`. None follows from the model: those that its card names, in
    the form `state` the compact ones, and else the full ones. A small model behind an address has no card to say it."""

    form: Annotated[Form | None, ExpectedValue(f"one of {', '.join(get_args(Form))}")] = None
    """How the model writes the next state: in `full`, as the `change` against the current one, or as the change of the
    structured `state`, from which the domain's view prints the screen (compact prompts, Android). None takes what the
    world prefers, or else the form of the spec."""

    prompts: Annotated[
        FilePath | None,
        AfterValidator(_existing_folder),
        ExpectedValue(
            "a folder of prompt templates, or official:DIR with the official prompts; official alone takes those that "
            f"{GET} fetched, or their folder in the variable {VARIABLE}"
        ),
    ] = None
    """A folder of prompt templates that replace the shipped ones; or `official:DIR`, where DIR is the folder `prompts`
    of a checkout of Qwen-AgentWorld; `official` alone takes the one that `AGENTWORLD_OFFICIAL_PROMPTS` names, or else
    the texts that `agentworld prompts get qwen-agentworld` fetched."""

    system_prompt: Annotated[str | None, ExpectedValue("a text")] = None
    """A ready system prompt, used as it is."""

    sampling: Annotated[Mapping[Any, Any] | None, ExpectedValue("values by name, as in {'temperature': 0.0}")] = None
    """Fields of the spec's sampling to replace, such as `{"temperature": 0.0}`."""

    generator: Annotated[Mapping[Any, Any] | None, ExpectedValue("values by name, as in {'deadline_s': 60}")] = None
    """Options of the generator's class, such as `{"deadline_s": 60}` or `{"max_model_len": 8192}`."""

    retrieval: Annotated[
        FilePath | Mapping[Any, Any] | None, ExpectedValue("the path of an index, or {'path': ..., 'k': 3}")
    ] = None
    """An index that `agentworld index` wrote: each request shows the recorded steps most like the next one. It is a
    path, or a mapping with `path`, `k` (3) and `max_chars` (3000). None shows none."""

    worldbook: Annotated[FilePath | None, ExpectedValue("the path of a worldbook")] = None
    """A worldbook that `agentworld worldbook` wrote: each request shows what it tells of the action, and `checks` take
    its schemas for tools that have none of their own. None shows none."""

    guard: Annotated[Mapping[Any, Any] | None, ExpectedValue("values by name, as in {'least': 0.9}")] = None
    """What to do with answers that the model itself holds to be unlikely: `least` and `remedy` of
    `agentworld_gym.worlds.guard.GuardOptions`. None takes all answers as they are."""

    checks: Annotated[Mapping[Any, Any] | None, ExpectedValue("values by name, as in {'format': False}")] = None
    """What is checked of answers without a model: the fields of `agentworld_gym.worlds.checks.CheckOptions`. An empty
    mapping makes all checks, and None makes none."""

    @classmethod
    def of(cls, given: Any) -> Self:
        """Return the options that a mapping holds by name, or those that are made already; None has none.

        Raises:
            SpecError: It is neither, or a value does not fit.
            UnknownOption: There is no such option.

        >>> LanguageOptions.of({"guard": {"least": 0.9}}).guard
        {'least': 0.9}
        """
        if given is None:
            return cls()
        if isinstance(given, LanguageOptions):
            return given if type(given) is cls else cls(**given.chosen())
        if not isinstance(given, Mapping):
            raise SpecError("options", "language", given, "options by name, as in {'guard': {'least': 0.9}}")
        return cls(**{str(name): value for name, value in given.items()})

    def chosen(self) -> dict[str, Any]:
        """Return the options that have a value, by name.

        >>> LanguageOptions(form="change").chosen()
        {'form': 'change'}
        """
        return {name: value for name in LanguageOptions.model_fields if (value := getattr(self, name)) is not None}

    @classmethod
    def named(cls, field: str) -> str:
        """Return the name that errors have for a field, or for one that does not exist."""
        return field if field in cls.model_fields and field not in LanguageOptions.model_fields else f"language.{field}"


class WorldOptions(LanguageOptions):
    """What a factory of worlds is given: the domain, and how a language world of it is prompted and sampled.

    >>> from agentworld_gym.core.domain.spec import load_spec
    >>> WorldOptions(load_spec("terminal"), profile="compact").templates().profile
    'compact'
    """

    spec: Annotated[DomainSpec, ExpectedValue("the spec of a domain")]
    """The domain."""

    world_options: Mapping[Any, Any] | None = None
    """What only some worlds take; see `agentworld_gym.envs.options.EnvOptions.world_options`."""

    live: Mapping[Any, Any] | FilePath | None = None
    """The configuration of a live system, or the path of its file."""

    def __init__(self, spec: DomainSpec, **options: Any) -> None:
        super().__init__(**{**options, "spec": spec})

    @property
    def scenario(self) -> str | None:
        """The scenario of a world that has several, or the folder of the user's own."""
        return None if self.world_options is None else self.world_options.get("scenario")

    @property
    def folder(self) -> Path | None:
        """The user's folder of prompt templates."""
        return None if self.prompts is None or self.official is not None else Path(self.prompts)

    @property
    def official(self) -> OfficialPrompts | None:
        """The official prompts that the user named."""
        return OfficialPrompts.named(self.prompts)

    def open_generator(self, handle: str) -> Generator:
        """Open the generator that a handle names, with the user's options.

        Raises:
            SpecError: The handle, or the value of an option, is wrong.
            GeneratorError: The generator cannot be made.
        """
        return open_generator(handle, **(self.generator or {}))

    def templates(self, profile: Profile = "full", form: Form | None = None) -> Prompts:
        """Return the prompt templates that the user asked for, or else those that the world prefers.

        The form `state` exists in compact prompts alone, and so names them.
        """
        form = self.form or form
        profile = self.profile or ("compact" if form == "state" else profile)
        options = PromptOptions(profile, form, self.folder, self.system_prompt, official=self.official)
        return Prompts(self.spec, options.for_domain(self.spec.id))

    def language(
        self,
        generator: Generator,
        profile: Profile = "full",
        form: Form | None = None,
        unseen: Unseen | None = None,
        pays: Told | None = None,
        **sampling: Any,
    ) -> LanguageWorld:
        """Return a language world over a generator, with the profile, form and sampling that the world prefers.

        Args:
            generator: The generator.
            profile: The profile that the world prefers.
            form: The form that it prefers.
            unseen: What the training data of its model did not hold, where that is known.
            pays: What the model writes of reward, end and success; None where it writes none.
            **sampling: The fields of the spec's sampling that it replaces.

        Raises:
            SpecError: A sampling field or one of the guard does not exist, or there is no such index of recorded steps.
            WorldNotConfigured: The guard asks for a grounded world, and the domain has none.
        """
        prompts = self.templates(profile, form)
        book = None if self.worldbook is None else open_pages(Path(self.worldbook), prompts)
        world = LanguageWorld(
            self.spec,
            prompts,
            generator,
            self.chosen_sampling(**sampling),
            shown_together(self._open_retrieval(prompts), book),
            self._guard(),
            self._grounded_outcomes(prompts),
            unseen,
            self._checks(book),
            pays,
        )
        if self.prompts is None and self.system_prompt is None and "model" in world.fingerprint.parts:
            _advise(world.fingerprint.parts["model"].value)
        return world

    def by_worldbook(self, book: Worldbook) -> LanguageWorld:
        """Return a language world that a worldbook plays alone; it writes whole observations, whatever is asked for.

        Raises:
            SpecError: The book is one of another domain or dialect, or an option of a generator is given.
            WorldNotConfigured: The guard asks for a grounded world, and the domain has none.
        """
        must_be_of(book, self.spec)
        if self.generator:
            raise SpecError(
                "options", "language.generator", dict(self.generator), "nothing: a worldbook has no options"
            )
        whole = self.model_copy(update={"form": "full", "profile": "full"})
        return whole.language(BookAnswers(book), "full", pays=book.pays, thinking=False, reasks=0)

    def _grounded_outcomes(self, prompts: Prompts) -> GroundedWorld | None:
        """Return the grounded world that knows what tasks change; None where no fields of a state are predicted."""
        answers = prompts.answers
        if not (isinstance(answers, StateAnswers) and answers.accounts and has_engine(self.spec.id)):
            return None
        return open_grounded(self.spec, scenario=self.scenario)

    def _guard(self) -> Guard | None:
        if self.guard is None:
            return None
        options = validated(GuardOptions, self.guard, "options.language.guard")
        grounds = options.remedy == "ground"
        return Guard(options, open_grounded(self.spec, scenario=self.scenario) if grounds else None)

    def _checks(self, book: BookPages | None) -> Checks | None:
        if self.checks is None:
            return None
        options = validated(CheckOptions, self.checks, "options.language.checks")
        return Checks.of(options, self.spec, None if book is None else book.book)

    def _open_retrieval(self, prompts: Prompts) -> Retrieval | None:
        if self.retrieval is None:
            return None
        from agentworld_gym.llm.retrieval.step_retrieval import open_retrieval

        return open_retrieval(self.retrieval, prompts, self.folder)

    def chosen_sampling(self, **preferred: Any) -> Sampling:
        """Return the spec's sampling, replaced by what the world prefers and then by what the user asked for.

        Raises:
            SpecError: A field does not exist, or a value does not fit.
        """
        fields = {**self.spec.sampling.model_dump(), **preferred, **(self.sampling or {})}
        return validated(SamplingSpec, fields, "options.language.sampling").sampling()
