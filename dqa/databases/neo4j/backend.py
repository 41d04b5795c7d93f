"""Opens Neo4j databases, and loads situations into places of their own there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dqa.core.database import Database, Kind
from dqa.core.errors import UsageError
from dqa.core.situation import Situation
from dqa.databases.base import Backend, Examination, Loaded, place_name
from dqa.databases.neo4j.database import Neo4jDatabase, Place
from dqa.databases.neo4j.server import SCHEMES, Address, Server
from dqa.databases.neo4j.writer import TAG, Prepared, drop, prepare, write

__all__ = ["BACKEND", "Neo4jBackend"]

_READERS = frozenset({"PUBLIC", "reader"})
"""Roles, of editions that have any, that cannot write."""
_ORDER = "order_"


class Neo4jBackend:
    """Opens Neo4j databases, and loads situations beside each other into them."""

    name = "neo4j"
    kind: Kind = "graph"
    dialect = "neo4j"
    embedded = False

    def accepts(self, location: str) -> bool:
        """Whether `location` is a ``bolt://`` or ``neo4j://`` URL; also ``+s`` and ``+ssc``."""
        return location.partition("://")[0] in SCHEMES and "://" in location

    def open(self, location: str) -> Database:
        """Open a database, or with ``?place=`` a situation in it.

        Raises
        ------
        MissingKeyError
            The driver is not installed.
        UsageError
            The URL, the user, the database's name or the place is wrong.
        DatabaseUnavailableError
            The server cannot be reached.
        """
        server = Server(Address.parse(location))
        with _closing_on_failure(server):
            if server.address.place is None:
                server.rows("RETURN 1")
                return Neo4jDatabase(server)
            return _opened(server, server.address.place)

    def load(
        self, situation: Situation, location: str | None = None, replace: str | None = None
    ) -> Database:
        """Write a situation under a label of its own, unless it is there, and open it.

        Raises
        ------
        MissingKeyError, UsageError, DatabaseUnavailableError
            As `open` does; `UsageError` too where the user may not write, or where the place holds
            something else and `replace` does not name it.
        DataError
            The situation does not read as a graph.
        """
        if location is None:
            raise UsageError("Neo4j is a server: name its URL to load a situation into it.")
        place = place_name(situation)
        server = Server(Address.parse(location))
        with _closing_on_failure(server):
            tag = _tag(server, place)
            if _is_loaded(tag) and tag["content_hash"] == situation.content_hash:
                return _opened(server, place)
            prepared = prepare(situation, place)
            self._write(server, prepared, tag, replace)
            return _shown(server, prepared.tag)

    def loaded(self, location: str) -> tuple[Loaded, ...]:
        """List the situations that the database holds, by place."""
        server = Server(Address.parse(location))
        try:
            tags = server.rows(
                f"MATCH (t:{TAG}) WHERE t.state = 'loaded' RETURN properties(t) AS tag "
                "ORDER BY t.place"
            )
            return tuple(_loaded(row["tag"]) for row in tags)
        finally:
            server.close()

    def examine(self, location: str | None = None) -> Examination:
        """Connect and look; see `dqa.databases.base.Backend.examine`."""
        if location is None:
            raise UsageError("Neo4j is a server: name its URL.")
        server = Server(Address.parse(location))
        try:
            about = server.rows("CALL dbms.components() YIELD versions, edition RETURN *")[0]
            users = server.rows("SHOW CURRENT USER")
        finally:
            server.close()
        user = users[0] if users else {}
        roles = user.get("roles")
        return Examination(
            version=f"Neo4j {about['versions'][0]} {about['edition']}",
            role=user.get("user") or "",
            # The Community edition has no roles: everybody may do everything.
            may_write=roles is None or not _READERS.issuperset(roles),
        )

    def unload(self, location: str, place: str) -> Loaded:
        """Drop a situation; `UsageError` where `place` holds none."""
        server = Server(Address.parse(location))
        try:
            tag = _tag(server, place)
            if not _is_loaded(tag):
                raise UsageError(
                    f"'{place}' holds no loaded situation in {server.address.name}; "
                    "'dqa list' shows those that there are."
                )
            with _translating(server):
                drop(place, server.driver, server.address.database)
            return _loaded(tag)
        finally:
            server.close()

    def _write(
        self, server: Server, prepared: Prepared, tag: dict[str, Any], replace: str | None
    ) -> None:
        place, database = prepared.place, server.address.database
        other = tag["state"] in {"loaded", "foreign"}
        if other and replace != place:
            what = f"situation '{tag['name']}'" if _is_loaded(tag) else "nodes"
            raise UsageError(
                f"Label '{place}' in {server.address.name} already has {what} of another content, "
                f"and nothing is overwritten; to drop that, name it: --replace {place}."
            )
        with _translating(server):
            if other:
                drop(place, server.driver, database)
            write(prepared, server.driver, database)


def _tag(server: Server, place: str) -> dict[str, Any]:
    """Return what a place's tag says; a state alone where there is no tag."""
    found = server.rows(
        "CALL db.labels() YIELD label WITH collect(label) AS labels "
        f"OPTIONAL MATCH (t:{TAG} {{place: $place}}) "
        "RETURN coalesce(properties(t), {state: CASE WHEN $place IN labels THEN 'known' "
        "ELSE 'free' END}) AS tag",
        place=place,
    )
    tag: dict[str, Any] = found[0]["tag"]
    if tag["state"] == "known":  # a label that was once there is known for ever
        label = "`" + place.replace("`", "``") + "`"
        if server.rows(f"MATCH (n:{label}) RETURN 1 LIMIT 1"):
            tag["state"] = "foreign"
    return tag


def _is_loaded(tag: dict[str, Any]) -> bool:
    return bool(tag["state"] == "loaded")


def _loaded(tag: dict[str, Any]) -> Loaded:
    return Loaded(tag["place"], tag["scenario"], tag["name"], tag["content_hash"], tag["rows"])


def _opened(server: Server, place: str) -> Neo4jDatabase:
    tag = _tag(server, place)
    if not _is_loaded(tag):
        raise UsageError(
            f"'{place}' holds no loaded situation in {server.address.name}; load it first."
        )
    return _shown(server, tag)


def _shown(server: Server, tag: dict[str, Any]) -> Neo4jDatabase:
    """Return a place that a tag says is loaded."""
    orders = {
        key.removeprefix(_ORDER): bytes(value)
        for key, value in tag.items()
        if key.startswith(_ORDER)
    }
    return Neo4jDatabase(server, Place(tag["place"], json.loads(tag["schema"]), orders))


@contextmanager
def _closing_on_failure(server: Server) -> Iterator[None]:
    try:
        yield
    except BaseException:
        server.close()
        raise


@contextmanager
def _translating(server: Server) -> Iterator[None]:
    """Turn what the driver raises into an error of this project."""
    import neo4j.exceptions as known

    try:
        yield
    except (known.Neo4jError, known.DriverError, OSError) as error:
        raise server.failure(error) from error


BACKEND: Backend = Neo4jBackend()
