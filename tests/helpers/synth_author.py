"""A scripted author of tool worlds: it answers the requests of the pipeline from sheets, well, badly or absurdly."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import synth_fastapi
import yaml

from agentworld_gym.core.contracts import ChatRequest, Completion, Usage
from agentworld_gym.llm.generators import ScriptedGenerator

SHEETS = Path(__file__).parent / "synth_sheets"

Fault = Callable[[str], str]
"""Makes a wrong answer of a right one."""

_STAGES = {
    "services for which worlds shall be built": "scenario",
    "tasks for agents that work with this service": "tasks",
    "Write the tables of the database": "schema",
    "Write the rows of the start": "sample data",
    "Name the tools of the server": "interface",
    "Write the body of every tool": "implementation",
    "Write the server as one Python file": "implementation",
    "Write a solution and a test of success": "verifier",
    "Write a solution and a verifier": "verifier",
}


@cache
def sheet(name: str) -> dict[str, Any]:
    """The sheet of a world: brief, schema, rows, tools and tasks."""
    found: dict[str, Any] = yaml.safe_load((SHEETS / f"{name}.yaml").read_text(encoding="utf-8"))
    return {"name": name, **found}


def names() -> list[str]:
    """The worlds that there are sheets of."""
    return sorted(path.stem for path in SHEETS.glob("*.yaml"))


def fenced(language: str, body: str) -> str:
    return f"```{language}\n{body}\n```"


def dumped(data: Any) -> str:
    return fenced("yaml", yaml.safe_dump(json.loads(json.dumps(data)), sort_keys=False, allow_unicode=True))


class Author:
    """Answers like a model that knows some worlds by heart.

    Args:
        worlds: The names of the sheets, in the order in which scenarios are told.
        faults: For a world and a stage, the faults of its first answers, one after the other; in the stage of
            verifiers those of its first task.
    """

    def __init__(
        self, worlds: Sequence[str] = (), faults: Mapping[tuple[str, str], Sequence[Fault]] | None = None
    ) -> None:
        self.worlds = list(worlds or names())
        self.faults = dict(faults or {})
        self.asked: Counter[tuple[str, str, str]] = Counter()
        self._told = 0

    def generator(self) -> ScriptedGenerator:
        return ScriptedGenerator(self.answer, name="author")

    def answer(self, request: ChatRequest) -> Completion:
        """Answer one request."""
        text = request.messages[1]["content"]
        stage = next(stage for phrase, stage in _STAGES.items() if phrase in text)
        match = re.search(r"The world is the server `(\w+)`", text)
        world = match.group(1) if match else "scenarios"
        task = re.search(r"^> (.*)$", text, re.MULTILINE)
        key = (world, stage, task.group(1) if task else "")
        first = not key[2] or key[2] == sheet(world)["tasks"][0]["sentence"].strip()
        number = self.asked[key]
        self.asked[key] += 1
        right = self._right(stage, world, text, task.group(1) if task else "")
        faults = self.faults.get((world, stage), ()) if first else ()
        answer = faults[number](right) if number < len(faults) else right
        words = sum(len(message["content"].split()) for message in request.messages)
        return Completion(answer, usage=Usage(words, len(answer.split())))

    def _right(self, stage: str, world: str, text: str, task: str) -> str:
        if stage == "scenario":
            match = re.search(r"Think of (\d+) services", text)
            assert match is not None
            known = set(re.findall(r"^- (\w+): ", text, re.MULTILINE))
            left = [name for name in self.worlds if name not in known]
            return dumped({"scenarios": [brief(name) for name in left[: int(match.group(1))]]})
        return right_answer(stage, world, task, awm="one Python file" in text or "a verifier" in text)


def brief(name: str) -> dict[str, str]:
    return {key: sheet(name)[key].strip() for key in ("name", "title", "description")}


def right_answer(stage: str, world: str, task: str = "", awm: bool = False) -> str:
    """The right answer to the request of a stage."""
    about = sheet(world)
    match stage:
        case "tasks":
            return dumped({"tasks": [one["sentence"].strip() for one in about["tasks"]]})
        case "schema":
            return fenced("sql", about["schema"])
        case "sample data":
            return fenced("sql", about["rows"])
        case "interface":
            return dumped({"tools": [{key: one[key] for key in one if key != "body"} for one in about["tools"]]})
        case "implementation" if awm:
            return fenced("python", synth_fastapi.code(about))
        case "implementation":
            return dumped({"tools": {one["name"]: one["body"] for one in about["tools"]}})
    [wanted] = [one for one in about["tasks"] if one["sentence"].strip() == task]
    keys = ("solution", "answer", "free") if awm else ("solution", "answer", "free", "success")
    solution = dumped({key: wanted[key] for key in keys if key in wanted})
    return f"{solution}\n\n{fenced('python', synth_fastapi.verifier(wanted))}" if awm else solution


# Faults


def prose(answer: str) -> str:
    """No fault: what models write around an answer."""
    return f"<think>\nLet me think.\n</think>\nCertainly! Here it is:\n\n{answer}\n\nI hope that this helps."


def nothing(answer: str) -> str:
    return ""


def refusal(answer: str) -> str:
    return "I am sorry, I cannot help with that."


def replaced(old: str, new: str) -> Fault:
    """Replace a text that has to be there."""

    def fault(answer: str) -> str:
        assert old in answer, f"{old!r} is not in the answer"
        return answer.replace(old, new)

    return fault


def instead(text: str) -> Fault:
    return lambda answer: text


def without_tool(name: str) -> Fault:
    """Leave a tool out of an implementation."""

    def fault(answer: str) -> str:
        data = yaml.safe_load(answer.split("\n", 1)[1].rsplit("\n", 1)[0])
        del data["tools"][name]
        return dumped(data)

    return fault
