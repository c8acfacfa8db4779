"""Generated web tasks: solved by their expert, by nothing less, from what pages show; equal for equal seeds."""

from __future__ import annotations

import functools
import json
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentworld_gym.agents.policies.following import play
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.contracts import ActionKind
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Expect, Task, split_of
from agentworld_gym.core.screens import read_screen, resolve_if_shown, stand_in
from agentworld_gym.core.screens.sight import Sight
from agentworld_gym.core.tasks import families, generate
from agentworld_gym.core.tasks.control_cases import ControlCase
from agentworld_gym.core.tasks.family import MENU_MIN, TaskDraft
from agentworld_gym.core.tasks.locators import locator
from agentworld_gym.core.tasks.scene import Unfit
from agentworld_gym.domains.web.engine.machine import WebMachine
from agentworld_gym.domains.web.tasks.actions import click, fill_in, go, press, write
from agentworld_gym.domains.web.tasks.control_cases import CASES
from agentworld_gym.domains.web.tasks.scene import WebScene, family, term
from agentworld_gym.domains.web.tasks.shop_stock import PAYMENTS
from agentworld_gym.domains.web.tasks.tracker import LABELS
from agentworld_gym.envs.options import EnvOptions

SPEC = load_spec("web")
PARSER = ActionParser(SPEC)
FAMILIES = sorted(families("web"))
SEEDS = (1,)
HANDWRITTEN = SPEC.handwritten_tasks()

generated = functools.cache(generate)

every_level = pytest.mark.parametrize(("name", "level"), [(name, level) for name in FAMILIES for level in (1, 2, 3)])
every_task = pytest.mark.parametrize("task", HANDWRITTEN, ids=lambda task: task.id)
any_task = st.builds(generate, st.just("web"), st.sampled_from(FAMILIES), st.integers(1, 3), st.integers(0, 2**31 - 1))


class Reader:
    """Somebody at a browser, who acts on what was shown last."""

    def __init__(self, machine: WebMachine) -> None:
        self.machine = machine
        self.sight = Sight("web", [machine.observation])

    def act(self, text: str) -> bool:
        """Do an action with locators; whether its elements are there."""
        resolved = self.sight.resolve(text)
        if resolved is None:
            return False
        self.sight.see(self.machine.act(PARSER.parse(resolved).parsed))
        return True


def finishes(text: str) -> bool:
    """Whether an action ends the episode."""
    return PARSER.parse(stand_in("web", text)).kind is ActionKind.FINISH


def score(task: Task, actions: Iterable[str]) -> float:
    """The weighted share of the checks that hold after some actions, the first that finishes ending them."""
    reader = Reader(WebMachine.start(task.state, 0))
    answer = None
    for text in actions:
        if finishes(text):
            answer = PARSER.parse(text).answer
            break
        reader.act(text)
    passed = 0.0
    for check in task.success:
        if check.answer is not None:
            passed += check.weight * (answer is not None and check.answer.holds(answer))
        else:
            assert check.expect is not None
            prober = Reader(reader.machine.fork())
            possible = all([prober.act(text) for text in check.probes])
            passed += check.weight * (possible and check.expect.holds(prober.machine.observation))
            prober.machine.close()
    reader.machine.close()
    return passed / sum(check.weight for check in task.success)


def transcript(task: Task) -> Iterator[tuple[str, str]]:
    """The expert's actions with the page that each is done on."""
    reader = Reader(WebMachine.start(task.state, 0))
    for text in task.expert[:-1]:
        yield text, reader.machine.observation
        assert reader.act(text), text
        assert "### Error" not in reader.machine.observation
    yield task.expert[-1], reader.machine.observation


def guesses(task: Task, rng: random.Random) -> list[str]:
    """What an agent does that picks any entry of the menu which is on the page."""
    reader = Reader(WebMachine.start(task.state, 0))
    done: list[str] = []
    for _ in range(task.max_steps or 0):
        text = rng.choice([entry for entry in task.menu if reader.sight.resolve(entry) is not None])
        done.append(text)
        if finishes(text):
            break
        reader.act(text)
    return done


