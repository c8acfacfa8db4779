"""Ways of the tasks in the shop."""

from __future__ import annotations

import re

from agentworld_gym.core.screens.sight import ActionStream
from agentworld_gym.domains.web.tasks.actions import ACCEPT, BACK, SNAPSHOT, choose, click, fill_in, go, press, write
from ways.playing import Ways, first, given, only_if, parts, read
from ways.web_pages import group_with, groups, links, nodes, texts, value

WAY = {
    "express": "Express, next day, €9.90",
    "picked up": "Pick up in the shop, free",
    "standard": "Standard, 3 to 5 days, €4.90 (free from €50)",
}
PAY = {"invoice": "Invoice, within 14 days", "voucher": "Voucher"}
ALL = go("shop/products?sort=price")
CART = go("shop/cart")


def _kind(instruction: str) -> str:
    """Return the kind of goods that a task of one product wants; empty where it is another task."""
    found = re.search(r"cheapest (.+?) that is in stock|You need an? (.+?):", instruction)
    return "" if found is None or "Finish with the total of the cart" not in instruction else found[1] or found[2]


def _products(page: str, kind: str) -> list[str]:
    return links(page, rf"\S+ {kind}")


def _price(text: str) -> float:
    return float(text.replace("€", "").replace(",", ""))


@given(_kind)
def cheapest_by_search(kind: str, instruction: str, screen: str) -> ActionStream:
    """Search the kind, sort by the price, and ask for what is in stock only."""
    yield write("Search products", kind, "searchbox")
    yield press("Search")
    yield choose("Sort by", "Price, lowest first")
    yield SNAPSHOT
    yield click("In stock only", "checkbox")
    page = yield press("Apply")
    yield click(_products(page, kind)[0])
    page = yield press("Add to cart")
    yield f"finish: {value(page, 'Total')}"


@given(_kind)
def cheapest_by_reading_all(kind: str, instruction: str, screen: str) -> ActionStream:
    """Look at all products by price and take the first of the kind that is not sold out."""
    cards, number = list[list[str]](), 1
    page = yield ALL
    while True:
        cards += groups(page, "listitem")
        if not links(page, "Next"):
            break
        number += 1
        page = yield go(f"shop/products?sort=price&page={number}")
    name = first(
        text for card in cards if "Out of stock" not in card for text in card if re.fullmatch(rf"\S+ {kind}", text)
    )
    yield write("Search products", name, "searchbox")
    yield press("Search")
    yield click(name)
    yield press("Add to cart")
    page = yield CART
    yield f"finish: The total is {value(page, 'Total')}."


@given(_kind)
def cheapest_after_a_wrong_one(kind: str, instruction: str, screen: str) -> ActionStream:
    """Put the dearest one into the cart, see that it is wrong, and exchange it."""
    page = yield go(f"shop/products?q={kind.replace(' ', '+')}&sort=price&stock=1")
    names = _products(page, kind)
    yield click(names[-1])
    yield press("Add to cart")
    yield press(f"Remove {names[-1]}")
    yield BACK
    yield go(f"shop/products?q={names[0].replace(' ', '+')}")
    yield click(names[0])
    page = yield press("Add to cart")
    yield f"finish: {_price(value(page, 'Total'))} euros"


def _wishes(instruction: str) -> tuple[int, str, str, str, str] | None:
    """Return pieces, colour and kind of the first product, and kind and material of the second one."""
    found = re.search(r"Put (\d) of the (\w+) (.+?) and one (.+?) made of (\w+) into", instruction)
    return None if found is None else (int(found[1]), found[2], found[3], found[4], found[5])


def _emptied(instruction: str, screen: str) -> ActionStream:
    """Remove what is in the cart, where the instruction wants it."""
    if "Empty your cart" in instruction:
        for name in [node.name for node in nodes(screen) if node.name.startswith("Remove ") and node.role == "button"]:
            screen = yield press(name)
    return screen


def _found(kind: str, detail: str) -> ActionStream:
    """Open the product of a kind with a colour or a material."""
    yield write("Search products", kind, "searchbox")
    page = yield press("Search")
    for name in _products(page, kind):
        page = yield click(name)
        if detail in texts(page):
            return name
        yield BACK
    raise LookupError(f"no {detail} {kind}")


