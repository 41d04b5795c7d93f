"""Readers of text-to-SQL sets in the folder forms of BIRD, Spider, Spider 2 lite and Defog.

Each question names its database, which is queried in place. The answer is a statement; the
right ones are known as statements or as rows. A question's scenario is its database's name, so
``--scenarios`` chooses databases and ``--limit`` counts for each.
"""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from itertools import chain, combinations
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from dqa import plugins
from dqa.core.database import Limits
from dqa.core.errors import DataError, ParseError, QueryError, UnknownNameError
from dqa.core.files import UnsuitableFileError, open_regular, read_bytes, read_json, read_text
from dqa.core.question import Question
from dqa.core.question_set import Defect, QuestionSet
from dqa.core.records import problem_of
from dqa.core.secrets import redact
from dqa.core.text import counted
from dqa.core.truth import GoldTable, LabelledQuestion, MatchRule, Truth
from dqa.loaders.base import WHOLE, Part
from dqa.loaders.locations import variable_of
from dqa.loaders.release_layout import Form

_LEFT_OUT = "the question is left out"
_TRIED = Limits(rows=1, seconds=30.0)
_BRACES = re.compile(r"\{([^{}]*)\}")


def _whole_number(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _named(*names: str) -> Any:  # noqa: ANN401  (a field)
    return Field(None, validation_alias=AliasChoices(*names))


class _Entry(BaseModel):
    """A question as a file has it; the forms name the same fields differently."""

    model_config = ConfigDict(frozen=True, strict=True, str_strip_whitespace=True)

    database: Annotated[
        str,
        Field(pattern=r"^\w[\w.-]*$", validation_alias=AliasChoices("db_id", "db_name", "db")),
    ]
    question: Annotated[str, Field(min_length=1)]
    gold: str | None = _named("SQL", "query")
    id: Annotated[str | None, BeforeValidator(_whole_number)] = _named("question_id", "instance_id")
    hints: str | None = _named("evidence", "instructions")
    tag: str | None = _named("difficulty", "query_category")
    document: str | None = _named("external_knowledge")


class _Layout(NamedTuple):
    """Where a form has its questions, databases and gold statements.

    Attributes
    ----------
    questions, gold
        The file of questions, and the file of its gold statements, one on each line.
    databases
        The folder of SQLite files; for a server ``mysql`` or ``postgres`` in `engine`.
    match
        The rule for matching rows.
    """

    questions: str
    databases: str
    gold: str
    match: MatchRule
    engine: str = "sqlite"


@dataclass(frozen=True, slots=True)
class TextToSqlReader:
    """Reads folders of one form; see `dqa.loaders.base.QuestionReader`.

    Attributes
    ----------
    name
        The form in messages.
    layouts
        The first one with questions is read.
    beside
        Files that identify the form without its databases.
    """

    name: str
    layouts: tuple[_Layout, ...]
    beside: tuple[str, ...] = ()
    in_place: Literal[True] = True
    rule_set: None = None

    def recognises(self, folder: Path) -> bool:
        """Whether a folder has questions, with their databases or a description of them."""
        there = [one for one in self.layouts if (folder / one.questions).is_file()]
        described = any((folder / file).is_file() for file in self.beside)
        return any(
            described or one.engine != "sqlite" or (folder / one.databases).is_dir()
            for one in there
        )

    def read(
        self,
        folder: Path,
        *,
        scenarios: Sequence[str] | None = None,
        form: Form = "relational",
        strict: bool = False,
        part: Part = WHOLE,
    ) -> QuestionSet:
        """Read the wanted questions; with `strict`, run their gold statements too.

        Parameters
        ----------
        form
            ``mysql`` or ``postgres`` for the questions about a server, whose URL is in
            ``DQA_MYSQL_URL``, ``DQA_POSTGRES_URL`` or, for one database, ``DQA_NAME_URL``.

        Raises
        ------
        ParseError
            A file cannot be read, or a question's database is missing; with `strict`, any defect.
        DataError
            No question can be read.
        UnknownNameError
            There is no such database, form or question.
        """
        layout = self._layout(folder, form)
        return _Reading(self, layout, folder, strict, part, scenarios).read()

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
        _Layout("dev.json", "dev_databases", "dev.sql", "set"),
        _Layout("mini_dev_sqlite.json", "dev_databases", "mini_dev_sqlite_gold.sql", "set"),
        _Layout("mini_dev_mysql.json", "dev_databases", "mini_dev_mysql_gold.sql", "set", "mysql"),
        _Layout(
            *("mini_dev_postgresql.json", "dev_databases", "mini_dev_postgresql_gold.sql"),
            *("set", "postgres"),
        ),
        _Layout("train.json", "train_databases", "train_gold.sql", "set"),
    ),
    beside=("dev_tables.json", "train_tables.json"),
)
SPIDER = TextToSqlReader(
    name="Spider's form",
    layouts=(
        _Layout("dev.json", "database", "dev_gold.sql", "table"),
        _Layout("train_spider.json", "database", "train_gold.sql", "table"),
        _Layout("train.json", "database", "train_gold.sql", "table"),
        _Layout("spider2-lite.jsonl", "resource/databases", "evaluation_suite/gold", "columns"),
    ),
    beside=("tables.json", "evaluation_suite/gold/spider2lite_eval.jsonl"),
)
DEFOG = TextToSqlReader(
    name="Defog's form",
    layouts=(
        _Layout("questions_gen_sqlite.csv", "sqlite_dbs", "", "subset"),
        _Layout("questions_gen_postgres.csv", "", "", "subset", "postgres"),
        _Layout("questions_gen_mysql.csv", "", "", "subset", "mysql"),
    ),
)


