"""RLlib: PPO with the action masks of its own module, which wants `observations` and `action_mask`.

python examples/clients/rllib_ppo.py
"""

from __future__ import annotations

import ray
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule


def main(steps: int = 2048) -> float:
    ray.init(include_dashboard=False, num_cpus=1, ignore_reinit_error=True)
    # plug in
    import gymnasium as gym
    from ray.tune.registry import register_env

    import agentworld_gym  # noqa: F401

    options = {"dict_keys": ["observations", "action_mask"]}
    register_env("menu", lambda config: gym.make("agentworld_gym:AgentWorld/TerminalMenu-v0", **options, **config))
    config = PPOConfig().environment("menu", env_config={"levels": [1]})
    # end
    config = config.env_runners(num_env_runners=0).learners(num_learners=0)
    module = RLModuleSpec(module_class=ActionMaskingTorchRLModule, model_config={"head_fcnet_hiddens": [64]})
    batch = min(steps, 1024)
    config = config.training(train_batch_size_per_learner=batch, minibatch_size=min(batch, 128), num_epochs=4)
    algorithm = config.rl_module(rl_module_spec=module).build_algo()
    found = 0.0
    for _ in range(max(1, steps // batch)):
        found = float(algorithm.train()["env_runners"]["episode_return_mean"])
    algorithm.stop()
    ray.shutdown()
    print(f"mean return of the last batch: {found:.2f}")
    return found


if __name__ == "__main__":
    main()
