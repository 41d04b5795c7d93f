"""What Neo4j lets a user do beyond reading, and which limits it does not set."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from dqa.core.examination import Advice, Examination
from dqa.databases.examining import DOCUMENTED, bytes_of

Ask: TypeAlias = Callable[[str], Sequence[Mapping[str, Any]]]
"""Returns the rows of a statement of our own; none where the user may not know them."""

_ABOUT = "CALL dbms.components() YIELD versions, edition RETURN *"
_NAMES = (
    *("db.transaction.timeout", "db.memory.transaction.max", "dbms.memory.transaction.total.max"),
    *("dbms.security.allow_csv_import_from_file_urls", "dbms.security.auth_enabled"),
    *("dbms.security.procedures.allowlist", "dbms.security.procedures.unrestricted"),
    *("server.databases.default_to_read_only", "server.databases.read_only"),
    "server.databases.writable",
)
_SETTINGS = f"SHOW SETTINGS YIELD name, value WHERE name IN {list(_NAMES)} RETURN name, value"
_APOC = (
    "SHOW PROCEDURES YIELD name WHERE name STARTS WITH 'apoc.load.' OR name STARTS WITH "
    "'apoc.export.' OR name STARTS WITH 'apoc.cypher.' RETURN count(*) AS number"
)
_READERS = frozenset({"PUBLIC", "reader"})
"""Roles, of editions that have any, that cannot write."""
_WRITERS = {
    "editor": "writes nodes, relationships and properties",
    "publisher": "writes, and makes labels, types and property keys",
    "architect": "writes, and makes indexes and constraints",
    "admin": "may do everything, as to make users and to read who they are",
}


def examine(ask: Ask) -> Examination:
    """Ask what the server is, what the user may do, and what limits there are."""
    about = next(iter(ask(_ABOUT)), {"versions": [""], "edition": ""})
    user = next(iter(ask("SHOW CURRENT USER")), {})
    database = next((row["name"] for row in ask("CALL db.info() YIELD name RETURN name")), "neo4j")
    settings = {row["name"]: row["value"] or "" for row in ask(_SETTINGS)}
    name, roles = str(user.get("user") or ""), user.get("roles")
    is_frozen = _is_read_only(settings, database)
    may_write = not is_frozen and (roles is None or not _READERS.issuperset(roles))
    if roles is not None:
        advice = tuple(_of_roles(name, roles))
    else:  # the Community edition has none
        advice = () if is_frozen else (_everybody(database),)
    return Examination(
        f"Neo4j {about['versions'][0]} {about['edition']}".strip(),
        name,
        may_write,
        (*advice, *_limits(settings, ask)),
    )


def _is_read_only(settings: Mapping[str, str], database: str) -> bool:
    """Whether nobody can write to a database."""
    names = {
        key: {each.strip() for each in settings.get(f"server.databases.{key}", "").split(",")}
        for key in ("read_only", "writable")
    }
    by_default = settings.get("server.databases.default_to_read_only") == "true"
    return database in names["read_only"] or (by_default and database not in names["writable"])


def _everybody(database: str) -> Advice:
    return Advice(
        "role",
        "the Community edition has no roles: every user may do everything",
        "the guard, the read-only transaction and the plan keep a statement from writing; once the "
        "data are there, a database that takes no writes is one more line of defence",
        f"neo4j.conf: server.databases.read_only={database}",
    )


def _of_roles(name: str, roles: Sequence[str]) -> Iterator[Advice]:
    for role in sorted(set(roles) & set(_WRITERS)):
        mend = f"REVOKE ROLE {role} FROM {_quoted(name)}; {DOCUMENTED}"
        yield Advice("role", f"{name} has the role {role}", f"it {_WRITERS[role]}", mend)


def _quoted(name: str) -> str:
    """Return a user's name as Cypher takes it: most have no need of quotes."""
    return name if re.fullmatch(r"[A-Za-z]\w*", name) else f"`{name.replace('`', '``')}`"


def _limits(settings: Mapping[str, str], ask: Ask) -> Iterator[Advice]:
    if settings.get("dbms.security.auth_enabled") == "false":
        yield _setting(
            *("dbms.security.auth_enabled", "false", "true"),
            "anybody who reaches the server may do everything",
        )
    if settings.get("db.transaction.timeout") in {"0s", "0"}:
        yield _setting(
            *("db.transaction.timeout", "0s: there is no limit", "60s"),
            "a statement that was left behind, by a client that is gone, goes on without an end",
        )
    for name, limit, why in (
        ("db.memory.transaction.max", "512m", "one query may take the memory of all"),
        (
            *("dbms.memory.transaction.total.max", "1g"),
            "queries may take so much memory that the server ends",
        ),
    ):
        if name in settings and not bytes_of(settings[name]):
            yield _setting(name, "0: there is no limit", limit, why)
    if settings.get("dbms.security.allow_csv_import_from_file_urls") == "true":
        yield _setting(
            *("dbms.security.allow_csv_import_from_file_urls", "true", "false"),
            "LOAD CSV reads files of the server's import folder",
        )
    if settings.get("dbms.security.procedures.unrestricted"):
        name = "dbms.security.procedures.unrestricted"
        yield _setting(
            *(name, settings[name], ""),
            "those procedures go around the rights of who calls them",
        )
    if settings.get("dbms.security.procedures.allowlist") == "*" and any(
        row["number"] for row in ask(_APOC)
    ):
        yield _setting(
            *("dbms.security.procedures.allowlist", "*, and APOC is there", "db.*,dbms.*"),
            "every user may call what reads and writes files and runs statements of its own",
        )


def _setting(name: str, value: str, wanted: str, why: str) -> Advice:
    return Advice("setting", f"{name} is {value}", why, f"neo4j.conf: {name}={wanted}")
