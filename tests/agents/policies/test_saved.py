"""An agent's file is read by its weights: nothing in it is executed."""

from __future__ import annotations

import base64
import io
import json
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agentworld_gym.agents.policies.registry import open_policy
from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.domain.spec import load_spec

pytest.importorskip("sb3_contrib")

MENU = 8


class Harm:
    """What runs when a pickle is read."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.write_text, (self.file, "executed")


@pytest.fixture
def saved(tmp_path: Path) -> Callable[..., tuple[Any, Path]]:
    """An agent of Stable-Baselines3, and the file that it was saved to."""

    def save(policy: Any, **options: Any) -> tuple[Any, Path]:
        from sb3_contrib import MaskablePPO

        from agentworld_gym.integrations.sb3 import TextEncoder, make_sb3_env

        env = make_sb3_env("AgentWorld/Terminal-v0", num_envs=1, seed=0, encoder=TextEncoder(max_menu=MENU))
        model = MaskablePPO(policy, env, n_steps=2, batch_size=2, seed=0, device="cpu", policy_kwargs=options)
        path = tmp_path / "agent.zip"
        model.save(path)
        env.close()
        return model, path

    return save


def rewritten(path: Path, **members: bytes) -> None:
    """The same file with other members."""
    with zipfile.ZipFile(path) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in {**held, **{name.replace("_pth", ".pth"): data for name, data in members.items()}}.items():
            archive.writestr(name, data)


@pytest.mark.parametrize("kind", ["menu", "mlp", "mlp of another shape"])
def test_a_policy_made_of_its_weights_chooses_as_the_agent_does(kind, saved):
    import torch

    from agentworld_gym.agents.policies.menu_policy import MenuPolicy
    from agentworld_gym.integrations.sb3 import TextEncoder

    encoder = TextEncoder(max_menu=MENU)
    options: dict[str, Any] = {
        "menu": {"context_size": encoder.context_size, "hidden": 16},
        "mlp": {},
        "mlp of another shape": {"net_arch": {"pi": [24, 16], "vf": [8]}, "activation_fn": torch.nn.ReLU},
    }[kind]
    model, path = saved(MenuPolicy if kind == "menu" else "MlpPolicy", **options)
    with torch.no_grad():
        for parameter in model.policy.parameters():
            parameter.add_(torch.randn(parameter.shape) / 3)
    model.save(path)
    agent = open_policy(str(path), load_spec("terminal"))._model  # type: ignore[attr-defined]
    vectors = np.random.default_rng(0).normal(size=(64, encoder.size)).astype(np.float32)
    masks = np.random.default_rng(1).random((64, MENU)) < 0.7
    masks[:, 0] = True
    expected, _ = model.predict(vectors, deterministic=True, action_masks=masks)
    found, _ = agent.predict(vectors, deterministic=True, action_masks=masks)
    assert len(set(expected.tolist())) > 1
    assert found.tolist() == expected.tolist()


def test_a_pickle_among_the_options_is_never_read(saved, tmp_path):
    _, path = saved("MlpPolicy")
    with zipfile.ZipFile(path) as archive:
        data = json.loads(archive.read("data"))
    harm = base64.b64encode(pickle.dumps(Harm(tmp_path / "harmed"))).decode()
    pickled = [value for value in data.values() if isinstance(value, dict) and ":serialized:" in value]
    for value in pickled:
        value[":serialized:"] = harm
    rewritten(path, data=json.dumps(data).encode())
    assert pickled
    open_policy(str(path), load_spec("terminal"))
    assert not (tmp_path / "harmed").exists()


@pytest.mark.parametrize("form", ["pickle", "torch"])
def test_weights_that_are_a_program_are_refused(saved, tmp_path, form):
    import torch

    _, path = saved("MlpPolicy")
    harm = Harm(tmp_path / "harmed")
    buffer = io.BytesIO()
    if form == "torch":
        torch.save({"mlp_extractor.context.weight": harm}, buffer)
    else:
        buffer.write(pickle.dumps(harm))
    rewritten(path, policy_pth=buffer.getvalue(), pytorch_variables_pth=buffer.getvalue())
    with pytest.raises(SpecError, match="by its weights alone"):
        open_policy(str(path), load_spec("terminal"))
    assert not (tmp_path / "harmed").exists()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b'{"observation_space": {"_shape": [3, 3]}, "action_space": {"n": 8}}',
        b'{"observation_space": {"_shape": [1000000000000]}, "action_space": {"n": 8}}',
        b'{"observation_space": {"_shape": [10]}, "action_space": {"n": "many"}}',
        b'{"observation_space": {"_shape": [10]}, "action_space": {"n": 8}}',
    ],
)
def test_a_file_that_does_not_fit_is_refused_by_name(saved, data):
    _, path = saved("MlpPolicy")
    rewritten(path, data=data)
    with pytest.raises(SpecError, match=r"agent\.zip"):
        open_policy(str(path), load_spec("terminal"))


def test_what_is_no_archive_is_refused_by_name(tmp_path):
    path = tmp_path / "agent.zip"
    path.write_bytes(b"no zip")
    with pytest.raises(SpecError, match=r"agent\.zip"):
        open_policy(str(path), load_spec("terminal"))