def _with_coupon(instruction: str, page: str) -> ActionStream:
    found = re.search(r"apply the coupon (\w+); only if the shop does not take it, apply (\w+)\.", instruction)
    for code in found.groups() if found else ():
        yield write("Coupon code", code)
        page = yield press("Apply coupon")
        if links(page, "Go to checkout") and "Remove coupon" in texts(page):
            break
    return page


@given(_wishes)
def fill_cart_one_by_one(wish: tuple[int, str, str, str, str], instruction: str, screen: str) -> ActionStream:
    """Find the goods by their pages, and add the first one as often as it is wanted."""
    pieces, colour, kind, other, material = wish
    yield from _emptied(instruction, screen)
    yield from _found(kind, colour)
    yield write("Quantity", str(pieces - 1), "spinbutton")
    page = yield press("Add to cart")
    yield BACK
    yield write("Quantity", "1", "spinbutton")
    yield press("Add to cart")
    yield write("Search products", material, "searchbox")
    page = yield press("Search")
    yield click(_products(page, other)[0])
    page = yield press("Add to cart")
    page = yield from _with_coupon(instruction, page)
    yield f"finish: {value(page, 'Total')}"


@given(_wishes)
def fill_cart_the_other_way_round(wish: tuple[int, str, str, str, str], instruction: str, screen: str) -> ActionStream:
    """Begin with the second product, empty the cart by quantities, and set the number of pieces in the cart."""
    pieces, colour, kind, other, material = wish
    if "Empty your cart" in instruction:
        for name in [node.name for node in nodes(screen) if node.name.startswith("Quantity of ")]:
            yield write(name, "0", "spinbutton", submit=True)
            yield SNAPSHOT
    yield write("Search products", material, "searchbox")
    page = yield press("Search")
    yield click(_products(page, other)[0])
    yield press("Add to cart")
    yield write("Search products", colour, "searchbox")
    page = yield press("Search")
    (name,) = _products(page, kind)
    yield click(name)
    yield press("Add to cart")
    yield write(f"Quantity of {name}", str(pieces), "spinbutton")
    page = yield press(f"Update {name}")
    page = yield from _with_coupon(instruction, page)
    yield f"finish: {value(page, 'Total')}"


@given(_wishes)
def fill_cart_and_empty_it_last(wish: tuple[int, str, str, str, str], instruction: str, screen: str) -> ActionStream:
    """Put the new goods in first, and take out afterwards what was there; codes in small letters."""
    pieces, colour, kind, other, material = wish
    old = [node.name for node in nodes(screen) if node.name.startswith("Remove ") and node.role == "button"]
    for word, what, count in ((colour, kind, pieces), (material, other, 1)):
        yield write("Search products", word, "searchbox")
        page = yield press("Search")
        yield click(_products(page, what)[0])
        yield write("Quantity", str(count), "spinbutton")
        page = yield press("Add to cart")
    for name in old if "Empty your cart" in instruction else ():
        page = yield press(name)
    page = yield from _with_coupon(instruction, page)
    yield f"finish: {_price(value(page, 'Total')):.2f}"


def _rated(instruction: str) -> str:
    found = re.search(r"Put the (.+?) that is rated best|wish list with the (.+?) that customers", instruction)
    return "" if found is None else found[1] or found[2]


def _warranty(page: str) -> str:
    return group_with(page, "row", "^Warranty$")[-1]


@given(_rated)
def best_rated_by_sorting(kind: str, instruction: str, screen: str) -> ActionStream:
    """Search the kind and sort by the rating."""
    yield write("Search products", kind, "searchbox")
    yield press("Search")
    yield choose("Sort by", "Rating")
    page = yield SNAPSHOT
    page = yield click(_products(page, kind)[0])
    warranty = _warranty(page)
    yield press("Add to wish list")
    yield f"finish: {warranty}"


@given(_rated)
def best_rated_by_reviews(kind: str, instruction: str, screen: str) -> ActionStream:
    """Compare the ratings in the list, and look at the wish list in the end."""
    yield write("Search products", kind, "searchbox")
    page = yield press("Search")
    rated = {}
    for name in _products(page, kind):
        card = group_with(page, "listitem", f"^{name}$")
        rated[name] = float(read(r"rated ([\d.]+) of 5", " ".join(card)))
    best = max(rated, key=lambda name: rated[name])
    page = yield click(best)
    warranty = _warranty(page)
    yield press("Add to wish list")
    yield click("Wish list")
    yield f"finish: It is {warranty}."


