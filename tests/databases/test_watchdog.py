"""Timers fire in time, once, and not after they were cancelled."""

from __future__ import annotations

from threading import Event

from dqa.databases.watchdog import Watchdog


def test_a_timer_fires_when_its_time_has_come() -> None:
    """Also one that is set after another that is due later."""
    dog, late, soon = Watchdog(), Event(), Event()
    with dog.after(3_600.0, late.set), dog.after(0.01, soon.set) as timer:
        assert soon.wait(30)
    assert timer.has_fired
    assert not late.is_set()


def test_a_timer_that_was_cancelled_never_fires() -> None:
    """What comes after it fires all the same."""
    dog, first, second = Watchdog(), Event(), Event()
    busy, go_on = Event(), Event()

    def hold() -> None:
        busy.set()
        go_on.wait(30)

    with dog.after(0.0, hold):
        assert busy.wait(30)  # so the next timer is due, and cannot fire yet
        with dog.after(0.0, first.set) as timer:
            pass
        go_on.set()
    with dog.after(0.01, second.set):
        assert second.wait(30)
    assert not timer.has_fired
    assert not first.is_set()


def test_a_timer_ends_before_its_context_does() -> None:
    """Who leaves while it fires waits for it, so it never meets the next statement."""
    dog, begun, done = Watchdog(), Event(), Event()

    def act() -> None:
        begun.set()
        done.wait(0.05)
        done.set()

    with dog.after(0.0, act):
        assert begun.wait(30)
    assert done.is_set()
