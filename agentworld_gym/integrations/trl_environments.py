"""Environment classes for TRL's `environment_factory`: the tools of a domain as typed methods.

    Shop = environment_factory("AgentWorld/MCP-v0", families=["order_goods"])
    trainer = GRPOTrainer(
        model="Qwen/Qwen3-0.6B",
        args=GRPOConfig(max_completion_length=2048),      # the length of the whole episode
        train_dataset=Shop.dataset(range(1000)),
        environment_factory=Shop,
    )

TRL renders the methods into the chat template's own form of tools and calls them one after the other: a world that
takes its time is waited for once a call. `agentworld_gym.integrations.trl` asks for whole batches instead. This needs
the extra `train`.
"""

from __future__ import annotations

import inspect
import json
import keyword
import re
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import gymnasium as gym

from agentworld_gym.base.errors import ClosedError, SpecError
from agentworld_gym.base.text.escaping import escape, unescape
from agentworld_gym.core.actions.finish import VERB
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.domain.user import without_ask
from agentworld_gym.envs.episodes.episode import Episode
from agentworld_gym.envs.episodes.runner import EpisodeRunner

if TYPE_CHECKING:
    from datasets import Dataset

_TYPES: Mapping[str, Any] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "object": dict[str, Any],
    "null": None,
}
_OVER = "The episode is over."


class ToolEnvironment:
    """One episode at a time, as TRL wants it: every public function but `reset` and `get_reward` is a tool.

    `environment_factory` makes the subclasses that have tools. The instances of a class share its world.
    """

    runner: ClassVar[EpisodeRunner]
    """What plays the episodes."""

    tools: ClassVar[tuple[dict[str, Any], ...]]
    """The tools as their tasks describe them."""

    system: ClassVar[str]
    """The system message of `dataset`."""

    def __init__(self) -> None:
        self._episode: Episode | None = None
        self._total = 0.0
        self._failed = False

    def reset(self, **row: Any) -> str:
        """Begin the episode of a row's `task_seed` and return what the agent sees first.

        Members of a group get the same row, and with it the same task and the same initial state.

        Raises:
            SpecError: The row has no seed, or its task has other tools than this class.
        """
        seed = row.get("task_seed")
        if not isinstance(seed, int):
            raise SpecError("row", "task_seed", seed, "an integer; make rows with the `dataset` of the class")
        self._leave()
        [(self._episode, observation, _)] = self.runner.start([seed], {})
        self._total, self._failed = 0.0, False
        if self.runner.tools(self._episode.task) != self.tools:
            task, expected = self._episode.task.id, "a task with the tools of this class; name its `families`"
            self._leave()
            raise SpecError(type(self).__name__, "task", task, expected)
        return escape(observation)

    def finish(self, answer: str = "") -> str:
        """End the episode, once the task is done.

        Args:
            answer: The answer, if the task asks for one.

        Returns:
            That the episode is over.
        """
        return self._act(f"{VERB}: {unescape(answer)}" if answer else VERB)

    def get_reward(self) -> float | None:
        """Return what the episode paid, and None if its world failed, which TRL leaves out of the group.

        An agent that wrote no further call is done: an episode that is not over is finished first.
        """
        if self._episode is not None and not self._episode.over and not self._failed:
            self._act(VERB)
        self._leave()
        return None if self._failed else self._total

    @classmethod
    def dataset(cls, seeds: Sequence[int]) -> Dataset:
        """Return one row a seed for the trainer; `reset` adds the instruction to its last message."""
        from datasets import Dataset

        prompt = [{"role": "system", "content": cls.system}, {"role": "user", "content": ""}]
        return Dataset.from_dict({"prompt": [prompt] * len(seeds), "task_seed": [int(seed) for seed in seeds]})

    @classmethod
    def close(cls) -> None:
        """Let go of the world."""
        cls.runner.close()

    def _act(self, action: str) -> str:
        if self._episode is None:
            raise ClosedError("no episode is under way; reset begins one")
        if self._episode.over or self._failed:
            return _OVER
        [result] = self.runner.advance([self._episode], [action])
        self._total += result.reward
        self._failed = "failure" in result.info
        self._episode.over = result.terminated or result.truncated
        return escape(result.observation) if not result.terminated else _OVER

    def _leave(self) -> None:
        if self._episode is not None:
            self._episode.session.close()
            self._episode = None


def environment_factory(env_id: str, **options: Any) -> type[ToolEnvironment]:
    """Return a class for TRL's `environment_factory`, with a method for each tool of the domain and `finish`.

    A domain without tools (the terminal, the desktop, the phone) has the one method `act`, which takes an action as the
    domain writes it.

    Args:
        env_id: The id of the environment.
        options: The options of `gym.make_vec`. All tasks must have the same tools: for tool servers, name the
            `families` of one scenario, or take `scenario_factories`.

    Raises:
        SpecError: Two tools would have the same method.

    >>> Search = environment_factory("AgentWorld/Search-v0")
    >>> inspect.signature(Search.web_search)
    <Signature (self, *, queries: list[str] | None = None, query: str | None = None)>
    >>> Search.close()
    """
    envs: Any = gym.make_vec(env_id, num_envs=1, **options)
    runner: EpisodeRunner = envs.unwrapped.runner
    tools = runner.tools(runner.source.pick(0, {}))
    members: dict[str, Any] = {}
    for tool in tools:
        name = _identifier(str(tool["name"]))
        if name in members or hasattr(ToolEnvironment, name):
            raise SpecError(env_id, "tools", tool["name"], "a name that no other tool or method has")
        members[name] = _method(name, tool)
    if not without_ask(tools):
        members["act"] = _act_method(runner.spec.action.description)
    members |= {
        "runner": runner,
        "tools": tools,
        "system": f"{runner.spec.description.strip()} Call one tool at a time, and `{VERB}` once the task is done, "
        "with the answer where the task asks for one.",
        "__doc__": f"{runner.spec.title}: the tools of {env_id} as methods.",
        "__module__": __name__,
    }
    return type(f"{_identifier(runner.spec.id).title()}Environment", (ToolEnvironment,), members)


