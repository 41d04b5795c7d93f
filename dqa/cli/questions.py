"""Options that say where questions come from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from dqa.cli import options
from dqa.cli.completion import by_name
from dqa.cli.fields import Seed
from dqa.cli.help import DATABASES, MODELS, QUESTIONS
from dqa.cli.options import FormName, option, pairs_in
from dqa.cli.output import report_defects
from dqa.core.errors import UsageError

if TYPE_CHECKING:
    from dqa.core.question_set import QuestionSet
    from dqa.loaders.sources import OwnQuestions, QuestionSource

_NO_FILE = {
    "scenario": "--scenario is the scenario of the lines of --questions FILE: give that file, too. "
    "--scenarios selects scenarios of other questions.",
    "database": "--database is what --questions FILE is about: give that file, too. --databases of "
    "'dqa eval' says where other questions are loaded.",
}


@dataclass(frozen=True, slots=True)
class QuestionOptions:
    """The source of questions; exactly one is required.

    Attributes
    ----------
    release
        Folder of a published release to read.
    generated
        Folder that 'dqa data generate' wrote.
    generate
        Generate N questions of each scenario, each about its own world.
    settings
        The named set of questions, as 'dqa list' shows it.
    """

    release: Annotated[Path | None, option("--release DIR", QUESTIONS)] = None
    generated: Annotated[Path | None, option("--generated DIR", QUESTIONS)] = None
    generate: Annotated[int | None, option("--generate N", QUESTIONS, least=1)] = None
    settings: Annotated[
        list[str] | None, option("--set NAME[=VALUE]", MODELS, complete=by_name("set"))
    ] = None

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
        """Return the source; `UsageError` unless there is exactly one.

        Settings of deciders are allowed only in a command that `decides`.
        """
        from dqa.loaders import sources

        found: list[QuestionSource] = []
        if self.release is not None:
            found.append(sources.release_in(self.release, form=form, strict=strict))
        if self.generated is not None:
            found.append(sources.GeneratedFolder(folder=self.generated))
        if self.generate is not None:
            # One world for each question: an interval over a few shared worlds says little.
            found.append(sources.GeneratedQuestions(count=self.generate, seed=seed, per_database=1))
        named = set_in(self.settings, others=len(found))
        if not decides and settings_in(self.settings):
            raise UsageError(
                "--set NAME=VALUE sets a decider, and nothing is decided here: give the name of a "
                "set of questions alone."
            )
        if named is not None:
            found.append(sources.NamedSet(name=named))
        found += self._own()
        if len(found) != 1:
            other = ", --questions FILE" if isinstance(self, AnyQuestionOptions) else ""
            raise UsageError(
                "Say where the questions come from, once: --release DIR, --generated DIR, --set "
                f"NAME{other} or --generate N."
            )
        return found[0].changed(scenarios=scenarios, limit=limit)

    def _own(self) -> list[OwnQuestions]:
        return []


@dataclass(frozen=True, slots=True)
class AnyQuestionOptions(QuestionOptions):
    """The same, or the user's own file of questions about the user's own databases.

    Attributes
    ----------
    own
        File of your own questions about --database, one JSON object per line; 'dqa data formats
        own_question' has its fields.
    scenario
        Default scenario for lines of --questions without one: these lines need only their target.
    database
        Database of --questions, read-only; may be repeated, by the names that the
        questions use.
    """

    own: Annotated[Path | None, option("--questions FILE", QUESTIONS)] = None
    scenario: Annotated[str | None, option("--scenario NAME|DIR", QUESTIONS)] = None
    database: Annotated[list[str] | None, option("--database [NAME=]URL|PATH", DATABASES)] = None

    def _own(self) -> list[OwnQuestions]:
        from dqa.loaders.locations import located
        from dqa.loaders.sources import OwnQuestions

        if self.own is None:
            for name, problem in _NO_FILE.items():
                if getattr(self, name):
                    raise UsageError(problem)
            return []
        if not self.database:
            raise UsageError(
                f"--questions {self.own}: name their database: --database URL or --database "
                "NAME=URL."
            )
        databases = located(self.database)
        return [OwnQuestions(file=self.own, databases=databases, scenario=self.scenario)]


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Which questions are read, and how."""

    scenarios: options.Scenarios = None
    seed: Seed = 0
    form: options.Form = "relational"
    strict: options.Strict = False
    verbose: options.Verbose = False

    def read(self, questions: QuestionOptions, key: str | None = None) -> QuestionSet:
        """Read the questions of a source, or of the scenario of one; report their defects."""
        named = options.scenarios_in(self.scenarios)
        if named is None and key is not None and "/" in key:  # only its scenario is read
            named = (key.partition("/")[0],)
        read = questions.source(self.seed, named, form=self.form, strict=self.strict).read()
        report_defects(read.defects, self.verbose)
        return read


def set_in(given: Iterable[str] | None, others: int = 0) -> str | None:
    """Return the named set of questions in ``--set``; None if all values are settings.

    `others` counts the other sources of questions; `UsageError` if there are several.
    """
    named = [value for value in given or () if "=" not in value]
    if named and (others or len(named) > 1):
        raise UsageError(
            f"--set {named[-1]}: write NAME=VALUE for a setting. For a set of questions, name one, "
            "and no other source of questions."
        )
    return named[0] if named else None


def settings_in(given: Iterable[str] | None) -> dict[str, str]:
    """Return the settings of deciders in ``--set``, without a named set of questions."""
    return pairs_in("--set", [value for value in given or () if "=" in value], "NAME=VALUE")
