"""A director who learns which faults hurt, and a solver who learns against it: an adversarial curriculum.

    python examples/many_agents/director.py

The director spends its budget on one control of a shop's tool server. The solver prepares for one of them: it plays the
expert who knows this control. Both learn by Exp3, from the rewards of the environment alone. The solver that learned
against the director is compared with one that learned under random controls, and with an expert that knows none.
"""

from __future__ import annotations

import argparse
import math
import random
from operator import mul

from agentworld_gym.core.tasks.control_cases import Solver, control_cases
from agentworld_gym.integrations.pettingzoo import AgentWorldDirectorEnv

CASES = {case.control: case.aware for case in control_cases("mcp")}
NAIVE = control_cases("mcp")[0].naive


EXP3_RATE = 0.15


class Exp3:
    """Exp3 (Auer et al. 2002): a mixture over arms that learns from the reward of the arm that was drawn.

    Args:
        arms: How many arms there are.
        rate: The learning rate, which is the share of exploration too; at 1 all arms stay equal.
    """

    def __init__(self, arms: int, rate: float = EXP3_RATE) -> None:
        self.rate, self.gains, self.drawn = rate, [0.0] * arms, [0.0] * arms

    @property
    def mixture(self) -> list[float]:
        """The probability of each arm at this moment."""
        top = max(self.gains)
        weights = [math.exp(gain - top) for gain in self.gains]
        return [(1 - self.rate) * weight / sum(weights) + self.rate / len(weights) for weight in weights]

    @property
    def average(self) -> list[float]:
        """The mean of all mixtures so far, which is what converges in a game."""
        return [share / sum(self.drawn) for share in self.drawn]

    def draw(self, rng: random.Random) -> int:
        """Draw an arm."""
        mixture = self.mixture
        self.drawn = [share + now for share, now in zip(self.drawn, mixture, strict=True)]
        return rng.choices(range(len(mixture)), mixture)[0]

    def learn(self, arm: int, reward: float) -> None:
        """Learn from a reward between 0 and 1."""
        self.gains[arm] += self.rate * reward / self.mixture[arm] / len(self.gains)


def play(env: AgentWorldDirectorEnv, solver: Solver, choice: str, seed: int) -> float:
    """Play one episode of both; return 1.0 where the solver succeeds, and 0.0 where it does not."""
    env.reset(seed=seed)
    env.step(choice)
    policy = solver(env.task)
    action = next(policy)
    while not any(env.terminations.values()) and not any(env.truncations.values()):
        env.step(action)
        try:
            action = policy.send(env.observe("solver")["text"])
        except (StopIteration, KeyError):  # An expert that meets a fault it does not know may lose its thread.
            action = "finish"
    return float(env.infos["solver"].get("success", False))


def trained(
    env: AgentWorldDirectorEnv, adversarial: bool, episodes: int, number: int
) -> tuple[list[float], list[float]]:
    """Train a solver against a director that learns too, or under random controls.

    Returns:
        The mean mixture of the solver over preparations, and that of the director over controls.
    """
    rng = random.Random(number)
    choices, solvers = env.director.offers()[1:], list(CASES.values())
    solver, director = Exp3(len(solvers)), Exp3(len(choices), rate=EXP3_RATE if adversarial else 1.0)
    for seed in range(number * episodes, (number + 1) * episodes):
        prepared, struck = solver.draw(rng), director.draw(rng)
        success = play(env, solvers[prepared], choices[struck], seed)
        solver.learn(prepared, success)
        director.learn(struck, 1.0 - success)  # The director's own reward, moved to between 0 and 1.
    return solver.average, director.average


def measured(solvers: list[Solver], episodes: int) -> list[list[float]]:
    """The success of each solver on unseen tasks without a control and under each one."""
    env = AgentWorldDirectorEnv("faulty-shop", split="test")
    table = [
        [
            sum(play(env, solver, choice, seed) for seed in range(episodes)) / episodes
            for choice in env.director.offers()
        ]
        for solver in solvers
    ]
    env.close()
    return table


def main(training: int = 700, episodes: int = 20, runs: int = 3) -> dict[str, list[float]]:
    """Print the tables; return the worst success under a control of each run, by the curriculum."""
    [naive, *prepared] = measured([NAIVE, *CASES.values()], episodes)
    columns = list(zip(*prepared, strict=True))
    env = AgentWorldDirectorEnv("faulty-shop")
    names = list(env.director.prices)
    learned = {
        curriculum: [trained(env, curriculum == "director", training, number) for number in range(runs)]
        for curriculum in ("random controls", "director")
    }
    env.close()
    successes = {"none": [naive]}
    for curriculum, mixtures in learned.items():
        successes[curriculum] = [[sum(map(mul, solver, column)) for column in columns] for solver, _ in mixtures]
    worst = {curriculum: [min(success[1:]) for success in found] for curriculum, found in successes.items()}
    print(f"| curriculum | none | {' | '.join(names)} | mean of faults | worst (of each run) |")
    print("|---" * (len(names) + 4) + "|")
    for curriculum, found in successes.items():
        success = means(found)
        cells = [f"{value:.2f}" for value in (*success, sum(success[1:]) / len(names))]
        each = ", ".join(f"{value:.2f}" for value in worst[curriculum])
        print(f"| {curriculum} | {' | '.join(cells)} | {each} |")
    print("\n| curriculum | " + " | ".join(names) + " |\n" + "|---" * (len(names) + 1) + "|")
    for curriculum, mixtures in learned.items():
        for what, place in (("what strikes", 1), ("what the solver prepares for", 0)):
            shares = means([mixture[place] for mixture in mixtures])
            print(f"| {curriculum}: {what} | {' | '.join(f'{share:.2f}' for share in shares)} |")
    return worst


def means(rows: list[list[float]]) -> list[float]:
    """The mean of each column."""
    return [sum(column) / len(rows) for column in zip(*rows, strict=True)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--training", type=int, default=700)
    parser.add_argument("--episodes", type=int, default=20)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    main(options.training, options.episodes, options.runs)