@every_level
def test_expert_earns_everything_and_nothing_is_worth_nothing(name: str, level: int) -> None:
    for seed in SEEDS:
        task = generated("web", name, level, seed)
        assert score(task, task.expert) == 1.0, task.id
        assert score(task, ["finish"]) == 0.0, task.id


@every_level
def test_every_change_of_the_expert_is_needed(name: str, level: int) -> None:
    """What is typed, chosen, ticked, saved, sent or ordered cannot be left out."""
    task = generated("web", name, level, 1)
    changing = re.compile(r"browser_(?:fill_form|select_option|type|handle_dialog)|@\{(?:button|radio|checkbox) ")
    for index, action in enumerate(task.expert[:-1]):
        if changing.search(action) and "searchbox" not in action:
            rest = [*task.expert[:index], *task.expert[index + 1 :]]
            assert score(task, rest) < 1.0, action


@pytest.mark.parametrize(
    ("name", "level", "before", "more", "allowed"),
    [
        ("open_issue", 2, "Open issue", [click(label, "checkbox") for label in LABELS], 0),
        ("place_order", 3, "Continue to review", [click(way, "radio") for way in PAYMENTS.values()], 1),
    ],
)
def test_what_was_forbidden_costs_success(name: str, level: int, before: str, more: list[str], allowed: int) -> None:
    """Another label beside the only one, another payment than the one that was to stay."""
    task = generated("web", name, level, 1)
    place = task.expert.index(press(before))
    scores = [score(task, [*task.expert[:place], action, *task.expert[place:]]) for action in more]
    assert sum(result == 1.0 for result in scores) == allowed


def test_other_words_on_the_page_cost_success() -> None:
    task = generated("web", "look_up", 2, 1)
    assert score(task, [action.replace("the key.", "the key. Or not.") for action in task.expert]) < 1.0


@pytest.mark.parametrize("name", ["place_order", "undo_order"])
def test_the_right_amount_is_not_always_at_one_place(name: str) -> None:
    places = set()
    for seed in range(8):
        task = generated("web", name, 3, seed)
        answers = [entry for entry in task.menu if entry.startswith("finish: ")]
        answers.sort(key=lambda entry: float(re.sub(r"[^\d.]", "", entry)))
        places.add(answers.index(task.expert[-1]))
    assert len(places) > 1


@every_level
def test_what_the_expert_types_was_shown_or_told(name: str, level: int) -> None:
    for seed in SEEDS:
        task = generated("web", name, level, seed)
        seen = task.instruction.casefold()
        for text, page in transcript(task):
            seen += page.casefold()
            if "browser_type" in text or "browser_fill_form" in text:
                arguments = json.loads(stand_in("web", text))["arguments"]
                typed = [arguments["text"]] if "text" in arguments else [row["value"] for row in arguments["fields"]]
                words = [w for told in typed for w in re.findall(r"[^\W\d]+|\d+", told.casefold()) if w not in seen]
                assert not words, (task.id, text)


@every_level
def test_every_entry_of_a_menu_is_on_some_page_of_the_expert(name: str, level: int) -> None:
    task = generated("web", name, level, 1)
    pages = [read_screen("web", page) for _, page in transcript(task)]
    for entry in task.menu:
        assert any(resolve_if_shown(entry, nodes) is not None for nodes in pages), entry


@every_level
def test_random_choices_seldom_succeed(name: str, level: int) -> None:
    wins = 0
    for seed in range(1, 4):
        task = generated("web", name, level, seed)
        wins += score(task, guesses(task, random.Random(seed))) == 1.0
    assert wins <= 1


def answer_of(task: Task) -> Expect:
    """The test of what follows `finish:`."""
    (expect,) = [check.answer for check in task.success if check.answer is not None]
    return expect


