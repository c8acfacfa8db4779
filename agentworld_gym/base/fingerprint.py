"""What makes a world what it is, as one digest with named parts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version

from agentworld_gym.base.errors import FingerprintMismatch


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a fingerprint."""

    value: str
    """The value, such as a digest, a name or a version."""

    verified: bool
    """Whether this process computed the value; otherwise a server only declares it."""


@dataclass(frozen=True)
class Fingerprint:
    """All that makes a world what it is, by name: weights or model name, spec, prompts, sampling, versions.

    >>> a = Fingerprint({"world": Part("scripted", True)})
    >>> a.digest == Fingerprint({"world": Part("scripted", True)}).digest
    True
    >>> Fingerprint.from_dict(a.as_dict()) == a
    True
    """

    parts: Mapping[str, Part]

    @property
    def digest(self) -> str:
        """The digest over the values of all parts, as 16 hexadecimal digits; the order of the parts does not matter."""
        return digest_of({name: part.value for name, part in self.parts.items()})

    def as_dict(self) -> dict[str, dict[str, str | bool]]:
        """Return the value of each part and whether it was verified, by name and ready for JSON."""
        return {name: {"value": p.value, "verified": p.verified} for name, p in sorted(self.parts.items())}

    @classmethod
    def from_dict(cls, data: Mapping[str, Mapping[str, str | bool]]) -> Fingerprint:
        """Return the fingerprint that `as_dict` wrote."""
        return cls({name: Part(str(p["value"]), bool(p["verified"])) for name, p in data.items()})

    def expect(self, expected: str | Mapping[str, Mapping[str, str | bool]]) -> None:
        """Refuse another world.

        Args:
            expected: The digest of the expected world, or the dictionary that `as_dict` gives; with a dictionary the
                error names the parts that differ.

        Raises:
            FingerprintMismatch: This fingerprint is another one.
        """
        if isinstance(expected, str):
            if expected != self.digest:
                mine = ", ".join(f"{name}={part.value}" for name, part in sorted(self.parts.items()))
                raise FingerprintMismatch(f"expected fingerprint {expected}, this world is {self.digest} ({mine})")
            return
        theirs = Fingerprint.from_dict(expected)
        differing = []
        for name in sorted({*self.parts, *theirs.parts}):
            mine_value = self.parts[name].value if name in self.parts else "absent"
            their_value = theirs.parts[name].value if name in theirs.parts else "absent"
            if mine_value != their_value:
                differing.append(f"{name}: expected {their_value}, got {mine_value}")
        if differing:
            raise FingerprintMismatch("this is another world: " + "; ".join(differing))


@lru_cache(maxsize=64)
def installed(name: str) -> str:
    """Return the version of an installed distribution, or `unknown`, as it was at the first call."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"


def digest_of(value: object) -> str:
    """Return the digest over the canonical JSON of a value, as 16 hexadecimal digits.

    >>> digest_of({"b": 1, "a": 2}) == digest_of({"a": 2, "b": 1})
    True
    """
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
