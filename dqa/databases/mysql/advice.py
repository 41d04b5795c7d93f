"""What MySQL and MariaDB let a user do beyond reading, and which limits they do not set."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dqa.core.examination import Advice, Examination
from dqa.databases.examining import DOCUMENTED, READER, Ask, bytes_of, shown_size
from dqa.databases.mysql.server import Flavour
from dqa.databases.tables import quote

_GRANT = re.compile(
    r"GRANT (?P<rights>.+?) ON (?P<where>.+?) TO (?P<whom>[`'].*?[`'](?:@[`'].*?[`'])?)"
    r"(?: (?:IDENTIFIED|REQUIRE|WITH)\b.*| *)",
    re.DOTALL,
)
_REVOKED = re.compile(r"REVOKE (?P<rights>.+?) ON (?P<where>.+?) FROM .*", re.DOTALL)
"""What MySQL 8 lists of what a user is kept from, who has a right everywhere else."""
_RIGHT = re.compile(r"([^,(]+)(?:\([^)]*\))?(?:,|$)")
_ALL = "ALL PRIVILEGES"
_READING = frozenset({"SELECT", "USAGE", "SHOW VIEW", "SHOW DATABASES", "SHOW CREATE ROUTINE"})
_WRITING = frozenset(
    {
        *("ALTER", "ALTER ROUTINE", "CREATE", "CREATE ROUTINE", "CREATE TEMPORARY TABLES"),
        *("CREATE VIEW", "DELETE", "DELETE HISTORY", "DROP", "EVENT", "INDEX", "INSERT"),
        *("LOCK TABLES", "REFERENCES", "TRIGGER", "UPDATE", _ALL),
    }
)
_ACTING = {
    "FILE": "reads and writes files of the server's machine",
    "PROCESS": "sees what others ask, with the values in it",
    "CREATE USER": "makes users and changes passwords",
    "EXECUTE": "runs stored routines, which do what their authors wrote",
    "GRANT OPTION": "gives others its rights",
    "PROXY": "acts as another user",
}
_OTHER = "acts on the whole server"
_EVERYWHERE = "*.*"
_ACCOUNTS = frozenset({_EVERYWHERE, "mysql.*", "mysql.user", "mysql.global_priv"})
"""Where password hashes are read."""

_NAMES = (
    *("max_statement_time", "max_execution_time", "max_session_mem_used"),
    *("connection_memory_limit", "max_tmp_session_space_usage", "tmp_table_size"),
    *("max_allowed_packet", "regexp_time_limit", "regexp_stack_limit", "local_infile"),
    "secure_file_priv",
)
_LISTED = ", ".join(f"'{name}'" for name in _NAMES)
# `max_statement_time` of the session is this project's own limit by now.
_SETTINGS = f"SHOW GLOBAL VARIABLES WHERE variable_name IN ({_LISTED})"
_MOST = {
    "max_session_mem_used": (8 << 30, 1 << 30, "one query may take all of the server's memory"),
    "connection_memory_limit": (8 << 30, 1 << 30, "one query may take all of the server's memory"),
    "tmp_table_size": (
        *(256 << 20, 64 << 20),
        "every temporary table of a query may take as much memory",
    ),
    "max_allowed_packet": (
        *(64 << 20, 64 << 20),
        "one text may have as many bytes, and functions such as REPEAT make several",
    ),
}
"""By setting: bytes that are too many, as many as will do, and what more allow."""
_ZERO = {
    "regexp_time_limit": ("32", "a regular expression that backtracks goes on without an end"),
    "regexp_stack_limit": ("8000000", "a regular expression may take all of a thread's memory"),
    "max_tmp_session_space_usage": (
        *("2147483648",),
        "one query that sorts or joins may fill the server's disk",
    ),
}
"""By setting whose 0 means no limit: one that is a limit, and what its absence allows."""


@dataclass(frozen=True, slots=True)
class Grant:
    """A line of SHOW GRANTS."""

    rights: tuple[str, ...]
    where: str
    whom: str

    @classmethod
    def parse(cls, line: str) -> Grant | None:
        """Read a line; None where it grants a role, or is of another kind."""
        match = _GRANT.fullmatch(line)
        if match is None:
            return None
        rights = _rights(match["rights"])
        options = line[match.end("whom") :].upper()
        given = ["GRANT OPTION"] if "WITH GRANT OPTION" in options else []
        return cls((*rights, *given), match["where"], match["whom"])

    @property
    def reads_accounts(self) -> bool:
        """Whether it lets a user read the password hashes of all."""
        place = self.where.replace("`", "").lower()
        return place in _ACCOUNTS and not {_ALL, "SELECT"}.isdisjoint(self.rights)

    @property
    def lets_write(self) -> bool:
        """Whether it lets a user do more than read."""
        return not _READING.union(_ACTING).issuperset(self.rights)

    @property
    def lets_everything(self) -> bool:
        """Whether who has it may do whatever there is to do."""
        return self.where == _EVERYWHERE and not {_ALL, "SUPER"}.isdisjoint(self.rights)

    def revoke(self, rights: Sequence[str]) -> str:
        """Return the statement that takes rights away."""
        return f"REVOKE {', '.join(rights)} ON {self.where} FROM {self.whom};"


def _rights(listed: str) -> list[str]:
    return [right.strip().upper() for right in _RIGHT.findall(listed)]


def _is_kept_from_accounts(line: str) -> bool:
    """Whether a line of SHOW GRANTS keeps a user from the password hashes."""
    match = _REVOKED.fullmatch(line)
    if match is None or match["where"].replace("`", "").lower() != "mysql.*":
        return False
    return not {_ALL, "SELECT"}.isdisjoint(_rights(match["rights"]))


def examine(ask: Ask, flavour: Flavour) -> Examination:
    """Ask what the server is, what the user may do, and what limits there are."""
    ((version, role, database),) = ask("SELECT VERSION(), CURRENT_USER(), DATABASE()")
    lines = [str(line) for (line,) in ask("SHOW GRANTS")]
    grants = [grant for grant in map(Grant.parse, lines) if grant is not None]
    settings = {str(name).lower(): str(value) for name, value in ask(_SETTINGS)}
    if any("MAX_STATEMENT_TIME" in line for line in lines):
        settings.pop("max_statement_time", None)  # the account has one of its own
    title, reader = f"{flavour.title} {version}", f"'{READER}'@'%'"
    advice: tuple[Advice, ...]
    if any(grant.lets_everything for grant in grants):
        advice = (_everything(role),)
    else:
        reader = grants[0].whom if grants else reader
        is_kept = any(map(_is_kept_from_accounts, lines))
        advice = tuple(
            one
            for grant in grants
            for one in (*_of_reading(grant, database, is_kept), *_of_grant(grant, settings))
        )
    may_write = any(grant.lets_write for grant in grants)
    return Examination(title, str(role), may_write, (*advice, *_limits(settings, flavour, reader)))


def _everything(role: str) -> Advice:
    return Advice(
        "role",
        f"{role} has all privileges, or SUPER, on the whole server",
        "it reads every database and the password hashes in mysql.user, reads and writes files, "
        "ends what others ask and lifts every limit",
        DOCUMENTED,
    )


def _of_reading(grant: Grant, database: str | None, is_kept: bool) -> Iterator[Advice]:
    """Say what it reads beyond its own database; `is_kept` from the password hashes elsewhere."""
    if not grant.reads_accounts:
        return
    is_everywhere = grant.where == _EVERYWHERE
    why = "it reads the password hashes in mysql.user"
    if is_everywhere:
        why = "it reads every database but mysql" if is_kept else f"{why}, and every database"
    place = database and quote("mysql", database)
    again = f" GRANT SELECT, SHOW VIEW ON {place}.* TO {grant.whom};"
    yield Advice(
        "role",
        f"{grant.whom} has SELECT on {grant.where}",
        why,
        grant.revoke(["SELECT"]) + (again if place and is_everywhere else ""),
    )


def _of_grant(grant: Grant, settings: Mapping[str, str]) -> Iterator[Advice]:
    who = f"{grant.whom} has"
    writing = [right for right in grant.rights if right in _WRITING]
    if writing:
        again = f" GRANT SELECT, SHOW VIEW ON {grant.where} TO {grant.whom};"
        yield Advice(
            "role",
            f"{who} {', '.join(writing)} on {grant.where}",
            "the guard and the read-only session keep it from writing; without the right there is "
            "one more line of defence",
            grant.revoke(writing) + (again if _ALL in writing else ""),
        )
    for right in grant.rights:
        if right not in _WRITING | _READING:
            does = _ACTING.get(right, _OTHER)
            if right == "FILE" and settings.get("secure_file_priv") == "":
                does += ", of any folder, as secure_file_priv is empty"
            yield Advice(
                "role", f"{who} {right} on {grant.where}", f"it {does}", grant.revoke([right])
            )


def _limits(settings: Mapping[str, str], flavour: Flavour, whom: str) -> Iterator[Advice]:
    kept = "GLOBAL" if flavour.dialect == "mariadb" else "PERSIST"
    why = "a statement that was left behind, by a client that is gone, goes on without an end"
    for name, mend in (
        ("max_statement_time", f"ALTER USER {whom} WITH MAX_STATEMENT_TIME 60;"),
        ("max_execution_time", "SET PERSIST max_execution_time = 60000;"),
    ):
        if name in settings and float(settings[name]) == 0:
            yield Advice("setting", f"{name} is 0: there is no limit", why, mend)
    for name, (most, wanted, why) in _MOST.items():
        if (size := bytes_of(settings.get(name, ""))) > most:
            found = f"{name} is {shown_size(size)}"
            yield Advice("setting", found, why, f"SET {kept} {name} = {wanted};")
    for name, (limit, why) in _ZERO.items():
        if settings.get(name) == "0":
            found = f"{name} is 0: there is no limit"
            yield Advice("setting", found, why, f"SET {kept} {name} = {limit};")
    if settings.get("local_infile", "").upper() in {"ON", "1"}:
        yield Advice(
            "setting",
            "local_infile is ON",
            "the server may ask a client for its files; who only reads does not need that",
            f"SET {kept} local_infile = OFF;",
        )