@pytest.mark.parametrize("name", ["buy_goods", "place_order", "undo_order"])
def test_an_amount_may_be_said_in_many_ways_but_not_another_one(name: str) -> None:
    task = generated("web", name, 3, 1)
    amount = task.expert[-1].removeprefix("finish: €")
    expect = answer_of(task)
    ways = ("{}", "€{}", "{} EUR", "{} €", "Total: €{}", "The total of the cart is €{}.")
    assert all(expect.holds(way.format(amount)) for way in ways) and expect.holds(f"{float(amount):g}")
    others = (float(amount) + 0.01, float(amount) - 0.01, 10 * float(amount), -float(amount))
    assert not any(expect.holds(way.format(f"{other:.2f}")) for way in ways for other in others)
    assert not expect.holds(f"€{amount} or €1.00") and not expect.holds("") and not expect.holds("€")


@pytest.mark.parametrize("name", ["open_issue", "triage_issues"])
def test_an_issue_may_be_named_in_many_ways_but_only_one(name: str) -> None:
    task = generated("web", name, 3, 1)
    number = int(task.expert[-1].removeprefix("finish: #"))
    expect = answer_of(task)
    assert all(expect.holds(text) for text in (f"{number}", f"#{number}", f"Issue #{number}", f"It is #{number}."))
    assert not any(expect.holds(text) for text in (f"#{number + 1}", f"#{number}0", f"#{number}, #{number + 1}"))


@every_level
def test_no_wrong_answer_of_a_menu_is_taken_for_the_right_one(name: str, level: int) -> None:
    task = generated("web", name, level, 1)
    offers = [entry.removeprefix("finish: ") for entry in task.menu if entry.startswith("finish: ")]
    expect = answer_of(task)
    assert [offer for offer in offers if expect.holds(offer)] == [task.expert[-1].removeprefix("finish: ")]


@settings(max_examples=12, deadline=None)
@given(any_task)
def test_shape_of_a_task(task: Task) -> None:
    assert Task.model_validate(json.loads(task.model_dump_json())) == task
    assert task.seed is not None and task.split == split_of(task.seed)
    assert len(task.expert) >= 4 and task.expert[-1].startswith("finish: ")
    assert len(task.expert) > 8 or task.level < 3
    assert len(task.expert) <= 6 or task.level > 1
    assert MENU_MIN <= len(task.menu) <= 16 and len(set(task.menu)) == len(task.menu)
    assert set(task.expert) <= set(task.menu)
    assert sum(entry.startswith("finish") for entry in task.menu) >= 2
    assert task.first_observation == WebMachine.start(task.state, 0).observation
    assert all(PARSER.parse(stand_in("web", entry)).error is None for entry in task.menu)


@pytest.mark.parametrize("name", FAMILIES)
def test_splits_know_other_people(name: str) -> None:
    known: dict[str, set[str]] = {}
    for seed in range(7, 11):
        task = generated("web", name, 1, seed)
        users = [row for site in task.state["sites"].values() for row in site["users"]]
        known.setdefault(task.split, set()).update(row["name"] for row in users)
    assert set(known) == {"train", "validation", "test"}
    assert sum(map(len, known.values())) == len(set.union(*known.values()))


def test_worlds_are_stated_whole() -> None:
    """No row comes from a seed, so that whoever is told the state knows all."""
    task = generated("web", "follow_policy", 3, 1)
    one, other = (WebMachine.start(task.state, seed) for seed in (1, 2))
    differing = {key for key, value in one.state().items() if other.state()[key] != value}
    assert one.observation == other.observation and all(key.startswith("cookie/") for key in differing)


def test_the_families_use_every_site() -> None:
    sites = {site for name in FAMILIES for site in generated("web", name, 1, 0).state["sites"]}
    assert sites == {"forum", "mail", "shop", "tracker", "wiki"}


@pytest.mark.parametrize("name", FAMILIES)
def test_menus_place_expert_and_answer_anywhere(name: str) -> None:
    tasks = [generated("web", name, 1, seed) for seed in range(1, 11)]
    for entry in (0, -1):
        assert len({task.menu.index(task.expert[entry]) for task in tasks}) > 3
    ranks = []
    for task in tasks:
        answers = sorted(entry for entry in task.menu if entry.startswith("finish: "))
        assert len(answers) >= 3
        ranks.append(answers.index(task.expert[-1]))
    assert len(set(ranks)) > 1


