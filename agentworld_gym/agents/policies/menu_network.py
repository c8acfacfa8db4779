"""A network that scores menu entries, whatever their order and their names.

A network with one output for each place of the menu has to learn every place on its own. Here all entries go through
the same weights, see a summary of the whole menu, and get one score each. It needs torch alone, so that an algorithm of
any library can take it.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from agentworld_gym.base.errors import SpecError
from agentworld_gym.envs.text_encoder import TextEncoder

NEVER = -1e8
"""The score of an entry that is not on offer."""


class MenuNetwork(nn.Module):
    """Computes the scores of all entries, and a summary of the moment for the value.

    Args:
        size: The length of an observation: that of the vectors which a `TextEncoder` makes.
        menu: The number of places of the menu.
        context_size: The `context_size` of the `TextEncoder`; None takes that of the default encoder.
        hidden: The width of the layers, and of the summary.

    Raises:
        SpecError: No observations of an encoder with this `context_size` have this length.

    >>> encoder = TextEncoder()
    >>> scores, summary = MenuNetwork(encoder.size, encoder.max_menu)(torch.zeros(2, encoder.size))
    >>> tuple(scores.shape), tuple(summary.shape)
    ((2, 16), (2, 64))
    """

    def __init__(self, size: int, menu: int, context_size: int | None = None, hidden: int = 64) -> None:
        super().__init__()
        context_size = TextEncoder().context_size if context_size is None else context_size
        entry_size, rest = divmod(size - context_size, menu)
        if entry_size < 1 or rest:
            expected = f"that of the TextEncoder whose vectors of {menu} entries have {size} numbers"
            raise SpecError("MenuNetwork", "context_size", context_size, expected)
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
        """Return the scores, of the shape (…, menu), and the summary, of the shape (…, hidden).

        An entry that is not on offer has the score `NEVER`, so that an algorithm without masks does not choose it.
        """
        context, gate = self.context(features[..., : self.context_size]).chunk(2, dim=-1)
        entries = features[..., self.context_size :].reshape(*features.shape[:-1], self.menu, self.entry_size)
        there = entries[..., :1]
        own = torch.tanh(context.unsqueeze(-2) + self.entry(entries)) * torch.sigmoid(gate).unsqueeze(-2)
        own = torch.relu(self.mix(own)) * there
        mean = own.sum(-2) / there.sum(-2).clamp(min=1.0)
        shift, value = self.summary(torch.cat([mean, own.amax(-2), torch.tanh(context)], dim=-1)).chunk(2, dim=-1)
        scores = self.score(torch.relu(self.last(own) + shift.unsqueeze(-2))).squeeze(-1)
        return scores.masked_fill(there.squeeze(-1) == 0, NEVER), torch.relu(value)

    def predict(self, vectors: NDArray[np.float32], deterministic: bool = True) -> tuple[NDArray[np.int64], None]:
        """Choose from menus, as `evaluate_policy` asks for it.

        Args:
            vectors: The observations, of the shape (batch, size).
            deterministic: Whether to take the best choice instead of drawing one by its score.

        Returns:
            The place of a choice for each observation, and None, because the network keeps no state.
        """
        with torch.no_grad():
            scores, _ = self(torch.as_tensor(vectors, device=self.score.weight.device))
        choices = scores.argmax(-1) if deterministic else torch.multinomial(scores.softmax(-1), 1).squeeze(-1)
        return choices.cpu().numpy(), None

    def forward_actor(self, features: Tensor) -> Tensor:
        """Return the scores alone."""
        return self(features)[0]  # type: ignore[no-any-return]

    def forward_critic(self, features: Tensor) -> Tensor:
        """Return the summary alone."""
        return self(features)[1]  # type: ignore[no-any-return]
