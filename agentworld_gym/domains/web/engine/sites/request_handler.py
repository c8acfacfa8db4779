"""Answers one request to one site."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode

from markupsafe import Markup

from agentworld_gym.domains.web.engine.http import PageSource, Response
from agentworld_gym.domains.web.engine.sites.database import Store
from agentworld_gym.domains.web.engine.sites.faults import FaultyRequest
from agentworld_gym.domains.web.engine.sites.form_validation import parameters, validated_form
from agentworld_gym.domains.web.engine.sites.pagination import Listing
from agentworld_gym.domains.web.engine.sites.site import Site, SitePage
from agentworld_gym.domains.web.engine.sites.site_schema import PageQuery, Route, SiteMenuEntry

REFRESH = Markup('<meta http-equiv="refresh" content="1">')
FLASH, SESSION = "flash", "session"
FAILURES = {
    403: ("Forbidden", ""),
    404: ("Page not found", "There is no page at this address."),
    405: ("Method Not Allowed", "This address cannot be opened like that."),
    413: ("Payload Too Large", "The form is too large."),
    414: ("URI Too Long", "The address is too long."),
    500: ("Internal Server Error", "Something went wrong. Please try again later."),
}
"""The titles and the texts of error pages, by status. The text of a refused page is that of its route."""
_MISSING = "What you are looking for is not here."


@dataclass(frozen=True, slots=True)
class Visit:
    """One request to a site; `user` is the key of the account that is signed in."""

    site: Site
    store: Store
    faults: FaultyRequest
    method: str
    path: str
    query: tuple[tuple[str, str], ...]
    form: tuple[tuple[str, str], ...]
    cookies: Mapping[str, str]
    user: Any
    now: str

    @property
    def address(self) -> str:
        """The path and the query."""
        return f"{self.path}?{urlencode(self.query)}" if self.query else self.path


@dataclass(slots=True)
class SiteAnswer:
    """A response, and a change of sign-in: a key signs in, `""` signs out, and None changes nothing."""

    response: Response
    account: Any = None


@dataclass(slots=True)
class _Context:
    """The names that the SQL and the texts of a page can use."""

    visit: Visit
    user: dict[str, Any] | None
    values: dict[str, Any]
    data: dict[str, Any] = field(default_factory=dict)

    def text(self, page: SitePage, name: str) -> str:
        """Return one of the texts of a route."""
        return page.texts[name].render(**{**self.values, **self.data, "user": self.user}).strip()


class _EarlyAnswer(Exception):
    """Another answer ends the handling of a request early."""

    def __init__(self, answer: SiteAnswer) -> None:
        self.answer = answer


def answer(visit: Visit) -> SiteAnswer:
    """Answer a request that reached the site.

    Raises:
        sqlite3.Error, ValueError, OverflowError, jinja2.TemplateError: The site itself fails.
    """
    match = visit.site.find(visit.method, visit.path)
    if match is None:
        return _lost(visit)
    page, holes = match
    context = _context(visit, page, holes)
    try:
        _admit(context, page)
        if visit.method == "POST":
            _look_up(context, page, page.route.data)
            return _post(context, page)
        if page.route.run:
            visit.store.write(_steps(page.route), context.values)
        return SiteAnswer(_serve_page(context, page))
    except _EarlyAnswer as stop:
        return stop.answer


def printed(visit: Visit, errors: Mapping[str, str] | None = None) -> Response:
    """Return the page at an address as the rows have it, without what opening it writes.

    Args:
        visit: The address, and who is signed in.
        errors: The errors of a form that was sent there, which is shown again; None where none was sent.

    Raises:
        LookupError: No page is shown there: the address leads to another one.
        sqlite3.Error, ValueError, OverflowError, jinja2.TemplateError: The site itself fails.
    """
    match = visit.site.find("GET", visit.path)
    answered = _lost(visit) if match is None else None
    if match is not None:
        page, holes = match
        context = _context(visit, page, holes)
        try:
            if errors is not None:
                return _form_again(visit, context.user, page, holes, errors)
            _admit(context, page)
            return _serve_page(context, page)
        except _EarlyAnswer as stop:
            answered = stop.answer
    if answered is None or answered.response.location is not None:
        raise LookupError(f"no page is shown at {visit.address[:80]}")
    return answered.response


def values_of(visit: Visit, page: SitePage, holes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a route that a request gives beside the fields of a form."""
    values = {"now": visit.now, "today": visit.now[:10], "user": visit.user}
    return {**values, **parameters(page.query, grouped(visit.query)), **holes}


def _context(visit: Visit, page: SitePage, holes: Mapping[str, Any]) -> _Context:
    return _Context(visit, _account(visit), values_of(visit, page, holes))


def _admit(context: _Context, page: SitePage) -> None:
    """Make sure that the visitor may use a route.

    Raises:
        _EarlyAnswer: The visitor has to sign in first, or may not.
    """
    visit, route = context.visit, page.route
    if route.login and context.user is None:
        raise _EarlyAnswer(SiteAnswer(_signed_out(context, page)))
    if route.allow and not visit.store.first(route.allow, context.values):
        raise _EarlyAnswer(SiteAnswer(failure(visit, 403)))


