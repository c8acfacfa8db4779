"""A random Qwen3 model with a tokenizer and a chat template, made in a folder within a second."""

from __future__ import annotations

from pathlib import Path

TEMPLATE = """\
{%- for message in messages %}<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{% endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{%- if enable_thinking is defined and not enable_thinking %}
<think>

</think>

{% else %}
{% endif %}
{%- endif %}"""
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
TEXT = [
    "user@host:~/app$ ls -la\ntotal 8\n-rw-r--r-- 1 user user 42 notes.txt\n",
    "### Turn 1\n**Action:**\n```text\nwc -l < notes.txt\n```\n**Environment Observation:**\n3\n",
    "<predicted_observation>\nuser@host:~$ \n</predicted_observation> <think>\n\n</think>\n",
    '{"score": 3, "name": "terminal"} cat: missing.txt: No such file or directory\n',
]


def write_tiny_model(folder: Path, *, context: int = 1024, hidden: int = 64, layers: int = 2) -> Path:
    """Write a model of about 0.1 million parameters, equal for equal arguments."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=384, special_tokens=SPECIAL, initial_alphabet=alphabet)
    tokenizer.train_from_iterator(TEXT, trainer)
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="<|im_end|>", pad_token="<|endoftext|>", chat_template=TEMPLATE
    )
    fast.save_pretrained(folder)
    torch.manual_seed(0)
    config = Qwen3Config(
        vocab_size=len(fast),
        hidden_size=hidden,
        intermediate_size=2 * hidden,
        num_hidden_layers=layers,
        num_attention_heads=2,
        num_key_value_heads=2,
        head_dim=32,
        max_position_embeddings=context,
        tie_word_embeddings=True,
        eos_token_id=fast.eos_token_id,
        pad_token_id=fast.pad_token_id,
        initializer_range=0.5,
    )
    Qwen3ForCausalLM(config).save_pretrained(folder)
    return folder
