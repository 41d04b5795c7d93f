"""The reader of the DQA release: its questions and the situations they are asked about.

The release's files are read as they are published, with their defects. Each defect that the
reader survives becomes one `Defect`; ``strict`` turns the first of them into an error.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path
from typing import Any

from dqa.core.errors import DataError, ParseError, UnknownNameError
from dqa.core.files import parse_json_of, read_text
from dqa.core.question import Candidate, Question
from dqa.core.question_set import Defect, QuestionSet
from dqa.core.situation import Situation
from dqa.core.truth import LabelledQuestion, Truth
from dqa.loaders.base import WHOLE, Part
from dqa.loaders.release_databases import ReleaseDatabases, refusal
from dqa.loaders.release_layout import FORMS, Form, ScenarioLayout, layouts

MANIFEST = "manifest.json"
"""The file that vouches for a folder that was generated."""

_LEFT_OUT = "the question is left out"


def read_release(
    folder: Path | str,
    *,
    form: Form = "relational",
    strict: bool = False,
    scenarios: Sequence[str] | None = None,
    part: Part = WHOLE,
) -> QuestionSet:
    """Read the questions of a DQA release and the situations they are asked about.

    Parameters
    ----------
    folder
        The release as its authors publish it: the folder that holds ``data``.
    form
        Whether to read the ``.sql`` or the ``.cql`` file of each database. Both give the same
        situations.
    strict
        Raise at the first defect instead of reporting it.
    scenarios
        Which to read; None for all that are there.
    part
        Which questions are wanted: no database is read for the others. Their entries are, and what
        is wrong with those is reported.

    Returns
    -------
    QuestionSet
        Questions in the order of their files. Databases of equal content are one situation, called
        by the stem of the first question's file (``q1``, ``USA1836``). A question that lacks
        something, or whose database holds nothing to choose from, is left out and reported.

    Raises
    ------
    ParseError
        The folder is no release, a file of questions cannot be read, or a database that a question
        names is missing or cannot be parsed; under `strict`, any defect.
    DataError
        Not one question could be read.
    UnknownNameError
        The release holds no scenario of that name, no form, or no question of `part.key`.
    """
    folder = Path(folder)
    if form not in FORMS:
        raise UnknownNameError("form", form, FORMS)
    reader = _Reader(folder, form, strict, part, ReleaseDatabases(folder, form, strict))
    for layout in _layouts(folder, scenarios):
        reader.read(layout)
    return reader.finish()


class ReleaseReader:
    """Reads releases of this layout; see `dqa.loaders.base.QuestionReader`."""

    name = "a DQA release"
    rule_set = "released"

    def recognises(self, folder: Path) -> bool:
        """Whether a known scenario's file of questions is there, and `dqa generate` wrote none."""
        if (folder / MANIFEST).exists():
            return False
        return any(layout.questions_file(folder).is_file() for layout in layouts().values())

    def read(
        self,
        folder: Path,
        *,
        scenarios: Sequence[str] | None = None,
        form: Form = "relational",
        strict: bool = False,
    ) -> QuestionSet:
        """Read a release; see `read_release`."""
        return read_release(folder, form=form, strict=strict, scenarios=scenarios)

    def read_part(
        self,
        folder: Path,
        part: Part,
        *,
        scenarios: Sequence[str] | None = None,
        form: Form = "relational",
        strict: bool = False,
    ) -> QuestionSet:
        """Read the wanted questions of a release; see `read_release`."""
        return read_release(folder, form=form, strict=strict, scenarios=scenarios, part=part)


READER = ReleaseReader()


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
        expected = " or ".join(str(x.questions_file(folder)) for x in known.values())
        raise ParseError(
            folder,
            None,
            f"this is no DQA release: there is no {expected}. Name the folder that holds 'data', "
            "with data/SCENARIO/questions/*.json and data/SCENARIO/queries/{SQL,LPG}_format/*"
            + _of_strangers(folder, known),
        )
    return chosen


def _of_strangers(folder: Path, known: Mapping[str, ScenarioLayout]) -> str:
    """Return what to say of questions whose scenario nobody named."""
    there = sorted(path.parent.name for path in folder.glob("data/*/questions"))
    strange = next((name for name in there if name not in known), None)
    if strange is None:
        return ""
    return f". It has questions of '{strange}': name the folder of that scenario, too"


@dataclass
class _Entry:
    """A question as its file has it."""

    values: Mapping[str, Any]
    file: Path
    number: int
    text: str

    @property
    def line(self) -> int:
        """Line at which the entry starts: decoded anew, as only a report needs it."""
        decoder = json.JSONDecoder()
        place = self.text.index("[") + 1
        for _ in range(self.number):
            _, place = decoder.raw_decode(self.text, _next_value(self.text, place))
        return self.text.count("\n", 0, _next_value(self.text, place)) + 1


def _next_value(text: str, place: int) -> int:
    while text[place] in " \t\r\n,":
        place += 1
    return place


