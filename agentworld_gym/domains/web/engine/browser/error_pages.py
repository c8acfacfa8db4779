"""The pages that Chromium itself shows where no site answers."""

from __future__ import annotations

from html import escape

_CAUSES = {
    "ERR_NAME_NOT_RESOLVED": (
        "<strong>{host}</strong>’s server IP address could not be found.",
        "Checking the proxy, firewall, and DNS configuration",
    ),
    "ERR_CONNECTION_RESET": ("The connection was reset.", "Checking the proxy and the firewall"),
    "ERR_TOO_MANY_REDIRECTS": ("<strong>{host}</strong> redirected you too many times.", ""),
    "ERR_SSL_PROTOCOL_ERROR": ("<strong>{host}</strong> sent an invalid response.", ""),
}


def unreachable(code: str, host: str) -> str:
    """Return the page for a site that cannot be reached."""
    name = escape(host)
    cause, advice = _CAUSES.get(code, ("The webpage might be temporarily down.", ""))
    tries = (
        f'<div><p>Try:</p><ul><li>Checking the connection</li><li><a href="#buttons">{advice}</a></li></ul></div>'
        if advice
        else ""
    )
    is_insecure = code == "ERR_SSL_PROTOCOL_ERROR"
    heading = "This site can’t provide a secure connection" if is_insecure else "This site can’t be reached"
    details = "" if is_insecure else "<button type=button>Details</button>"
    return (
        f"<title>{name}</title><body tabindex=-1><div><div><div><div><div><h1>{heading}</h1>"
        f"<p>{cause.format(host=name)}</p>{tries}<div>{code}</div></div></div></div>"
        f"<div><div><button data-reload>Reload</button></div>{details}</div></div></div>"
    )


def resubmission(host: str) -> str:
    """Return the page for a form that would have to be sent again."""
    return (
        f"<title>{escape(host)}</title><body tabindex=-1><div><div><div><div><div><h1>Confirm Form Resubmission</h1>"
        "<p>This webpage requires data that you entered earlier in order to be properly displayed. You can send this "
        "data again, but by doing so you will repeat any action this page previously performed.</p><div><p></p><ul><li>"
        "Press the reload button to resubmit the data needed to load the page.</li></ul></div><div>ERR_CACHE_MISS</div>"
        "</div></div></div></div></div>"
    )
