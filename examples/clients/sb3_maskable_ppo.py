"""Stable-Baselines3: MaskablePPO on many environments; most training episodes begin on the expert's way (backplay).

python examples/clients/sb3_maskable_ppo.py
"""

from __future__ import annotations


def main(steps: int = 8192) -> float:
    # plug in
    from sb3_contrib import MaskablePPO

    from agentworld_gym.integrations.sb3 import MenuPolicy, evaluate_policy, make_sb3_env

    tasks = {"families": ["count_lines", "filter_lines"], "levels": [1], "max_steps": 12}
    env = make_sb3_env("AgentWorld/Terminal-v0", num_envs=16, seed=0, backplay=0.8, **tasks)
    settings = {"n_steps": 32, "batch_size": 128, "n_epochs": 6, "learning_rate": 1e-3, "seed": 0}
    model = MaskablePPO(MenuPolicy, env, gamma=0.98, ent_coef=0.02, device="cpu", **settings)
    # end
    unseen = range(min(100, steps // 16))
    before = evaluate_policy(model, "AgentWorld/Terminal-v0", unseen, **tasks).success
    after = evaluate_policy(model.learn(steps), "AgentWorld/Terminal-v0", unseen, **tasks).success
    print(f"success on unseen tasks {before:.2f} before, {after:.2f} after")
    env.close()
    return after


if __name__ == "__main__":
    main()
