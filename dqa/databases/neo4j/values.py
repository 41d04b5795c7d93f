"""What the driver returns, as plain values that look as they do from LadybugDB."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, timedelta
from typing import Any

import neo4j.graph
import neo4j.spatial
import neo4j.time
import neo4j.vector

_START = date(2000, 1, 1)
_BEFORE = (_START - date(1970, 1, 1)).days
"""Days from where the server counts them to `_START`."""
_CYCLE, _YEARS = 146_097, 400
"""Days after which the calendar begins again, and their years."""
_LAST_YEAR = 9_999


def values_of(record: neo4j.Record) -> list[Any]:
    """Return a record's values; those that the driver could not read as it was sent them.

    A record is a tuple that raises where such a value is asked for; as a plain tuple it does not.
    """
    return list(tuple.__iter__(record))


def converter(shows: Callable[[str], bool]) -> Callable[[Any], Any]:
    """Return what turns a driver's value into lists, dictionaries and plain values.

    Nodes and relationships are their label (a list where there are several) and properties, paths
    their nodes and relationships. Ids are left out: they say how something was stored. So are
    labels that `shows` denies. Properties stand in alphabetical order: the server's own is by
    chance.
    """
    timed = (neo4j.time.Date, neo4j.time.Time, neo4j.time.DateTime, neo4j.time.Duration)

    def convert(value: Any) -> Any:  # noqa: ANN401, PLR0911  (one return a kind of value)
        if isinstance(value, neo4j.graph.Node):
            labels = sorted(filter(shows, value.labels))
            return _labelled(labels[0] if len(labels) == 1 else labels, value)
        if isinstance(value, neo4j.graph.Relationship):
            return _labelled(value.type, value)
        if isinstance(value, neo4j.graph.Path):
            return {
                "_NODES": [convert(node) for node in value.nodes],
                "_RELS": [convert(edge) for edge in value.relationships],
            }
        if isinstance(value, neo4j.spatial.Point):
            return {"srid": value.srid, **dict(zip("xyz", value, strict=False))}
        if isinstance(value, timed):
            return value.iso_format() + _zone_name(value)
        if isinstance(value, neo4j.vector.Vector):
            return value.to_native()
        if isinstance(value, dict):
            return {key: convert(value[key]) for key in value}
        if isinstance(value, (list, tuple)):
            return [convert(item) for item in value]
        unread = getattr(value, "raw_data", value)  # of a value, or of a list or map with one in it
        if unread is value:
            return value
        return _unread(unread.tag, unread.fields) if hasattr(unread, "tag") else convert(unread)

    def _labelled(label: str | list[str], entity: neo4j.graph.Entity) -> dict[str, Any]:
        return {"_LABEL": label, **{key: convert(entity[key]) for key in sorted(entity)}}

    return convert


def _zone_name(value: Any) -> str:  # noqa: ANN401
    """Return the name of a time's zone in brackets, as the server does; empty for an offset."""
    zone = getattr(value, "tzinfo", None)
    name = getattr(zone, "key", None) or getattr(zone, "zone", None)
    return f"[{name}]" if name and name != "UTC" else ""


def _unread(tag: bytes, fields: Sequence[Any]) -> str:
    """Return what the server sent of a date or time, as it writes that itself."""
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
