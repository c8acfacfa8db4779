"""Files from elsewhere: what a task, a recording or a trace holds costs little to read, and what is wrong is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from worlds import make

from agentworld_gym import RecordingError, SpecError, Task, TraceError
from agentworld_gym.base.documents.json_lines import sealed
from agentworld_gym.base.documents.strict import read_yaml
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import load_task
from agentworld_gym.core.traces import read_header, read_trace

# YAML


def bomb(levels: int, of: str = "[*{}, *{}, *{}, *{}, *{}, *{}, *{}, *{}, *{}]") -> str:
    lines = ["a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    for level in range(1, levels):
        lines.append(f"a{level}: &a{level} " + of.format(*[f"a{level - 1}"] * 9))
    return "\n".join(lines) + "\n"


WRONG = {
    "lists of aliases": (bomb(9), "line 8", "characters with its aliases written out"),
    "mappings of aliases": (bomb(20, "{{x: *{}, y: *{}, z: *{}}}"), "line", "aliases written out"),
    "merged mappings": (
        "a0: &a0 {k: v}\n" + "".join(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}\n" for n in range(1, 12)),
        "line",
        "aliases written out",
    ),
    "one long text a thousand times": (f"a: &a {'x' * 100_000}\nb: [{', '.join(['*a'] * 1000)}]\n", "line", "aliases"),
    "a list in itself": ("state: &s [1, *s]\n", "line 1", "an alias of what it stands in"),
    "a mapping in itself": ("state: &s\n  files: {a: *s}\n", "line 2", "an alias of what it stands in"),
    "a deep list": ("state: " + "[" * 5000 + "]" * 5000, "line 1", "nested deeper than 64"),
    "a deep mapping": ("".join(f"{' ' * n}a:\n" for n in range(200)), "line 64", "nested deeper than 64"),
    "a deep document that never ends": ("{a: " * 100_000, "line 1", "nested deeper than 64"),
    "an endless weight": ("instruction: x\nweight: .inf\n", "line 2", "no finite number"),
    "no number": ("weight: .nan", "line 1", "no finite number"),
    "a number beyond all": ("weight: 1.0e+999", "line 1", "no finite number"),
    "too many digits": (f"weight: {'9' * 5000}", "line 1", "digits"),
    "a date that is none": ("clock: 2024-13-45", "the whole file", "month"),
    "a hexadecimal number of many digits": (f"clock: 1\nweight: 0x{'f' * 5000}", "line 2", "digits"),
    "a number in sixties of many digits": (f"weight: 1{':00' * 3000}", "line 1", "digits"),
    "a character that no document may hold": ("instruction: a\n\0b", "line 2", "special characters"),
    "an object": ("a: !!python/object/apply:os.system [ls]", "line 1", "constructor"),
}


@pytest.mark.parametrize("name", WRONG)
def test_yaml_that_means_too_much_or_nothing_is_named_by_file_and_line(name: str, tmp_path: Path) -> None:
    text, line, problem = WRONG[name]
    path = tmp_path / "task.yaml"
    path.write_text(text)
    with pytest.raises(SpecError) as refused:
        load_task(path, "terminal")
    assert refused.value.file == str(path) and refused.value.key.startswith(line)
    assert problem in str(refused.value.value)


def test_aliases_in_reason_are_read() -> None:
    assert load_spec("web").action.tools
    text = "a: &a {b: [1, 2]}\nc: *a\nd: [*a, *a]\ne: {<<: *a, f: 1.5}\n"
    assert yaml.safe_load(text) == {
        "a": {"b": [1, 2]},
        "c": {"b": [1, 2]},
        "d": [{"b": [1, 2]}] * 2,
        "e": {"b": [1, 2], "f": 1.5},
    }


def test_what_is_read_is_what_the_safe_loader_reads(tmp_path: Path) -> None:
    folder = load_spec("web").path.parent
    for path in [*folder.glob("*.yaml"), *sorted(folder.rglob("tasks/*/*.yaml"))[:20]]:
        assert read_yaml(path) == yaml.safe_load(path.read_text(encoding="utf-8"))


def test_a_path_that_no_file_can_have_is_named() -> None:
    with pytest.raises(SpecError, match="expected a readable UTF-8 file"):
        read_yaml(Path("a\0b.yaml"))


CHECK = {"probe": "ls", "expect": {"equals": "a"}}


@pytest.mark.parametrize(
    "fields",
    [
        {"success": [CHECK | {"weight": float("inf")}]},
        {"success": [CHECK | {"weight": float("nan")}]},
        {"success": [{"answer": {"number": float("inf")}}]},
        {"success": [{"answer": {"number": 1, "tolerance": float("inf")}}]},
        {"controls": {"slow-service": float("nan")}},
        {"state": {"files": {"a": float("inf")}}},
        {"hidden": {"a": [float("nan")]}},
    ],
)
def test_a_task_holds_no_number_that_json_cannot(fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="finite"):
        Task(**{"id": "t", "domain": "terminal", "instruction": "Do.", "success": [CHECK], **fields})


@pytest.mark.parametrize("key", ["state", "hidden"])
def test_a_task_made_in_python_holds_no_circle_and_no_abyss(key: str) -> None:
    circle: dict[str, Any] = {}
    circle["a"] = {"b": circle}
    deep: Any = 1
    for _ in range(10_000):
        deep = [deep]
    env = make(world="grounded")
    for value in (circle, {"a": deep}):
        with pytest.raises(SpecError, match="nested at most 64 deep"):
            env.reset(seed=1, options={"task": {"instruction": "Do.", "success": [CHECK], key: value}})


# Recordings


def recorded(folder: Path) -> Path:
    path = folder / "r.jsonl"
    env = make(world=f"record:{path}+grounded")
    env.reset(seed=3)
    for action in ("ls", "pwd", "finish"):
        env.step(action)
    env.close()
    return path


def edited(path: Path, line: int, **fields: Any) -> None:
    """Change fields of one line of a file, counted from 1; None takes a field out."""
    rows = [json.loads(text) for text in path.read_text().splitlines()]
    rows[line - 1] = {key: value for key, value in (rows[line - 1] | fields).items() if value is not None}
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        (1, {"fingerprint": {}}),
        (2, {"text": "You have won."}),
        (2, {"system": "another prompt"}),
        (3, {"text": "secret.txt"}),
        (3, {"action": "whoami"}),
        (3, {"usage": [0, 0, 9]}),
        (4, {"key": "0123456789abcdef"}),
        (4, {"parent": "0123456789abcdef"}),
        (4, {"note": "of no harm"}),
        (4, {"digest": "0" * 32}),
        (4, {"digest": None}),
    ],
)
def test_an_edited_line_of_a_recording_is_named(tmp_path: Path, line: int, fields: dict[str, Any]) -> None:
    """An answer that was changed would change the reward of whoever replays it."""
    path = recorded(tmp_path)
    edited(path, line, **fields)
    for world in (f"recorded:{path}", f"record:{path}+grounded"):
        with pytest.raises(RecordingError, match=rf"r\.jsonl: line {line}: .*digest"):
            make(world=world)


@pytest.mark.parametrize("change", [{"text": 5}, {"usage": None}, {"key": None}, {"parent": None}, {"seed": "one"}])
def test_a_line_that_is_no_entry_is_named_whatever_its_digest(tmp_path: Path, change: dict[str, Any]) -> None:
    path = recorded(tmp_path)
    rows = [json.loads(text) for text in path.read_text().splitlines()]
    row = {key: value for key, value in (rows[2] | change).items() if value is not None and key != "digest"}
    rows[2] = sealed(row, rows[1]["digest"])
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(RecordingError, match=rf"r\.jsonl: line 3: {next(iter(change))}: got"):
        make(world=f"recorded:{path}")


def test_a_line_that_is_taken_out_moved_or_doubled_is_noticed_at_the_next(tmp_path: Path) -> None:
    path = recorded(tmp_path)
    one, two, three, four, *rest = path.read_text().splitlines(keepends=True)
    for lines in ([one, two, four, *rest], [one, two, four, three, *rest], [one, two, three, three, four, *rest]):
        path.write_text("".join(lines))
        with pytest.raises(RecordingError, match=r"r\.jsonl: line [34]: .*digest"):
            make(world=f"recorded:{path}")


def test_a_recording_that_went_on_later_is_whole(tmp_path: Path) -> None:
    path = recorded(tmp_path)
    for actions in (["ls", "whoami"], ["ls \ud800", "ls"]):
        env = make(world=f"record:{path}+grounded")
        env.reset(seed=3)
        seen = [env.step(action)[0] for action in actions]
        env.close()
        with path.open("ab") as file:
            file.write(b'{"key": "torn by a kill')
    env = make(world=f"recorded:{path}")
    env.reset(seed=3)
    assert [env.step(action)[0] for action in actions] == seen


def test_a_recording_without_digests_is_none(tmp_path: Path) -> None:
    path = recorded(tmp_path)
    edited(path, 1, format="agentworld-recording-1", digest=None)
    with pytest.raises(RecordingError, match="record again"):
        make(world=f"recorded:{path}")


# Traces


def traced(folder: Path) -> tuple[Path, Path]:
    """The agent's and the world's log of one episode with two steps and a fork."""
    env = make(world="grounded", traces=str(folder))
    env.reset(seed=3)
    env.step("ls")
    env.fork().step("pwd")
    env.close()
    (agent,), (world,) = folder.glob("*.agent.jsonl"), folder.glob("*.world.jsonl")
    assert len(list(read_trace(folder))) == 2
    return agent, world


@pytest.mark.parametrize("log", ["agent", "world"])
def test_a_trace_that_misses_anything_names_the_file_and_the_line(tmp_path: Path, log: str) -> None:
    agent, world = traced(tmp_path)
    path = agent if log == "agent" else world
    whole = path.read_text()
    told = 0
    for line, text in enumerate(whole.splitlines()[1:], 2):
        for key in json.loads(text):
            for value in (None, [{}]):
                edited(path, line, **{key: value})
                try:
                    for episode in read_trace(tmp_path):
                        assert isinstance(episode.start["observation"], str)
                except TraceError as error:
                    told += 1
                    assert f"{path}: line {line}" in str(error) or "whose start is not in the trace" in str(error)
                path.write_text(whole)
    assert told >= (30 if log == "agent" else 8)


@pytest.mark.parametrize(
    ("torn", "reason"),
    [
        ('{"episode": "a", "turn', "unexpected control character"),
        ('{"reward": NaN}', "NaN and Infinity"),
        ('"\\ud800"', "surrogate"),
        ("[]", "object"),
    ],
)
def test_a_torn_line_within_a_log_names_the_file_the_line_and_the_reason(
    tmp_path: Path, torn: str, reason: str
) -> None:
    for path in traced(tmp_path):
        whole = path.read_text()
        first, rest = whole.split("\n", 1)
        path.write_text(f"{first}\n{torn}\n{rest}")
        with pytest.raises(TraceError, match=rf"{path.name}: line 2: .*{reason}"):
            list(read_trace(tmp_path))
        path.write_text(whole)


def test_a_header_that_is_torn_is_no_header(tmp_path: Path) -> None:
    agent, _ = traced(tmp_path)
    agent.write_text(agent.read_text().split("\n", 1)[1])
    with pytest.raises(TraceError, match="not a trace"):
        read_header(agent)