def share_of_the_talked_about(name: str, level: int, seeds: int) -> tuple[float, float]:
    """How often the answer is the one that most other entries of the menu hold, and how often chance has it."""
    right = chance = 0.0
    for seed in range(seeds):
        task = generated("web", name, level, seed)
        finals = [entry for entry in task.menu if entry.startswith("finish: ")]
        rest = [entry for entry in task.menu if entry not in finals]
        told = {
            final: sum(bool(re.search(rf"(?<!\w){re.escape(final[8:].lstrip('#'))}(?!\w)", text)) for text in rest)
            for final in finals
        }
        most = [final for final in finals if told[final] == max(told.values())]
        right += (task.expert[-1] in most) / len(most)
        chance += 1 / len(finals)
    return right / seeds, chance / seeds


@pytest.mark.parametrize(
    ("name", "level"), [("look_up", 2), ("look_up", 3), ("sort_mail", 3), ("triage_issues", 3), ("follow_policy", 3)]
)
def test_a_menu_talks_of_no_answer_more_than_of_others(name: str, level: int) -> None:
    right, chance = share_of_the_talked_about(name, level, 40)
    assert right < chance + 0.15


def test_the_older_issue_is_not_always_the_first_one() -> None:
    lowest = 0
    for seed in range(40):
        task = generated("web", "triage_issues", 3, seed)
        finals = [entry for entry in task.menu if entry.startswith("finish: ")]
        lowest += min(finals, key=lambda entry: int(entry.partition("#")[2])) == task.expert[-1]
    assert 4 <= lowest <= 24


@pytest.mark.parametrize("name", ["compare_goods", "follow_policy", "place_order"])
def test_hard_menus_have_wrong_turns_and_wrong_answers(name: str) -> None:
    for seed in range(6):
        task = generated("web", name, 3, seed)
        wrong = set(task.menu) - set(task.expert)
        answers = sum(entry.startswith("finish") for entry in wrong)
        assert answers >= 2 and len(wrong) - answers >= 2


# Tasks written by hand


def test_there_are_enough_tasks_written_by_hand() -> None:
    assert len(HANDWRITTEN) >= 10


@every_task
def test_a_task_written_by_hand_is_solved_by_its_expert_and_by_nothing_less(task: Task) -> None:
    assert task.first_observation == WebMachine.start(task.state, 0).observation
    assert score(task, task.expert) == 1.0
    assert score(task, ["finish"]) == 0.0
    for wrong in set(task.menu) - set(task.expert):
        if finishes(wrong):
            assert score(task, [*task.expert[:-1], wrong]) < 1.0, wrong
    assert sum(score(task, guesses(task, random.Random(seed))) == 1.0 for seed in range(4)) <= 1


@every_task
def test_every_entry_of_a_menu_written_by_hand_is_on_some_page_of_the_expert(task: Task) -> None:
    pages = [read_screen("web", page) for _, page in transcript(task)]
    for entry in task.menu:
        assert any(resolve_if_shown(entry, nodes) is not None for nodes in pages), entry


# Controls


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.control)
def test_who_knows_a_control_copes_with_it(case: ControlCase) -> None:
    runner = EnvOptions(spec="web", world="grounded", max_steps=60, split="test").runner()
    calm = {"family": case.family, "level": case.level}
    under: dict[str, Any] = {**calm, "controls": {case.control: case.strength}}
    seeds = range(8)
    assert all(play(runner, case.naive, seed, calm)[0] for seed in seeds)
    assert all(play(runner, case.aware, seed, under)[0] for seed in seeds)
    assert not all(play(runner, case.naive, seed, under)[0] for seed in seeds)
    runner.close()


# Building blocks


def wiki(scene: WebScene) -> WebScene:
    """A wiki of one page."""
    scene.site("wiki")
    scene.add("wiki", "pages", page_id=1, title="Tea")
    scene.add(
        "wiki", "revisions", page_id=1, text="Green or black.", username=scene.me.username, edited_at=scene.moment(1)
    )
    return scene


