"""Rows of the benchmark, what a judge and a model write, and runs of scripts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from agentworld_gym.core.contracts import ChatRequest, Completion, Failure
from agentworld_gym.evaluation.bench.runner import BenchRun, Model
from agentworld_gym.evaluation.results.bench import BenchResult
from agentworld_gym.llm.generators import ScriptedGenerator
from agentworld_gym.llm.judging.bench_rows import BenchRows
from agentworld_gym.llm.judging.judge import Judge

Answer = str | Completion | Failure
CLOSING = "\n\nNow predict."


def official(task: str, name: str, truth: str = "ok", turns: int = 1) -> dict[str, Any]:
    """A row of the benchmark; the last of its turns is the one to predict."""
    return {
        "task": task,
        "id": name,
        "system_str": f"You are {task}.",
        "prompt": [*(f"act {name} {n}" for n in range(1, turns)), f"act {name} {turns}{CLOSING}"],
        "response": [
            *(f"**Environment Observation:**\nseen {n}" for n in range(1, turns)),
            f"**Environment Observation:**\n{truth}",
        ],
        "current_prompt": f"act {name} {turns}",
        "turn_idx": turns,
        "total_turns": turns + 1,
    }


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_bytes(b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows))
    return path


def verdict(**scores: Any) -> str:
    return f"<final_evaluation>{json.dumps({'strengths': 's', 'weaknesses': 'w', 'scores': scores})}</final_evaluation>"


def tagged(text: str) -> str:
    return f"<think>hm</think><predicted_observation>\n{text}\n</predicted_observation>"


def run(
    rows: BenchRows,
    folder: Path,
    say: Callable[[ChatRequest], Answer],
    judge: Callable[[ChatRequest], Answer] | None = None,
    **options: Any,
) -> BenchResult:
    """A run of scripts."""
    scorer = Judge(ScriptedGenerator(judge, name="judge"), handle="judge") if judge else None
    bench = BenchRun(rows, Model(ScriptedGenerator(say, name="model"), handle="model"), scorer, folder, **options)
    try:
        return bench.run()
    finally:
        bench.close()


def asked_of(request: ChatRequest) -> str:
    """The name of the row that a request is about, from the current turn of its last message."""
    return request.messages[-1]["content"].rpartition("act ")[2].split()[0]
