"""Steps of BrowserGym and AgentLab as rows: what comes over, and that no pickle runs anything."""

from __future__ import annotations

import contextlib
import dataclasses
import gzip
import os
import pickle
import sys
import types
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from imports import imported
from typer.testing import CliRunner

from agentworld_gym import SpecError
from agentworld_gym.cli.app import app
from agentworld_gym.core.screens import read_screen
from agentworld_gym.domains.web.importers.browsergym import MAX_CHARS, SHOWN, browsed, flat_tree, page
from agentworld_gym.domains.web.importers.pickles import plain, read_pickle
from agentworld_gym.llm.rows.row import Row
from agentworld_gym.llm.rows.row_reading import read_rows
from agentworld_gym.recipe.importers import Importer
from agentworld_gym.recipe.importers.conversation import (
    ImportTally,
)


def page_seen(tree: str, url: str = "http://shop.example/", **more: Any) -> dict[str, Any]:
    """What BrowserGym's agents see of a page."""
    return {"goal": "Buy a lamp.", "url": url, "axtree_txt": tree, "last_action_error": "", **more}


STEPS: list[dict[str, Any]] = [
    {
        "step": 0,
        "obs": page_seen("RootWebArea 'Shop'\n\t[7] link 'Lamp', clickable", screenshot=[[0]]),
        "action": "click('7')",
        "reward": 0,
        "agent_info": {"think": "The lamp.", "extra": None},
        "stats": {"n_token_axtree_txt": 9},
    },
    {
        "step": 1,
        "obs": page_seen(
            "RootWebArea 'Lamp'\n\t[9] button 'Buy'",
            "http://shop.example/lamp",
            open_pages_urls=["http://shop.example/lamp", "about:blank"],
            open_pages_titles=["Lamp", ""],
            active_page_index=[0],
            focused_element_bid="9",
            last_action_error="TimeoutError: Locator.click",
        ),
        "action": 'click("9")\nnoop()',
        "reward": 0,
        "agent_info": {},
    },
    {"step": 2, "obs": page_seen("RootWebArea 'Thanks'"), "action": None, "reward": 1.0, "terminated": True},
]


KEYS = ("steps", "obs", "action", "step", "reward", "nodes", "nodeId", "childIds", "role", "name", "value")


