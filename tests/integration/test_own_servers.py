"""Servers that are killed, paused, attacked and configured: these tests start their own."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest

import dqa
from dqa.core.decider import Decider
from dqa.core.decision import Decision, Ending
from dqa.core.errors import DatabaseUnavailableError, UsageError
from dqa.databases.namespaces import namespace_for
from dqa.evaluation import store as stores
from dqa.evaluation.options import RunOptions
from dqa.evaluation.results import Outcome
from dqa.loaders.readback import read_situation
from tests.databases.engines import small_situation, world
from tests.integration.conftest import NEO4J, OwnServer
from tests.integration.second_line import attack
from tests.integration.test_advice import documented, made

COUNT = {"sql": "SELECT count(*) FROM country", "cypher": "MATCH (c:Country) RETURN count(*)"}
STEPS = {
    "mysql": "mysql.MysqlNamespaces._fill",
    "postgres": "postgres.PostgresNamespaces._fill",
    "neo4j": "neo4j.namespaces._fill",
}
"""Writes a table; for Neo4j, the whole graph."""


MARIADB, POSTGRES = "mariadb", "postgres"


def on(*names: Any) -> pytest.MarkDecorator:
    """Run a test on some kinds of servers alone."""
    return pytest.mark.parametrize("own", names, indirect=True)


def count_of(database: dqa.Database) -> str:
    """Return a statement that counts the two countries of the small world."""
    return COUNT["sql" if database.kind == "relational" else "cypher"]


def test_no_attack_changes_data_where_no_guard_judges_it(own: OwnServer) -> None:
    """Though its user may do everything; only what is known is let through."""
    assert attack(own) == set()


def test_a_kill_in_the_middle_of_a_load_leaves_nothing_to_see(
    own: OwnServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was open before works again afterwards, and the situation loads as if new."""
    backend, situation, small = own.backend, world(60), small_situation()
    namespace = namespace_for(situation)
    if own.name == "neo4j":
        monkeypatch.setattr("dqa.databases.neo4j.server._CONNECTING", 1.0)
    step = f"dqa.databases.{STEPS[backend.name]}"
    original = resolve_name(step)
    calls: list[object] = []

    def killing(*given: Any, **values: Any) -> Any:
        calls.append(None)
        if len(calls) == (1 if own.name == "neo4j" else 2):
            own.kill()
        return original(*given, **values)

    with closing(backend.load(small, own.url)) as before:
        with monkeypatch.context() as patched:
            patched.setattr(step, killing)
            with pytest.raises(DatabaseUnavailableError):
                backend.load(situation, own.url)
        with pytest.raises(DatabaseUnavailableError):
            before.query(count_of(before))
        own.restart()
        assert [each.content_hash for each in backend.loaded(own.url)] == [small.content_hash]
        if own.name == "neo4j":
            with pytest.raises(UsageError, match="does not contain a situation"):
                backend.open(f"{own.url}?namespace={namespace}")
        with closing(backend.load(situation, own.url)) as database:
            assert read_situation(database, situation.schema, situation.name) == situation
        assert before.query(count_of(before)).rows == ((2,),)
    for each in backend.loaded(own.url):
        backend.unload(own.url, each.namespace)


class Killing(Decider):
    """Decides for the first candidate; before its decision of a number, the server is killed."""

    name = "killing"

    def __init__(self, kill: Callable[[], None], before: int) -> None:
        self._kill, self._left = kill, before

    def decide(self, question: dqa.Question, database: dqa.Database) -> Decision:
        """Answer, after one statement."""
        self._left -= 1
        if self._left == 0:
            self._kill()
        database.query("SELECT 1")
        return Decision(Ending.ANSWERED, choice=(question.candidates or ())[0])


@on(MARIADB, POSTGRES)
def test_a_kill_in_the_middle_of_an_evaluation_costs_no_decision(
    own: OwnServer, tmp_path: Path
) -> None:
    """What was decided stays; the rest is no wrong answer, and is decided after the restart."""
    asked = dqa.generate(("locating",), count=6, seed=4, per_database=2)
    whole = dqa.evaluate(asked, Killing(lambda: None, 0), databases="sqlite")

    def evaluate(decider: Decider, **how: Any) -> dqa.Run:
        options = RunOptions(workers=1)
        where: dict[str, Any] = {"databases": own.url, "out": tmp_path / "run"}
        return dqa.evaluate(asked, decider, options=options, **where, **how)

    def choices(run: dqa.Run) -> list[object]:
        return [result.choice for result in run.results]

    stays = evaluate(Killing(own.kill, 4))
    outcomes = [result.outcome for result in stays.results]
    assert Outcome.INFRASTRUCTURE in outcomes
    assert choices(stays)[:3] == choices(whole)[:3]
    own.restart()
    again = evaluate(Killing(own.kill, 0), resume=True, retry_failed=True)
    assert choices(again) == choices(whole)


@on(POSTGRES)
def test_a_killed_server_loses_nothing_of_a_run_that_it_stores(
    own: OwnServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run ends with one line, and the same call goes on once the server is back."""
    monkeypatch.setattr(stores, "_PATIENCE_SECONDS", 0.5)
    asked = dqa.generate(("locating", "building"), count=3, seed=3)
    place = f"{own.url}#killed"

    def decided(decider: Decider) -> dqa.Run:
        options = RunOptions(workers=1)
        return dqa.evaluate(asked, decider, databases="sqlite", out=place, options=options)

    with pytest.raises(DatabaseUnavailableError) as ended:
        decided(Killing(own.kill, 4))
    assert "\n" not in str(ended.value)
    assert "same command resumes" in str(ended.value)
    own.restart()
    assert len(dqa.read_run(place).results) == 3
    run = decided(Killing(own.kill, 0))
    assert run.made == len(run.results) - 3
    assert all(result.outcome.judged for result in run.results)


@on(MARIADB, NEO4J)
def test_the_documented_settings_leave_no_advice(own: OwnServer) -> None:
    """None at all for the documented user, or for the only one, who cannot write any more."""
    mariadb = own.name == "mariadb"
    (path,) = Path(own.state).glob("**/my.cnf" if mariadb else "**/neo4j.conf")
    lines = documented(*(("MariaDB", "ini") if mariadb else ("Neo4j", "properties")))[0]
    before = path.read_text("utf-8")
    named = {line.partition("=")[0] for line in lines.splitlines() if "=" in line}
    kept = [line for line in before.splitlines() if line.partition("=")[0] not in named]
    own.kill()
    path.write_text("\n".join((*kept, lines)), encoding="utf-8")
    own.restart()
    try:
        if mariadb:
            with made("mysql", own.url) as reader:
                assert reader.examine() == ()
        else:
            seen = own.backend.examine(own.url)
            assert (seen.advice, seen.may_write) == ((), False)
    finally:
        path.write_text(before, encoding="utf-8")
        own.kill()
        own.restart()
