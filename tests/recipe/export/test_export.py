"""Recorded sessions as data for trainers of agents: what stands in it, and that their libraries open it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import chat_templates
import gymnasium as gym
import orjson
import pytest

import agentworld_gym  # noqa: F401
from agentworld_gym.agents.collect.config import CollectConfig
from agentworld_gym.agents.collect.recording_file import collect
from agentworld_gym.base.errors import SpecError, TraceError
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.tasks import families, generate
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.integrations.mcp import EpisodeHost
from agentworld_gym.llm.rows.row_reading import read_rows
from agentworld_gym.recipe.export.agent_session import AgentSession
from agentworld_gym.recipe.export.exporting import Format, export
from agentworld_gym.recipe.export.reading import SessionReader, recorded, recordings

DOMAINS = ("terminal", "mcp", "search")


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sessions of experts in three domains."""
    file = tmp_path_factory.mktemp("rows") / "train.jsonl"
    experts = CollectConfig(policies={"expert": 1.0}, levels={1: 1.0}, probe_share=0.5)
    collect([load_spec(name) for name in DOMAINS], file, 9, 0, experts)
    return file


def lines(folder: Path, split: str = "train") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / f"{split}.jsonl").read_text(encoding="utf-8").splitlines()]


def exported(rows: Path, form: Format, folder: Path, **options: Any) -> list[dict[str, Any]]:
    export([rows], form, folder / form, **options)
    return lines(folder / form)


def sessions_of(file: Path, only_success: bool = True) -> list[AgentSession]:
    read = map(SessionReader(only_success).read, recorded(file))
    return [session for session in read if isinstance(session, AgentSession)]


