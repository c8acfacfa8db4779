"""The training of MaskablePPO on a menu in one call, with a learning curve and a clean stop.

This needs the extra `sb3`.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agentworld_gym.base.errors import install
from agentworld_gym.base.process.interrupts import remembered_interrupt
from agentworld_gym.integrations.sb3.vec_env import AgentWorldVecEnv

try:
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.callbacks import BaseCallback
except ImportError as error:
    raise ImportError(f"this needs Stable-Baselines3: {install('sb3')}") from error

from agentworld_gym.agents.policies.menu_policy import MenuPolicy

logger = logging.getLogger(__name__)

DEFAULTS: Mapping[str, Any] = {
    "n_steps": 32,
    "batch_size": 128,
    "n_epochs": 6,
    "learning_rate": 1e-3,
    "gamma": 0.98,
    "gae_lambda": 0.95,
    "ent_coef": 0.02,
}
"""The hyperparameters of `MaskablePPO`: short rollouts and many small updates, because an update costs less than the
steps that it saves."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One point of a learning curve: means over the last episodes that began at their start."""

    steps: int
    """The number of environment steps so far."""

    success: float
    """The share of episodes that succeeded."""

    reward: float
    """The mean return."""

    length: float
    """The mean number of steps of an episode."""

    episodes: int
    """The number of episodes so far."""

    seconds: float
    """The seconds since the training began."""


@dataclass
class Training:
    """The result of a training run."""

    model: MaskablePPO
    """The agent, as it was when the training ended."""

    curve: list[CurvePoint] = field(default_factory=list)
    """The learning curve."""

    seconds: float = 0.0
    """The seconds that the training took."""

    interrupted: bool = False
    """Whether Ctrl-C stopped the training."""


class CurveCallback(BaseCallback):
    """A callback that adds a point to the curve after every rollout and reports it; `check` is called every step."""

    def __init__(
        self,
        curve: list[CurvePoint],
        on_progress: Callable[[CurvePoint], None] | None,
        window: int = 300,
        check: Callable[[], None] | None = None,
    ) -> None:
        super().__init__()
        self.curve, self.on_progress, self.check = curve, on_progress, check
        self._recent: deque[tuple[float, float, float]] = deque(maxlen=window)
        self._episodes, self._begun = 0, time.monotonic()

    def _on_step(self) -> bool:
        if self.check:
            self.check()
        for info in self.locals["infos"]:
            if "episode" in info and "failure" not in info and not info.get("backplay"):
                self._episodes += 1
                episode = info["episode"]
                self._recent.append((float(info.get("is_success", False)), episode["r"], episode["l"]))
        return True

    def _on_rollout_end(self) -> None:
        if self._recent:
            success, reward, length = (sum(column) / len(self._recent) for column in zip(*self._recent, strict=True))
            seconds = time.monotonic() - self._begun
            self.curve.append(CurvePoint(self.num_timesteps, success, reward, length, self._episodes, seconds))
            if self.on_progress:
                self.on_progress(self.curve[-1])


def train_ppo(
    env: AgentWorldVecEnv,
    steps: int,
    *,
    seed: int = 0,
    on_progress: Callable[[CurvePoint], None] | None = None,
    algorithm: type[MaskablePPO] = MaskablePPO,
    policy: str | type[MenuPolicy] = MenuPolicy,
    policy_kwargs: Mapping[str, Any] | None = None,
    **hyperparameters: Any,
) -> Training:
    """Train `MaskablePPO` for some steps.

    Ctrl-C ends the training, not the program: what was learned until then is returned.

    Args:
        env: The environment that `make_sb3_env` made.
        steps: The number of environment steps, over all members together.
        seed: The seed of the weights, the sampled actions and the order of minibatches.
        on_progress: The function that is called after every rollout with the last point of the learning curve.
        algorithm: The class `MaskablePPO`, or one made of it, such as `asynchronous(MaskablePPO)`.
        policy: The class `MenuPolicy`, or the name of a stock policy such as `"MlpPolicy"`.
        policy_kwargs: The arguments of the policy.
        hyperparameters: The arguments of `MaskablePPO` that replace those of `DEFAULTS`.
    """
    kwargs = dict(policy_kwargs or {})
    if not isinstance(policy, str):
        kwargs.setdefault("context_size", env.encoder.context_size)
    options = {**DEFAULTS, **hyperparameters}
    model = algorithm(policy, env, seed=seed, device="cpu", policy_kwargs=kwargs, **options)
    training = Training(model)
    begun = time.monotonic()
    try:
        with remembered_interrupt() as check:
            model.learn(steps, callback=CurveCallback(training.curve, on_progress, check=check))
    except KeyboardInterrupt:
        logger.warning(
            "training stopped by hand after %d steps; what was learned until then is kept", model.num_timesteps
        )
        training.interrupted = True
    training.seconds = time.monotonic() - begun
    return training
