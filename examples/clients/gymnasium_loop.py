"""Gymnasium alone: a loop over text, and one over many members at once.

python examples/clients/gymnasium_loop.py
"""

from __future__ import annotations


def main(steps: int = 200) -> float:
    # plug in
    import gymnasium as gym

    import agentworld_gym  # noqa: F401

    envs = gym.make_vec("AgentWorld/Terminal-v0", num_envs=8)
    # end
    observations, infos = envs.reset(seed=0)
    total = 0.0
    for _ in range(max(1, steps // 8)):
        actions = envs.action_space.sample()  # Your agent makes texts from observations and infos.
        observations, rewards, _terminated, _truncated, infos = envs.step(actions)
        total += float(rewards.sum())
    print(f"{observations[0]}\nreturn {total:.2f} over {infos['steps'].sum()} steps of the episodes under way")
    envs.close()
    return total


if __name__ == "__main__":
    main()
