"""``dqa load`` and ``dqa unload``: situations into a database, and out of it."""

from __future__ import annotations

from dataclasses import asdict
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dqa.cli import options
from dqa.cli.output import echo_json, report_defects
from dqa.cli.progress import shown
from dqa.core.errors import UsageError

if TYPE_CHECKING:
    from dqa.core.situation import Situation
    from dqa.databases.base import Backend

__all__ = ["load", "unload"]


def load(  # noqa: PLR0913  (one parameter an option)
    *,
    database: options.DatabaseLocation,
    release: options.Release = None,
    generated: options.Generated = None,
    generate: options.Generate = None,
    seed: options.Seed = 0,
    scenarios: options.AnyScenarios = None,
    question: Annotated[
        str | None,
        typer.Option("--question", metavar="KEY", help="Only the database of this question."),
    ] = None,
    replace: Annotated[
        str | None,
        typer.Option(
            "--replace",
            metavar="NAMESPACE",
            help="Drop this namespace where it holds something else.",
        ),
    ] = None,
    form: options.Form = "relational",
    strict: options.Strict = False,
    verbose: options.Verbose = False,
    as_json: options.AsJson = False,
) -> None:
    """Load the databases of questions, each into a namespace of its own; what is there stays."""
    from dqa import plugins

    names = None if scenarios is None else options.names_in("--scenarios", scenarios)
    if question is not None:
        names = options.scenario_in(question)
    source = options.Source(release, generated, generate, seed, names, None, form, strict)
    backend = plugins.backend_for(database)
    questions = source.read()
    report_defects(questions.defects, verbose)
    wanted = questions.questions if question is None else (questions.find(question),)
    situations = list({id(s): s for s in map(questions.situation_of, wanted)}.values())
    if backend.embedded and len(situations) > 1:
        raise UsageError(
            f"A file of {backend.name} holds one situation and these are {len(situations)}: name "
            "one with --question."
        )
    done = [_load(backend, situation, database, replace) for situation in shown(situations)]
    if as_json:
        echo_json(done)
        return
    for entry in done:
        typer.echo(f"{entry['namespace']}: {entry['name']}, {entry['rows']} rows, {entry['done']}")


def _load(
    backend: Backend, situation: Situation, location: str, replace: str | None
) -> dict[str, Any]:
    from dqa.databases.namespaces import namespace_for

    before = {held.content_hash for held in _held(backend, location)}
    started = perf_counter()
    backend.load(situation, location, replace).close()
    known = situation.content_hash in before
    return {
        "namespace": location if backend.embedded else namespace_for(situation),
        "scenario": situation.schema.scenario,
        "name": situation.name,
        "content_hash": situation.content_hash,
        "rows": situation.row_count,
        "done": "was there" if known else "loaded",
        "seconds": perf_counter() - started,
    }


def _held(backend: Backend, location: str) -> tuple[Any, ...]:
    try:
        return backend.loaded(location)
    except UsageError:
        if backend.embedded:  # the file is not there yet
            return ()
        raise


def unload(
    *,
    namespaces: Annotated[
        list[str], typer.Argument(metavar="NAMESPACE...", help="As 'dqa list' names it.")
    ],
    database: options.DatabaseLocation,
    as_json: options.AsJson = False,
) -> None:
    """Drop namespaces that 'dqa load' made; nothing else is ever dropped."""
    from dqa import plugins

    backend = plugins.backend_for(database)
    gone = [asdict(backend.unload(database, name)) for name in namespaces]
    if as_json:
        echo_json(gone)
        return
    for entry in gone:
        typer.echo(f"{entry['namespace']}: {entry['name']}, {entry['rows']} rows, unloaded")
