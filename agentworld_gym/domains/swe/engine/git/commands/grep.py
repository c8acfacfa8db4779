"""`git grep`."""

from __future__ import annotations

from agentworld_gym.domains.swe.engine.git.call import GitCall
from agentworld_gym.domains.swe.engine.git.history import GitError
from agentworld_gym.domains.swe.engine.git.options import read_options
from agentworld_gym.domains.swe.engine.patterns import BadPattern, LinearPattern


def grep(call: GitCall, argv: list[str]) -> None:
    """`git grep`."""
    options = read_options(
        "grep",
        argv,
        "number -n --line-number; files -l --name-only; case -i; count -c --count; shape -E -P -I; fixed -F; word -w",
        "pattern -e",
    )
    words = list(options.operands)
    if "pattern" not in options and not words:
        raise GitError("fatal: no pattern given\n")
    text = options.values.get("pattern") or words.pop(0)
    plain = "".join(f"\\{char}" if char in "\\^$.|?*+()[]{}" else char for char in text) if "fixed" in options else text
    try:
        pattern = LinearPattern(rf"\b(?:{plain})\b" if "word" in options else plain, ignore_case="case" in options)
    except BadPattern:
        raise GitError(f"fatal: command line, '{text}': Invalid regular expression\n") from None
    tree = call.tracked()
    chosen, _ = call.select([*words, *(options.paths or [])], tree) if words or options.paths else (sorted(tree), [])
    call.status = 1
    for path in chosen:
        rows = [(n, line) for n, line in enumerate(tree[path].split("\n"), 1) if line and pattern.matches(line)]
        if not rows:
            continue
        call.status = 0
        name = call.relative_path(path)
        if "files" in options:
            call.say(f"{name}\n")
        elif "count" in options:
            call.say(f"{name}:{len(rows)}\n")
        else:
            call.say("".join(f"{name}:{f'{n}:' if 'number' in options else ''}{line}\n" for n, line in rows))
