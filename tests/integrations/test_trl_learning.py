"""TRL learns from the rollouts: a policy that can write three texts soon writes the one that pays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl")

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM
from trl import GRPOConfig, GRPOTrainer

from agentworld_gym.integrations.trl import EnvironmentRollout, environment_reward

TEXTS = ('[{"keystrokes": "ls\\n"}]', "finish: yes", "finish: no")
"""Each is one token, which no observation holds. After the first the world shows some lines."""

TASK = """
instruction: Is a yes wanted?
state: {files: {/home/dev/a.txt: "yes or no"}}
success: [{answer: {equals: "yes"}}]
expert: ["finish: yes"]
menu: [ls, "finish: yes", "finish: no"]
"""
GROUP, STEPS = 16, 8


class WatchedTrainer(GRPOTrainer):  # type: ignore[misc]
    """The trainer of TRL; it keeps what the loss is computed from."""

    def _compute_loss(self, model: Any, inputs: dict[str, Any]) -> torch.Tensor:
        self.seen = getattr(self, "seen", [])
        self.seen.append(inputs)
        return super()._compute_loss(model, inputs)


def three_texts() -> tuple[PreTrainedTokenizerFast, Qwen3ForCausalLM]:
    """A tokenizer of bytes and the three texts, and a policy with one layer that writes nothing else."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    core = Tokenizer(models.BPE(vocab={one: place for place, one in enumerate(alphabet)}, merges=[]))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    template = "{% for turn in messages %}{{ turn.role }}: {{ turn.content }}<end>{% endfor %}"
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core, pad_token="<pad>", eos_token="<end>", chat_template=template
    )
    tokenizer.add_tokens(list(TEXTS))
    size = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 1}
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        num_key_value_heads=1,
        head_dim=16,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        tie_word_embeddings=False,
        **size,
    )
    model = Qwen3ForCausalLM(config)
    model.lm_head = torch.nn.Linear(16, len(tokenizer))
    torch.nn.init.constant_(model.lm_head.bias, -1e4).requires_grad_(False)
    model.lm_head.bias[tokenizer.convert_tokens_to_ids(list(TEXTS))] = 0.0
    return tokenizer, model


@pytest.fixture(scope="module")
def trainer(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A trainer that has taken its steps."""
    torch.manual_seed(0)
    folder: Path = tmp_path_factory.mktemp("bandit")
    (folder / "bandit.yaml").write_text(TASK, encoding="utf-8")
    options = {"world": "grounded", "task": str(folder / "bandit.yaml"), "system": "Act.", "max_turns": 3}
    rollout = EnvironmentRollout("AgentWorld/Terminal-v0", **options)
    tokenizer, model = three_texts()
    args = GRPOConfig(
        output_dir=str(folder),
        max_steps=STEPS,
        per_device_train_batch_size=GROUP,
        num_generations=GROUP,
        max_completion_length=1,
        learning_rate=2e-2,
        logging_steps=1,
        loss_type="dapo",
        scale_rewards="none",
        gradient_checkpointing=False,
        report_to="none",
        save_strategy="no",
        use_cpu=True,
        bf16=False,
        disable_tqdm=True,
    )
    made = WatchedTrainer(
        model=model,
        processing_class=tokenizer,
        args=args,
        train_dataset=rollout.dataset(range(STEPS)),
        reward_funcs=environment_reward,
        rollout_func=rollout,
    )
    made.train()
    rollout.close()
    return made


def test_a_policy_of_three_texts_soon_writes_the_one_that_pays(trainer):
    rewards = [entry["reward"] for entry in trainer.state.log_history if "reward" in entry]
    assert rewards[0] < 0.7, "at first it guesses"
    assert sum(rewards[-2:]) / 2 > 0.95, "an answer at once pays 0.99"


def test_the_loss_is_taken_over_what_the_model_wrote_and_nothing_else(trainer):
    texts = set(trainer.processing_class.convert_tokens_to_ids(list(TEXTS)))
    batch = trainer.seen[0]
    counted = (batch["completion_mask"] * batch["tool_mask"]).bool()
    written = torch.isin(batch["completion_ids"], torch.tensor(sorted(texts)))
    assert (counted == written & batch["completion_mask"].bool()).all()
    assert counted.sum() > len(counted), "some episodes look first, so that lines of the world stand between two texts"


def test_an_advantage_is_the_return_less_the_mean_of_the_group(trainer):
    assert len(trainer.seen) == STEPS
    for batch in trainer.seen:
        assert len(batch["advantages"]) == GROUP and abs(batch["advantages"].mean()) < 1e-6
    gained = trainer.seen[0]["advantages"]
    assert 0.9 < gained.max() - gained.min() <= 1.05, "a right answer and a wrong one are a whole reward apart"
