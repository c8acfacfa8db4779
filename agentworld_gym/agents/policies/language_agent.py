"""A language model as an agent, in every domain and over any generator: what it is shown, and what it then does."""

from __future__ import annotations

import json
import logging
import random
import re
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Literal
from weakref import WeakKeyDictionary

from agentworld_gym.base.errors import AgentWorldError
from agentworld_gym.base.text.escaping import escape
from agentworld_gym.core.actions.finish import VERB
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.actions.tolerant import TolerantParser
from agentworld_gym.core.contracts import (
    Action,
    ActionKind,
    ChatRequest,
    Completion,
    Conversation,
    Failure,
    FailureKind,
    Generator,
    Message,
    ToolCall,
    Usage,
)
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.core.domain.spec import DomainSpec
from agentworld_gym.core.flow import Request, Work, in_one_wave
from agentworld_gym.envs.episodes.episode import Episode
from agentworld_gym.llm.generators.protocols import CallingGenerator
from agentworld_gym.llm.prompting.agent_prompt import role_of_agent, role_of_caller, takes_calls, with_finish

logger = logging.getLogger(__name__)

Overflow = Literal["stop", "drop"]
"""What an agent does where no more fits the context of its model: it stops, or it drops its oldest observations."""

Calls = Literal["native", "text"]
"""How an agent calls tools: as calls apart from the text, where its generator takes any, or in the text."""

DROPPED = "[This observation was dropped: the context of the model is full.]"
"""What stands where an observation was dropped."""

NOTHING = "[nothing]"
"""What stands in the history for an answer without text."""

_NOT_OF_TOOLS = re.compile(r"refused the request with (?:401|403|404|413|429)\b")
"""What a server says that refuses a key, an address, a length or a rate, whatever the request holds."""

_COMPLETE = re.compile(r'"commands"\s*:.*"task_complete"\s*:\s*true', re.DOTALL)
"""How an agent of Terminus says that its commands are the last ones."""

_BLOCK = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.DOTALL)


class AgentLost(AgentWorldError):
    """The model that plays cannot be asked: its server failed, which says nothing of the model."""


