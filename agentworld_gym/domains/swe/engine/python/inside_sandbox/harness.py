"""Collects and calls the tests of a program from inside a sandbox.

This file is written in the subset of Python that every sandbox runs, and is executed there and never on the host.
The plan of what there is to collect was made outside, from the text of the test files.
"""

import re
from typing import Any

import pytest as testing

pytest: Any = testing
PLAN: dict[str, Any] = {}
SPACES: dict[str, Any] = {}
CASES: list[dict[str, Any]] = []
VALUES: dict[int, Any] = {}
KEPT: dict[str, Any] = {}
CAPTURES: dict[str, Any] = {}
SHOWN = 240
MOST = 2000


def note(number: int, value: Any) -> Any:
    """Store the value of one part of an assertion; the rewritten test calls this function around that part."""
    VALUES[number] = value
    return value


def collect(index: int, space: dict[str, Any]) -> list[str]:
    """Return the ids of the tests of one module, whose namespace is given."""
    module = PLAN["modules"][index]
    SPACES[module["name"]] = space
    ids = []
    for test in module["tests"]:
        holder = space.get(test["class"] or test["name"])
        function = getattr(holder, test["name"], None) if test["class"] else holder
        marks = function.marks if isinstance(function, pytest.Marked) else []
        if len(CASES) > MOST:
            raise RuntimeError("too many tests")
        prefix = module["path"] + "::" + (test["class"] + "::" if test["class"] else "") + test["name"]
        for name, params in parameter_sets(marks):
            CASES.append({"module": index, "test": test, "params": params, "marks": marks, "id": prefix + name})
            ids.append(prefix + name)
    return ids


