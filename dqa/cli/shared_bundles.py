"""The bundles of options that several commands share, and what is made of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dqa.cli import options
from dqa.core.errors import UsageError

if TYPE_CHECKING:
    from dqa.evaluation.spec import DecidingFields
    from dqa.loaders.sources import OwnQuestions, QuestionSource


@dataclass(frozen=True, slots=True)
class QuestionOptions:
    """Where questions come from, as options: exactly one of them is given."""

    release: options.Release = None
    generated: options.Generated = None
    generate: options.Generate = None
    settings: options.Settings = None

    def source(  # noqa: PLR0913  (each is an option of its own)
        self,
        seed: int,
        scenarios: tuple[str, ...] | None = None,
        limit: int | None = None,
        *,
        form: options.FormName = "relational",
        strict: bool = False,
        decides: bool = False,
    ) -> QuestionSource:
        """Return the source; `UsageError` where not exactly one is named.

        Only where something `decides` may settings stand beside it.
        """
        from dqa.loaders import sources

        made: list[QuestionSource] = []
        if self.release is not None:
            made.append(sources.release_in(self.release, form=form, strict=strict))
        if self.generated is not None:
            made.append(sources.GeneratedFolder(folder=self.generated))
        if self.generate is not None:
            made.append(sources.GeneratedQuestions(count=self.generate, seed=seed))
        named = options.set_in(self.settings, others=len(made))
        if not decides and options.settings_in(self.settings):
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

    own: options.OwnFile = None
    scenario: options.OwnScenario = None
    database: options.OwnDatabases = None

    @property
    def _other(self) -> str:
        return ", --questions FILE"

    def _own(self) -> list[OwnQuestions]:
        from dqa.loaders.sources import OwnQuestions, located

        if self.own is None:
            if self.scenario is not None:
                raise UsageError(
                    "--scenario says whose question the lines of --questions FILE ask: give that "
                    "file, too. Which scenarios of other questions are kept says --scenarios."
                )
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
        databases = located(self.database)
        return [OwnQuestions(file=self.own, databases=databases, scenario=self.scenario)]


@dataclass(frozen=True, slots=True)
class DecidingOptions:
    """The models that deciders ask, and what bounds them, as options."""

    model: options.Model = "scripted:analyst"
    base_url: options.BaseUrl = None
    planner: options.Planner = None
    planner_base_url: options.PlannerUrl = None
    protocol: options.Protocol = "react"
    seed: options.Seed = 0
    temperature: options.Temperature = 0.0
    reply_tokens: options.ReplyTokens = None
    max_steps: options.MaxSteps = 20
    row_limit: options.RowLimit = 200
    digits: options.Digits = 6
    samples: options.Samples = 0
    schema_tokens: options.SchemaTokens = 10_000
    max_seconds: options.MaxSeconds = None
    max_statements: options.MaxStatements = None
    max_rows: options.MaxRows = None
    max_scanned: options.MaxScanned = None
    max_tokens: options.MaxTokens = None
    max_cost: options.MaxCost = None
    settings: options.Settings = None

    def fields(self, rule_set: str | None, *, reads: bool = False) -> DecidingFields:
        """Return what a spec has of these; `UsageError` for a planner's address alone.

        Only where the command `reads` questions may a set's name stand among the settings.
        """
        from dqa.core.budgets import DecisionBudget
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
            "settings": options.settings_in(self.settings)
            if reads
            else options.pairs_in("--set", self.settings or (), "NAME=VALUE"),
            "rule_set": rule_set,
            "seed": self.seed,
            "temperature": self.temperature,
            "reply_tokens": self.reply_tokens,
            "max_steps": self.max_steps,
            "limits": Limits(rows=self.row_limit),
            "display": Display(self.digits, self.samples, schema_tokens=self.schema_tokens),
            "budget": DecisionBudget(
                self.max_seconds,
                self.max_statements,
                self.max_rows,
                self.max_scanned,
                self.max_tokens,
                self.max_cost,
            ),
        }