class LanguageAgent:
    """A policy that asks a generator for each action, with the prompt of `agentworld_gym.agent_prompt`.

    Where actions are calls of tools and the generator takes tools, the model gets them as such, and its calls come
    apart from its text. A server that refuses tools is asked in text from then on. Several calls in one answer are
    played one after the other. The thinking of an answer is left out of the history.

    Args:
        generator: The generator. `close` closes it.
        spec: The domain.
        sampling: How the model samples.
        name: The name of the agent in results.
        overflow: What happens where no more fits the context of the model.
        calls: How the agent calls tools.
        draw: The number of the draw; another one samples anew.

    >>> from agentworld_gym.agents.policies.playing import play
    >>> from agentworld_gym.envs.options import EnvOptions
    >>> from agentworld_gym.llm.generators.scripted import ScriptedGenerator
    >>> runner = EnvOptions(spec="terminal", world="grounded").runner()
    >>> model = ScriptedGenerator(lambda request: "Done.\\nfinish: 3" if len(request.messages) > 2 else "pwd")
    >>> [played.actions for played in play(runner, LanguageAgent(model, runner.spec, Sampling()), range(1))]
    [('pwd', 'finish: 3')]
    >>> runner.close()
    """

    def __init__(
        self,
        generator: Generator,
        spec: DomainSpec,
        sampling: Sampling,
        *,
        name: str = "model",
        overflow: Overflow = "stop",
        calls: Calls = "native",
        draw: int = 0,
    ) -> None:
        self.name, self.generator, self.spec, self.sampling = name, generator, spec, sampling
        self.overflow, self.draw = overflow, draw
        self.exact = ActionParser(spec)
        self.reader = TolerantParser(self.exact)
        self.calls = calls
        self._begun: WeakKeyDictionary[Episode, int] = WeakKeyDictionary()
        self.has_called = False
        """Whether the generator has answered a request with tools, so that a refusal has another reason."""

    def begin(self, episode: Episode, seed: int | None = None) -> Dialogue:
        """Begin to play an episode, whose past is told where it has one.

        Args:
            episode: The episode.
            seed: The seed of the first request; those of later requests count up. None takes one of the episode, and
                another one each time that the same episode is begun, as a planner does that draws several actions.
        """
        if seed is None:
            again = self._begun.get(episode, 0)
            self._begun[episode] = again + 1
            seed = random.Random(f"{self.draw}/{episode.seed}/{again}").getrandbits(31)
        return Dialogue(self, episode, seed)

    def acting(self, episode: Episode, dialogue: Dialogue) -> Work[Action | Failure]:
        """Ask for the next action, as a piece of work. An agent that stops finishes, so that its task is tested."""
        action: Action | Failure | None = yield from dialogue.act(episode.observation, episode.session.observation)
        return Action(VERB, kind=ActionKind.FINISH, written="") if action is None else action

    def act(self, episodes: Sequence[Episode], kept: Sequence[Dialogue]) -> list[str]:
        """Ask for the next action of each episode in one wave.

        Raises:
            AgentLost: The generator gave no completion, by no fault of the model.
        """
        actions = []
        for action in in_one_wave([self.acting(*one) for one in zip(episodes, kept, strict=True)]):
            if isinstance(action, Failure):
                raise AgentLost(f"the agent gave no action: {action.message}")
            actions.append(action.raw)
        return actions

    def takes_tools(self) -> bool:
        """Whether the generator is given the tools apart from the prompt."""
        return self.calls == "native" and isinstance(self.generator, CallingGenerator) and self.generator.calls_tools

    def refuse_tools(self, message: str) -> None:
        """Remember that the generator refuses tools."""
        if isinstance(self.generator, CallingGenerator):
            self.generator.refuse_tools(message)

    def close(self) -> None:
        """Close the generator."""
        self.generator.close()


