"""PPO with action masks in one file, in the manner of CleanRL: torch, Gymnasium and nothing hidden.

python examples/clients/cleanrl_ppo.py
"""

from __future__ import annotations

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical


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


def main(steps: int = 16_384, length: int = 32, gamma: float = 0.98, clip: float = 0.2) -> float:
    # plug in
    import gymnasium as gym

    import agentworld_gym  # noqa: F401

    envs = gym.make_vec("AgentWorld/TerminalMenu-v0", num_envs=16, autoreset_mode="SameStep")
    observation, infos = envs.reset(seed=0)
    mask = infos["action_mask"]
    # end
    torch.manual_seed(0)
    agent = Agent(observation.shape[1], mask.shape[1])
    optimizer = torch.optim.Adam(agent.parameters(), lr=1e-3)
    ended: list[float] = []
    for _ in range(max(1, steps // (16 * length))):
        kept: list[tuple[torch.Tensor, ...]] = []
        for _ in range(length):
            seen, offered = torch.as_tensor(observation), torch.as_tensor(mask)
            with torch.no_grad():
                choice, value = agent(seen, offered)
            action = choice.sample()
            observation, reward, terminated, truncated, infos = envs.step(action.numpy())
            mask = infos["action_mask"]
            over = terminated | truncated
            if "final_info" in infos and "success" in infos["final_info"]:
                ended += infos["final_info"]["success"][infos["final_info"]["_success"]].tolist()
            paid, stop = torch.as_tensor(reward, dtype=torch.float32), torch.as_tensor(over)
            kept.append((seen, offered, action, choice.log_prob(action), value, paid, stop))
        with torch.no_grad():
            later = agent(torch.as_tensor(observation), torch.as_tensor(mask))[1]
        seen, offered, action, old, value, paid, stop = (torch.stack(part) for part in zip(*kept, strict=True))
        returns = torch.zeros_like(paid)
        for step in reversed(range(length)):
            later = paid[step] + gamma * later * ~stop[step]
            returns[step] = later
        advantage = returns - value
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        for _ in range(4):
            choice, value = agent(seen, offered)
            ratio = (choice.log_prob(action) - old).exp()
            gain = torch.min(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage)
            loss = (value - returns).square().mean() / 2 - gain.mean() - 0.02 * choice.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    envs.close()
    success = float(np.mean(ended[-200:])) if ended else float("nan")
    print(f"success of the last {len(ended[-200:])} episodes: {success:.2f}")
    return success


if __name__ == "__main__":
    main()
