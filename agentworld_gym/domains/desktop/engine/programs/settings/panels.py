"""The panels of the settings and their controls, as `scenarios/desktop/settings.yaml` describes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Literal

from pydantic import RootModel, model_validator

from agentworld_gym.base.documents.data_folder import data_folder
from agentworld_gym.base.documents.strict import Strict, read_yaml, validated
from agentworld_gym.core.engines import Scalar


class PanelLine(Strict):
    """One line of a panel."""

    kind: Literal["switch", "combo", "slider", "radio", "entry", "label", "heading"]
    """The kind of its widget."""
    label: str
    """The text beside the widget."""
    setting: str = ""
    """The setting that it changes."""
    default: str | bool | int | None = None
    """The initial value of the setting."""
    choices: tuple[str, ...] = ()
    """The choices of a combo box or of radio buttons."""
    needs: str = ""
    """The switch without which the line is disabled."""
    text: str = ""
    """The text of a line without a setting."""

    @model_validator(mode="after")
    def _whole(self) -> PanelLine:
        if (self.kind in ("combo", "radio")) != bool(self.choices):
            raise ValueError("`choices` for a combo box and radio buttons, and for nothing else")
        if (self.kind in ("label", "heading")) == bool(self.setting):
            raise ValueError("a `setting`, but for a label or heading")
        return self

    @property
    def first(self) -> Scalar:
        """The initial value."""
        return self.choices[0] if self.choices and self.default is None else self.default


class _Panels(RootModel[dict[str, tuple[PanelLine, ...]]]):
    pass


@lru_cache(maxsize=1)
def panels() -> Mapping[str, tuple[PanelLine, ...]]:
    """Return the panels by name, in the order of the list.

    Raises:
        SpecError: The file is wrong.
    """
    path = data_folder("domain_specs") / "scenarios" / "desktop" / "settings.yaml"
    return validated(_Panels, read_yaml(path), path).root


class Defaults(Mapping[str, Scalar]):
    """Every setting with its initial value; the file is read at the first access."""

    def __getitem__(self, setting: str) -> Scalar:
        return self._all()[setting]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    @staticmethod
    @lru_cache(maxsize=1)
    def _all() -> dict[str, Scalar]:
        return {one.setting: one.first for controls in panels().values() for one in controls if one.setting}


_COMMAND_NAMES: Mapping[str, str] = {
    "background": "Appearance",
    "datetime": "Date & Time",
    "display": "Displays",
    "info-overview": "About",
    "mouse": "Mouse & Touchpad",
    "universal-access": "Accessibility",
    "user-accounts": "Users",
    "wifi": "Wi-Fi",
    "default-apps": "Default Applications",
}


def panel_named(name: str) -> str:
    """Return the panel that a command-line argument names; empty where there is none.

    >>> panel_named("display"), panel_named("Power"), panel_named("bluetooth"), panel_named("x")
    ('Displays', 'Power', 'Bluetooth', '')
    """
    lowered = name.rpartition("/")[2].lower()
    if lowered in _COMMAND_NAMES:
        return _COMMAND_NAMES[lowered]
    return next((panel for panel in panels() if panel.lower() == lowered), "")
