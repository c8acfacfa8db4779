"""Whole batches of episodes as the rollouts of TRL's `GRPOTrainer`.

    rollout = EnvironmentRollout("AgentWorld/Terminal-v0", levels=[1])
    trainer = GRPOTrainer(
        model=model,
        processing_class=tokenizer,
        args=GRPOConfig(max_completion_length=64),        # the length of one action
        train_dataset=rollout.dataset(range(1000)),
        reward_funcs=environment_reward,
        rollout_func=rollout,
    )

Every episode of a batch goes on as its own answer comes: the model writes in the episodes that are ready at a time,
while the world answers the others. This needs the extra `train`.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import gymnasium as gym

from agentworld_gym.base.errors import SpecError, install
from agentworld_gym.base.text.escaping import escape, unescape
from agentworld_gym.envs.episodes.episode import Episode
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.episodes.step import Transition
from agentworld_gym.envs.episodes.stream import EpisodeStream
from agentworld_gym.llm.generators.special_tokens import TokenRule, rule_of
from agentworld_gym.llm.prompting.agent_prompt import role_of_agent
from agentworld_gym.llm.prompting.parsing import strip_thinking

try:
    from datasets import Dataset
except ImportError as error:
    raise ImportError(f"this needs TRL: {install('train')}") from error

logger = logging.getLogger(__name__)

SEED = "task_seed"
TASK = "task"
IGNORED = -100
"""The label of a token that is not learned."""
WAVE = 256
LIMITS = ("max_turns", "max_tokens", "max_steps")
"""What may cut an episode: the two limits of a rollout, and that of the environment."""

Chat = list[dict[str, Any]]


@dataclass(slots=True)
class TokenRollout:
    """One episode as tokens."""

    prompt: list[int]
    """The tokens of the prompt."""

    episode: Episode
    """The episode."""

    tokens: list[int] = field(default_factory=list)
    """The tokens after the prompt, of the model and of the world."""

    mask: list[int] = field(default_factory=list)
    """1 for each token that the model wrote, and 0 for each that the world wrote."""

    logprobs: list[float] = field(default_factory=list)
    """The log-probability of each token of the model; 0.0 for those of the world."""

    total: float = 0.0
    """The sum of the rewards."""

    success: bool | None = None
    """Whether the task was solved; None where that was not tested."""

    failed: bool = False
    """Whether the world failed."""

    cut: str | None = None
    """The limit that cut the episode, one of `LIMITS`; None where it came to its end, or its world failed."""

    cut_actions: int = 0
    """How many actions were cut, because they reached the trainer's `max_completion_length`."""

    def add(self, tokens: Sequence[int], mask: int, logprobs: Sequence[float] | None = None) -> None:
        """Append tokens of the model (1) or of the world (0)."""
        self.tokens += tokens
        self.mask += [mask] * len(tokens)
        self.logprobs += [0.0] * len(tokens) if logprobs is None else logprobs


