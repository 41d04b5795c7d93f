"""Options that several commands share, and what they stand for."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from dqa.cli.completion import by_model, by_name, one_of
from dqa.cli.help import DATABASES, LIMITS, MODELS, OUTPUT, QUESTIONS
from dqa.core.errors import UsageError
from dqa.core.files import read_text

FormName: TypeAlias = Literal["relational", "graph", "mysql", "postgres"]
ProtocolName: TypeAlias = Literal["react", "tools"]

DatabaseLocation = Annotated[
    str,
    typer.Option(
        "--database",
        metavar="URL|PATH",
        help="Server's URL, or a database's file.",
        rich_help_panel=DATABASES,
    ),
]
Release = Annotated[
    Path | None,
    typer.Option(
        "--release",
        metavar="DIR",
        help="Folder of a published release to read.",
        rich_help_panel=QUESTIONS,
    ),
]
Generated = Annotated[
    Path | None,
    typer.Option(
        "--generated",
        metavar="DIR",
        help="Folder that 'dqa generate' wrote.",
        rich_help_panel=QUESTIONS,
    ),
]
Generate = Annotated[
    int | None,
    typer.Option(
        "--generate",
        metavar="N",
        min=1,
        help="Generate N questions of each scenario on the spot.",
        rich_help_panel=QUESTIONS,
    ),
]
OwnFile = Annotated[
    Path | None,
    typer.Option(
        "--questions",
        metavar="FILE",
        help="File of your own questions about --database, one JSON object a line; 'dqa formats "
        "own_question' has its fields.",
        rich_help_panel=QUESTIONS,
    ),
]
OwnScenario = Annotated[
    str | None,
    typer.Option(
        "--scenario",
        metavar="NAME|DIR",
        help="Scenario whose question every line of --questions asks that names none: lines then "
        "need their target alone.",
        rich_help_panel=QUESTIONS,
    ),
]
OwnDatabases = Annotated[
    list[str] | None,
    typer.Option(
        "--database",
        metavar="[NAME=]URL|PATH",
        help="Database that --questions are about, asked where it is, read-only; may be given "
        "several times, by the names that questions call them.",
        rich_help_panel=QUESTIONS,
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        "--seed",
        metavar="N",
        min=0,
        help="Seed of the generator and of scripted models.",
        rich_help_panel=QUESTIONS,
    ),
]
Scenarios = Annotated[
    str | None,
    typer.Option(
        "--scenarios",
        metavar="NAMES",
        help="Scenarios, by name or folder, separated by commas; by default all of a release or "
        "folder, and those with a simulator where questions are generated.",
        autocompletion=by_name("scenario", listed=True),
        rich_help_panel=QUESTIONS,
    ),
]
Form = Annotated[
    FormName,
    typer.Option(
        "--form",
        metavar="relational|graph|mysql|postgres",
        help="Which files of a release to read its databases from.",
        autocompletion=one_of(("relational", "graph", "mysql", "postgres")),
        rich_help_panel=QUESTIONS,
    ),
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict",
        help="Stop at the first defect of the data instead of mending.",
        rich_help_panel=QUESTIONS,
    ),
]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose",
        "-v",
        help="Show every defect of the data at every place, not the first ten.",
        rich_help_panel=OUTPUT,
    ),
]
RuleSet = Annotated[
    str | None,
    typer.Option(
        "--rule-set",
        metavar="NAME",
        help="What a simulator counts by, e.g. 'released' or 'paper', which the simulator of every "
        "scenario asked about must have; by default what the questions' answers follow.",
        rich_help_panel=QUESTIONS,
    ),
]
Tables = Annotated[
    str | None,
    typer.Option(
        "--tables",
        metavar="NAMES",
        help="The only tables, separated by commas, that are shown and may be read; of a graph, "
        "labels and relationship types.",
        rich_help_panel=DATABASES,
    ),
]
AuditFile = Annotated[
    Path | None,
    typer.Option(
        "--audit",
        metavar="FILE",
        help="File to append every statement to, with what came of it.",
        rich_help_panel=DATABASES,
    ),
]
Policy = Annotated[
    Path | None,
    typer.Option(
        "--policy",
        metavar="FILE",
        help="JSON file that says what may be read; docs/guard.md.",
        rich_help_panel=DATABASES,
    ),
]
Model = Annotated[
    str,
    typer.Option(
        "--model",
        metavar="PROVIDER:MODEL",
        help="Chat model, e.g. scripted:analyst (a program, needs no key) or openai:NAME.",
        autocompletion=by_model,
        rich_help_panel=MODELS,
    ),
]
BaseUrl = Annotated[
    str | None,
    typer.Option(
        "--base-url",
        metavar="URL",
        help="Where an OpenAI-compatible server listens.",
        rich_help_panel=MODELS,
    ),
]
Temperature = Annotated[
    float,
    typer.Option(
        "--temperature",
        metavar="X",
        min=0.0,
        max=2.0,
        help="Of models that have one; above 0 each of several --epochs draws its own replies.",
        rich_help_panel=MODELS,
    ),
]
ReplyTokens = Annotated[
    int | None,
    typer.Option(
        "--reply-tokens",
        metavar="N",
        min=1,
        help="Most tokens of one reply of a model; by default its server's own bound, which may be "
        "none.",
        rich_help_panel=LIMITS,
    ),
]
Protocol = Annotated[
    ProtocolName,
    typer.Option(
        "--protocol",
        metavar="react|tools",
        help="How agents and models talk: labelled text, or the provider's own tool calls.",
        autocompletion=one_of(("react", "tools")),
        rich_help_panel=MODELS,
    ),
]
Planner = Annotated[
    str | None,
    typer.Option(
        "--planner",
        metavar="PROVIDER:MODEL",
        help="Chat model that plans, for agents that plan apart; --model by default.",
        autocompletion=by_model,
        rich_help_panel=MODELS,
    ),
]
PlannerUrl = Annotated[
    str | None,
    typer.Option(
        "--planner-base-url",
        metavar="URL",
        help="Where the planner's server listens; where --base-url does, for the same provider.",
        rich_help_panel=MODELS,
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME[=VALUE]",
        help="A setting of a decider's own, as 'dqa list --settings DECIDER' names it; may be "
        "given several times. With a NAME alone, where questions are read: the named set of "
        "questions, as 'dqa list' shows it.",
        autocompletion=by_name("set"),
        rich_help_panel=MODELS,
    ),
]
MaxSteps = Annotated[
    int,
    typer.Option(
        "--max-steps",
        metavar="N",
        min=1,
        help="Most model replies for one question.",
        rich_help_panel=LIMITS,
    ),
]
MaxSeconds = Annotated[
    float | None,
    typer.Option(
        "--max-seconds",
        metavar="SECONDS",
        help="Most seconds of one decision, which then ends with the best so far.",
        rich_help_panel=LIMITS,
    ),
]
MaxStatements = Annotated[
    int | None,
    typer.Option(
        "--max-statements",
        metavar="N",
        help="Most statements and other calls of tools of one decision; then likewise.",
        rich_help_panel=LIMITS,
    ),
]
MaxRows = Annotated[
    int | None,
    typer.Option(
        "--max-rows",
        metavar="N",
        help="Most rows that these return together; then likewise.",
        rich_help_panel=LIMITS,
    ),
]
MaxScanned = Annotated[
    int | None,
    typer.Option(
        "--max-scanned",
        metavar="N",
        help="Most rows that the database goes through for these, where it says how many (MySQL, "
        "MariaDB), or else that they return; then likewise.",
        rich_help_panel=LIMITS,
    ),
]
MaxTokens = Annotated[
    int | None,
    typer.Option(
        "--max-tokens",
        metavar="N",
        help="Most tokens of one decision, in and out together; then likewise.",
        rich_help_panel=LIMITS,
    ),
]
MaxCost = Annotated[
    float | None,
    typer.Option(
        "--max-cost",
        metavar="X",
        help="Most money of one decision, by the prices of tokens; then likewise.",
        rich_help_panel=LIMITS,
    ),
]
RowLimit = Annotated[
    int,
    typer.Option(
        "--row-limit",
        metavar="N",
        min=1,
        help="Most rows that one statement returns.",
        rich_help_panel=LIMITS,
    ),
]
Digits = Annotated[
    int,
    typer.Option(
        "--digits",
        metavar="N",
        min=0,
        help="Significant digits of the fractions that a model is shown; 0 for all that there are.",
        rich_help_panel=MODELS,
    ),
]
Samples = Annotated[
    int,
    typer.Option(
        "--samples",
        metavar="N",
        min=0,
        help="Values of each text and boolean column that stand in the schema.",
        rich_help_panel=MODELS,
    ),
]
SchemaTokens = Annotated[
    int,
    typer.Option(
        "--schema-tokens",
        metavar="N",
        min=300,
        help="Most tokens of the schema, about; agents may look up what has no room.",
        rich_help_panel=MODELS,
    ),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print JSON instead of text.", rich_help_panel=OUTPUT)
]


def pairs_in(option: str, given: Iterable[str], example: str = "KEY=VALUE") -> dict[str, str]:
    """Return values by name, in order; `UsageError` for a name without one or given twice."""
    found: dict[str, str] = {}
    for pair in given:
        name, equals, value = pair.partition("=")
        if not name.strip() or not equals:
            raise UsageError(f"{option} {pair}: write {example}.")
        if name.strip() in found:
            raise UsageError(f"{option} {name.strip()} is given twice: give it once.")
        found[name.strip()] = value.strip()
    return found


def set_in(given: Iterable[str] | None, others: int = 0) -> str | None:
    """Return the named set among the values of ``--set``; None where all are settings.

    Parameters
    ----------
    given
        Names of sets, and settings as ``NAME=VALUE``.
    others
        How many other sources of questions are given.

    Raises
    ------
    UsageError
        There are several sets, or there is one beside another source.
    """
    named = [value for value in given or () if "=" not in value]
    if named and (others or len(named) > 1):
        raise UsageError(
            f"--set {named[-1]}: write NAME=VALUE for a setting. For a set of questions, name one, "
            "and no other source of questions."
        )
    return named[0] if named else None


def settings_in(given: Iterable[str] | None) -> dict[str, str]:
    """Return the deciders' settings among the values of ``--set``, beside a set of questions."""
    return pairs_in("--set", [value for value in given or () if "=" in value], "NAME=VALUE")


