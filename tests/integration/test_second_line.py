"""The second line on embedded databases: attacks that no guard judges (see `second_line`)."""

from __future__ import annotations

import pytest

from tests.databases.conftest import BACKENDS
from tests.integration.second_line import KNOWN, attack_embedded, attacks


@pytest.mark.slow
@pytest.mark.parametrize("dialect", sorted(BACKENDS))
def test_an_embedded_database_keeps_its_data(dialect: str) -> None:
    """No attack changes it, and only what is known is let through."""
    assert attack_embedded(dialect) == set()


def test_what_is_known_is_an_attack() -> None:
    """What an edit of the cases leaves behind in the list is noticed, and so is a double entry."""
    for dialect, known in KNOWN.items():
        listed = [one for what in known.values() for each in what.values() for one in each]
        assert len(set(listed)) == len(listed), dialect
        assert set(listed) <= set(attacks(dialect)), dialect
