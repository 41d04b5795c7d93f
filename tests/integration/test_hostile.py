"""Hostile statements on real servers."""

from __future__ import annotations

from contextlib import closing

import pytest

from tests.hostile.fuzz import fuzz
from tests.hostile.measuring import Measurer, broken_promises
from tests.integration.conftest import OwnServer


@pytest.mark.slow
def test_the_worst_of_each_kind_are_bounded(own: OwnServer) -> None:
    """In time and memory, and the next statement is answered."""
    with closing(Measurer(own.name, 1.0, own.url)) as process:
        assert broken_promises(process, first=1) == []


@pytest.mark.deep
def test_fuzzed_calls_end_as_statements_do(own: OwnServer) -> None:
    """No crash, nothing late, no exception that is none of ours, no outage."""
    allowed, problems = fuzz(own.name, 1, 300, own.url)
    assert problems == []
    assert allowed > 150
