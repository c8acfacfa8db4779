"""Stable-Baselines3: MaskablePPO on many environments, one wave of the world a step.

python examples/clients/sb3_maskable_ppo.py
"""

from __future__ import annotations


def main(steps: int = 16_384) -> float:
    # plug in
    from sb3_contrib import MaskablePPO

    from agentworld_gym.integrations.sb3 import evaluate_policy, make_sb3_env

    env = make_sb3_env("AgentWorld/Terminal-v0", num_envs=16, seed=0)
    model = MaskablePPO("MlpPolicy", env, n_steps=min(steps, 64), seed=0, device="cpu").learn(steps)
    result = evaluate_policy(model, "AgentWorld/Terminal-v0", range(20))
    # end
    print(f"success on 20 unseen tasks: {result.success:.2f}")
    env.close()
    return result.success


if __name__ == "__main__":
    main()
