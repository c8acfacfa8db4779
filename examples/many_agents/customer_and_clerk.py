"""A customer who knows what is wanted and a clerk who has the tools, against one agent with both.

    python examples/many_agents/customer_and_clerk.py

The clerk is scripted: it takes a missing quantity for one, and asks for a missing name or thing. The customer learns by
an epsilon-greedy bandit how to begin: with everything at once, bit by bit, or briefly, without the quantity.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Generator

from agentworld_gym.base.statistics.proportions import proportion
from agentworld_gym.integrations.pettingzoo import AgentWorldParallelEnv

WISH = re.compile(r"(?P<count>\d+) x (?P<thing>.+?)(?: for (?P<who>[\w' ]+)\.| by phone)")
CALLER = re.compile(r"(?m)^(?:This is what you want: )?(?P<who>[\w']+ [\w']+) orders ")
HABITS = ("everything", "bit by bit", "briefly")


def call(tool: str, **arguments: object) -> str:
    """A call of one of the shop's tools."""
    return json.dumps({"name": f"shop-{tool}", "arguments": arguments})


def wish(instruction: str) -> dict[str, str]:
    """What an instruction asks for: who, which thing, and how many."""
    found = WISH.search(instruction)
    caller = CALLER.search(instruction)
    return {"who": found["who"] or caller["who"], "thing": found["thing"], "count": found["count"]}


def ordering(who: str, thing: str, count: int) -> Generator[str, str, float]:
    """Place an order, and return its total."""
    customers = json.loads((yield call("find_customer", query=who.split()[-1])))["customers"]
    number = next(one["customer_id"] for one in customers if one["name"] == who)
    goods = json.loads((yield call("search_products", query=thing)))["products"]
    sku = next(one["sku"] for one in goods if one["name"] == thing)
    placed = yield call("place_order", customer_id=number, items=[{"sku": sku, "quantity": count}])
    return json.loads(placed)["total"]


def customer(instruction: str, habit: str) -> Generator[str, str, None]:
    """Say what is wanted in the way of the habit, answer questions, and finish with the total."""
    wanted = wish(instruction)
    first = {
        "everything": "who: {who}; thing: {thing}; count: {count}",
        "bit by bit": "who: {who}; count: {count}",
        "briefly": "who: {who}; thing: {thing}",
    }[habit]
    seen = yield "message: " + first.format(**wanted)
    while True:
        if total := re.search(r"\[clerk\] total (\S+)", seen):
            yield f"finish: {total[1]}"
        elif asked := re.search(r"\[clerk\] which (\w+)\?", seen):
            seen = yield f"message: {asked[1]}: {wanted[asked[1]]}"
        else:
            seen = yield "wait"


def clerk() -> Generator[str, str, None]:
    """Ask until name and thing are known, then place the order and tell its total."""
    known: dict[str, str] = {}
    seen = yield "wait"
    while True:
        for line in re.findall(r"(?m)^\[customer\] (.*)", seen):
            known |= dict(part.split(": ", 1) for part in line.split("; "))
        missing = [name for name in ("who", "thing") if name not in known]
        if not known:
            seen = yield "wait"
        elif missing:
            seen = yield f"message: which {missing[0]}?"
            while "[customer]" not in seen:
                seen = yield "wait"
        else:
            total = yield from ordering(known["who"], known["thing"], int(known.get("count", 1)))
            yield f"message: total {total:.2f}"
            while True:
                yield "wait"


def together(seed: int, habit: str) -> tuple[bool, int, float]:
    """One episode of both. Success, actions but waits, and the return of the customer."""
    env = AgentWorldParallelEnv(team="customer-and-clerk", families=["order_goods"])
    _, infos = env.reset(seed=seed)
    policies = {"customer": customer(infos["customer"]["instruction"], habit), "clerk": clerk()}
    actions = {name: next(policy) for name, policy in policies.items()}
    count, total, success = 0, 0.0, False
    while env.agents:
        observations, rewards, _, _, infos = env.step(actions)
        count, total = count + sum(action != "wait" for action in actions.values()), total + rewards["customer"]
        success = any(info.get("success", False) for info in infos.values())
        if env.agents:
            actions = {name: policy.send(observations[name]) for name, policy in policies.items()}
    env.close()
    return success, count, total


def alone(seed: int) -> tuple[bool, int, float]:
    """One agent who knows the wish and has the tools."""
    env = AgentWorldParallelEnv(1, spec="mcp", families=["order_goods"])
    _, infos = env.reset(seed=seed)
    wanted = wish(infos["agent_0"]["instruction"])
    policy = ordering(wanted["who"], wanted["thing"], int(wanted["count"]))
    action, count, total, answer = next(policy), 0, 0.0, None
    while env.agents:
        observations, rewards, _, _, infos = env.step({"agent_0": action})
        count, total = count + 1, total + rewards["agent_0"]
        if env.agents:
            try:
                action = policy.send(observations["agent_0"])
            except StopIteration as end:
                answer = end.value
                action = f"finish: {answer:.2f}"
    env.close()
    return infos["agent_0"].get("success", False), count, total


def trained(episodes: int, seed: int = 0) -> dict[str, float]:
    """Let the customer learn how to begin; return the mean return of each habit."""
    rng = random.Random(seed)
    returns: dict[str, list[float]] = {habit: [] for habit in HABITS}
    for number in range(episodes):
        means = {habit: sum(seen) / len(seen) if seen else float("inf") for habit, seen in returns.items()}
        habit = rng.choice(HABITS) if rng.random() < 0.2 else max(HABITS, key=means.__getitem__)
        returns[habit].append(together(1000 + number, habit)[2])
    return {habit: sum(seen) / len(seen) if seen else float("-inf") for habit, seen in returns.items()}


def main(episodes: int = 100, training: int = 60) -> dict[str, float]:
    """Print the table; return the share of success of each."""
    learned = trained(training)
    best = max(HABITS, key=learned.__getitem__)
    print("returns while learning:", {habit: round(value, 2) for habit, value in learned.items()})
    rng = random.Random(1)
    ways = {
        "one agent with wish and tools": alone,
        "customer and clerk, before learning": lambda seed: together(seed, rng.choice(HABITS)),
        f"customer and clerk, learned ({best})": lambda seed: together(seed, best),
    }
    results = {}
    print("| who | success | actions | return |\n|---|---|---|---|")
    for name, way in ways.items():
        played = [way(seed) for seed in range(episodes)]
        share = proportion([one[0] for one in played])
        actions, total = (sum(one[place] for one in played) / episodes for place in (1, 2))
        results[name.partition(" (")[0]] = share.share
        print(f"| {name} | {share.share:.2f} ({share.low:.2f}-{share.high:.2f}) | {actions:.1f} | {total:.2f} |")
    return results


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--training", type=int, default=60)
    options = parser.parse_args()
    main(options.episodes, options.training)
