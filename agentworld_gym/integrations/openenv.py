"""A server of environments for OpenEnv (`openenv-core`), and its client.

    app = create_app("terminal", levels=[1])  # in my_server.py, for `uvicorn my_server:app`

Every client has a session with an episode of its own. This needs the extra `openenv`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from pydantic import Field

from agentworld_gym.base.errors import SpecError, install
from agentworld_gym.envs.env import AgentWorldEnv
from agentworld_gym.llm.prompting.agent_prompt import agent_prompt

try:
    from fastapi import FastAPI
    from openenv.core.client_types import StepResult
    from openenv.core.env_client import EnvClient
    from openenv.core.env_server import Action, Environment, Observation, State, create_fastapi_app
except ImportError as error:
    raise ImportError(f"this needs OpenEnv: {install('openenv')}") from error


class AgentWorldAction(Action):  # type: ignore[misc,unused-ignore]
    """What an agent does."""

    text: str
    """The text that the agent wrote; `finish` or `finish: ANSWER` ends the episode."""


class AgentWorldObservation(Observation):  # type: ignore[misc,unused-ignore]
    """What an agent sees, and what a trainer has to know; OpenEnv sends a client no `metadata`.

    `reward` is None after `reset`, and where the world failed: such an episode is to be left out of training.
    """

    text: str
    """What the world shows; after `reset` the task's instruction stands before it."""

    system: str | None = None
    """The system message for a language model, after `reset` only: how to act, the tools, and how to finish."""

    truncated: bool = False
    """Whether the episode was cut off: at its step limit, or because the world failed."""

    success: bool | None = None
    """Whether the task was solved; None where that was not tested."""

    failure: dict[str, Any] | None = None
    """The kind, the message and `retryable` of the world's failure, if it failed."""

    info: dict[str, Any] = Field(default_factory=dict)
    """The `info` of the environment, with the `tools` after `reset`."""


class AgentWorldEnvironment(Environment):  # type: ignore[misc,unused-ignore]
    """One session of the server, with the options of `gym.make` and `spec`, the domain.

    Raises:
        SpecError: A spec or an option is wrong.
        WorldNotConfigured: The domain has no such world.

    >>> env = AgentWorldEnvironment(spec="terminal", world="scripted")
    >>> env.reset(seed=7).reward, env.step(AgentWorldAction(text="ls")).text
    (None, '[1] ls')
    >>> env.close()
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self._env = AgentWorldEnv(**options)
        self._state = State()

    def reset(self, seed: int | None = None, episode_id: str | None = None, **options: Any) -> AgentWorldObservation:
        """Begin an episode with a seed, a name for `state`, and the options of `AgentWorldEnv.reset`.

        Raises:
            SpecError: An option does not fit.
        """
        text, info = self._env.reset(seed=seed, options=options)
        self._state = State(episode_id=episode_id, step_count=0, task_id=info["task_id"])
        return AgentWorldObservation(text=text, system=agent_prompt(self._env), info=info)

    def step(self, action: AgentWorldAction, timeout_s: float | None = None, **_: Any) -> AgentWorldObservation:
        """Do one action; the world's own deadline counts, and `timeout_s` does not.

        Raises:
            gymnasium.error.ResetNeeded: The episode has ended, or none has begun.
        """
        text, reward, terminated, truncated, info = self._env.step(action.text)
        self._state.step_count = info["steps"]
        failure = info.get("failure")
        known = {"success": info.get("success"), "failure": failure, "truncated": truncated, "info": info}
        paid = None if failure else reward
        return AgentWorldObservation(text=text, done=terminated or truncated, reward=paid, **known)

    @property
    def state(self) -> State:
        """The name of the episode, the number of its steps, and the id of its task."""
        return self._state

    def close(self) -> None:
        """Free the episode and the session's share in the world."""
        self._env.close()


class AgentWorldClient(EnvClient):  # type: ignore[misc,unused-ignore]
    """The client of a session: `await client.reset(seed=7)`, or `client.sync()` for code that does not wait."""

    def _step_payload(self, action: AgentWorldAction) -> dict[str, Any]:
        return {"text": action.text}

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[AgentWorldObservation]:
        reward, done = payload.get("reward"), payload.get("done", False)
        observation = AgentWorldObservation(**payload["observation"], reward=reward, done=done)
        return StepResult(observation, reward, done)

    def _parse_state(self, payload: dict[str, Any]) -> State:
        return State(**payload)


def create_app(spec: str, *, max_sessions: int = 64, **options: Any) -> FastAPI:
    """Return the web application of a server, which uvicorn runs.

    The world is opened at once and kept open between sessions: a wrong option fails here, and a model is loaded once.

    Args:
        spec: The domain: its name, the id of its environment, or the path of a YAML spec.
        max_sessions: The number of sessions that are open at a time; a further client is refused.
        options: The other options of `gym.make`.

    Raises:
        SpecError: A spec or an option is wrong.
        WorldNotConfigured: The domain has no such world.
    """
    if max_sessions < 1:
        raise SpecError("create_app", "max_sessions", max_sessions, "an integer of at least 1")
    session = partial(AgentWorldEnvironment, spec=spec, **options)
    kept, actions, seen = session(), AgentWorldAction, AgentWorldObservation
    app: FastAPI = create_fastapi_app(session, actions, seen, max_concurrent_envs=max_sessions)
    app.router.on_shutdown.append(kept.close)
    return app