@dataclass
class _Reader:
    """Reads scenario by scenario, each distinct database once."""

    folder: Path
    form: Form
    strict: bool
    part: Part
    databases: ReleaseDatabases
    labelled: list[LabelledQuestion] = field(default_factory=list)
    situations: dict[str, Situation] = field(default_factory=dict)
    defects: list[Defect] = field(default_factory=list)
    left_out: dict[tuple[Path, str, int | None], list[str]] = field(default_factory=dict)
    known: list[str] = field(default_factory=list)

    def read(self, layout: ScenarioLayout) -> None:
        """Read a scenario's questions with their databases."""
        folder = layout.database_folder(self.folder, self.form)
        others, named = len(self.labelled), set[str]()
        seen: set[str] = set()
        for entry in self._entries(layout):
            if not self._usable(entry, layout):
                continue
            number = str(entry.values["question_num"])
            if number in seen:
                self._report(entry.file, entry.line, f"question {number} is there twice", _LEFT_OUT)
                continue
            seen.add(number)
            name = layout.database_name(self.form, entry.values)
            named.add(name)
            key = f"{layout.name}/{number}"
            if self.part.wants(key, len(self.labelled) - others):
                file = folder / name
                self._ask(entry, layout, self.databases.read(file, layout.scenario.schema), file)
            self.known.append(key)
        self._report_unused(folder, named)

    def finish(self) -> QuestionSet:
        """Return everything read; `DataError` where that is no question at all."""
        for database in self.databases.found:
            others = len(database.files) - 1
            self.defects += [replace(defect, more=others) for defect in database.defects]
        for (file, problem, line), numbers in self.left_out.items():
            plural = "questions" if len(numbers) > 1 else "question"
            listed = ", ".join(numbers)
            are = "are" if len(numbers) > 1 else "is"
            self.defects.append(Defect(file, line, problem, f"{plural} {listed} {are} left out"))
        if self.part.key is not None and self.part.key not in self.known:
            raise UnknownNameError("question", self.part.key, self.known)
        if not self.labelled:
            first = f" The first problem: {self.defects[0]}." if self.defects else ""
            raise DataError(f"{self.folder}: no question of this release can be read.{first}")
        name = self.folder.resolve().name
        return QuestionSet.of(name, self.labelled, self.situations, tuple(self.defects))

    # --- questions ---

    def _entries(self, layout: ScenarioLayout) -> Iterator[_Entry]:
        file = layout.questions_file(self.folder)
        text = read_text(file, home=self.folder)
        values = parse_json_of(file, text)
        if not isinstance(values, list):
            raise ParseError(file, 1, "expected a JSON list of questions")
        for number, entry in enumerate(values):
            yield _Entry(entry, file, number, text)

    def _usable(self, entry: _Entry, layout: ScenarioLayout) -> bool:
        """Whether an entry has what a question needs; what it lacks is reported."""
        values = entry.values
        if not isinstance(values, dict):
            self._report(entry.file, entry.line, "expected a question as a JSON object", _LEFT_OUT)
            return False
        needed = {
            "question_num": (int,),
            "question": (str,),
            "business_rules": (str,),
            "answer": (layout.answer,),
            **{key: (str,) for key in layout.target if key not in layout.optional},
            **({"outcomes": (dict,)} if layout.recorded else {}),
        }
        for key, types in needed.items():
            value = values.get(key)
            if not isinstance(value, types) or isinstance(value, bool):
                found = repr(value) if key in values else "nothing"
                problem = f"'{key}' of question {values.get('question_num', '?')} is {found}"
                expected = types[0].__name__
                self._report(entry.file, entry.line, f"{problem}; expected {expected}", _LEFT_OUT)
                return False
        return True

    def _ask(self, entry: _Entry, layout: ScenarioLayout, situation: Situation, file: Path) -> None:
        """Make a question of an entry and add it, unless there is nothing to choose."""
        values = entry.values
        number = str(values["question_num"])
        for key, table, column in layout.references:
            if values[key] not in situation[table][column].tolist():
                self._report(
                    entry.file,
                    entry.line,
                    f"'{key}' of question {number} is '{values[key]}', "
                    f"which is no {table} of {file.name}",
                    _LEFT_OUT,
                )
                return
        target = {key: str(values[key]) for key in layout.target if values.get(key)}
        try:
            candidates = layout.scenario.candidates(situation, target)
            outcomes = _outcomes(values, candidates) if layout.recorded else None
        except DataError as error:
            self._report(entry.file, entry.line, f"question {number}: {error}", _LEFT_OUT)
            return
        if not candidates:
            self._leave_out(file, None, "there is nothing to choose from", number)
            return
        answer: Candidate = values["answer"]
        if answer not in candidates:
            self._report(
                entry.file,
                entry.line,
                f"the answer of question {number}, {answer!r}, is no candidate",
                "kept as it is",
            )
        texts = (values["question"].strip(), str(values.get("goal", "")).strip())
        self.situations[situation.name] = situation
        question = Question(
            scenario=layout.name,
            id=number,
            text="\n".join(text for text in texts if text),
            rules=values["business_rules"].strip(),
            situation=situation.name,
            target=target,
            candidates=candidates,
        )
        self.labelled.append(LabelledQuestion(question, Truth((answer,), outcomes)))

    def _report_unused(self, folder: Path, named: set[str]) -> None:
        unused = sorted(path.name for path in folder.glob("*") if path.name not in named)
        if unused:
            shown = ", ".join(unused[:5]) + (", ..." if len(unused) > 5 else "")
            self._report(
                folder, None, f"no question names {len(unused)} of the files: {shown}", "not read"
            )

    # --- defects ---

    def _report(self, file: Path, line: int | None, problem: str, action: str) -> None:
        defect = Defect(file, line, problem, action)
        if self.strict:
            raise refusal(defect)
        self.defects.append(defect)

    def _leave_out(self, file: Path, line: int | None, problem: str, number: str) -> None:
        if self.strict:
            raise refusal(Defect(file, line, problem, _LEFT_OUT))
        self.left_out.setdefault((file, problem, line), []).append(number)


def _outcomes(values: Mapping[str, Any], candidates: Sequence[Candidate]) -> tuple[float, ...]:
    """Return what an entry says each candidate leads to; `DataError` where it does not say."""
    told = values["outcomes"]
    for candidate in candidates:
        value = told.get(str(candidate))
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
            raise DataError(f"the outcome of '{candidate}' is {value!r}, which is no number")
    return tuple(float(told[str(candidate)]) for candidate in candidates)
