"""The importer: it reads files of recordings, whatever their format, into this project's rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from agentworld_gym.base.documents.strict import validated
from agentworld_gym.base.errors import SpecError
from agentworld_gym.base.fingerprint import installed
from agentworld_gym.base.text.escaping import unescape
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.actions.syntaxes import calls_tools
from agentworld_gym.core.contracts import Action
from agentworld_gym.core.domain.spec import Profile, load_spec
from agentworld_gym.core.domain.task import Check, Expect, Task
from agentworld_gym.core.registration import official_name
from agentworld_gym.core.screens.history import ScreenHistory
from agentworld_gym.core.screens.sight import folds
from agentworld_gym.llm.prompting.parsing import MARKER
from agentworld_gym.llm.prompting.prompt import Prompts
from agentworld_gym.llm.prompting.prompt_options import PromptOptions
from agentworld_gym.llm.rows.row import Row, RowProvenance
from agentworld_gym.llm.rows.row_reading import completed
from agentworld_gym.recipe.importers.conversation import ImportTally
from agentworld_gym.recipe.importers.formats import READERS, Record, format_of
from agentworld_gym.recipe.importers.harness import grouped_steps
from agentworld_gym.recipe.importers.opentelemetry import grouped_spans
from agentworld_gym.recipe.importers.session_format import domain_formats
from agentworld_gym.recipe.importers.turns import Turns, dialect_of, domain_of, turns_of

UNTESTED = (Check(answer=Expect(matches="")),)
"""The checks of a recorded task, which comes without tests of success."""

LONGEST = 1_000_000
"""How many characters an action may have: an action that was really done is not cut."""

BENCHMARK = "agentworldbench"
"""The format of rows of AgentWorldBench."""

_ACTION = re.compile(r"\*\*Action:\*\*\n(?P<mark>`{3,})[^\n]*\n(?P<action>.*?)\n(?P=mark)", re.DOTALL)


def format_names() -> tuple[str, ...]:
    """Return the names of all formats, those of domains included.

    >>> format_names()[:2]
    ('auto', 'responses')
    """
    return ("auto", *READERS, *domain_formats(), BENCHMARK)


class Importer:
    """Turns the records of files into rows.

    Args:
        form: The format of the records, one of `format_names`; `auto` finds it by their keys.
        domain: The domain of the actions; None finds it by the tools that were called.
        profile: The profile of the prompts that the rows are written with.

    Raises:
        SpecError: There is no such format or domain.
    """

    def __init__(self, form: str = "auto", domain: str | None = None, profile: Profile = "full") -> None:
        if form not in format_names():
            raise SpecError("import", "format", form, f"one of {', '.join(format_names())}")
        self.form, self.domain, self.profile = form, domain, profile
        self.tally = ImportTally()
        self._domains: dict[tuple[str, str, bool], tuple[Prompts, ActionParser]] = {}
        if domain is not None:
            self._prepared(domain)

    def rows(self, path: Path) -> Iterator[Row]:
        """Read the rows of a file of JSON lines, of a JSON file, or of all such files and experiments in a folder.

        Raises:
            SpecError: There is no such file, or it has no known format: the error names the line.
        """
        formats = domain_formats()
        wanted = [name for name in formats if self.form in ("auto", name)] if path.is_dir() else []
        folders = {folder: name for name in wanted for folder in formats[name].format.folders(path)}
        for folder, name in folders.items():
            self.tally.records += 1
            record = formats[name].format.read_folder(folder)
            yield from self._counted(self._row(name, record, folder.name, str(folder)))
        files = sorted(file for file in path.rglob("*.json*") if file.is_file()) if path.is_dir() else [path]
        files = [file for file in files if file.parent not in folders]
        if not files and not folders:
            others = "".join(f", or {one.format.files}" for one in formats.values() if one.format.files)
            raise SpecError(path, "files", [], f"*.json or *.jsonl files{others}")
        for file in files:
            records = _records(file)
            for one in formats.values():
                records = one.format.grouped(records)
            for number, record in grouped_spans(grouped_steps(records)):
                self.tally.records += 1
                form = format_of(record) if self.form == "auto" else self.form
                if form is None:
                    if file == path:
                        known = f"a record of {', '.join(format_names()[1:])}"
                        raise SpecError(file, f"line {number}: keys", sorted(record)[:8], known)
                    self.tally.leave(f"record of no known format ({file.name})")
                    continue
                row = self._row(form, record, f"{file.stem}-{number}", f"{file}, line {number}")
                yield from self._counted(row)

    def _counted(self, row: Row | None) -> Iterator[Row]:
        if row is not None:
            self.tally.rows += 1
            self.tally.turns += row.turn_idx
            yield row

    def _row(self, form: str, record: Record, name: str, where: str) -> Row | None:
        if form == BENCHMARK:
            return self._benchmark(record, name, where)
        if (found := domain_formats().get(form)) is not None:
            session = found.format.session(record, name, self.tally)
            more = {"score": session.score, "task_id": session.task}
            domain = self.domain or found.domain
            dialect = form if form in self._prepared(domain)[0].spec.dialects else ""
            return self._session(form, domain, session.id, session.turns, more, where, dialect)
        conversation = READERS[form](record, name, self.tally)
        domain = self.domain or domain_of(conversation)
        spec = dialect_of(conversation, self._prepared(domain)[0].spec)
        turns = turns_of(conversation, spec, self.tally)
        more = {"score": conversation.score}
        return self._session(form, domain, conversation.id, turns, more, where, spec.dialect)

    def _session(
        self,
        form: str,
        domain: str,
        name: str,
        turns: Turns,
        more: Mapping[str, Any],
        where: str,
        dialect: str = "",
    ) -> Row | None:
        prompts, parser = self._prepared(domain, dialect)
        own_tools = prompts.spec.action.tools
        foreign = form not in domain_formats() and (
            not own_tools or any(parser.parse(action).error is not None for action in turns.actions)
        )
        if foreign:
            prompts, parser = self._prepared(domain, dialect, foreign=True)
        task = Task(
            id=name,
            domain=domain,
            instruction=turns.instruction or "(not recorded)",
            tools=turns.tools if foreign and calls_tools(prompts.spec.action.syntax) else (),
            success=UNTESTED,
        )
        users: list[str] = []
        history = ScreenHistory[Action](domain, turns.first)
        for raw, observation in zip(turns.actions, turns.observations, strict=True):
            action = parser.parse(raw, task.tools)
            if action.error is not None:
                self.tally.leave("action that the domain cannot read (kept as it is)")
            if folds(domain, action.parsed, observation):
                history.fold(observation)
                continue
            users.append(prompts.turn(task, history.next_turn, action, history.screen))
            history.append(action, observation)
        if not users:
            self.tally.leave("session without a turn")
            return None
        observations = tuple(shown for _, shown in history.turns)
        data = {
            "instruction": turns.instruction,
            "system_str": prompts.system(task),
            "prompt": (*users[:-1], users[-1] + prompts.closing),
            "response": tuple(map(prompts.observation, observations)),
            "current_prompt": users[-1],
            "turn_idx": len(users),
            "total_turns": len(users),
            "actions": tuple(action.raw for action, _ in history.turns),
            "first_observation": history.first,
            "observations": observations,
            "dialect": prompts.spec.dialect,
            "finish": None if turns.answer is None else f"finish: {turns.answer}",
            "success": None if more["score"] is None else more["score"] >= 1,
            **more,
        }
        return self._whole(form, domain, name, data, where)

    def _benchmark(self, record: Record, name: str, where: str) -> Row:
        """Read a row of AgentWorldBench, whose plain actions and observations are taken from its messages.

        Raises:
            SpecError: It is a row of this package, which would become one that is for testing alone.
        """
        if "provenance" in record:
            raise SpecError(where, "provenance", record["provenance"], "none: this is a row already, used as it is")
        keys = ("task", "id", "system_str", "prompt", "response", "current_prompt", "turn_idx", "total_turns")
        data = completed({key: record[key] for key in keys if key in record})
        for key in record.keys() - set(keys):
            self.tally.leave(f"key {key}")
        data["task"] = str(record.get("task") or official_name(self.domain or "") or "")
        data["id"] = str(data.get("id") or name)
        domain = data["task"].rsplit("/", 1)[-1]
        matches = [_ACTION.search(text) for text in data.get("prompt") or () if isinstance(text, str)]
        texts = [text for text in data.get("response") or () if isinstance(text, str)]
        if all(matches) and len(texts) == len(matches):
            data["actions"] = tuple(unescape(match["action"]) for match in matches if match)
            data["observations"] = tuple(unescape(text.strip().removeprefix(MARKER).lstrip("\n")) for text in texts)
        else:
            self.tally.leave("row whose actions cannot be read out of its prompts (kept without them)")
        return self._whole(BENCHMARK, domain, data["id"], data, where)

    def _whole(self, form: str, domain: str, name: str, data: Mapping[str, Any], where: str) -> Row:
        whole = {
            "task": official_name(domain),
            "id": name,
            "policy": "recorded",
            "profile": None if form == BENCHMARK else self.profile,
            "provenance": RowProvenance(source=form, package=installed("agentworld-gym")),
            **data,
        }
        return validated(Row, whole, where)

    def _prepared(self, domain: str, dialect: str = "", foreign: bool = False) -> tuple[Prompts, ActionParser]:
        """Return prompts and parser of a domain; for `foreign` sessions, which had other tools, without the domain's
        own."""
        key = domain, dialect, foreign
        if key not in self._domains:
            spec = load_spec(domain)
            spec = spec.in_dialect(dialect) if dialect else spec
            limits = spec.limits.model_copy(update={"max_action_chars": LONGEST})
            action = spec.action.model_copy(update={"tools": ()}) if foreign else spec.action
            spec = spec.model_copy(update={"limits": limits, "action": action})
            self._domains[key] = Prompts(spec, PromptOptions(self.profile, "full")), ActionParser(spec)
        return self._domains[key]


def _records(file: Path) -> Iterator[tuple[int, Record]]:
    """Read the JSON objects of a file: its lines (split at line feeds only), or the file as one object or one list."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise SpecError(file, "file", error.strerror, "a readable file") from error
    values: Any
    try:
        values = [(number, orjson.loads(line)) for number, line in enumerate(data.split(b"\n"), 1) if line.strip()]
    except orjson.JSONDecodeError as broken:
        try:
            whole = orjson.loads(data)
        except orjson.JSONDecodeError as error:
            raise SpecError(file, "file", str(error), "JSON, or one JSON object a line") from broken
        values = enumerate(whole if isinstance(whole, list) else [whole], 1)
    for number, value in values:
        if not isinstance(value, dict):
            raise SpecError(file, f"line {number}", type(value).__name__, "a JSON object")
        yield number, value
