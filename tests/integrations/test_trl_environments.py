"""TRL's `environment_factory`: the tools of a domain as typed methods of a class."""

from __future__ import annotations

import copy
import inspect
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from agentworld_gym.base.errors import ClosedError, SpecError
from agentworld_gym.core.contracts import Failure, FailureKind

pytest.importorskip("trl")

import chat_templates
from transformers import Qwen3Config, Qwen3ForCausalLM
from transformers.utils import get_json_schema
from trl import GRPOConfig, GRPOTrainer

from agentworld_gym.integrations.trl_environments import ToolEnvironment, environment_factory, scenario_factories

MCP, TERMINAL = "AgentWorld/MCP-v0", "AgentWorld/Terminal-v0"
Factory = type[ToolEnvironment]


@pytest.fixture(scope="module")
def shop() -> Iterator[Factory]:
    made = environment_factory(MCP, families=["order_goods"])
    yield made
    made.close()


@pytest.fixture(scope="module")
def terminal() -> Iterator[Factory]:
    made = environment_factory(TERMINAL, families=["copy_move"])
    yield made
    made.close()


def expert(factory: Factory, seed: int) -> list[tuple[str, dict[str, Any]]]:
    """Return the expert's actions for a seed as calls of methods."""
    calls = []
    for action in factory.runner.source.pick(seed, {}).expert:
        if action.startswith("finish"):
            calls.append(("finish", {"answer": action.partition(": ")[2]}))
        elif action.startswith("{"):
            call = json.loads(action)
            calls.append((call["name"].replace("-", "_"), call["arguments"]))
        else:
            calls.append(("act", {"action": action}))
    return calls


@pytest.mark.parametrize("env_id", [MCP, TERMINAL])
def test_an_expert_who_calls_the_methods_is_paid_and_another_is_not(env_id, shop, terminal):
    factory = shop if env_id == MCP else terminal
    environment = factory()
    assert environment.reset(task_seed=3).startswith(factory.runner.source.pick(3, {}).instruction[:40])
    for name, arguments in expert(factory, 3):
        getattr(environment, name)(**arguments)
    assert environment.get_reward() > 0.5
    environment.reset(task_seed=3, prompt="any other column")
    assert environment.finish() == "The episode is over."
    assert environment.get_reward() < 0.5


def test_an_agent_that_stops_calling_is_taken_to_be_done(terminal):
    environment = terminal()
    environment.reset(task_seed=3)
    for name, arguments in expert(terminal, 3):
        if name != "finish":
            getattr(environment, name)(**arguments)
    assert environment.get_reward() > 0.5, "the checks are tested although `finish` was never called"


def test_members_of_a_group_share_the_task_and_keep_apart(terminal):
    one, other = terminal(), terminal()
    assert one.reset(task_seed=5) == other.reset(task_seed=5)
    one.act("echo mine > /tmp/mine")
    assert "mine" in one.act("cat /tmp/mine") and "No such file" in other.act("cat /tmp/mine")


def test_every_tool_has_a_schema_that_transformers_reads_and_that_says_what_the_tool_says(shop):
    environment = shop()
    methods = {name for name, _ in inspect.getmembers(shop, inspect.isfunction) if not name.startswith("_")}
    assert methods - {"reset", "get_reward", "finish"} == {tool["name"].replace("-", "_") for tool in shop.tools}
    for tool in shop.tools:
        read = get_json_schema(getattr(environment, tool["name"].replace("-", "_")))["function"]
        wanted = tool["parameters"]
        assert read["description"] == " ".join(tool["description"].split())
        assert read["parameters"]["properties"].keys() == wanted.get("properties", {}).keys()
        assert sorted(read["parameters"].get("required", [])) == sorted(wanted.get("required", []))
        for name, schema in wanted.get("properties", {}).items():
            assert read["parameters"]["properties"][name].get("type") == schema.get("type"), (tool["name"], name)


def test_wrong_arguments_are_refused_in_the_words_of_the_world(shop):
    environment = shop()
    environment.reset(task_seed=3)
    assert "Missing required argument" in environment.shop_get_order()
    assert "Input should be" in environment.shop_list_orders(status="lost")


def test_what_the_world_shows_ends_no_message(terminal):
    environment = terminal()
    environment.reset(task_seed=3)
    assert "<|im_end|>" not in environment.act("echo '<|im_'end'|>'")


def test_a_world_that_failed_pays_nothing_and_leaves_its_group(terminal):
    environment = terminal()
    environment.reset(task_seed=3)
    world, step = terminal.runner.world, terminal.runner.world.step
    world.step = lambda sessions, actions: [Failure(FailureKind.SERVER, "gone")]
    environment.act("ls")
    world.step = step
    assert environment.get_reward() is None
    environment.reset(task_seed=3)
    assert environment.get_reward() is not None, "the next episode is a new one"


def test_each_scenario_of_the_tool_servers_has_a_class_of_its_own():
    factories = scenario_factories(families=["order_goods", "handle_return", "answer_mail"])
    assert {name: made.__name__ for name, made in factories.items()} == {
        "shop": "ShopEnvironment",
        "office": "OfficeEnvironment",
    }
    assert hasattr(factories["office"], "office_list_events") and not hasattr(factories["shop"], "office_list_events")
    for made in factories.values():
        made.close()


def test_a_task_with_other_tools_and_a_row_without_a_seed_are_refused():
    mixed = environment_factory(MCP, families=["order_goods", "answer_mail"])
    with pytest.raises(SpecError, match="name its `families`"):
        for seed in range(4):
            mixed().reset(task_seed=seed)
    with pytest.raises(SpecError, match="task_seed: got None"):
        mixed().reset()
    with pytest.raises(ClosedError):
        mixed().finish()
    mixed.close()


class ScriptedTrainer(GRPOTrainer):
    """TRL's trainer; the model writes the texts of a script, a text a turn."""

    turns: Sequence[str] = ()

    def _generate_single_turn(self, prompt_ids: Sequence[list[int]], *_: Any, **__: Any) -> tuple[Any, None]:
        text, *self.turns = self.turns
        return [
            [*self.processing_class(text)["input_ids"], self.processing_class.eos_token_id] for _ in prompt_ids
        ], None


def test_the_trainer_of_trl_calls_the_methods_and_is_told_the_reward(terminal, tmp_path: Path):
    tokenizer = copy.deepcopy(chat_templates.tokenizer("qwen3"))
    tokenizer.pad_token, tokenizer.eos_token = "<|endoftext|>", "<|im_end|>"
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=1,
        num_key_value_heads=1,
        head_dim=16,
        max_position_embeddings=32768,
    )
    args = GRPOConfig(
        output_dir=str(tmp_path),
        max_steps=1,
        per_device_train_batch_size=2,
        num_generations=2,
        max_completion_length=8192,
        report_to="none",
        save_strategy="no",
        use_cpu=True,
        bf16=False,
        logging_steps=1,
        disable_tqdm=True,
    )
    trainer = ScriptedTrainer(
        model=Qwen3ForCausalLM(config),
        processing_class=tokenizer,
        args=args,
        train_dataset=terminal.dataset([3]),
        environment_factory=terminal,
    )
    calls = [json.dumps({"name": name, "arguments": arguments}) for name, arguments in expert(terminal, 3)]
    trainer.turns = [*(f"<tool_call>\n{call}\n</tool_call>" for call in calls), "Done."]
    trainer.train()
    [log] = [entry for entry in trainer.state.log_history if "reward" in entry]
    assert log["reward"] > 0.5 and log["tools/failure_frequency"] == 0
    assert log["tools/call_frequency"] == len(calls)
