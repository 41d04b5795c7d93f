"""Every field of a TOML file is found at its line."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dqa.scenarios.toml_lines import Place, line_of, lines_of

ODD = '''# A remark with [brackets] and a = sign.
title = "a # no remark"
"quoted key" = 'literal # [x]'
text = """
one = 1
[no.table]
""" # the end
raw = \'\'\'
two = "2\'\'\'
dotted.key.here = 1
numbers = [
  1, 2, # a remark, with a comma
  [3, 4],
]
when = 1979-05-27T07:32:00Z
inline = { a = 1, "b c" = [ { d = "}" }, { d = ']' } ], e.f = 2 }

[one.two]
x = 1

[[many]]
name = "first"
[many.part]
y = 1
[[many.deep]]
z = 1
[[many.deep]]
z = 2

[[many]]
name = "second"
[[many.deep]]
z = 3
'''


def places(value: Any, place: Place = ()) -> Iterator[Place]:
    """Yield every place in a read document."""
    if place:
        yield place
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for key, inner in items:
        yield from places(inner, (*place, key))


def test_every_field_that_tomllib_reads_has_a_line() -> None:
    """A field within an item has the item's line; a missing field has the line of its table."""
    shipped = (Path(__file__).parents[2] / "schemas").glob("*/scenario.toml")
    for text in (ODD, *(file.read_text("utf-8") for file in shipped)):
        fields = set(places(tomllib.loads(text)))
        assert all(line_of(place, lines_of(text)) for place in fields)
        assert {place for place in fields if len(place) == 1} <= set(lines_of(text))
    lines = ODD.splitlines()
    for place, words in (
        (("quoted key",), "literal"),
        (("dotted", "key", "here"), "dotted"),
        (("numbers", 2), "[3, 4]"),
        (("inline", "b c", 1, "d"), "inline"),
        (("many", 0, "part", "y"), "y = 1"),
        (("many", 0, "deep", 1, "z"), "z = 2"),
        (("many", 1, "deep", 0, "z"), "z = 3"),
        (("many", 1, "lost"), "[[many]]"),
    ):
        number = line_of(place, lines_of(ODD))
        assert number is not None
        assert words in lines[number - 1]
