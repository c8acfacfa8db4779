"""A small file that pins a world: a run that meets another one stops, and the error says what differs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, Self

import yaml
from pydantic import Field

from agentworld_gym.base.documents.strict import Strict, read_document
from agentworld_gym.base.errors import FingerprintMismatch, SpecError
from agentworld_gym.base.fingerprint import Fingerprint, Part

HEADER = "# Pins a world; `agentworld lock` wrote it. A part that is not verified is only what a server declares.\n"
ABSENT = "absent"


class LockedPart(Strict):
    """One part of a fingerprint, as a lock holds it."""

    value: str
    """The value, such as a digest, a name or a version."""

    verified: bool
    """Whether the process that wrote the lock computed the value; otherwise a server only declared it."""


class Lock(Strict):
    """What pins the world of one environment.

    >>> lock = Lock.of("AgentWorld/Terminal-v0", "tiny", Fingerprint({"spec": Part("a1", True)}))
    >>> lock.check("AgentWorld/Terminal-v0", Fingerprint({"spec": Part("b2", True)}))
    Traceback (most recent call last):
    agentworld_gym.base.errors.FingerprintMismatch: this is another world than the lock pins: spec: locked a1, here b2
    """

    format: Literal["agentworld-lock-1"] = "agentworld-lock-1"
    """The format of the file."""

    env: str
    """The id of the environment."""

    world: str
    """The handle of the world, for readers: a server elsewhere with the same parts is the same world."""

    digest: str
    """The digest of the parts, which is that of the fingerprint."""

    parts: dict[str, LockedPart]
    """The parts of the fingerprint, by name."""

    sampling: dict[str, Any] = Field(default_factory=dict)
    """What the part `sampling` is the digest of, so that an error can name the field that differs."""

    @classmethod
    def of(cls, env: str, world: str, fingerprint: Fingerprint, sampling: Mapping[str, Any] | None = None) -> Self:
        """Return the lock of a world.

        Args:
            env: The id of the environment.
            world: The handle of the world.
            fingerprint: The fingerprint of the world, and of a judge beside it.
            sampling: The sampling of a language world by field.
        """
        parts = {name: LockedPart(value=p.value, verified=p.verified) for name, p in sorted(fingerprint.parts.items())}
        return cls(env=env, world=world, digest=fingerprint.digest, parts=parts, sampling=dict(sampling or {}))

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a lock.

        Raises:
            MissingFile: There is no such file.
            SpecError: The file is no lock, or its parts were changed after it was written.
        """
        lock = read_document(cls, path, "a lock that `agentworld lock` wrote")
        if lock.digest != lock.fingerprint.digest:
            expected = f"{lock.fingerprint.digest}, the digest of the parts; the file was changed, lock the world anew"
            raise SpecError(path, "digest", lock.digest, expected)
        return lock

    def write(self, path: Path) -> None:
        """Write the lock as YAML; the folders above it are made.

        Raises:
            OSError: The file cannot be written.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(HEADER + yaml.safe_dump(self.model_dump(), sort_keys=False), encoding="utf-8")

    @property
    def fingerprint(self) -> Fingerprint:
        """The fingerprint that is pinned."""
        return Fingerprint({name: Part(part.value, part.verified) for name, part in self.parts.items()})

    @property
    def declared(self) -> tuple[str, ...]:
        """The names of the parts that a server only declared."""
        return tuple(name for name, part in self.parts.items() if not part.verified)

    def check(
        self, env: str, found: Fingerprint, sampling: Mapping[str, Any] | None = None, path: Path | None = None
    ) -> None:
        """Refuse another world.

        Args:
            env: The id of the environment at hand.
            found: The fingerprint at hand.
            sampling: The sampling at hand by field, if it is known.
            path: The file of the lock, for the error.

        Raises:
            FingerprintMismatch: It is another world; the error names each part that differs, as it was locked and as it
                is here, and says of a part that nobody verified that it is only declared.
        """
        named = "" if path is None else f"{path}: "
        if env != self.env:
            raise FingerprintMismatch(f"{named}the lock pins {self.env}, this is {env}")
        differing = list(self._differences(found, sampling))
        if differing:
            raise FingerprintMismatch(f"{named}this is another world than the lock pins: {'; '.join(differing)}")

    def _differences(self, found: Fingerprint, sampling: Mapping[str, Any] | None) -> Iterator[str]:
        locked = self.fingerprint.parts
        for name in sorted({*locked, *found.parts}):
            pinned, here = locked.get(name), found.parts.get(name)
            if pinned is not None and here is not None and pinned.value == here.value:
                continue
            if name == "sampling" and self.sampling and sampling:
                fields = [key for key in {**self.sampling, **sampling} if self.sampling.get(key) != sampling.get(key)]
                told = [f"{key} locked {self.sampling.get(key)}, here {sampling.get(key)}" for key in fields]
                yield f"sampling: {', '.join(told)}"
            else:
                yield f"{name}: locked {_describe_part(pinned)}, here {_describe_part(here)}"


def _describe_part(part: Part | None) -> str:
    if part is None:
        return ABSENT
    return part.value if part.verified else f"{part.value} (declared)"
