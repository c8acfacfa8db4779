"""Policies that play tasks to their end, many at a time."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from typing import Any

import pytest

from agentworld_gym import EnvOptions, FunctionPolicy, agent_prompt, play
from agentworld_gym.agents.policies.playing import one_a_task
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.tasks.source import TaskSource
from agentworld_gym.envs.episodes.episode import Episode
from agentworld_gym.envs.episodes.stream import EpisodeStream


class Counting:
    """A policy that finishes at once, and counts the episodes that it is asked about."""

    name = "counting"

    def __init__(self) -> None:
        self.asked: list[int] = []

    def begin(self, episode: Episode) -> None:
        """Keep nothing."""

    def act(self, episodes: Sequence[Episode], kept: Sequence[Any]) -> list[str]:
        self.asked.append(len(episodes))
        return ["finish"] * len(episodes)


def test_a_policy_is_asked_only_where_an_episode_waits_for_it(monkeypatch):
    answers: deque[Any] = deque()
    recv = EpisodeStream.recv

    def one_at_a_time(stream: EpisodeStream, min_ready: int = 1) -> list[Any]:
        if not answers:
            answers.extend(recv(stream, len(stream.under_way)))
        return [answers.popleft()]

    monkeypatch.setattr(EpisodeStream, "recv", one_at_a_time)
    policy = Counting()
    runner = EnvOptions(spec="terminal", world="scripted").runner()
    played = list(play(runner, policy, range(4), wave=3))
    runner.close()
    assert sorted(one.seed for one in played) == [0, 1, 2, 3]
    assert policy.asked == [3, 1]


class Games:
    """A pool of one task, of which a seed may make a game of its own."""

    def __init__(self, by_seed: bool) -> None:
        self.by_seed = by_seed

    def foreseen(self) -> tuple[Task, ...]:
        return ()

    def pick(self, seed: int) -> Task:
        return Task(id="game", domain="terminal", instruction="Win.", family="free_play", success=())

    def find(self, name: str) -> Task | None:
        return None


@pytest.mark.parametrize(("by_seed", "kept"), [(True, [3, 4, 5]), (False, [3])])
def test_seeds_of_one_task_count_where_each_makes_a_game_of_its_own(by_seed: bool, kept: list[int]):
    assert one_a_task(TaskSource(load_spec("terminal"), pool=Games(by_seed)), [3, 4, 5, 3]) == kept


# A policy in Python


def test_an_episode_is_a_chat_that_a_model_can_go_on_with():
    chats: list[Any] = []

    def act(episode: Episode) -> str:
        chats.append(episode.messages())
        return "finish" if episode.steps else "ls"

    runner = EnvOptions(spec="terminal", world="grounded", task="count_lines-1-0").runner()
    [played] = play(runner, FunctionPolicy("chat", act), [0])
    runner.close()
    [first, second] = chats
    system, user = first
    assert system["role"] == "system" and "finish" in system["content"]
    assert user == {"role": "user", "content": played.observations[0]} and played.task.instruction in user["content"]
    assert second == [
        *first,
        {"role": "assistant", "content": "ls"},
        {"role": "user", "content": played.observations[1]},
    ]


def test_the_chat_is_what_the_agent_saw_in_its_dialect():
    seen: list[list[Any]] = []

    def act(episode: Episode) -> str:
        seen.append([episode.observation, *(message["content"] for message in episode.messages())])
        return "finish" if episode.steps else '{"name": "run_shell_command", "arguments": {"command": "ls"}}'

    runner = EnvOptions(spec="swe", dialect="claude-code", world="grounded").runner()
    [played] = play(runner, FunctionPolicy("chat", act), [0])
    runner.close()
    assert [texts[0] for texts in seen] == [texts[-1] for texts in seen]
    assert seen[1][-1] != played.observations[1], "observations are in the first dialect"


def test_the_prompt_of_an_agent_takes_an_episode_and_names_its_tools():
    runner = EnvOptions(spec="mcp", world="grounded", task="bank-two-loans").runner()
    ((episode, _, _),) = runner.start([0], {})
    assert '"name": "bank-list_loans"' in agent_prompt(episode)
    assert episode.tools == runner.tools(episode.task)
    runner.close()


@pytest.mark.parametrize(("threads", "together"), [(1, 1), (3, 3), (8, 5)])
def test_the_answers_of_a_wave_are_asked_for_together(threads: int, together: int):
    lock, all_here = threading.Lock(), threading.Event()
    under_way, most = 0, 0

    def act(episode: Episode) -> str:
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
            if under_way == together:
                all_here.set()
        assert all_here.wait(60), "no further call came"
        with lock:
            under_way -= 1
        return f"finish: {episode.seed}"

    runner = EnvOptions(spec="terminal", world="scripted").runner()
    played = list(play(runner, FunctionPolicy("slow", act, threads=threads), range(5), wave=5))
    runner.close()
    assert most == together
    assert {one.seed: one.actions for one in played} == {seed: (f"finish: {seed}",) for seed in range(5)}


def test_an_error_of_a_policy_ends_the_play():
    def act(episode: Episode) -> str:
        raise LookupError("no server")

    runner = EnvOptions(spec="terminal", world="scripted").runner()
    with pytest.raises(LookupError, match="no server"):
        list(play(runner, FunctionPolicy("lost", act, threads=4), range(4)))
    runner.close()
