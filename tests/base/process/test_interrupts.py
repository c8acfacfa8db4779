"""A Ctrl-C that Python loses in a finalizer ends a block all the same."""

from __future__ import annotations

import signal

import ctrl_c
import pytest

from agentworld_gym.base.process.interrupts import remembered_interrupt


def test_a_lost_ctrl_c_is_raised_at_the_next_check() -> None:
    after = []
    with pytest.raises(KeyboardInterrupt), remembered_interrupt() as check:
        ctrl_c.lost()
        after.append("lost")
        check()
        after.append("checked")
    assert after == ["lost"]


def test_one_that_is_lost_after_the_last_check_is_raised_where_the_block_ends() -> None:
    after = []
    with pytest.raises(KeyboardInterrupt), remembered_interrupt() as check:
        check()
        ctrl_c.lost()
        after.append("lost")
    assert after == ["lost"]


def test_an_exception_that_ends_the_block_is_not_replaced() -> None:
    with pytest.raises(ValueError, match="its own"), remembered_interrupt():
        ctrl_c.lost()
        raise ValueError("its own")


def test_without_a_ctrl_c_a_block_ends_quietly_and_the_handler_is_that_of_before() -> None:
    before = signal.getsignal(signal.SIGINT)
    with remembered_interrupt() as check:
        check()
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before
