"""Tasks in the settings: told ones, those that a note asks for, and such as have to be noted down."""

from __future__ import annotations

from agentworld_gym.engines.desktop.programs.settings_panels import Control, panels
from agentworld_gym.task import Check
from agentworld_gym.tasks.desktop import scene as scenes
from agentworld_gym.tasks.desktop.names import PEOPLE
from agentworld_gym.tasks.desktop.scene import (
    CLOSE,
    DOCUMENTS,
    SAVE,
    Scene,
    click,
    double,
    enter,
    family,
    icon,
    sets,
)
from agentworld_gym.tasks.draft import Draft

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


class Change:
    """One setting that is to change: what it was, what it becomes, and how."""

    def __init__(self, scene: Scene, panel: str, kind: str) -> None:
        controls = [one for one in panels()[panel] if one.kind == kind and not one.needs]
        if not controls:
            raise scenes.Unfit(f"{panel} has no {kind}")
        self.panel, self.control = panel, scene.rng.choice(controls)
        self.choices: list[str] = []
        if kind == "switch":
            self.before: str | bool = scene.rng.random() < 0.5
            self.after: str | bool = not self.before
        else:
            self.before, self.after, *self.choices = scene.mixed(self.control.choices)
        scene.settings[self.control.setting] = self.before

    @property
    def steps(self) -> list[str]:
        """How it is changed once its panel is shown."""
        return self.setting(self.after)

    def setting(self, value: str | bool) -> list[str]:
        """How it is set to a value."""
        name = scenes.quoted(self.control.label)
        if self.control.kind == "switch":
            return [click(f"switch {name}")]
        if self.control.kind == "radio":
            return [click(f"radio-button {scenes.quoted(str(value))}")]
        return [click(f"combo-box {name}"), click(f"menu-item {scenes.quoted(str(value))}")]

    @property
    def show(self) -> str:
        """The click that shows its panel."""
        return click(f"list-item {scenes.quoted(self.panel)}")

    @property
    def words(self) -> str:
        """What is asked for."""
        label = self.control.label
        if self.control.kind == "switch":
            return f'{"turn on" if self.after else "turn off"} "{label}" ({self.panel})'
        return f'set "{label}" to "{self.after}" ({self.panel})'

    @property
    def check(self) -> Check:
        """Whether it is so."""
        label = self.control.label
        if self.control.kind == "switch":
            return sets(self.panel, scenes.is_on(label) if self.after else scenes.is_off(label))
        if self.control.kind == "radio":
            return sets(self.panel, scenes.is_chosen(str(self.after)))
        return sets(self.panel, scenes.says("combo-box", label, str(self.after)))

    @property
    def tempting(self) -> list[str]:
        """Other clicks on the same panel."""
        others = [
            one for one in panels()[self.panel] if one.kind == "switch" and one is not self.control and not one.needs
        ]
        return [*(self.setting(choice)[-1] for choice in self.choices[:1]), *(_toggle(one) for one in others[:1])]


def _toggle(control: Control) -> str:
    return click(f"switch {scenes.quoted(control.label)}")


def _changes(scene: Scene, *kinds: str) -> list[Change]:
    names = scene.some(PANELS, len(kinds))
    return [Change(scene, name, kind) for name, kind in zip(names, kinds, strict=True)]


def _way(changes: list[Change]) -> list[str]:
    return [step for change in changes for step in (change.show, *change.steps)]


@family
def change_settings(scene: Scene, level: int) -> Draft:
    """Settings are changed that the instruction names, more of them at each level."""
    kinds = (
        scene.mixed(["switch", "combo", "radio"])[:1],
        ["switch", "combo", "radio"],
        ["switch", "combo", "combo", "radio"],
    )
    changes = _changes(scene, *scene.mixed(kinds[level - 1]))
    spare = [click(f"list-item {scenes.quoted(name)}") for name in scene.some(PANELS, 2)]
    distractors = (
        [extra for change in changes for extra in change.tempting] + spare + [CLOSE, click("push-button 'Files'")]
    )
    wanted = "; ".join(change.words for change in changes)
    instruction = scene.say(f"In the settings, {wanted}.", f"Change the settings of this computer: {wanted}.")
    expert = [OPEN, *_way(changes)]
    return scene.draft(
        instruction, expert, distractors, [change.check for change in changes], size=(8, 14, 16)[level - 1]
    )


@family
def settings_by_note(scene: Scene, level: int) -> Draft:
    """A note tells which settings a person wants; at the highest level the former value is written down."""
    scene.show()
    kinds = ("switch", "combo") if level != 2 else ("switch", "combo", "radio")
    changes = _changes(scene, *scene.mixed(kinds))
    person, other = scene.some(PEOPLE, 2)
    lines = [f"{person}: {change.words}" for change in changes]
    unwanted = _changes(scene, "switch")[0]
    lines.append(f"{other}: {unwanted.words}")
    note = scene.put("Documents/wishes.txt", *scene.mixed(lines))
    distractors = [unwanted.show, *unwanted.steps, *(extra for change in changes for extra in change.tempting)]
    expert = [double(icon(note)), CLOSE, OPEN, *_way(changes)]
    checks = [change.check for change in changes]
    who = f'The note "{note}" in Documents tells who wants which settings. {person} uses this computer today: '
    if level < 3:
        instruction = who + scene.say(f"set up what {person} wants.", f"make the changes that {person} wants.")
        return scene.draft(instruction, expert, distractors, checks, size=(13, 15)[level - 1])
    old = next(change for change in changes if change.control.kind == "combo")
    log = scene.put("Documents/log.txt", "")
    scene.files[f"{DOCUMENTS}/{log}"] = ""
    expert += [CLOSE, double(icon(log)), enter(str(old.before)), SAVE]
    wrong = [enter(str(old.after)), *(enter(choice) for choice in old.choices[:1])]
    instruction = (
        f'{who}set up what {person} wants. Then write into "{log}" what "{old.control.label}" was set to '
        "before, as its only line, and save it."
    )
    checks.append(scene.holds(f"{DOCUMENTS}/{log}", f"{old.before}\n"))
    return scene.draft(instruction, expert, [*wrong, *distractors], checks, size=16)
