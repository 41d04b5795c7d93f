"""Options that several commands share, and functions that declare and read options."""

from __future__ import annotations

import functools
import inspect
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, get_type_hints

import typer

from dqa.cli.completion import Completion, by_name, one_of
from dqa.cli.help import DATABASES, MODELS, OUTPUT, QUESTIONS
from dqa.core.errors import UsageError
from dqa.core.files import read_text

if TYPE_CHECKING:
    from dqa.api.databases import Access

FormName: TypeAlias = Literal["relational", "graph", "mysql", "postgres"]


def option(  # noqa: PLR0913  (one parameter per property)
    spelling: str,
    group: str,
    text: str | None = None,
    *,
    complete: Completion | None = None,
    least: float | None = None,
    most: float | None = None,
) -> Any:  # noqa: ANN401  (Typer's own)
    """Declare an option for Typer.

    A `spelling` with a placeholder (``--limit N``) takes a value; without one (``--json``) it is
    a flag. Without `text`, the help comes from the docstring of the option's command or class.
    """
    words = spelling.split()
    names = [word for word in words if word.startswith("-")]
    return typer.Option(
        *names,
        metavar=words[-1] if len(words) > len(names) else None,
        help=text,
        rich_help_panel=group,
        autocompletion=complete,
        min=least,
        max=most,
    )


def argument(name: str, text: str | None = None, complete: Completion | None = None) -> Any:  # noqa: ANN401
    """Declare a positional argument for Typer, with help as in `option`."""
    return typer.Argument(metavar=name, help=text, autocompletion=complete)


def descriptions(documented: Any, section: str) -> dict[str, str]:  # noqa: ANN401
    """Return the descriptions in a section of a NumPy docstring, by name."""
    found: dict[str, str] = {}
    rest = (inspect.getdoc(documented) or "").partition(f"\n{section}\n{'-' * len(section)}\n")[2]
    for part in re.split(r"\n(?=\S)", rest.split("\n\n", 1)[0]):
        names, _, text = part.partition("\n")
        found |= dict.fromkeys(names.split(", "), " ".join(text.split()))
    return found


def documented(command: Callable[..., None]) -> Callable[..., None]:
    """Move the descriptions of options from a command's docstring to the options themselves."""
    texts = descriptions(command, "Parameters")
    signature = inspect.signature(command, eval_str=True)
    for name, one in signature.parameters.items():
        describe(one.annotation, texts.get(name))
    command.__doc__ = (inspect.getdoc(command) or "").split("\nParameters\n---")[0]
    command.__annotations__ = {name: one.annotation for name, one in signature.parameters.items()}
    return command


def describe(annotation: Any, text: str | None) -> None:  # noqa: ANN401
    """Set the help of an option if it is not set yet."""
    for one in getattr(annotation, "__metadata__", ()):
        if one.help is None:
            one.help = text


_Command: TypeAlias = Callable[..., None]


def with_options(**bundles: Any) -> Callable[[_Command], _Command]:  # noqa: ANN401
    """Replace parameters of a command by bundles of options.

    Parameters
    ----------
    **bundles
        Bundles by the name of the parameter. A bundle is a `dqa.cli.fields.SpecFields`, a `Record`
        class, or a dataclass of annotated options. The command receives a dictionary of fields
        for `SpecFields`, and otherwise an instance of the class. A command without a parameter of
        that name reads the options from its context. If two bundles declare the same option, the
        command has it once. The command's own parameters take precedence over a bundle's.
    """
    options = {name: _options_of(bundle) for name, bundle in bundles.items()}

    def given_to(command: _Command) -> _Command:
        signature = inspect.signature(command, eval_str=True)
        own = {name: one for name, one in signature.parameters.items() if name not in bundles}

        @functools.wraps(command)
        def taking(**given: Any) -> None:  # noqa: ANN401  (the values of the options)
            made = {
                name: bundles[name](**{one.name: given[one.name] for one in options[name]})
                for name in bundles.keys() & signature.parameters.keys()
            }
            command(**{name: given[name] for name in own}, **made)

        spread: dict[str, inspect.Parameter] = {}
        for one in (*own.values(), *(one for bundle in options.values() for one in bundle)):
            spread.setdefault(one.name, one)
        taking.__signature__ = signature.replace(parameters=[*spread.values()])  # type: ignore[attr-defined]
        taking.__annotations__ = {name: one.annotation for name, one in spread.items()}
        return taking

    return given_to


def _options_of(bundle: Any) -> list[inspect.Parameter]:  # noqa: ANN401  (as in `with_options`)
    if not (isinstance(bundle, type) and is_dataclass(bundle)):
        from dqa.cli.fields import options_of  # specs take a while to import

        return options_of(bundle)
    hints = get_type_hints(bundle, include_extras=True)
    for part in bundle.__mro__:
        for name, text in descriptions(part, "Attributes").items():
            describe(hints.get(name), text)
    return [parameter(one.name, hints[one.name], one.default) for one in fields(bundle)]


def parameter(name: str, annotation: object, default: object) -> inspect.Parameter:
    """Return the parameter of an option."""
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=default, annotation=annotation)


# Databases
_DATABASE_HELP = "Database to read: the URL of a server, a database file, or CSV and Parquet files."
Location = Annotated[str, argument("DATABASE", _DATABASE_HELP)]
DatabaseLocation = Annotated[str, option("--database URL|PATH", DATABASES, _DATABASE_HELP)]
AuditFile = Annotated[
    Path | None,
    option("--audit FILE", DATABASES, "Append every statement and its result to this file."),
]
Policy = Annotated[
    Path | None,
    option(
        "--policy FILE",
        DATABASES,
        "JSON file with the tables, columns and rows that may be read (see docs/guard.md).",
    ),
]


