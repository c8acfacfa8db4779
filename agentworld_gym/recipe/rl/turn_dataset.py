"""The turns that reinforcement learning trains on: one of each session in an epoch, read from disk as they are
needed.
"""

from __future__ import annotations

import logging
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.contracts import Message
from agentworld_gym.llm.generators.special_tokens import rule_of
from agentworld_gym.llm.prompting.prompt import Prompts
from agentworld_gym.llm.rows.rerendering import is_of, observation_meant, prompts_for
from agentworld_gym.llm.rows.row import Row
from agentworld_gym.llm.rows.row_reading import row_of
from agentworld_gym.llm.rows.samples import Sample
from agentworld_gym.llm.rows.samples_from_rows import turn_samples
from agentworld_gym.recipe.data.filters import RowFilter
from agentworld_gym.recipe.rl.config import TurnsConfig
from agentworld_gym.recipe.rl.verifiers import unverifiable
from agentworld_gym.recipe.rl.verifiers.truth import screen_before

if TYPE_CHECKING:
    from datasets import Dataset
    from transformers import PreTrainedTokenizerBase

logger = logging.getLogger(__name__)

TEMPLATE_TOKENS = 8
"""The most tokens that a chat template puts around a message."""

_KEPT = 256
"""The number of rows that stay in memory."""


