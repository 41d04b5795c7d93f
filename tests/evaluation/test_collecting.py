"""The collector of garbage while decisions are made."""

from __future__ import annotations

import gc
import weakref

import pytest

from dqa.evaluation.collecting import collecting_new


class Ring:
    """What refers to itself, so that only the collector finds it."""

    def __init__(self) -> None:
        self.itself = self


def test_what_was_there_is_not_looked_at_and_what_is_new_is() -> None:
    """Afterwards all is looked at again."""
    old, gone = Ring(), weakref.ref(Ring())
    old_one = weakref.ref(old)
    with collecting_new():
        del old
        new = weakref.ref(Ring())
        gc.collect()
        assert old_one() is not None
        assert new() is None
    gc.collect()
    assert old_one() is None
    assert gone() is None
    assert not gc.get_freeze_count()


def test_what_somebody_else_keeps_from_the_collector_stays_so() -> None:
    """As a server does before it forks, or a run around this one; an error changes nothing."""
    gc.freeze()
    try:
        with pytest.raises(ValueError, match="ours"), collecting_new():
            raise ValueError("ours")
        assert gc.get_freeze_count()
    finally:
        gc.unfreeze()


def test_an_error_ends_it_too() -> None:
    """A run that fails leaves nothing behind."""

    def fail() -> None:
        assert gc.get_freeze_count()
        raise ValueError("ours")

    with pytest.raises(ValueError, match="ours"), collecting_new():
        fail()
    assert not gc.get_freeze_count()