@given(_rated)
def best_rated_in_the_category(kind: str, instruction: str, screen: str) -> ActionStream:
    """Look through all products, read their ratings there, and say the years alone."""
    yield click("Fernhill Home")
    yield click("See all products")
    yield choose("Sort by", "Rating")
    page = yield SNAPSHOT
    page = yield click(_products(page, kind)[0])
    yield press("Add to wish list")
    page = yield SNAPSHOT
    yield f"finish: {_warranty(page).split()[0]}"


def _critic(instruction: str) -> tuple[str, str] | None:
    found = re.match(r"(.+?) has reviewed some of the (.+?)s and bought", instruction)
    return None if found is None else (found[1], found[2])


def _bought_twice(screen: str, critic: str, kind: str) -> ActionStream:
    """Find what somebody bought again by the reviews; the page of it is open then."""
    for name in _products(screen, kind):
        page = yield click(name)
        warranty = _warranty(page)
        tab = first(node.name for node in nodes(page) if node.role == "tab" and node.name.startswith("Reviews"))
        said = texts((yield click(tab, "tab")))
        if any(f"by {critic} on" in text and "second one" in said[place + 1] for place, text in enumerate(said)):
            return name, warranty
        yield BACK
    raise LookupError(f"nothing that {critic} bought twice")


def _reviewed(instruction: str) -> ActionStream:
    """Write the review that is wanted on the page of a product."""
    headline, text = read(r"headline '(.+?)'", instruction), read(r"the text '(.+?)'", instruction)
    yield click("Write a review")
    yield click("4, good", "radio")
    yield write("Headline", headline)
    yield write("Review", text)
    yield press("Publish review")


@given(_critic)
def wish_what_was_bought_twice(wish: tuple[str, str], instruction: str, screen: str) -> ActionStream:
    """Read the reviews in the order of the list, and do what the instruction wants in its order."""
    name, warranty = yield from _bought_twice(screen, *wish)
    yield press("Add to wish list")
    if gone := re.search(r"take the (.+?) off it", instruction):
        yield click("Wish list")
        yield press(f"Remove {gone[1]}")
        yield click(name)
        page = yield SNAPSHOT
        yield click(first(node.name for node in nodes(page) if node.name.startswith("Reviews (")), "tab")
        yield from _reviewed(instruction)
    yield f"finish: {warranty}"


@given(_critic)
def wish_after_the_review(wish: tuple[str, str], instruction: str, screen: str) -> ActionStream:
    """Write the review first, where one is wanted, and change the wish list last."""
    _name, warranty = yield from _bought_twice(screen, *wish)
    if "Then review" in instruction:
        yield from _reviewed(instruction)
    yield press("Add to wish list")
    if gone := re.search(r"take the (.+?) off it", instruction):
        yield go("shop/wishlist")
        yield click(gone[1])
        yield press("Remove from wish list")
    yield f"finish: The warranty is {warranty}."


@given(_critic)
def wish_from_a_search(wish: tuple[str, str], instruction: str, screen: str) -> ActionStream:
    """Search for the kind, wish for it, and take it off and on again by the way."""
    critic, kind = wish
    if gone := re.search(r"take the (.+?) off it", instruction):
        yield go("shop/wishlist")
        yield press(f"Remove {gone[1]}")
    yield write("Search products", kind, "searchbox")
    page = yield press("Search")
    name, warranty = yield from _bought_twice(page, critic, kind)
    if "Then review" in instruction:
        yield press("Add to wish list")
        page = yield SNAPSHOT
        yield click(first(node.name for node in nodes(page) if node.name.startswith("Reviews (")), "tab")
        yield from _reviewed(instruction)
    else:
        yield press("Add to wish list")
        yield press("Remove from wish list")
        yield go("shop/products?q=" + name.replace(" ", "+"))
        yield click(name)
        yield press("Add to wish list")
    yield f"finish: {warranty.split()[0]}"


def _pay(instruction: str) -> str:
    return PAY["invoice" if "by invoice" in instruction else "voucher"]


def _delivery(instruction: str) -> str:
    return first(text for words, text in WAY.items() if words in instruction)


def _is_payment(instruction: str) -> bool:
    return "about to pay" in instruction or "Complete your order" in instruction