@dataclass
class _Reading:
    """Reads one folder."""

    form: TextToSqlReader
    layout: _Layout
    folder: Path
    strict: bool
    part: Part
    databases: Sequence[str] | None
    labelled: list[LabelledQuestion] = field(default_factory=list)
    places: dict[str, str] = field(default_factory=dict)
    defects: list[Defect] = field(default_factory=list)
    known: list[str] = field(default_factory=list)
    named: dict[str, None] = field(default_factory=dict)
    hints: dict[str, str] = field(default_factory=dict)
    elsewhere: int = 0

    def read(self) -> QuestionSet:
        """Return the questions in the order of their file."""
        file = self.folder / self.layout.questions
        entries = self._entries(file)
        gold = self._gold_of(entries)
        for number, entry in enumerate(entries, start=1):
            self._add(file, number, entry, gold)
        if self.elsewhere:
            problem = f"{counted(self.elsewhere, 'question')} about BigQuery and Snowflake"
            self.defects.append(Defect(file, None, problem, "left out"))
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
        found = QuestionSet.of(name, self.labelled, {}, tuple(self.defects))
        return replace(found, places=self.places)

    def _entries(self, file: Path) -> list[object]:
        """Return the entries of a JSON list, of JSON lines or of a CSV file."""
        if file.suffix == ".csv":
            return list(_csv_rows(read_text(file, home=self.folder)))
        entries = (
            self._json_lines(file) if file.suffix == ".jsonl" else read_json(file, home=self.folder)
        )
        if not isinstance(entries, list):
            raise ParseError(file, 1, "expected a JSON list of questions")
        return entries

    def _json_lines(self, file: Path) -> list[Any]:
        lines = read_text(file, home=self.folder).splitlines()
        found: list[Any] = []
        for number, line in enumerate(lines, start=1):
            try:
                found += [json.loads(line)] if line.strip() else []
            except ValueError as error:
                raise ParseError(file, number, f"this is not JSON: {error}") from error
        return found

    def _add(
        self, file: Path, number: int, written: object, gold: Callable[[int, _Entry], Truth]
    ) -> None:
        """Add a question, unless it is not wanted or has a defect, which is reported."""
        try:
            entry = _Entry.model_validate(written)
        except ValidationError as error:
            self._report(file, f"entry {number}: {problem_of(error)}", _LEFT_OUT)
            return
        if self.layout.match == "columns" and not (entry.id or "").startswith("local"):
            self.elsewhere += 1
            return
        database = entry.database
        self.named[database] = None
        is_scenario = database in plugins.names("scenario")
        scenario = f"{database}_{self.layout.match}" if is_scenario else database
        question_id = entry.id or str(number)
        key = f"{scenario}/{question_id}"
        if key in self.known:
            self._report(file, f"entry {number}: {key} is a duplicate", _LEFT_OUT)
            return
        self.known.append(key)
        before = sum(question.scenario == scenario for question, _ in self.labelled)
        chosen = self.databases is None or scenario in self.databases
        if not chosen or not self.part.wants(key, before):
            return
        if database not in self.places:
            self.places[database] = self._location(file, number, database)
            self.hints[database] = self._descriptions(database)
        hints = [entry.hints, self._document(entry.document), self.hints[database]]
        asked = Question(
            scenario=scenario,
            id=question_id,
            text=entry.question,
            rules="\n\n".join(filter(None, hints)),
            situation=database,
            tags=(entry.tag,) if entry.tag else (),
            answer_form="statement",
        )
        self.labelled.append(LabelledQuestion(asked, gold(number, entry)))

    # --- truths ---

    def _gold_of(self, entries: Sequence[object]) -> Callable[[int, _Entry], Truth]:
        """Return what reads the truth of an entry by its number."""
        file = self.layout.questions
        if self.layout.match == "columns":
            return _Spider2Gold(self.folder, self.layout.gold).truth
        lines = self._gold_lines(len(entries)) if self.layout.gold else []

        def truth(number: int, entry: _Entry) -> Truth:
            written = entry.gold or (lines[number - 1] if lines else "")
            statements = (
                alternatives(written) if self.layout.match == "subset" else [_statement(written)]
            )
            answers = tuple(dict.fromkeys(filter(None, statements)))
            if not answers:
                return Truth()
            return Truth(answers, match=self.layout.match, source=f"{file}, entry {number}")

        return truth

    def _gold_lines(self, expected: int) -> list[str]:
        """Return the statements of the gold file; none if it is missing or does not fit."""
        file = self.folder / self.layout.gold
        if not file.is_file():
            return []
        try:
            lines = read_text(file, home=self.folder).splitlines()
        except DataError as error:
            self._report(file, f"this cannot be read: {error}", "not read")
            return []
        found = [line.rpartition("\t")[0] or line for line in lines if line.strip()]
        if len(found) != expected:
            problem = f"there are {len(found)} statements for {expected} questions"
            self._report(file, problem, "not read")
            return []
        return found

    def _try_gold(self, file: Path) -> None:
        """Raise `ParseError` at the first gold statement that cannot run."""
        for place, where in self.places.items():
            asked = [one for one in self.labelled if one.question.situation == place]
            with closing(plugins.backend_for(where).open(where)) as database:
                for question, truth in asked:
                    for statement in truth.answers:
                        try:
                            database.query(str(statement), _TRIED)
                        except QueryError as error:
                            entry = truth.source.rpartition(", ")[2]
                            problem = f"{entry} ({question.key}): the gold statement cannot run"
                            raise ParseError(file, None, f"{problem}: {error}") from error

    # --- databases ---

    def _location(self, file: Path, number: int, database: str) -> str:
        """Return where a database is; `ParseError` if it is missing."""
        problem = f"entry {number}: the database '{database}'"
        if self.layout.engine != "sqlite":
            names = [variable_of(database), variable_of(self.layout.engine)]
            for name in names:
                if os.environ.get(name):
                    return redact(os.environ[name])
            raise ParseError(
                file, None, f"{problem} is on a server: set {' or '.join(names)} to its URL"
            )
        home = self.folder / self.layout.databases
        places = [home / database / f"{database}.sqlite", home / f"{database}.sqlite"]
        places += [home / "spider2-localdb" / f"{database}.sqlite", home / f"{database}.db"]
        found = next((place for place in places if place.is_file()), places[0])
        try:
            open_regular(found, home=self.folder, most=None).close()
        except UnsuitableFileError as error:
            raise ParseError(file, None, f"{problem} cannot be read: {error}") from error
        except OSError as error:
            told = f"{problem} is expected at {found}: {error.strerror}"
            raise ParseError(file, None, told) from error
        return str(found)

    def _descriptions(self, database: str) -> str:
        """Return what BIRD's ``database_description`` says of a database's columns."""
        folder = self.folder / self.layout.databases / database / "database_description"
        lines: list[str] = []
        for file in sorted(folder.glob("*.csv")):
            for row in _csv_rows(_decoded(read_bytes(file, home=self.folder))):
                column = row.get("original_column_name", "").strip()
                parts = (row.get("column_description"), row.get("value_description"))
                told = "; ".join(" ".join(part.split()) for part in parts if part and part.strip())
                if column and told and told.casefold() != column.casefold():
                    lines.append(f"- {file.stem}.{column}: {told}")
        return "\n".join(["Columns:", *lines]) if lines else ""

    def _document(self, name: str | None) -> str:
        if not name:
            return ""
        return read_text(self.folder / "resource/documents" / name, home=self.folder).strip()

    def _report(self, file: Path, problem: str, action: str) -> None:
        if self.strict:
            raise ParseError(file, None, problem)
        self.defects.append(Defect(file, None, problem, action))


