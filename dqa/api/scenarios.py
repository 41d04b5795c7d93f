"""Propose and check the folder of a scenario about a user's own database."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Unpack, get_args

from dqa.api.databases import Access, opened
from dqa.api.listing import json_schema
from dqa.core.database import Database
from dqa.core.errors import UnknownNameError, UsageError
from dqa.core.files import file_errors, make_private_folder, require_new_folder, write_private
from dqa.core.records import Record
from dqa.core.text import counted
from dqa.loaders.inspection.decisions import DecisionCheck
from dqa.loaders.inspection.findings import Finding, Findings, Level, lines_of_file
from dqa.loaders.inspection.schema import check_schema
from dqa.loaders.proposal.choices import choose
from dqa.loaders.proposal.documents import render_scenario
from dqa.loaders.proposal.guesses import GUESS, guess_lines
from dqa.loaders.proposal.survey import Survey
from dqa.scenarios import Scenario
from dqa.scenarios.catalogue import scenario_names
from dqa.scenarios.reading import DOCUMENT, read_folder
from dqa.scenarios.statements import SUFFIXES

_SCHEMAS = {"scenario.schema.json": "scenario", "tables.schema.json": "scenario_tables"}


class ProposedScenario(Record):
    """The proposed folder of a scenario.

    Attributes
    ----------
    folder, files
        The folder, and the names of its files.
    scenario
        The name of the scenario.
    tables, left_out
        The tables that are described, and the tables that are left out.
    noun, table, column
        `noun` is a word for a candidate. `table` and `column` name the source of the candidates.
    guesses
        The number of lines that are marked as guesses.
    """

    folder: str
    files: tuple[str, ...]
    scenario: str
    tables: tuple[str, ...]
    left_out: tuple[str, ...]
    noun: str
    table: str
    column: str
    guesses: int

    def to_text(self, policy: Path | None = None) -> str:
        """Return a text with the written files and the next steps, with a policy's file."""
        options = "--database URL" if policy is None else f"--database URL --policy {policy}"
        count = counted(len(self.tables) + len(self.left_out), "table")
        described = f"Described: {len(self.tables):,} of {count}"
        guessed = counted(self.guesses, "line is a guess", "lines are guesses")
        fix = "correct them, and adapt rules.md and outcomes.* to your decision"
        return "\n".join(
            [
                f"{self.folder}: {', '.join(self.files)}.",
                (
                    f"The candidates are the values of {self.table}.{self.column} (noun: "
                    f"'{self.noun}'). {described}."
                ),
                f"{guessed}: look for '{GUESS}', {fix}.",
                f"Then write confirmed = true into {self.folder}/scenario.toml.",
                f"Next: dqa doctor --scenario {self.folder} {options}",
                f"Then: dqa ask --scenario {self.folder} {options}",
            ]
        )


def propose_scenario(
    database: str | Path | Database,
    folder: str | Path | None = None,
    *,
    question: str = "",
    **access: Unpack[Access],
) -> ProposedScenario:
    """Write a first version of a scenario's folder for a database, with guesses marked.

    The statements in the folder run without changes. The files contain neither the URL nor data
    that a policy hides.

    Parameters
    ----------
    database
        A URL, files, or an open database.
    folder
        The new folder. By default, a subfolder of the working directory, named after the
        candidates.
    question
        The question of the scenario. Its words select the tables of the scenario.
    **access
        ``tables``, ``policy`` and ``audit`` of `open_database`, if `database` is not open yet.
        Without ``tables``, twelve tables are described: those that match the question best or,
        without a question, those with the most joins.

    Raises
    ------
    UsageError
        The folder is not empty, or the database has no column with candidates.
    InfrastructureError
        The database failed.
    """
    if folder is not None:
        require_new_folder(Path(folder))
    with opened(database, **access) as opened_database:
        survey = Survey(opened_database, question, every=bool(access.get("tables")))
        choice = choose(survey, question)
        target = Path(folder) if folder is not None else Path(f"choose-{_slug(choice.noun)}")
        require_new_folder(target)
        name = _slug(target.name) if target.name else f"choose-{_slug(choice.noun)}"
        name = f"own-{name}" if name in scenario_names() else name
        texts = render_scenario(survey, choice, name, question)
    schemas = {
        file: json.dumps(json_schema(kind), indent=2, ensure_ascii=False) + "\n"
        for file, kind in _SCHEMAS.items()
    }
    with file_errors(target):
        make_private_folder(target)
        for file, text in {**texts, **schemas}.items():
            write_private(target / file, text)
    return ProposedScenario(
        folder=str(target),
        files=(*texts, *schemas),
        scenario=name,
        tables=tuple(table.name for table in survey.tables),
        left_out=survey.left_out,
        noun=choice.noun,
        table=choice.table.name,
        column=choice.column,
        guesses=sum(len(guess_lines(text.split("\n"))) for text in texts.values()),
    )