def _serve_page(context: _Context, page: SitePage) -> Response:
    """Return the page of a route.

    Raises:
        _EarlyAnswer: There is nothing to show, or a rule sends the visitor back.
    """
    _look_up(context, page, page.route.data)
    for number, rule in enumerate(page.route.rules):
        if not context.visit.store.first(rule.sql, context.values):
            text = context.text(page, f"rules.{number}.error")
            raise _EarlyAnswer(
                SiteAnswer(Response(302, location=_to(context.text(page, "back")), cookies=flash_cookie("alert", text)))
            )
    return _render_page(context, page)


def failure(visit: Visit, status: int) -> Response:
    """Return an error page in the style of the site: one of `FAILURES`."""
    title, text = FAILURES[status]
    match = visit.site.find(visit.method, visit.path)
    if status == 403 and match is not None:
        text = match[0].route.forbidden
    elif status == 404 and match is not None:
        text = _MISSING
    context = _Context(visit, _account(visit), {"now": visit.now, "today": visit.now[:10], "user": visit.user})
    context.data |= {"status": status, "text": text, "title": f"{status} {title}"}
    return replace(_rendered(context, "error.html"), status=status)


def loading(visit: Visit) -> Response:
    """Return the frame of a page whose content is still loading."""
    visit = replace(visit, cookies={})  # A message to the visitor waits for the page itself.
    context = _Context(visit, _account(visit), {"now": visit.now, "today": visit.now[:10], "user": visit.user})
    context.data |= {"title": "Loading…", "refresh": REFRESH}
    response = _rendered(context, "loading.html")
    return replace(response, refresh=True, source=PageSource(visit.user, loading=True, visit=visit.faults.visit))


def _lost(visit: Visit) -> SiteAnswer:
    shorter = visit.path.rstrip("/")
    if visit.method == "GET" and shorter and shorter != visit.path and visit.site.find("GET", shorter):
        return SiteAnswer(Response(302, location="/" + shorter.lstrip("/")))
    if visit.site.find("GET" if visit.method == "POST" else "POST", visit.path):
        return SiteAnswer(failure(visit, 405))
    return SiteAnswer(failure(visit, 404))


def _account(visit: Visit) -> dict[str, Any] | None:
    if visit.user is None:
        return None
    rows = visit.store.rows(visit.site.about.accounts.user, {"user": visit.user})
    return rows[0] if rows else None


def _signed_out(context: _Context, page: SitePage) -> Response:
    """Redirect to the sign-in page, which returns to the requested page."""
    visit = context.visit
    to = visit.address
    if visit.method == "POST" and visit.site.find("GET", visit.path) is None:
        # Nothing of a form is kept: the visitor begins again at the page that held it.
        to = page.texts["back"].render(**{**_first(visit.form), **context.values})
    location = f"{visit.site.about.accounts.path}?next={quote(to, safe='/')}"
    return Response(302, location=location, cookies=flash_cookie("status", "Please sign in to continue."))


def _look_up(context: _Context, page: SitePage | None, data: Mapping[str, PageQuery]) -> None:
    visit, values = context.visit, context.values
    for name, query in data.items():
        if query.value is not None:
            context.data[name] = visit.store.first(query.value, values)
        elif query.one is not None:
            rows = visit.store.rows(query.one, values)
            if not rows and not query.optional:
                raise _EarlyAnswer(SiteAnswer(failure(visit, 404)))
            context.data[name] = rows[0] if rows else None
        elif query.page:
            context.data[name] = _listing(context, page, name, query)
        else:
            rows = visit.store.rows(query.sql, values)
            context.data[name] = visit.faults.reordered(rows, name) if query.reorder else rows


