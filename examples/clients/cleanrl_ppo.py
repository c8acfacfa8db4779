"""PPO with action masks in one file, in the manner of CleanRL: torch, Gymnasium and nothing hidden.

It trains on three families of the terminal, and prints the success on 128 unseen tasks before and after. The network
scores every entry of the menu with the same weights: it cannot learn places of the menu, only what entries mean.

python examples/clients/cleanrl_ppo.py [SEED]
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

FAMILIES = ["copy_move", "find_file", "count_lines"]
TESTED = 128
MEMBERS, LENGTH = 16, 32  # Environments, and the steps of each between two updates.
GAMMA, LAMBDA = 0.98, 0.95  # Discount of rewards, and of the advantages of later steps.
EPOCHS, MINIBATCHES, CLIP, ENTROPY = 6, 4, 0.2, 0.02


class Agent(nn.Module):
    """An actor that scores the entries of a menu, and a critic; choices that are masked are never drawn."""

    def __init__(self, encoder: Any, hidden: int = 64) -> None:
        super().__init__()
        # A vector holds what describes the episode, and then every entry of the menu in turn.
        self.parts = [encoder.context_size, encoder.max_menu * encoder.entry_size]
        self.episode = nn.Linear(encoder.context_size, 2 * hidden)
        self.entry, self.mix = nn.Linear(encoder.entry_size, hidden), nn.Linear(hidden, hidden)
        self.summary, self.last = nn.Linear(3 * hidden, 2 * hidden), nn.Linear(hidden, hidden)
        self.score, self.value = nn.Linear(hidden, 1), nn.Linear(hidden, 1)

    def forward(self, seen: torch.Tensor, mask: torch.Tensor) -> tuple[Categorical, torch.Tensor]:
        """Return the choices as a distribution, and the value."""
        episode, entries = seen.split(self.parts, dim=-1)
        context, gate = self.episode(episode).chunk(2, dim=-1)
        own = self.entry(entries.unflatten(-1, (mask.shape[-1], -1))) + context.unsqueeze(-2)
        own = self.mix(own.tanh() * gate.sigmoid().unsqueeze(-2)).relu() * mask.unsqueeze(-1)
        whole = torch.cat([own.sum(-2) / mask.sum(-1, keepdim=True), own.amax(-2), context.tanh()], dim=-1)
        shift, value = self.summary(whole).chunk(2, dim=-1)
        scores = self.score((self.last(own) + shift.unsqueeze(-2)).relu()).squeeze(-1)
        return Categorical(logits=scores.masked_fill(mask == 0, -1e8)), self.value(value.relu()).squeeze(-1)


def success(agent: Agent, envs: Any) -> float:
    """Return the share of first episodes that the agent solves by its likeliest choices; failed worlds do not count."""
    observation, infos = envs.reset(seed=0)
    solved, over = np.full(envs.num_envs, np.nan), np.zeros(envs.num_envs, bool)
    while not over.all():
        with torch.no_grad():
            choice, _ = agent(torch.as_tensor(observation), torch.as_tensor(infos["action_mask"]))
        observation, _, terminated, truncated, infos = envs.step(choice.probs.argmax(-1).numpy())
        final = infos.get("final_info", {})
        known = final.get("_success", False) & (terminated | truncated) & ~over
        solved[known] = final["success"][known] if known.any() else np.nan
        over |= terminated | truncated
    return float(np.nanmean(solved))


def update(agent: Agent, optimizer: torch.optim.Optimizer, kept: list[tuple[torch.Tensor, ...]], later: Any) -> None:
    """Learn from some steps of all members: tensors of shape (LENGTH, MEMBERS, …); `later` is the value after them."""
    seen, offered, action, old, value, paid, stop = (torch.stack(part) for part in zip(*kept, strict=True))
    advantage, gained = torch.zeros_like(paid), torch.zeros(paid.shape[1])
    for step in reversed(range(len(kept))):
        surprise = paid[step] + GAMMA * later * ~stop[step] - value[step]
        gained = surprise + GAMMA * LAMBDA * gained * ~stop[step]
        advantage[step], later = gained, value[step]
    returns = (advantage + value).flatten()
    batch = [part.flatten(0, 1) for part in (seen, offered, action, old, advantage)]
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(returns)).chunk(MINIBATCHES):
            seen, offered, action, old, gain = (part[rows] for part in batch)
            gain = (gain - gain.mean()) / (gain.std() + 1e-8)
            choice, value = agent(seen, offered)
            ratio = (choice.log_prob(action) - old).exp()
            clipped = torch.min(ratio * gain, ratio.clamp(1 - CLIP, 1 + CLIP) * gain).mean()
            loss = (value - returns[rows]).square().mean() / 2 - clipped - ENTROPY * choice.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()


def main(steps: int = 16_384, seed: int = 0) -> float:
    # plug in
    import gymnasium as gym

    import agentworld_gym  # noqa: F401

    made = {"families": FAMILIES, "levels": [1], "max_steps": 12, "autoreset_mode": "SameStep"}
    envs = gym.make_vec("AgentWorld/TerminalMenu-v0", num_envs=MEMBERS, **made)
    tested = min(TESTED, max(MEMBERS, steps // 64))  # A trial of few steps needs no long test.
    unseen = gym.make_vec("AgentWorld/TerminalMenu-v0", num_envs=tested, split="test", **made)
    observation, infos = envs.reset(seed=1000 * seed)
    # end
    torch.manual_seed(seed)
    agent = Agent(envs.encoder)
    optimizer = torch.optim.Adam(agent.parameters(), lr=1e-3, eps=1e-5)
    before = success(agent, unseen)
    for _ in range(max(1, steps // (MEMBERS * LENGTH))):
        kept = []
        for _ in range(LENGTH):
            seen, offered = torch.as_tensor(observation), torch.as_tensor(infos["action_mask"])
            with torch.no_grad():
                choice, value = agent(seen, offered)
            action = choice.sample()
            observation, reward, terminated, truncated, infos = envs.step(action.numpy())
            paid, stop = torch.as_tensor(reward, dtype=torch.float32), torch.as_tensor(terminated | truncated)
            kept.append((seen, offered, action, choice.log_prob(action), value, paid, stop))
        with torch.no_grad():
            _, later = agent(torch.as_tensor(observation), torch.as_tensor(infos["action_mask"]))
        update(agent, optimizer, kept, later)
    after = success(agent, unseen)
    print(f"success on unseen tasks {before:.2f} before, {after:.2f} after")
    envs.close()
    unseen.close()
    return after


if __name__ == "__main__":
    main(seed=int(sys.argv[1]) if len(sys.argv) > 1 else 0)