def scenario_factories(env_id: str = "AgentWorld/MCP-v0", **options: Any) -> dict[str, type[ToolEnvironment]]:
    """Return a class for each scenario of the tool servers, by its name, as TRL takes several environments.

    Each row of the data set then needs the column `environment` with the name of the scenario.

    Args:
        env_id: The id of the environment.
        options: The options of `gym.make_vec`.
    """
    envs: Any = gym.make_vec(env_id, num_envs=1, **options)
    runner: EpisodeRunner = envs.unwrapped.runner
    families: dict[str, list[str]] = {}
    for family in options.get("families") or runner.spec.tasks.families:
        families.setdefault(_scenario(runner.source.pick(0, {"family": family})), []).append(family)
    runner.close()
    factories = {}
    for scenario, names in families.items():
        factories[scenario] = environment_factory(env_id, **{**options, "families": names})
        # TRL logs the reward of a class under its name.
        factories[scenario].__name__ = f"{scenario.title()}Environment"
    return factories


def _scenario(task: Task) -> str:
    return str(task.state["scenario"])


def _method(name: str, tool: Mapping[str, Any]) -> Callable[..., str]:
    """Return the method of a tool; it passes on exactly the arguments that were given, also wrong ones."""
    schema = tool.get("parameters") or {}
    properties, required = schema.get("properties") or {}, schema.get("required") or ()
    names = {_identifier(key): key for key in properties}

    def method(self: ToolEnvironment, **arguments: Any) -> str:
        given = {names.get(key, key): _unescaped(value) for key, value in arguments.items()}
        return self._act(json.dumps({"name": tool["name"], "arguments": given}, ensure_ascii=False))

    kinds = {one: _annotation(properties[key]) for one, key in names.items()}
    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    for one, key in names.items():
        optional = key not in required
        default = properties[key].get("default") if optional else inspect.Parameter.empty
        kind = kinds[one] = kinds[one] | None if optional and default is None and kinds[one] is not Any else kinds[one]
        parameters.append(inspect.Parameter(one, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind))
    lines = [_one_line(tool.get("description") or name)]
    if names:
        lines += ["", "Args:"]
        lines += [f"    {one}: {_one_line(properties[key].get('description') or key)}" for one, key in names.items()]
    return _named(method, name, "\n".join([*lines, "", "Returns:", "    What the tool answers."]), kinds, parameters)


def _act_method(description: str) -> Callable[..., str]:
    def act(self: ToolEnvironment, action: str) -> str:
        return self._act(unescape(action))

    described = f"{_one_line(description)}\n\nArgs:\n    action: The action.\n\nReturns:\n    What the world shows."
    parameters = [
        inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD),
        inspect.Parameter("action", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=str),
    ]
    return _named(act, "act", described, {"action": str}, parameters)


def _named(
    method: Callable[..., str],
    name: str,
    docstring: str,
    annotations: Mapping[str, Any],
    parameters: Sequence[inspect.Parameter],
) -> Callable[..., str]:
    described: Any = method
    described.__name__ = described.__qualname__ = name
    described.__doc__ = docstring
    described.__annotations__ = {**annotations, "return": str}
    described.__signature__ = inspect.Signature(parameters)
    return method


def _annotation(schema: Mapping[str, Any]) -> Any:
    """Return the type of a JSON Schema as transformers reads types.

    >>> _annotation({"type": "array", "items": {"type": "integer"}}), _annotation({"enum": ["a", "b"]})
    (list[int], typing.Literal['a', 'b'])
    """
    if choices := schema.get("enum"):
        return Literal[tuple(choices)] if all(isinstance(one, str | int) for one in choices) else Any
    kinds = schema.get("type", ())
    if isinstance(kinds, list):
        return reduce(or_, (_annotation({**schema, "type": kind}) for kind in kinds))
    if kinds == "array":
        return list[_annotation(schema.get("items") or {})]  # type: ignore[misc]
    return _TYPES.get(kinds, Any) if isinstance(kinds, str) else Any


def _identifier(name: str) -> str:
    """Return a name as Python writes names.

    >>> _identifier("shop-get_order"), _identifier("from"), _identifier("_hidden")
    ('shop_get_order', 'from_', 'hidden')
    """
    plain = re.sub(r"\W", "_", name).lstrip("_") or "tool"
    if plain[0].isdigit():
        plain = f"tool_{plain}"
    return f"{plain}_" if keyword.iskeyword(plain) else plain


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _unescaped(value: Any) -> Any:
    if isinstance(value, str):
        return unescape(value)
    if isinstance(value, list):
        return [_unescaped(item) for item in value]
    return {key: _unescaped(item) for key, item in value.items()} if isinstance(value, dict) else value
