"""Records as lines of JSON."""

from __future__ import annotations

import json
import math

from dqa.core.records import dump_line


def test_a_line_holds_what_json_has_no_word_for() -> None:
    """Python reads it back, and so does this project: numbers of any size, and those that are none.

    Strict readers of JSON know no infinity; no line of a usual run has one.
    """
    value = {"n": [10**40, -0.0, 1e300, 0.1, float("inf"), float("-inf")], "t": "\x00\u2028\n"}
    assert json.loads(dump_line(value)) == value
    assert "\n" not in dump_line(value)
    assert math.isnan(json.loads(dump_line([float("nan")]))[0])
