"""What `dqa doctor` advises on real servers, and that the documented statements leave nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest
import sqlalchemy as sa

import dqa
from dqa import plugins
from dqa.core.session import Advice, Examination

PAGE = (Path(__file__).parents[2] / "docs" / "guard.md").read_text("utf-8")
SECRET = "hush-Hush-7"  # noqa: S105


def documented(server: str, language: str) -> list[str]:
    """Return the blocks of code under a server's heading in docs/guard.md."""
    section = PAGE.split(f"\n#### {server}\n", 1)[1].split("\n#", 1)[0]
    blocks = re.findall(rf"```{language}\n(.*?)```", section, re.DOTALL)
    assert blocks
    return blocks


@dataclass
class Reader:
    """A role made by the documented statements, in a database that holds one table."""

    backend: str
    admin: sa.Engine
    url: sa.URL
    name: str

    def run(self, *statements: str) -> None:
        """Run statements as somebody who may do everything."""
        with self.admin.connect() as connection:
            for statement in statements:
                connection.execute(sa.text(statement.replace(":", r"\:")))

    def examine(self, topic: str | None = None) -> tuple[Advice, ...]:
        """Return what is advised to the role."""
        seen = examined(self.backend, self.url)
        return tuple(one for one in seen.advice if topic in {None, one.topic})


def examined(backend: str, url: sa.URL | str) -> Examination:
    """Examine a server."""
    text = url if isinstance(url, str) else url.render_as_string(hide_password=False)
    return plugins.backend(backend).examine(text)


def statements(script: str) -> list[str]:
    """Return the statements of a script that has no semicolon elsewhere."""
    return [text.strip() for text in script.split(";") if text.strip()]


@contextmanager
def made(backend: str, location: str) -> Iterator[Reader]:
    """Run what docs/guard.md says, under names that nobody else has."""
    unique = uuid4().hex[:8]
    place, name = f"dqa_advice_{unique}", f"dqa_reader_{unique}"
    scheme = {"mysql": "mysql+pymysql", "postgres": "postgresql+psycopg"}[backend]
    server = sa.make_url(location).set(drivername=scheme)
    first = sa.create_engine(server, isolation_level="AUTOCOMMIT")
    admin = sa.create_engine(server.set(database=place), isolation_level="AUTOCOMMIT")
    reader = Reader(
        backend, admin, server.set(database=place, username=name, password=SECRET), name
    )
    version = examined(backend, server).version
    kind = version.partition(" ")[0]
    scripts = documented(kind, "sql")
    if kind == "PostgreSQL" and int(re.findall(r"\d+", version)[0]) < 17:
        del scripts[1]
    renamed = {"shop": place, "dqa_reader": name, "choose-a-password": SECRET}
    written = re.sub("|".join(renamed), lambda match: renamed[match[0]], "\n".join(scripts))
    try:
        with first.connect() as connection:
            connection.execute(sa.text(f"CREATE DATABASE {place}"))
        reader.run("CREATE TABLE goods (name varchar(20))", *statements(written))
        yield reader
    finally:
        admin.dispose()
        if backend == "postgres":
            dropped = [f"DROP DATABASE {place} WITH (FORCE)", f"DROP ROLE {name}"]
        else:
            dropped = [f"DROP DATABASE {place}", f"DROP USER '{name}'@'%'"]
        with first.connect() as connection:
            for statement in dropped:
                connection.execute(sa.text(statement))
        first.dispose()


@pytest.fixture(scope="module")
def postgres(postgres_url: str) -> Iterator[Reader]:
    """Give the documented role of PostgreSQL."""
    with made("postgres", postgres_url) as reader:
        yield reader


@pytest.fixture(scope="module")
def mysql(mysql_url: str) -> Iterator[Reader]:
    """Give the documented user of MySQL or MariaDB."""
    with made("mysql", mysql_url) as reader:
        yield reader


def test_the_documented_role_of_postgresql_leaves_no_advice(postgres: Reader) -> None:
    """Neither on the role nor on its limits; and it reads."""
    assert postgres.examine() == ()
    assert not examined("postgres", postgres.url).may_write
    url = postgres.url.render_as_string(hide_password=False)
    with closing(dqa.open_database(url)) as database:
        assert database.query("SELECT count(*) FROM goods").rows == ((0,),)


