"""PPO with action masks in one file, in the manner of CleanRL: torch, Gymnasium and nothing hidden.

It trains on one family of the terminal and prints the success on 128 unseen tasks before and after.

python examples/clients/cleanrl_ppo.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

MEMBERS, LENGTH = 16, 32  # Environments, and the steps of each between two updates.
GAMMA, LAMBDA = 0.98, 0.95  # Discount of rewards, and of the advantages of later steps.
EPOCHS, MINIBATCHES, CLIP, ENTROPY = 4, 4, 0.2, 0.02


class Agent(nn.Module):
    """An actor and a critic over vectors; choices that are masked are never drawn."""

    def __init__(self, size: int, choices: int) -> None:
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(size, 64), nn.Tanh(), nn.Linear(64, choices))
        self.critic = nn.Sequential(nn.Linear(size, 64), nn.Tanh(), nn.Linear(64, 1))

    def forward(self, seen: torch.Tensor, mask: torch.Tensor) -> tuple[Categorical, torch.Tensor]:
        """Return the choices as a distribution, and the value."""
        logits = self.actor(seen).masked_fill(mask == 0, -1e8)
        return Categorical(logits=logits), self.critic(seen).squeeze(-1)


def ended(infos: dict[str, Any]) -> list[bool]:
    """Return the success of each episode that ended in a step; where the world failed, nothing is known."""
    final = infos.get("final_info", {})
    return final["success"][final["_success"]].tolist() if "success" in final else []


def success(agent: Agent, envs: Any, episodes: int) -> float:
    """Return the share of episodes that the agent solves when it takes its likeliest choices."""
    observation, infos = envs.reset(seed=0)
    results: list[bool] = []
    while len(results) < episodes:
        with torch.no_grad():
            choice, _ = agent(torch.as_tensor(observation), torch.as_tensor(infos["action_mask"]))
        observation, *_, infos = envs.step(choice.probs.argmax(-1).numpy())
        results += ended(infos)
    return float(np.mean(results))


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


def main(steps: int = 65_536, family: str = "count_lines") -> float:
    # plug in
    import gymnasium as gym

    import agentworld_gym  # noqa: F401

    made = {"num_envs": MEMBERS, "families": [family], "autoreset_mode": "SameStep"}
    envs = gym.make_vec("AgentWorld/TerminalMenu-v0", **made)
    unseen = gym.make_vec("AgentWorld/TerminalMenu-v0", split="test", **made)
    observation, infos = envs.reset(seed=0)
    # end
    torch.manual_seed(0)
    agent = Agent(observation.shape[1], infos["action_mask"].shape[1])
    optimizer = torch.optim.Adam(agent.parameters(), lr=1e-3, eps=1e-5)
    tested = 128 if steps >= 1024 else MEMBERS
    before, results = success(agent, unseen, tested), []
    for _ in range(max(1, steps // (MEMBERS * LENGTH))):
        kept = []
        for _ in range(LENGTH):
            seen, offered = torch.as_tensor(observation), torch.as_tensor(infos["action_mask"])
            with torch.no_grad():
                choice, value = agent(seen, offered)
            action = choice.sample()
            observation, reward, terminated, truncated, infos = envs.step(action.numpy())
            results += ended(infos)
            paid, stop = torch.as_tensor(reward, dtype=torch.float32), torch.as_tensor(terminated | truncated)
            kept.append((seen, offered, action, choice.log_prob(action), value, paid, stop))
        with torch.no_grad():
            _, later = agent(torch.as_tensor(observation), torch.as_tensor(infos["action_mask"]))
        update(agent, optimizer, kept, later)
    after = success(agent, unseen, tested)
    print(f"{family}: {len(results)} episodes; success on unseen tasks {before:.2f} before, {after:.2f} after")
    envs.close()
    unseen.close()
    return after


if __name__ == "__main__":
    main()
