"""The tools of an episode and recorded calls of them, as a world model reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from agentworld_gym.base.errors import MissingFile, SpecError
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.llm.prompting.few_shots import read_few_shots
from agentworld_gym.llm.prompting.prompt import Prompts
from agentworld_gym.llm.prompting.prompt_options import PromptOptions
from agentworld_gym.llm.prompting.tool_definitions import tool_definitions

EDITS: dict[str, Any] = {
    "name": "files-edit",
    "description": "Edits a file.",
    "parameters": {
        "type": "object",
        "required": ["path", "edits"],
        "properties": {
            "path": {"type": "string", "description": "Absolute path"},
            "edits": {
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "required": ["old"],
                    "properties": {"old": {"type": "string"}, "new": {"type": ["string", "null"], "default": None}},
                },
            },
            "mode": {"enum": ["all", "first"]},
            "tags": {"type": "array", "items": {"type": "string"}},
            "options": {"type": "object", "properties": {"deep": {"type": "boolean", "description": "All the way."}}},
            "at": {"anyOf": [{"type": "integer"}, {"type": "string"}], "description": "Where?"},
        },
    },
}

WRITTEN = """\
### 1. files-edit
#### **Description**:
Edits a file.

#### **Parameters**:
- **path** `string` (REQUIRED): Absolute path
- **edits** `array` (REQUIRED): Each item: `object`. At least 1 items.
  - **old** `string` (REQUIRED)
  - **new** `string | null` (Optional): Default: null.
- **mode** `string` (Optional): One of: "all", "first".
- **tags** `array` (Optional): Each item: `string`.
- **options** `object` (Optional)
  - **deep** `boolean` (Optional): All the way.
- **at** `integer | string` (Optional): Where?

### 2. now
#### **Description**:
(none)

#### **Parameters**:
(none)"""


def test_a_nested_schema_is_written_as_a_list_in_a_list() -> None:
    assert tool_definitions([EDITS, {"name": "now"}]) == WRITTEN


def test_alternative_sets_of_arguments_are_told() -> None:
    schema = {"properties": {"a": {}, "b": {}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
    assert tool_definitions([{"name": "f", "parameters": schema}]).endswith(
        "- **b** `any` (Optional)\nAt least one of these is needed: a, b."
    )


@pytest.mark.parametrize(
    "schema", [True, None, {"properties": 5}, {"properties": {"a": True}, "required": 3}, {"anyOf": 1}]
)
def test_an_odd_schema_is_no_error(schema: Any) -> None:
    assert tool_definitions([{"name": "f", "parameters": schema}]).startswith("### 1. f\n")


class TestFewShots:
    SPEC = load_spec("mcp")
    TASK = SPEC.handwritten_tasks()[0]

    def test_one_recorded_call_of_each_tool_stands_at_the_end(self) -> None:
        without = self.SPEC.action.model_copy(update={"few_shots": None})
        shown, plain = Prompts(self.SPEC), Prompts(self.SPEC.model_copy(update={"action": without}))
        system = shown.system(self.TASK)
        end = system.removeprefix(plain.system(self.TASK))
        assert end.startswith("\n---\n\n# Few-shot Examples\n\n")
        names = [part.split("\n")[0] for part in end.split("\n\n## Example: ")[1:]]
        assert names == [tool["name"] for tool in self.TASK.tools if tool["name"] in names]
        assert len(names) >= 0.7 * len(self.TASK.tools)
        assert end.split("\n\n## Example: ")[1].split("\n")[1:3] == ["**Action:**", "```json"]
        assert shown.digest != plain.digest

    def test_no_call_is_from_a_task_with_the_same_seed(self) -> None:
        path = self.SPEC.path.parent / str(self.SPEC.action.few_shots)
        calls = read_few_shots(path)
        tool = self.TASK.tools[0]["name"]
        first, second = [call for call in calls if call.tool == tool]
        same = self.TASK.model_copy(update={"seed": first.seed})
        system = Prompts(self.SPEC).system_message
        assert first.observation in system.few_shots(self.TASK)
        assert first.observation not in system.few_shots(same) and second.observation in system.few_shots(same)

    def test_small_models_and_ready_prompts_are_shown_none(self) -> None:
        assert "# Few-shot Examples" not in Prompts(self.SPEC, PromptOptions(profile="compact")).system(self.TASK)
        assert Prompts(self.SPEC, PromptOptions(system="You are a server.")).system(self.TASK) == "You are a server."

    @pytest.mark.parametrize(("text", "error"), [(None, MissingFile), ("{", SpecError), ('{"tool": "a"}', SpecError)])
    def test_a_broken_file_is_a_typed_error(self, tmp_path: Path, text: str | None, error: type[Exception]) -> None:
        path = tmp_path / "calls.jsonl"
        if text is not None:
            path.write_text(text)
        with pytest.raises(error, match=r"calls\.jsonl"):
            read_few_shots(path)

    def test_texts_of_a_call_are_escaped(self, tmp_path: Path) -> None:
        data = yaml.safe_load(self.SPEC.path.read_text())
        data["action"]["few_shots"] = "calls.jsonl"
        data["tasks"] = {}
        (tmp_path / "mcp.yaml").write_text(yaml.safe_dump(data))
        (tmp_path / "calls.jsonl").write_text(
            '{"tool": "f", "seed": 1, "action": {"name": "f", "arguments": {"a": "```"}}, "observation": "<|im_end|>"}'
        )
        task = Task(id="t", domain="mcp", instruction="i", tools=[{"name": "f"}], success=[{"rubric": "?"}])
        shown = Prompts(load_spec(str(tmp_path / "mcp.yaml"))).system_message.few_shots(task)
        assert "<\\|im_end|>" in shown and "\n```json\n" in shown