class EnvironmentRollout:
    """A `rollout_func` that lets a model act in an environment.

    Every prompt carries the seed of its task, so that all members of a group face the same task. Those of `agentworld
    export --format prompt-only` carry its id too, and are played whatever families, levels and split the environment
    has. A member whose world failed has no reward and no token to learn from. What the world shows is escaped before it
    enters the chat, also by the special tokens of the trainer's tokenizer.

    Beside what TRL asks for, the result holds the columns `environment_return`, `environment_success`,
    `environment_cut` (one of `LIMITS`, or None) and `environment_cut_actions` (a number) for reward functions.

    Args:
        env_id: The id of the environment, as for `gym.make`.
        max_turns: The number of actions after which an episode is cut.
        max_tokens: The number of tokens beyond which the transcript of an episode does not grow; the episode is cut.
        min_ready: The number of episodes to wait for before the model writes again; where fewer are left, all of them.
        system: The system message. None takes `agentworld_gym.agent_prompt`: the domain, how to write an action, the
            tools of the episode's task and how to finish.
        options: The options of `gym.make`, such as `world`, `families`, `levels` and `split`.

    Raises:
        SpecError: An option is wrong.
    """

    def __init__(
        self,
        env_id: str,
        *,
        max_turns: int = 16,
        max_tokens: int = 16_384,
        min_ready: int = 1,
        system: str | None = None,
        **options: Any,
    ) -> None:
        for name, value in (("max_turns", max_turns), ("max_tokens", max_tokens), ("min_ready", min_ready)):
            if value < 1:
                raise SpecError("EnvironmentRollout", name, value, "an integer of at least 1")
        envs: Any = gym.make_vec(env_id, num_envs=1, **options)
        self.runner: EpisodeRunner = envs.unwrapped.runner
        self.max_turns, self.max_tokens, self.min_ready = max_turns, max_tokens, min_ready
        self._rule = TokenRule(())
        self._warned: set[str] = set()
        self.system = system

    def dataset(self, seeds: Sequence[int]) -> Dataset:
        """Return one row a seed: a chat that holds the instruction and what the world shows first."""
        rows = []
        for batch in (seeds[start : start + WAVE] for start in range(0, len(seeds), WAVE)):
            for seed, (episode, observation, _) in zip(batch, self.runner.start(list(batch), {}), strict=True):
                episode.session.close()
                system = self.system
                if system is None:
                    tools = self.runner.tools(episode.task)
                    system = role_of_agent(self.runner.spec, tools, reading=self.runner.reading)
                rows.append(
                    [
                        {"role": "system", "content": system, SEED: None},
                        {"role": "user", "content": escape(observation), SEED: int(seed)},
                    ]
                )
        return Dataset.from_dict({"prompt": rows})

    def __call__(self, prompts: Sequence[Any], trainer: Any) -> dict[str, Any]:
        """Play one episode for each prompt and return what TRL expects of a `rollout_func`.

        Raises:
            SpecError: A prompt carries no seed, or leaves no room for an action within `max_tokens`.
        """
        tokenizer = trainer.processing_class
        ends = {tokenizer.eos_token_id, tokenizer.pad_token_id, *getattr(trainer, "eos_token_ids", ())}
        self._rule = rule_of(tokenizer)
        template = dict(getattr(trainer, "chat_template_kwargs", None) or {})
        started = self._started(prompts)
        rollouts = [
            TokenRollout(
                tokenizer.apply_chat_template(
                    [{"role": turn["role"], "content": self._rule.escape(turn["content"])} for turn in prompt],
                    add_generation_prompt=True,
                    return_dict=True,
                    **template,
                )["input_ids"],
                episode,
            )
            for prompt, (episode, _, _) in zip(prompts, started, strict=True)
        ]
        longest = max((len(rollout.prompt) for rollout in rollouts), default=0)
        if longest >= self.max_tokens:
            for rollout in rollouts:
                rollout.episode.session.close()
            expected = f"more than the {longest} tokens of the prompt"
            raise SpecError("EnvironmentRollout", "max_tokens", self.max_tokens, expected)
        self._play(rollouts, trainer, template, ends)
        self._warn(rollouts)
        return {
            "prompt_ids": [rollout.prompt for rollout in rollouts],
            "completion_ids": [rollout.tokens for rollout in rollouts],
            "logprobs": [rollout.logprobs for rollout in rollouts] if trainer.use_vllm else None,
            "env_mask": [[0] * len(r.mask) if r.failed else r.mask for r in rollouts],
            "environment_return": [None if rollout.failed else rollout.total for rollout in rollouts],
            "environment_success": [rollout.success for rollout in rollouts],
            "environment_cut": [rollout.cut for rollout in rollouts],
            "environment_cut_actions": [rollout.cut_actions for rollout in rollouts],
        }

    def close(self) -> None:
        """Let go of the world."""
        self.runner.close()

    def _started(self, prompts: Sequence[Chat]) -> list[tuple[Episode, str, Any]]:
        """Begin the episodes in one wave; a prompt may name its task."""
        seeds = [seed_of(prompt) for prompt in prompts]
        picked = zip(seeds, map(task_of, prompts), strict=True)
        return self.runner.begin([self.runner.source.pick(seed, {TASK: task}) for seed, task in picked], seeds)

    def _play(
        self, rollouts: Sequence[TokenRollout], trainer: Any, template: Mapping[str, Any], ends: set[int | None]
    ) -> None:
        """Play all episodes to their ends; the model writes in those that are ready at a time."""
        places = {rollout.episode.id: rollout for rollout in rollouts}
        stream = EpisodeStream(self.runner)
        ready = list(rollouts)
        try:
            while ready or stream.under_way:
                if ready:
                    stream.send([rollout.episode for rollout in ready], self._generate_actions(ready, trainer, ends))
                ended = [(places[episode.id], result) for episode, result in stream.recv(self.min_ready)]
                ready = [one for one, result in ended if self._goes_on(one, result, trainer, template)]
        finally:
            stream.close()
            for rollout in rollouts:
                rollout.episode.session.close()

    def _generate_actions(self, ready: Sequence[TokenRollout], trainer: Any, ends: set[int | None]) -> list[str]:
        """Let the model write the next action of each of some episodes."""
        # This is the one generation that serves vLLM and transformers alike; it has no public name in TRL.
        written, logprobs = trainer._generate_single_turn([one.prompt + one.tokens for one in ready], None, {}, 1)
        actions = []
        for place, (rollout, tokens) in enumerate(zip(ready, written, strict=True)):
            rollout.add(tokens, 1, logprobs[place] if logprobs is not None else None)
            rollout.cut_actions += ends.isdisjoint(tokens[-1:])
            text = self._rule.unescape(trainer.processing_class.decode(tokens, skip_special_tokens=True))
            actions.append(unescape(strip_thinking(text).strip()))
        return actions

    def _warn(self, rollouts: Sequence[TokenRollout]) -> None:
        """Warn of each limit when it cuts for the first time; from then on the metrics tell."""
        cut = Counter(rollout.cut for rollout in rollouts if rollout.cut is not None)
        cut["max_completion_length"] = sum(rollout.cut_actions > 0 for rollout in rollouts)
        for limit, number in cut.items():
            if number and limit not in self._warned:
                self._warned.add(limit)
                what = "had an action cut" if limit == "max_completion_length" else "were cut"
                logger.warning("%d of %d episodes %s by %s", number, len(rollouts), what, limit)

    def _goes_on(self, rollout: TokenRollout, result: Transition, trainer: Any, template: Mapping[str, Any]) -> bool:
        """Enter what an action came to, and return whether the model writes another one."""
        rollout.total += result.reward
        rollout.success = result.info.get("success")
        rollout.failed = "failure" in result.info
        if result.terminated or rollout.failed:
            return False
        if result.truncated or rollout.episode.steps >= self.max_turns:
            rollout.cut = "max_steps" if result.truncated else "max_turns"
            return False
        shown = self._rule.escape(escape(result.observation))
        observed = observation_tokens(trainer.processing_class, shown, template)
        if rollout.tokens[-1:] == observed[:1]:
            observed = observed[1:]
        if len(rollout.prompt) + len(rollout.tokens) + len(observed) >= self.max_tokens:
            rollout.cut = "max_tokens"
            return False
        rollout.add(observed, 0)
        return True


