"""One tool server through a live world, and through the official SDK's client alone: steps a second, turn about.

    python benchmarks/speed/live_server_alone.py CONFIG TOOL ARGUMENTS [--steps 300] [--rounds 5]

`CONFIG` is the YAML file of one server that a command starts, TOOL a name of its own, and ARGUMENTS an object in JSON.
Each round plays both; the best of each counts, and the median of the rounds' ratios. The client alone starts the same
command, without a sandbox, checks and messages to an agent.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import time
from pathlib import Path
from typing import Any

import gymnasium as gym
import yaml
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def alone(keys: dict[str, Any], tool: str, arguments: dict[str, Any], steps: int) -> float:
    """Return the steps a second of the client."""
    command = keys["command"]
    parameters = StdioServerParameters(command=command[0], args=command[1:], env={**os.environ, **keys.get("env", {})})
    async with stdio_client(parameters) as streams, ClientSession(*streams) as session:
        await session.initialize()
        await session.call_tool(tool, arguments)
        began = time.perf_counter()
        for _ in range(steps):
            await session.call_tool(tool, arguments)
        return steps / (time.perf_counter() - began)


def live(config: Path, tool: str, arguments: dict[str, Any], steps: int) -> float:
    """Return the steps a second of an environment."""
    env = gym.make("agentworld_gym:AgentWorld/MCP-v0", live=str(config), max_steps=steps + 2)
    try:
        env.reset(seed=0)
        server = env.unwrapped.task.tools[0]["name"].partition("-")[0]  # type: ignore[attr-defined]
        call = json.dumps({"name": f"{server}-{tool}", "arguments": arguments})
        _, _, terminated, truncated, info = env.step(call)
        if terminated or truncated or info.get("action_error"):
            raise SystemExit(f"the call does not work: {info}")
        began = time.perf_counter()
        for _ in range(steps):
            env.step(call)
        return steps / (time.perf_counter() - began)
    finally:
        env.close()


def main() -> None:
    """Measure both, and print them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", type=Path)
    parser.add_argument("tool")
    parser.add_argument("arguments", type=json.loads)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    os.chdir(asked.config.parent)
    config = Path(asked.config.name)
    keys = yaml.safe_load(config.read_text(encoding="utf-8"))
    pairs = [
        (
            live(config, asked.tool, asked.arguments, asked.steps),
            asyncio.run(alone(keys, asked.tool, asked.arguments, asked.steps)),
        )
        for _ in range(asked.rounds)
    ]
    ours, theirs = (max(speeds) for speeds in zip(*pairs, strict=True))
    ratio = statistics.median(first / second for first, second in pairs)
    print(f"load {os.getloadavg()[0]:.0f}; live {ours:.0f} steps/s, alone {theirs:.0f}; median ratio {ratio:.2f}")


if __name__ == "__main__":
    main()
