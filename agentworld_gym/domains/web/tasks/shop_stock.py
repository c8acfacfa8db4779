"""The shop of a task while it is being filled: goods in categories, and what they cost together."""

from __future__ import annotations

from typing import Any, NamedTuple

from agentworld_gym.domains.web.tasks.scene import WebScene, euros, in_row

KINDS = {
    "kettle": "Kitchen",
    "toaster": "Kitchen",
    "teapot": "Kitchen",
    "desk lamp": "Lighting",
    "lantern": "Lighting",
    "rug": "Textiles",
    "blanket": "Textiles",
    "wall clock": "Decoration",
    "vase": "Decoration",
    "stool": "Furniture",
}
"""The kinds of goods, each with its category."""
COLOURS = ("amber", "black", "blue", "copper", "cream", "green", "grey", "red")
MATERIALS = {
    "Kitchen": ("copper", "enamel", "glass", "steel"),
    "Lighting": ("brass", "glass", "paper", "steel"),
    "Textiles": ("cotton", "hemp", "linen", "wool"),
    "Decoration": ("brass", "clay", "oak", "porcelain"),
    "Furniture": ("ash", "bamboo", "beech", "oak"),
}
WARRANTIES = ("1 year", "2 years", "3 years", "4 years", "5 years", "6 years")
WAYS = {
    "express": "Express, next day, €9.90",
    "pickup": "Pick up in the shop, free",
    "standard": "Standard, 3 to 5 days, €4.90 (free from €50)",
}
PAYMENTS = {"invoice": "Invoice, within 14 days", "voucher": "Voucher"}
FREE_FROM, STANDARD, EXPRESS = 50.0, 4.9, 9.9
FACTS = {
    "delivery": "Standard delivery costs 4.90 euros, and nothing from 50 euros of goods, after the coupon. Express"
    " delivery costs 9.90 euros. Picking up is free. Until another way is chosen, the cart counts standard delivery.",
    "refunds": "The returns policy (/help/returns): damaged items and wrong items are refunded to the original payment;"
    " items that are no longer needed or not as described as store credit.",
}
"""What a world has to know about the shop beyond its rows."""


class Sum(NamedTuple):
    """The costs of a cart."""

    goods: float
    discount: float = 0.0
    express: bool = False

    @property
    def total(self) -> float:
        """The total of the cart."""
        left = self.goods - self.discount
        return round(left + (EXPRESS if self.express else 0 if left >= FREE_FROM else STANDARD), 2)


def reduced(goods: float, percent: int) -> Sum:
    """Return the price of goods with a coupon."""
    return Sum(goods, round(goods * percent / 100, 2))


def open_shop(scene: WebScene, kinds: list[str], each: int) -> list[list[dict[str, Any]]]:
    """Fill the shop with products of some kinds, all of different prices; return them by kind, the cheapest first."""
    scene.site("shop")
    names = sorted(set(KINDS[kind] for kind in kinds) | {"Decoration", "Textiles"})
    scene.rows("shop", "categories").extend({"slug": name.lower(), "name": name} for name in names)
    brands = scene.words("nouns", each * len(kinds))
    numbers = scene.some(range(101, 101 + 3 * len(brands)), len(brands))
    groups = []
    for kind in kinds:
        low = scene.rng.randint(9, 30)
        prices = sorted(scene.some(range(low, low + 30), each))
        group = []
        for price in prices:
            brand = brands.pop()
            row = {
                "product_id": numbers.pop(),
                "name": f"{brand.capitalize()} {kind}",
                "category": KINDS[kind].lower(),
                "price": price + scene.rng.randrange(5) / 5,
                "stock": scene.rng.randint(5, 19),
                "colour": scene.pick(COLOURS),
                "material": scene.pick(MATERIALS[KINDS[kind]]),
                "warranty": scene.pick(WARRANTIES[:3]),
                "description": f"A {kind} for every day, from a small workshop.",
            }
            group.append(row)
            scene.rows("shop", "products").append(row)
        groups.append(group)
    scene.rng.shuffle(scene.rows("shop", "products"))
    return groups


def in_cart(row: dict[str, Any], pieces: int) -> str:
    """Return a regular expression for a line of the cart."""
    return in_row(f'"{row["name"]}"', f'"{euros(row["price"] * pieces)}"')
