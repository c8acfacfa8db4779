"""What a program sees of the environments: ids, spaces, tasks, tools, menus, pictures, waves and refusals."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

import agentworld_gym
from trees.sizes import DOMAINS, Size

STEPS = 8
MEMBERS = 3

REFUSED: tuple[dict[str, Any], ...] = (
    {"world": "nowhere"},
    {"world": "recorded:nowhere.jsonl"},
    {"world": "grounded:nothing"},
    {"no_such_option": 1},
    {"language": {"profile": "small"}},
    {"language": {"form": "half"}},
    {"levels": "1"},
    {"levels": [4]},
    {"families": ["nothing"]},
    {"task": "no-such-task"},
    {"controls": {"nothing": 0.5}},
    {"max_steps": 0},
    {"max_steps": True},
    {"language": {"sampling": {"temperature": "hot"}}},
    {"language": {"retrieval": "nowhere"}},
    {"language": {"prompts": "nowhere"}},
    {"judge": "nobody"},
    {"traces": 1},
    {"lock": "0"},
    {"render_mode": "sound"},
    {"spec": "nowhere.yaml"},
)
"""Options that no environment takes; the message of each refusal is compared."""


def show(size: Size) -> None:
    """Write everything of every domain into `faces`, one JSON object a line."""
    Path("faces").mkdir()
    _write("package", [{"public names": sorted(agentworld_gym.__all__), "ids": agentworld_gym.ENV_IDS}, *_registered()])
    for domain in size.domains:
        _write(domain, _single(DOMAINS[domain], size.task_seeds))
        _write(f"{domain}-tasks", _tasks(DOMAINS[domain], size.levels, size.task_seeds))
        _write(f"{domain}-wave", _waves(DOMAINS[domain]))
        _write(f"{domain}-menu", _menus(DOMAINS[domain].replace("-v0", "Menu-v0")))
        if size.everything or domain == size.domains[0]:
            _write(f"{domain}-refusals", _refusals(DOMAINS[domain]))


def _write(name: str, lines: Any) -> None:
    with open(f"faces/{name}.jsonl", "w", encoding="utf-8") as file:
        for line in lines:
            file.write(json.dumps(line, default=_plain) + "\n")


def _plain(value: Any) -> Any:
    """Arrays and pictures as a digest, all else that JSON lacks as a list or a text."""
    if isinstance(value, np.ndarray) and value.size > 64:
        return {"shape": value.shape, "dtype": str(value.dtype), "digest": hashlib.sha256(value.tobytes()).hexdigest()}
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else repr(value)


def _registered() -> Iterator[Any]:
    """The ids; what they load is a path of a module, which may move."""
    for env_id, spec in sorted(gym.registry.items()):
        if env_id.startswith("AgentWorld/"):
            yield {"id": env_id, "kwargs": spec.kwargs, "checker": spec.disable_env_checker}


def _single(env_id: str, seeds: int) -> Iterator[Any]:
    env = gym.make(env_id, render_mode="ansi", levels=[1, 2])
    core: Any = env.unwrapped
    yield {"fingerprint": core.world.fingerprint.as_dict(), "nondeterministic": env.spec and env.spec.nondeterministic}
    for space in (env.action_space, env.observation_space):
        space.seed(0)
    for seed in range(seeds):
        yield {"reset": env.reset(seed=seed), "task": core.task.model_dump(mode="json")}
        samples = [env.action_space.sample() for _ in range(4)]
        yield {"tools": core.tools, "role": agentworld_gym.agent_prompt(env), "menu": core.menu, "sampled": samples}
        for entry in [*core.menu[:STEPS], "finish"]:
            if entry is not None and not core.episode.over:
                yield {"action": entry, "result": env.step(entry)}
        yield {"shown": env.render(), "observations": [env.observation_space.sample() for _ in range(2)]}
    env.close()
    pictured = gym.make(env_id, render_mode="rgb_array")
    pictured.reset(seed=0)
    yield {"picture": pictured.render()}
    pictured.close()


def _tasks(env_id: str, levels: Sequence[int], seeds: int) -> Iterator[Any]:
    """A digest of some tasks of every family."""
    env: Any = gym.make(env_id, levels=[1, 2, 3]).unwrapped
    for family in sorted(env.domain.tasks.families):
        for level in levels:
            for seed in range(seeds):
                env.reset(seed=seed, options={"family": family, "level": level})
                text = env.task.model_dump_json()
                yield {"task": env.task.id, "digest": hashlib.sha256(text.encode()).hexdigest()}
    env.close()


def _waves(env_id: str) -> Iterator[Any]:
    for mode in ("NextStep", "SameStep"):
        envs: Any = gym.make_vec(env_id, num_envs=MEMBERS, autoreset_mode=mode, max_episode_steps=5)
        yield {"mode": mode, "reset": envs.reset(seed=5)}
        for turn in range(STEPS):
            offers = [[entry for entry in menu if entry is not None] or ["finish"] for menu in envs.menus]
            actions = [menu[(turn * 5 + member) % len(menu)] for member, menu in enumerate(offers)]
            yield {"actions": actions, "result": envs.step(actions)}
        envs.close()


def _menus(env_id: str) -> Iterator[Any]:
    env: Any = gym.make(env_id)
    observation, info = env.reset(seed=2)
    yield {"observation": observation, "info": info}
    for turn in range(STEPS):
        allowed = np.flatnonzero(info["action_mask"])
        observation, reward, terminated, truncated, info = env.step(int(allowed[turn % len(allowed)]))
        yield {"observation": observation, "reward": reward, "over": (terminated, truncated), "info": info}
        if terminated or truncated:
            break
    env.close()


def _refusals(env_id: str) -> Iterator[Any]:
    for options in REFUSED:
        yield {"options": options, "refusal": _refusal(lambda options=options: gym.make(env_id, **options).close())}
    env = gym.make(env_id)
    for chosen in ({"task": 1}, {"nothing": 1}, {"family": "nothing"}, {"level": 9}, {"controls": {"nothing": 1.0}}):
        yield {"reset": chosen, "refusal": _refusal(lambda chosen=chosen: env.reset(seed=0, options=chosen))}
    yield {"step": 1, "refusal": _refusal(lambda: env.step(1))}
    env.close()


def _refusal(work: Callable[[], object]) -> str:
    """The name and the message of what was raised."""
    try:
        work()
    except Exception as error:  # any kind of refusal is compared
        return f"{type(error).__name__}: {error}"
    return "none"
