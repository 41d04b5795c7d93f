"""Options for the source of questions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dqa import plugins
from dqa.cli import options
from dqa.cli.options import CountOrNone, FormName, Seed
from dqa.cli.output import report_defects
from dqa.core.errors import UsageError

if TYPE_CHECKING:
    from dqa.core.question_set import QuestionSet
    from dqa.loaders.sources import QuestionSource

_NO_FILE = {
    "scenario": "--scenario is the default scenario of your own questions, so it needs --questions "
    "FILE. To select scenarios of a release or folder, use --scenarios.",
    "database": "--database is the database of your own questions, so it needs --questions FILE. "
    "To choose where 'dqa eval' loads the data of a release or folder, use --databases.",
}


@dataclass(frozen=True, slots=True)
class QuestionOptions:
    """The source of questions. Exactly one source is required.

    Attributes
    ----------
    release : DIR
        Folder of a published release or benchmark.
    generated : DIR|SET
        Folder of questions that 'dqa data generate' wrote, or the name of a set of questions ('dqa
        list' shows all sets).
    generate
        Generate N new questions in each scenario, each about its own database.
    """

    release: Path | None = None
    generated: Path | None = None
    generate: CountOrNone = None

    def source(
        self,
        seed: int = 0,
        scenarios: tuple[str, ...] | None = None,
        limit: int | None = None,
        *,
        form: FormName = "relational",
        strict: bool = False,
    ) -> QuestionSource:
        """Return the source of questions.

        Raises
        ------
        UsageError
            There is no source, or there are several sources.
        """
        from dqa.loaders import sources

        found: list[QuestionSource] = []
        if self.release is not None:
            folder = sources.QuestionFolder(folder=self.release, form=form, strict=strict)
            found.append(folder)
        if self.generated is not None:
            is_set = str(self.generated) in plugins.names("set") and not self.generated.exists()
            found.append(
                sources.NamedSet(name=str(self.generated))
                if is_set
                else sources.QuestionFolder(folder=self.generated, source="generated")
            )
        if self.generate is not None:
            found.append(sources.GeneratedQuestions(count=self.generate, seed=seed))
        found += self._own()
        if len(found) != 1:
            other = ", --questions FILE" if isinstance(self, AnyQuestionOptions) else ""
            raise UsageError(
                f"Give exactly one source of questions, not {len(found)}: --release DIR, "
                f"--generated DIR or SET{other} or --generate N."
            )
        return found[0].changed(scenarios=scenarios, limit=limit)

    def _own(self) -> list[QuestionSource]:
        return []


@dataclass(frozen=True, slots=True)
class AnyQuestionOptions(QuestionOptions):
    """The sources of `QuestionOptions`, and in addition the user's own questions.

    Attributes
    ----------
    own : FILE
        File of your own questions about --database, with one JSON object per line. 'dqa data
        formats own_question' prints its fields.
    scenario : NAME|DIR
        Scenario for lines in the --questions file that contain no scenario. Such lines need only
        a target.
    database : [NAME=]URL|PATH
        Database of --questions; dqa only reads it. May be repeated with the names that the
        questions use (NAME=URL).
    """

    own: Path | None = None
    scenario: str | None = None
    database: list[str] | None = None

    def _own(self) -> list[QuestionSource]:
        from dqa.loaders.locations import located
        from dqa.loaders.sources import OwnQuestions

        if self.own is None:
            for name, problem in _NO_FILE.items():
                if getattr(self, name):
                    raise UsageError(problem)
            return []
        if not self.database:
            raise UsageError(
                f"--questions {self.own} needs the database of the questions: give --database URL, "
                "or --database NAME=URL for several."
            )
        databases = located(self.database)
        return [OwnQuestions(file=self.own, databases=databases, scenario=self.scenario)]


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Options that select questions, and options for reading them.

    Attributes
    ----------
    scenarios : NAMES
        Scenarios (names or folders), separated by commas. By default, all scenarios of the release
        or folder; with --generate, all scenarios that have a simulator.
    form
        Which of the release's files to read: its relational or graph databases, or its variant for
        MySQL or PostgreSQL.
    strict
        Stop at the first defect in the data instead of fixing it.
    """

    scenarios: str | None = None
    seed: Seed = 0
    form: FormName = "relational"
    strict: bool = False
    verbose: options.Verbose = False

    def read(self, questions: QuestionOptions, key: str | None = None) -> QuestionSet:
        """Read the questions of a source, and report defects in the data.

        With the `key` of a question (``scenario/id``), read only the questions of its scenario.
        """
        named = options.names_in("--scenarios", self.scenarios) or None
        if named is None and key is not None and "/" in key:
            named = (key.partition("/")[0],)
        read = questions.source(self.seed, named, form=self.form, strict=self.strict).read()
        report_defects(read.defects, self.verbose)
        return read