class _Spider2Gold:
    """Reads the truths of Spider 2 lite: result tables, or the statement without any."""

    def __init__(self, folder: Path, gold: str) -> None:
        self._folder, self._gold = folder, folder / gold
        self._options: dict[str, Mapping[str, Any]] = {}
        file = self._gold / "spider2lite_eval.jsonl"
        for line in read_text(file, home=folder).splitlines() if file.is_file() else ():
            options = json.loads(line)
            self._options[options["instance_id"]] = options

    def truth(self, number: int, entry: _Entry) -> Truth:
        """Return the truth of an entry."""
        del number
        name = str(entry.id)
        options = self._options.get(name, {})
        files = sorted(
            file
            for file in (self._gold / "exec_result").glob(f"{name}*.csv")
            if re.fullmatch(rf"{re.escape(name)}(?:_[a-z])?", file.stem)
        )
        columns = options.get("condition_cols") or []
        tables = tuple(
            GoldTable(
                rows=_gold_rows(read_text(file, home=self._folder)),
                columns=tuple(
                    columns[place] if columns and isinstance(columns[0], list) else columns
                ),
                ordered=not options.get("ignore_order", False),
            )
            for place, file in enumerate(files)
        )
        if tables:
            return Truth(match="columns", source=f"{files[0].name}", tables=tables)
        statement = self._gold / "sql" / f"{name}.sql"
        if not statement.is_file():
            return Truth()
        answer = _statement(read_text(statement, home=self._folder))
        return Truth((answer,), match="columns", source=statement.name)


