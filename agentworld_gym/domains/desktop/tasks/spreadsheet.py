"""Tasks in the spreadsheet: the agent enters figures, sorts tables, works out totals, and moves rows."""

from __future__ import annotations

from collections.abc import Sequence

from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.core.tasks.scene import Unfit
from agentworld_gym.domains.desktop.tasks.actions import (
    CLOSE,
    SAVE,
    cell,
    click,
    double,
    enter,
    icon,
    joined,
    keys,
    right,
)
from agentworld_gym.domains.desktop.tasks.scene import DOCUMENTS, DesktopScene, family
from agentworld_gym.domains.desktop.tasks.vocabulary import GOODS, MONTHS, PEOPLE, SURNAMES, TOWNS

COPY, PASTE = keys("ctrl", "c"), keys("ctrl", "v")
SORT_DOWN, SORT_UP = click("push-button 'Sort Descending'"), click("push-button 'Sort Ascending'")
DELETE_ROW = [click("menu 'Sheet'"), click("menu-item 'Delete Rows'")]
SIZE = 16


def fill(name: str, entry: str) -> list[str]:
    """Return the actions that type an entry into a cell."""
    return [click(cell(name)), enter(entry)]


def _amounts(scene: DesktopScene, count: int) -> list[int]:
    return scene.rng.sample(range(21, 480), count)


def _table(scene: DesktopScene, path: str, *rows: Sequence[object]) -> str:
    return scene.put(path, *(",".join(map(str, row)) for row in rows))


@family
def fill_table(scene: DesktopScene, level: int) -> TaskDraft:
    """The agent enters missing figures into a table and adds them up; at higher levels a note has the figures."""
    goods, (*amounts, spare, other) = scene.several(GOODS, 5), _amounts(scene, 7)
    missing = sorted(scene.rng.sample(range(5), 2 if level == 3 else 1))
    rows = [
        ("Item", "Amount"),
        *((good, "" if i in missing else amounts[i]) for i, good in enumerate(goods)),
        ("Total", ""),
    ]
    table = _table(scene, "Documents/budget.ods", *rows)
    path, total = f"{DOCUMENTS}/{table}", "=SUM(B2:B6)"
    where = [f"B{i + 2}" for i in missing]
    entries = [step for i in missing for step in fill(f"B{i + 2}", str(amounts[i]))]
    beside = [click(cell(f"B{i + 2}")) for i in scene.mixed(set(range(5)) - set(missing))]
    wrong = [enter(str(spare)), enter(str(other))]
    cells = {**{f"B{i + 2}": str(amount) for i, amount in enumerate(amounts)}, "B7": str(sum(amounts))}
    if level == 1:
        (only,) = missing
        scene.open("spreadsheet", path)
        instruction = scene.say(
            f"In the budget that is open, the amount for {goods[only]} is missing: it is {amounts[only]}. Enter it "
            "and save.",
            f"Complete the open budget: {goods[only]} cost {amounts[only]}. Save it.",
        )
        distractors = [
            *wrong,
            *beside[:2],
            keys("ctrl", "z"),
            click(cell("B7")),
            CLOSE,
        ]
        return scene.draft(
            instruction, [*entries, SAVE], distractors, [scene.cells(path, {**cells, "B7": ""})], size=10
        )
    scene.show()
    strays = zip(scene.several(GOODS, 2), (spare, other), strict=True)
    receipts = [*((goods[i], amounts[i]) for i in missing), *strays]
    note = scene.put("Documents/receipts.txt", *scene.mixed(f"{good}: {amount}" for good, amount in receipts))
    read = [double(icon(note)), CLOSE, double(icon(table))]
    if level == 2:
        instruction = scene.say(
            f'An amount is missing in "{table}"; "{note}" has it. Enter it, put the sum of all amounts into B7, and '
            "save.",
            f'Complete "{table}" with what "{note}" says, with the total of all amounts in B7, and save it.',
        )
        distractors = [*wrong, *beside[:2], enter("=SUM(B2:B5)"), click(cell("A7"))]
        return scene.draft(
            instruction, [*read, *entries, *fill("B7", total), SAVE], distractors, [scene.cells(path, cells)], size=SIZE
        )
    new = f"budget-{scene.fresh(MONTHS).lower()}.csv"
    instruction = scene.say(
        f'Amounts are missing in "{table}"; "{note}" has them. Enter them, put the sum of all amounts into B7, and '
        f'save the table beside the old one as "{new}" in text CSV format.',
        f'Complete "{table}" with what "{note}" says, with the total of all amounts in B7. Save it in the same folder '
        f'as a text CSV file named "{new}".',
    )
    saving = [keys("ctrl", "shift", "s"), enter(new, clear=True), click("push-button 'Use Text CSV Format!'")]
    text = "".join(
        [f"{a},{b}\n" for a, b in [("Item", "Amount"), *zip(goods, amounts, strict=True), ("Total", sum(amounts))]]
    )
    grid = [joined(*fill(place, str(amount))) for place in where for amount in (*(amounts[i] for i in missing), spare)]
    entered = [joined(*fill(f"B{i + 2}", str(amounts[i]))) for i in missing]
    expert = [*read, *entered, joined(*fill("B7", total)), *saving]
    distractors = [*(entry for entry in grid if entry not in entered), joined(*fill("B7", "=SUM(B2:B5)")), SAVE]
    return scene.draft(
        instruction,
        expert,
        distractors,
        [scene.holds(f"{DOCUMENTS}/{new}", text)],
        size=SIZE,
        found=("the total", str(sum(amounts))),
    )


