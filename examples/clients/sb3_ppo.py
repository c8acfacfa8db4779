"""Stable-Baselines3: PPO on one environment of menus, by its id.

python examples/clients/sb3_ppo.py
"""

from __future__ import annotations


def main(steps: int = 4096) -> float:
    # plug in
    from stable_baselines3 import PPO

    import agentworld_gym  # noqa: F401
    from agentworld_gym.integrations.sb3 import evaluate_policy

    model = PPO("MlpPolicy", "AgentWorld/TerminalMenu-v0", n_steps=min(steps, 64), seed=0, device="cpu").learn(steps)
    result = evaluate_policy(model, "AgentWorld/Terminal-v0", range(20))
    # end
    print(f"success on 20 unseen tasks: {result.success:.2f}")
    return result.success


if __name__ == "__main__":
    main()
