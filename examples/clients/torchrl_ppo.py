"""TorchRL: an environment by its id, a masked policy, a collector and PPO's loss.

python examples/clients/torchrl_ppo.py
"""

from __future__ import annotations

import torch
from tensordict.nn import TensorDictModule, TensorDictSequential
from torchrl.collectors import Collector
from torchrl.modules import MLP, MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE


def main(steps: int = 4096, batch: int = 256) -> float:
    # plug in
    from torchrl.envs.libs.gym import GymEnv

    import agentworld_gym  # noqa: F401

    options = {"dict_keys": ["observation", "action_mask"]}
    env = GymEnv("AgentWorld/TerminalMenu-v0", categorical_action_encoding=True, **options)
    # end
    batch, choices = min(batch, steps), env.action_spec.space.n
    network = MLP(out_features=choices, num_cells=[64])
    scores = TensorDictModule(network, in_keys=["observation"], out_keys=["logits"])
    mask = TensorDictModule(lambda offered: offered.bool(), in_keys=["action_mask"], out_keys=["mask"])
    policy = ProbabilisticActor(
        TensorDictSequential(scores, mask),
        in_keys={"logits": "logits", "mask": "mask"},
        distribution_class=MaskedCategorical,
        return_log_prob=True,
    )
    critic = ValueOperator(MLP(out_features=1, num_cells=[64]), in_keys=["observation"])
    first = env.reset()
    policy(first), critic(first)
    loss = ClipPPOLoss(policy, critic, entropy_coeff=0.02)
    advantage = GAE(gamma=0.98, lmbda=0.95, value_network=critic)
    optimizer = torch.optim.Adam(loss.parameters(), lr=1e-3)
    rewards: list[float] = []
    for data in Collector(env, policy, frames_per_batch=batch, total_frames=steps):
        for _ in range(4):
            with torch.no_grad():
                advantage(data)
            found = loss(data)
            total = sum(value for key, value in found.items() if key.startswith("loss_"))
            optimizer.zero_grad()
            total.backward()
            optimizer.step()
        rewards.append(float(data["next", "reward"].sum() / data["next", "done"].sum().clamp(min=1)))
    print(f"return of an episode in the last batch: {rewards[-1]:.2f}")
    env.close()
    return rewards[-1]


if __name__ == "__main__":
    main()