class TestChat:
    def test_is_what_an_agent_of_the_environment_reads_and_writes(self, rows: Path, tmp_path: Path) -> None:
        for line in exported(rows, "chat", tmp_path):
            domain = load_spec(line["domain"])
            env: Any = gym.make(domain.env_id, world="grounded")
            env.reset(seed=line["seed"], options={"task": line["task_id"]})
            written = [message["content"] for message in line["messages"] if message["role"] == "assistant"]
            for action in written[:-1]:
                env.step(action)
            told = env.unwrapped.episode.messages()
            told.append({"role": "assistant", "content": written[-1]})
            assert [(message["role"], message["content"]) for message in line["messages"]] == [
                (message["role"], message["content"]) for message in told
            ]
            assert env.step(written[-1])[-1]["success"]
            env.close()

    def test_the_agent_is_learned_and_nothing_else(self, rows: Path, tmp_path: Path) -> None:
        for line in exported(rows, "chat", tmp_path):
            assert [m["role"] == "assistant" for m in line["messages"]] == [m["train"] for m in line["messages"]]

    def test_an_action_that_could_not_be_read_is_seen_and_not_learned(self, rows: Path, tmp_path: Path) -> None:
        row = next(row for row in map(orjson.loads, rows.read_bytes().splitlines()) if row["task"] == "mcp")
        row["actions"] = ["no call", *row["actions"][1:]]
        broken = tmp_path / "rows.jsonl"
        broken.write_bytes(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
        [line] = exported(broken, "chat", tmp_path)
        assert [m["train"] for m in line["messages"] if m["role"] == "assistant"][:2] == [False, True]

    def test_sessions_without_success_come_on_request(self, tmp_path: Path) -> None:
        file = tmp_path / "rows.jsonl"
        collect([load_spec("terminal")], file, 12, 0, CollectConfig(policies={"menu": 1.0, "expert": 1.0}))
        won = sum(row.success is True for row in read_rows(file))
        assert 0 < won < 12
        tally = export([file], "chat", tmp_path / "won")
        assert (tally.kept, tally.left) == (won, Counter({"no success": 12 - won}))
        assert export([file], "chat", tmp_path / "all", "all").kept == 12

    def test_splits_are_kept_apart(self, tmp_path: Path) -> None:
        for split in ("train", "test"):
            collect([load_spec("terminal")], tmp_path / f"{split}.jsonl", 2, 0, CollectConfig(), split)  # type: ignore[arg-type]
        export(recordings([tmp_path]), "chat", tmp_path / "out", "all")
        assert {line["split"] for line in lines(tmp_path / "out", "test")} == {"test"}
        assert {line["split"] for line in lines(tmp_path / "out")} == {"train"}

    @pytest.mark.parametrize("source", ["web:browsergym", "android:droidrun", "mcp:mcpmark"])
    def test_actions_are_written_in_the_dialect_of_the_session(self, source: str, tmp_path: Path) -> None:
        spec, file = load_spec(source), tmp_path / "rows.jsonl"
        collect([spec], file, 1, 0, CollectConfig(policies={"expert": 1.0}, levels={1: 1.0}))
        [line] = exported(file, "chat", tmp_path)
        [session] = sessions_of(file)
        parser = ActionParser(spec.model_copy(update={"dialects": {spec.dialect: spec.dialects[spec.dialect]}}))
        written = [message["content"] for message in line["messages"] if message["role"] == "assistant"]
        assert [parser.parse(text, session.tools).error for text in written] == [None] * len(written)
        assert written[:-1] != list(session.actions[:-1])


class TestLooks:
    """Rows fold a look at the page into the turn before; an agent took it, and saw what it showed."""

    def test_are_turns_of_the_agent(self, tmp_path: Path) -> None:
        file = tmp_path / "rows.jsonl"
        collect([load_spec("web")], file, 6, 0, CollectConfig(policies={"blend": 1.0}, levels={1: 1.0}))
        sessions = sessions_of(file, only_success=False)
        folded = list(read_rows(file))
        looks = [sum("browser_snapshot" in action for action in session.actions) for session in sessions]
        assert any(looks)
        for session, row, count in zip(sessions, folded, looks, strict=True):
            assert len(session.actions) == row.turn_idx - row.probes + (row.finish is not None) + count
            env: Any = gym.make("AgentWorld/Web-v0", world="grounded", max_steps=100, reading="exact")
            controls = {"controls": row.controls, "control_seed": row.control_seed} if row.controls else {}
            first, _ = env.reset(seed=row.seed, options={"task": row.task_id, **controls})
            assert first == session.opening
            shown = [env.step(action)[0] for action in session.actions]
            assert shown[: len(session.observations)] == list(session.observations)
            env.close()


class TestTools:
    def test_every_action_is_a_call_of_a_tool_that_is_named(self, rows: Path, tmp_path: Path) -> None:
        found = exported(rows, "tools", tmp_path)
        assert {line["domain"] for line in found} == {"mcp", "search"}
        for line in found:
            names = {tool["function"]["name"] for tool in line["tools"]}
            calls = [call for message in line["messages"] for call in message.get("tool_calls", ())]
            assert {call["function"]["name"] for call in calls} <= names
            assert calls[-1]["function"]["name"] == "finish"
            results = [message["tool_call_id"] for message in line["messages"] if message["role"] == "tool"]
            assert results == [call["id"] for call in calls[:-1]]

    def test_calls_in_the_form_of_functions_are_read_too(self, tmp_path: Path) -> None:
        file = tmp_path / "rows.jsonl"
        collect([load_spec("web:browsergym")], file, 1, 0, CollectConfig(policies={"expert": 1.0}, levels={1: 1.0}))
        [line] = exported(file, "tools", tmp_path)
        names = {tool["function"]["name"] for tool in line["tools"]}
        called = [call["function"] for message in line["messages"] for call in message.get("tool_calls", ())]
        assert len(called) > 1 and {call["name"] for call in called} <= names

    def test_tools_are_those_of_the_task(self, rows: Path, tmp_path: Path) -> None:
        for line in exported(rows, "tools", tmp_path):
            task = generate(line["domain"], line["family"], line["level"], line["seed"])
            known = {tool["name"] for tool in (*task.tools, *load_spec(line["domain"]).action.tools)}
            assert {tool["function"]["name"] for tool in line["tools"]} == known | {"finish"}


@pytest.mark.parametrize("domain", ["mcp", "terminal"])
def test_tasks_of_a_family_have_the_same_tools(domain: str) -> None:
    """What the export builds on where it makes no task any more."""
    for family in families(domain):
        assert generate(domain, family, 1, 0).tools == generate(domain, family, 2, 38).tools


def test_a_line_of_turns_is_one_action_after_all_that_came_before(rows: Path, tmp_path: Path) -> None:
    chats = {line["id"]: line["messages"] for line in exported(rows, "chat", tmp_path)}
    turns = exported(rows, "prompt-completion", tmp_path)
    for line in turns:
        [written] = line["completion"]
        told = [{key: message[key] for key in ("role", "content")} for message in chats[line["id"]]]
        assert told[: 2 * line["turn"] + 1] == [*line["prompt"], written]
    assert len(turns) == sum(message["train"] for messages in chats.values() for message in messages)


class TestPrompts:
    def test_a_prompt_names_its_task_and_the_environment_to_make(self, rows: Path, tmp_path: Path) -> None:
        chats = {line["task_id"]: line["messages"] for line in exported(rows, "chat", tmp_path)}
        for line in exported(rows, "prompt-only", tmp_path):
            told = [{key: message[key] for key in ("role", "content")} for message in line["prompt"]]
            first = [{key: message[key] for key in ("role", "content")} for message in chats[line["task_id"]][:2]]
            assert told == first
            assert (line["prompt"][-1]["task"], line["prompt"][-1]["task_seed"]) == (line["task_id"], line["seed"])
            env: Any = gym.make(line["env_id"], world="grounded")
            env.reset(seed=line["seed"], options={"task": line["task_id"]})
            assert env.unwrapped.episode.messages()[1]["content"] == told[1]["content"]
            env.close()

    def test_a_task_that_was_played_twice_has_one_prompt(self, rows: Path, tmp_path: Path) -> None:
        tally = export([rows, rows], "prompt-only", tmp_path / "out")
        assert tally.written == tally.left["its task has a prompt already"] == 9


class TestPreference:
    def test_the_better_action_wins_with_the_rest_and_the_worse_one_does_not(self, tmp_path: Path) -> None:
        file = tmp_path / "rows.jsonl"
        collect([load_spec("terminal")], file, 2, 0, CollectConfig(policies={"expert": 1.0}, levels={1: 1.0}))
        sessions = {session.id: session.actions for session in sessions_of(file)}
        pairs = exported(file, "preference", tmp_path)
        assert pairs
        for pair in pairs:
            done = [message["content"] for message in pair["prompt"] if message["role"] == "assistant"]
            rest = list(sessions[pair["id"]][len(done) :])
            assert pair["rejected"][0]["content"] not in [action for action in rest if "finish" not in action]
            outcomes = []
            for first in ([], [pair["rejected"][0]["content"]]):
                env: Any = gym.make("AgentWorld/Terminal-v0", world="grounded", max_steps=100)
                env.reset(seed=pair["seed"], options={"task": pair["task_id"]})
                for action in [*done, *first, *rest]:
                    _, _, terminated, truncated, info = env.step(action)
                    if terminated or truncated:
                        break
                outcomes.append(info["success"])
                env.close()
            assert outcomes == [True, False] and pair["chosen"][0]["content"] == rest[0]

    def test_is_the_same_every_time(self, rows: Path, tmp_path: Path) -> None:
        first, again = (exported(rows, "preference", tmp_path / name) for name in "ab")
        assert first == again


class TestTraces:
    def test_the_end_of_an_agent_that_left_is_no_action_of_its_own(self, tmp_path: Path) -> None:
        runner = EnvOptions(spec="terminal", traces=str(tmp_path / "run")).runner()
        with EpisodeHost(runner, first_seed=7) as host:
            episode = host.begin().result()
            host.call(episode, "act", {"action": "ls"}).result()
            host.leave(episode).result()
        runner.close()
        (log,) = recordings([tmp_path / "run"])
        (session,) = sessions_of(log, only_success=False)
        assert session.actions == ("ls",)

    @pytest.fixture
    def left(self, tmp_path: Path) -> list[Path]:
        """A session that is won, and whose agent left before it said so."""
        runner = EnvOptions(spec="terminal", families=("copy_move",), traces=str(tmp_path / "run")).runner()
        with EpisodeHost(runner, first_seed=7) as host:
            episode = host.begin().result()
            for action in episode.episode.task.expert[:-1]:
                host.call(episode, "act", {"action": action}).result()
            host.leave(episode).result()
        runner.close()
        return recordings([tmp_path / "run"])

    def test_pairs_come_of_an_agent_that_won_and_left_too(self, left: list[Path], tmp_path: Path) -> None:
        (session,) = sessions_of(left[0])
        assert export(left, "preference", tmp_path / "pairs").kept == 1
        pairs = lines(tmp_path / "pairs")
        assert [pair["chosen"][0]["content"] for pair in pairs] == [session.actions[pair["turn"] - 1] for pair in pairs]

    @pytest.mark.filterwarnings("ignore")
    def test_minari_has_the_end_of_an_agent_that_won_and_left(
        self, left: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        minari = pytest.importorskip("minari")
        assert export(left, "minari", tmp_path / "minari").kept == 1
        monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
        [episode] = minari.load_dataset("agentworld/terminal-texts-train-v0").iterate_episodes()
        assert episode.actions[-1] == "finish" and episode.terminations[-1] and sum(episode.rewards) > 0.5

    def test_of_a_run_are_sessions_too(self, tmp_path: Path) -> None:
        env: Any = gym.make("AgentWorld/SWE-v0", world="grounded", dialect="claude-code", traces=str(tmp_path / "run"))
        env.reset(seed=0)
        env.step("I look around.")
        env.step('{"name": "Bash", "arguments": {"command": "ls"}}')
        told = [*env.unwrapped.episode.messages(), {"role": "assistant", "content": "finish"}]
        env.step("finish")
        env.reset(seed=1)
        env.close()
        files = recordings([tmp_path / "run"])
        assert export(files, "chat", tmp_path / "none").left == Counter({"no success": 1, "it did not end": 1})
        assert not (tmp_path / "none").exists()
        export(files, "chat", tmp_path / "all", "all")
        [line] = lines(tmp_path / "all")
        assert [(m["role"], m["content"]) for m in line["messages"]] == [(m["role"], m["content"]) for m in told]
        assert [m["train"] for m in line["messages"] if m["role"] == "assistant"] == [False, True, True]
        assert (line["dialect"], line["split"], line["success"]) == ("claude-code", "train", False)

    def test_a_sentence_that_was_refused_is_not_learned(self, tmp_path: Path) -> None:
        env: Any = gym.make("AgentWorld/Terminal-v0", world="grounded", traces=str(tmp_path / "run"))
        env.reset(seed=0)
        said = env.step("I will now look around.")[0]
        env.step("finish")
        env.close()
        export(recordings([tmp_path / "run"]), "chat", tmp_path / "out", "all")
        [line] = lines(tmp_path / "out")
        assert [message["train"] for message in line["messages"][2:]] == [False, False, True]
        assert line["messages"][3]["content"] == said

    def test_hand_written_tasks_have_their_own_tools(self, tmp_path: Path) -> None:
        tasks = {task.id: task for task in load_spec("mcp").handwritten_tasks()}
        assert len({len(task.tools) for task in tasks.values()}) > 1
        env: Any = gym.make("AgentWorld/MCP-v0", world="grounded", traces=str(tmp_path / "run"))
        for name in tasks:
            env.reset(seed=0, options={"task": name})
            env.step("finish")
        env.close()
        export(recordings([tmp_path / "run"]), "tools", tmp_path / "out", "all")
        for line in lines(tmp_path / "out"):
            names = {tool["function"]["name"] for tool in line["tools"]}
            assert names == {tool["name"] for tool in tasks[line["task_id"]].tools} | {"finish"}

    def test_a_broken_line_is_named(self, tmp_path: Path) -> None:
        env: Any = gym.make("AgentWorld/Terminal-v0", world="scripted", traces=str(tmp_path))
        env.reset(seed=0)
        env.step("finish")
        env.close()
        [file] = recordings([tmp_path])
        file.write_bytes(file.read_bytes().replace(b'"action":"finish"', b'"action":7'))
        with pytest.raises(TraceError, match=rf"{file.name}: line 3: action: got '7', expected str"):
            export([file], "chat", tmp_path / "out", "all")


class TestWorkers:
    """Rows and traces alike: the files are the same whatever the number of processes."""

    @pytest.mark.parametrize("form", ["chat", "prompt-only"])
    def test_write_the_same_files(self, form: Format, rows: Path, tmp_path: Path) -> None:
        env: Any = gym.make("AgentWorld/Search-v0", world="grounded", traces=str(tmp_path / "run"))
        for seed in range(3):
            env.reset(seed=seed)
            for action in env.unwrapped.task.expert:
                env.step(action)
        env.close()
        files = [rows, *recordings([tmp_path / "run"])]
        tallies = [export(files, form, tmp_path / f"by-{number}", workers=number) for number in (1, 2)]
        assert tallies[0] == tallies[1] and tallies[0].kept
        one, two = ({path.name: path.read_bytes() for path in (tmp_path / f"by-{n}").iterdir()} for n in (1, 2))
        assert one == two

    def test_tell_of_a_broken_row_where_it_stands(self, rows: Path, tmp_path: Path) -> None:
        broken = tmp_path / "broken.jsonl"
        broken.write_bytes(rows.read_bytes() + b'{"task": "mcp", "prompt": []}\n')
        with pytest.raises(SpecError, match=r"broken\.jsonl: line 10: id"):
            export([broken], "chat", tmp_path / "out", workers=2)
        assert [path.name for path in tmp_path.iterdir()] == ["broken.jsonl"]

    @pytest.mark.filterwarnings("ignore")
    def test_play_the_same_datasets_of_minari(
        self, rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        minari = pytest.importorskip("minari")
        found = []
        for number in (1, 2):
            tally = export([rows], "minari", tmp_path / f"by-{number}", workers=number)
            monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / f"by-{number}"))
            menus = minari.load_dataset("agentworld/terminal-menu-train-v0").iterate_episodes()
            found.append((tally, [(one.actions.tolist(), one.observations.tolist()) for one in menus]))
        assert found[0] == found[1] and found[0][0].kept


class TestTheFolder:
    def test_a_broken_row_is_named_and_leaves_nothing(self, rows: Path, tmp_path: Path) -> None:
        broken = tmp_path / "broken.jsonl"
        broken.write_bytes(rows.read_bytes() + b'{"task": "mcp", "prompt": []}\n')
        with pytest.raises(SpecError, match=r"broken\.jsonl: line 10: id"):
            export([broken], "chat", tmp_path / "out")
        assert [path.name for path in tmp_path.iterdir()] == ["broken.jsonl"]

    def test_ctrl_c_leaves_nothing(self, rows: Path, tmp_path: Path) -> None:
        def interrupt(read: int) -> None:
            if read == 5:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            export([rows], "chat", tmp_path / "out", on_session=interrupt)
        assert not list(tmp_path.iterdir())

    def test_one_that_holds_something_is_left_as_it_is(self, rows: Path, tmp_path: Path) -> None:
        (tmp_path / "mine.txt").write_text("mine")
        with pytest.raises(SpecError, match=r"--out: got .*, expected a folder that is not there yet, or is empty"):
            export([rows], "chat", tmp_path)
        assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


class TestLibraries:
    """The formats, opened by the libraries that they are for."""

    @pytest.mark.parametrize("form", ["chat", "tools", "prompt-completion", "prompt-only", "preference", "parquet"])
    def test_datasets_finds_the_splits_by_the_card(self, form: Format, rows: Path, tmp_path: Path) -> None:
        datasets = pytest.importorskip("datasets")
        tally = export([rows], form, tmp_path / form)
        [(split, data)] = datasets.load_dataset(str(tmp_path / form), cache_dir=str(tmp_path / "cache")).items()
        assert (split, len(data)) == ("train", tally.written)
        if form != "parquet":
            assert data[0]["task_id"] == lines(tmp_path / form)[0]["task_id"]
        if form == "tools":
            calls = [call for message in data[0]["messages"] for call in message.get("tool_calls") or ()]
            written = [
                call for message in lines(tmp_path / form)[0]["messages"] for call in message.get("tool_calls", ())
            ]
            assert calls == written and data[-1]["tools"] == lines(tmp_path / form)[-1]["tools"]

    @pytest.mark.parametrize("form", ["chat", "tools"])
    def test_trl_learns_what_the_agent_wrote(self, form: Format, rows: Path, tmp_path: Path) -> None:
        """The mask is that of `assistant_only_loss`."""
        data_utils = pytest.importorskip("trl.data_utils")
        tokenizer = chat_templates.tokenizer("qwen3_training")
        for line in exported(rows, form, tmp_path)[:2]:
            assert data_utils.is_conversational(line)
            made = tokenizer.apply_chat_template(
                line["messages"],
                tools=line.get("tools"),
                return_dict=True,
                return_assistant_tokens_mask=True,
            )
            masked = zip(made["input_ids"], made["assistant_masks"], strict=True)
            learned = tokenizer.decode([token for token, one in masked if one])
            if form == "chat":
                written = [message["content"] for message in line["messages"] if message["train"]]
                assert all(text in learned for text in written)
                assert line["messages"][1]["content"] not in learned
            else:
                assert learned.count("<tool_call>") == sum("tool_calls" in message for message in line["messages"])

    @pytest.mark.parametrize("form", ["prompt-completion", "preference"])
    def test_trl_tells_prompts_from_what_follows(self, form: Format, rows: Path, tmp_path: Path) -> None:
        data_utils = pytest.importorskip("trl.data_utils")
        tokenizer = chat_templates.tokenizer("qwen3")
        line = exported(rows, form, tmp_path)[0]
        keys = ("completion",) if form == "prompt-completion" else ("chosen", "rejected")
        texts = data_utils.apply_chat_template({key: line[key] for key in ("prompt", *keys)}, tokenizer)
        assert all(line[key][0]["content"] in texts[key] for key in keys)
        assert line["prompt"][-1]["content"] in texts["prompt"]

    def test_parquet_holds_the_messages_of_chat(self, rows: Path, tmp_path: Path) -> None:
        parquet = pytest.importorskip("pyarrow.parquet")
        export([rows], "parquet", tmp_path / "parquet")
        table = parquet.read_table(tmp_path / "parquet" / "train.parquet").to_pylist()
        assert table == exported(rows, "chat", tmp_path)

    @pytest.mark.filterwarnings("ignore")
    def test_minari_finds_texts_and_menus(self, rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        minari = pytest.importorskip("minari")
        monkeypatch.chdir(tmp_path)
        tally = export([rows], "minari", Path("minari"))
        monkeypatch.setenv("MINARI_DATASETS_PATH", "minari")
        texts = minari.load_dataset("agentworld/terminal-texts-train-v0")
        menus = minari.load_dataset("agentworld/terminal-menu-train-v0")
        assert len(texts) == len(menus) == tally.domains["terminal"]
        for one, other in zip(texts.iterate_episodes(), menus.iterate_episodes(), strict=True):
            assert len(one.observations) == len(other.observations) == len(one.actions) + 1
            assert one.terminations[-1] and sum(one.rewards) > 0.5 and list(one.rewards) == list(other.rewards)
            env: Any = menus.recover_environment()
            [told] = menus.storage.get_episode_metadata([other.id])
            vector, _ = env.reset(seed=int(told["seed"]), options=told["options"])
            assert (vector == other.observations[0]).all()
            for action, seen in zip(other.actions, other.observations[1:], strict=True):
                assert (env.step(action)[0] == seen).all()
            env.close()
