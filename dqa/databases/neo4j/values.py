"""Values of the driver as plain values, which look as those of LadybugDB do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, timedelta
from typing import Any

import neo4j.graph
import neo4j.spatial
import neo4j.time
import neo4j.vector

_TIMES = (neo4j.time.Date, neo4j.time.Time, neo4j.time.DateTime, neo4j.time.Duration)
_START = date(2000, 1, 1)
_BEFORE = (_START - date(1970, 1, 1)).days
"""Days between the server's first day and `_START`."""
_CYCLE, _YEARS = 146_097, 400
"""Days after which the calendar begins again, and their years."""
_LAST_YEAR = 9_999


def values_of(record: neo4j.Record) -> list[Any]:
    """Return a record's values, including those that the driver could not read.

    A record is a tuple that raises for such a value; a plain tuple does not.
    """
    return list(tuple.__iter__(record))


def converter(hidden: str | None) -> Callable[[Any], Any]:
    """Return a function that turns a driver's value into lists, dictionaries and plain values.

    Nodes and relationships become their label (a list for several) and properties, paths their
    nodes and relationships. Internal ids and the label `hidden` are left out. Properties are in
    alphabetical order, as the server's own order is arbitrary.
    """

    def convert(value: Any) -> Any:  # noqa: ANN401, PLR0911  (one return per kind of value)
        if isinstance(value, _TIMES):  # a duration is a tuple, too
            zone = getattr(value, "tzinfo", None)
            name = getattr(zone, "key", None) or getattr(zone, "zone", None)
            return value.iso_format() + (f"[{name}]" if name and name != "UTC" else "")
        match value:
            case neo4j.graph.Node():
                labels = sorted(label for label in value.labels if label != hidden)
                return labelled(labels[0] if len(labels) == 1 else labels, value)
            case neo4j.graph.Relationship():
                return labelled(value.type, value)
            case neo4j.graph.Path():
                return {"_NODES": convert(value.nodes), "_RELS": convert(value.relationships)}
            case neo4j.spatial.Point():
                return {"srid": value.srid, **dict(zip("xyz", value, strict=False))}
            case neo4j.vector.Vector():
                return value.to_native()
            case dict():
                return {key: convert(value[key]) for key in value}
            case list() | tuple():
                return [convert(item) for item in value]
        unread = getattr(value, "raw_data", value)  # a value, or a list or map that holds one
        if unread is value:
            return value
        return _unread(unread.tag, unread.fields) if hasattr(unread, "tag") else convert(unread)

    def labelled(label: str | list[str], entity: neo4j.graph.Entity) -> dict[str, Any]:
        return {"_LABEL": label, **{key: convert(entity[key]) for key in sorted(entity)}}

    return convert


def _unread(tag: bytes, fields: Sequence[Any]) -> str:
    """Return a date or time of any year as the server itself writes it."""
    if tag == b"D":
        return _date(fields[0])
    if tag in {b"d", b"I", b"i"}:
        seconds, nanoseconds, *zone = fields
        offset = zone[0] if tag == b"I" else 0
        days, clock = divmod(seconds + offset, 86_400)
        minutes, second = divmod(clock, 60)
        time = f"{minutes // 60:02}:{minutes % 60:02}:{second:02}.{nanoseconds:09}"
        name = f"[{zone[0]}]" if tag == b"i" else ""
        return f"{_date(days)}T{time}{_offset(offset) if zone else ''}{name}"
    return f"{tag.decode(errors='replace')}({', '.join(map(str, fields))})"


def _date(days: int) -> str:
    """Return the day so many days after the first one of 1970, of any year, in ISO 8601."""
    cycles, rest = divmod(days - _BEFORE, _CYCLE)
    like = _START + timedelta(days=rest)
    year = like.year + cycles * _YEARS
    sign = "-" if year < 0 else "+" if year > _LAST_YEAR else ""
    return f"{sign}{abs(year):04}{like:-%m-%d}"


def _offset(seconds: int) -> str:
    minutes = abs(seconds) // 60
    return f"{'-' if seconds < 0 else '+'}{minutes // 60:02}:{minutes % 60:02}"