class TestBrowserGym:
    """Steps of BrowserGym and AgentLab, as JSON and as pickles."""

    def check(self, row: Row) -> None:
        assert (row.task, row.turn_idx, row.score, row.success) == ("web", 2, 1.0, True)
        assert row.actions == ("click('7')", 'click("9")\nnoop()')
        assert row.first_observation == "URL: http://shop.example/\n\nRootWebArea 'Shop'\n\t[7] link 'Lamp', clickable"
        assert row.observations == (
            "URL: http://shop.example/lamp\nOpen tabs:\n  0: Lamp (http://shop.example/lamp), active\n"
            "  1:  (about:blank)\nFocused element: 9\nError of the last action: TimeoutError: Locator.click\n\n"
            "RootWebArea 'Lamp'\n\t[9] button 'Buy'",
            "URL: http://shop.example/\n\nRootWebArea 'Thanks'",
        )
        assert "\nBuy a lamp.\n" in row.system_str
        assert "[7] link 'Lamp', clickable" in row.prompt[0]
        assert row.prompt[0].endswith("**Action:**\n```text\nclick('7')\n```")
        assert [node.name for node in read_screen("web", row.observations[0])] == ["Lamp", "Buy"]

    def test_steps_one_a_line_are_one_session_up_to_the_next_step_0(self, tmp_path: Path) -> None:
        (first, second), tally = imported(tmp_path, *STEPS, *STEPS)
        assert (first.id, second.id) == ("records-1", "records-4")
        self.check(first)
        self.check(second)
        assert tally.records == 2
        # `click("9")\nnoop()` counts as read: one action of BrowserGym may hold several calls.
        assert tally.left == {"obs.screenshot": 2, "agent_info.think": 2, "step.stats": 2}

    def test_a_session_in_one_object(self, tmp_path: Path) -> None:
        record = {"id": "s-1", "task_name": "shop.lamp", "steps": STEPS, "cum_reward": 0.5}
        [row], _ = imported(tmp_path, record, form="browsergym", profile="compact")
        assert (row.id, row.task_id, row.score, row.success) == ("s-1", "shop.lamp", 0.5, False)

    def test_sessions_that_name_themselves_are_kept_apart(self, tmp_path: Path) -> None:
        rows, _ = imported(tmp_path, *({**step, "episode_id": name} for name in ("a", "b") for step in STEPS))
        assert [row.id for row in rows] == ["a", "b"]

    def test_what_an_action_led_to_may_be_missing(self, tmp_path: Path) -> None:
        [row], tally = imported(tmp_path, *STEPS[:2])
        assert row.actions == ("click('7')",)
        assert tally.left["action without an observation after it"] == 1

    def test_a_raw_tree_is_written_as_text(self) -> None:
        def node(key: str, role: str, name: str | None, *children: str, **more: Any) -> dict[str, Any]:
            named = {} if name is None else {"name": {"value": name}}
            return {"nodeId": key, "role": {"value": role}, "childIds": list(children), **named, **more}

        def told(**values: Any) -> list[dict[str, Any]]:
            return [{"name": key, "value": {"value": value}} for key, value in values.items()]

        tree = {
            "nodes": [
                node("1", "RootWebArea", "Shop", "2", "5", "1", properties=told(focusable=True, focused=True)),
                node("2", "generic", "", "3"),
                node("3", "button", "Add", "4", browsergym_id="12", properties=told(invalid="false")),
                node("4", "StaticText", "Add"),
                node("5", "textbox", "It's", browsergym_id="13", value={"value": "x"}, properties=told(required=True)),
                node("6", "link", "nobody's child"),
            ]
        }
        assert flat_tree(tree, {"12": {"clickable": True}}).split("\n") == [
            "RootWebArea 'Shop', focused",
            "\t[12] button 'Add', clickable",
            "\t[13] textbox \"It's\" value='x', required",
        ]
        assert flat_tree({"nodes": "x"}) == flat_tree(None) == ""

    @pytest.fixture
    def experiment(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """An experiment's folder, pickled by classes that are gone when it is read."""
        module = types.ModuleType("browsergym.experiments.loop")
        home = {"__module__": module.__name__}
        fields = ("step", "obs", "action", "reward", "agent_info", "stats", "terminated")
        made = {
            name: dataclasses.make_dataclass(name, [(key, Any, None) for key in keys], namespace=home)
            for name, keys in {"StepInfo": fields, "ExpArgs": ("env_args",), "EnvArgs": ("task_name",)}.items()
        }
        vars(module).update(made)
        folder = tmp_path / "study" / "2025-01-01_agent_on_shop.lamp_3"
        folder.mkdir(parents=True)
        with monkeypatch.context() as patched:
            patched.setitem(sys.modules, module.__name__, module)
            patched.setitem(sys.modules, "browsergym", types.ModuleType("browsergym"))
            patched.setitem(sys.modules, "browsergym.experiments", types.ModuleType("browsergym.experiments"))
            for step in STEPS:
                seen = {**step["obs"], "goal": None}
                if "active_page_index" in seen:
                    seen["active_page_index"] = np.array([0])
                data = pickle.dumps(made["StepInfo"](**{**step, "obs": seen, "reward": np.float64(step["reward"])}))
                (folder / f"step_{step['step']}.pkl.gz").write_bytes(gzip.compress(data))
            arguments = made["ExpArgs"](made["EnvArgs"]("shop.lamp"))
            (folder / "exp_args.pkl").write_bytes(pickle.dumps(arguments, protocol=2))
        goal = [{"type": "text", "text": "Buy a lamp."}, {"type": "image_url", "image_url": {"url": "data:"}}]
        (folder / "goal_object.pkl.gz").write_bytes(gzip.compress(pickle.dumps(goal)))
        (folder / "summary_info.json").write_text('{"cum_reward": 1.0, "n_steps": 2}')
        return folder

    def test_an_experiment_is_read_without_its_classes(self, experiment: Path) -> None:
        importer = Importer()
        [row] = importer.rows(experiment.parent)
        self.check(row)
        assert (row.id, row.task_id) == (experiment.name, "shop.lamp")
        assert importer.tally.left["picture in the goal"] == 1
        assert "browsergym" not in sys.modules

    def test_a_pickle_that_names_code_is_refused_and_nothing_runs(self, experiment: Path, tmp_path: Path) -> None:
        class Hostile:
            def __reduce__(self) -> Any:
                return os.mkdir, (str(tmp_path / "made"),)

        (experiment / "step_1.pkl.gz").write_bytes(gzip.compress(pickle.dumps({"obs": {}, "action": Hostile()})))
        with pytest.raises(SpecError, match=r"step_1\.pkl\.gz: pickle: .*mkdir.*export them as JSON lines"):
            list(Importer().rows(experiment))
        assert not (tmp_path / "made").exists()

    @pytest.mark.parametrize(
        "data",
        [
            b"",
            b"garbage",
            b"\x1f\x8bgarbage",
            b"cos\nsystem\n(S'true'\ntR.",
            b"cbuiltins\neval\n(S'1'\ntR.",
            b"c__builtin__\ngetattr\n.",
            b"cagentworld_gym.core.traces.importers.pickles\nread_pickle\n.",
            b"(S'os'\nS'system'\ni.",
            b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x04true\x85R.",
            b"\x82\x01.",
            b"P1\n.",
            b"r\xff\xff\xff\x7fN.",
            b"\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\x7fx.",
            b"c_codecs\nencode\n}S'__defaults__'\nNsb.",
            b"cbrowsergym.x\nY\n}S'update'\nNsb.",
            b"]" + b"(t" * 3 + b"R.",
            b"}(" + b")" + b"\x86".join([b"2"] * 60) + b"\x86Ns.",
            b"I" + b"9" * 9000 + b"\n.",
            b"]" * 3000 + b".",
            pickle.dumps(np.dtype([("a", object)])),
        ],
    )
    def test_a_hostile_pickle_is_data_or_is_refused(self, tmp_path: Path, data: bytes) -> None:
        path = tmp_path / "step_0.pkl"
        path.write_bytes(data)
        try:
            found = read_pickle(path)
        except SpecError as error:
            assert "export them as JSON lines" in str(error) or "a readable file" in str(error)
        else:
            assert found is None or isinstance(found, str | int | list | dict)

    @pytest.mark.parametrize(
        "data",
        [
            # 60 levels that hold the level below twice: the hash of the outermost would take 2**60 steps.
            b"})" + b"2\x86" * 60 + b"Ns.",
            # One text that is handed to very many calls.
            b"c_codecs\nencode\n0X"
            + (10**6).to_bytes(4, "little")
            + b"a" * 10**6
            + b"\x94"
            + b"0c_codecs\nencode\nh\x00\x85R" * 10**4
            + b".",
            # A path that is twice as long at each level.
            b"cpathlib\nPath\n\x94X\x02\x00\x00\x00ab" + b"\x94h\x00h\x01h\x01\x86R" * 60 + b".",
        ],
    )
    def test_a_small_pickle_stays_small(self, data: bytes) -> None:
        with contextlib.suppress(ValueError, LookupError):
            assert len(str(plain(data))) < 10**7

    def test_plain_data_of_every_protocol(self) -> None:
        data = {"a": [1, -(2**40), 2.5, None, True, "ü\U0001f600", b"\x00\xff"], "b": {"c": {}}, "d": [[], ["x"]]}
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            assert plain(pickle.dumps(data, protocol)) == data
            assert plain(pickle.dumps((1, (2, 3), {4}), protocol)) == [1, [2, 3], [4]]
            assert plain(pickle.dumps(np.array([[1, 2]], dtype=np.int16), protocol)) == {"values": [1, 2]}
            assert plain(pickle.dumps([np.float32(0.5), Path("/a/b"), OrderedDict(c=1)], protocol)) == [
                0.5,
                "//a/b" if sys.version_info < (3, 12) else "/a/b",
                {"c": 1},
            ]

    @given(st.binary(max_size=60))
    def test_any_bytes_are_data_or_are_refused(self, tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
        path = tmp_path_factory.getbasetemp() / "any.pkl"
        path.write_bytes(data)
        with contextlib.suppress(SpecError):
            read_pickle(path)

    @given(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
            lambda inner: (
                st.lists(inner, max_size=4)
                | st.dictionaries(
                    st.sampled_from(
                        [
                            *SHOWN,
                            "steps",
                            "obs",
                            "action",
                            "step",
                            "nodes",
                            "nodeId",
                            "childIds",
                            "role",
                            "name",
                            "value",
                            "reward",
                        ]
                    ),
                    inner,
                    max_size=6,
                )
            ),
            max_leaves=20,
        )
    )
    def test_any_record_is_read(self, data: Any) -> None:
        steps = data if isinstance(data, list) else [data]
        found = browsed({"steps": steps}, "x", ImportTally())
        assert len(found.turns.actions) == len(found.turns.observations)

    def test_on_the_command_line(self, experiment: Path, tmp_path: Path) -> None:
        out = tmp_path / "rows.jsonl"
        done = CliRunner().invoke(app, ["import", str(experiment), "--format", "browsergym", "--out", str(out)])
        assert done.exit_code == 0, done.output
        assert "1 rows, 2 turns, of 1 records" in done.output and "agent_info.think" in done.output
        [row] = read_rows(out)
        assert row.provenance.source == "browsergym"


def test_a_long_text_that_is_named_many_times_does_not_fill_the_memory() -> None:
    long, tally = "x" * 1_000_000, ImportTally()
    role, children = {"value": "button"}, [str(number) for number in range(1, 2000)]
    root = {"nodeId": "0", "role": {"value": "RootWebArea"}, "name": {"value": "A"}, "childIds": children}
    tree = {"nodes": [root, *({"nodeId": key, "role": role, "name": {"value": long}} for key in children)]}
    seen = {"url": "http://a.example/", "open_pages_urls": [long] * 2000, "axtree_object": tree}
    assert len(page(seen, tally)) < 4 * MAX_CHARS
    assert tally.left["tabs beyond what a page may say"] > 1900