def _placed() -> ActionStream:
    """Place the order that is reviewed; returns what is shown then."""
    yield click("I accept the terms of sale", "checkbox")
    return (yield press("Place order"))


def _delivered(instruction: str) -> ActionStream:
    """Go on from the address to the payment, with the delivery that is wanted."""
    yield press("Continue to delivery")
    yield click(_delivery(instruction), "radio")
    yield press("Continue to payment")


@only_if(_is_payment)
def pay_from_the_cart_on(instruction: str, screen: str) -> ActionStream:
    """Look at the cart again and go through all steps, leaving what is filled in."""
    yield CART
    yield click("Go to checkout")
    yield press("Continue to delivery")
    yield press("Continue to payment")
    yield click(_pay(instruction), "radio")
    yield press("Continue to review")
    page = yield from _placed()
    yield f"finish: {value(page, 'Total')}"


@only_if(_is_payment)
def pay_after_another_choice(instruction: str, screen: str) -> ActionStream:
    """Choose the other payment first, change it on the review, and read the total in the list of orders."""
    other = first(text for text in PAY.values() if text != _pay(instruction))
    yield click(other, "radio")
    yield press("Continue to review")
    yield click("Change payment")
    yield click(_pay(instruction), "radio")
    yield press("Continue to review")
    yield from _placed()
    page = yield click("Orders")
    newest = max(int(text.split()[1]) for text in texts(page) if re.fullmatch(r"Order \d+", text))
    yield f"finish: {group_with(page, 'row', f'^Order {newest}$')[-1]}"


@only_if(_is_payment)
def pay_with_the_form_at_once(instruction: str, screen: str) -> ActionStream:
    """Fill the form in one call, read the sum before the order is placed."""
    payment = _pay(instruction)
    yield (
        f'{{"name": "browser_fill_form", "arguments": {{"fields": [{{"name": "{payment}", "type": "radio",'
        f' "ref": "@{{radio \'{payment}\'}}", "value": "true"}}]}}}}'
    )
    page = yield press("Continue to review")
    total = value(page, "Total")
    yield from _placed()
    yield f"finish: {total} in all"


def _is_order(instruction: str) -> bool:
    return "what is in your cart" in instruction or "order for your cart" in instruction


@only_if(_is_order)
def order_by_addresses(instruction: str, screen: str) -> ActionStream:
    """Open the steps of the checkout by their addresses."""
    yield go("shop/checkout/address")
    yield from _delivered(instruction)
    yield click(_pay(instruction), "radio")
    page = yield press("Continue to review")
    total = value(page, "Total")
    yield from _placed()
    yield f"finish: {total}"


@only_if(_is_order)
def order_and_change_on_the_review(instruction: str, screen: str) -> ActionStream:
    """Choose something else first, and change it on the review."""
    yield click("Go to checkout")
    yield press("Continue to delivery")
    yield click(WAY["standard"], "radio")
    yield press("Continue to payment")
    yield click(_pay(instruction), "radio")
    yield press("Continue to review")
    yield click("Change delivery")
    yield click(_delivery(instruction), "radio")
    yield press("Continue to payment")
    yield press("Continue to review")
    page = yield from _placed()
    yield f"finish: {_price(value(page, 'Total')):.2f}"


@only_if(_is_order)
def order_with_a_note(instruction: str, screen: str) -> ActionStream:
    """Leave the courier a note, which the form offers."""
    yield click("Go to checkout")
    yield write("Note for the courier", "Please ring twice")
    yield from _delivered(instruction)
    yield click(_pay(instruction), "radio")
    yield press("Continue to review")
    page = yield from _placed()
    yield f"finish: {value(page, 'Total')}"


def _gift(instruction: str) -> tuple[str, str] | None:
    found = re.search(r"is for (.+?); take the (.+?) twice", instruction)
    return None if found is None else (found[1], found[2])


def _address(page: str) -> tuple[str, str, str]:
    street, postcode, city = parts(r"we live in (.+?), (\d+) (.+?)\.", page)
    return street, postcode, city


