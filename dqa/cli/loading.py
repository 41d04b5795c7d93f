"""``dqa load`` and ``dqa unload``: situations into a database, and out of it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from dqa.cli import options
from dqa.cli.fields import Seed, with_options
from dqa.cli.help import DATABASES, QUESTIONS
from dqa.cli.options import argument, option
from dqa.cli.output import echo, echo_json, report_defects
from dqa.cli.questions import QuestionOptions
from dqa.core.text import counted


@with_options(questions=QuestionOptions)
def load(  # noqa: PLR0913  (one parameter per option)
    *,
    database: options.DatabaseLocation,
    questions: QuestionOptions,
    seed: Seed = 0,
    scenarios: options.Scenarios = None,
    question: Annotated[str | None, option("--question KEY", QUESTIONS)] = None,
    replace: Annotated[str | None, option("--replace NAMESPACE", DATABASES)] = None,
    form: options.Form = "relational",
    strict: options.Strict = False,
    verbose: options.Verbose = False,
    as_json: options.AsJson = False,
) -> None:
    """Load the databases of questions, each into its own namespace.

    Situations that are already there stay.

    Parameters
    ----------
    question
        Only the database of this question.
    replace
        Drop this namespace if it holds something else.
    """
    from dqa import plugins
    from dqa.api.databases import load as load_all
    from dqa.cli.progress import track

    names = options.scenarios_in(scenarios)
    if question is not None and names is None:
        names = options.scenario_in(question)
    source = questions.source(seed, names, form=form, strict=strict)
    plugins.backend_for(database)  # a wrong name is refused before anything is read
    read = source.read()
    report_defects(read.defects, verbose)
    done = load_all(read, database, question=question, replace=replace, shown=track)
    if as_json:
        echo_json([entry.to_json() for entry in done])
    else:
        for entry in done:
            echo(f"{entry.namespace}: {entry.name}, {counted(entry.rows, 'row')}, {entry.done}")


def unload(
    *,
    namespaces: Annotated[list[str], argument("NAMESPACE...")],
    database: options.DatabaseLocation,
    as_json: options.AsJson = False,
) -> None:
    """Drop namespaces that 'dqa load' made; nothing else is ever dropped.

    Parameters
    ----------
    namespaces
        As 'dqa list' names it.
    """
    from dqa.api.databases import unload as unload_all

    dropped = unload_all(database, namespaces)
    if as_json:
        echo_json([asdict(entry) for entry in dropped])
    else:
        for entry in dropped:
            echo(f"{entry.namespace}: {entry.name}, {counted(entry.rows, 'row')}, unloaded")
