"""Checking a scenario's folder line by line against a live database, before anything is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Unpack

from dqa.api.databases import Access, opened
from dqa.core.database import Database
from dqa.core.errors import ParseError, UnknownNameError, UsageError
from dqa.core.records import Record
from dqa.core.schema import DatabaseSchema
from dqa.core.text import counted
from dqa.loaders.inspection.decisions import DecisionCheck
from dqa.loaders.inspection.findings import Finding, Findings, Level
from dqa.loaders.inspection.schema import SchemaCheck
from dqa.loaders.inspection.statements import StatementTrial
from dqa.loaders.inspection.texts import check_text
from dqa.loaders.proposal.guesses import guess_lines
from dqa.scenarios import Scenario
from dqa.scenarios.including import MergedDocument
from dqa.scenarios.reading import DOCUMENT, read_folder
from dqa.scenarios.statements import SUFFIXES


class ScenarioCheck(Record):
    """What is found in a scenario's folder, held against a database.

    Attributes
    ----------
    folder, database
        What was held against what.
    findings
        By file and line.
    targets
        For which of its questions the statements were tried.
    statements
        How many were run.
    """

    folder: str
    database: str
    findings: tuple[Finding, ...]
    targets: tuple[dict[str, str], ...]
    statements: int

    @property
    def is_good(self) -> bool:
        """Whether decisions can be made by it: there is no error."""
        return all(found.level != "error" for found in self.findings)

    def to_text(self) -> str:
        """Return the findings, and a line that counts them."""
        count = dict.fromkeys(("error", "warning", "note"), 0)
        for found in self.findings:
            count[found.level] += 1
        told = ", ".join(counted(number, level) for level, number in count.items())
        tried = (
            f"{counted(self.statements, 'statement')} for {counted(len(self.targets), 'target')}"
        )
        closing = f"{self.folder} on {self.database}: {told} ({tried})."
        return "\n".join([*(found.to_text() for found in self.findings), closing])


def check_scenario(
    folder: str | Path,
    database: str | Path | Database,
    *,
    target: Mapping[str, str] | None = None,
    seconds: float = 10.0,
    **access: Unpack[Access],
) -> ScenarioCheck:
    """Check every line of a scenario's folder against a database, and return all that is found.

    Each statement is run for a few targets whose values the database has, guarded and bounded.

    Parameters
    ----------
    folder
        The scenario's.
    database
        A URL, files, or an open database.
    target
        A part of the targets; the rest is taken from the database.
    seconds
        The time limit of a statement.
    **access
        ``tables``, ``policy`` and ``audit``, as in `open_database`, for a location.

    Raises
    ------
    UsageError
        There is no such folder, or the database cannot be opened.
    InfrastructureError
        The database failed.
    """
    place, found = Path(folder), Findings()
    if not (place / DOCUMENT).is_file():
        raise UsageError(
            f"{place} holds no {DOCUMENT}: name the folder of a scenario ('dqa init' makes one)."
        )
    with opened(database, **access) as there:
        read = read_folder(place)
        targets: Sequence[dict[str, str]] = ()
        count = 0
        if read.scenario is None or read.document is None:
            for error in read.problems:
                found.add_error(error)
            problem = "the rest of the folder is checked on the database once this is fixed"
            found.add("note", str(place / DOCUMENT), None, problem)
        else:
            trial = StatementTrial(read.scenario, there, found, seconds)
            SchemaCheck(read.scenario.document, read.document, there, found, seconds).run()
            targets = _check(read.scenario, read.document, read.problems, trial, target or {})
            count = trial.count
        _check_guesses(place, found)
        return ScenarioCheck(
            folder=str(place),
            database=there.name,
            findings=found.all(),
            targets=tuple(targets),
            statements=count,
        )


def _check(
    scenario: Scenario,
    merged: MergedDocument,
    problems: Sequence[ParseError],
    trial: StatementTrial,
    given: Mapping[str, str],
) -> Sequence[dict[str, str]]:
    """Check a scenario that could be read; return the targets of its statements."""
    found = trial.found
    keys = list(dict.fromkeys(scenario.template.get_identifiers()))
    for key in given:
        if key not in keys:
            raise UnknownNameError(f"target of scenario '{scenario.name}' called", key, keys)
    for problem in problems:
        found.add_error(problem)
    _check_texts(scenario, keys, trial)
    return DecisionCheck(scenario, merged, trial, keys).check(given)


def _check_texts(scenario: Scenario, keys: Sequence[str], trial: StatementTrial) -> None:
    folder, found = Path(scenario.folder), trial.found
    columns = _columns(scenario, trial.database.schema())
    texts: dict[str, tuple[str, Level, str]] = {
        "question.txt": (scenario.template.template, "error", "write what is to be decided"),
        "rules.md": (scenario.rules, "warning", "whatever a statement counts is explained here"),
    }
    for name, (text, level, fix) in texts.items():
        if not text.strip():
            found.add(level, str(folder / name), None, f"it is empty: {fix}, in words")
        known = [*keys, *scenario.parameters] if name == "question.txt" else keys
        check_text(str(folder / name), found, known, columns)


def _check_guesses(folder: Path, found: Findings) -> None:
    """Report the lines that a person has to check."""
    for file in sorted(folder.rglob("*")):
        lines = guess_lines(found.lines(str(file))) if file.suffix in _CHECKED else []
        if lines:
            guesses = counted(len(lines), "line is a guess", "lines are guesses")
            listed = ", ".join(map(str, lines))
            problem = f"{guesses}: check, and take the remark away ({listed})"
            found.add("note", str(file), lines[0], problem)


_CHECKED = frozenset({".toml", ".md", ".txt", *SUFFIXES.values()})


def _columns(scenario: Scenario, schema: DatabaseSchema) -> dict[str, set[str]]:
    """Return the columns or properties that texts may name, by table, label or type."""
    found: dict[str, set[str]] = {}
    for table in scenario.document.tables:
        found.setdefault(table.name, set()).update(column.name for column in table.columns)
    for part in schema.parts:
        found.setdefault(part.name, set()).update(field.name for field in part.fields)
    return found
