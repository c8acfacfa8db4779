"""How exact a small world model is on sessions it never saw, and beside two baselines that need no model.

An observation is exact if greedy decoding, given the true history, writes it character for character. One forward pass
over a session tells this for all its steps: greedy decoding writes the true tokens if and only if each of them is the
likeliest after those before. `generated` decodes for real, as a server does, and serves to check that.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from agentworld_gym.parsing import parse_completion
from agentworld_gym.recipe.dataset import TokenSet, encode, pad_id
from agentworld_gym.recipe.rows import Row
from agentworld_gym.recipe.tokenizer import END
from agentworld_gym.spec import DomainSpec

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from transformers import Qwen3ForCausalLM

_WORD = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the evaluation: where it comes from, whether its command prints something, and who was exact."""

    session: int
    turn: int
    family: str
    level: int
    policy: str
    command: str
    prints: bool
    exact: Mapping[str, bool]


@dataclass(frozen=True, slots=True)
class Share:
    """A share of exact observations with its 95% interval, bootstrapped over sessions."""

    share: float
    low: float
    high: float
    steps: int

    def __str__(self) -> str:
        return f"{self.share:.3f} [{self.low:.3f}, {self.high:.3f}]"


def prints_something(spec: DomainSpec, observation: str) -> bool:
    r"""Whether an observation shows more than the echo of the command and the next prompt.

    >>> from agentworld_gym.spec import load_spec
    >>> terminal = load_spec("terminal")
    >>> prints_something(terminal, "ls\na.txt\ndev@box:~$"), prints_something(terminal, "cd a\ndev@box:~/a$")
    (True, False)
    """
    match = re.search(spec.observation.output, observation) if spec.observation.output else None
    if match is not None:
        return bool(match["output"].strip())
    return observation.count("\n") > 1


def exact_by_forward(model: Qwen3ForCausalLM, data: TokenSet, pad: int, batch_tokens: int = 8192) -> list[list[bool]]:
    """For every session, which of its observations greedy decoding writes exactly, given the true history."""
    import torch

    found: list[list[bool]] = [[] for _ in range(len(data))]
    order = np.argsort(data.lengths, kind="stable")
    start = 0
    with torch.inference_mode():
        while start < len(order):
            stop = start + 1
            while stop < len(order) and data.lengths[order[stop]] * (stop + 1 - start) <= batch_tokens:
                stop += 1
            chosen = order[start:stop]
            ids = np.full((len(chosen), int(data.lengths[chosen].max())), pad, dtype=np.int64)
            for row, index in enumerate(chosen):
                tokens = data[int(index)][0]
                ids[row, : len(tokens)] = tokens
            best = model(input_ids=torch.from_numpy(ids), use_cache=False).logits.argmax(-1).numpy()
            for row, index in enumerate(chosen):
                tokens, observed = data[int(index)]
                right = best[row, : len(tokens) - 1] == tokens[1:]
                found[index] = [bool(right[first - 1 : last - 1].all()) for first, last in _spans(observed)]
            start = stop
    return found


