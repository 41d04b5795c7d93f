"""Options that several commands share, and what they stand for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from dqa.core.errors import UsageError

if TYPE_CHECKING:
    from dqa.core.question_set import QuestionSet

__all__ = [
    "AnyScenarios",
    "AsJson",
    "AttitudeName",
    "BaseUrl",
    "DatabaseLocation",
    "Form",
    "FormName",
    "Generate",
    "Generated",
    "MaxSteps",
    "Model",
    "Planner",
    "PlannerUrl",
    "Protocol",
    "ProtocolName",
    "Release",
    "RowLimit",
    "Rules",
    "Scenarios",
    "Seed",
    "Settings",
    "Source",
    "Strict",
    "Verbose",
    "names_in",
    "pairs_in",
    "scenario_in",
]

FormName: TypeAlias = Literal["relational", "graph"]
ProtocolName: TypeAlias = Literal["react", "tools"]
AttitudeName: TypeAlias = Literal["mean", "cvar", "exponential"]

DatabaseLocation = Annotated[
    str, typer.Option("--database", metavar="URL|PATH", help="Server's URL, or a database's file.")
]
Release = Annotated[
    Path | None,
    typer.Option("--release", metavar="DIR", help="Folder of a release to read."),
]
Generated = Annotated[
    Path | None,
    typer.Option("--generated", metavar="DIR", help="Folder that 'dqa generate' wrote."),
]
Generate = Annotated[
    int | None,
    typer.Option(
        "--generate", metavar="N", min=1, help="Generate N questions of each scenario on the spot."
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        "--seed", metavar="N", min=0, help="Seed of the generator and of scripted models."
    ),
]
Scenarios = Annotated[
    str, typer.Option("--scenarios", metavar="NAMES", help="Scenarios, separated by commas.")
]
AnyScenarios = Annotated[
    str | None,
    typer.Option(
        "--scenarios",
        metavar="NAMES",
        help="Scenarios, by name or folder, separated by commas; by default all of a release or "
        "folder, and those with a simulator where questions are generated.",
    ),
]
Form = Annotated[
    FormName, typer.Option("--form", help="Which files of a release to read its databases from.")
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Stop at the first defect of the data instead of mending.")
]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Show every defect of the data, not the first ten.")
]
Rules = Annotated[
    str | None,
    typer.Option(
        "--rules",
        metavar="NAME",
        help="Rule set that tells what is right: 'released' or 'paper'. By default 'released' for "
        "a release, 'paper' for generated questions.",
    ),
]
Model = Annotated[
    str,
    typer.Option(
        "--model",
        metavar="PROVIDER:MODEL",
        help="Chat model, e.g. scripted:analyst (a program, needs no key) or openai:NAME.",
    ),
]
BaseUrl = Annotated[
    str | None,
    typer.Option("--base-url", metavar="URL", help="Where an OpenAI-compatible server listens."),
]
Protocol = Annotated[
    ProtocolName,
    typer.Option(
        "--protocol",
        help="How agents and models talk: labelled text, or the provider's own tool calls.",
    ),
]
Planner = Annotated[
    str | None,
    typer.Option(
        "--planner",
        metavar="PROVIDER:MODEL",
        help="Chat model that plans, for agents that plan apart; --model by default.",
    ),
]
PlannerUrl = Annotated[
    str | None,
    typer.Option(
        "--planner-base-url",
        metavar="URL",
        help="Where the planner's server listens; where --base-url does, for the same provider.",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A setting of a decider's own, e.g. dellma.samples=16, or dellma-top1.samples=16 for "
        "one of several; may be given several times.",
    ),
]
MaxSteps = Annotated[
    int,
    typer.Option("--max-steps", metavar="N", min=1, help="Most model replies for one question."),
]
RowLimit = Annotated[
    int,
    typer.Option("--row-limit", metavar="N", min=1, help="Most rows that one statement returns."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


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


def names_in(option: str, listed: str) -> tuple[str, ...]:
    """Return the names in a list separated by commas, each once; `UsageError` for an empty one."""
    names = tuple(dict.fromkeys(name.strip() for name in listed.split(",") if name.strip()))
    if not names:
        raise UsageError(f"{option} names nothing: give one or more names, separated by commas.")
    return names


def scenario_in(key: str) -> tuple[str, ...] | None:
    """Return the scenario that a question's key (``scenario/id``) names; None where it names none.

    Only that one has to be read, and scenarios that are generated on request only are generated.
    """
    from dqa import plugins

    name, slash, _ = key.partition("/")
    return (name,) if slash and name in plugins.names("scenario") else None


@dataclass(frozen=True, slots=True)
class Source:
    """Where questions come from: a release, a generated folder or the generator.

    Attributes
    ----------
    release, generated, generate
        Exactly one is given.
    seed
        Of the generator.
    scenarios
        Which to keep, by name or by folder; None keeps all that there are.
    limit
        Most questions of each scenario.
    form
        Which files of a release to read.
    strict
        Whether a defect is an error.
    """

    release: Path | None = None
    generated: Path | None = None
    generate: int | None = None
    seed: int = 0
    scenarios: tuple[str, ...] | None = None
    limit: int | None = None
    form: FormName = "relational"
    strict: bool = False

    def __post_init__(self) -> None:
        given = [self.release, self.generated, self.generate]
        if sum(value is not None for value in given) != 1:
            raise UsageError(
                "Say where the questions come from, once: --release DIR, --generated DIR or "
                "--generate N."
            )
        if self.scenarios is not None:
            from dqa.scenarios import known_as

            names = tuple(map(known_as, self.scenarios))
            object.__setattr__(self, "scenarios", names)

    @property
    def rules(self) -> str:
        """The rule set that this source's answers follow."""
        if self.release is not None:
            from dqa.loaders.reading import reader_of

            return reader_of(self.release).rule_set
        from dqa.loaders.generator.manifest import READER

        return READER.rule_set

    def read(self) -> QuestionSet:
        """Return the questions; `UsageError` where none is left."""
        from dqa import plugins

        for scenario in self.scenarios or ():
            plugins.scenario(scenario)
        found = self._read_all().select(self.scenarios, self.limit)
        if not found.questions:
            wanted = " or ".join(self.scenarios or ("any",))
            raise UsageError(f"{found.name} has no question of scenario {wanted}.")
        return found

    def _read_all(self) -> QuestionSet:
        if self.release is not None:
            from dqa.loaders.reading import read_questions

            return read_questions(
                self.release, scenarios=self.scenarios, form=self.form, strict=self.strict
            )
        from dqa.loaders import generator

        if self.generated is not None:
            return generator.read_generated(self.generated)
        if self.generate is None:
            raise AssertionError("the constructor lets no source without a source through")
        return generator.generate(self.scenarios, self.generate, self.seed)
