"""Readers of text-to-SQL sets in the folder forms of BIRD and Spider.

Each question names its database, a SQLite file that is asked where it is: nothing is loaded. The
answer is a statement, and what is right is known as one, too: the gold statement. A question stands
under its database's name, so ``--scenarios`` chooses databases and ``--limit`` counts for each.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from dqa import plugins
from dqa.core.database import Limits
from dqa.core.errors import DataError, ParseError, QueryError, UnknownNameError
from dqa.core.files import UnsuitableFileError, open_regular, read_json, read_text
from dqa.core.question import Question
from dqa.core.question_set import Defect, QuestionSet
from dqa.core.truth import NOTHING_KNOWN, LabelledQuestion, MatchRule, Truth
from dqa.loaders.base import WHOLE, Part
from dqa.loaders.release_layout import Form

_NAME = re.compile(r"\w[\w.-]*")
"""What a database may be called: the name of a folder, and nothing that leads elsewhere."""
_LEFT_OUT = "the question is left out"
_TRIED = Limits(rows=1, seconds=30.0)


@dataclass(frozen=True, slots=True)
class TextToSqlReader:
    """Reads one of the folder forms; see `dqa.loaders.base.QuestionReader`.

    Attributes
    ----------
    name
        What messages call the form.
    files
        Files of questions by the folder of their databases, and by the file the one that has the
        gold statements again, a line each; the first that is there is read.
    beside
        Files that tell the form apart where the databases are missing.
    statement, number, hints, tag
        The fields of an entry that hold its gold statement, its number, what is to be known for
        the question, and the word that it is counted under; "" where the form has none.
    match
        When rows of statements match, as the form's own evaluation has it.
    """

    name: str
    files: Mapping[str, Mapping[str, str]]
    beside: tuple[str, ...]
    statement: str
    number: str
    hints: str
    tag: str
    match: MatchRule
    in_place: Literal[True] = True
    rule_set: None = None

    def recognises(self, folder: Path) -> bool:
        """Whether a file of questions is there, with its databases or what describes them."""
        if not any((folder / file).is_file() for files in self.files.values() for file in files):
            return False
        named = any((folder / databases).is_dir() for databases in self.files)
        return named or any((folder / file).is_file() for file in self.beside)

    def read(
        self,
        folder: Path,
        *,
        scenarios: Sequence[str] | None = None,
        form: Form = "relational",
        strict: bool = False,
    ) -> QuestionSet:
        """Read a folder; see `read_part`."""
        return self.read_part(folder, WHOLE, scenarios=scenarios, form=form, strict=strict)

    def read_part(
        self,
        folder: Path,
        part: Part,
        *,
        scenarios: Sequence[str] | None = None,
        form: Form = "relational",
        strict: bool = False,
    ) -> QuestionSet:
        """Read the wanted questions; under `strict` their gold statements are run, too.

        Raises
        ------
        ParseError
            A file cannot be read, or a database that a question names is missing; under `strict`,
            any defect.
        DataError
            Not one question could be read.
        UnknownNameError
            There is no such database, form or question.
        """
        if form != "relational":
            raise UnknownNameError(f"form of {self.name}", form, ("relational",))
        return _Reading(self, folder, strict, part, scenarios).read()


BIRD = TextToSqlReader(
    name="BIRD's form",
    files={
        "dev_databases": {
            "dev.json": "dev.sql",
            "mini_dev_sqlite.json": "mini_dev_sqlite_gold.sql",
        },
        "train_databases": {"train.json": "train_gold.sql"},
    },
    beside=("dev_tables.json", "train_tables.json"),
    statement="SQL",
    number="question_id",
    hints="evidence",
    tag="difficulty",
    match="set",
)
SPIDER = TextToSqlReader(
    name="Spider's form",
    files={
        "database": {
            "dev.json": "dev_gold.sql",
            "train_spider.json": "train_gold.sql",
            "train.json": "train_gold.sql",
        },
    },
    beside=("tables.json",),
    statement="query",
    number="",
    hints="",
    tag="",
    match="table",
)


@dataclass
class _Reading:
    """Reads one folder."""

    form: TextToSqlReader
    folder: Path
    strict: bool
    part: Part
    databases: Sequence[str] | None
    labelled: list[LabelledQuestion] = field(default_factory=list)
    places: dict[str, str] = field(default_factory=dict)
    defects: list[Defect] = field(default_factory=list)
    known: list[str] = field(default_factory=list)
    named: dict[str, int] = field(default_factory=dict)

    def read(self) -> QuestionSet:
        """Return the questions in the order of their file."""
        file, databases, gold_file = self._chosen()
        entries = self._entries(file)
        gold = self._gold_lines(gold_file, len(entries))
        for number, entry in enumerate(entries, start=1):
            self._add(file, number, entry, databases, gold[number - 1] if gold else None)
        for name in self.databases or ():
            if name not in self.named:
                raise UnknownNameError(f"database of {self.folder}", name, self.named)
        if self.part.key is not None and self.part.key not in self.known:
            raise UnknownNameError("question", self.part.key, self.known)
        if not self.labelled:
            first = f" The first problem: {self.defects[0]}." if self.defects else ""
            raise DataError(f"{file}: no question can be read.{first}")
        if self.strict:
            self._try_gold(file)
        name = self.folder.resolve().name
        made = QuestionSet.of(name, self.labelled, {}, tuple(self.defects))
        return replace(made, places=self.places)

    def _chosen(self) -> tuple[Path, Path, Path]:
        """Return the file of questions, the folder of databases and the file of gold statements."""
        for databases, files in self.form.files.items():
            for file, gold in files.items():
                if (self.folder / file).is_file():
                    return self.folder / file, self.folder / databases, self.folder / gold
        expected = " or ".join(file for files in self.form.files.values() for file in files)
        raise ParseError(self.folder, None, f"{self.form.name} has questions in {expected}")

    def _entries(self, file: Path) -> list[Any]:
        entries = read_json(file, home=self.folder)
        if not isinstance(entries, list):
            raise ParseError(file, 1, "expected a JSON list of questions")
        return entries

    def _gold_lines(self, file: Path, expected: int) -> list[str]:
        """Return the gold statements of the file that has them alone; none where it has others."""
        if not file.is_file():
            return []
        try:
            lines = read_text(file, home=self.folder).splitlines()
        except DataError as error:
            self._report(file, f"this cannot be read: {error}", "not read")
            return []
        found = [line.rpartition("\t")[0] or line for line in lines if line.strip()]
        if len(found) != expected:
            self._report(
                file, f"there are {len(found)} statements for {expected} questions", "not read"
            )
            return []
        return found

    def _add(
        self, file: Path, number: int, entry: object, databases: Path, gold: str | None
    ) -> None:
        problem = self._problem(entry)
        if problem is not None or not isinstance(entry, Mapping):
            self._report(file, f"entry {number}: {problem}", _LEFT_OUT)
            return
        database = entry["db_id"]
        self.named[database] = self.named.get(database, 0) + 1
        own_number = entry.get(self.form.number) if self.form.number else None
        question_id = str(number if own_number is None else own_number)
        scenario = self._scenario_of(database)
        key = f"{scenario}/{question_id}"
        if key in self.known:
            self._report(file, f"entry {number}: {key} is there twice", _LEFT_OUT)
            return
        self.known.append(key)
        before = sum(question.scenario == scenario for question, _ in self.labelled)
        chosen = self.databases is None or scenario in self.databases
        if not chosen or not self.part.wants(key, before):
            return
        self.places[database] = self._location(file, number, database, databases)
        asked = Question(
            scenario=scenario,
            id=question_id,
            text=entry["question"].strip(),
            rules=str(entry.get(self.form.hints) or "").strip() if self.form.hints else "",
            situation=database,
            tags=_words(entry.get(self.form.tag)) if self.form.tag else (),
            answer_form="statement",
        )
        right = str(entry.get(self.form.statement) or gold or "").strip().rstrip("; \t\n")
        truth = NOTHING_KNOWN
        if right:
            source = f"{file.name}, entry {number}"
            truth = Truth((right,), match=self.form.match, source=source)
        self.labelled.append(LabelledQuestion(asked, truth))

    def _problem(self, entry: object) -> str | None:
        """Return what is wrong with an entry; None where it can be asked."""
        if not isinstance(entry, Mapping):
            return "expected a question as a JSON object"
        for name in ("db_id", "question"):
            value = entry.get(name)
            if not isinstance(value, str) or not value.strip():
                found = repr(value) if name in entry else "missing"
                return f"'{name}' is {found}; expected a text"
        right = entry.get(self.form.statement)
        if right is not None and not isinstance(right, str):
            return f"'{self.form.statement}' is {right!r}; expected a statement"
        if self.form.number:
            number = entry.get(self.form.number)
            if isinstance(number, bool) or not isinstance(number, int | str | None):
                return f"'{self.form.number}' is {number!r}; expected a number"
        if not _NAME.fullmatch(entry["db_id"]):
            return (
                f"'db_id' is {entry['db_id']!r}, which is no name of a folder: letters, digits, "
                "'_', '-' and '.' alone"
            )
        return None

    def _scenario_of(self, database: str) -> str:
        """Return what questions of a database stand under: its name, unless a scenario has it."""
        is_scenario = database in plugins.names("scenario")
        return f"{database}_{self.form.match}" if is_scenario else database

    def _location(self, file: Path, number: int, database: str, databases: Path) -> str:
        """Return where a database is; `ParseError` where it is not."""
        found = databases / database / f"{database}.sqlite"
        try:
            open_regular(found, home=self.folder, most=None).close()
        except UnsuitableFileError as error:
            raise ParseError(
                file, None, f"entry {number}: the database '{database}' cannot be read: {error}"
            ) from error
        except OSError as error:
            raise ParseError(
                file,
                None,
                f"entry {number}: the database '{database}' is expected at {found}: "
                f"{error.strerror}",
            ) from error
        return str(found)

    def _try_gold(self, file: Path) -> None:
        """Raise `ParseError` at the first gold statement that cannot run."""
        by_place: dict[str, list[LabelledQuestion]] = {}
        for one in self.labelled:
            by_place.setdefault(one.question.situation, []).append(one)
        for place, asked in by_place.items():
            where = self.places[place]
            with closing(plugins.backend_for(where).open(where)) as database:
                for question, truth in asked:
                    if truth.official is None:
                        continue
                    try:
                        database.query(str(truth.official), _TRIED)
                    except QueryError as error:
                        entry = truth.source.rpartition(", ")[2]
                        problem = f"{entry} ({question.key}): the gold statement cannot run"
                        raise ParseError(file, None, f"{problem}: {error}") from error

    def _report(self, file: Path, problem: str, action: str) -> None:
        if self.strict:
            raise ParseError(file, None, problem)
        self.defects.append(Defect(file, None, problem, action))


def _words(value: object) -> tuple[str, ...]:
    return (value.strip(),) if isinstance(value, str) and value.strip() else ()
