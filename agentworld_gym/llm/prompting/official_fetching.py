"""The official texts of Qwen-AgentWorld, fetched by commit into the cache; this package holds their digests alone."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import mkdtemp
from types import MappingProxyType

from agentworld_gym.base.errors import GeneratorError
from agentworld_gym.llm.generators.pretrained.catalog import cache_folder

log = logging.getLogger(__name__)

NAME = "qwen-agentworld"
"""The name by which `agentworld prompts get` fetches the texts."""

COMMIT = "cd0aa83dc7a9c733695eb9c4652e0a68b6e6ecde"
"""The commit of the public repository that the texts are taken from."""

ADDRESS = f"https://raw.githubusercontent.com/QwenLM/Qwen-AgentWorld/{COMMIT}"
"""Where the files of that commit lie."""

FILES: Mapping[str, str] = MappingProxyType(
    {
        "LICENSE": "3e047f3880a1d65c98cd5ee9cf07f433aa3a4a9b9fc9547cf200f6b1a8586d4a",
        "eval/lwm_eval_utils/task_configs.py": "9f54d42d80bb0a4abab03f606da715b68bbb51f1e0257850e5a93d83b0f4113a",
        "prompts/android/judge_system_prompt.txt": "04e654f3f907139c1aaeb9c0ab1374cb6bac8162ce3af76c0f4dc3ed2dedadaa",
        "prompts/android/system_prompt.txt": "44659d61bf9ab8a990edcaafd8a1f36da5cf1937a79d4f10076a677985342769",
        "prompts/mcp/judge_system_prompt.txt": "dd2d05c1648cb90c77334cc5f15ba331aa92452effb85ddc5868e6b3608ebfb2",
        "prompts/mcp/system_prompt.txt": "11eefe9611721731005ec0007b7b9cbf68c97350dac8ad1837c1e886833b5038",
        "prompts/os/judge_system_prompt.txt": "105640a1d7c70280f5c4f042d3968a1a8a0dffae2b06ae9d780a45cb9a8c1426",
        "prompts/os/system_prompt.txt": "5c0b7bf5e31e69a6fcd2bf1b07b5dca79c8189fc025513e6d505ab58a920b6f5",
        "prompts/search/judge_system_prompt.txt": "3300bf23258ca556020d48d2fea6c5fb878ce451a100c6110f461c079ab50d83",
        "prompts/search/system_prompt.txt": "75c1950a9c6b8956edf4857d20c431ea89cecbf196528715cd32992d3a681471",
        "prompts/swe/judge_system_prompt.txt": "c4abc65e1ca1b5947c1596be2be63aebed5a8cd184ff95ebefaf38b3d4b9fa8e",
        "prompts/swe/system_prompt.txt": "eac1fe2970fc96f023ba096eb1af77576715bd9efb3d51dc25398a9e4f6398be",
        "prompts/terminal/judge_system_prompt.txt": "0c416c5e55d77733ec6c52064a196e10b17833703d4bde9b046291e77a996dbc",
        "prompts/terminal/system_prompt.txt": "e550c7bdde941db5fbfd6dcf1ac32c7b7779a1c848c20fb3cb27b0c437cad41d",
        "prompts/web/judge_system_prompt.txt": "dc2517b4e04eb8ea9e10fb7b8fcdefc9487ad26cb0cc20ec8d2fca29d532c6d6",
        "prompts/web/system_prompt.txt": "dcb679be88f6c5b1f241ec4f10eb506dafd19b95c063041fb0342655950bc86c",
    }
)
"""The SHA-256 digest of each file, by its path in the repository."""

_TIMEOUT_S = 60.0
_MOST_BYTES = 2**20


def official_folder() -> Path:
    """Return the folder of the prompts in the cache, whether they are there or not."""
    return _checkout() / "prompts"


def fetch_official(
    address: str = ADDRESS, tell: Callable[[str], None] = log.info, files: Mapping[str, str] = FILES
) -> Path:
    """Return the folder of the official prompts in the cache, where they are put first if they are not there.

    The folder appears whole, with the license and the script that holds the request to judges beside it.

    Args:
        address: Where the files lie.
        tell: A function that gets a message before the download.
        files: The digest of each file, by its path.

    Raises:
        GeneratorError: A file cannot be downloaded, or is not the one that was expected.
    """
    folder = _checkout()
    if (folder / "prompts").is_dir():
        return folder / "prompts"
    tell(f"downloading {len(files)} files from {address}")
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(mkdtemp(prefix=f"{NAME}.", dir=folder.parent))
    try:
        for path, digest in files.items():
            data = _downloaded(f"{address.rstrip('/')}/{path}")
            if (found := hashlib.sha256(data).hexdigest()) != digest:
                raise GeneratorError(f"{address}: {path} has SHA-256 {found}, expected {digest}")
            (partial / path).parent.mkdir(parents=True, exist_ok=True)
            (partial / path).write_bytes(data)
        partial.chmod(0o755)  # `mkdtemp` lets nobody else read it.
        try:
            os.replace(partial, folder)
        except OSError:
            if not (folder / "prompts").is_dir():  # Another process may have been faster.
                raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return folder / "prompts"


def _checkout() -> Path:
    return cache_folder() / "prompts" / NAME


def _downloaded(url: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=_TIMEOUT_S) as response:
            data: bytes = response.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as error:  # `urllib.error.URLError` is an OSError.
        raise GeneratorError(f"{url} cannot be downloaded ({error})") from error
    return data
