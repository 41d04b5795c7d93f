"""Write a situation into LadybugDB: one COPY from Arrow per label, all in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import ladybug
import pyarrow as pa

from dqa.core.cypher import quote_name, quote_text
from dqa.core.errors import DataError
from dqa.core.situation import EdgeSchema, NodeSchema, Situation, StoredType, TableSchema
from dqa.databases.graphs import require_graph
from dqa.databases.namespaces import LoadedSituation, tag_from_json, tag_to_json

TAG = "dqa_situation "
"""The beginning of the comment that tags a database."""
_TYPES: Mapping[StoredType, str] = {
    "text": "STRING",
    "float": "DOUBLE",
    "integer": "INT64",
    "boolean": "BOOLEAN",
}
_ARROW: Mapping[StoredType, pa.DataType] = {
    "text": pa.string(),
    "float": pa.float64(),
    "integer": pa.int64(),
    "boolean": pa.bool_(),
}


def write(
    situation: Situation, database: ladybug.Database, tag: LoadedSituation | None = None
) -> None:
    """Create the situation's node and relationship tables and fill them, in one transaction.

    A single thread copies, so that nodes and relationships are numbered (``offset(id(x))``) in the
    order of their rows. A missing float is null.

    Parameters
    ----------
    situation
        What to write; every table must read as nodes or edges.
    database
        An empty database that no one else reads yet.
    tag
        The tag, if it is to be found again: stored in the comment on the first table of nodes,
        where no query of the graph finds it.

    Raises
    ------
    DataError
        The situation is not a graph: a table is not mapped, a key occurs twice, or an edge ends at
        a missing node.
    """
    schema = situation.schema
    require_graph(schema)
    with ladybug.Connection(database, num_threads=1) as connection:
        connection.execute("BEGIN TRANSACTION")
        try:
            for node in schema.nodes:
                columns = _declared(node.properties, schema.table(node.table))
                columns.append(f"PRIMARY KEY ({quote_name(node.key)})")
                label = quote_name(node.label)
                connection.execute(f"CREATE NODE TABLE {label} ({', '.join(columns)})")
                _copy(connection, situation, node, node.properties)
            for edge in schema.edges:
                columns = _declared(edge.properties, schema.table(edge.table))
                joined = f"FROM {quote_name(edge.source[0])} TO {quote_name(edge.target[0])}"
                columns.insert(0, joined)
                label = quote_name(edge.label)
                connection.execute(f"CREATE REL TABLE {label} ({', '.join(columns)})")
                ends = (("from", edge.source[1]), ("to", edge.target[1]))
                _copy(connection, situation, edge, (*ends, *edge.properties))
            if tag is not None:
                comment = TAG + tag_to_json(tag)
                label = quote_name(schema.nodes[0].label)
                connection.execute(f"COMMENT ON TABLE {label} IS {quote_text(comment)}")
            connection.execute("COMMIT")
        except RuntimeError as error:
            raise DataError(
                f"Situation '{situation.name}' cannot be written as a graph: "
                f"{' '.join(str(error).split())}"
            ) from error


def read_tag(database: ladybug.Database, namespace: str) -> LoadedSituation | None:
    """Return the tag of a database; None without one."""
    with (
        ladybug.Connection(database) as connection,
        connection.execute("CALL show_tables() RETURN comment") as rows,  # type: ignore[union-attr]
    ):
        tags = [comment.removeprefix(TAG) for (comment,) in rows if comment.startswith(TAG)]
    return tag_from_json(namespace, tags[0]) if tags else None


def size(situation: Situation) -> int:
    """Return the approximate bytes of the situation's values."""
    return sum(
        sum(map(len, array.tolist())) if array.dtype == object else array.nbytes
        for table in situation.tables.values()
        for array in table.columns.values()
    )


def _declared(properties: Iterable[tuple[str, str]], table: TableSchema) -> list[str]:
    return [
        f"{quote_name(name)} {_TYPES[table.column(column).stored]}" for name, column in properties
    ]


def _copy(
    connection: ladybug.Connection,
    situation: Situation,
    part: NodeSchema | EdgeSchema,
    columns: Iterable[tuple[str, str]],
) -> None:
    table = situation[part.table]
    if not len(table):
        return
    # COPY goes by position, and two properties may come from one column.
    arrays = [
        pa.array(table[column], _ARROW[table.schema.column(column).stored], from_pandas=True)
        for _, column in columns
    ]
    rows = pa.table(arrays, names=[f"column{number}" for number in range(len(arrays))])
    connection.execute(f"COPY {quote_name(part.label)} FROM $rows", {"rows": rows})