def _slug(text: str) -> str:
    """Convert a text to a name of ASCII letters, digits and hyphens."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
    return slug if slug[:1].isalpha() else f"decision-{slug}".strip("-")


class ScenarioCheck(Record):
    """The result of checking a scenario's folder against a database.

    Attributes
    ----------
    folder, database
        The folder and the database.
    findings
        The findings, ordered by file and line.
    targets
        The targets (values of parameters) for which statements were run.
    statements
        The number of statements that were run.
    """

    folder: str
    database: str
    findings: tuple[Finding, ...]
    targets: tuple[dict[str, str], ...]
    statements: int

    @property
    def is_good(self) -> bool:
        """Whether no finding is an error."""
        return all(found.level != "error" for found in self.findings)

    def to_text(self) -> str:
        """Return a text with the findings and a summary line."""
        levels = Counter(found.level for found in self.findings)
        counts = ", ".join(counted(levels[one], one) for one in get_args(Level))
        targets = counted(len(self.targets), "target")
        tried = f"{counted(self.statements, 'statement')} for {targets}"
        closing = f"{self.folder} on {self.database}: {counts} ({tried})."
        return "\n".join([*(found.to_text() for found in self.findings), closing])


def check_scenario(
    folder: str | Path,
    database: str | Path | Database,
    *,
    target: Mapping[str, str] | None = None,
    seconds: float = 10.0,
    **access: Unpack[Access],
) -> ScenarioCheck:
    """Check a scenario's folder against a database, and return the findings.

    Each statement runs, within limits, for a few targets whose values come from the database.

    Parameters
    ----------
    folder
        The folder of the scenario.
    database
        A URL, files, or an open database.
    target
        Values for some parameters of the target. The values of all other parameters come from the
        database.
    seconds
        The time limit of a statement in seconds.
    **access
        ``tables``, ``policy`` and ``audit`` of `open_database`, if `database` is not open yet.

    Raises
    ------
    UsageError
        The folder is not a scenario, or the database cannot be opened.
    InfrastructureError
        The database failed.
    """
    path = Path(folder)
    if not (path / DOCUMENT).is_file():
        raise UsageError(
            f"{path} does not contain the file {DOCUMENT}: give the folder of a scenario ('dqa "
            "init' creates one)."
        )
    with opened(database, **access) as opened_database:
        read = read_folder(path)
        found = Findings(read.document)
        for error in read.problems:
            found.add_error(error)
        targets: Sequence[dict[str, str]] = ()
        count = 0
        if read.scenario is None:
            problem = (
                "fix these problems first; the rest of the folder was not checked on the database"
            )
            found.add("note", str(path / DOCUMENT), None, problem)
        else:
            decisions = DecisionCheck(read.scenario, opened_database, found, seconds)
            for key in (target or {}).keys() - set(decisions.keys):
                raise UnknownNameError("target parameter", key, decisions.keys)
            check_schema(read.scenario.document, opened_database, found)
            _check_texts(read.scenario, found)
            targets, count = decisions.check(target or {}), decisions.count
        _check_guesses(path, found)
        return ScenarioCheck(
            folder=str(path),
            database=opened_database.name,
            findings=found.all(),
            targets=tuple(targets),
            statements=count,
        )


def _check_texts(scenario: Scenario, found: Findings) -> None:
    """Report empty texts."""
    if not scenario.template.template.strip():
        problem = "the file is empty: write the question to decide, in words"
        found.add("error", str(Path(scenario.folder, "question.txt")), None, problem)
    if not scenario.rules.strip():
        problem = "the file is empty: explain the rules that the statements calculate, in words"
        found.add("warning", str(Path(scenario.folder, "rules.md")), None, problem)


def _check_guesses(folder: Path, found: Findings) -> None:
    """Report the lines that contain unconfirmed guesses, which a person must check."""
    for file in sorted(folder.rglob("*")):
        lines = guess_lines(lines_of_file(file)) if file.suffix in _CHECKED else []
        if lines:
            guesses = counted(len(lines), "line is a guess", "lines are guesses")
            listed = ", ".join(map(str, lines))
            problem = f"{guesses}: check these lines, then remove their comments ({listed})"
            found.add("note", str(file), lines[0], problem)


_CHECKED = frozenset({".toml", ".md", ".txt", *SUFFIXES.values()})
