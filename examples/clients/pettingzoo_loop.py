"""PettingZoo: two agents in one terminal.

python examples/clients/pettingzoo_loop.py
"""

from __future__ import annotations


def main(steps: int = 20) -> float:
    # plug in
    from agentworld_gym.integrations.pettingzoo import AgentWorldParallelEnv

    env = AgentWorldParallelEnv(2, spec="terminal")
    observations, _infos = env.reset(seed=0)
    # end
    total = 0.0
    for _ in range(steps):
        actions = {agent: env.action_space(agent).sample() for agent in env.agents}  # Your agents act here.
        observations, rewards, *_ = env.step(actions)
        total += sum(rewards.values())
        if not env.agents:
            break
    print(f"{observations}\nreturn {total:.2f}")
    env.close()
    return total


if __name__ == "__main__":
    main()
