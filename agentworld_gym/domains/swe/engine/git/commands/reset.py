"""`git reset`."""

from __future__ import annotations

from agentworld_gym.domains.swe.engine.git.call import GitCall
from agentworld_gym.domains.swe.engine.git.history import GitError
from agentworld_gym.domains.swe.engine.git.operands import exists
from agentworld_gym.domains.swe.engine.git.options import read_options
from agentworld_gym.domains.swe.engine.git.worktree import chosen_paths, put


def reset(call: GitCall, argv: list[str]) -> None:
    """`git reset`."""
    options = read_options(
        "reset",
        argv,
        "hard --hard; soft --soft; mixed --mixed; quiet -q --quiet; keep --keep",
    )
    words = list(options.operands)
    history = call.history
    target = history.head
    names = list(options.paths or [])
    if words:
        try:
            target = history.resolve(words[0])
            words = words[1:]
        except GitError:
            if options.paths is not None or not (exists(call, words[0]) or words[0] in history.index):
                raise
    names = [*words, *names]
    if names:
        if "hard" in options or "soft" in options:
            raise GitError(f"fatal: Cannot do {'hard' if 'hard' in options else 'soft'} reset with paths.\n")
        index = dict(history.index)
        for path in chosen_paths(call, names, {*target.tree, *index}):
            put(index, path, target.tree.get(path))
        history.index = index
    else:
        history.move(target)
        if "hard" in options:
            for path in {*history.index, *target.tree}:
                put(call.work, path, target.tree.get(path))
        if "soft" not in options:
            history.index = target.tree
        if "hard" in options:
            call.say(f"HEAD is now at {target.id[:7]} {target.subject}\n" if "quiet" not in options else "")
            return
    if "soft" not in options and "quiet" not in options:
        left = call.unstaged()
        if left:
            call.say(
                "Unstaged changes after reset:\n" + "".join(f"{change.letter}\t{change.path}\n" for change in left)
            )