def names_in(option: str, listed: str, *, once: bool = True) -> tuple[str, ...]:
    """Return the names in a list separated by commas, each once; `UsageError` for an empty one."""
    found = [name.strip() for name in listed.split(",") if name.strip()]
    names = tuple(dict.fromkeys(found) if once else found)
    if not names:
        raise UsageError(f"{option} names nothing: give one or more names, separated by commas.")
    return names


def tables_in(listed: str | None) -> tuple[str, ...]:
    """Return what ``--tables`` names; () where it is not given."""
    return () if listed is None else names_in("--tables", listed)


def text_in(option: str, file: Path) -> str:
    """Return the text of a file, or of standard input for ``-``.

    Raises
    ------
    UsageError
        It cannot be read, or is no UTF-8.
    """
    if str(file) != "-":
        return read_text(file, pipes=True, hint=f"{option} names a text file.")
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{option}: standard input is no UTF-8 text: {error}.") from error


def scenarios_in(listed: str | None) -> tuple[str, ...] | None:
    """Return what ``--scenarios`` names; None where it is not given."""
    return None if listed is None else names_in("--scenarios", listed)


def scenario_in(key: str) -> tuple[str, ...] | None:
    """Return the scenario that a question's key (``scenario/id``) names; None where it names none.

    Only that one has to be read, and scenarios that are generated on request only are generated.
    """
    from dqa import plugins

    name, slash, _ = key.partition("/")
    return (name,) if slash and name in plugins.names("scenario") else None
