"""TRL: whole batches of episodes as the rollouts of `GRPOTrainer`.

    rollout = EnvironmentRollout("AgentWorld/Terminal-v0", levels=[1])
    trainer = GRPOTrainer(
        model=model,
        processing_class=tokenizer,
        args=GRPOConfig(max_completion_length=64),        # the length of one action
        train_dataset=rollout.dataset(range(1000)),
        reward_funcs=environment_reward,
        rollout_func=rollout,
    )

All episodes of a batch go forward together: one generation and one wave of the world per turn. Needs
the extra `train`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import gymnasium as gym

from agentworld_gym.episodes.episode import Episode
from agentworld_gym.episodes.runner import EpisodeRunner
from agentworld_gym.errors import SpecError, install
from agentworld_gym.generators.special_tokens import TokenRule, rule_of
from agentworld_gym.prompting.agent_prompt import role_of_agent
from agentworld_gym.prompting.parsing import strip_thinking
from agentworld_gym.text.escaping import escape, unescape

try:
    from datasets import Dataset
except ImportError as error:
    raise ImportError(f"this needs TRL: {install('train')}") from error

SEED = "task_seed"
WAVE = 256
Chat = list[dict[str, Any]]


@dataclass(slots=True)
class Rollout:
    """One episode as tokens: `mask` is 1 where the model wrote and 0 where the world did."""

    prompt: list[int]
    episode: Episode
    tokens: list[int] = field(default_factory=list)
    mask: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    total: float = 0.0
    success: bool | None = None
    failed: bool = False

    def add(self, tokens: Sequence[int], mask: int, logprobs: Sequence[float] | None = None) -> None:
        """Append tokens of the model (1) or of the world (0)."""
        self.tokens += tokens
        self.mask += [mask] * len(tokens)
        self.logprobs += [0.0] * len(tokens) if logprobs is None else logprobs


class EnvironmentRollout:
    """A `rollout_func` that lets a model act in an environment.

    Every prompt carries the seed of its task, so all members of a group face the same one. A member whose world failed
    has no reward and no token to learn from. What the world shows is escaped before it enters the chat, by
    the special tokens of the trainer's tokenizer too.

    Args:
        env_id: as for `gym.make`.
        max_turns: an episode is cut after so many actions.
        max_tokens: an episode is cut before its transcript grows beyond this.
        system: the system message; None takes `agentworld_gym.agent_prompt`: the domain, how to write an action, the
            tools of the episode's task and how to finish.
        options: as for `gym.make`: `world`, `families`, `levels`, `split` and the others.
    """

    def __init__(
        self, env_id: str, *, max_turns: int = 16, max_tokens: int = 16_384, system: str | None = None, **options: Any
    ) -> None:
        for name, value in (("max_turns", max_turns), ("max_tokens", max_tokens)):
            if value < 1:
                raise SpecError("EnvironmentRollout", name, value, "an integer of at least 1")
        envs: Any = gym.make_vec(env_id, num_envs=1, **options)
        self.runner: EpisodeRunner = envs.unwrapped.runner
        self.max_turns, self.max_tokens = max_turns, max_tokens
        self._rule = TokenRule(())
        self.system = system

    def dataset(self, seeds: Sequence[int]) -> Dataset:
        """One row a seed: a chat that holds the instruction and what the world shows first."""
        rows = []
        for batch in (seeds[start : start + WAVE] for start in range(0, len(seeds), WAVE)):
            for seed, (episode, observation, _) in zip(batch, self.runner.start(list(batch), {}), strict=True):
                episode.session.close()
                told = self.system
                if told is None:
                    told = role_of_agent(self.runner.spec, self.runner.tools(episode.task))
                rows.append(
                    [
                        {"role": "system", "content": told, SEED: None},
                        {"role": "user", "content": escape(observation), SEED: int(seed)},
                    ]
                )
        return Dataset.from_dict({"prompt": rows})

    def __call__(self, prompts: Sequence[Any], trainer: Any) -> dict[str, Any]:
        """Play one episode for each prompt; what TRL wants of a `rollout_func`.

        Raises:
            SpecError: a prompt carries no seed, or leaves no room for an action within `max_tokens`.
        """
        tokenizer = trainer.processing_class
        self._rule = rule_of(tokenizer)
        template = dict(getattr(trainer, "chat_template_kwargs", None) or {})
        started = self.runner.start([seed_of(prompt) for prompt in prompts], {})
        rollouts = [
            Rollout(
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
        live = rollouts
        for turn in range(self.max_turns):
            live = self._turn(live, trainer, tokenizer, template, last=turn + 1 == self.max_turns)
            if not live:
                break
        for rollout in rollouts:
            rollout.episode.session.close()
        return {
            "prompt_ids": [rollout.prompt for rollout in rollouts],
            "completion_ids": [rollout.tokens for rollout in rollouts],
            "logprobs": [rollout.logprobs for rollout in rollouts] if trainer.use_vllm else None,
            "env_mask": [[0] * len(r.mask) if r.failed else r.mask for r in rollouts],
            "environment_return": [None if rollout.failed else rollout.total for rollout in rollouts],
            "environment_success": [rollout.success for rollout in rollouts],
        }

    def close(self) -> None:
        """Let go of the world."""
        self.runner.close()

    def _turn(
        self, live: Sequence[Rollout], trainer: Any, tokenizer: Any, template: Mapping[str, Any], last: bool
    ) -> list[Rollout]:
        """One action of each episode; those that go on."""
        # The one generation that serves vLLM and transformers alike; it has no public name in TRL.
        written, logprobs = trainer._generate_single_turn([r.prompt + r.tokens for r in live], None, {}, 1)
        actions = []
        for place, (rollout, tokens) in enumerate(zip(live, written, strict=True)):
            rollout.add(tokens, 1, logprobs[place] if logprobs is not None else None)
            text = self._rule.unescape(tokenizer.decode(tokens, skip_special_tokens=True))
            actions.append(unescape(strip_thinking(text).strip()))
        going = []
        for rollout, result in zip(live, self.runner.advance([r.episode for r in live], actions), strict=True):
            rollout.total += result.reward
            rollout.success = result.info.get("success")
            rollout.failed = "failure" in result.info
            if result.terminated or result.truncated or last:
                continue
            shown = observation_tokens(tokenizer, self._rule.escape(escape(result.observation)), template)
            if rollout.tokens[-1:] == shown[:1]:
                shown = shown[1:]
            if len(rollout.prompt) + len(rollout.tokens) + len(shown) < self.max_tokens:
                rollout.add(shown, 0)
                going.append(rollout)
        return going


def environment_reward(completions: Sequence[Any], environment_return: Sequence[float | None], **_: Any) -> list[Any]:
    """The return of each episode; None where the world failed, so that the member stays out of its group's mean.

    >>> environment_reward(["a", "b"], environment_return=[0.5, None])
    [0.5, None]
    """
    return list(environment_return)


def seed_of(prompt: Chat) -> int:
    """The task seed that a prompt carries.

    >>> seed_of([{"role": "user", "content": "Do it.", "task_seed": 7}])
    7

    Raises:
        SpecError: the prompt carries none.
    """
    for message in prompt:
        if message.get(SEED) is not None:
            return int(message[SEED])
    raise SpecError(
        "prompt", SEED, None, "a task seed in one of the messages; make rows with EnvironmentRollout.dataset"
    )


def observation_tokens(tokenizer: Any, text: str, template: Mapping[str, Any]) -> list[int]:
    """What the chat template puts between two actions: the end of one, the observation, the start of the next."""
    mark = "ACTION-OF-THE-AGENT"
    chat = [{"role": "user", "content": "."}, {"role": "assistant", "content": mark}, {"role": "user", "content": text}]
    whole = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True, **template)
    tokens: list[int] = tokenizer(whole.partition(mark)[2], add_special_tokens=False)["input_ids"]
    return tokens