def generated(
    model: Qwen3ForCausalLM,
    tokenizer: Tokenizer,
    prompts: Sequence[Sequence[int]],
    batch: int = 16,
    max_new_tokens: int = 512,
) -> list[str]:
    """Greedy completions of token prompts, decoded and parsed as a language world does."""
    import torch
    from transformers import DynamicCache

    end, pad = tokenizer.token_to_id(END), pad_id(tokenizer)
    found = [""] * len(prompts)
    order = sorted(range(len(prompts)), key=lambda index: len(prompts[index]))
    for start in range(0, len(order), batch):
        chosen = order[start : start + batch]
        width = max(len(prompts[index]) for index in chosen)
        ids = torch.full((len(chosen), width), pad)
        mask = torch.zeros((len(chosen), width), dtype=torch.long)
        for row, index in enumerate(chosen):
            ids[row, width - len(prompts[index]) :] = torch.tensor(list(prompts[index]))
            mask[row, width - len(prompts[index]) :] = 1
        cache, written, open_rows = DynamicCache(), [], torch.ones(len(chosen), dtype=torch.bool)
        positions = (mask.cumsum(-1) - 1).clamp(min=0)
        with torch.inference_mode():
            for _ in range(max_new_tokens):
                output = model(
                    input_ids=ids, attention_mask=mask, position_ids=positions, past_key_values=cache, use_cache=True
                )
                best = output.logits[:, -1].argmax(-1)
                best[~open_rows] = end
                open_rows &= best != end
                written.append(best)
                if not open_rows.any():
                    break
                ids, positions = best[:, None], positions[:, -1:] + 1
                mask = torch.cat([mask, torch.ones((len(chosen), 1), dtype=torch.long)], dim=1)
        rows = torch.stack(written, dim=1).tolist()
        for row, index in zip(rows, chosen, strict=True):
            tokens = row[: row.index(end)] if end in row else row
            found[index] = parse_completion(tokenizer.decode(tokens, skip_special_tokens=False))
    return found


def prompts_of(data: TokenSet) -> list[tuple[int, int, list[int]]]:
    """Session, turn and prompt tokens of every step."""
    return [
        (session, turn, data[session][0][:first].tolist())
        for session in range(len(data))
        for turn, (first, _last) in enumerate(_spans(data[session][1]))
    ]


def quick(
    sessions: Sequence[Row], tokenizer: Tokenizer, spec: DomainSpec
) -> Callable[[Qwen3ForCausalLM], dict[str, Any]]:
    """A function of a model that gives its shares of exact observations, for use while training."""
    data, pad = encode(sessions, tokenizer), pad_id(tokenizer)
    printing = [prints_something(spec, text) for session in sessions for text in session.observations]

    def share(model: Qwen3ForCausalLM) -> dict[str, Any]:
        exact = [flag for flags in exact_by_forward(model, data, pad) for flag in flags]
        printed = [flag for flag, prints in zip(exact, printing, strict=True) if prints]
        return {"exact": float(np.mean(exact)), "exact_printing": float(np.mean(printed)) if printed else 0.0}

    return share