@given(_gift)
def gift_from_the_product(wish: tuple[str, str], instruction: str, screen: str) -> ActionStream:
    """Add the second piece on the page of the product, and fill the fields in one by one."""
    friend, product = wish
    yield CART
    yield click(product)
    yield press("Add to cart")
    yield go("mail/folders/inbox")
    page = yield click(f"{friend.split()[0]} has moved")
    street, postcode, city = _address(page)
    yield go("shop/checkout/address")
    yield write("City", city)
    yield write("Postcode", postcode)
    yield write("Street and number", street)
    yield from _delivered(instruction)
    yield press("Continue to review")
    page = yield from _placed()
    yield f"finish: {value(page, 'Total')}"


@given(_gift)
def gift_by_the_checkout_link(wish: tuple[str, str], instruction: str, screen: str) -> ActionStream:
    """Read the mail by a search, change the quantity by the button, and go on from the cart."""
    friend, product = wish
    yield write("Search mail", friend.split()[0], "searchbox")
    yield press("Search")
    page = yield click(f"{friend.split()[0]} has moved")
    street, postcode, city = _address(page)
    yield CART
    yield write(f"Quantity of {product}", "2", "spinbutton")
    yield press(f"Update {product}")
    yield click("Go to checkout")
    yield fill_in(("Street and number", street), ("Postcode", postcode), ("City", city))
    yield from _delivered(instruction)
    page = yield press("Continue to review")
    yield from _placed()
    yield f"finish: {value(page, 'Total')}"


@given(_gift)
def gift_in_two_tabs(wish: tuple[str, str], instruction: str, screen: str) -> ActionStream:
    """Keep the mail open in its tab, and order in another one; the quantity is changed before the review."""
    friend, product = wish
    page = yield click(f"{friend.split()[0]} has moved")
    street, postcode, city = _address(page)
    yield '{"name": "browser_tabs", "arguments": {"action": "new"}}'
    yield go("shop/checkout/address")
    yield fill_in(("Street and number", street), ("Postcode", postcode), ("City", city))
    yield from _delivered(instruction)
    yield press("Continue to review")
    yield CART
    yield write(f"Quantity of {product}", "2", "spinbutton")
    yield press(f"Update {product}")
    yield go("shop/checkout/review")
    page = yield from _placed()
    yield f"finish: {value(page, 'Total')}"


def _cancelled(instruction: str) -> str:
    found = re.search(r"order that comes to (€[\d.,]+\d)|order over (€[\d.,]+\d): cancel", instruction)
    return "" if found is None else found[1] or found[2]


def _most(page: str) -> str:
    rows = [held for held in groups(page, "row") if len(held) >= 4 and held[2].isdigit() and int(held[2]) > 1]
    return f"{rows[0][2]} pieces of {rows[0][0]}"


@given(_cancelled)
def cancel_among_the_open_ones(amount: str, instruction: str, screen: str) -> ActionStream:
    """Show only the orders in processing."""
    yield click("Orders")
    yield choose("Status", "Processing")
    page = yield SNAPSHOT
    page = yield click(group_with(page, "row", f"^{amount}$")[0])
    held = _most(page)
    yield press("Cancel order")
    yield ACCEPT
    yield f"finish: {held}"


@given(_cancelled)
def cancel_after_reading_all(amount: str, instruction: str, screen: str) -> ActionStream:
    """Open every order, refuse the first question, and cancel then."""
    page = yield go("shop/orders")
    number = group_with(page, "row", f"^{amount}$")[0].split()[1]
    yield go(f"shop/orders/{number}")
    yield press("Cancel order")
    yield '{"name": "browser_handle_dialog", "arguments": {"accept": false}}'
    yield press("Cancel order")
    page = yield ACCEPT
    yield f"finish: {_most(page)}"


@given(_cancelled)
def cancel_and_look_again(amount: str, instruction: str, screen: str) -> ActionStream:
    """Cancel, and look at the cancelled orders."""
    page = yield click("Orders")
    name = group_with(page, "row", f"^{amount}$")[0]
    yield click(name)
    yield press("Cancel order")
    yield ACCEPT
    yield click("All orders")
    yield choose("Status", "Cancelled")
    yield SNAPSHOT
    page = yield click(name)
    yield f"finish: {_most(page)}."


REASONS = {
    "is damaged": "It is damaged",
    "is not the one you have ordered": "It is the wrong item",
    "is not as the shop describes it": "It is not as described",
    "is no longer needed": "I no longer need it",
}