Tables = Annotated[
    str | None,
    option(
        "--tables NAMES",
        DATABASES,
        "Show and read only these tables (in a graph: labels and relationship types), separated "
        "by commas.",
    ),
]


@dataclass(frozen=True, slots=True)
class AccessOptions:
    """Options for the readable part of a database and for the audit of statements."""

    tables: Tables = None
    policy: Policy = None
    audit: AuditFile = None

    def fields(self) -> Access:
        """Return the arguments of `dqa.open_database`."""
        tables = names_in("--tables", self.tables)
        return {"tables": tables, "policy": self.policy, "audit": self.audit}


# Questions
Scenarios = Annotated[
    str | None,
    option(
        "--scenarios NAMES",
        QUESTIONS,
        "Scenarios (names or folders), separated by commas. By default, all scenarios of the "
        "release or folder; with --generate, all scenarios that have a simulator.",
        complete=by_name("scenario", listed=True),
    ),
]
Form = Annotated[
    FormName,
    option(
        "--form relational|graph|mysql|postgres",
        QUESTIONS,
        "Which of the release's files to read: its relational or graph databases, or its variant "
        "for MySQL or PostgreSQL.",
        complete=one_of(("relational", "graph", "mysql", "postgres")),
    ),
]
Strict = Annotated[
    bool,
    option("--strict", QUESTIONS, "Stop at the first defect in the data instead of fixing it."),
]

# Runs
_RUN_HELP = "Run that 'dqa eval --out' wrote: its folder, or STORE#NAME for a run in a store."
Run = Annotated[str, argument("RUN", _RUN_HELP)]
RunOrTrace = Annotated[
    str, argument("RUN", f"{_RUN_HELP} Or the file of one decision, from 'dqa ask --trace'.")
]
RunQuestion = Annotated[
    str | None,
    argument("QUESTION", "SCENARIO/ID of a question. A file of one decision needs none."),
]
Runs = Annotated[
    list[str],
    argument(
        "RUN...", "Runs that 'dqa eval --out' wrote: folders, or STORE#NAME for runs in a store."
    ),
]
OnDatabase = Annotated[
    str | None,
    option(
        "--database NAME",
        DATABASES,
        "Only decisions on this database.",
        complete=by_name("database"),
    ),
]
ByDecider = Annotated[
    str | None,
    option(
        "--decider NAME", MODELS, "Only decisions of this decider.", complete=by_name("decider")
    ),
]
OfScenario = Annotated[
    str | None, option("--scenario NAME", QUESTIONS, "Only questions of this scenario.")
]
QuestionsFolder = Annotated[
    Path | None,
    option("--questions DIR", QUESTIONS, "New folder of the run's questions, if they were moved."),
]
Resume = Annotated[
    str | None,
    option(
        "--resume RUN",
        OUTPUT,
        "Resume this run (a folder or STORE#NAME) with its recorded options; no other option is "
        "needed.",
    ),
]
RetryFailed = Annotated[
    bool,
    option(
        "--retry-failed",
        OUTPUT,
        "Repeat decisions that failed because of a server or a bug. --resume always does this.",
    ),
]
Out = Annotated[
    str | None,
    option(
        "--out DIR|STORE",
        OUTPUT,
        "New folder for the run: results, traces and settings. Or STORE#NAME: a run in a store, "
        "which is a file runs.db or a database URL. Repeat the command to resume the run.",
    ),
]

# Output
Verbose = Annotated[
    bool, option("-v --verbose", OUTPUT, "Show all defects in the data, not only the first ten.")
]
AsJson = Annotated[bool, option("--json", OUTPUT, "Print JSON instead of text.")]


def pairs_in(name: str, given: Iterable[str], example: str = "KEY=VALUE") -> dict[str, str]:
    """Parse ``KEY=VALUE`` texts into a dictionary.

    Raises
    ------
    UsageError
        A text is not ``KEY=VALUE``, or a key is repeated.
    """
    found: dict[str, str] = {}
    for pair in given:
        key, equals, value = pair.partition("=")
        if not key.strip() or not equals:
            raise UsageError(f"{name} {pair} is not of the form {example}.")
        if key.strip() in found:
            raise UsageError(f"{name} sets {key.strip()} twice: set it once.")
        found[key.strip()] = value.strip()
    return found


def names_in(name: str, listed: str | None, *, once: bool = True) -> tuple[str, ...]:
    """Split names separated by commas; None gives (). Raise `UsageError` for an empty list."""
    if listed is None:
        return ()
    found = [part.strip() for part in listed.split(",") if part.strip()]
    if not found:
        raise UsageError(f"{name} is empty: write one or more names, separated by commas.")
    return tuple(dict.fromkeys(found) if once else found)


def nonempty(name: str, text: str | None) -> str:
    """Return a text; None gives "". Raise `UsageError` for an empty text."""
    if text is not None and not text.strip():
        raise UsageError(f"{name} is empty: write a text.")
    return text or ""


def scenarios_in(listed: str | None) -> tuple[str, ...] | None:
    """Return the names in ``--scenarios``; None stands for all scenarios."""
    return names_in("--scenarios", listed) or None


def text_in(name: str, file: Path) -> str:
    """Return the text of a file, or of standard input if the file is ``-``."""
    if str(file) != "-":
        return read_text(file, hint=f"{name} needs a text file.")
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{name}: standard input is not UTF-8 text: {error}.") from error
