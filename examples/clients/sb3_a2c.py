"""Stable-Baselines3: A2C on a few environments; most training episodes begin on the expert's way (backplay).

python examples/clients/sb3_a2c.py
"""

from __future__ import annotations


def main(steps: int = 16_384) -> float:
    # plug in
    from stable_baselines3 import A2C

    from agentworld_gym.integrations.sb3 import MenuPolicy, evaluate_policy, make_sb3_env

    tasks = {"families": ["count_lines", "filter_lines"], "levels": [1], "max_steps": 12}
    env = make_sb3_env("AgentWorld/Terminal-v0", num_envs=8, seed=0, backplay=0.8, **tasks)
    settings = {"n_steps": 4, "learning_rate": 1e-3, "gamma": 0.98, "gae_lambda": 0.95, "ent_coef": 0.02, "seed": 0}
    model = A2C(MenuPolicy, env, use_rms_prop=False, device="cpu", **settings)
    # end
    unseen = range(min(100, steps // 16))
    before = evaluate_policy(model, "AgentWorld/Terminal-v0", unseen, **tasks).success
    after = evaluate_policy(model.learn(steps), "AgentWorld/Terminal-v0", unseen, **tasks).success
    print(f"success on unseen tasks {before:.2f} before, {after:.2f} after")
    env.close()
    return after


if __name__ == "__main__":
    main()
