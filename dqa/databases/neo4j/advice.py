"""What `doctor` checks on Neo4j: rights beyond reading, and missing limits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from dqa.core.cypher import quote_name
from dqa.core.examination import Examination
from dqa.databases.examining import (
    DOCUMENTED,
    NO_TIME_LIMIT,
    ONE_MORE_DEFENCE,
    Ask,
    Check,
    bytes_of,
    run_checks,
)

_SETTING = "SHOW SETTINGS YIELD name, value WHERE name = '{}' RETURN name, value"
_WRITERS = frozenset({"editor", "publisher", "architect", "admin"})
_EVERYONE = Check(
    "role",
    "RETURN 1",
    "the Community edition has no roles: every user may do everything",
    "the guard, the read-only transaction and the plan keep a statement from writing; once the "
    "data are loaded, a read-only database is one more line of defence",
    "neo4j.conf: server.databases.read_only={database}",
    writes=True,
)


def _setting(name: str, wanted: str, is_found: Callable[[str], bool], why: str) -> Check:
    return Check(
        *("setting", _SETTING.format(name), "{0} is {1}", why),
        f"neo4j.conf: {{0}}={wanted}",
        is_found=lambda _, value: is_found(value or ""),
    )


def _is_unlimited(value: str) -> bool:
    return not bytes_of(value)


_SETTINGS = (
    _setting(
        *("dbms.security.auth_enabled", "true", "false".__eq__),
        "anyone who reaches the server may do everything",
    ),
    _setting("db.transaction.timeout", "60s", {"0s", "0"}.__contains__, NO_TIME_LIMIT),
    _setting(
        *("db.memory.transaction.max", "512m", _is_unlimited),
        "one query may take the memory of all; a search of paths such as SHORTEST 5, which may "
        "run on after its time limit, ends at this limit only",
    ),
    _setting(
        *("dbms.memory.transaction.total.max", "1g", _is_unlimited),
        "queries may take so much memory that the server ends",
    ),
    _setting(
        *("dbms.security.allow_csv_import_from_file_urls", "false", "true".__eq__),
        "LOAD CSV reads files of the server's import folder",
    ),
    _setting(
        *("dbms.security.procedures.unrestricted", "", bool),
        "these procedures bypass the rights of their caller",
    ),
    Check(
        "setting",
        "SHOW PROCEDURES YIELD name WHERE name STARTS WITH 'apoc.load.' OR name STARTS WITH "
        "'apoc.export.' OR name STARTS WITH 'apoc.cypher.' RETURN count(*)",
        "APOC procedures that read and write files or run statements may be called",
        "every user may call them",
        "neo4j.conf: dbms.security.procedures.allowlist=db.*,dbms.*",
        is_found=bool,
    ),
)


def examine(ask: Ask) -> Examination:
    """Return the server's version, the user, whether it may write, and advice."""
    about = "CALL dbms.components() YIELD versions, edition RETURN versions[0], edition"
    version = " ".join(map(str, next(iter(ask(about)), ())))
    ((user, roles),) = ask("SHOW CURRENT USER YIELD user, roles RETURN user, roles") or (("", []),)
    ((database,),) = ask("CALL db.info() YIELD name RETURN name") or (("neo4j",),)
    checks: Iterator[Check] | Sequence[Check] = ()
    if not _is_read_only(ask, database):
        checks = (_EVERYONE,) if roles is None else _checks_of(roles)
    names = {"user": user or "", "quoted": quote_name(user or ""), "database": database}
    advice, may_write = run_checks(ask, [*checks, *_SETTINGS], **names)
    return Examination(f"Neo4j {version}".strip(), user or "", may_write, advice)


def _checks_of(roles: Sequence[str]) -> Iterator[Check]:
    for role in sorted(_WRITERS.intersection(roles)):
        fix = f"REVOKE ROLE {role} FROM {{quoted}}; {DOCUMENTED}"
        yield Check(
            *("role", "RETURN 1", f"{{user}} has the role {role}, which may write"),
            *(ONE_MORE_DEFENCE, fix),
            writes=True,
        )


def _is_read_only(ask: Ask, database: str) -> bool:
    """Whether the server's settings keep a database from being written."""

    def setting(name: str) -> str:
        rows = ask(_SETTING.format(f"server.databases.{name}"))
        return str(rows[0][1] or "") if rows else ""

    def names(name: str) -> set[str]:
        return {each.strip() for each in setting(name).split(",")}

    is_default = setting("default_to_read_only") == "true" and database not in names("writable")
    return is_default or database in names("read_only")
