"""What a user says of documents to search: the option `live` of this domain."""

from __future__ import annotations

from pydantic import Field, model_validator

from agentworld_gym.kit.live import LiveConfig
from agentworld_gym.kit.live.config import Url


class DocumentConfig(LiveConfig):
    """A folder of documents, or a search engine.

    >>> DocumentConfig(documents="~/handbook").site
    'documents.example'
    """

    documents: str | None = None
    """A folder with Markdown, HTML, text and, where `pypdf` is installed, PDF."""

    searxng: Url | None = None
    """The URL of a SearXNG server whose settings allow JSON. Its host, and those of the pages that agents may open,
    have to stand under `network`; with `true` these are all hosts outside of private networks."""

    site: str = Field(default="documents.example", pattern=r"^[a-z0-9][a-z0-9.-]*$")
    """The host that the documents' addresses have."""

    deterministic: bool = True
    """Whether equal actions give equal observations, as they do with documents."""

    @model_validator(mode="after")
    def _one(self) -> DocumentConfig:
        if (self.documents is None) == (self.searxng is None):
            raise ValueError("either `documents` or `searxng`")
        idle = {key: getattr(self, key) for key in ("trusted", "read", "env")}
        idle |= {"network": self.searxng is None and self.network}
        idle |= {f"limits.{key}": True for key in self.limits.model_fields_set & {"disk_mb", "memory_mb", "processes"}}
        for key, given in idle.items():
            if given:
                raise ValueError(f"{key}: nothing: searches run no command, and documents lie on this machine")
        if self.searxng is not None and "deterministic" not in self.model_fields_set:
            return self.model_copy(update={"deterministic": False})
        return self
