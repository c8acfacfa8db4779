"""TorchRL: an environment by its id, a collector, PPO's loss, and a network that scores the entries of the menu.

python examples/clients/torchrl_ppo.py
"""

from __future__ import annotations

import torch
from tensordict.nn import TensorDictModule, TensorDictSequential
from torch.distributions import Categorical
from torchrl.collectors import Collector
from torchrl.modules import ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE


def main(steps: int = 8192, batch: int = 512) -> float:
    # plug in
    from torchrl.envs.libs.gym import GymEnv

    from agentworld_gym.integrations.sb3 import MenuNetwork, evaluate_policy

    tasks = {"families": ["count_lines", "filter_lines"], "levels": [1], "max_steps": 12}
    env = GymEnv("agentworld_gym:AgentWorld/TerminalMenu-v0", categorical_action_encoding=True, **tasks)
    size, choices = env.observation_spec["observation"].shape[-1], env.action_spec.space.n
    network, judge = MenuNetwork(size, choices), MenuNetwork(size, choices)
    # end
    torch.manual_seed(0)
    env.set_seed(0)
    scores = TensorDictModule(network, in_keys=["observation"], out_keys=["logits", "summary"])
    policy = ProbabilisticActor(scores, in_keys=["logits"], distribution_class=Categorical, return_log_prob=True)
    summary = TensorDictModule(judge, in_keys=["observation"], out_keys=["scores", "moment"])
    critic = TensorDictSequential(summary, ValueOperator(torch.nn.Linear(64, 1), in_keys=["moment"]))
    loss = ClipPPOLoss(policy, critic, entropy_coeff=0.02, critic_coeff=0.5, normalize_advantage=True)
    advantage = GAE(gamma=0.98, lmbda=0.95, value_network=critic)
    optimizer = torch.optim.Adam(loss.parameters(), lr=1e-3)
    unseen = range(min(100, steps // 16))
    before = evaluate_policy(network, "AgentWorld/Terminal-v0", unseen, **tasks).success
    for data in Collector(env, policy, frames_per_batch=min(batch, steps), total_frames=steps):
        with torch.no_grad():
            advantage(data)
        for rows in [rows for _ in range(6) for rows in torch.randperm(len(data)).split(128)]:
            found = loss(data[rows])
            total = sum(value for key, value in found.items() if key.startswith("loss_"))
            optimizer.zero_grad()
            total.backward()
            torch.nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
            optimizer.step()
    after = evaluate_policy(network, "AgentWorld/Terminal-v0", unseen, **tasks).success
    print(f"success on unseen tasks {before:.2f} before, {after:.2f} after")
    env.close()
    return after


if __name__ == "__main__":
    main()
