"""The shop app: a grocer's products, a basket, orders with a delivery time, and an account."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from agentworld_gym.base.documents.strict import Strict
from agentworld_gym.domains.android.engine import widgets
from agentworld_gym.domains.android.engine.app import App, AppScene
from agentworld_gym.domains.android.engine.phone import Screen
from agentworld_gym.kit.gui import Message, Widget, row

if TYPE_CHECKING:
    from agentworld_gym.domains.android.engine.phone import Phone

MAX_ORDERS, MAX_COUNT = 100, 20

Product = dict[str, Any]


class StatedProduct(Strict):
    """One product; its price is in cents."""

    name: str = Field(min_length=1)
    category: str
    price: int = Field(gt=0)
    size: str = ""
    stock: int = Field(default=20, ge=0)


class StatedLine(Strict):
    """A number of pieces of one product."""

    product: str
    count: int = Field(default=1, ge=1, le=MAX_COUNT)


class StatedOrder(Strict):
    """One order."""

    lines: tuple[StatedLine, ...]
    slot: str
    status: str = "Delivered"


class ShopSetup(Strict):
    """The shop as a task states it."""

    products: tuple[StatedProduct, ...] | None = None
    basket: tuple[StatedLine, ...] = ()
    orders: tuple[StatedOrder, ...] = ()
    slots: tuple[str, ...] | None = None
    account: str = "nora.feldt@post.example"


class ShopExamples(Strict):
    """The products of the shop, its delivery times, and the places of its branches."""

    products: tuple[StatedProduct, ...]
    shops: tuple[str, ...] = ()
    slots: tuple[str, ...]


class ShopApp(App):
    """The shop app: products with search and categories; basket, checkout and orders of an account."""

    id, title, package = "shop", "Pantry", "example.pantry.android"
    State, Defaults = ShopSetup, ShopExamples
    account = True
    permissions = ("location",)

    def begin(self, stated: ShopSetup, scene: AppScene) -> dict[str, Any]:
        """Return the stated products, or those of the scenario; basket and orders are empty unless stated."""
        if stated.products is not None:
            stated_products = stated.products
        else:
            stated_products = tuple(
                StatedProduct.model_validate(product) for product in scene.defaults.get("products", ())
            )
        products = [{"id": number, **product.model_dump()} for number, product in enumerate(stated_products, 1)]
        by_name = {product["name"]: product for product in products}
        slots = stated.slots if stated.slots is not None else tuple(scene.defaults.get("slots", ()))

        def lines(entries: tuple[StatedLine, ...]) -> list[dict[str, Any]]:
            pairs = [(by_name[entry.product], entry.count) for entry in entries if entry.product in by_name]
            return [{"id": product["id"], "count": count} for product, count in pairs]

        orders = []
        for number, order in enumerate(stated.orders, 1):
            bought = lines(order.lines)
            total = sum(products[line["id"] - 1]["price"] * line["count"] for line in bought)
            orders.append(
                {
                    "id": number,
                    "number": 4100 + number,
                    "lines": bought,
                    "slot": order.slot,
                    "status": order.status,
                    "total": total,
                }
            )
        return {
            "products": products,
            "basket": lines(stated.basket),
            "orders": orders,
            "slots": list(slots),
            "slot": "",
            "account": stated.account,
        }

    def view(self, phone: Phone, screen: Screen) -> Widget:
        """Return one of the tabs, a product, or an order."""
        match screen["name"]:
            case "product":
                return _product(phone, screen)
            case "basket":
                return _basket(phone, screen)
            case "orders":
                return _orders(phone, screen)
            case "order":
                return _order(phone, screen)
        return _products(phone, screen)

    def update(self, phone: Phone, message: Message) -> None:
        """Show products, fill and empty the basket, choose a time, order, cancel."""
        name, *args = message
        data = phone.data["shop"]
        match name.removeprefix("shop/"):
            case "tab":
                phone.replace(args[0])
            case "category":
                phone.replace("main", category=args[0])
            case "open":
                phone.push("product", product=args[0])
            case "add":
                self._count(phone, args[0], +1)
            case "less":
                self._count(phone, args[0], -1)
            case "remove":
                data["basket"] = [line for line in data["basket"] if line["id"] != args[0]]
            case "empty":
                data["basket"].clear()
            case "ask_slot":
                chosen = data["slots"].index(data["slot"]) if data["slot"] in data["slots"] else None
                phone.choose("Delivery time", data["slots"], chosen, ("shop/slot",))
            case "slot":
                data["slot"] = data["slots"][args[0]]
            case "ask_order":
                total = money(_total(data, data["basket"]))
                if not data["basket"]:
                    phone.toast("Your basket is empty")
                elif not data["slot"]:
                    phone.toast("Choose a delivery time first")
                else:
                    text = f"{total}, delivered {data['slot']}."
                    phone.confirm("Place order?", text, ("Cancel", None), ("Place order", ("shop/order",)))
            case "order":
                self._order(phone, data)
            case "ask_near":
                phone.ask_permission("location", ("shop/near", args[0]))
            case "near":
                shops = phone.defaults["shop"].get("shops", ())
                answer = f"In stock at {shops[args[0] % len(shops)]}." if shops else "No shop near you has it."
                phone.confirm("Shops near you", answer, ("OK", None))
            case "show":
                phone.push("order", order=args[0])
            case "ask_cancel":
                phone.confirm(
                    "Cancel this order?", "", ("Keep order", None), ("Cancel order", ("shop/cancel", args[0]))
                )
            case "cancel":
                for order in data["orders"]:
                    if order["id"] == args[0]:
                        order["status"] = "Cancelled"
                phone.toast("Order cancelled")
            case "again":
                for order in data["orders"]:
                    if order["id"] == args[0]:
                        for line in order["lines"]:
                            for _ in range(line["count"]):
                                self._count(phone, line["id"], +1)

    def _count(self, phone: Phone, product: int, step: int) -> None:
        data = phone.data["shop"]
        line = next((line for line in data["basket"] if line["id"] == product), None)
        stock = next((p["stock"] for p in data["products"] if p["id"] == product), 0)
        count = (line["count"] if line else 0) + step
        if count > min(stock, MAX_COUNT):
            phone.toast("There is no more of this in stock")
        elif line is None:
            data["basket"].append({"id": product, "count": count})
            phone.toast("Added to basket")
        elif count <= 0:
            data["basket"].remove(line)
        else:
            line["count"] = count

    def _order(self, phone: Phone, data: dict[str, Any]) -> None:
        if len(data["orders"]) >= MAX_ORDERS:
            phone.toast("You have too many orders")
            return
        number = 4101 + len(data["orders"])
        data["orders"].append(
            {
                "id": phone.new_id(),
                "number": number,
                "lines": data["basket"],
                "slot": data["slot"],
                "status": "Placed",
                "total": _total(data, data["basket"]),
            }
        )
        data["basket"], data["slot"] = [], ""
        phone.replace("orders")
        phone.toast(f"Order {number} placed")


def money(cents: int) -> str:
    """Return a price as text.

    >>> money(1205)
    '€12.05'
    """
    return f"€{cents // 100}.{cents % 100:02}"


def _by_id(data: dict[str, Any]) -> dict[int, Product]:
    return {product["id"]: product for product in data["products"]}


def _total(data: dict[str, Any], lines: list[dict[str, Any]]) -> int:
    products = _by_id(data)
    return sum(products[line["id"]]["price"] * line["count"] for line in lines)


def _tabbed(phone: Phone, title: str, selected: int, *body: Widget, actions: tuple[Widget, ...] = ()) -> Widget:
    count = sum(line["count"] for line in phone.data["shop"]["basket"])
    names = (("Products", "main"), (f"Basket ({count})" if count else "Basket", "basket"), ("Orders", "orders"))
    entries = tuple((name, ("shop/tab", screen)) for name, screen in names)
    return widgets.page(widgets.bar(title, *actions, back=False), *body, bottom=widgets.tabs(entries, selected))


def _products(phone: Phone, screen: Screen) -> Widget:
    field = widgets.entry(screen, "query", "Search products", grow=1)
    query = (field.field.value if field.field else "").strip().lower()
    data = phone.data["shop"]
    categories = list(dict.fromkeys(product["category"] for product in data["products"]))
    chosen = screen.get("category", "")
    matches = [
        product
        for product in data["products"]
        if chosen in ("", product["category"]) and query in f"{product['name']} {product['category']}".lower()
    ]
    chips = row(
        *(
            widgets.chip(category, ("shop/category", "" if category == chosen else category), category == chosen)
            for category in categories[:5]
        ),
        gap=18,
        padding=(widgets.MARGIN, 0),
        height=150,
    )

    def line(product: Product) -> Widget:
        flags = () if product["stock"] else ("disabled",)
        add = widgets.icon(f"Add {product['name']} to basket", ("shop/add", product["id"]), *flags)
        sold = "" if product["stock"] else "sold out"
        detail = ", ".join(filter(None, (money(product["price"]), product["size"], sold)))
        return widgets.item(product["name"], ("shop/open", product["id"]), detail=detail, trailing=(add,))

    rows = (
        widgets.listing(screen, phone.ordered("products", matches), line) if matches else widgets.empty("Nothing found")
    )
    search = row(widgets.gap(widgets.MARGIN), field, widgets.gap(widgets.MARGIN), height=widgets.ROW)
    return _tabbed(phone, "Pantry", 0, search, chips, rows)


def _product(phone: Phone, screen: Screen) -> Widget:
    data = phone.data["shop"]
    product = _by_id(data)[screen["product"]]
    count = next((line["count"] for line in data["basket"] if line["id"] == product["id"]), 0)
    near = () if product["stock"] else (widgets.item("Find in a shop near me", ("shop/ask_near", product["id"])),)
    left = "In stock" if product["stock"] >= 10 else f"Only {product['stock']} left" if product["stock"] else "Sold out"
    return widgets.page(
        widgets.bar(product["name"]),
        widgets.item(money(product["price"]), detail=product["size"] or "Each"),
        widgets.item(left, detail=product["category"]),
        _stepper(product, count),
        widgets.buttons(widgets.button("Add to basket", ("shop/add", product["id"]), enabled=product["stock"] > 0)),
        *near,
        Widget(shown=False, grow=1),
    )


def _stepper(product: Product, count: int) -> Widget:
    return row(
        widgets.gap(widgets.MARGIN),
        widgets.label("In your basket", grow=1),
        widgets.icon(f"Less {product['name']}", ("shop/less", product["id"]), *(() if count else ("disabled",))),
        widgets.label(str(count), width=90),
        widgets.icon(f"More {product['name']}", ("shop/add", product["id"])),
        widgets.gap(60),
        height=widgets.ROW,
    )


def _basket(phone: Phone, screen: Screen) -> Widget:
    data = phone.data["shop"]
    products = _by_id(data)

    def line(entry: dict[str, Any]) -> Widget:
        product = products[entry["id"]]
        return widgets.item(
            product["name"],
            ("shop/open", product["id"]),
            detail=f"{entry['count']} × {money(product['price'])}",
            trailing=(
                widgets.icon(f"Less {product['name']}", ("shop/less", product["id"])),
                widgets.icon(f"More {product['name']}", ("shop/add", product["id"])),
            ),
        )

    if not data["basket"]:
        return _tabbed(phone, "Basket", 1, widgets.empty("Your basket is empty"))
    rows = widgets.listing(screen, data["basket"], line)
    slot = widgets.item(data["slot"] or "Choose a time", ("shop/ask_slot",), detail="Delivery time")
    total = row(
        widgets.gap(widgets.MARGIN),
        widgets.label(f"Total {money(_total(data, data['basket']))}", grow=1),
        widgets.button("Order", ("shop/ask_order",)),
        widgets.gap(widgets.MARGIN),
        height=widgets.ROW,
    )
    return _tabbed(phone, "Basket", 1, rows, slot, total, actions=(widgets.more(("Empty basket", ("shop/empty",))),))


def _orders(phone: Phone, screen: Screen) -> Widget:
    orders = phone.data["shop"]["orders"][::-1]
    body = widgets.listing(
        screen,
        phone.ordered("orders", orders),
        lambda order: widgets.item(
            f"Order {order['number']}",
            ("shop/show", order["id"]),
            detail=f"{order['status']}, {money(order['total'])}",
        ),
    )
    return _tabbed(phone, "Orders", 2, body if orders else widgets.empty("No orders yet"))


def _order(phone: Phone, screen: Screen) -> Widget:
    data = phone.data["shop"]
    products = _by_id(data)
    order = next(order for order in data["orders"] if order["id"] == screen["order"])
    lines = [
        widgets.item(products[line["id"]]["name"], detail=f"{line['count']} × {money(products[line['id']]['price'])}")
        for line in order["lines"]
    ]
    choices: list[tuple[str, Message]] = [("Order again", ("shop/again", order["id"]))]
    if order["status"] == "Placed":
        choices.append(("Cancel order", ("shop/ask_cancel", order["id"])))
    return widgets.page(
        widgets.bar(f"Order {order['number']}", widgets.more(*choices)),
        widgets.item(order["status"], detail=f"Delivery {order['slot']}"),
        widgets.item(f"Total {money(order['total'])}"),
        widgets.scrolling(*lines),
    )


APP = ShopApp()
