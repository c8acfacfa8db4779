"""Two agents in one shell: half the rounds, unless they step on each other's toes.

    python examples/many_agents/two_in_one_shell.py

A list of jobs, each in a folder of its own, is done by one agent, by two who change the folder of the shell that they
share, and by two who name files by their paths. All three are scripted, and all do the same work.
"""

from __future__ import annotations

import argparse
import random

from agentworld_gym.integrations.pettingzoo import AgentWorldParallelEnv

JOBS = 6


def task(seed: int) -> dict[str, object]:
    """A task of several jobs: write a word into a file of each folder."""
    words = random.Random(seed).sample(["amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath"], JOBS)
    files = {f"/home/dev/{word}/.keep": "" for word in words}
    checks = [{"probe": f"cat /home/dev/{word}/out.txt", "expect": {"equals": word}} for word in words]
    return {"instruction": " ".join(words), "state": {"files": files}, "success": checks}


def by_folder(word: str) -> list[str]:
    """A job in two commands: go to the folder, then write."""
    return [f"cd /home/dev/{word}", f"echo {word} > out.txt"]


def by_path(word: str) -> list[str]:
    """A job in two commands that depend on no folder: look, then write."""
    return [f"ls /home/dev/{word}", f"echo {word} > /home/dev/{word}/out.txt"]


def play(agents: int, style: object, seed: int) -> tuple[float, int, float]:
    """Play one episode; return the share of jobs that are done, the rounds, and the return of one agent."""
    env = AgentWorldParallelEnv(agents, spec="terminal", world="grounded")
    _, infos = env.reset(seed=seed, options={"task": task(seed)})
    words = infos["agent_0"]["instruction"].split()
    lists = {
        agent: [command for word in words[place::agents] for command in style(word)]
        for place, agent in enumerate(env.agents)
    }
    rounds, total = 0, 0.0
    while env.agents:
        actions = {agent: lists[agent].pop(0) if lists[agent] else "finish" for agent in env.agents}
        _, rewards, _, _, infos = env.step(actions)
        rounds, total = rounds + 1, total + rewards["agent_0"]
    env.close()
    return infos["agent_0"]["score"], rounds, total


def main(episodes: int = 50) -> dict[str, tuple[float, float, float]]:
    """Print and return, for each way to work, the mean share of jobs done, rounds and return."""
    ways = {
        "one agent, by folder": (1, by_folder),
        "one agent, by path": (1, by_path),
        "two agents, by folder": (2, by_folder),
        "two agents, by path": (2, by_path),
    }
    results = {}
    print("| who | jobs done | rounds | return |\n|---|---|---|---|")
    for name, (agents, style) in ways.items():
        played = [play(agents, style, seed) for seed in range(episodes)]
        done, rounds, total = (sum(column) / episodes for column in zip(*played, strict=True))
        results[name] = (done, rounds, total)
        print(f"| {name} | {done:.2f} | {rounds:.1f} | {total:.2f} |")
    return results


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=50)
    main(parser.parse_args().episodes)
