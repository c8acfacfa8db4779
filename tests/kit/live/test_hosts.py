"""Which hosts a live system may reach."""

from __future__ import annotations

import pytest

from agentworld_gym.kit.live.hosts import is_public


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "169.254.169.254",
        "100.64.0.1",
        "224.0.0.1",
        "::1",
        "::127.0.0.1",
        "::ffff:10.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b:1::808:808",
        "2002:7f00:1::",
        "fe80::1%eth0",
        "fd00::1",
        "ff02::1",
    ],
)
def test_what_leads_into_a_private_network_is_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1111", "64:ff9b::808:808", "2002:808:808::"])
def test_the_web_is_public(address: str) -> None:
    assert is_public(address)
