"""Steps that BrowserGym or AgentLab recorded: an experiment's folder, or its steps as JSON.

A step holds what was seen (`obs`) and the `action` chosen on it; what the action led to stands in the next step.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import orjson

from agentworld_gym.base.errors import SpecError
from agentworld_gym.domains.web.importers.pickles import read_pickle
from agentworld_gym.recipe.importers.conversation import ImportTally, score_of
from agentworld_gym.recipe.importers.session_format import ImportedSession, SessionFormat
from agentworld_gym.recipe.importers.turns import Turns

Step = Mapping[str, Any]

SHOWN = (
    "url",
    "open_pages_urls",
    "open_pages_titles",
    "active_page_index",
    "focused_element_bid",
    "last_action_error",
    "axtree_txt",
    "axtree_object",
    "extra_element_properties",
    "goal",
    "goal_object",
    "last_action",
)
"""Keys of an observation that come over, or that another key repeats."""

NAMES = ("episode_id", "trajectory_id", "exp_id", "exp_dir", "exp_name")
"""Keys of a step that stands apart which may say what session it belongs to."""

READ = ("step", "obs", "action", "reward", "raw_reward", "terminated", "truncated", "task_name", *NAMES)
MAX_CHARS = 2**22
"""How much one page or goal may say: a small file can name one long text many times."""
DEEPEST = 200
"""Levels of a tree; deeper nodes are left out."""

_STEP_FILE = re.compile(r"step_(\d+)\.pkl(?:\.gz)?")
_QUIET = {"editable", "readonly", "level", "settable", "multiline", "invalid", "focusable"}
_ALONE = {"required", "focused", "atomic"}


def is_step(record: Any) -> bool:
    """Whether a JSON object is one step.

    >>> is_step({"step": 0, "obs": {"url": "a"}, "action": "noop()"}), is_step({"messages": []})
    (True, False)
    """
    return isinstance(record, Mapping) and "obs" in record and ("action" in record or "step" in record)


def is_session(record: Any) -> bool:
    """Whether a JSON object is a session: its `steps`."""
    steps = record.get("steps") if isinstance(record, Mapping) else None
    return isinstance(steps, list) and bool(steps) and is_step(steps[0])


def grouped(records: Iterator[tuple[int, Step]]) -> Iterator[tuple[int, Step]]:
    """The records of a file with their numbers; steps in a row become one session, which begins at step 0.

    >>> step = {"obs": {}, "action": "noop()"}
    >>> found = grouped(iter([(1, {**step, "step": 0}), (2, {**step, "step": 1}), (3, {**step, "step": 0})]))
    >>> [(number, len(record["steps"])) for number, record in found]
    [(1, 2), (3, 1)]
    """
    first, steps = 0, list[Step]()
    for number, record in records:
        if not is_step(record):
            if steps:
                yield first, _session(steps)
                steps = []
            yield number, record
            continue
        if steps and (_starts(record, steps[-1]) or _name(record) != _name(steps[-1])):
            yield first, _session(steps)
            steps = []
        if not steps:
            first = number
        steps.append(record)
    if steps:
        yield first, _session(steps)


def experiments(folder: Path) -> list[Path]:
    """The folders of experiments in a folder, itself included: those that hold pickled steps."""
    return sorted({path.parent for path in folder.rglob("step_*.pkl*") if _STEP_FILE.fullmatch(path.name)})


def experiment(folder: Path) -> Step:
    """The session that an experiment's folder holds, as one record.

    Raises:
        SpecError: a file is broken, or a pickle names code that no record of steps needs.
    """
    paths = {int(m[1]): path for path in folder.iterdir() if (m := _STEP_FILE.fullmatch(path.name))}
    steps = [read_pickle(paths[number]) for number in sorted(paths)]
    record: dict[str, Any] = {"id": folder.name, "steps": [step for step in steps if isinstance(step, Mapping)]}
    goal = next((path for path in folder.glob("goal_object.pkl*")), None)
    if goal is not None:
        record["goal_object"] = read_pickle(goal)
    arguments = folder / "exp_args.pkl"
    if arguments.is_file():
        record["task_name"] = _mapping(_mapping(read_pickle(arguments)).get("env_args")).get("task_name")
    summary = folder / "summary_info.json"
    if summary.is_file():
        try:
            record["cum_reward"] = _mapping(orjson.loads(summary.read_bytes())).get("cum_reward")
        except orjson.JSONDecodeError as error:
            raise SpecError(summary, "file", str(error), "JSON") from error
    return record


def browsed(record: Step, name: str, tally: ImportTally) -> ImportedSession:
    """The turns of a session, and in the tally what has no place in them."""
    listed = record.get("steps")
    steps = [_mapping(step) for step in listed] if isinstance(listed, list) else []
    seen = [_mapping(step.get("obs")) for step in steps]
    actions, observations = [], []
    for number, step in enumerate(steps):
        _count(step, seen[number], tally)
        action = step.get("action")
        if not isinstance(action, str) or not action.strip():
            continue
        if number + 1 < len(steps) and seen[number + 1]:
            actions.append(action)
            observations.append(page(seen[number + 1], tally))
        else:
            tally.leave("action without an observation after it")
    goals = [text for place in (record, *seen) if (text := _goal(place, tally))]
    rewards = [score for step in steps if (score := score_of(step.get("reward"))) is not None]
    total = score_of(record.get("cum_reward"))
    return ImportedSession(
        _text(record.get("id")) or _name(record) or name,
        Turns(
            goals[0] if goals else "",
            (),
            tuple(actions),
            tuple(observations),
            None,
            page(seen[0], tally) if seen and seen[0] else "",
        ),
        _text(record.get("task_name")),
        sum(rewards) if total is None and rewards else total,
    )


def page(seen: Step, tally: ImportTally) -> str:
    r"""What an agent sees of a page: address, tabs, focused element, the last action's error, and the tree.

    >>> step = {"url": "http://a.example/", "focused_element_bid": "7", "axtree_txt": "[7] button 'Go'"}
    >>> print(page(step, ImportTally()))
    URL: http://a.example/
    Focused element: 7
    <BLANKLINE>
    [7] button 'Go'
    """
    lines = [f"URL: {_text(seen.get('url'))}"]
    urls, titles = _texts(seen.get("open_pages_urls")), _texts(seen.get("open_pages_titles"))
    active = seen.get("active_page_index")
    if isinstance(active, Mapping):
        active = active.get("values")
    active = active[0] if isinstance(active, list) and active else active
    if len(urls) > 1:
        lines.append("Open tabs:")
        size = 0
        for number, (url, title) in enumerate(zip_longest(urls, titles[: len(urls)], fillvalue="")):
            size += len(url) + len(title)
            if size > MAX_CHARS:
                tally.leave("tabs beyond what a page may say", len(urls) - number)
                break
            lines.append(f"  {number}: {title} ({url}){', active' if number == active else ''}")
    if focused := _text(seen.get("focused_element_bid")):
        lines.append(f"Focused element: {focused}")
    if error := _text(seen.get("last_action_error")):
        lines.append(f"Error of the last action: {error}")
    tree = seen.get("axtree_txt")
    if not isinstance(tree, str):
        tree = flat_tree(seen.get("axtree_object"), _mapping(seen.get("extra_element_properties")))
    if not tree:
        tally.leave("observation without an accessibility tree (kept without it)")
    return "\n".join([*lines, "", tree] if tree else lines)


def flat_tree(tree: Any, properties: Step | None = None) -> str:
    r"""The text of a raw accessibility tree (`axtree_object`), as BrowserGym's agents are shown it.

    A line a node, indented by tabs: `[bid] role 'name' value='…', clickable, property=…`. Nodes without a name, and
    texts that their parent's name holds already, are passed over; their children move up.

    >>> role, name = {"value": "button"}, {"value": "Go"}
    >>> root = {"nodeId": "1", "role": {"value": "RootWebArea"}, "name": {"value": "A"}, "childIds": ["2"]}
    >>> button = {"nodeId": "2", "role": role, "name": name, "browsergym_id": "7", "childIds": []}
    >>> flat_tree({"nodes": [root, button]}, {"7": {"clickable": True}})
    "RootWebArea 'A'\n\t[7] button 'Go', clickable"
    """
    listed = _mapping(tree).get("nodes")
    nodes = [node for node in listed if isinstance(node, Mapping)] if isinstance(listed, list) else []
    by_id = {node.get("nodeId"): node for node in reversed(nodes) if isinstance(node.get("nodeId"), str | int)}
    lines: list[str] = []
    size = 0
    done: set[Any] = set()
    pending: list[tuple[Any, int, str]] = [(nodes[0].get("nodeId"), 0, "")] if nodes else []
    while pending and size <= MAX_CHARS:
        key, depth, above = pending.pop()
        node = by_id.get(key) if isinstance(key, str | int) else None
        if node is None or key in done or depth > DEEPEST:
            continue
        done.add(key)
        line, name = _line(node, above, properties or {})
        if line is not None:
            lines.append("\t" * depth + line)
            size += len(line)
            depth += 1
        children = node.get("childIds")
        pending += [(child, depth, name) for child in reversed(children if isinstance(children, list) else [])]
    return "\n".join(lines)


def _line(node: Step, above: str, properties: Step) -> tuple[str | None, str]:
    """The line of a node, None where it is passed over, and its name."""
    role, name = _text(_value(node.get("role"))), _value(node.get("name"))
    if role == "LineBreak" or "name" not in node:
        return None, ""
    name = _text(name)
    bid = _text(node.get("browsergym_id"))
    attributes = []
    listed = node.get("properties")
    for entry in listed if isinstance(listed, list) else ():
        key, value = _mapping(entry).get("name"), _value(_mapping(entry).get("value"))
        if not isinstance(key, str) or key in _QUIET or value is None:
            continue
        if key in _ALONE:
            attributes += [key] if value else []
        else:
            attributes.append(f"{key}={value!r}")
    if role == "generic" and not attributes:
        return None, name
    if role == "StaticText" and name in above:
        return None, name
    if role != "StaticText" and _mapping(properties.get(bid)).get("clickable"):
        attributes.insert(0, "clickable")
    line = role if role == "generic" and not name else f"{role} {name.strip()!r}"
    if bid:
        line = f"[{bid}] {line}"
    value = _value(node.get("value"))
    if value is not None:
        line += f" value={value!r}"
    return ", ".join([line, *attributes]), name


def _count(step: Step, seen: Step, tally: ImportTally) -> None:
    """Count what a step holds beside its turn."""
    for key in step.keys() - set(READ):
        if key == "agent_info":
            for inner, value in _mapping(step[key]).items():
                tally.leave(f"agent_info.{inner}", int(_there(value)))
        else:
            tally.leave(f"step.{key}", int(_there(step[key])))
    for key in seen.keys() - set(SHOWN):
        tally.leave(f"obs.{key}", int(_there(seen[key])))


def _there(value: Any) -> bool:
    return value is not None and value not in ("", [], {}, ())


def _goal(place: Step, tally: ImportTally) -> str:
    """The goal as text; its pictures are counted."""
    given = place.get("goal_object")
    if isinstance(given, list | tuple) and given:
        parts = [_mapping(part) for part in given]
        tally.leave("picture in the goal", sum(part.get("type") != "text" for part in parts))
        texts = [part["text"] for part in parts if isinstance(part.get("text"), str)]
        whole = len(texts)
        while sum(map(len, texts)) > MAX_CHARS:
            del texts[len(texts) // 2 :]
        tally.leave("text of the goal beyond what one may say", whole - len(texts))
        if texts:
            return "\n".join(texts)
    goal = place.get("goal")
    return goal if isinstance(goal, str) else ""


def _session(steps: Sequence[Step]) -> Step:
    """Steps that stood apart as one record, named as they are."""
    name = _name(steps[0])
    return {"steps": list(steps), "task_name": steps[0].get("task_name"), **({"id": name} if name else {})}


def _name(step: Step) -> str:
    return next((text for key in NAMES if (text := _text(step.get(key)))), "")


def _starts(step: Step, last: Step) -> bool:
    """Whether a step begins another session than the one before it belongs to."""
    number, before = step.get("step"), last.get("step")
    return isinstance(number, int) and isinstance(before, int) and number <= before


def _value(field: Any) -> Any:
    """The value of a field of a node, if it is plain."""
    value = field.get("value") if isinstance(field, Mapping) else None
    return value if isinstance(value, str | bool | float) or _is_small(value) else None


def _text(value: Any) -> str:
    # Only what is plain: the text of a list that holds itself many times would be endless.
    return value if isinstance(value, str) else str(value) if _is_small(value) else ""


def _is_small(value: Any) -> bool:
    return isinstance(value, int) and abs(value) < 2**63


def _texts(values: Any) -> list[str]:
    return [_text(value) for value in values] if isinstance(values, list | tuple) else []


def _mapping(value: Any) -> Step:
    return value if isinstance(value, Mapping) else {}


class BrowserGymSteps(SessionFormat):
    """Steps of BrowserGym and AgentLab, one a line, in one object, or pickled in an experiment's folder."""

    files = "experiments of BrowserGym"

    def is_session(self, record: Any) -> bool:
        """Return whether a JSON object is a session: its `steps`."""
        return is_session(record)

    def session(self, record: Step, name: str, tally: ImportTally) -> ImportedSession:
        """Read a session."""
        return browsed(record, name, tally)

    def grouped(self, records: Iterator[tuple[int, Step]]) -> Iterator[tuple[int, Step]]:
        """Yield the records of a file; steps in a row become one session."""
        return grouped(records)

    def folders(self, folder: Path) -> list[Path]:
        """Return the folders of experiments."""
        return experiments(folder)

    def read_folder(self, folder: Path) -> Step:
        """Return the session of an experiment."""
        return experiment(folder)


FORMAT = BrowserGymSteps()
"""The format, as the domain names it."""