def parameter_sets(marks: list[Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return every combination of parameters with its id in brackets."""
    sets: list[tuple[list[str], dict[str, Any]]] = [([], {})]
    for mark, args, options in marks:
        if mark != "parametrize":
            continue
        names = args[0]
        if isinstance(names, str):
            names = [name.strip() for name in names.split(",") if name.strip()]
        given = options.get("ids") or (args[2] if len(args) > 2 else None)
        more: list[tuple[list[str], dict[str, Any]]] = []
        for labels, params in sets:
            for i, values in enumerate(args[1] if len(args) > 1 else options.get("argvalues", [])):
                name = given[i] if isinstance(given, (list, tuple)) else None
                if isinstance(values, pytest.Param):
                    name = values.name or name
                    values = values.values
                elif len(names) == 1:
                    values = (values,)
                own = {names[k]: values[k] for k in range(len(names))}
                if len(more) > MOST:
                    raise RuntimeError("too many tests")
                label = name or "-".join([label_of(values[k], names[k], i) for k in range(len(names))])
                more.append(([*labels, label], {**params, **own}))
        sets = more
    found = []
    taken: dict[str, int] = {}
    for labels, params in sets:
        text = "-".join(labels)
        taken[text] = taken.get(text, 0) + 1
        found.append((text, params))
    seen: dict[str, int] = {}
    named = []
    for text, params in found:
        if taken[text] > 1:
            seen[text] = seen.get(text, -1) + 1
            text = f"{text}{seen[text]}"
        named.append((f"[{text}]" if params else "", params))
    return named


def label_of(value: Any, name: str, index: int) -> str:
    """Return how a parameter stands in the id of a test."""
    if value is None or isinstance(value, (bool, int, float)):
        return str(value)
    if isinstance(value, str):
        return value[:SHOWN].replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")
    return f"{name}{index}"


def prepare(number: int) -> None:
    """Prepare a test: evaluate its marks and make its fixtures."""
    case = CASES[number]
    VALUES.clear()
    KEPT.clear()
    KEPT["finalizers"] = []
    KEPT["values"] = {}
    for mark, args, options in case["marks"]:
        if mark == "skip" or (mark == "skipif" and args and args[0]):
            default = "unconditional skip" if mark == "skip" else ""
            reason = options.get("reason", args[0] if mark == "skip" and args else default)
            raise pytest.outcome("Skipped", reason)
    module = PLAN["modules"][case["module"]]
    for name in module["fixtures"]:
        entry = module["fixtures"][name]
        found = SPACES[entry["module"]].get(entry["attribute"])
        if isinstance(found, pytest.Fixture) and found.autouse:
            value_of(name, case, module)
    KEPT["arguments"] = {}
    for name in case["test"]["args"]:
        KEPT["arguments"][name] = value_of(name, case, module)


def value_of(name: str, case: dict[str, Any], module: dict[str, Any]) -> Any:
    """Return the value of a parameter or of a fixture."""
    if name in case["params"]:
        return case["params"][name]
    if name in KEPT["values"]:
        return KEPT["values"][name]
    if name in CAPTURES:
        value = CAPTURES[name](KEPT["finalizers"])
        KEPT["values"][name] = value
        return value
    if name not in module["fixtures"]:
        known = sorted([*module["fixtures"], *CAPTURES])
        raise pytest.outcome(
            "Missing",
            f"fixture {name!r} not found\n>       available fixtures: {', '.join(known)}",
        )
    entry = module["fixtures"][name]
    made = SPACES[entry["module"]][entry["attribute"]]
    key = (entry["module"], entry["attribute"])
    if made.scope != "function" and key in WIDE:
        return WIDE[key]
    arguments = {arg: value_of(arg, case, module) for arg in entry["args"]}
    value = made.function(**arguments)
    if entry["generator"]:
        value, finish = DRAW[0](value)
        KEPT["finalizers"].append(finish)
    if made.scope != "function":
        WIDE[key] = value
    KEPT["values"][name] = value
    return value


WIDE: dict[Any, Any] = {}
DRAW: list[Any] = []


def call(number: int, space: Any = None) -> None:
    """Call a test that was prepared; `space` replaces the namespace of its module."""
    case = CASES[number]
    if space is None:
        space = SPACES[PLAN["modules"][case["module"]]["name"]]
    test = case["test"]
    if test["class"]:
        instance = space[test["class"]]()
        if hasattr(instance, "setup_method"):
            instance.setup_method()
        function = getattr(instance, test["name"])
        if isinstance(function, pytest.Marked):
            function.function(instance, **KEPT["arguments"])
        else:
            function(**KEPT["arguments"])
        if hasattr(instance, "teardown_method"):
            instance.teardown_method()
    else:
        space[test["name"]](**KEPT["arguments"])


def clear() -> None:
    """Undo what the fixtures of a test did, the last one first."""
    finalizers = KEPT.get("finalizers", [])
    while finalizers:
        finalizers.pop()()


def expected_failure(number: int) -> str | None:
    """Return why a test is marked as one that fails, or None if it is not marked."""
    for mark, args, options in CASES[number]["marks"]:
        if mark == "xfail" and not (args and not args[0]):
            return str(options.get("reason", ""))[:SHOWN]
    return None


def arguments() -> list[list[str]]:
    """Return names and reprs of the arguments of the current test."""
    given = KEPT.get("arguments", {})
    return [[name, short_repr(given[name])] for name in given]


def explain(path: str, line: int) -> dict[str, Any]:
    """Return the remembered values of the assertion at a line, and how the two sides of its comparison differ."""
    for entry in PLAN["asserts"]:
        if entry["path"] == path and entry["first"] <= line <= entry["last"]:
            values = {str(number): short_repr(VALUES[number]) for number in entry["numbers"] if number in VALUES}
            detail: list[str] = []
            if entry["compared"] and entry["compared"][0] in VALUES and entry["compared"][1] in VALUES:
                left, right = [VALUES[number] for number in entry["compared"]]
                detail = difference(left, right)
            return {"values": values, "detail": detail}
    return {"values": {}, "detail": []}


def short_repr(value: Any) -> str:
    """Return the repr of a value, without an address, and without its middle where it is long."""
    try:
        text = repr(value)
    except Exception as error:
        return f"<[{error!r} raised in repr()]>"
    text = re.sub(r"<(?:[\w.<>]+\.)?(\w+) object at 0x[0-9a-fA-F]+>", "<\\1 object at 0x7f3c1c0b5d90>", text)
    if len(text) > SHOWN:
        half = (SHOWN - 3) // 2
        text = text[:half] + "..." + text[len(text) - half :]
    return text


def difference(left: Any, right: Any) -> list[str]:
    """Return in which way two values differ that should be equal."""
    if isinstance(left, str) and isinstance(right, str):
        return ["\x01text", left[:2000], right[:2000]]
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return sequence_difference(left, right)
    if isinstance(left, (set, frozenset)) and isinstance(right, (set, frozenset)):
        lines = []
        for title, extra in (("left", left - right), ("right", right - left)):
            if extra:
                lines.append(f"Extra items in the {title} set:")
                lines += sorted([short_repr(item) for item in extra])
        return lines
    if isinstance(left, dict) and isinstance(right, dict):
        return dict_difference(left, right)
    return []


def sequence_difference(left: Any, right: Any) -> list[str]:
    """Return the first item that differs, and the items that one side has more."""
    lines = []
    for i in range(min(len(left), len(right))):
        if left[i] != right[i]:
            lines.append(f"At index {i} diff: {short_repr(left[i])} != {short_repr(right[i])}")
            break
    if len(left) != len(right):
        more, name = (left, "Left") if len(left) > len(right) else (right, "Right")
        count = len(more) - min(len(left), len(right))
        first = short_repr(more[len(more) - count])
        if count == 1:
            lines.append(f"{name} contains one more item: {first}")
        else:
            lines.append(f"{name} contains {count} more items, first extra item: {first}")
    return lines


def dict_difference(left: dict[Any, Any], right: dict[Any, Any]) -> list[str]:
    """Return the common items, those that differ, and those of one side only."""
    lines = []
    same = [key for key in left if key in right and left[key] == right[key]]
    if same:
        lines.append(f"Omitting {len(same)} identical items, use -vv to show")
    changed = [key for key in left if key in right and left[key] != right[key]]
    if changed:
        lines.append("Differing items:")
        lines += [f"{{{key!r}: {short_repr(left[key])}}} != {{{key!r}: {short_repr(right[key])}}}" for key in changed]
    for name, one, other in (("Left", left, right), ("Right", right, left)):
        extra = {key: one[key] for key in one if key not in other}
        if extra:
            lines.append(f"{name} contains {len(extra)} more item{'' if len(extra) == 1 else 's'}:")
            lines.append(short_repr(extra))
    return lines