def test_an_impossible_expert_is_an_error_of_the_family() -> None:
    scene = wiki(WebScene(random.Random(0), 1, "train"))
    check = scene.shows(go("wiki/watched"), "Tea")
    with pytest.raises(RuntimeError, match="cannot do"):
        scene.draft("Do it.", [click("Nowhere")], [], [check], "x", [], 9)
    with pytest.raises(RuntimeError, match="misses"):
        scene.draft("Do it.", [click("All pages")], [], [check], "x", [], 9)


def test_a_check_that_holds_from_the_start_is_refused() -> None:
    scene = wiki(WebScene(random.Random(0), 1, "train"))
    with pytest.raises(Unfit):
        scene.draft("Do it.", [click("All pages")], [], [scene.shows(go("wiki/all"), "Tea")], "x", [], 9)


def test_distractors_that_are_nowhere_on_the_way_are_left_out() -> None:
    scene = wiki(WebScene(random.Random(0), 1, "train"))
    expert = [go("wiki/wiki/Tea"), press("Watch this page")]
    turns = [click("Talk"), click("Coffee"), expert[0]]
    draft = scene.draft("Do it.", expert, turns, [scene.shows(go("wiki/watched"), 'link "Tea"')], "x", ["y", "x"], 9)
    assert draft.distractors == ("finish: y", click("Talk"))


def test_a_family_tries_other_worlds_until_one_fits() -> None:
    tries: list[int] = []

    @family
    def picky(scene: WebScene, level: int) -> TaskDraft:
        tries.append(level)
        scene.need(len(tries) > 2)
        expert = [go("wiki/wiki/Tea"), press("Watch this page")]
        return wiki(scene).draft("Watch.", expert, [], [scene.shows(go("wiki/watched"), 'link "Tea"')], "x", [], 9)

    assert picky(random.Random(0), 1, "train").expert[0] == go("wiki/wiki/Tea") and len(tries) == 3
    with pytest.raises(RuntimeError, match="no world fits"):
        family(_never)(random.Random(0), 1, "train")


def _never(scene: WebScene, level: int) -> TaskDraft:
    raise Unfit("never")


def test_a_definition_is_read_with_its_term_and_whole() -> None:
    shown = (
        "- term [ref=e1]: Price\n- definition [ref=e2]: €4.90\n- term [ref=e3]: Total\n- definition [ref=e4]: €14.90"
    )

    def has(pattern: str) -> bool:
        return Expect(matches=f"(?s){pattern}").holds(shown)

    assert has(term("Price", "€4.90")) and has(term("Total", "€14.90"))
    assert not has(term("Total", "4.90")) and not has(term("Price", "€14.90"))


@settings(max_examples=40, deadline=None)
@given(st.text(min_size=1, max_size=12), st.text(max_size=12))
def test_any_name_can_be_named_and_any_text_typed(name: str, text: str) -> None:
    name = "".join(c for c in name if c.isprintable() and not c.isspace())
    nodes: Sequence[Any] = read_screen("web", f"### Snapshot\n- textbox {json.dumps(f'a{name}b')} [ref=e7]")
    for action in (write(f"a{name}b", text), fill_in((f"a{name}b", text)), f'{{"ref": "{locator(f"a{name}b")}"}}'):
        resolved = resolve_if_shown(action, nodes)
        assert resolved is not None
        found = json.loads(resolved)
        told = found.get("arguments", found)
        assert told.get("ref", "e7") == "e7" and told.get("text", text) == text
        assert all((row["ref"], row["value"]) == ("e7", text) for row in told.get("fields", ()))


def test_an_order_in_the_wiki_shows_the_links_that_are_to_be_written() -> None:
    tasks = (generate("web", "moderate", 4, seed) for seed in range(1, 50))
    wikis = ((task, task.state["sites"]["wiki"]) for task in tasks)
    task, order = next(
        (task, row["title"])
        for task, tables in wikis
        for row in tables["pages"]
        if row["title"].startswith("Order ")
        and any(one["page_id"] == row["page_id"] and "[[" in one["text"] for one in tables["revisions"])
    )
    machine = WebMachine.start(task.state, 0)
    shown = machine.act(PARSER.parse(go(f"wiki/wiki/{order.replace(' ', '_')}")).parsed)
    assert re.search(r"code .*: \"?\[\[.+ day\]\]", shown)
