"""Tasks that begin in the browser: the agent looks prices up in a shop and enters them in a table."""

from __future__ import annotations

from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.domains.desktop.tasks.actions import CLOSE, SAVE, cell, click, double, enter, icon, joined
from agentworld_gym.domains.desktop.tasks.scene import DOCUMENTS, DesktopScene, family
from agentworld_gym.domains.desktop.tasks.spreadsheet import fill
from agentworld_gym.domains.desktop.tasks.vocabulary import PEOPLE, TOWNS
from agentworld_gym.domains.web.api import load_site

KINDS = ("Lamp", "Chair", "Clock", "Kettle", "Mirror", "Shelf", "Stool", "Vase")
SEARCH = click("entry 'Search products'")
BROWSER = click("push-button 'Web Browser'")
SIZE = 16


def _stock(scene: DesktopScene) -> list[tuple[str, str]]:
    """Fill the shop with goods, two of each kind; return their names and prices."""
    kinds = scene.several(KINDS, 3)
    goods = [f"{kind} {town}" for kind, town in zip([*kinds, *kinds], scene.several(TOWNS, 6), strict=True)]
    prices = [f"{euros}.{scene.rng.choice((35, 45, 65, 95))}" for euros in scene.rng.sample(range(15, 190), 6)]
    rows = list(zip(goods, prices, strict=True))
    products = [
        {
            "product_id": 100 + number,
            "name": name,
            "category": "home",
            "price": float(price),
            "description": f"A {name.lower()}.",
        }
        for number, (name, price) in enumerate(scene.mixed(rows))
    ]
    shop = {"categories": [{"slug": "home", "name": "Home"}], "products": products}
    scene.sites["shop"] = {table: shop.get(table, []) for table in load_site("shop").keys}
    return rows


def _seek(name: str) -> str:
    return joined(SEARCH, enter(name, clear=True))


@family
def shop_prices(scene: DesktopScene, level: int) -> TaskDraft:
    """The agent looks prices up in the shop and enters them in a table."""
    stock = _stock(scene)
    # The fourth good is of the same kind as the first, and its price is the likeliest mistake.
    (good, price), (second, second_price), _, (alike, wrong), (spare, _), *_ = stock
    wanted = [(good, price), (second, second_price)] if level == 3 else [(good, price)]
    lines = scene.mixed([row[0] for row in (stock[0], stock[1], stock[4])])
    entered = {} if level == 3 else {second: second_price}
    entered[spare] = stock[4][1]
    table = scene.put("Documents/prices.ods", "Article,Price", *(f"{line},{entered.get(line, '')}" for line in lines))
    scene.show()
    where = {line: f"B{number + 2}" for number, line in enumerate(lines)}
    entries = [step for name, cost in wanted for step in fill(where[name], cost)]
    checks = [scene.cells(f"{DOCUMENTS}/{table}", {where[name]: cost for name, cost in wanted})]
    searches = [step for name, _ in wanted for step in (SEARCH, enter(name, clear=True))]
    enters = [double(icon(table)), *entries, SAVE]
    tempting = [enter(wrong), enter(alike, clear=True), click(cell(where[spare]))]
    if level == 1:
        scene.open("browser")
        instruction = scene.say(
            f'How much is the "{good}" in the shop that is open in the browser? Enter the price in "{table}" in '
            "Documents, on its line, and save.",
            f'Look up the price of the "{good}" in the shop, enter it on its line of "{table}" in Documents, and '
            "save that.",
        )
        distractors = [*tempting, enter(second_price), click(f"link '{alike}'"), click("push-button 'Apply'")]
        return scene.draft(instruction, [*searches, CLOSE, *enters], distractors, checks, size=13)
    person, other = scene.several(PEOPLE, 2)
    orders = [f"{person} wants to know the price of: {name}" for name, _ in wanted]
    note = scene.put("Documents/request.txt", *scene.mixed([*orders, f"{other} asks for the {alike} no longer."]))
    shop = "the shop (http://shop.example/, the start page of the browser)"
    read = [double(icon(note)), CLOSE, BROWSER]
    if level == 2:
        expert, distractors = [*read, *searches, CLOSE, *enters], tempting
        instruction = scene.say(
            f'"{note}" asks for the price that is missing in "{table}". Look it up in {shop}, enter it, and save the '
            "table.",
            f'Find in {shop} the price that "{note}" asks for, enter it on its line of "{table}", and save that.',
        )
    else:
        expert = [*read, *(_seek(name) for name, _ in wanted), CLOSE, double(icon(table))]
        expert += [*(joined(*fill(where[name], cost)) for name, cost in wanted), SAVE]
        costs = (price, second_price, wrong)
        grid = [joined(*fill(where[name], cost)) for name in (good, second) for cost in costs]
        distractors = [*(entry for entry in grid if entry not in expert), _seek(alike), _seek(spare)]
        instruction = (
            f'"{note}" asks for the prices that are missing in "{table}". Look them up in {shop}, enter them on their '
            "lines, and save the table."
        )
    return scene.draft(
        instruction,
        expert,
        distractors,
        checks,
        size=SIZE,
        found=("what one of each costs together", f"{float(price) + float(second_price):.2f}"),
    )