@family
def sort_table(scene: DesktopScene, level: int) -> TaskDraft:
    """The agent sorts a table, removes what does not belong there, and says or writes down who stands where."""
    people, towns, amounts = scene.several(SURNAMES, 6), scene.several(TOWNS, 6), _amounts(scene, 6)
    rows = list(zip(people, towns, amounts, strict=True))
    table = _table(scene, "Documents/donations.ods", ("Name", "Town", "Amount"), *rows)
    path = f"{DOCUMENTS}/{table}"
    gone = scene.rng.randrange(6)
    left = [row for i, row in enumerate(rows) if level == 1 or i != gone]
    ranked = sorted(left, key=lambda row: -row[2])
    names = [row[0] for row in ranked]
    place = scene.rng.choice((2, 3))
    ordinal = {2: "second", 3: "third"}[place]
    cells = {f"A{i + 2}": name for i, name in enumerate(names)} | ({} if level == 1 else {"A7": ""})
    ways = [click(cell("C2")), SORT_DOWN, SAVE]
    wrong = [SORT_UP, click(cell("B2")), click(cell("A2"))]
    finishes = [f"finish: {name}" for name in scene.mixed(name for name in people if name != names[place - 1])]
    if level == 1:
        scene.open("spreadsheet", path)
        instruction = (
            "Sort the table that is open by the amount, the largest first, and save it. "
            f"Answer with the name of who gave the {ordinal} most."
        )
        return scene.draft(
            instruction,
            ways,
            [*wrong, *finishes[:3], DELETE_ROW[0]],
            [scene.cells(path, cells)],
            names[place - 1],
            size=11,
        )
    scene.show()
    header = f"row-header '{gone + 2}'"
    remove = [click(header), *DELETE_ROW]
    others = [f"row-header '{row + 2}'" for row in scene.rng.sample([row for row in range(6) if row != gone], 2)]
    if level == 2:
        instruction = (
            f'In "{table}", delete the row of {people[gone]}, who took the donation back. Sort the rest by the '
            f"amount, the largest first, and save. Answer with the name of who gave the {ordinal} most of those that "
            "are left."
        )
        expert = [double(icon(table)), *remove, *ways]
        distractors = [*map(click, others), *wrong[:2], *finishes[:3], wrong[2]]
        return scene.draft(instruction, expert, distractors, [scene.cells(path, cells)], names[place - 1], size=SIZE)
    note = scene.put(
        "Documents/withdrawn.txt",
        *scene.mixed([f"{people[gone]} took the donation back.", f"{names[3]} pays in two parts."]),
    )
    best = scene.put("Documents/best.txt", "Who gave most:")

    def append(first: str, second: str) -> str:
        return joined(enter(first), enter(second))

    first, second, third, *_ = names
    expert = [double(icon(note)), CLOSE, double(icon(table)), right(header), DELETE_ROW[1], *ways]
    expert += [CLOSE, double(icon(best)), keys("ctrl", "end"), append(first, second), SAVE]
    distractors = [*map(right, others), append(second, third), append(third, first), SORT_UP]
    instruction = (
        f'Delete the row of who took a donation back ("{note}" tells) from "{table}", sort the rest by the amount, '
        f'the largest first, and save. Then add the names of the two who gave most to "{best}", each on a line of its '
        "own, the larger one first, and save that too."
    )
    checks = [scene.cells(path, cells), scene.holds(f"{DOCUMENTS}/{best}", f"Who gave most:\n{names[0]}\n{names[1]}\n")]
    return scene.draft(instruction, expert, distractors, checks, size=SIZE, found=("who gave most", names[0]))


