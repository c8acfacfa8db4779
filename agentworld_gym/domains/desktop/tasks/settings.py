"""Tasks in the settings: the agent changes what the instruction or a note asks for, and notes former values down."""

from __future__ import annotations

from itertools import zip_longest

from agentworld_gym.core.domain.task import Check
from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.core.tasks.scene import Unfit
from agentworld_gym.domains.desktop.engine.programs.settings.panels import PanelLine, panels
from agentworld_gym.domains.desktop.tasks.actions import CLOSE, SAVE, click, double, enter, icon, quoted
from agentworld_gym.domains.desktop.tasks.checks import is_chosen, is_switched, says, sets
from agentworld_gym.domains.desktop.tasks.scene import DOCUMENTS, DesktopScene, family
from agentworld_gym.domains.desktop.tasks.vocabulary import PEOPLE

OPEN = click("push-button 'Settings'")
PANELS = (
    "Appearance",
    "Power",
    "Sound",
    "Displays",
    "Keyboard",
    "Date & Time",
    "Mouse & Touchpad",
    "Accessibility",
    "Privacy",
)


class SettingChange:
    """A setting that is to be changed on its panel, and the switches beside it that have to stay."""

    def __init__(self, scene: DesktopScene, panel: str, kind: str) -> None:
        free = [one for one in panels()[panel] if not one.needs]
        controls = [one for one in free if one.kind == kind and (kind == "switch" or len(one.choices) > 2)]
        if not controls:
            raise Unfit(f"{panel} has no {kind}")
        self.panel, self.control = panel, scene.rng.choice(controls)
        self.kept = scene.mixed(one for one in free if one.kind == "switch" and one is not self.control)[:2]
        if not self.kept:
            raise Unfit(f"{panel} has nothing that is to stay")
        for one in self.kept:
            scene.settings[one.setting] = scene.rng.random() < 0.5
        self._stays = [is_switched(one.label, scene.settings[one.setting] is True) for one in self.kept]
        self.choices: list[str] = []
        if kind == "switch":
            self.before: str | bool = scene.rng.random() < 0.5
            self.after: str | bool = not self.before
        else:
            self.before, self.after, *self.choices = scene.mixed(self.control.choices)
        scene.settings[self.control.setting] = self.before

    @property
    def steps(self) -> list[str]:
        """The actions that change the setting once its panel is shown."""
        return self.setting(self.after)

    def setting(self, value: str | bool) -> list[str]:
        """Return the action that sets a value."""
        name = quoted(self.control.label)
        if self.control.kind == "switch":
            return [click(f"switch {name}")]
        if self.control.kind == "radio":
            return [click(f"radio-button {quoted(str(value))}")]
        return [click(f"combo-box {name}"), click(f"menu-item {quoted(str(value))}")]

    @property
    def show(self) -> str:
        """The click that shows the panel."""
        return click(f"list-item {quoted(self.panel)}")

    @property
    def words(self) -> str:
        """The words that ask for the change."""
        label = self.control.label
        if self.control.kind == "switch":
            return self.switching(self.control, self.after is True)
        return f'set "{label}" to "{self.after}" ({self.panel})'

    def switching(self, switch: PanelLine, on: bool) -> str:
        """Return the words that ask for a switch of the panel to be on or off."""
        return f'{"turn on" if on else "turn off"} "{switch.label}" ({self.panel})'

    @property
    def check(self) -> Check:
        """A check that the setting is changed and the switches beside it are as they were."""
        label = self.control.label
        if self.control.kind == "switch":
            done = is_switched(label, self.after is True)
        elif self.control.kind == "radio":
            done = is_chosen(str(self.after))
        else:
            done = says("combo-box", label, str(self.after))
        return sets(self.panel, done, *self._stays)

    @property
    def tempting(self) -> list[str]:
        """Wrong clicks on the panel: other choices, and switches that have to stay, the likeliest mistakes
        first."""
        choices = [self.setting(choice)[-1] for choice in self.choices[:2]]
        return [step for pair in zip_longest(choices, map(_toggle, self.kept)) for step in pair if step]