class TurnDataset:
    """Turns of recorded sessions, in the order in which they are trained on.

    Training on every turn of a session collapses through the prefix they share (Qwen-AgentWorld, arXiv 2606.24597), so
    an epoch has one turn of each session. Sessions come in another order, and with another turn, in each epoch; both
    follow the seed. Sessions of other pools, and sessions that a filter removes, are left out. A turn that cannot serve
    is replaced by an earlier one of its session: because its prompt or its answer is too long, because its answer is
    too short, or, with `verifiable`, because the rules have nothing to say about it. The attribute `counts` tells how
    many sessions were left out, and why.

    Args:
        config: The configuration of the turns.
        tokenizer: The tokenizer of the model.
        seed: The seed of order and draws.
        count: The number of turns.
        answer_tokens: The most tokens of a true answer that can be learned.
        verifiable: Whether to leave out turns that the verifiers skip.

    Raises:
        SpecError: There are no rows, or none of them can serve.
    """

    def __init__(
        self,
        config: TurnsConfig,
        tokenizer: PreTrainedTokenizerBase,
        *,
        seed: int,
        count: int,
        answer_tokens: int,
        verifiable: bool,
    ) -> None:
        self._config, self._tokenizer, self._rule = config, tokenizer, rule_of(tokenizer)
        self._answer_tokens, self._verifiable = answer_tokens, verifiable
        self._places = [(file, offset) for file in map(_file, config.rows) for offset in _offsets(file)]
        self._row = lru_cache(maxsize=_KEPT)(self._filtered)
        self.counts: Counter[str] = Counter()
        self._draws = list(self._drawn(seed, count))

    def __len__(self) -> int:
        return len(self._draws)

    def __getitem__(self, number: int) -> Row:
        """Return the row of a turn: its session up to there."""
        place, turn = self._draws[number]
        return self._row(place).at(turn)

    def sample(self, row: Row) -> Sample:
        """Return the last turn of a row as a language world asks for it, with the answer that means the true
        observation.
        """
        *_, last = turn_samples(row, self._other(row))
        return last

    def prompt(self, row: Row) -> list[Message]:
        """Return the messages that ask a model for the last turn of a row, with no special token in their contents."""
        return list(self._rule.messages(self.sample(row).messages[:-1]))

    def restore_tokens(self, completion: str) -> str:
        """Return what a model meant that was asked so: this removes what keeps special tokens out of messages."""
        return self._rule.unescape(completion)

    def read(self, row: Row, answer: str) -> str:
        """Return the observation that an answer for the last turn of a row means.

        Raises:
            AnswerError: The answer cannot be read, as in `Prompts.read`.
        """
        return observation_meant(row, prompts_for(row, form=self._config.form), screen_before(row), answer)

    def _other(self, row: Row) -> Prompts | None:
        """Return the prompts to render a row with again, where it was not recorded in the form to learn."""
        prompts = prompts_for(row, form=self._config.form)
        return None if prompts is prompts_for(row) else prompts

    def dataset(self) -> Dataset:
        """Return the turns as TRL reads them: their `number`, and their `prompt`, which is rendered when it is asked
        for.
        """
        from datasets import Dataset

        dataset = Dataset.from_dict({"number": list(range(len(self)))})
        dataset.set_transform(self._rendered)
        return dataset

    def _rendered(self, batch: dict[str, list[int]]) -> dict[str, list[Any]]:
        return {"number": batch["number"], "prompt": [self.prompt(self[number]) for number in batch["number"]]}

    def _drawn(self, seed: int, count: int) -> Iterator[tuple[int, int]]:
        """Yield the place and turn of each draw, epoch after epoch."""
        drawn, epoch = 0, 0
        while drawn < count:
            before = drawn
            order = list(range(len(self._places)))
            random.Random(f"{seed}/{epoch}").shuffle(order)
            sieve = RowFilter(self._config.filters)
            for place in order:
                turn = self._turn(place, sieve, random.Random(f"{seed}/{epoch}/{place}"), counted=not epoch)
                if turn is not None:
                    yield place, turn
                    drawn += 1
                if drawn == count:
                    return
            if drawn == before:
                reasons = ", ".join(f"{number} {why}" for why, number in self.counts.most_common()) or "none there"
                raise SpecError("rl", "data.rows", list(self._config.rows), f"a session that can serve ({reasons})")
            epoch += 1

    def _turn(self, place: int, sieve: RowFilter, rng: random.Random, counted: bool) -> int | None:
        """Return a turn of a session, drawn among those up to one; None if no turn can serve."""
        session = self._read(place)
        if self._config.domains and not is_of(session, self._config.domains):
            return None
        reasons = Counter[str]()
        if self._config.pool is not None and not self._config.pool.holds(session):
            reasons["of another pool"] += 1
        elif (row := sieve.filter(session)) is None:
            reasons["that a filter takes"] += 1
        else:
            for turn in range(rng.randint(1, row.turn_idx), 0, -1):
                reason = self._unfit(row.at(turn))
                if reason is None:
                    return turn
                reasons[reason] += 1
        if counted:
            self.counts.update([reasons.most_common(1)[0][0]])
        return None

    def _unfit(self, row: Row) -> str | None:
        """Say why the last turn of a row cannot serve; None if it can."""
        if not row.observations:
            return "without plain observations"
        sample = self.sample(row)
        answer = self._tokens([sample.messages[-1]["content"]])
        if answer > self._answer_tokens:
            return "with too long an answer"
        if answer < self._config.min_answer_tokens:
            return "with too short an answer"
        if self._verifiable and unverifiable(row):
            return "that no rule can verify"
        if self._tokens([message["content"] for message in sample.messages[:-1]]) > self._config.max_prompt_tokens:
            return "with too long a prompt"
        return None

    def _tokens(self, texts: Sequence[str]) -> int:
        encoded: Any = self._tokenizer(list(texts), add_special_tokens=False)
        return sum(len(ids) + TEMPLATE_TOKENS for ids in encoded["input_ids"])

    def _filtered(self, place: int) -> Row:
        """Return a session of which a turn was drawn; a filter that has seen no other session keeps it."""
        session = RowFilter(self._config.filters).filter(self._read(place))
        assert session is not None
        return session

    def _read(self, place: int) -> Row:
        file, offset = self._places[place]
        with file.open("rb") as stream:
            stream.seek(offset)
            return row_of(orjson.loads(stream.readline()), file, f"byte {offset}")


def _file(source: str) -> Path:
    path = Path(source)
    path = path / "train.jsonl" if path.is_dir() else path
    if not path.is_file():
        raise SpecError("rl", "data.rows", source, "a file of recorded sessions, or a folder with train.jsonl")
    return path


def _offsets(path: Path) -> Iterator[int]:
    """Yield where each whole line of a file starts."""
    place = 0
    with path.open("rb") as file:
        for line in file:
            if line.endswith(b"\n"):
                yield place
            place += len(line)