@family
def region_total(scene: DesktopScene, level: int) -> TaskDraft:
    """The agent works out the total of some rows by a formula; at the highest level it enters it in another table."""
    regions = scene.mixed(["North", "South", "East", "West"])[:3]
    years = sorted(scene.rng.sample(range(2021, 2026), 2))
    tables = []
    for year in years:
        amounts = _amounts(scene, 7)
        kinds = [*regions, *(scene.rng.choice(regions) for _ in range(4))]
        rows = list(zip(scene.mixed(kinds), scene.rng.sample(PEOPLE.of(scene.split), 7), amounts, strict=True))
        tables.append((_table(scene, f"Documents/sales-{year}.ods", ("Region", "Seller", "Amount"), *rows), rows))
    chosen = scene.rng.randrange(2)
    (name, rows), (other, others) = tables[chosen], tables[1 - chosen]
    region, beside, third = regions
    totals = {key: sum(row[2] for row in rows if row[0] == key) for key in regions}
    path = f"{DOCUMENTS}/{name}"
    formula, *formulas = (enter(f'=SUMIF(A2:A8;"{key}";C2:C8)') for key in regions)
    work = [click(cell("D1")), formula, SAVE]
    then = sum(row[2] for row in others if row[0] == region)
    if len({*totals.values(), then}) < 4:
        raise Unfit("two totals are the same")
    wrong = scene.mixed([totals[beside], totals[third], then])
    finishes = [f"finish: {number}" for number in wrong]
    answer, cells = str(totals[region]), {"D1": str(totals[region])}
    if level == 1:
        scene.open("spreadsheet", path)
        instruction = scene.say(
            f"Put the total of the amounts of the region {region} into D1 of the open table and save. Answer with it.",
            f"How much did the region {region} sell in all? Work it out in D1 of the table that is open, save, and "
            "answer.",
        )
        distractors = [*finishes, *formulas, click(cell("D2")), enter("=SUM(C2:C8)"), click(cell("C2"))]
        return scene.draft(instruction, work, distractors, [scene.cells(path, cells)], answer, size=12)
    scene.show()
    note = scene.put(
        "Documents/question.txt",
        f"Please find out the total of {region} in {years[chosen]}.",
        f"{beside} is not needed.",
    )
    read = [double(icon(note)), CLOSE, double(icon(name))]
    if level == 2:
        instruction = (
            f'"{note}" asks for a total. Work it out in D1 of the table it is about, save that table, and answer with '
            "the total."
        )
        distractors = [*finishes, double(icon(other)), *formulas, click(cell("D2")), enter("=SUM(C2:C8)")]
        return scene.draft(instruction, [*read, *work], distractors, [scene.cells(path, cells)], answer, size=SIZE)
    rows_of_summary = scene.mixed(f"{key} {year}" for key in regions[:2] for year in years)
    summary = _table(
        scene, "Documents/summary.ods", ("Region and year", "Total"), *((key, "") for key in rows_of_summary)
    )
    target = f"B{rows_of_summary.index(f'{region} {years[chosen]}') + 2}"
    spare = f"B{rows_of_summary.index(f'{region} {years[1 - chosen]}') + 2}"
    expert = [*read, *work, CLOSE, double(icon(summary)), *fill(target, answer), SAVE]
    distractors = [*(enter(str(number)) for number in wrong[:2]), *finishes[:2], formulas[0], click(cell(spare))]
    instruction = (
        f'"{note}" asks for a total. Work it out in D1 of the table it is about and save that table. Then enter the '
        f'total on its line of "{summary}", save, and answer with it.'
    )
    checks = [scene.cells(path, cells), scene.cells(f"{DOCUMENTS}/{summary}", {target: answer, spare: ""})]
    return scene.draft(instruction, expert, distractors, checks, answer, size=SIZE, found=("that total", answer))


