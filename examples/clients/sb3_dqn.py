"""Stable-Baselines3: DQN on one environment of menus, by its id.

python examples/clients/sb3_dqn.py
"""

from __future__ import annotations


def main(steps: int = 8192) -> float:
    # plug in
    import gymnasium as gym
    from stable_baselines3 import DQN

    from agentworld_gym.integrations.sb3 import MenuQPolicy, evaluate_policy

    tasks = {"families": ["count_lines", "filter_lines"], "levels": [1], "max_steps": 12}
    env = gym.make("AgentWorld/TerminalMenu-v0", **tasks)
    settings = {"buffer_size": 10_000, "batch_size": 64, "learning_rate": 1e-3, "exploration_fraction": 0.6, "seed": 0}
    returns = {"n_steps": 3, "gamma": 0.98, "train_freq": 2, "target_update_interval": 250}
    model = DQN(MenuQPolicy, env, device="cpu", **settings, **returns)
    # end
    unseen = range(min(100, steps // 16))
    before = evaluate_policy(model, "AgentWorld/Terminal-v0", unseen, **tasks).success
    after = evaluate_policy(model.learn(steps), "AgentWorld/Terminal-v0", unseen, **tasks).success
    print(f"success on unseen tasks {before:.2f} before, {after:.2f} after")
    env.close()
    return after


if __name__ == "__main__":
    main()
