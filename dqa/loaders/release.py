"""Read the questions and the situations of the DQA release.

The published files are read without changes. A defect that does not prevent reading is reported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from dqa.core.errors import DataError, ParseError, UnknownNameError
from dqa.core.files import open_regular, read_json
from dqa.core.question import Candidate, Question
from dqa.core.question_set import Defect, QuestionSet
from dqa.core.records import problem_of
from dqa.core.situation import Schema, Situation
from dqa.core.truth import LabelledQuestion, Truth
from dqa.loaders.release_layout import FORMS, Form, ScenarioLayout, layouts
from dqa.loaders.release_scripts import Parsed

MANIFEST = "manifest.json"
"""The file that lists the files of a generated folder."""

_LEFT_OUT = "the question is left out"


class ReleaseReader:
    """Reads releases of this layout; see `dqa.loaders.reading.QuestionReader`."""

    name = "a DQA release"
    rule_set = "released"
    in_place = False

    def recognises(self, folder: Path) -> bool:
        """Return whether a folder has questions of a known scenario, but no manifest."""
        if (folder / MANIFEST).exists():
            return False
        return any(layout.questions_file(folder).is_file() for layout in layouts().values())

    def read(
        self,
        folder: Path | str,
        *,
        scenarios: Sequence[str] | None = None,
        form: Form = "relational",
        limit: int | None = None,
    ) -> QuestionSet:
        """Read the questions of a DQA release and their situations.

        Parameters
        ----------
        folder
            The folder of the release, which contains ``data``.
        form
            Whether to read the ``.sql`` or the ``.cql`` file of each database. Both files contain
            the same situation.
        scenarios
            The scenarios to read; None for all.
        limit
            The maximum number of questions per scenario. Databases of other questions are not read.

        Returns
        -------
        QuestionSet
            Questions in the order of their files. Databases with equal content become one
            situation, with the name of the first file, such as ``q1`` or ``USA1836``. A question
            with a defect, or without candidates, is left out and reported.

        Raises
        ------
        ParseError
            The folder is not a release, a file of questions cannot be read, or a question's
            database is missing or cannot be parsed.
        DataError
            No question can be read.
        UnknownNameError
            A scenario or the form is unknown.
        """
        folder = Path(folder)
        if form not in FORMS:
            raise UnknownNameError("form", form, FORMS)
        reading = _Reading(folder, form, limit)
        for layout in _layouts(folder, scenarios):
            reading.read(layout)
        return reading.finish()


READER = ReleaseReader()
read_release = READER.read


def _layouts(folder: Path, scenarios: Sequence[str] | None) -> list[ScenarioLayout]:
    known = layouts()
    for name in scenarios or ():
        if name not in known:
            raise UnknownNameError("scenario of a release", name, known)
    chosen = [
        layout
        for name, layout in known.items()
        if (name in scenarios if scenarios else (folder / "data" / name).is_dir())
    ]
    if not chosen:
        expected = " or ".join(str(layout.questions_file(folder)) for layout in known.values())
        available = ", ".join(sorted(path.parent.name for path in folder.glob("data/*/questions")))
        other = f" It contains questions of '{available}': give also the folder of this scenario."
        raise ParseError(
            folder,
            None,
            f"this is not a DQA release, because {expected} is missing. Give the folder that "
            "contains 'data', with data/SCENARIO/questions/*.json and "
            "data/SCENARIO/queries/{SQL,LPG}_format/*."
            f"{other if available else ''}",
        )
    return chosen


@dataclass
class _Reading:
    """Reads the scenarios one after the other. Equal databases are read only once.

    `contents` maps the content of a database file to the parsed content and all files with this
    content.
    """

    folder: Path
    form: Form
    limit: int | None
    labelled: list[LabelledQuestion] = field(default_factory=list)
    situations: dict[str, Situation] = field(default_factory=dict)
    defects: list[Defect] = field(default_factory=list)
    contents: dict[tuple[str, bytes], tuple[Parsed, set[Path]]] = field(default_factory=dict)
    equal: dict[Situation, Situation] = field(default_factory=dict)

    def read(self, layout: ScenarioLayout) -> None:
        """Read a scenario's questions with their databases."""
        file = layout.questions_file(self.folder)
        entries = read_json(file, home=self.folder)
        if not isinstance(entries, list):
            raise ParseError(file, 1, "expected a JSON list of questions")
        others = len(self.labelled)
        seen: set[str] = set()
        databases: set[Path] = set()
        for position, entry in enumerate(entries, start=1):
            problem = _problem(layout, position, entry)
            number = "" if problem else str(entry["question_num"])
            if number in seen:
                problem = f"question {number} is a duplicate"
            if not problem:
                seen.add(number)
                database = layout.database_file(self.folder, self.form, entry)
                databases.add(database)
                if self.limit is None or len(self.labelled) - others < self.limit:
                    problem = self._add(layout, entry, database)
            if problem:
                action = "kept as it is" if problem.startswith("the answer") else _LEFT_OUT
                self.defects.append(Defect(file, problem, action))
        folder = layout.database_folder(self.folder, self.form)
        unused = sorted(path.name for path in folder.glob("*") if path not in databases)
        if unused:
            shown = ", ".join(unused[:5]) + (", ..." if len(unused) > 5 else "")
            problem = f"{len(unused)} of the files do not belong to a question: {shown}"
            self.defects.append(Defect(folder, problem, "not read"))

    def finish(self) -> QuestionSet:
        """Return all questions. Raise `DataError` if there are none."""
        for parsed, files in self.contents.values():
            self.defects += [replace(defect, more=len(files) - 1) for defect in parsed.defects]
        if not self.labelled:
            first = f" The first problem: {self.defects[0]}." if self.defects else ""
            raise DataError(f"{self.folder}: no question of this release can be read.{first}")
        name = self.folder.resolve().name
        return QuestionSet.of(name, self.labelled, self.situations, tuple(self.defects))

    def _add(self, layout: ScenarioLayout, entry: Mapping[str, Any], database: Path) -> str:
        """Add the question of an entry.

        Return the problem of the entry; empty if the entry is valid.
        """
        situation = self._situation(database, layout.scenario.schema)
        number = str(entry["question_num"])
        for key, table, column in layout.references:
            if entry[key] not in situation[table][column].tolist():
                problem = f"'{key}' is '{entry[key]}', which is not a {table} of {database.name}"
                return f"question {number}: {problem}"
        target = {key: str(entry[key]) for key in layout.scenario.parameters if entry.get(key)}
        try:
            candidates = layout.scenario.candidates(situation, target)
            outcomes = _outcomes(entry, candidates) if layout.is_recorded else None
        except DataError as error:
            return f"question {number}: {error}"
        if not candidates:
            return f"question {number}: {database.name} contains no candidates"
        answer: Candidate = entry["answer"]
        texts = (entry["question"].strip(), str(entry.get("goal", "")).strip())
        self.situations[situation.name] = situation
        question = Question(
            scenario=layout.name,
            id=number,
            text="\n".join(filter(None, texts)),
            rules=entry["business_rules"].strip(),
            situation=situation.name,
            target=target,
            candidates=candidates,
        )
        self.labelled.append(LabelledQuestion(question, Truth((answer,), outcomes)))
        is_known = answer in candidates
        return (
            "" if is_known else (f"the answer to question {number}, {answer!r}, is not a candidate")
        )

    def _situation(self, file: Path, schema: Schema) -> Situation:
        """Return the situation of a database file. Equal situations are the same object."""
        try:
            with open_regular(file, home=self.folder) as stream:
                content = stream.read()
        except OSError as error:
            problem = f"this database of a question cannot be read: {error.strerror}"
            raise ParseError(file, None, problem) from error
        key = schema.scenario, content
        if key not in self.contents:
            try:
                text = content.decode("utf-8-sig")
            except UnicodeDecodeError as error:
                line = content.count(b"\n", 0, error.start) + 1
                raise ParseError(file, line, f"this is not UTF-8 text: {error.reason}") from error
            situation, defects = FORMS[self.form].parse(text, schema, file)
            # Situations are compared, because two files may spell equal rows differently.
            situation = self.equal.setdefault(situation, situation)
            self.contents[key] = Parsed(situation, defects), set()
        parsed, files = self.contents[key]
        files.add(file)
        return parsed.situation


def _problem(layout: ScenarioLayout, position: int, entry: object) -> str:
    """Return the problem of an entry in the file of questions; empty if the entry is valid."""
    if not isinstance(entry, dict):
        return f"entry {position}: expected a question as a JSON object"
    try:
        layout.entry.model_validate(entry)
    except ValidationError as error:
        return f"question {entry.get('question_num', '?')}: {problem_of(error)}"
    return ""


def _outcomes(entry: Mapping[str, Any], candidates: Sequence[Candidate]) -> tuple[float, ...]:
    """Return the recorded outcome of each candidate. Raise `DataError` if one is missing."""
    recorded = entry["outcomes"]
    for candidate in candidates:
        value = recorded.get(str(candidate))
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
            raise DataError(f"the outcome of '{candidate}' is {value!r}, which is not a number")
    return tuple(float(recorded[str(candidate)]) for candidate in candidates)
