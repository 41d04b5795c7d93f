"""Every field of a TOML file is found at its line."""

from __future__ import annotations

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


def test_a_field_has_the_line_of_its_key_item_or_table() -> None:
    """A field within an item has the item's line; a missing field has the line of its table."""
    lines = ODD.splitlines()
    expected: tuple[tuple[Place, str], ...] = (
        (("quoted key",), "literal"),
        (("dotted", "key", "here"), "dotted"),
        (("numbers", 2), "[3, 4]"),
        (("inline", "b c", 1, "d"), "inline"),
        (("many", 0, "part", "y"), "y = 1"),
        (("many", 0, "deep", 1, "z"), "z = 2"),
        (("many", 1, "deep", 0, "z"), "z = 3"),
        (("many", 1, "lost"), "[[many]]"),
    )
    for place, words in expected:
        number = line_of(place, lines_of(ODD))
        assert number is not None
        assert words in lines[number - 1]
