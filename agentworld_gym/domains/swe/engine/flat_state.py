"""What an episode in a repository is, as flat fields."""

from __future__ import annotations

from agentworld_gym.core.engines import Scalar
from agentworld_gym.domains.swe.engine.episode import RepositoryEpisode


def flat_state(episode: RepositoryEpisode) -> dict[str, Scalar]:
    """Return every file by its path, the to-do list, version control and the processes in the background."""
    fields: dict[str, Scalar] = {path: file.display_text for path, file in sorted(episode.files.items())}
    for path, file in episode.files.items():
        if file.mode != 0o644:
            fields[f"mode/{path}"] = f"{file.mode:o}"
    fields.update({f"memory/{number}": fact for number, fact in enumerate(episode.memories, 1)})
    for todo in episode.todos:
        fields[f"todo/{todo.id}/content"], fields[f"todo/{todo.id}/status"] = todo.content, todo.status
    fields.update({f"processes/{pid}": command for pid, command in sorted(episode.processes.items())})
    history = episode.history
    fields["git"] = history is not None
    if history is not None:
        fields["git/head"], fields["git/branch"] = history.head.id, history.branch
        fields.update({f"git/branches/{name}": tip for name, tip in sorted(history.branches.items())})
        fields.update({f"git/remote/{name}": tip for name, tip in sorted(history.server.items())})
        fields["git/user"] = history.user
        fields.update({f"git/config/{key}": value for key, value in sorted(history.settings.items())})
        for place, tips in (("branches", history.branches), ("remote", history.server)):
            authors = {name: history.commits[tip].author for name, tip in sorted(tips.items())}
            # The user of the repository is the author whom one expects.
            fields.update({f"git/{place}/{name}/author": one for name, one in authors.items() if one != history.user})
        fields["git/stashes"] = len(history.stashes)
        head = history.head.tree
        staged = {path for path in {*head, *history.index} if head.get(path) != history.index.get(path)}
        fields.update({f"git/staged/{path}": history.index.get(path) for path in sorted(staged)})
    return fields
