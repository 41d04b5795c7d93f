"""Read text-to-SQL sets in the folder layouts of BIRD, Spider, Spider 2 lite and Defog.

Each question names its database, which exists already and is not loaded. The answer is a statement.
The data contains the right answers as statements or as result rows. The scenario of a question is
the name of its database, so ``--scenarios`` selects databases, and ``--limit`` applies to each
database.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from io import StringIO
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from dqa import plugins
from dqa.core.errors import DataError, ParseError, UnknownNameError
from dqa.core.files import (
    UnsuitableFileError,
    json_lines,
    open_regular,
    read_bytes,
    read_json,
    read_text,
)
from dqa.core.question import Question
from dqa.core.question_set import Defect, QuestionSet
from dqa.core.records import problem_of
from dqa.core.secrets import redact
from dqa.core.text import counted
from dqa.core.truth import LabelledQuestion, MatchRule, Truth
from dqa.loaders.locations import variable_of
from dqa.loaders.release_layout import Form
from dqa.loaders.text_to_sql_gold import SPIDER2_GOLD, Spider2Gold, alternatives, plain_statement

_LEFT_OUT = "the question is left out"


def _whole_number(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _named(*names: str) -> Any:  # noqa: ANN401  (a field)
    return Field(None, validation_alias=AliasChoices(*names))


class _Entry(BaseModel):
    """A question in a file. Each layout has its own names for the fields."""

    model_config = ConfigDict(frozen=True, strict=True, str_strip_whitespace=True)

    database: Annotated[
        str, Field(pattern=r"^\w[\w.-]*$", validation_alias=AliasChoices("db_id", "db_name", "db"))
    ]
    question: Annotated[str, Field(min_length=1)]
    gold: str | None = _named("SQL", "query")
    id: Annotated[str | None, BeforeValidator(_whole_number)] = _named("question_id", "instance_id")
    hints: str | None = _named("evidence", "instructions")
    tag: str | None = _named("difficulty", "query_category")
    document: str | None = _named("external_knowledge")


class _Layout(NamedTuple):
    """A folder layout of a benchmark: the locations of questions and databases.

    Attributes
    ----------
    questions
        The file of questions.
    databases
        The folder of SQLite files; empty for databases on a server.
    match
        The rule for matching rows.
    engine
        ``sqlite``, or the engine of the server: ``mysql`` or ``postgres``.
    """

    questions: str
    databases: str
    match: MatchRule
    engine: str = "sqlite"

    @property
    def gold(self) -> tuple[str, ...]:
        """The files that may contain the gold statements if the entries contain none.

        Each line of a file is a statement.
        """
        stem = Path(self.questions).stem
        return f"{stem}_gold.sql", f"{stem}.sql", f"{stem.partition('_')[0]}_gold.sql"


@dataclass(frozen=True, slots=True)
class TextToSqlReader:
    """Reads folders of one benchmark; see `dqa.loaders.reading.QuestionReader`.

    Attributes
    ----------
    name
        The name of the benchmark in messages.
    layouts
        The possible layouts. The first layout whose file of questions exists is used.
    extra_files
        Files by which the reader recognises the benchmark if the folder has no databases.
    """

    name: str
    layouts: tuple[_Layout, ...]
    extra_files: tuple[str, ...] = ()
    in_place: Literal[True] = True
    rule_set: None = None

    def recognises(self, folder: Path) -> bool:
        """Return whether a folder has questions, and databases or descriptions of databases."""
        matching = [one for one in self.layouts if (folder / one.questions).is_file()]
        described = any((folder / file).is_file() for file in self.extra_files)
        return any(
            described or one.engine != "sqlite" or (folder / one.databases).is_dir()
            for one in matching
        )

    def read(
        self,
        folder: Path,
        *,
        scenarios: Sequence[str] | None = None,
        form: Form = "relational",
        limit: int | None = None,
    ) -> QuestionSet:
        """Read the selected questions.

        Parameters
        ----------
        form
            ``mysql`` or ``postgres`` for the questions about a server, whose URL is in
            ``DQA_MYSQL_URL``, ``DQA_POSTGRES_URL`` or, for one database, ``DQA_NAME_URL``.

        Raises
        ------
        ParseError
            A file cannot be read, or a question's database is missing.
        DataError
            No question can be read.
        UnknownNameError
            A database or the form is unknown.
        """
        return _Reading(self._layout(folder, form), folder, limit, scenarios).read()

    def _layout(self, folder: Path, form: Form) -> _Layout:
        known = {"relational", *(one.engine for one in self.layouts)} - {"sqlite"}
        if form not in known:
            raise UnknownNameError(f"form of {self.name}", form, sorted(known))
        wanted = [one for one in self.layouts if form in ("relational", one.engine)]
        for one in wanted:
            if (folder / one.questions).is_file():
                return one
        expected = " or ".join(one.questions for one in wanted)
        raise ParseError(folder, None, f"{self.name} has questions in {expected}")


BIRD = TextToSqlReader(
    name="BIRD's form",
    layouts=(
        _Layout("dev.json", "dev_databases", "set"),
        _Layout("mini_dev_sqlite.json", "dev_databases", "set"),
        _Layout("mini_dev_mysql.json", "dev_databases", "set", "mysql"),
        _Layout("mini_dev_postgresql.json", "dev_databases", "set", "postgres"),
        _Layout("train.json", "train_databases", "set"),
    ),
    extra_files=("dev_tables.json", "train_tables.json"),
)
SPIDER = TextToSqlReader(
    name="Spider's form",
    layouts=(
        _Layout("dev.json", "database", "table"),
        _Layout("train_spider.json", "database", "table"),
        _Layout("train.json", "database", "table"),
        _Layout("spider2-lite.jsonl", "resource/databases", "columns"),
    ),
    extra_files=("tables.json", f"{SPIDER2_GOLD}/spider2lite_eval.jsonl"),
)
DEFOG = TextToSqlReader(
    name="Defog's form",
    layouts=(
        _Layout("questions_gen_sqlite.csv", "sqlite_dbs", "subset"),
        _Layout("questions_gen_postgres.csv", "", "subset", "postgres"),
        _Layout("questions_gen_mysql.csv", "", "subset", "mysql"),
    ),
)


@dataclass
class _Reading:
    """Reads one folder."""

    layout: _Layout
    folder: Path
    limit: int | None
    databases: Sequence[str] | None
    labelled: list[LabelledQuestion] = field(default_factory=list)
    locations: dict[str, str] = field(default_factory=dict)
    hints: dict[str, str] = field(default_factory=dict)
    defects: list[Defect] = field(default_factory=list)
    keys: dict[str, str] = field(default_factory=dict)
    gold: list[str] = field(default_factory=list)

    def read(self) -> QuestionSet:
        """Return the questions in the order of their file."""
        file = self.folder / self.layout.questions
        spider = Spider2Gold(self.folder) if self.layout.match == "columns" else None
        elsewhere = 0
        entries = self._entries(file)
        self.gold = self._gold_lines(len(entries))
        for number, value in enumerate(entries, start=1):
            try:
                entry = _Entry.model_validate(value)
            except ValidationError as error:
                self._report(file, f"entry {number}: {problem_of(error)}", _LEFT_OUT)
                continue
            if spider is not None and not (entry.id or "").startswith("local"):
                elsewhere += 1
            else:
                self._add(file, number, entry, spider)
        if elsewhere:
            problem = f"{counted(elsewhere, 'question')} about BigQuery and Snowflake"
            self.defects.append(Defect(file, problem, "left out"))
        for name in self.databases or ():
            if name not in self.keys.values():
                known = dict.fromkeys(self.keys.values())
                raise UnknownNameError(f"database of {self.folder}", name, known)
        if not self.labelled:
            first = f" The first problem: {self.defects[0]}." if self.defects else ""
            raise DataError(f"{file}: no question can be read.{first}")
        name = self.folder.resolve().name
        found = QuestionSet.of(name, self.labelled, {}, tuple(self.defects))
        return replace(found, locations=self.locations)

    def _entries(self, file: Path) -> list[Any]:
        """Return the entries of a JSON list, of JSON lines or of a CSV file."""
        if file.suffix == ".csv":
            return list(_csv_rows(read_text(file, home=self.folder)))
        if file.suffix == ".jsonl":
            return [value for _, value in json_lines(file, home=self.folder)]
        entries = read_json(file, home=self.folder)
        if not isinstance(entries, list):
            raise ParseError(file, 1, "expected a JSON list of questions")
        return entries

    def _add(self, file: Path, number: int, entry: _Entry, spider: Spider2Gold | None) -> None:
        """Add a question if it is selected. Report a duplicate."""
        database = entry.database
        is_scenario = database in plugins.names("scenario")
        scenario = f"{database}_{self.layout.match}" if is_scenario else database
        question_id = entry.id or str(number)
        key = f"{scenario}/{question_id}"
        if key in self.keys:
            self._report(file, f"entry {number}: {key} is a duplicate", _LEFT_OUT)
            return
        self.keys[key] = scenario
        before = sum(question.scenario == scenario for question, _ in self.labelled)
        is_chosen = self.databases is None or scenario in self.databases
        if not is_chosen or (self.limit is not None and before >= self.limit):
            return
        if database not in self.locations:
            self.locations[database] = self._location(file, number, database)
            self.hints[database] = self._descriptions(database)
        document = ""
        if entry.document:
            path = self.folder / "resource/documents" / entry.document
            document = read_text(path, home=self.folder).strip()
        question = Question(
            scenario=scenario,
            id=question_id,
            text=entry.question,
            rules="\n\n".join(filter(None, [entry.hints, document, self.hints[database]])),
            situation=database,
            tags=(entry.tag,) if entry.tag else (),
            answer_form="statement",
        )
        truth = self._truth(number, entry) if spider is None else spider.truth(question_id)
        self.labelled.append(LabelledQuestion(question, truth))

    def _gold_lines(self, count: int) -> list[str]:
        """Return the statements of the gold file.

        Return an empty list if the file is missing or does not have one line per question.
        """
        file = next(filter(Path.is_file, (self.folder / one for one in self.layout.gold)), None)
        if file is None:
            return []
        lines = read_text(file, home=self.folder).split("\n")
        found = [line.rpartition("\t")[0] or line for line in lines if line.strip()]
        if len(found) == count:
            return found
        problem = f"{counted(len(found), 'statement')} for {counted(count, 'question')}"
        self._report(file, problem, "not read")
        return []

    def _truth(self, number: int, entry: _Entry) -> Truth:
        """Return the gold statements of an entry.

        In Defog's notation, an entry may have several gold statements.
        """
        gold, match = entry.gold or "", self.layout.match
        if not gold and self.gold:
            gold = self.gold[number - 1]
        statements = alternatives(gold) if match == "subset" else [plain_statement(gold)]
        answers = tuple(dict.fromkeys(filter(None, statements)))
        source = f"{self.layout.questions}, entry {number}"
        return Truth(answers, match=match, source=source) if answers else Truth()

    # --- databases ---

    def _location(self, file: Path, number: int, database: str) -> str:
        """Return the location of a database. Raise `ParseError` if it is missing."""
        problem = f"entry {number}: the database '{database}'"
        if self.layout.engine != "sqlite":
            names = [variable_of(database), variable_of(self.layout.engine)]
            url = next(filter(None, map(os.environ.get, names)), None)
            if url is None:
                problem += f" is on a server: set {' or '.join(names)} to its URL"
                raise ParseError(file, None, problem)
            return redact(url)
        home = self.folder / self.layout.databases
        paths = [
            home / part.format(database)
            for part in ("{0}/{0}.sqlite", "{0}.sqlite", "spider2-localdb/{0}.sqlite", "{0}.db")
        ]
        found = next((path for path in paths if path.is_file()), paths[0])
        try:
            open_regular(found, home=self.folder, most=None).close()
        except (UnsuitableFileError, OSError) as error:
            why = getattr(error, "strerror", None) or str(error)
            problem += f" cannot be read at {found}: {why}"
            raise ParseError(file, None, problem) from error
        return str(found)

    def _descriptions(self, database: str) -> str:
        """Return the descriptions of a database's columns in BIRD's ``database_description``."""
        folder = self.folder / self.layout.databases / database / "database_description"
        lines: list[str] = []
        for file in sorted(folder.glob("*.csv")):
            for row in _csv_rows(_decoded(read_bytes(file, home=self.folder))):
                column = row.get("original_column_name", "").strip()
                parts = [row.get("column_description", ""), row.get("value_description", "")]
                text = "; ".join(filter(None, (" ".join(part.split()) for part in parts)))
                if column and text and text.casefold() != column.casefold():
                    lines.append(f"- {file.stem}.{column}: {text}")
        return "\n".join(["Columns:", *lines]) if lines else ""

    def _report(self, file: Path, problem: str, action: str) -> None:
        self.defects.append(Defect(file, problem, action))


def _csv_rows(text: str) -> Iterator[dict[str, str]]:
    """Yield each row of a CSV file as a dict from column name to text, without empty cells."""
    for row in csv.DictReader(StringIO(text, newline="")):
        yield {
            name.strip(): value
            for name, value in row.items()
            if isinstance(name, str) and isinstance(value, str) and value.strip()
        }


def _decoded(content: bytes) -> str:
    """Decode a text. Some of BIRD's descriptions are not UTF-8."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace")
