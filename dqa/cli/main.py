"""The command `dqa`: its commands, and how errors reach the user.

The module of a command is imported when the command is called.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Annotated, Any, NoReturn

import typer
from typer.main import get_command, get_group

from dqa import plugins
from dqa.cli.help import OUTPUT, Command, Group
from dqa.cli.options import documented
from dqa.core.distribution import own_version
from dqa.core.errors import DqaError, UsageError
from dqa.core.files import describe_file_error

_MODULES: Mapping[str, str] = {
    "evaluate": "eval play tournament train",
    "datasets": "generate show annotate audit load unload",
    "runs": "runs copy results trace export compare analyse report",
    "ask": "ask",
    "databases": "query schema check init doctor list formats",
    "agents": "mcp",
}
"""The commands of each module, in the order of the help."""
_COMMANDS = {name: module for module, names in _MODULES.items() for name in names.split()}
_REMOVED = {"view": "report"}
"""The commands that replace removed ones."""
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
    if name in _REMOVED:
        raise UsageError(f"'dqa {name}' was removed: use 'dqa {_REMOVED[name]}'.")
    if name not in _COMMANDS:
        if name not in plugins.names("command"):
            raise KeyError(name)
        return get_group(plugins.command(name))
    module = import_module(f"dqa.cli.{_COMMANDS[name]}")
    function = getattr(module, _FUNCTIONS.get(name, name))
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
        sentences = {name: text for module in _MODULES for name, text in _sentences(module)}
        for name in self.commands:
            yield name, sentences.get(_FUNCTIONS.get(name, name), f"Commands of {name}.")


def _sentences(module: str) -> Iterator[tuple[str, str]]:
    """Yield the functions of a module with the first sentence of their docstrings; import none."""
    source = files("dqa.cli").joinpath(f"{module}.py").read_text("utf-8")
    for one in ast.parse(source).body:
        if isinstance(one, ast.FunctionDef):
            yield one.name, " ".join((ast.get_docstring(one) or "").split("\n\n")[0].split())


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
