"""What the driver returns, as plain values that look as they do from LadybugDB."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import neo4j.graph
import neo4j.spatial
import neo4j.time
import neo4j.vector


def converter(hidden: str | None) -> Callable[[Any], Any]:
    """Return what turns a driver's value into lists, dictionaries and plain values.

    Nodes and relationships are their label (a list where there are several) and properties, paths
    their nodes and relationships. Ids are left out: they say how something was stored. So is the
    label `hidden`, of nodes and in lists. Properties stand in alphabetical order: the server's own
    is by chance.
    """
    timed = (neo4j.time.Date, neo4j.time.Time, neo4j.time.DateTime, neo4j.time.Duration)

    def convert(value: Any) -> Any:  # noqa: ANN401, PLR0911  (one return a kind of value)
        if isinstance(value, neo4j.graph.Node):
            labels = sorted(value.labels - {hidden})
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
            return value.iso_format()
        if isinstance(value, neo4j.vector.Vector):
            return value.to_native()
        if isinstance(value, dict):
            return {key: convert(value[key]) for key in value}
        if isinstance(value, (list, tuple)):
            return [convert(item) for item in value if hidden is None or item != hidden]
        return value

    def _labelled(label: str | list[str], entity: neo4j.graph.Entity) -> dict[str, Any]:
        return {"_LABEL": label, **{key: convert(entity[key]) for key in sorted(entity)}}

    return convert
