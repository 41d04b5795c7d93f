"""Options that several commands share, and functions that declare and read options.

A command declares an option by a parameter with a type. The placeholder and the help of the option
come from the command's docstring (``out : DIR``), and its group from `dqa.cli.help.GROUP_OF`.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, get_args, get_origin

import typer
from annotated_types import Ge
from typer.models import ArgumentInfo, OptionInfo

from dqa.cli.help import DATABASES, GROUP_OF, OUTPUT
from dqa.core.docstrings import Described, descriptions
from dqa.core.errors import UsageError
from dqa.core.files import read_text

if TYPE_CHECKING:
    from dqa.api.databases import Access

FormName: TypeAlias = Literal["relational", "graph", "mysql", "postgres"]
Count: TypeAlias = Annotated[int, Ge(1)]
Seed: TypeAlias = Annotated[int, Ge(0)]
CountOrNone: TypeAlias = Annotated[int | None, Ge(1)]

_SPELLINGS = {"settings": "set", "question_set": "name", "own": "questions"}
"""The spellings of options that differ from the names of their parameters."""
_PLACEHOLDERS = {int: "N", float: "X", Path: "FILE", bool: ""}


def option(
    spelling: str,
    group: str,
    text: str | None = None,
    *,
    least: float | None = None,
    most: float | None = None,
) -> Any:  # noqa: ANN401  (Typer's own)
    """Declare an option for Typer.

    If the `spelling` has a placeholder (``--limit N``), the option takes a value. Without a
    placeholder (``--json``), it is a flag. Without `text`, the help comes from the docstring of the
    command or class that has the option.
    """
    words = spelling.split()
    names = [word for word in words if word.startswith("-")]
    metavar = words[-1] if len(words) > len(names) else None
    return typer.Option(
        *names, metavar=metavar, help=text, rich_help_panel=group, min=least, max=most
    )


def argument(name: str, text: str | None = None) -> Any:  # noqa: ANN401
    """Declare a positional argument for Typer. `text` is its help, as for `option`."""
    return typer.Argument(metavar=name, help=text)


def declared(
    name: str,
    annotation: Any,  # noqa: ANN401  (a type)
    described: Described | None,
    group: str = OUTPUT,
) -> Any:  # noqa: ANN401  (as above)
    """Return the type of a parameter with the declaration of its option.

    Parameters
    ----------
    name
        The name of the parameter. The option has the same name without the prefix ``as_``.
    annotation
        The type of the parameter, with its bounds. If it already declares an option, only missing
        help is added.
    described
        The help and the placeholder. A missing placeholder is derived from the type. If this is
        None, both come from the option that sets the spec's field of this name.
    group
        The group of the option in the help, if `GROUP_OF` does not contain the option.
    """
    kind, *extra = get_args(annotation) if get_origin(annotation) is Annotated else (annotation,)
    for one in extra:
        if isinstance(one, OptionInfo | ArgumentInfo):
            one.help = one.help or (described.text if described else None)
            return annotation
    if described is None:
        from dqa.cli.fields import spec_option  # specs take a while to import

        found = get_args(spec_option(name)[0])[1]
        described = Described(found.help, found.metavar)
    text, placeholder = described
    parts = (kind, *get_args(kind))
    if placeholder is None:
        choices = get_args(kind) if get_origin(kind) is Literal else ()
        usual = (_PLACEHOLDERS[part] for part in parts if part in _PLACEHOLDERS)
        placeholder = "|".join(choices) or next(usual, "TEXT")
    spelled = _SPELLINGS.get(name, name).removeprefix("as_").replace("_", "-")
    both = f"/--no-{spelled}" if bool in parts and kind is not bool else ""
    least, most = (
        next((getattr(one, bound) for one in extra if hasattr(one, bound)), None)
        for bound in ("ge", "le")
    )
    spelling = f"--{spelled}{both} {placeholder}"
    group = GROUP_OF.get(name, group)
    return Annotated[kind, option(spelling, group, text, least=least, most=most)]


_Command: TypeAlias = Callable[..., None]


def with_options(*bundles: Any) -> Callable[[_Command], _Command]:  # noqa: ANN401
    """Add bundles of options that the command reads from its context.

    Parameters
    ----------
    *bundles
        A bundle is a `Record` class or dataclass of options, or a `dqa.cli.fields.SpecFields`. If
        an option occurs twice, it is added once. The command's own parameters take precedence.
    """

    def note(command: _Command) -> _Command:
        command.bundles = bundles  # type: ignore[attr-defined]
        return command

    return note


def documented(command: _Command) -> _Command:
    """Return a command for Typer. Its docstring and its bundles describe its options.

    A parameter whose type is a bundle class receives an instance of this class.
    """
    texts = descriptions(command, "Parameters")
    parameters = inspect.signature(command, eval_str=True).parameters
    parsed: dict[str, list[inspect.Parameter]] = {}
    own: dict[str, inspect.Parameter] = {}
    for name, one in parameters.items():
        kind = one.annotation
        if is_dataclass(kind) or hasattr(kind, "model_fields"):
            parsed[name] = _options_of(kind)
        else:
            is_option = kind is not typer.Context
            kind = declared(name, kind, texts.get(name)) if is_option else kind
            own[name] = one.replace(annotation=kind)
    read = map(_options_of, getattr(command, "bundles", ()))
    spread = dict(own)
    for one in chain(*read, *parsed.values()):
        spread.setdefault(one.name, one)

    def run(**values: Any) -> None:  # noqa: ANN401  (the values of the options)
        bundles = {
            name: parameters[name].annotation(**{one.name: values[one.name] for one in options})
            for name, options in parsed.items()
        }
        command(**{name: values[name] for name in own}, **bundles)

    run.__name__ = command.__name__
    run.__doc__ = (inspect.getdoc(command) or "").split("\nParameters\n---")[0]
    run.__annotations__ = {name: one.annotation for name, one in spread.items()}
    run.__signature__ = inspect.Signature([*spread.values()])  # type: ignore[attr-defined]
    return run


def _options_of(bundle: Any) -> list[inspect.Parameter]:  # noqa: ANN401  (as in `with_options`)
    if not (isinstance(bundle, type) and is_dataclass(bundle)):
        from dqa.cli.fields import options_of  # specs take a while to import

        return options_of(bundle)
    kinds: dict[str, Any] = {}
    for part in bundle.__mro__:
        texts = descriptions(part, "Attributes")
        kinds |= {
            name: declared(name, kind, texts.get(name))
            for name, kind in inspect.get_annotations(part, eval_str=True).items()
        }
    return [parameter(one.name, kinds[one.name], one.default) for one in fields(bundle)]


def parameter(name: str, annotation: object, default: object) -> inspect.Parameter:
    """Return the function parameter that declares an option."""
    kind = inspect.Parameter.KEYWORD_ONLY
    default = inspect.Parameter.empty if default is MISSING else default
    return inspect.Parameter(name, kind, default=default, annotation=annotation)


# Databases
_DATABASE_HELP = "Database to read: the URL of a server, a database file, or CSV and Parquet files."
Location = Annotated[str, argument("DATABASE", _DATABASE_HELP)]
DatabaseLocation = Annotated[str, option("--database URL|PATH", DATABASES, _DATABASE_HELP)]


@dataclass(frozen=True, slots=True)
class AccessOptions:
    """Options for the readable part of a database and for the audit of statements.

    Attributes
    ----------
    tables : NAMES
        Show and read only these tables (in a graph: labels and relationship types), separated by
        commas.
    policy
        JSON file with the tables, columns and rows that may be read (see docs/guard.md).
    audit
        Append every statement and its result to this file.
    """

    tables: str | None = None
    policy: Path | None = None
    audit: Path | None = None

    def fields(self) -> Access:
        """Return the arguments of `dqa.open_database`."""
        tables = names_in("--tables", self.tables)
        return {"tables": tables, "policy": self.policy, "audit": self.audit}


# Runs
_RUN_HELP = "Run that 'dqa eval --out' wrote: its folder, or STORE#NAME for a run in a store."
_RUNS_HELP = "Runs that 'dqa eval --out' wrote: folders, or STORE#NAME for runs in a store."
Run = Annotated[str, argument("RUN", _RUN_HELP)]
Runs = Annotated[list[str], argument("RUN...", _RUNS_HELP)]


@dataclass(frozen=True, slots=True)
class DecisionOptions:
    """Arguments and options that select decisions of a run.

    Attributes
    ----------
    run
        Run that 'dqa eval --out' wrote: its folder, or STORE#NAME for a run in a store. Or the file
        of one decision, from 'dqa ask --trace'.
    question
        SCENARIO/ID of a question. Leave it out for a file of one decision.
    database : NAME
        Only decisions on this database.
    decider : NAME
        Only decisions of this decider.
    """

    run: Annotated[str, argument("RUN")]
    question: Annotated[str | None, argument("QUESTION")] = None
    database: str | None = None
    decider: str | None = None

    def where(self) -> tuple[str | None, str | None, str | None]:
        """Return the question, the database and the decider."""
        return self.question, self.database, self.decider


@dataclass(frozen=True, slots=True)
class StoringOptions:
    """Options for the location of a run.

    Attributes
    ----------
    out : DIR|STORE
        New folder for the results, traces and settings of the run, or STORE#NAME for a run in a
        store. A store is a file such as runs.db, or a database URL. Repeat the command to resume
        the run.
    retry_failed
        Repeat decisions that failed because of a server or a bug.
    """

    out: str | None = None
    retry_failed: bool = False


@dataclass(frozen=True, slots=True)
class ResumingOptions(StoringOptions):
    """Options for the location of a run that may be resumed.

    Attributes
    ----------
    resume : RUN
        Resume this run (a folder or STORE#NAME) with its recorded options; no other option is
        needed. Failed decisions are repeated.
    """

    resume: str | None = None

    def arguments(self) -> dict[str, Any]:
        """Return the arguments that these options set in `dqa.evaluate` and `dqa.play`."""
        out, resumes = self.resume or self.out, self.resume is not None
        return {"out": out, "retry_failed": self.retry_failed, "resume": resumes}


# Output
Verbose = Annotated[
    bool, option("-v --verbose", OUTPUT, "Show all defects in the data, not only the first ten.")
]
AsJson = Annotated[bool, option("--json", OUTPUT, "Print JSON instead of text.")]


def pairs_in(name: str, texts: Iterable[str], example: str = "KEY=VALUE") -> dict[str, str]:
    """Parse ``KEY=VALUE`` texts into a dictionary.

    Raises
    ------
    UsageError
        A text is not ``KEY=VALUE``, or a key is repeated.
    """
    found: dict[str, str] = {}
    for pair in texts:
        key, equals, value = pair.partition("=")
        if not key.strip() or not equals:
            raise UsageError(f"{name} {pair} does not have the form {example}.")
        if key.strip() in found:
            raise UsageError(f"{name} sets {key.strip()} twice: set it once.")
        found[key.strip()] = value.strip()
    return found


def names_in(name: str, listed: str | None) -> tuple[str, ...]:
    """Split a text at its commas, and return the names without repetition. None gives ().

    Raise `UsageError` if there is no name.
    """
    if listed is None:
        return ()
    found = [part.strip() for part in listed.split(",") if part.strip()]
    if not found:
        raise UsageError(f"{name} is empty: write one or more names, separated by commas.")
    return tuple(dict.fromkeys(found))


def nonempty(name: str, text: str | None) -> str:
    """Return a text; None gives "". Raise `UsageError` for an empty text."""
    if text is not None and not text.strip():
        raise UsageError(f"{name} is empty: write a text.")
    return text or ""


def text_in(name: str, file: Path) -> str:
    """Return the text of a file, or of standard input if the file is ``-``."""
    if str(file) != "-":
        return read_text(file, hint=f"{name} needs a text file.")
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{name}: standard input is not UTF-8 text: {error}.") from error
