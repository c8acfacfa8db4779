"""Which hosts a live system may reach."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

_CARRIERS = (ip_network("64:ff9b::/96"), ip_network("::/96"))
"""Addresses whose last 32 bits are one of IPv4: those of NAT64, and those of old."""

_LOCAL_CARRIER = ip_network("64:ff9b:1::/48")
"""Addresses of NAT64 within one network."""


def is_below(host: str, names: Iterable[str]) -> bool:
    """Return whether a host is one of some names, each of which stands for the hosts below it too.

    >>> is_below("a.example.org", ["example.org"]), is_below("badexample.org", ["example.org"])
    (True, False)
    """
    return any(host == name or host.endswith(f".{name}") for name in names)


def is_public(address: str) -> bool:
    """Return whether an address lies outside of private networks, as does one of IPv4 that it carries.

    >>> is_public("93.184.215.14"), is_public("127.0.0.1"), is_public("64:ff9b::7f00:1")
    (True, False, False)
    """
    place = ip_address(address.partition("%")[0])
    if isinstance(place, IPv6Address):
        if place in _LOCAL_CARRIER:
            return False
        carried = any(place in network for network in _CARRIERS)
        place = place.ipv4_mapped or place.sixtofour or (IPv4Address(int(place) & 0xFFFFFFFF) if carried else place)
    return place.is_global and not place.is_multicast