def test_the_documented_user_of_mysql_leaves_no_advice_on_the_role(mysql: Reader) -> None:
    """What is left are settings of the whole server; and it reads."""
    assert mysql.examine("role") == ()
    assert not any("max_statement_time" in one.found for one in mysql.examine())
    assert not examined("mysql", mysql.url).may_write
    url = mysql.url.render_as_string(hide_password=False)
    with closing(dqa.open_database(url)) as database:
        assert database.query("SELECT count(*) FROM goods").rows == ((0,),)


@pytest.mark.parametrize(
    ("given", "found", "undone"),
    [
        (
            "GRANT pg_execute_server_program TO {role}",
            "member of pg_execute_server_program",
            "REVOKE pg_execute_server_program FROM {role}",
        ),
        (
            "GRANT UPDATE (name) ON goods TO {role}",
            "public.goods",
            "REVOKE UPDATE (name) ON goods FROM {role}",
        ),
        (
            "GRANT CREATE ON SCHEMA public TO {role}",
            "CREATE on SCHEMA public",
            "REVOKE CREATE ON SCHEMA public FROM {role}",
        ),
    ],
)
def test_each_right_to_write_of_postgresql_is_found(
    postgres: Reader, given: str, found: str, undone: str
) -> None:
    """One advice names the right; without it there is none."""
    postgres.run(given.format(role=postgres.name))
    (advice,) = postgres.examine()
    assert found in advice.found
    assert examined("postgres", postgres.url).may_write
    postgres.run(undone.format(role=postgres.name))
    assert postgres.examine() == ()


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("ALTER ROLE {role} RESET statement_timeout", "statement_timeout is 0"),
        ("ALTER ROLE {role} RESET temp_file_limit", "temp_file_limit is -1"),
    ],
)
def test_each_missing_limit_of_postgresql_is_found_and_mended(
    postgres: Reader, given: str, found: str
) -> None:
    """The statement of the advice sets the limit."""
    postgres.run(given.format(role=postgres.name))
    (advice,) = postgres.examine()
    assert found in advice.found
    assert advice.topic == "setting"
    postgres.run(advice.fix)
    assert postgres.examine() == ()


def test_a_superuser_of_postgresql_is_told_what_it_sees(postgres_url: str) -> None:
    """Password hashes, files, programs; and nothing that follows from that besides."""
    (role,) = (one for one in examined("postgres", postgres_url).advice if one.topic == "role")
    assert "superuser" in role.found
    assert "password hashes" in role.found
    assert "A role that may only read" in role.fix


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("FILE ON *.*", "FILE on *.*"),
        ("INSERT, DROP ON {place}.*", "DROP on `{place}`.*"),
        ("UPDATE (name) ON {place}.goods", "UPDATE on `{place}`.`goods`"),
    ],
)
def test_each_right_to_write_of_mysql_is_found(mysql: Reader, given: str, found: str) -> None:
    """One advice names a right; without it there is none."""
    place, user = mysql.url.database, f"'{mysql.name}'@'%'"
    mysql.run(f"GRANT {given.format(place=place)} TO {user}")
    (advice,) = mysql.examine("role")
    assert found.format(place=place) in advice.found
    assert examined("mysql", mysql.url).may_write
    mysql.run(f"REVOKE {given.format(place=place)} FROM {user}")
    assert mysql.examine("role") == ()


def test_who_may_do_everything_in_mysql_is_told_a_right(mysql_url: str) -> None:
    """No password's hash is in what is told."""
    seen = examined("mysql", mysql_url)
    (role,) = (one for one in seen.advice if one.topic == "role")
    assert "on *.*" in role.found
    assert "IDENTIFIED" not in repr(seen)


def test_everybody_may_do_everything_in_neo4j_community(neo4j_url: str) -> None:
    """The advice names the line that keeps the database from being written."""
    seen = examined("neo4j", neo4j_url)
    if "community" not in seen.version:
        pytest.skip("this server has roles")
    (role,) = (one for one in seen.advice if one.topic == "role")
    assert "every user may do everything" in role.found
    lines = documented("Neo4j", "properties")[0].splitlines()
    assert role.fix.removeprefix("neo4j.conf: ") in lines
    limits = [one.fix for one in seen.advice if one.topic == "setting"]
    assert "neo4j.conf: db.transaction.timeout=60s" in limits
