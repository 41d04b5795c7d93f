"""Where questions come from, as data: a release, a generated folder, the generator, or a caller."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from pydantic import Field

from dqa.core.errors import UsageError
from dqa.core.records import Record

if TYPE_CHECKING:
    from dqa.core.question_set import QuestionSet

__all__ = [
    "FormName",
    "GeneratedFolder",
    "GivenQuestions",
    "Generator",
    "QuestionSource",
    "Release",
    "Source",
]

FormName: TypeAlias = Literal["relational", "graph"]


class Source(Record):
    """A source of questions, and which of them to keep.

    Attributes
    ----------
    scenarios
        Which to keep; None keeps all that there are.
    limit
        Most questions of each scenario.
    """

    scenarios: tuple[str, ...] | None = None
    limit: Annotated[int, Field(ge=1)] | None = None

    @property
    @abstractmethod
    def rule_set(self) -> str:
        """The rule set that this source's answers follow."""

    @abstractmethod
    def _read(self) -> QuestionSet: ...

    def read(self) -> QuestionSet:
        """Return the questions.

        Raises
        ------
        UnknownNameError
            There is no such scenario.
        UsageError
            No question is left.
        DataError
            The data cannot be read.
        """
        from dqa import plugins

        for scenario in self.scenarios or ():
            plugins.scenario(scenario)
        found = self._read().select(self.scenarios, self.limit)
        if not found.questions:
            wanted = " or ".join(self.scenarios or ("any",))
            raise UsageError(f"{found.name} has no question of scenario {wanted}.")
        return found


class Release(Source):
    """A folder that a benchmark's authors published.

    Attributes
    ----------
    folder
        Where it is.
    form
        Which of its files to read databases from.
    strict
        Whether a defect is an error instead of being mended.
    """

    source: Literal["release"] = "release"
    folder: Path
    form: FormName = "relational"
    strict: bool = False

    @property
    def rule_set(self) -> str:
        """The rule set that this source's answers follow."""
        return "released"

    def _read(self) -> QuestionSet:
        from dqa.loaders.release import read_release
        from dqa_dellma.questions import is_dellma_release, read_dellma_questions

        if is_dellma_release(self.folder):
            return read_dellma_questions(self.folder, scenarios=self.scenarios, strict=self.strict)
        return read_release(self.folder, form=self.form, strict=self.strict)


class GeneratedFolder(Source):
    """A folder that ``dqa generate`` wrote."""

    source: Literal["generated"] = "generated"
    folder: Path

    @property
    def rule_set(self) -> str:
        """The rule set that this source's answers follow."""
        from dqa.loaders.generator import read_manifest

        return _preferred(read_manifest(self.folder).get("label_rules", ()))

    def _read(self) -> QuestionSet:
        from dqa.loaders.generator import read_generated

        return read_generated(self.folder)


class Generator(Source):
    """Questions made on the spot.

    Attributes
    ----------
    count
        Questions of each scenario.
    seed
        The same seed makes the same questions.
    """

    source: Literal["generator"] = "generator"
    count: Annotated[int, Field(ge=1)] = 10
    seed: Annotated[int, Field(ge=0)] = 0

    @property
    def rule_set(self) -> str:
        """The rule set that this source's answers follow."""
        return "paper"

    def _read(self) -> QuestionSet:
        from dqa.loaders import generator

        return generator.generate(self.scenarios or generator.SCENARIOS, self.count, self.seed)


class GivenQuestions(Source):
    """Questions that a Python caller made: a spec can name them, and cannot read them again.

    Attributes
    ----------
    name
        What the set is called.
    content_hash
        Its `QuestionSet.content_hash`.
    """

    source: Literal["given"] = "given"
    name: str
    content_hash: str

    @property
    def rule_set(self) -> str:
        """The rule set that this source's answers follow."""
        return "paper"

    def _read(self) -> QuestionSet:
        raise UsageError(
            f"The questions '{self.name}' were handed over in Python, and only there: hand them "
            "over again."
        )


QuestionSource: TypeAlias = Annotated[
    Release | GeneratedFolder | Generator | GivenQuestions, Field(discriminator="source")
]
"""Any of the sources; JSON tells them apart by ``source``."""


def _preferred(label_rules: Iterable[str]) -> str:
    rules = list(label_rules)
    return "paper" if "paper" in rules or not rules else rules[0]
