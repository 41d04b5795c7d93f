"""The command `dqa`: its commands, and how errors reach the user."""

from __future__ import annotations

import sys
from importlib.metadata import version
from typing import Annotated

import typer

from dqa.cli import (
    analyse,
    annotate,
    ask,
    audit,
    check,
    doctor,
    evaluate,
    generate,
    listing,
    loading,
    show,
    trace,
)
from dqa.core.errors import DqaError
from dqa_dellma.commands import main as dellma

__all__ = ["app", "run"]

app = typer.Typer(
    name="dqa",
    help="Decision QA: the best decision for a question, business rules and a database.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("eval")(evaluate.evaluate)
app.command("generate")(generate.generate)
app.command("show")(show.show)
app.command("trace")(trace.trace)
app.command("analyse")(analyse.analyse)
app.command("ask")(ask.ask)
app.command("check")(check.check)
app.command("annotate")(annotate.annotate)
app.command("audit")(audit.audit)
app.command("list")(listing.list_known)
app.command("load")(loading.load)
app.command("unload")(loading.unload)
app.command("doctor")(doctor.doctor)
app.add_typer(dellma.app, name="dellma")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dqa {version('dqa')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and leave."
        ),
    ] = False,
) -> None:
    """Decision QA: the best decision for a question, business rules and a database."""


def run() -> None:
    """Run the command line: an expected error is one line on stderr, a bug its traceback.

    Exit codes: 0 done, 1 failed, 2 asked for something that cannot be, 130 interrupted.
    """
    for stream in (sys.stdout, sys.stderr):
        # A terminal without Unicode must not turn an answer into a crash.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        app()
    except DqaError as error:
        from dqa.core.secrets import redact

        typer.echo(f"error: {redact(' '.join(str(error).split()))}", err=True)
        sys.exit(error.exit_code)
