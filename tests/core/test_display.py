"""Rounded numbers for models, and their exact values in records."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dqa.core.database import Rows
from dqa.core.display import Display, Value, numbers_in, round_rows
from dqa.core.evidence import Evidence


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (0.9835341669019564, 0.983534),
        (616.1300000000001, 616.13),
        (1836.0, 1836.0),
        (123456789.0, 123456789.0),
        (1234567.89, 1234568),
        (99999.99999, 100000),
        (999999.9, 999999.9),
        (1.2345678e-9, 1.23457e-9),
        (-2.0 / 3.0, -0.666667),
        (0.1, 0.1),
        (12345678, 12345678),
        (True, True),
        (None, None),
        ("0.12345678901", "0.12345678901"),
        ([1 / 3, {"a": 2 / 3, "b": "x"}], [0.333333, {"a": 0.666667, "b": "x"}]),
    ],
)
def test_a_fraction_has_six_digits_and_nothing_else_changes(number: Value, shown: Value) -> None:
    """Whole numbers, ids, texts, booleans and digits before the point do not change."""
    ((found,),) = round_rows([(number,)], 6)
    assert found == shown
    assert type(found) is type(shown)


def test_different_values_of_a_column_stay_different() -> None:
    """A ranking stays visible. Values that differ only by rounding look equal."""
    cells = (43.24280297123, 43.24280302456, 0.1 + 0.2, 0.3, 7 / 3)
    shown = [row[0] for row in round_rows([(cell,) for cell in cells], 6)]
    assert shown == [43.24280297, 43.24280302, 0.3, 0.3, 2.33333]


def test_candidates_are_not_rounded() -> None:
    """An id that is a fraction can be copied into an answer."""
    kept = numbers_in(("0.123456789", "Genoa", 7, "nan", "1e999"))
    rows = round_rows([(0.123456789,), (0.987654321,)], 6, kept)
    assert rows == ((0.123456789,), (0.987654,))


_FLOATS = st.floats(allow_nan=False, allow_infinity=False)
_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5), _FLOATS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)


@settings(max_examples=40)
@given(st.lists(st.tuples(_VALUES, _FLOATS), max_size=8), st.integers(0, 17))
def test_evidence_has_the_shown_text_and_the_exact_values(
    rows: list[tuple[Value, Value]], digits: int
) -> None:
    """JSON keeps the exact values, and rounding never lengthens a text."""
    result = Rows(("a", "b"), tuple(rows))
    evidence = Evidence.of("SELECT 1", result, Display(digits))
    assert evidence.observation == result.to_text(digits)
    assert len(evidence.observation) <= len(result.to_text(0))
    again = Evidence(**json.loads(json.dumps(asdict(evidence))))
    assert again.rows == evidence.rows == result.rows
    assert bool(evidence.exact) == (result.to_text(digits) != result.to_text(0))
