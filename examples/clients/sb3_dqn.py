"""Stable-Baselines3: DQN on a few environments; most training episodes begin on the expert's way (backplay).

python examples/clients/sb3_dqn.py
"""

from __future__ import annotations


def main(steps: int = 8192) -> float:
    # plug in
    from stable_baselines3 import DQN

    from agentworld_gym.integrations.sb3 import MenuQPolicy, evaluate_policy, make_sb3_env

    tasks = {"families": ["count_lines", "filter_lines"], "levels": [1], "max_steps": 12}
    env = make_sb3_env("AgentWorld/Terminal-v0", num_envs=4, seed=0, backplay=0.8, **tasks)
    settings = {"buffer_size": 10_000, "batch_size": 64, "learning_rate": 1e-3, "exploration_fraction": 0.6, "seed": 0}
    returns = {"gamma": 0.98, "train_freq": 1, "gradient_steps": 2, "target_update_interval": 250}
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
