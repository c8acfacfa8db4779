"""Work that waits for answers, many pieces of it side by side: what waves, `send` and `recv` are made of.

A piece of work is a Python generator. Where it needs an answer, it yields the question and is resumed with the answer:

- A `Request` goes to a generator.
- A `BatchedCall` goes to a function that answers many questions at once, such as `World.step`.
- A list of further pieces of work is answered by the list of their results.
- `TOGETHER` (None) marks the place from which on the work changes a session.

A `Flow` resumes each piece as its answer comes. `in_one_wave` asks the questions of all pieces together, and resumes
none beyond `TOGETHER` before all of them are there, so that an interrupted wave leaves every session as it was. Both
are a `Scheduler` and differ in whom they let wait.
"""

from agentworld_gym.core.flow.flow import Flow
from agentworld_gym.core.flow.questions import (
    TOGETHER,
    Answering,
    Asked,
    BatchedCall,
    Request,
    Work,
    answering_of,
    named,
)
from agentworld_gym.core.flow.streams import UNANSWERED, stream_of, submit_to
from agentworld_gym.core.flow.wave import in_one_wave

__all__ = [
    "TOGETHER",
    "UNANSWERED",
    "Answering",
    "Asked",
    "BatchedCall",
    "Flow",
    "Request",
    "Work",
    "answering_of",
    "in_one_wave",
    "named",
    "stream_of",
    "submit_to",
]