@family
def move_row(scene: DesktopScene, level: int) -> TaskDraft:
    """The agent copies a figure or a row out of a table, and at the highest level moves it."""
    scene.show()
    people, towns, amounts = scene.several(SURNAMES, 5), scene.several(TOWNS, 5), _amounts(scene, 5)
    rows = list(zip(people, towns, amounts, strict=True))
    head = ("Name", "Town", "Fee")
    table = _table(scene, "Documents/applicants.ods", head, *rows)
    path = f"{DOCUMENTS}/{table}"
    pick, spare, third = scene.rng.sample(range(5), 3)
    if level == 1:
        note = scene.put("Documents/invoice.txt", f"To: {people[pick]}", "Fee:")
        expert = [
            double(icon(table)),
            click(cell(f"C{pick + 2}")),
            COPY,
            CLOSE,
            double(icon(note)),
            keys("ctrl", "end"),
            PASTE,
            SAVE,
        ]
        places = [f"{column}{row + 2}" for row in (pick, spare, third) for column in "CB"]
        distractors = [*(click(cell(place)) for place in places[1:]), keys("ctrl", "x")]
        instruction = (
            f'Add the fee of {people[pick]} from "{table}" to the end of "{note}", as a line of its own below '
            '"Fee:", and save.'
        )
        text = f"To: {people[pick]}\nFee:\n{amounts[pick]}\n"
        return scene.draft(instruction, expert, distractors, [scene.holds(f"{DOCUMENTS}/{note}", text)], size=15)
    members = [(scene.fresh(SURNAMES), scene.fresh(TOWNS), amount) for amount in _amounts(scene, 2)]
    target = _table(scene, "Documents/members.ods", head, *members)
    note = scene.put(
        "Documents/decision.txt",
        *scene.mixed(
            [
                f"{people[pick]} becomes a member.",
                f"{people[spare]} has to wait.",
                f"{people[third]} does not want to any more.",
            ]
        ),
    )
    source, free = f"row-header '{pick + 2}'", "A4"
    copying = [click(source), COPY, CLOSE, double(icon(target)), click(cell(free)), PASTE, SAVE]
    expert = [double(icon(note)), CLOSE, double(icon(table)), *copying]
    cells = {"A4": people[pick], "B4": towns[pick], "C4": str(amounts[pick]), "A3": members[1][0]}
    distractors = [*(click(f"row-header '{row + 2}'") for row in (spare, third)), click(cell("A3")), keys("ctrl", "x")]
    if level == 2:
        instruction = scene.say(
            f'"{note}" tells who of "{table}" becomes a member. Copy that row to the first free row of "{target}" '
            "and save.",
            f'Someone in "{table}" becomes a member, as "{note}" says. Add the whole row to "{target}", below the '
            "others, and save it.",
        )
        return scene.draft(instruction, expert, distractors, [scene.cells(f"{DOCUMENTS}/{target}", cells)], size=15)
    expert += [CLOSE, double(icon(table)), click(source), *DELETE_ROW, SAVE]
    left = [name for i, name in enumerate(people) if i != pick]
    instruction = (
        f'"{note}" tells who of "{table}" becomes a member. Move that row to "{target}": add it below the others '
        f'there, and delete it from "{table}", so that no empty row is left. Save both tables.'
    )
    rest = {f"A{i + 2}": name for i, name in enumerate([*left, ""])}
    checks = [scene.cells(f"{DOCUMENTS}/{target}", cells), scene.cells(path, rest)]
    return scene.draft(
        instruction, expert, distractors, checks, size=SIZE, found=("who becomes a member", people[pick])
    )
