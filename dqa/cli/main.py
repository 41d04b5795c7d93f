"""The command `dqa`: its commands, and how errors reach the user.

A command's module is imported when the command is called, so that help and short commands wait for
nothing that they do not need.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer
from typer.main import get_command, get_group

from dqa import plugins
from dqa.cli.help import OUTPUT, Command, Group
from dqa.core.distribution import own_version
from dqa.core.errors import DqaError
from dqa.core.files import describe_file_error

_COMMANDS: Mapping[str, tuple[str, str]] = {
    "eval": (
        "evaluate:evaluate",
        "Let deciders decide questions on databases, and print how often each was right.",
    ),
    "generate": (
        "generate:generate",
        "Generate questions and their databases into a new folder, in the release's own layout.",
    ),
    "show": ("show:show", "Print a question, its rules, its database's schema and its answer."),
    "trace": (
        "trace:trace",
        "Show what a decider did, step by step, and what its decision is worth.",
    ),
    "play": (
        "play:play",
        "Let a player play games, and print what it got, with intervals.",
    ),
    "tournament": (
        "tournament:tournament",
        "Let players play every opponent, and print a paper's tables with the figures beside.",
    ),
    "runs": (
        "run_list:list_runs",
        "List the runs below folders and in stores: what was evaluated, and how much is right.",
    ),
    "copy": (
        "copying:copy",
        "Copy a run from a folder into a store, from a store into a folder, or into another one.",
    ),
    "results": (
        "results:results",
        "Print the table of a stored run again, or list its decisions: the wrong, what failed.",
    ),
    "compare": (
        "compare:compare",
        "Compare deciders, of one run or several, on the questions that they share.",
    ),
    "analyse": (
        "analyse:analyse",
        "Measure a run's traces: retrievals, re-plannings, missed data and classes of failures.",
    ),
    "report": (
        "report:report",
        "Write runs as one self-contained page: figures, charts, questions and traces.",
    ),
    "view": (
        "view:view",
        "Serve the report of runs to this machine, live while they go on, until Ctrl-C.",
    ),
    "export": (
        "export:export",
        "Write a run for other programs: a row a decision, or logs that 'inspect view' opens.",
    ),
    "ask": (
        "ask:ask",
        "Ask one question about any database; exit code 1 where it ends without an answer.",
    ),
    "init": (
        "init:init",
        "Propose a scenario's folder from a database: tables, rules, question and statements.",
    ),
    "schema": (
        "schema:schema",
        "Print what a model is shown of a database: tables, columns, keys; or labels and types.",
    ),
    "query": (
        "query:query",
        "Run one read-only statement as an agent's would run: checked, bounded and audited.",
    ),
    "mcp": (
        "mcp:mcp",
        "Let agents read databases by the Model Context Protocol: checked, bounded and audited.",
    ),
    "check": (
        "check:check",
        "Say of every statement of files whether it only reads and may run.",
    ),
    "annotate": (
        "annotate:annotate",
        "Simulate every candidate of every question, and print the best beside the label.",
    ),
    "audit": (
        "audit:audit",
        "Judge every official label under every rule set, and say what it rests on.",
    ),
    "train": (
        "train:train",
        "Train players of a world, and keep them for games to come.",
    ),
    "list": (
        "listing:list_known",
        "List scenarios, deciders, databases, simulators and models; or what a database holds.",
    ),
    "load": (
        "loading:load",
        "Load the databases of questions, each into a namespace of its own; what is there stays.",
    ),
    "unload": (
        "loading:unload",
        "Drop namespaces that 'dqa load' made; nothing else is ever dropped.",
    ),
    "doctor": (
        "doctor:doctor",
        "Say which databases work, which are broken, and which are not set up.",
    ),
    "formats": (
        "formats:formats",
        "List the formats of what commands write, or print the JSON Schema of one.",
    ),
}
"""By name, where a command is and what it does: the first sentence of its docstring."""

_SETTINGS: dict[str, Any] = {
    "add_completion": False,
    "pretty_exceptions_enable": False,
    "rich_markup_mode": None,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}


class _Commands(MutableMapping[str, Any]):
    """Every command by name, made when it is asked for: ours, then those of methods."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401  (Typer's class of commands)
        if name not in self._made:
            self._made[name] = _made(name)
        return self._made[name]

    def __setitem__(self, name: str, command: Any) -> None:  # noqa: ANN401
        self._made[name] = command

    def __delitem__(self, name: str) -> None:
        del self._made[name]

    def __iter__(self) -> Iterator[str]:
        yield from dict.fromkeys((*_COMMANDS, *plugins.names("command"), *self._made))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _made(name: str) -> Any:  # noqa: ANN401
    if name not in _COMMANDS:
        if name not in plugins.names("command"):
            raise KeyError(name)
        return get_group(plugins.command(name))
    module, function = _COMMANDS[name][0].split(":")
    alone = typer.Typer(**_SETTINGS)
    alone.command(name, cls=Command)(getattr(import_module(f"dqa.cli.{module}"), function))
    return get_command(alone)


