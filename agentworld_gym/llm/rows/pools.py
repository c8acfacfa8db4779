"""Pools of recorded sessions that share no task, drawn by a hash; imported sessions are in all of them.

A session belongs to a group: its domain, its scenario or family, and its task's seed (levels of one seed stay
together). The split is a function of the group, and the stage of the group and `post_share`. So no group is in two
pools, whatever files the sessions come from and in whatever order, as long as all stages have one `post_share`.

A session that was imported from elsewhere has no seed, and its user splits sessions by file: it belongs to every pool,
unless the user states a split or a stage. Then it is drawn by its group as well.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from agentworld_gym.base.documents.strict import Strict
from agentworld_gym.core.domain.task import FREE_PLAY, Split, split_of
from agentworld_gym.llm.rows.row import Row

Stage = Literal["cpt", "post"]
"""A stage of training: continual pre-training, or what comes after it (fine-tuning and reinforcement learning)."""

POST_SHARE = 0.3
"""The share of the groups that continual pre-training leaves to what comes after."""

GROUNDED = "collect"
"""The source of rows that a grounded world of this package played."""

BENCHMARK = "agentworldbench"
"""The source of rows that are for testing alone."""

_HEAD = "**Action:**"


class SessionPool(Strict):
    """The sessions of one split and one stage, or of all stages.

    Pools of different stages share no group only if their `post_share` is the same.
    """

    split: Split = "train"
    """The split of the tasks."""

    stage: Stage | Literal["all"] = "cpt"
    """The stage of training, or `all` of them."""

    post_share: Annotated[float, Field(ge=0, le=1)] = POST_SHARE
    """The share of the groups that continual pre-training leaves to what comes after."""

    imported: Literal["every", "drawn"] = "every"
    """Whether imported sessions belong to `every` pool, or are `drawn` like recorded ones. Where it is not stated they
    are drawn if any of the other keys is."""

    @model_validator(mode="before")
    @classmethod
    def _drawn_where_split(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and data and "imported" not in data:
            return {**data, "imported": "drawn"}
        return data

    def holds(self, row: Row) -> bool:
        """Whether a session is in this pool."""
        if self.imported == "every" and is_imported(row):
            return True
        if split_of_row(row) != self.split:
            return False
        return self.stage == "all" or stage_of(group_of(row), self.post_share) == self.stage


class PostPool(SessionPool):
    """The pool of fine-tuning and reinforcement learning.

    >>> PostPool(post_share=0.1).stage
    'post'
    """

    stage: Stage | Literal["all"] = "post"


def is_imported(row: Row) -> bool:
    """Return whether a session comes from elsewhere: nothing of this package recorded it, and no benchmark holds it."""
    return row.seed is None and row.provenance.source not in (GROUNDED, BENCHMARK)


def group_of(row: Row) -> str:
    """Return the group of a session, as `mcp/refund_order/39`.

    A session of unknown origin is grouped by the id of its task, or else by what its prompts say before its first
    action. Free play, which has no tasks, makes each session a group.

    >>> row = Row(task="mcp", id="a", system_str="", prompt=["x"], response=["y"], current_prompt="x", turn_idx=1,
    ...           total_turns=1, family="refund_order", level=2, seed=39)
    >>> group_of(row), split_of_row(row)
    ('mcp/refund_order/39', 'test')
    """
    if row.seed is not None:
        return f"{row.domain}/{row.family}/{row.seed}"
    if row.family == FREE_PLAY and row.provenance.source == GROUNDED:
        return f"{row.domain}/{FREE_PLAY}/{row.id}"
    told = row.task_id or _digest(row.system_str + "\0" + row.prompt[0].partition(_HEAD)[0])
    return f"{row.domain}/{row.family or 'unknown'}/{told}"


def split_of_row(row: Row) -> Split:
    """Return the split of a session.

    It is that of the seed of its task. Without a seed the session of a benchmark is for testing, free play belongs to
    the split for which it was recorded, and any other session is drawn to be for training (80 %), validation (10 %) or
    testing (10 %).
    """
    if row.seed is not None:
        return split_of(row.seed)
    if row.provenance.source == BENCHMARK:
        return "test"
    if row.family == FREE_PLAY and row.split is not None:
        return row.split
    place = draw(f"split/{group_of(row)}")
    return "train" if place < 0.8 else "validation" if place < 0.9 else "test"


def stage_of(group: str, post_share: float = POST_SHARE) -> Stage:
    """Return the stage of a group; a larger share only moves groups from `cpt` to `post`.

    >>> stage_of("mcp/refund_order/39", 0), stage_of("mcp/refund_order/39", 1)
    ('cpt', 'post')
    """
    return "post" if draw(f"stage/{group}") < post_share else "cpt"


def draw(key: str) -> float:
    """Draw a number from 0 to 1, below 1, which depends on the key alone.

    >>> draw("a") == draw("a") != draw("b")
    True
    """
    return int(_digest(key)[:13], 16) / 16**13


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "backslashreplace"), digest_size=16).hexdigest()
