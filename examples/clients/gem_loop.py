"""GEM: one loop over a vector environment, as its trainers write it.

python examples/clients/gem_loop.py
"""

from __future__ import annotations


def main(steps: int = 200) -> float:
    # plug in
    import gem

    from agentworld_gym.integrations.gem import register_envs

    register_envs()
    envs = gem.make_vec(["AgentWorld/Terminal-v0"] * 4, async_mode=True)
    # end
    observations, infos = envs.reset(seed=0)
    total, solved = 0.0, 0
    for _ in range(max(1, steps // 4)):
        actions = [env.sample_random_action() for env in envs.envs]  # Your model answers the observations here.
        observations, rewards, _terminated, _truncated, infos = envs.step(actions)
        total += float(rewards.sum())
        solved += sum(info.get("prev_ep_success", False) for info in infos)
    print(f"{observations[0]}\nreturn {total:.2f}, {solved} episodes solved")
    for env in envs.envs:
        env.close()
    return total


if __name__ == "__main__":
    main()