class _LazyGroup(Group):
    """A group that imports a command where that is called, and none to list them."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401  (Typer's own)
        super().__init__(**settings)
        self.commands = _Commands()

    def described(self) -> Iterator[tuple[str, str]]:
        """Yield every command with what it does, without importing any."""
        for name in self.commands:
            yield (
                name,
                _COMMANDS[name][1] if name in _COMMANDS else f"What belongs to {name} alone.",
            )


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
            help="Print the version and leave.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
) -> None:
    """Decision QA: the best decision for a question, business rules and a database."""


def run() -> None:
    """Run the command line: an expected error is one line on stderr, a bug its traceback.

    What the system says of a file or a disk is one of the expected. Exit codes: 0 done, 1 something
    failed or could not be judged, 2 asked for something that cannot be; an interrupt goes on to
    `dqa.__main__`, which ends with 130.
    """
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        # A terminal without Unicode must not turn an answer into a crash.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        with _measured():
            app()
    except SystemExit as ended:
        if isinstance(getattr(ended.__context__, "__cause__", None), KeyboardInterrupt):
            raise KeyboardInterrupt from None  # which Typer makes a silent exit of
        sys.stdout.flush()  # here, where a reader that has gone can still be told from a bug
        raise
    except DqaError as error:
        _leave(" ".join([str(error), *getattr(error, "__notes__", ())]), error.exit_code)
    except OSError as error:
        problem = None if isinstance(error, BrokenPipeError) else describe_file_error(error)
        if problem is None:
            raise
        _drop_what_cannot_be_written()
        _leave(problem, 1)


def _open_closed_streams() -> None:
    """Point at nothing each standard stream that whoever started this had closed.

    Else the next file or socket that is opened gets the stream's number, 0 to 2, and what is meant
    for the stream goes there. Processes that are started inherit it, for the same reason.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            nothing = open(os.devnull, mode, encoding="utf-8")  # noqa: PTH123, SIM115
            os.set_inheritable(nothing.fileno(), True)
            setattr(sys, name, nothing)


def _measured() -> AbstractContextManager[object]:
    """Return what sends spans, where OpenTelemetry's settings ask for them."""
    if not any(name.startswith("OTEL_") for name in os.environ):
        return nullcontext()  # and nothing is imported
    from dqa.api.telemetry import export_spans

    return export_spans()


def _drop_what_cannot_be_written() -> None:
    """Point standard output at nothing where it takes no more: the end would try, and complain."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _leave(problem: str, code: int) -> NoReturn:
    from dqa.core.secrets import redact
    from dqa.core.text import visible

    typer.echo(f"error: {visible(redact(' '.join(problem.split())))}", err=True)
    sys.exit(code)
