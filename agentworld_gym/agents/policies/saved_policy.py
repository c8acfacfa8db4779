"""Reads an agent of Stable-Baselines3 by its weights alone: nothing that its file holds is executed.

`MaskablePPO.load` unpickles what the file names, and a pickle runs whatever its author wrote. Here the weights are read
as tensors, the two spaces and the options of the policy as plain JSON, and the policy is built from them.
"""

from __future__ import annotations

import io
import json
import pickle
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agentworld_gym.base.errors import SpecError, install

try:
    import torch
    from gymnasium.spaces import Box, Discrete
    from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy

    from agentworld_gym.agents.policies.menu_policy import MenuPolicy
except ImportError as error:
    raise ImportError(f"this needs Stable-Baselines3: {install('sb3')}") from error

MOST_BYTES = 2**28
"""The most bytes that the weights of an agent may have."""

MOST_NUMBERS = 2**20
"""The most numbers of an observation, and the most choices."""

EXPECTED = (
    "a MaskablePPO with a MenuPolicy or an MlpPolicy over a Box and Discrete choices, which is read by its weights "
    "alone; whatever else such a file holds runs as a program, so load another one yourself where you trust it, and "
    "give it to agentworld_gym.agents.policies.menu_agent.MenuAgent"
)

_ACTIVATION = re.compile(r"torch\.nn\.modules\.activation\.(ELU|GELU|LeakyReLU|Mish|ReLU|SELU|SiLU|Sigmoid|Tanh)'")
_LAYER = re.compile(r"mlp_extractor\.(policy_net|value_net)\.(\d+)\.weight")

Weights = Mapping[str, torch.Tensor]


class SavedPolicy:
    """The policy of an agent: it predicts, and does not learn.

    Args:
        path: The file that `MaskablePPO.save` wrote.

    Raises:
        SpecError: The file is something else, or holds a policy that its weights do not describe.
    """

    def __init__(self, path: Path) -> None:
        try:
            with zipfile.ZipFile(path) as archive:
                weights: Any = torch.load(
                    io.BytesIO(_member(archive, "policy.pth")), map_location="cpu", weights_only=True
                )
                options: Any = json.loads(_member(archive, "data"))
            self.observation_space, self.action_space = _spaces(options)
            self._policy = _policy(weights, options, self.observation_space, self.action_space)
            self._policy.load_state_dict(weights)
        except _UNREADABLE as error:
            reason = " ".join(str(error).split())[:200] or type(error).__name__
            raise SpecError(path, "policy", path.name, f"{EXPECTED} ({reason})") from error
        self._policy.set_training_mode(False)

    def predict(
        self, observation: Any, state: Any = None, deterministic: bool = False, action_masks: Any = None
    ) -> tuple[Any, Any]:
        """Return the choices for observations, as an algorithm of Stable-Baselines3 does."""
        prediction: tuple[Any, Any] = self._policy.predict(
            observation, state, deterministic=deterministic, action_masks=action_masks
        )
        return prediction

    def chances(self, observation: Any, action_masks: Any) -> NDArray[np.float64]:
        """Return the probability of each choice for observations, `[observations, choices]`; 0 of masked ones.

        Args:
            observation: The observations, `[observations, numbers]`.
            action_masks: Which choices there are, `[observations, choices]`.
        """
        seen, _ = self._policy.obs_to_tensor(observation)
        with torch.no_grad():
            dealt: Any = self._policy.get_distribution(seen, action_masks).distribution
        chances: NDArray[np.float64] = np.where(action_masks, dealt.probs.double().numpy(), 0.0)
        return chances


_UNREADABLE = (
    OSError,
    zipfile.BadZipFile,
    pickle.UnpicklingError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    RuntimeError,
    EOFError,
    MemoryError,
    NotImplementedError,
    OverflowError,
)


def _member(archive: zipfile.ZipFile, name: str) -> bytes:
    if archive.getinfo(name).file_size > MOST_BYTES:
        raise ValueError(f"{name} has more than {MOST_BYTES} bytes")
    return archive.read(name)


def _spaces(options: Any) -> tuple[Box, Discrete]:
    """Make the spaces from the plain values that stand beside what is pickled."""
    (size,) = options["observation_space"]["_shape"]
    choices = int(options["action_space"]["n"])
    if not 0 < int(size) <= MOST_NUMBERS or not 0 < choices <= MOST_NUMBERS:
        raise ValueError(f"a space of {size} numbers and {choices} choices")
    return Box(-np.inf, np.inf, (int(size),), np.float32), Discrete(choices)


def _policy(weights: Weights, options: Any, seen: Box, choices: Discrete) -> MaskableActorCriticPolicy:
    """Make a policy of the shape that its weights have."""
    if "mlp_extractor.context.weight" in weights:
        double, context_size = weights["mlp_extractor.context.weight"].shape
        return MenuPolicy(seen, choices, _still, context_size=int(context_size), hidden=int(double) // 2)
    layers: dict[str, dict[int, int]] = {"policy_net": {}, "value_net": {}}
    for name, tensor in weights.items():
        if match := _LAYER.fullmatch(name):
            layers[match[1]][int(match[2])] = int(tensor.shape[0])
    pi, vf = ([sizes[place] for place in sorted(sizes)] for sizes in layers.values())
    named = _ACTIVATION.search(str((options.get("policy_kwargs") or {}).get("activation_fn", "")))
    activation = getattr(torch.nn, named[1]) if named else torch.nn.Tanh
    return MaskableActorCriticPolicy(
        seen, choices, _still, net_arch={"pi": pi, "vf": vf}, activation_fn=activation, ortho_init=False
    )


def _still(_progress: float) -> float:
    return 0.0