def _return(instruction: str) -> tuple[str, int, str, str, str] | None:
    """Return the product, its pieces, the reason, the refund and the order where the instruction tells them."""
    found = re.search(
        r"One (.+?) of your order (\d+)|Return one (.+?) of order (\d+)|pieces of (.+?) in one order\. Return (\d)",
        instruction,
    )
    if found is None:
        return None
    reason = first(option for words, option in REASONS.items() if words in instruction)
    policy = "To the original payment" if reason in ("It is damaged", "It is the wrong item") else "As store credit"
    told = "As store credit" if "as store credit" in instruction else "To the original payment"
    refund = policy if found[5] else told
    return (found[1] or found[3] or found[5], int(found[6] or 1), reason, refund, found[2] or found[4] or "")


def _paid(pieces: int, price: str) -> str:
    return f"€{pieces * _price(price):.2f}"


def _ordered(screen: str, product: str, pieces: str) -> ActionStream:
    """Find the order that held so many pieces of a product; its page is open then."""
    page = yield click("Orders")
    for order in links(page, r"Order \d+"):
        page = yield click(order)
        if any(held[0] == product and held[2] == pieces for held in groups(page, "row") if len(held) > 3):
            return page
        yield BACK
    raise LookupError(product)


def _return_form(instruction: str, screen: str, product: str, order: str) -> ActionStream:
    """Open the form of a return, and return the price of a piece."""
    if order:
        page = yield go(f"shop/orders/{order}")
    else:
        page = yield from _ordered(screen, product, read(r"bought (\d) pieces", instruction))
    yield click(f"Return {product}")
    return group_with(page, "row", f"^{product}$")[1]


@given(_return)
def return_from_the_order(wish: tuple[str, int, str, str, str], instruction: str, screen: str) -> ActionStream:
    """Choose the refund first, then the reason."""
    product, pieces, reason, refund, order = wish
    price = yield from _return_form(instruction, screen, product, order)
    yield click(refund, "radio")
    yield choose("Reason", reason)
    yield write("Quantity", str(pieces), "spinbutton")
    yield press("Request return")
    yield ACCEPT
    yield f"finish: {_paid(pieces, price)}"


@given(_return)
def return_with_a_note(wish: tuple[str, int, str, str, str], instruction: str, screen: str) -> ActionStream:
    """Leave a note, which the form offers."""
    product, pieces, reason, refund, order = wish
    price = yield from _return_form(instruction, screen, product, order)
    yield write("Quantity", str(pieces), "spinbutton")
    yield choose("Reason", reason)
    yield click(refund, "radio")
    yield write("Note", "The box is still whole.")
    yield press("Request return")
    yield ACCEPT
    yield f"finish: {_price(_paid(pieces, price)):.2f} euros"


@given(_return)
def return_after_the_policy(wish: tuple[str, int, str, str, str], instruction: str, screen: str) -> ActionStream:
    """Read the policy on the form, refuse the first question, and look at the returns in the end."""
    product, pieces, reason, refund, order = wish
    price = yield from _return_form(instruction, screen, product, order)
    yield click("Returns policy")
    yield BACK
    yield write("Quantity", str(pieces), "spinbutton")
    yield choose("Reason", reason)
    yield click(refund, "radio")
    yield press("Request return")
    yield '{"name": "browser_handle_dialog", "arguments": {"accept": false}}'
    yield press("Request return")
    yield ACCEPT
    yield click("Returns")
    yield f"finish: It cost {_paid(pieces, price)}."


WAYS: Ways = {
    "buy_goods": [
        cheapest_by_search,
        cheapest_by_reading_all,
        cheapest_after_a_wrong_one,
        fill_cart_one_by_one,
        fill_cart_the_other_way_round,
        fill_cart_and_empty_it_last,
    ],
    "compare_goods": [
        best_rated_by_sorting,
        best_rated_by_reviews,
        best_rated_in_the_category,
        wish_what_was_bought_twice,
        wish_after_the_review,
        wish_from_a_search,
    ],
    "place_order": [
        pay_from_the_cart_on,
        pay_after_another_choice,
        pay_with_the_form_at_once,
        order_by_addresses,
        order_and_change_on_the_review,
        order_with_a_note,
        gift_from_the_product,
        gift_by_the_checkout_link,
        gift_in_two_tabs,
    ],
    "undo_order": [
        cancel_among_the_open_ones,
        cancel_after_reading_all,
        cancel_and_look_again,
        return_from_the_order,
        return_with_a_note,
        return_after_the_policy,
    ],
}