def environment_reward(
    completions: Sequence[Any],
    environment_return: Sequence[float | None],
    environment_cut: Sequence[str | None] = (),
    environment_cut_actions: Sequence[int] = (),
    log_metric: Callable[[str, float], None] | None = None,
    **_: Any,
) -> list[Any]:
    """Return the return of each episode; a None, where the world failed, keeps the member out of its group's mean.

    Beside the rewards TRL logs `cut_episodes/max_turns`, `…/max_tokens` and `…/max_steps`, the shares of the episodes
    that these limits cut, and `cut_actions`, the mean number of actions of an episode that `max_completion_length` cut.

    >>> environment_reward(["a", "b"], environment_return=[0.5, None])
    [0.5, None]
    """
    if log_metric is not None and environment_cut:
        for limit in LIMITS:
            log_metric(f"cut_episodes/{limit}", environment_cut.count(limit) / len(environment_cut))
        log_metric("cut_actions", sum(environment_cut_actions) / len(environment_cut))
    return list(environment_return)


def seed_of(prompt: Chat) -> int:
    """Return the task seed that a prompt carries.

    >>> seed_of([{"role": "user", "content": "Do it.", "task_seed": 7}])
    7

    Raises:
        SpecError: The prompt carries none.
    """
    for message in prompt:
        if message.get(SEED) is not None:
            return int(message[SEED])
    raise SpecError(
        "prompt", SEED, None, "a task seed in one of the messages; make rows with EnvironmentRollout.dataset"
    )


def task_of(prompt: Chat) -> str | None:
    """Return the id of the task that a prompt names; None where its seed alone says which task it is."""
    return next((str(message[TASK]) for message in prompt if message.get(TASK) is not None), None)


def session_tokens(
    tokenizer: Any, messages: Sequence[Mapping[str, Any]], template: Mapping[str, Any] | None = None
) -> dict[str, list[int]]:
    """Return a session of `agentworld export --format chat` as the tokens that a rollout makes of an episode.

    `SFTTrainer` takes such rows as they are, whatever the chat template. They are learned where `train` says so, and
    the token that ends a message with it.

    Args:
        tokenizer: The tokenizer, with its chat template.
        messages: The messages of a session, from the system's to the last of the agent.
        template: Arguments for the chat template.

    Returns:
        `input_ids`, and as many `labels`, which are `IGNORED` where nothing is learned.
    """
    rule, template = rule_of(tokenizer), template or {}
    told = [{**message, "content": rule.escape(message["content"])} for message in messages]
    first = next((place for place, message in enumerate(told) if message["role"] == "assistant"), len(told))
    prompt = [{"role": message["role"], "content": message["content"]} for message in told[:first]]
    tokens = list(
        tokenizer.apply_chat_template(prompt, add_generation_prompt=True, return_dict=True, **template)["input_ids"]
    )
    labels = [IGNORED] * len(tokens)
    for place in range(first, len(told), 2):
        shown = observation_tokens(tokenizer, told[place + 1]["content"] if place + 1 < len(told) else "", template)
        written = [*tokenizer(told[place]["content"], add_special_tokens=False)["input_ids"], shown[0]]
        between = shown[1:] if place + 1 < len(told) else []
        tokens += written + between
        labels += (written if told[place]["train"] else [IGNORED] * len(written)) + [IGNORED] * len(between)
    return {"input_ids": tokens, "labels": labels}


def observation_tokens(tokenizer: Any, text: str, template: Mapping[str, Any]) -> list[int]:
    """Return the tokens between two actions: the end of one, the observation, and the start of the next."""
    mark = "ACTION-OF-THE-AGENT"
    chat = [{"role": "user", "content": "."}, {"role": "assistant", "content": mark}, {"role": "user", "content": text}]
    whole = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True, **template)
    tokens: list[int] = tokenizer(whole.partition(mark)[2], add_special_tokens=False)["input_ids"]
    return tokens