class Dialogue:
    """What a language model and the world say to each other in one episode.

    The attributes `usage`, `lost`, `dropped` and `stopped` hold the tokens of the answers that were taken, those of
    answers that were asked for again or failed, the number of observations that were dropped, and why the agent stopped
    by itself; None where it did not.
    """

    def __init__(self, agent: LanguageAgent, episode: Episode, seed: int) -> None:
        self._agent, self._task, self._seed, self._asked = agent, episode.task, seed, 0
        self._tools = episode.tools
        self._calls = agent.takes_tools() and takes_calls(agent.spec) and bool(self._tools)
        self._refusal: str | None = None
        self._conversation = Conversation()
        past = episode.messages()
        self._messages = [Message(role="system", content=self._role()), *past[1:-1]]
        self._waiting: deque[tuple[str | None, str, str | None]] = deque()
        self._played: str | None = None
        self._shown: list[str] = []
        self.usage, self.lost, self.dropped = Usage(), Usage(), 0
        self.stopped: str | None = None

    @property
    def calls(self) -> Calls | None:
        """How the model calls tools; None where there are none, or actions are no calls."""
        if not self._tools or not takes_calls(self._agent.spec):
            return None
        return "native" if self._calls else "text"

    def act(self, shown: str, screen: str = "") -> Work[Action | Failure | None]:
        """Ask for the next action, as a piece of work; None where the agent stops.

        The action is the one that the model meant. One that cannot be read has an error, which the world shows.

        Args:
            shown: What the last action showed, or else the first observation, which begins with the instruction.
            screen: What the world showed without the instruction.
        """
        if self._played is None:
            self._shown.append(shown)
        else:
            self._messages.append(Message(role="tool", content=shown, tool_call_id=self._played))
        while not self._waiting:
            if self._shown:
                self._messages.append(Message(role="user", content="\n\n".join(self._shown)))
                self._shown = []
            answer = yield from self._ask()
            if not isinstance(answer, Completion):
                return answer
            self._take(answer)
        self._played, text, problem = self._waiting.popleft()
        if problem is not None:
            return Action(text, error=self._agent.exact.refused(problem, text, screen))
        return self._agent.reader.parse(text, self._task.tools, shown=screen)

    def _ask(self) -> Work[Completion | Failure | None]:
        """Ask the model until it answers."""
        agent = self._agent
        while True:
            sampling = agent.sampling.seeded((self._seed + self._asked) % 2**31)
            tools = [_escaped(tool) for tool in with_finish(self._tools)] if self._calls else []
            request = ChatRequest(tuple(self._messages), sampling, conversation=self._conversation, tools=tools)
            answer: Completion | Failure = yield Request(agent.generator, request)
            self._asked += 1
            if isinstance(answer, Completion):
                self.lost += answer.lost
                if self._calls:
                    agent.has_called = True
                elif self._refusal is not None:
                    agent.refuse_tools(self._refusal)
                if not answer.filled:
                    self.usage += answer.usage
                    return answer
                reason = "the answer found no room"
                self.lost += answer.usage
            elif answer.kind is FailureKind.EMPTY:
                self.usage += answer.spent
                return Completion("")
            else:
                reason = answer.message
                self.lost += answer.spent
            if isinstance(answer, Completion) or answer.kind is FailureKind.OVERFLOW:
                if agent.overflow == "drop" and self._drop():
                    continue
                self.stopped = "context"
                logger.info("%s: the context of the model is full: %s", self._task.id, reason)
                return None
            if not self._calls or agent.has_called or not _refuses_tools(answer):
                return answer
            self._calls, self._refusal = False, answer.message
            self._messages[0] = Message(role="system", content=self._role())

    def _role(self) -> str:
        spec = self._agent.spec
        return role_of_caller(spec) if self._calls else role_of_agent(spec, self._tools)

    def _take(self, answer: Completion) -> None:
        """Enter an answer into the history, and put what it asks for into the queue."""
        text = self._agent.reader.visible(answer.text)
        told = Message(role="assistant", content=text)
        if answer.calls:
            self._waiting.extend((call.id, _as_text(call), None) for call in answer.calls)
            told["tool_calls"] = [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call in answer.calls
            ]
        elif answer.finish_reason == "length":
            self._waiting.append((None, text, "the answer was cut off before its end"))
        elif not answer.text.strip():
            self._waiting.append((None, "", "the answer is empty"))
        else:
            blocks = _BLOCK.findall(text)
            pieces = blocks if len(set(blocks)) > 1 else [answer.text]
            if _COMPLETE.search(text):
                pieces = [*pieces, VERB]
            self._waiting.extend((None, piece, None) for piece in pieces)
        if not text and not answer.calls:
            told["content"] = NOTHING
        self._messages.append(told)

    def _drop(self) -> bool:
        """Drop the older half of the observations that are left, but neither the first nor the last; say whether any
        was left."""
        seen = [place for place, message in enumerate(self._messages) if message["role"] in ("user", "tool")]
        left = [place for place in seen[1:-1] if self._messages[place]["content"] != DROPPED]
        for place in left[: -(-len(left) // 2)]:
            self._messages[place] = {**self._messages[place], "content": DROPPED}
            self.dropped += 1
        return bool(left)


def _refuses_tools(failure: Failure) -> bool:
    if _NOT_OF_TOOLS.search(failure.message):
        return False
    return failure.kind is FailureKind.REJECTED or "tool" in failure.message.lower()


def _as_text(call: ToolCall) -> str:
    """Write a call as the domains read it."""
    try:
        arguments = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        arguments = call.arguments
    return json.dumps({"name": call.name, "arguments": arguments}, ensure_ascii=False)


def _escaped(value: Any) -> Any:
    """Return the description of a tool whose texts end no message of a chat."""
    if isinstance(value, str):
        return escape(value)
    if isinstance(value, Mapping):
        return {key: _escaped(one) for key, one in value.items()}
    return [_escaped(one) for one in value] if isinstance(value, list | tuple) else value