def _listing(context: _Context, page: SitePage | None, name: str, query: PageQuery) -> Listing:
    visit, values = context.visit, context.values
    size = visit.faults.page_size(name, page.route.path if page else "", query.page)
    total = int(visit.store.first(f"SELECT count(*) FROM ({query.sql})", values) or 0)
    number = min(int(values.get("page") or 1), max(1, -(-total // size)))
    rows = visit.store.rows(f"{query.sql} LIMIT {size} OFFSET {(number - 1) * size}", values)
    if query.reorder:
        rows = visit.faults.reordered(rows, name)
    return Listing(rows, total, number, size, visit.path, visit.query)


def _render_page(context: _Context, page: SitePage) -> Response:
    context.data["title"] = context.text(page, "title")
    return _rendered(context, page.route.template or "")


def _rendered(
    context: _Context, template: str, errors: Mapping[str, str] | None = None, values: Mapping[str, str] | None = None
) -> Response:
    visit = context.visit
    site = visit.site.about
    for name, query in site.page.items():
        if name not in context.data:
            _look_up(context, None, {name: query})
    flash = visit.cookies.get(FLASH, "")
    message = _read_flash(flash)
    menus = {
        name: visit.faults.reordered([entry for entry in entries if _for(entry, context.user)], name)
        for name, entries in site.menus.items()
    }
    body = visit.site.environment.get_template(template).render(
        {
            "refresh": "",
            **context.values,
            **context.data,
            "user": context.user,
            "site": site,
            "menus": menus,
            "path": visit.path,
            "address": visit.address,
            "errors": errors or {},
            "values": values,
            "flash": message,
            "dialog": visit.faults.dialog(),
        }
    )
    source = PageSource(visit.user, message, errors, visit=visit.faults.visit)
    return Response(200, body, cookies={FLASH: ""} if flash else {}, source=source)


def _post(context: _Context, page: SitePage) -> SiteAnswer:
    visit, route, values = context.visit, page.route, context.values
    if route.sign_out:
        return SiteAnswer(
            Response(302, location=_to(context.text(page, "redirect")), cookies=_flash_headers(context, page)), ""
        )
    read, errors = validated_form(route.fields, grouped(visit.form))
    values |= read
    for number, rule in enumerate(route.rules):
        wrong = rule.field in errors if rule.field else bool(errors)
        if not wrong and not visit.store.first(rule.sql, values):
            errors[rule.field] = context.text(page, f"rules.{number}.error")
    account = None
    if not errors and route.sign_in and not route.run:
        account = visit.store.first(route.sign_in, values)
        if account is None:
            errors[""] = route.wrong
    if errors:
        return SiteAnswer(_refused(context, page, errors))
    if route.run:
        visit.store.write(_steps(route), values)
        if route.sign_in:
            account = visit.store.first(route.sign_in, values)
    location = context.text(page, "redirect")
    if account is not None:
        location = _first(visit.form).get("next", "") or location
    return SiteAnswer(Response(302, location=_to(location), cookies=_flash_headers(context, page)), account)


def _steps(route: Route) -> list[tuple[str, str]]:
    return [pair for step in route.run for pair in ([("", step)] if isinstance(step, str) else step.items())]


def _refused(context: _Context, page: SitePage, errors: Mapping[str, str]) -> Response:
    """Show a form again with its errors; where its path has no page, show the previous page with the message."""
    visit = context.visit
    match = visit.site.find("GET", visit.path)
    if match is None:
        message = " ".join(dict.fromkeys(errors.values()))
        return Response(302, location=_to(context.text(page, "back")), cookies=flash_cookie("alert", message))
    return _form_again(visit, context.user, *match, errors)


def _form_again(
    visit: Visit, user: dict[str, Any] | None, page: SitePage, holes: Mapping[str, Any], errors: Mapping[str, str]
) -> Response:
    """Show the page of a form with what was sent, and what is wrong with it."""
    again = replace(_context(visit, page, holes), user=user)
    _look_up(again, page, page.route.data)
    again.data["title"] = again.text(page, "title")
    return _rendered(again, page.route.template or "", errors, _SentFields(grouped(visit.form)))


class _SentFields(dict[str, str]):
    """The fields that were sent, with the last value of each; `all(name)` gives every value."""

    def __init__(self, form: Mapping[str, list[str]]) -> None:
        super().__init__({name: values[-1] for name, values in form.items()})
        self._form = form

    def all(self, name: str) -> list[str]:
        """Return every value of a field."""
        return self._form.get(name, [])


def _for(entry: SiteMenuEntry, user: Mapping[str, Any] | None) -> bool:
    if entry.role is not None:
        return user is not None and user.get("role") == entry.role
    return entry.for_ == "everyone" or (entry.for_ == "users") == (user is not None)


def _to(location: str) -> str:
    """Return a URL on this site that can stand in a header."""
    return "/" + quote(location, safe="/?&=%#:+,;@!$'()*~").lstrip("/")


def _flash_headers(context: _Context, page: SitePage) -> dict[str, str]:
    text = context.text(page, "flash")
    return flash_cookie("status", text) if text else {}


def flash_cookie(kind: str, text: str) -> dict[str, str]:
    """Return the cookie that brings a message to the next page."""
    return {FLASH: quote(f"{kind}:{text[:500]}", safe="")}


def _read_flash(cookie: str) -> tuple[str, str] | None:
    kind, _, text = unquote(cookie[:4000], errors="replace").partition(":")
    return (kind, text) if kind in ("status", "alert") and text else None


def grouped(pairs: tuple[tuple[str, str], ...]) -> dict[str, list[str]]:
    """Return the values of fields by their names."""
    values: dict[str, list[str]] = {}
    for name, value in pairs:
        values.setdefault(name, []).append(value)
    return values


def _first(pairs: tuple[tuple[str, str], ...]) -> dict[str, str]:
    return {name: values[0] for name, values in grouped(pairs).items()}


def parsed_query(query: str) -> tuple[tuple[str, str], ...]:
    """Return the parameters of a URL.

    Raises:
        ValueError: There are too many.
    """
    return tuple(parse_qsl(query, keep_blank_values=True, max_num_fields=100, errors="replace"))
