"""A policy network that scores menu entries, whatever their order and their names.

`MlpPolicy` ties each output to a place in the menu and has to learn every place on its own. Here all entries go through
the same weights, see a summary of the whole menu, and get one score each.
"""

from __future__ import annotations

from typing import Any

import torch
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.type_aliases import Schedule
from torch import Tensor, nn

from agentworld_gym.errors import SpecError
from agentworld_gym.policies.text_encoder import TextEncoder

NEVER = -1e8
"""The score of an entry that is not on offer."""


class MenuNetwork(nn.Module):
    """Computes the scores of all entries, and a summary of the moment for the value."""

    def __init__(self, menu: int, context_size: int, entry_size: int, hidden: int) -> None:
        super().__init__()
        self.menu, self.context_size, self.entry_size = menu, context_size, entry_size
        self.latent_dim_pi, self.latent_dim_vf = menu, hidden
        self.context = nn.Linear(context_size, 2 * hidden)
        self.entry = nn.Linear(entry_size, hidden)
        self.mix = nn.Linear(hidden, hidden)
        self.summary = nn.Linear(3 * hidden, 2 * hidden)
        self.score = nn.Linear(hidden, 1)
        self.last = nn.Linear(hidden, hidden)
        nn.init.zeros_(self.score.weight)
        nn.init.zeros_(self.score.bias)

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Return the scores, of the shape (batch, menu), and the summary, of the shape (batch, hidden).

        An entry that is not on offer has the score `NEVER`, so that an algorithm without masks does not choose it.
        """
        context, gate = self.context(features[:, : self.context_size]).chunk(2, dim=1)
        entries = features[:, self.context_size :].reshape(-1, self.menu, self.entry_size)
        there = entries[:, :, :1]
        own = torch.tanh(context.unsqueeze(1) + self.entry(entries)) * torch.sigmoid(gate).unsqueeze(1)
        own = torch.relu(self.mix(own)) * there
        mean = own.sum(1) / there.sum(1).clamp(min=1.0)
        shift, value = self.summary(torch.cat([mean, own.amax(1), torch.tanh(context)], dim=1)).chunk(2, dim=1)
        scores = self.score(torch.relu(self.last(own) + shift.unsqueeze(1))).squeeze(2)
        return scores.masked_fill(there.squeeze(2) == 0, NEVER), torch.relu(value)

    def forward_actor(self, features: Tensor) -> Tensor:
        """Return the scores alone."""
        return self(features)[0]  # type: ignore[no-any-return]

    def forward_critic(self, features: Tensor) -> Tensor:
        """Return the summary alone."""
        return self(features)[1]  # type: ignore[no-any-return]


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
        self.context_size = TextEncoder().context_size if context_size is None else context_size
        self.hidden = hidden
        super().__init__(*args, **kwargs)

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return {**super()._get_constructor_parameters(), "context_size": self.context_size, "hidden": self.hidden}

    def _build(self, lr_schedule: Schedule) -> None:
        menu = int(self.action_space.n)  # type: ignore[attr-defined]
        entry_size, rest = divmod(self.features_dim - self.context_size, menu)
        if entry_size < 1 or rest:
            expected = f"that of the TextEncoder whose vectors of {menu} entries have {self.features_dim} numbers"
            raise SpecError("policy_kwargs", "context_size", self.context_size, expected)
        self.mlp_extractor = MenuNetwork(menu, self.context_size, entry_size, self.hidden)  # type: ignore[assignment]
        self.action_net = nn.Identity()
        self.value_net = nn.Linear(self.hidden, 1)
        options = {"lr": lr_schedule(1), **self.optimizer_kwargs}
        self.optimizer = self.optimizer_class(self.parameters(), **options)
