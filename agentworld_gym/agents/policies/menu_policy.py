"""Policies of Stable-Baselines3 that score the entries of a menu by their texts.

`MlpPolicy` ties each output to a place in the menu and has to learn every place on its own.
"""

from __future__ import annotations

from typing import Any

import torch
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.type_aliases import Schedule
from stable_baselines3.dqn.policies import DQNPolicy, QNetwork
from torch import Tensor, nn

from agentworld_gym.agents.policies.menu_network import NEVER, MenuNetwork
from agentworld_gym.base.errors import SpecError


class MenuPolicy(MaskableActorCriticPolicy):
    """Actor and critic of `MaskablePPO`, `PPO` or `A2C` that score the entries of a menu by their texts.

    The probability of an entry depends on its text and on what stands beside it, and not on its place: a menu in
    another order has the same probabilities in that order. Entries that are not on offer are never drawn, whether the
    algorithm takes masks or not.

    Args:
        args: The arguments that every policy of Stable-Baselines3 takes.
        context_size: The `context_size` of the environment's `TextEncoder`; None takes that of the default encoder.
        hidden: The width of the layers.
        use_sde: False, as `PPO` and `A2C` pass it.
        kwargs: The keyword arguments that every policy of Stable-Baselines3 takes.

    Raises:
        SpecError: The observations are not those of an encoder with this `context_size`.

    >>> from stable_baselines3 import PPO
    >>> import agentworld_gym
    >>> model = PPO(MenuPolicy, "AgentWorld/TerminalMenu-v0", n_steps=8, batch_size=8, device="cpu").learn(8)
    """

    def __init__(
        self, *args: Any, context_size: int | None = None, hidden: int = 64, use_sde: bool = False, **kwargs: Any
    ) -> None:
        if use_sde:
            raise SpecError("policy_kwargs", "use_sde", use_sde, "False: choices from a menu have no noise to explore")
        self.context_size, self.hidden = context_size, hidden
        super().__init__(*args, **kwargs)

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return {**super()._get_constructor_parameters(), "context_size": self.context_size, "hidden": self.hidden}

    def _build(self, lr_schedule: Schedule) -> None:
        menu = int(self.action_space.n)  # type: ignore[attr-defined]
        network = MenuNetwork(self.features_dim, menu, self.context_size, self.hidden)
        self.mlp_extractor = network  # type: ignore[assignment]
        self.action_net = nn.Identity()
        self.value_net = nn.Linear(self.hidden, 1)
        options = {"lr": lr_schedule(1), **self.optimizer_kwargs}
        self.optimizer = self.optimizer_class(self.parameters(), **options)


class MenuQPolicy(DQNPolicy):
    """The values of `DQN`, for which every entry of a menu is scored by its text.

    A place that is not on offer has the value of the entry that the environment takes in its stead: the next one on
    offer, or the first one where none follows.

    Args:
        args: The arguments that every policy of Stable-Baselines3 takes.
        context_size: The `context_size` of the environment's `TextEncoder`; None takes that of the default encoder.
        hidden: The width of the layers.
        kwargs: The keyword arguments that every policy of Stable-Baselines3 takes.

    Raises:
        SpecError: The observations are not those of an encoder with this `context_size`.

    >>> from stable_baselines3 import DQN
    >>> import agentworld_gym
    >>> options = {"learning_starts": 4, "buffer_size": 100, "device": "cpu"}
    >>> model = DQN(MenuQPolicy, "AgentWorld/TerminalMenu-v0", **options).learn(8)
    """

    def __init__(self, *args: Any, context_size: int | None = None, hidden: int = 64, **kwargs: Any) -> None:
        self.context_size, self.hidden = context_size, hidden
        super().__init__(*args, **kwargs)

    def make_q_net(self) -> QNetwork:
        """Make a network of values."""
        made = super().make_q_net()
        network = MenuNetwork(made.features_dim, int(made.action_space.n), self.context_size, self.hidden)
        made.q_net = nn.Sequential(network, _Values()).to(self.device)
        return made

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return {**super()._get_constructor_parameters(), "context_size": self.context_size, "hidden": self.hidden}


class _Values(nn.Module):
    """Turns the scores of a `MenuNetwork` into values of all places."""

    def forward(self, computed: tuple[Tensor, Tensor]) -> Tensor:
        """Return the values, of the shape (batch, menu)."""
        scores = computed[0]
        menu = scores.shape[1]
        places = torch.arange(menu, device=scores.device).masked_fill(scores == NEVER, menu)
        following = places.flip(1).cummin(1).values.flip(1)
        first = places.min(1, keepdim=True).values
        return scores.gather(1, torch.where(following == menu, first, following).clamp(max=menu - 1))
