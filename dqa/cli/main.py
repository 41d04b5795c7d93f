"""The entry point of `dqa`: it finds the command, imports its module, and reports errors."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypeAlias

import typer
from typer.exceptions import TyperException
from typer.main import get_command, get_group

from dqa import plugins
from dqa.cli.help import Command, Group
from dqa.cli.options import documented
from dqa.core.distribution import own_version
from dqa.core.errors import DqaError, UsageError
from dqa.core.files import describe_file_error
from dqa.core.secrets import redact

_SECTIONS: Mapping[str, Mapping[str, str]] = {
    "Ask your data": {
        "ask": "ask:ask",
        "query": "databases:query",
        "schema": "databases:schema",
        "check": "databases:check",
        "mcp": "ask:mcp",
    },
    "Set up": {
        "init": "databases:init",
        "doctor": "databases:doctor",
        "load": "datasets:load",
        "list": "databases:list_known",
    },
    "Evaluate": {
        "eval": "evaluate:evaluate",
        "runs": "runs:list_runs",
        "show": "runs:show",
        "compare": "runs:compare",
        "analyse": "runs:analyse",
        "report": "runs:report",
        "export": "runs:export",
    },
}
"""The module and function of each command, by section of the help."""
_GROUPS: Mapping[str, Mapping[str, str]] = {
    "data": {
        "generate": "datasets:generate",
        "question": "datasets:show_question",
        "annotate": "datasets:annotate",
        "audit": "datasets:audit",
        "formats": "databases:formats",
    },
    "games": {
        "play": "evaluate:play",
        "tournament": "evaluate:tournament",
        "train": "evaluate:train",
    },
}
"""The module and function of each command in a group."""
_HELP = {
    "": "Decision QA: find the best decision for a question, business rules and a database.",
    "data": "Generate, print and audit questions; describe file formats.",
    "games": "Play games, run tournaments, train players.",
}
_RENAMED = {
    "view": "report",
    "results": "show",
    "trace": "show",
    "copy": "export --format run",
    "unload": "load --drop",
    **{name: f"{group} {name}" for group, names in _GROUPS.items() for name in names},
}
"""The new names of commands that version 0.4 renamed. Version 0.6 removes the old names."""

_LOCATIONS: Mapping[str, Mapping[str, str]] = {
    "": {name: location for found in _SECTIONS.values() for name, location in found.items()},
    **_GROUPS,
}
"""The commands of each group; "" is the name of the group of all other commands."""
_INTERRUPTED = 130
"""The exit code of Typer for Ctrl-C."""
_SETTINGS: dict[str, Any] = {
    "add_completion": False,
    "pretty_exceptions_enable": False,
    "rich_markup_mode": None,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}


@cache
def _command(group: str, name: str) -> Any:  # noqa: ANN401  (Typer's class of commands)
    if name in _LOCATIONS[group]:
        module, _, function = _LOCATIONS[group][name].partition(":")
        alone = typer.Typer(**_SETTINGS)
        called = getattr(import_module(f"dqa.cli.{module}"), function)
        alone.command(name, cls=Command)(documented(called))
        return get_command(alone)
    if group:
        raise KeyError(name)
    if name in _GROUPS:
        found = get_group(typer.Typer(cls=_LazyGroup, help=_HELP[name], **_SETTINGS))
        # Typer only reads the commands.
        found.commands = _Commands(name)  # type: ignore[assignment]
        return found
    if name in _RENAMED:
        raise UsageError(f"'dqa {name}' is now 'dqa {_RENAMED[name]}'.")
    if name not in plugins.names("command"):
        raise KeyError(name)
    return get_group(plugins.command(name))


class _Commands(Mapping[str, Any]):
    """The commands of a group, by name. A command is imported when it is looked up.

    The name of the group is "" for commands that are in no group.
    """

    def __init__(self, group: str = "") -> None:
        self.group = group

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401  (Typer's class of commands)
        return _command(self.group, name)

    def __iter__(self) -> Iterator[str]:
        others = () if self.group else (*_GROUPS, *plugins.names("command"))
        return iter(dict.fromkeys((*_LOCATIONS[self.group], *others)))

    def __len__(self) -> int:
        return sum(1 for _ in self)


class _LazyGroup(Group):
    """A group that lists its commands without importing them."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401  (Typer's own)
        super().__init__(**settings)
        # Typer only reads the commands.
        self.commands = _Commands()  # type: ignore[assignment]

    def sections(self) -> dict[str, list[tuple[str, str]]]:
        """Return the name and the description of each command, by section of the help."""
        group = self.commands.group  # type: ignore[attr-defined]
        ours = {"Commands": _GROUPS[group]} if group else _SECTIONS
        found = {
            title: [(name, _summary(*location.split(":"))) for name, location in locations.items()]
            for title, locations in ours.items()
        }
        if not group:
            names = plugins.names("command")
            known = {name: _description(name) for name in names}
            found["Groups"] = [(name, (_HELP | known)[name]) for name in (*_GROUPS, *known)]
        return found


def _summary(module: str, function: str) -> str:
    """Return the first paragraph of a function's docstring without importing its module."""
    file = Path(__file__).with_name(f"{module}.py")
    source = file.read_text("utf-8") if file.is_file() else ""
    body = source.partition(f"\ndef {function}(")[2]
    return _first_paragraph(body.partition('"""')[2].partition('"""')[0])


def _description(name: str) -> str:
    """Return the first paragraph of the docstring of a plug-in without importing its module."""
    try:
        docstring = ast.get_docstring(ast.parse(plugins.command_file(name).read_bytes()))
    except Exception:  # noqa: BLE001  (a package can be broken in any way)
        docstring = None
    return _first_paragraph(docstring or f"Commands of {name}.")


def _first_paragraph(text: str) -> str:
    return " ".join(text.partition("\n\n")[0].split())


app = typer.Typer(
    name="dqa",
    cls=_LazyGroup,
    help=_HELP[""],
    no_args_is_help=True,
    **(_SETTINGS | {"add_completion": True}),
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dqa {own_version()}")
        raise typer.Exit


_Version: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
    ),
]


@app.callback()
def _options(version: _Version = False) -> None:
    """Decision QA: find the best decision for a question, business rules and a database."""


def run() -> None:
    """Run the command line.

    An expected error, such as an error of a file, is printed as one line on stderr. For a bug, the
    traceback is printed. The exit code is 0 for success, 1 if something failed or could not be
    judged, and 2 for wrong usage. `dqa.__main__` handles Ctrl-C and exits with 130.
    """
    for stream in (sys.stdout, sys.stderr):
        # Without this, printing fails on a terminal without Unicode.
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
    """Run the command, then flush its output, so that an error of writing is still reported."""
    try:
        code = app(standalone_mode=False)
    except TyperException as found:
        error: Any = found  # wrong usage: Typer defines its message and `show` in a private class
        error.message = redact(error.message)
        error.show()
        code = error.exit_code
    if code == _INTERRUPTED:
        raise KeyboardInterrupt
    sys.stdout.flush()
    sys.exit(code)


def _drop_unwritable_output() -> None:
    """Discard the buffered output if standard output cannot be written."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _exit_with(problem: str, code: int) -> NoReturn:
    from dqa.core.text import visible

    typer.echo(f"error: {visible(redact(' '.join(problem.split())))}", err=True)
    sys.exit(code)
