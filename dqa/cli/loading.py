"""``dqa load`` and ``dqa unload``: situations into a database, and out of it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from dqa.cli import options
from dqa.cli.bundles import with_options
from dqa.cli.help import DATABASES, QUESTIONS
from dqa.cli.output import echo, echo_json, report_defects
from dqa.cli.shared_bundles import QuestionOptions
from dqa.core.text import counted


@with_options(questions=QuestionOptions)
def load(  # noqa: PLR0913  (one parameter an option)
    *,
    database: options.DatabaseLocation,
    questions: QuestionOptions,
    seed: options.Seed = 0,
    scenarios: options.Scenarios = None,
    question: Annotated[
        str | None,
        typer.Option(
            "--question",
            metavar="KEY",
            help="Only the database of this question.",
            rich_help_panel=QUESTIONS,
        ),
    ] = None,
    replace: Annotated[
        str | None,
        typer.Option(
            "--replace",
            metavar="NAMESPACE",
            help="Drop this namespace where it holds something else.",
            rich_help_panel=DATABASES,
        ),
    ] = None,
    form: options.Form = "relational",
    strict: options.Strict = False,
    verbose: options.Verbose = False,
    as_json: options.AsJson = False,
) -> None:
    """Load the databases of questions, each into a namespace of its own; what is there stays."""
    from dqa import plugins
    from dqa.api.databases import load as load_all
    from dqa.cli.progress import track

    names = options.scenarios_in(scenarios)
    if question is not None and names is None:
        names = options.scenario_in(question)
    source = questions.source(seed, names, form=form, strict=strict)
    plugins.backend_for(database)  # before anything is read: a wrong name costs no reading
    read = source.read()
    report_defects(read.defects, verbose)
    done = load_all(read, database, question=question, replace=replace, shown=track)
    if as_json:
        echo_json([entry.to_json() for entry in done])
        return
    for entry in done:
        echo(f"{entry.namespace}: {entry.name}, {counted(entry.rows, 'row')}, {entry.done}")


def unload(
    *,
    namespaces: Annotated[
        list[str], typer.Argument(metavar="NAMESPACE...", help="As 'dqa list' names it.")
    ],
    database: options.DatabaseLocation,
    as_json: options.AsJson = False,
) -> None:
    """Drop namespaces that 'dqa load' made; nothing else is ever dropped."""
    from dqa.api.databases import unload as unload_all

    gone = unload_all(database, namespaces)
    if as_json:
        echo_json([asdict(entry) for entry in gone])
        return
    for entry in gone:
        echo(f"{entry.namespace}: {entry.name}, {counted(entry.rows, 'row')}, unloaded")
