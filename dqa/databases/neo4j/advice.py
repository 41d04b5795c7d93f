"""What `doctor` reports on Neo4j: rights beyond reading, and missing limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dqa.core.examination import Advice, Examination
from dqa.databases.examining import NO_TIME_LIMIT, Ask, advise_on_rights, bytes_of

_WRITERS = frozenset({"editor", "publisher", "architect", "admin"})


def _is_unlimited(value: str) -> bool:
    return not bytes_of(value)


_SETTINGS: tuple[tuple[str, str, Callable[[str], bool], str], ...] = (
    (
        *("dbms.security.auth_enabled", "true", "false".__eq__),
        "anyone who reaches the server may do everything",
    ),
    ("db.transaction.timeout", "60s", {"0s", "0"}.__contains__, NO_TIME_LIMIT),
    (
        *("db.memory.transaction.max", "512m", _is_unlimited),
        "only this limit ends some searches of paths, such as SHORTEST 5",
    ),
    (
        *("dbms.memory.transaction.total.max", "1g", _is_unlimited),
        "queries may take so much memory that the server ends",
    ),
)
"""Settings: the advice, whether a value is a problem, and why."""


def examine(ask: Ask) -> Examination:
    """Return the server's version, the user, whether it may write, and advice."""
    about = "CALL dbms.components() YIELD versions, edition RETURN versions[0], edition"
    version = " ".join(map(str, next(iter(ask(about)), ())))
    ((user, roles),) = ask("SHOW CURRENT USER YIELD user, roles RETURN user, roles") or (("", []),)
    ((database,),) = ask("CALL db.info() YIELD name RETURN name") or (("neo4j",),)
    rights: tuple[Advice, ...] = ()
    if not _is_read_only(ask, database):
        rights = _advise(user or "", roles, database)
    limits = [
        Advice("setting", f"{name} is {value}", why, f"neo4j.conf: {name}={wanted}")
        for name, wanted, is_found, why in _SETTINGS
        for value in _setting(ask, name)
        if is_found(value)
    ]
    return Examination(f"Neo4j {version}".strip(), user or "", bool(rights), (*rights, *limits))


def _advise(user: str, roles: Sequence[str] | None, database: str) -> tuple[Advice, ...]:
    if roles is not None:
        return advise_on_rights(
            user, [f"it has the role {role}" for role in sorted(_WRITERS.intersection(roles))]
        )
    return (
        Advice(
            "role",
            "the Community edition has no roles: every user may do everything",
            "the guard, the read-only transaction and the plan keep a statement from writing; once "
            "the data are loaded, a read-only database is one more line of defence",
            f"neo4j.conf: server.databases.read_only={database}",
        ),
    )


def _setting(ask: Ask, name: str) -> list[str]:
    """Return the value of a setting; nothing if the user may not see it."""
    rows = ask(f"SHOW SETTINGS YIELD name, value WHERE name = '{name}' RETURN name, value")
    return [value or "" for _, value in rows]


def _is_read_only(ask: Ask, database: str) -> bool:
    """Whether the server's settings keep a database from being written."""

    def names(name: str) -> set[str]:
        listed = ",".join(_setting(ask, f"server.databases.{name}"))
        return {each.strip() for each in listed.split(",")}

    is_default = "true" in names("default_to_read_only") and database not in names("writable")
    return is_default or database in names("read_only")
