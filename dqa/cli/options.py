"""Options that several commands share, and how they are declared and read."""

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
    """Return an option: ``--limit N`` names it and its value, ``--json`` is a flag.

    Without a text, the option is described in the docstring of its command or class.
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
    """Return an argument, described in the same way."""
    return typer.Argument(metavar=name, help=text, autocompletion=complete)


def descriptions(documented: Any, section: str) -> dict[str, str]:  # noqa: ANN401
    """Return the texts in a section of a NumPy docstring, by name."""
    found: dict[str, str] = {}
    rest = (inspect.getdoc(documented) or "").partition(f"\n{section}\n{'-' * len(section)}\n")[2]
    for part in re.split(r"\n(?=\S)", rest.split("\n\n", 1)[0]):
        names, _, text = part.partition("\n")
        found |= dict.fromkeys(names.split(", "), " ".join(text.split()))
    return found


def documented(command: Callable[..., None]) -> Callable[..., None]:
    """Describe the options of a command as its docstring does, and shorten its help."""
    texts = descriptions(command, "Parameters")
    signature = inspect.signature(command, eval_str=True)
    for name, one in signature.parameters.items():
        describe(one.annotation, texts.get(name))
    command.__doc__ = (inspect.getdoc(command) or "").split("\nParameters\n---")[0]
    command.__annotations__ = {name: one.annotation for name, one in signature.parameters.items()}
    return command


def describe(annotation: Any, text: str | None) -> None:  # noqa: ANN401
    """Set the help of an option that has none."""
    for one in getattr(annotation, "__metadata__", ()):
        if one.help is None:
            one.help = text


_Command: TypeAlias = Callable[..., None]


def with_options(**bundles: Any) -> Callable[[_Command], _Command]:  # noqa: ANN401
    """Give a command the options of a bundle in place of the parameter of that name.

    Parameters
    ----------
    **bundles
        By parameter: some `dqa.cli.fields.SpecFields`, which the command gets as fields of a spec;
        or a `Record` or a dataclass of annotated options, which it gets. A command without that
        parameter reads the options from its context. An option of two bundles is one option, and a
        parameter of the command replaces that of a bundle.
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
Location = Annotated[str, argument("DATABASE", "A URL, a file, or CSV and Parquet files.")]
DatabaseLocation = Annotated[
    str, option("--database URL|PATH", DATABASES, "A URL, a file, or CSV and Parquet files.")
]
AuditFile = Annotated[
    Path | None,
    option("--audit FILE", DATABASES, "File to append every statement and its result to."),
]
Policy = Annotated[
    Path | None,
    option("--policy FILE", DATABASES, "JSON file of the readable data; docs/guard.md."),
]


Tables = Annotated[
    str | None,
    option(
        "--tables NAMES",
        DATABASES,
        "The only tables, separated by commas, that are shown and may be read; of a graph, labels "
        "and relationship types.",
    ),
]


@dataclass(frozen=True, slots=True)
class AccessOptions:
    """The readable part of a database, and the audit of its statements."""

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
        "Scenarios, by name or folder, separated by commas; by default all of a release or folder, "
        "and those with a simulator for generated questions.",
        complete=by_name("scenario", listed=True),
    ),
]
Form = Annotated[
    FormName,
    option(
        "--form relational|graph|mysql|postgres",
        QUESTIONS,
        "Which files of a release to read its databases from.",
        complete=one_of(("relational", "graph", "mysql", "postgres")),
    ),
]
Strict = Annotated[
    bool,
    option("--strict", QUESTIONS, "Stop at the first defect of the data instead of fixing it."),
]

# Runs
Run = Annotated[str, argument("RUN", "Folder or STORE#NAME of 'dqa eval --out'.")]
RunOrTrace = Annotated[
    str, argument("RUN", "Folder or STORE#NAME of 'dqa eval --out', or file of 'dqa ask --trace'.")
]
RunQuestion = Annotated[str | None, argument("QUESTION", "SCENARIO/ID; not needed for a file.")]
Runs = Annotated[list[str], argument("RUN...", "Runs of 'dqa eval --out': folders, or STORE#NAME.")]
OnDatabase = Annotated[
    str | None,
    option(
        "--database NAME",
        DATABASES,
        "Only the decisions on this database.",
        complete=by_name("database"),
    ),
]
ByDecider = Annotated[
    str | None,
    option("--decider NAME", MODELS, "Only this decider's decisions.", complete=by_name("decider")),
]
OfScenario = Annotated[
    str | None, option("--scenario NAME", QUESTIONS, "Only the questions of this scenario.")
]
QuestionsFolder = Annotated[
    Path | None,
    option("--questions DIR", QUESTIONS, "Folder of the run's questions, if it was moved."),
]
Resume = Annotated[
    str | None,
    option("--resume RUN", OUTPUT, "Resume this run as it began; needs no other option."),
]
RetryFailed = Annotated[
    bool,
    option(
        "--retry-failed",
        OUTPUT,
        "Repeat decisions that a failing server or a bug ended; --resume does.",
    ),
]
Out = Annotated[
    str | None,
    option(
        "--out DIR|STORE",
        OUTPUT,
        "New folder for results, traces and settings; or a store, runs.db or a database's URL, "
        "with #NAME for the run. The same command resumes it.",
    ),
]

# Output
Verbose = Annotated[
    bool, option("-v --verbose", OUTPUT, "Show every defect of the data, not the first ten.")
]
AsJson = Annotated[bool, option("--json", OUTPUT, "Print JSON instead of text.")]


def pairs_in(name: str, given: Iterable[str], example: str = "KEY=VALUE") -> dict[str, str]:
    """Return values by name, in order; `UsageError` for a repeated name or one without a value."""
    found: dict[str, str] = {}
    for pair in given:
        key, equals, value = pair.partition("=")
        if not key.strip() or not equals:
            raise UsageError(f"{name} {pair}: write {example}.")
        if key.strip() in found:
            raise UsageError(f"{name} {key.strip()} is set twice: set it once.")
        found[key.strip()] = value.strip()
    return found


def names_in(name: str, listed: str | None, *, once: bool = True) -> tuple[str, ...]:
    """Return the names of a list separated by commas, () for None; refuse an empty list."""
    if listed is None:
        return ()
    found = [part.strip() for part in listed.split(",") if part.strip()]
    if not found:
        raise UsageError(f"{name} names nothing: give one or more names, separated by commas.")
    return tuple(dict.fromkeys(found) if once else found)


def nonempty(name: str, text: str | None) -> str:
    """Return a text, "" for None; refuse an empty one."""
    if text is not None and not text.strip():
        raise UsageError(f"{name} is empty: write a text.")
    return text or ""


def scenarios_in(listed: str | None) -> tuple[str, ...] | None:
    """Return the names in ``--scenarios``; None for all."""
    return names_in("--scenarios", listed) or None


def text_in(name: str, file: Path) -> str:
    """Return the text of a file, or of standard input for ``-``."""
    if str(file) != "-":
        return read_text(file, hint=f"{name} names a text file.")
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{name}: standard input is not UTF-8 text: {error}.") from error