class Nearest:
    """Answers with the recorded step whose command and state share most words with the asked one.

    The echo and the prompt of the answer are put right, which only helps this baseline.
    """

    def __init__(self, sessions: Sequence[Row]) -> None:
        self._turns = [text for session in sessions for text in session.observations]
        texts = [(action, session.system_str) for session in sessions for action in session.actions]
        words = sorted({word for pair in texts for text in pair for word in _WORD.findall(text)})
        self._column = {word: column for column, word in enumerate(words)}
        self._commands = self._bags([action for action, _ in texts])
        self._states = self._bags([state for _, state in texts])

    def answer(self, actions: Sequence[str], states: Sequence[str], before: Sequence[str]) -> list[str]:
        """An observation for each action in a state, after a previous observation."""
        commands, kinds = self._bags(actions), self._bags(states)
        found = []
        for start in range(0, len(actions), 256):
            span = slice(start, start + 256)
            # The command decides, the state breaks ties.
            score = _jaccard(commands[span], self._commands) + 0.2 * _jaccard(kinds[span], self._states)
            found += [self._turns[index] for index in score.argmax(1)]
        return [_dressed(answer, action, last) for answer, action, last in zip(found, actions, before, strict=True)]

    def _bags(self, texts: Sequence[str]) -> NDArray[np.float32]:
        bags = np.zeros((len(texts), len(self._column)), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in _WORD.findall(text):
                if word in self._column:
                    bags[row, self._column[word]] = 1
        return bags


def evaluate(
    model: Qwen3ForCausalLM,
    tokenizer: Tokenizer,
    spec: DomainSpec,
    sessions: Sequence[Row],
    recorded: Sequence[Row] = (),
) -> list[Step]:
    """Every step of unseen sessions, with who was exact: `model`, `copy` (the last observation again) and, where
    recorded training sessions are given, `nearest`."""
    data = encode(sessions, tokenizer)
    exact = exact_by_forward(model, data, pad_id(tokenizer))
    nearest = Nearest(recorded) if recorded else None
    steps = []
    for number, session in enumerate(sessions):
        before = [session.system_str.split("\n", 1)[0], *session.observations][:-1]
        near = nearest.answer(session.actions, [session.system_str] * len(before), before) if nearest else []
        for turn, (action, shown) in enumerate(zip(session.actions, session.observations, strict=True)):
            who = {"model": exact[number][turn], "copy": before[turn] == shown}
            if near:
                who["nearest"] = near[turn] == shown
            prints = prints_something(spec, shown)
            steps.append(Step(number, turn, session.family, session.level or 0, session.policy, action, prints, who))
    return steps


def share(steps: Sequence[Step], who: str = "model", samples: int = 1000, seed: int = 0) -> Share:
    """The share of steps that were exact, with an interval over sessions."""
    if not steps:
        return Share(float("nan"), float("nan"), float("nan"), 0)
    by_session: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    for step in steps:
        by_session[step.session][0] += step.exact[who]
        by_session[step.session][1] += 1
    counts = np.array(list(by_session.values()))
    draws = np.random.default_rng(seed).integers(len(counts), size=(samples, len(counts)))
    hits, total = counts[draws].sum(1).T
    low, high = np.quantile(hits / total, [0.025, 0.975])
    return Share(float(counts[:, 0].sum() / counts[:, 1].sum()), float(low), float(high), len(steps))


def summary(steps: Sequence[Step]) -> dict[str, Any]:
    """The shares of exact observations: of all steps, of those that print, and by policy, family, level and command."""
    printing = [step for step in steps if step.prints]
    found: dict[str, Any] = {}
    for who in steps[0].exact if steps else ():
        found[who] = {"all": asdict(share(steps, who)), "printing": asdict(share(printing, who))}
    for key, of in (
        ("policy", lambda step: step.policy),
        ("family", lambda step: step.family),
        ("level", lambda step: str(step.level)),
        ("command", lambda step: step.command.split(maxsplit=1)[0]),
    ):
        groups: dict[str, list[Step]] = defaultdict(list)
        for step in printing:
            groups[of(step)].append(step)
        found[f"printing by {key}"] = {name: asdict(share(group)) for name, group in sorted(groups.items())}
    return found


def markdown(found: Mapping[str, Any]) -> str:
    """The summary as Markdown tables."""
    lines = ["| who | all observations | whose command prints something |", "| --- | --- | --- |"]
    keys = [key for key in found if "printing" in found[key]]
    lines += [f"| {who} | {Share(**found[who]['all'])} | {Share(**found[who]['printing'])} |" for who in keys]
    for key in (key for key in found if key.startswith("printing by ")):
        lines += [
            "",
            f"| {key.removeprefix('printing by ')} | exact where something is printed | steps |",
            "| --- | --- | --- |",
        ]
        lines += [f"| {name} | {Share(**value)} | {value['steps']} |" for name, value in found[key].items()]
    return "\n".join(lines) + "\n"


def _spans(observed: NDArray[np.bool_]) -> Iterable[tuple[int, int]]:
    """Start and end of every run of observed tokens."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], observed, [False]]).astype(np.int8)))
    return [(int(first), int(last)) for first, last in edges.reshape(-1, 2)]


def _jaccard(left: NDArray[np.float32], right: NDArray[np.float32]) -> NDArray[np.float32]:
    both = left @ right.T
    either = left.sum(1)[:, None] + right.sum(1)[None] - both
    found: NDArray[np.float32] = both / np.maximum(either, 1)
    return found


def _dressed(observation: str, action: str, before: str) -> str:
    """The observation with the echo of the action, and the prompt that was last seen."""
    lines = observation.split("\n")
    lines[0] = action
    if len(lines) > 1:
        lines[-1] = before.rsplit("\n", 1)[-1]
    return "\n".join(lines)
