"""Types of fields that the configurations of all stages share."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

Positive = Annotated[int, Field(ge=1)]
"""A whole number from 1 on."""

Share = Annotated[float, Field(ge=0, le=1)]
"""A share from 0 to 1."""

Bfloat16 = bool | Literal["auto"]
"""Whether to compute in bfloat16; `auto` does so where this machine multiplies matrices in it clearly faster."""
