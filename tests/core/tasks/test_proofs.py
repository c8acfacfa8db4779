"""A generated task is proved in its engine: the same way in every domain."""

import json
import random
from typing import Any

import pytest

from agentworld_gym.core.domain.task import Check, Expect
from agentworld_gym.core.engines.catalog import load_engine
from agentworld_gym.core.tasks import families, generate
from agentworld_gym.core.tasks.scene import Scene, Unfit
from agentworld_gym.core.tasks.validation import ValidationSession, prove
from agentworld_gym.domains.mcp.tasks.scene import ToolScene


def call(name: str, **arguments: Any) -> str:
    return json.dumps({"name": f"bank-{name}", "arguments": arguments})


def frozen(*probes: str) -> Check:
    return Check(probe=probes, expect=Expect(matches=r'"status": "frozen"'))


def test_every_probe_of_a_check_is_played() -> None:
    scene = ToolScene("bank", random.Random(0), 1, "train")
    card = scene.pick(scene.values("SELECT card_id FROM cards WHERE status = 'active'"))
    freeze, look = call("freeze_card", card_id=card, reason="lost"), call("get_card", card_id=card)
    # The last of the probes shows what the one before it did, on the fork alone.
    check = Check(probe=(freeze, look), expect=Expect(matches=r'"card_id": '))
    with pytest.raises(Unfit, match="holds from the start"):
        scene.draft("Do nothing.", [], [], [check])


def test_probes_leave_the_stage_as_it_was() -> None:
    scene = ToolScene("bank", random.Random(0), 1, "train")
    stage = ValidationSession("mcp", scene._machine())
    before = stage.machine.observation
    assert stage.passes(Check(probe=call("get_profile"), expect=Expect(matches="customer_id")), None)
    assert stage.machine.observation == before


def test_a_probe_whose_element_is_not_on_the_screen_fails_its_check() -> None:
    state = generate("web", "look_up", 1, 0).state
    stage = ValidationSession("web", load_engine("web").start(state, 0))
    click = '{"name": "browser_click", "arguments": {"element": "x", "ref": "@{link \'Nowhere\'}"}}'
    assert not stage.passes(Check(probe=click, expect=Expect(matches="")), None)


def test_only_what_some_screen_offers_is_possible() -> None:
    task = generate("android", "change_settings", 1, 0)
    *expert, closing = task.expert
    stage = ValidationSession("android", load_engine("android").start(task.state, 0))
    nowhere = '{"action_type": "click", "index": @{Button \'Nowhere\'}}'
    answer = closing.removeprefix("finish: ") if ":" in closing else None
    assert prove(stage, "", expert, task.success, answer, [nowhere, expert[0]]) == [expert[0]]


@pytest.mark.parametrize("domain", ["android", "desktop", "mcp", "search", "swe", "terminal", "web"])
def test_a_family_is_told_its_split(domain: str) -> None:
    for family in families(domain).values():
        assert family(random.Random(7), 1, "test") == family(random.Random(7), 1, "test")


def test_a_scene_without_enough_to_draw_from_is_unfit() -> None:
    scene = Scene(random.Random(0), 1, "train")
    for draw in (lambda: scene.pick([]), lambda: scene.some([1], 2), lambda: scene.need(False)):
        with pytest.raises(Unfit):
            draw()
