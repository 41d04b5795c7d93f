"""Commands on databases and on installed plug-ins."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from annotated_types import Ge

from dqa.cli import options
from dqa.cli.help import MODELS
from dqa.cli.options import argument, option
from dqa.cli.output import echo, echo_data, echo_json, show
from dqa.core.database import DEFAULT_LIMITS, Limits, Rows
from dqa.core.display import DEFAULT_DISPLAY, LEAST_TOKENS
from dqa.core.errors import UsageError
from dqa.core.text import counted, shortened, visible
from dqa.report.table import Table

if TYPE_CHECKING:
    from dqa.api.checking import CheckedStatement
    from dqa.api.databases import DatabaseHealth

_SHOWN = 70
"""Maximum number of characters that are shown of a checked statement."""
_WIDTH = 16
"""Width of the first column of `dqa doctor`."""


def query(  # noqa: PLR0913  (one parameter per option)
    database: options.Location,
    statement: Annotated[str | None, argument("STATEMENT")] = None,
    *,
    file: Path | None = None,
    access: options.AccessOptions,
    row_limit: options.Count = DEFAULT_LIMITS.rows,
    as_csv: bool = False,
    as_json: options.AsJson = False,
) -> None:
    """Run one read-only statement, with the same checks and limits as an agent's statement.

    Parameters
    ----------
    statement
        SQL or Cypher statement. '-' reads it from standard input.
    file
        File with the statement.
    row_limit
        The maximum number of rows that one statement returns. A longer result is cut.
    as_csv
        Print CSV instead of a table.
    """
    from dqa.api.looking import query as query_one

    if as_csv and as_json:
        raise UsageError("--csv and --json exclude each other: give one of them.")
    found = query_one(
        database, _statement(statement, file), limits=Limits(rows=row_limit), **access.fields()
    )
    if as_csv:
        _print_csv(found)
    else:
        rows = [[_shown(cell) for cell in row] for row in found.rows]
        table = Table("", [visible(name) for name in found.columns], [], rows)
        show(found, [table, counted(len(rows), "row")], as_json=as_json)
    for warning in filter(None, (found.warning, found.cut and _cut(found))):
        echo(f"warning: {warning}", err=True)


def _statement(statement: str | None, file: Path | None) -> str:
    if (statement is None) == (file is None):
        raise UsageError(
            "Give exactly one statement: as an argument, as - (standard input), or with --file."
        )
    if file is not None:
        return options.nonempty("--file", options.text_in("--file", file))
    text = options.text_in("STATEMENT", Path("-")) if statement == "-" else statement or ""
    return options.nonempty("STATEMENT", text)


def _print_csv(found: Rows) -> None:
    for row in (found.columns, *found.rows):
        line = io.StringIO(newline="")
        # With this line terminator the writer quotes both kinds of line breaks.
        csv.writer(line, lineterminator="\r\n").writerow([_plain(cell) for cell in row])
        echo_data(f"{line.getvalue()[:-2]}\n")


def _shown(cell: Any) -> str:  # noqa: ANN401  (any value of a result)
    return "NULL" if cell is None else visible(str(_plain(cell)).replace("\n", "\\n"))


def _plain(cell: Any) -> Any:  # noqa: ANN401  (as above)
    return json.dumps(cell, ensure_ascii=False) if isinstance(cell, list | dict | tuple) else cell


def _cut(found: Rows) -> str:
    if found.cut == "cells":
        return "long values were shortened: select a part of them, for example with SUBSTRING."
    of = "" if found.total is None else f" of {found.total:,}"
    more = "raise --row-limit" if found.cut == "rows" else "select less"
    return (
        f"the limit on {found.cut} allows only the first {len(found.rows):,}{of} rows: "
        f"aggregate, filter, or {more}."
    )


def schema(  # noqa: PLR0913  (one parameter per option)
    database: options.Location,
    *,
    question: str | None = None,
    tables: str | None = None,
    policy: Path | None = None,
    samples: Annotated[int, Ge(0)] = DEFAULT_DISPLAY.samples,
    schema_tokens: Annotated[int, Ge(LEAST_TOKENS)] = DEFAULT_DISPLAY.schema_tokens,
    as_json: options.AsJson = False,
) -> None:
    """Print the schema of a database as a model sees it.

    The schema lists tables, columns and keys, or the labels and relationship types of a graph.

    Parameters
    ----------
    question
        Put the tables that match the words of this question at the top.
    tables : NAMES
        Show only these tables (in a graph: labels and relationship types), separated by commas.
    policy
        JSON file with the tables, columns and rows that may be read (see docs/guard.md).
    samples
        The number of sample values that the schema shows for each text or boolean column.
    schema_tokens
        The approximate maximum number of tokens of the schema in a prompt. Agents may look up the
        parts that do not fit.
    """
    from dqa.api.looking import read_schema

    shown = read_schema(
        database,
        samples=samples,
        about=options.nonempty("--question", question),
        tokens=schema_tokens,
        tables=options.names_in("--tables", tables),
        policy=policy,
    )
    if not shown.described.parts and not shown.left_out:
        notes = [f"{note}." for note in shown.described.notes]
        problem = f"'{shown.database}' shows no table, label or relationship type"
        raise UsageError(" ".join(notes) or f"{problem} to this user and policy.")
    show(shown, [shown.text], as_json=as_json)
    if shown.warning is not None:
        echo(f"warning: {shown.warning}", err=True)


def check(
    *,
    files: Annotated[list[Path] | None, argument("FILE...")] = None,
    dialect: str,
    policy: Path | None = None,
    exit_code: bool = False,
    as_json: options.AsJson = False,
) -> None:
    """Report whether the guard allows each statement of a file, without running it.

    The guard allows only statements that read. Semicolons separate statements.

    Parameters
    ----------
    files
        SQL or Cypher files. Without files, statements are read from standard input.
    dialect : NAME
        Dialect of the statements: mysql, mariadb, postgres, sqlite, duckdb, ansi (any other SQL),
        neo4j or ladybug.
    policy
        JSON file with the tables, columns and rows that may be read (see docs/guard.md).
    exit_code
        Exit with code 1 if a statement is refused. Without this option, the exit code is 0.
    """
    from dqa import guard
    from dqa.api.checking import check_files, check_script

    read = guard.DEFAULT if policy is None else guard.Policy.read(policy)
    if files:
        checked = check_files(files, dialect, read)
    else:
        checked = check_script(sys.stdin.buffer.read(), dialect, read)
    refused = sum(not one.allowed for one in checked)
    verdicts = f": {len(checked) - refused} allowed, {refused} refused" if checked else ""
    lines = [line for one in checked for line in _verdict(one)]
    show(checked, [*lines, f"{counted(len(checked), 'statement')}{verdicts}."], as_json=as_json)
    if refused and exit_code:
        raise typer.Exit(1)


def _verdict(one: CheckedStatement) -> Iterator[str]:
    verdict = "allowed" if one.allowed else "REFUSED"
    yield f"{one.file}:{one.line}: {verdict}  {shortened(one.statement, _SHOWN)}"
    if not one.allowed:
        yield f"    {one.reason}"


def doctor(
    *,
    database: list[str] | None = None,
    scenario: Path | None = None,
    target: list[str] | None = None,
    policy: Path | None = None,
    as_json: options.AsJson = False,
) -> None:
    """Report which databases work, which are broken, and which are not set up.

    By default, all installed and configured databases are checked. For a working server, the report
    suggests safer settings: a role that can only read, and missing limits. Suggestions are not
    errors. With --scenario, the command instead reports the problems in a scenario's folder by file
    and line.

    The exit code is 1 if a checked database fails, or if the scenario's folder has an error. The
    exit code is 2 if a location is wrong, or if a server refuses the login.

    Parameters
    ----------
    database : URL|PATH
        Check only this database. May be repeated.
    scenario : DIR
        Check only this scenario folder, against the database of --database.
    target : KEY=VALUE
        Value of a target parameter, used to run the scenario's statements. Values for other
        parameters come from the database. May be repeated.
    policy
        JSON file with the tables, columns and rows that may be read (see docs/guard.md).
    """
    from dqa.api.databases import examine

    if scenario is not None:
        if not database:
            raise UsageError("--scenario needs a database to check against: add --database URL.")
        from dqa.api.scenarios import check_scenario

        values = options.pairs_in("--target", target or ())
        checks = [check_scenario(scenario, one, target=values, policy=policy) for one in database]
        show(checks, (check.to_text() for check in checks), as_json=as_json)
        code = int(not all(check.is_good for check in checks))
    elif target or policy is not None:
        raise UsageError("--target and --policy need a scenario's folder: add --scenario DIR.")
    else:
        found = examine(database or ())
        show(found, (line for health in found for line in _lines(health)), as_json=as_json)
        code = max((health.exit_code for health in found), default=0)
    if code:
        raise typer.Exit(code)


def _lines(health: DatabaseHealth) -> list[str]:
    known = f"{health.state:<{_WIDTH}}{health.database or 'unknown'}"
    where = f" at {health.location}" if health.location else ""
    if health.problem:
        return [f"{known}{where}: {health.problem}"]
    where = where or " in memory"
    who = f", connected as {health.role}" if health.role else ""
    lines = [f"{known}{where}: {health.version}{who}"]
    for advice in health.advice:
        why = advice.why[:1].upper() + advice.why[1:]
        found = f"{advice.topic}: {advice.found}. {why}."
        lines += [f"{'  advice':<{_WIDTH}}{found}", " " * (_WIDTH + 4) + advice.fix]
    return lines


def init(
    *,
    database: options.DatabaseLocation,
    out: Path | None = None,
    question: str | None = None,
    access: options.AccessOptions,
    as_json: options.AsJson = False,
) -> None:
    """Write a proposed scenario for a database: tables, rules, question and statements.

    Guesses are marked for your review. Existing files are never overwritten.

    Parameters
    ----------
    out : DIR
        New or empty folder for the scenario. By default, its name comes from the candidates'
        table.
    question
        Question to decide. Its words select the tables.
    """
    from dqa.api.scenarios import propose_scenario

    proposed = propose_scenario(
        database, out, question=options.nonempty("--question", question), **access.fields()
    )
    show(proposed, [proposed.to_text(access.policy)], as_json=as_json)


def list_known(
    *,
    database: str | None = None,
    settings: Annotated[str | None, option("--settings DECIDER", MODELS)] = None,
    worlds: bool = False,
    scenarios: str | None = None,
    as_json: options.AsJson = False,
) -> None:
    """List installed scenarios, deciders, databases, simulators and models.

    Parameters
    ----------
    database : URL|PATH
        List only the data that 'dqa load' put into this database.
    settings
        List only the settings of this decider, which --set changes.
    worlds
        List only the worlds (games), with their number of players and their built-in players.
    scenarios : FOLDERS
        Also list the scenarios in these folders, separated by commas.
    """
    from dqa.api.listing import installed, list_worlds, settings_of

    found: object
    if database is not None:
        from dqa.api.databases import loaded

        found = loaded(database)
        lines = [f"{o.namespace}: {o.scenario} {o.name}, {counted(o.rows, 'row')}" for o in found]
        lines = lines or ["This database contains no data from 'dqa load'."]
    elif settings is not None:
        found = settings_of(settings)
        lines = [f"{o.name}={o.default}  {o.accepts}: {o.description}" for o in found]
        lines = lines or [f"{settings} has no settings of its own."]
    elif worlds:
        found = list_worlds()
        lines = [f"{one.name}: {one.description}" for one in found]
    else:
        found, lines = installed(options.names_in("--scenarios", scenarios)), []
        for title, entries in found.items():
            width = max((len(entry.name) for entry in entries), default=0)
            lines.append(f"{title}:")
            for group, grouped in groupby(entries, key=lambda entry: entry.group):
                lines += [f"  {group}:"] if group else []
                indent = "    " if group else "  "
                lines += [f"{indent}{one.name:<{width}}  {one.description}" for one in grouped]
    show(found, lines, as_json=as_json)


def formats(*, name: Annotated[str | None, argument("NAME")] = None) -> None:
    """List the file formats that dqa reads and writes, or print the JSON Schema of a format.

    Parameters
    ----------
    name
        Print the JSON Schema of this format. Without a name, list all formats.
    """
    from dqa.api.listing import format_names, json_schema

    if name is not None:
        echo_json(json_schema(name))
        return
    show(None, format_names(), as_json=False)