def _gold_rows(text: str) -> tuple[tuple[str | float | int | None, ...], ...]:
    rows = list(csv.reader(text.splitlines(keepends=True)))
    return tuple(tuple(map(_cell, row)) for row in rows[1:] if row)


def _cell(text: str) -> str | float | int | None:
    """Return a cell of a CSV file as a number if it is one; None if it is empty."""
    if not text:
        return None
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


def _statement(text: str) -> str:
    return text.strip().rstrip("; \t\n")


def alternatives(text: str) -> list[str]:
    """Return the statements that Defog's notation allows.

    Statements are separated by ``;``. ``SELECT {a, b}`` allows every choice of these columns, which
    ``GROUP BY {}`` repeats.
    """
    return [one for part in text.split(";") if part.strip() for one in _expanded(part.strip())]


def _expanded(statement: str) -> Iterator[str]:
    found = next((one for one in _BRACES.finditer(statement) if one[1].strip()), None)
    if found is None:
        yield statement
        return
    columns = [column.strip() for column in found[1].split(",")]
    sizes = range(1, len(columns) + 1)
    for chosen in chain.from_iterable(combinations(columns, size) for size in sizes):
        listed = ", ".join(chosen)
        rest = statement[found.end() :].replace("GROUP BY {}", f"GROUP BY {listed}", 1)
        yield from _expanded(f"{statement[: found.start()]}{listed}{rest}")


def _csv_rows(text: str) -> Iterator[dict[str, str]]:
    """Yield the rows of a CSV file by column, without empty cells."""
    for row in csv.DictReader(text.splitlines(keepends=True)):
        yield {
            name.strip(): value
            for name, value in row.items()
            if isinstance(name, str) and isinstance(value, str) and value.strip()
        }


def _decoded(content: bytes) -> str:
    """Return a text; some of BIRD's descriptions are not UTF-8."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace")
