"""What a user says of a text environment: the option `live` of `AgentWorld/Custom-v0`."""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator

from agentworld_gym.kit.live.config import LiveConfig

INSTRUCTION = "Reach the goal of this environment. Each action is one of its commands."
"""The instruction of an episode, where the configuration has none."""


class EnvironmentConfig(LiveConfig):
    """A text environment, and how its episodes are drawn.

    A text under `env` is the environment. Where variables of the process are needed as well, they are a mapping under
    `env`, and the environment is named by `environment`.

    >>> EnvironmentConfig(env="textworld:tw-coin_collector", settings={"level": 10}).environment
    'textworld:tw-coin_collector'
    """

    environment: str = Field(min_length=1)
    """The environment: the id of one of Gymnasium (`FrozenLake-v1`, `package:My-v0`), `python:MODULE:FACTORY`,
    `textworld:CHALLENGE` or a pattern of files of games, `scienceworld:TASK`, or `textarena:GAME`."""

    settings: dict[str, Any] = Field(default_factory=dict)
    """What makes the environment beside its name: the arguments of the factory or of `gymnasium.make`, or the settings
    of a challenge of TextWorld, as `tw-make` takes them."""

    actions: tuple[str, ...] = ()
    """The names of the actions of an environment that takes their numbers, in their order."""

    menu: tuple[str, ...] = ()
    """Actions that have a fixed place in menus, which agents with numbers need to go on from one episode to another.
    Others have the places behind them, in the order in which they come up."""

    admissible: int = Field(default=1000, ge=0)
    """How many of the actions that can be done are told, where the environment tells them."""

    episodes: int | None = Field(default=None, ge=1)
    """How many different episodes there are in each split; without it every seed is another one."""

    python: str | None = None
    """The interpreter that runs the environment, as that of a virtual environment; without it that of this process."""

    path: tuple[str, ...] = ()
    """Folders that the environment may import modules from; a sandboxed one may read them."""

    forks: bool = True
    """Whether episodes are copied: by a fork of the process where it has one thread and no children, and elsewhere by
    playing them again."""

    instruction: str = Field(default=INSTRUCTION, min_length=1)
    """What an agent is asked to do where there are no tasks."""

    @model_validator(mode="before")
    @classmethod
    def _named(cls, data: Any) -> Any:
        """Take a text under `env` for the environment."""
        if isinstance(data, dict) and isinstance(data.get("env"), str):
            if "environment" in data:
                raise ValueError("env: variables by name, beside `environment`")
            rest = {key: value for key, value in data.items() if key != "env"}
            return {"environment": data["env"], **rest}
        return data
