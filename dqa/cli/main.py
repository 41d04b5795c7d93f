"""The command `dqa`: its commands, and how errors reach the user.

The module of a command is imported when the command is called.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer
from typer.main import get_command, get_group

from dqa import plugins
from dqa.cli.help import OUTPUT, Command, Group
from dqa.cli.options import documented
from dqa.core.distribution import own_version
from dqa.core.errors import DqaError
from dqa.core.files import describe_file_error

_COMMANDS: Mapping[str, str] = {
    "eval": "Let deciders decide questions on databases, and print how often each was right.",
    "generate": "Generate questions and their databases into a new folder, as in the release.",
    "show": "Print a question, its rules, its database's schema and its answer.",
    "trace": "Show what a decider did, step by step, and what its decision is worth.",
    "play": "Let a player play games, and print its results with intervals.",
    "tournament": "Let players play every opponent, and print a paper's tables and our figures.",
    "runs": "List the runs below folders and in stores: what was evaluated, and how much is right.",
    "copy": "Copy a run from a folder into a store, from a store into a folder, or into another "
    "one.",
    "results": "Print the table of a stored run again, or list its decisions.",
    "compare": "Compare deciders, of one run or several, on the questions that they share.",
    "analyse": "Measure a run's traces: retrievals, re-plannings, missed data and classes of "
    "failures.",
    "report": "Write runs as one self-contained page: figures, charts, questions and traces.",
    "view": "Serve the report of runs to this machine, live, until Ctrl-C.",
    "export": "Write a run for other programs: a row per decision, or logs for 'inspect view'.",
    "ask": "Ask one question about any database; exit code 1 if it ends without an answer.",
    "init": "Propose a scenario's folder from a database: tables, rules, question and statements.",
    "schema": "Print the schema of a database as a model sees it.",
    "query": "Run one read-only statement as an agent's would run: checked, bounded and audited.",
    "mcp": "Let agents read databases by the Model Context Protocol: checked, bounded and audited.",
    "check": "Report for every statement of files whether it only reads and may run.",
    "annotate": "Simulate every candidate of every question, and print the best and the label.",
    "audit": "Judge every official label under every rule set, and explain the verdict.",
    "train": "Train players of a world, and store them for later games.",
    "list": "List scenarios, deciders, databases, simulators and models; or a database's contents.",
    "load": "Load the databases of questions, each into its own namespace.",
    "unload": "Drop namespaces that 'dqa load' made; nothing else is ever dropped.",
    "doctor": "Report which databases work, which are broken, and which are not set up.",
    "formats": "List the formats of what commands write, or print the JSON Schema of one.",
}
"""Every command with the first sentence of its docstring."""

_MODULES: Mapping[str, str] = {
    "evaluate": "eval",
    "ask": "ask",
    "mcp": "mcp",
    "games": "play tournament train",
    "runs": "runs copy results trace export",
    "reports": "compare analyse report view",
    "databases": "query schema check doctor init",
    "datasets": "generate show annotate audit load unload",
    "listing": "list formats",
}
"""The commands of each module."""
_FUNCTIONS = {"eval": "evaluate", "list": "list_known", "runs": "list_runs"}
"""Functions of commands with another name."""

_SETTINGS: dict[str, Any] = {
    "add_completion": False,
    "pretty_exceptions_enable": False,
    "rich_markup_mode": None,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}


@cache
def _command(name: str) -> Any:  # noqa: ANN401  (Typer's class of commands)
    if name not in _COMMANDS:
        if name not in plugins.names("command"):
            raise KeyError(name)
        return get_group(plugins.command(name))
    module = next(module for module, names in _MODULES.items() if name in names.split())
    function = getattr(import_module(f"dqa.cli.{module}"), _FUNCTIONS.get(name, name))
    alone = typer.Typer(**_SETTINGS)
    alone.command(name, cls=Command)(documented(function))
    return get_command(alone)


class _Commands(Mapping[str, Any]):
    """Every command by name, imported on access: ours, then those of methods."""

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401  (Typer's class of commands)
        return _command(name)

    def __iter__(self) -> Iterator[str]:
        yield from dict.fromkeys((*_COMMANDS, *plugins.names("command")))

    def __len__(self) -> int:
        return sum(1 for _ in self)


class _LazyGroup(Group):
    """A group that lists its commands without importing them."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401  (Typer's own)
        super().__init__(**settings)
        # Typer only reads it.
        self.commands = _Commands()  # type: ignore[assignment]

    def described(self) -> Iterator[tuple[str, str]]:
        """Yield every command with its description."""
        for name in self.commands:
            yield name, _COMMANDS.get(name, f"Commands of {name}.")


app = typer.Typer(
    name="dqa",
    cls=_LazyGroup,
    help="Decision QA: the best decision for a question, business rules and a database.",
    no_args_is_help=True,
    **(_SETTINGS | {"add_completion": True}),
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dqa {own_version()}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Print the version and exit.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
) -> None:
    """Decision QA: the best decision for a question, business rules and a database."""


def run() -> None:
    """Run the command line: an expected error is one line on stderr, a bug its traceback.

    An error of a file or a disk is expected. Exit codes: 0 done, 1 something failed or could not be
    judged, 2 wrong usage; an interrupt goes to `dqa.__main__`, which exits with 130.
    """
    for stream in (sys.stdout, sys.stderr):
        # A terminal without Unicode must not turn an answer into a crash.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        with _telemetry():
            _run_app()
    except DqaError as error:
        _exit_with(" ".join([str(error), *getattr(error, "__notes__", ())]), error.exit_code)
    except OSError as error:
        problem = None if isinstance(error, BrokenPipeError) else describe_file_error(error)
        if problem is None:
            raise
        _drop_unwritable_output()
        _exit_with(problem, 1)


def _run_app() -> None:
    """Run the command, and write what its output buffers while an error can still be reported."""
    try:
        app()
    except SystemExit as ended:
        if isinstance(getattr(ended.__context__, "__cause__", None), KeyboardInterrupt):
            raise KeyboardInterrupt from None  # Typer turns it into a silent exit
        sys.stdout.flush()
        raise


def _telemetry() -> AbstractContextManager[object]:
    """Return the exporter of spans, if OpenTelemetry's settings ask for one."""
    if not any(name.startswith("OTEL_") for name in os.environ):
        return nullcontext()  # and nothing is imported
    from dqa.api.telemetry import export_spans

    return export_spans()


def _drop_unwritable_output() -> None:
    """Discard the rest of standard output if it cannot be written."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _exit_with(problem: str, code: int) -> NoReturn:
    from dqa.core.secrets import redact
    from dqa.core.text import visible

    typer.echo(f"error: {visible(redact(' '.join(problem.split())))}", err=True)
    sys.exit(code)