def _toggle(control: PanelLine) -> str:
    return click(f"switch {quoted(control.label)}")


def _tempting(changes: list[SettingChange]) -> list[str]:
    """Return wrong clicks beside the changes, the likeliest mistake of each change first."""
    return [step for steps in zip_longest(*(change.tempting for change in changes)) for step in steps if step]


def _changes(scene: DesktopScene, *kinds: str) -> list[SettingChange]:
    names = scene.several(PANELS, len(kinds))
    return [SettingChange(scene, name, kind) for name, kind in zip(names, kinds, strict=True)]


def _way(changes: list[SettingChange]) -> list[str]:
    return [step for change in changes for step in (change.show, *change.steps)]


def _before(changes: list[SettingChange]) -> tuple[str, str] | None:
    """Return the words for what a list was set to before, and what that is; None where no list is changed."""
    old = next((change for change in changes if change.control.kind == "combo"), None)
    return None if old is None else (f'what "{old.control.label}" was set to before', str(old.before))


@family
def change_settings(scene: DesktopScene, level: int) -> TaskDraft:
    """The agent changes settings that the instruction names, more of them at each level."""
    kinds = (
        scene.mixed(["switch", "combo", "radio"])[:1],
        ["switch", "combo", "radio"],
        ["switch", "combo", "combo", "radio"],
    )
    changes = _changes(scene, *scene.mixed(kinds[level - 1]))
    spare = [click(f"list-item {quoted(name)}") for name in scene.several(PANELS, 2)]
    distractors = [*_tempting(changes), *spare, CLOSE, click("push-button 'Files'")]
    wanted = "; ".join(change.words for change in changes)
    instruction = scene.say(f"In the settings, {wanted}.", f"Change the settings of this computer: {wanted}.")
    expert = [OPEN, *_way(changes)]
    return scene.draft(
        instruction,
        expert,
        distractors,
        [change.check for change in changes],
        size=(10, 16, 16)[level - 1],
        found=_before(changes),
    )


@family
def settings_by_note(scene: DesktopScene, level: int) -> TaskDraft:
    """The agent changes the settings that a person wants in a note, and at the highest level writes a former value
    down."""
    scene.show()
    kinds = ("switch", "combo") if level != 2 else ("switch", "combo", "radio")
    changes = _changes(scene, *scene.mixed(kinds))
    person, other = scene.several(PEOPLE, 2)
    lines = [f"{person}: {change.words}" for change in changes]
    beside = scene.rng.choice(changes)
    unwanted = beside.kept[0]
    lines.append(f"{other}: {beside.switching(unwanted, not scene.settings[unwanted.setting])}")
    note = scene.put("Documents/wishes.txt", *scene.mixed(lines))
    distractors = [_toggle(unwanted), *_tempting(changes)]
    expert = [double(icon(note)), CLOSE, OPEN, *_way(changes)]
    checks = [change.check for change in changes]
    who = f'The note "{note}" in Documents tells who wants which settings. {person} uses this computer today: '
    if level < 3:
        instruction = who + scene.say(f"set up what {person} wants.", f"make the changes that {person} wants.")
        return scene.draft(instruction, expert, distractors, checks, size=(14, 16)[level - 1])
    old = next(change for change in changes if change.control.kind == "combo")
    log = scene.put("Documents/log.txt", "")
    scene.files[f"{DOCUMENTS}/{log}"] = ""
    expert += [CLOSE, double(icon(log)), enter(str(old.before)), SAVE]
    values = [old.before, old.after, old.choices[0]]
    # The menu offers each value both in the list and in the note, so that none stands out.
    wrong = [step for value in values for step in (enter(str(value)), old.setting(value)[-1])]
    instruction = (
        f'{who}set up what {person} wants. Then write into "{log}" what "{old.control.label}" was set to '
        "before, as its only line, and save it."
    )
    checks.append(scene.holds(f"{DOCUMENTS}/{log}", f"{old.before}\n"))
    return scene.draft(
        instruction, expert, [distractors[0], *wrong, *distractors], checks, size=16, found=_before(changes)
    )
