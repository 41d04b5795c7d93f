"""Options that several commands share, and what they stand for."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from dqa.cli.completion import by_model, by_name, one_of
from dqa.cli.help import DATABASES, LIMITS, MODELS, OUTPUT, QUESTIONS
from dqa.core.errors import UsageError

if TYPE_CHECKING:
    from dqa.evaluation.spec import DecidingFields
    from dqa.loaders.sources import OwnQuestions, QuestionSource

FormName: TypeAlias = Literal["relational", "graph"]
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
        metavar="relational|graph",
        help="Which files of a release to read its databases from.",
        autocompletion=one_of(("relational", "graph")),
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


def names_in(option: str, listed: str) -> tuple[str, ...]:
    """Return the names in a list separated by commas, each once; `UsageError` for an empty one."""
    names = tuple(dict.fromkeys(name.strip() for name in listed.split(",") if name.strip()))
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
    try:
        if str(file) == "-":
            return sys.stdin.buffer.read().decode("utf-8")
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        where = "standard input" if str(file) == "-" else file
        raise UsageError(f"{option}: {where} cannot be read as UTF-8 text: {error}.") from error


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


@dataclass(frozen=True, slots=True)
class QuestionOptions:
    """Where questions come from, as options: exactly one of them is given."""

    release: Release = None
    generated: Generated = None
    generate: Generate = None
    settings: Settings = None

    def source(  # noqa: PLR0913  (each is an option of its own)
        self,
        seed: int,
        scenarios: tuple[str, ...] | None = None,
        limit: int | None = None,
        *,
        form: FormName = "relational",
        strict: bool = False,
        decides: bool = False,
    ) -> QuestionSource:
        """Return the source; `UsageError` where not exactly one is named.

        Only where something `decides` may settings stand beside it.
        """
        from dqa.loaders import sources

        made: list[QuestionSource] = []
        if self.release is not None:
            made.append(sources.ReleaseFolder(folder=self.release, form=form, strict=strict))
        if self.generated is not None:
            made.append(sources.GeneratedFolder(folder=self.generated))
        if self.generate is not None:
            made.append(sources.GeneratedQuestions(count=self.generate, seed=seed))
        named = set_in(self.settings, others=len(made))
        if not decides and settings_in(self.settings):
            raise UsageError(
                "--set NAME=VALUE sets a decider, and nothing is decided here: give the name of a "
                "set of questions alone."
            )
        if named is not None:
            made.append(sources.NamedSet(name=named))
        made += self._own()
        if len(made) != 1:
            raise UsageError(
                "Say where the questions come from, once: --release DIR, --generated DIR, --set "
                f"NAME{self._other} or --generate N."
            )
        return made[0].changed(scenarios=scenarios, limit=limit)

    @property
    def _other(self) -> str:
        return ""

    def _own(self) -> list[OwnQuestions]:
        return []


@dataclass(frozen=True, slots=True)
class AnyQuestionOptions(QuestionOptions):
    """The same, or the user's own file of questions about the user's own databases."""

    own: OwnFile = None
    database: OwnDatabases = None

    @property
    def _other(self) -> str:
        return ", --questions FILE"

    def _own(self) -> list[OwnQuestions]:
        from dqa.loaders.sources import OwnQuestions, located

        if self.own is None:
            if self.database:
                raise UsageError(
                    "--database names what --questions FILE is about: give that file, too. Where "
                    "other questions are loaded says --databases of 'dqa eval'."
                )
            return []
        if not self.database:
            raise UsageError(
                f"--questions {self.own}: say what they are about: --database URL or --database "
                "NAME=URL."
            )
        return [OwnQuestions(file=self.own, databases=located(self.database))]


@dataclass(frozen=True, slots=True)
class DecidingOptions:
    """The models that deciders ask, and what bounds them, as options."""

    model: Model = "scripted:analyst"
    base_url: BaseUrl = None
    planner: Planner = None
    planner_base_url: PlannerUrl = None
    protocol: Protocol = "react"
    seed: Seed = 0
    max_steps: MaxSteps = 20
    row_limit: RowLimit = 200
    digits: Digits = 6
    samples: Samples = 0
    settings: Settings = None

    def fields(self, rule_set: str | None, *, reads: bool = False) -> DecidingFields:
        """Return what a spec has of these; `UsageError` for a planner's address alone.

        Only where the command `reads` questions may a set's name stand among the settings.
        """
        from dqa.core.database import Limits
        from dqa.core.display import Display
        from dqa.evaluation.spec import ModelSpec

        if self.planner is None and self.planner_base_url is not None:
            raise UsageError("--planner-base-url says where the model of --planner is: name one.")
        planner = None
        if self.planner is not None:
            planner = ModelSpec(name=self.planner, base_url=self.planner_base_url)
        return {
            "model": ModelSpec(name=self.model, base_url=self.base_url),
            "planner": planner,
            "protocol": self.protocol,
            "settings": settings_in(self.settings)
            if reads
            else pairs_in("--set", self.settings or (), "NAME=VALUE"),
            "rule_set": rule_set,
            "seed": self.seed,
            "max_steps": self.max_steps,
            "limits": Limits(rows=self.row_limit),
            "display": Display(self.digits, self.samples),
        }
