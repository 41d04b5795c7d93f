"""Checking a scenario's folder line by line against a live database, before anything is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from dqa.api.looking import opened
from dqa.core.database import Database
from dqa.core.errors import ParseError, UnknownNameError, UsageError
from dqa.core.records import Record
from dqa.core.schema import DatabaseSchema, EdgeInfo, NodeInfo, TableInfo
from dqa.core.text import counted
from dqa.guard import Audit, Policy
from dqa.loaders.inspection.decisions import DecisionCheck, check_outcomes
from dqa.loaders.inspection.findings import Finding, Findings, said
from dqa.loaders.inspection.schema import SchemaCheck
from dqa.loaders.inspection.statements import StatementTrial
from dqa.loaders.inspection.targets import UnlistedValuesError, sample_targets
from dqa.loaders.inspection.words import check_text
from dqa.loaders.proposal.guesses import guess_lines
from dqa.scenarios import Scenario
from dqa.scenarios.document import TablePart
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


def check_scenario(  # noqa: PLR0913  (each is a question of its own to the caller)
    folder: str | Path,
    database: str | Path | Database,
    *,
    target: Mapping[str, str] | None = None,
    policy: Policy | Path | str | None = None,
    audit: Audit | Path | str | None = None,
    tables: Sequence[str] = (),
    seconds: float = 10.0,
) -> ScenarioCheck:
    """Check every line of a scenario's folder against a database, and return all that is found.

    Each statement is run for a few targets whose values the database has, guarded and bounded.

    Parameters
    ----------
    folder
        The scenario's.
    database
        A URL, files, or a database that is open already.
    target
        What of the targets is told; the rest is taken from the database.
    policy, audit, tables
        What may be read, and who watches; for a database that is opened here.
    seconds
        What one statement may take.

    Raises
    ------
    UsageError
        There is no such folder, or the database cannot be opened.
    InfrastructureError
        The database failed.
    """
    place = Path(folder)
    if not (place / DOCUMENT).is_file():
        raise UsageError(
            f"{place} holds no {DOCUMENT}: name the folder of a scenario ('dqa init' makes one)."
        )
    with opened(database, policy=policy, audit=audit, tables=tables) as there:
        return _Check(place, there, dict(target or {}), seconds).run()


class _Check:
    """One check."""

    def __init__(
        self, folder: Path, database: Database, given: dict[str, str], seconds: float
    ) -> None:
        self._folder, self._database, self._given = folder, database, given
        self._seconds = seconds
        self._found = Findings()
        self._targets: tuple[dict[str, str], ...] = ()
        self._count = 0

    def run(self) -> ScenarioCheck:
        read = read_folder(self._folder)
        if read.scenario is not None and read.document is not None:
            self._live(read.scenario, read.document, read.problems)
        else:
            for error in read.problems:
                self._found.add_error(error)
            problem = "the rest of the folder is held against the database once this is mended"
            self._found.add("note", str(self._folder / DOCUMENT), None, problem)
        self._guesses()
        return ScenarioCheck(
            folder=str(self._folder),
            database=self._database.name,
            findings=self._found.all(),
            targets=self._targets,
            statements=self._count,
        )

    def _live(
        self, scenario: Scenario, merged: MergedDocument, problems: Sequence[ParseError]
    ) -> None:
        keys = list(dict.fromkeys(scenario.template.get_identifiers()))
        for key in self._given:
            if key not in keys:
                raise UnknownNameError(f"target of scenario '{scenario.name}' called", key, keys)
        if not merged.problems:
            document = scenario.document
            SchemaCheck(document, merged, self._database, self._found, self._seconds).run()
        for problem in problems:
            self._found.add_error(problem)
        self._texts(scenario, keys)
        check_outcomes(scenario, merged, self._found)
        trial = StatementTrial(scenario, self._database, self._found, self._seconds)
        decisions = DecisionCheck(scenario, merged, trial, keys)
        decisions.check_names()
        decisions.check_languages()
        self._try(scenario, merged, decisions)
        self._count = trial.count

    def _try(self, scenario: Scenario, merged: MergedDocument, decisions: DecisionCheck) -> None:
        try:
            self._targets = sample_targets(
                scenario, self._database, decisions.parameters(), self._given
            )
        except UnlistedValuesError as error:
            if not any(name in str(error) for name in self._found.unknown):
                place = ("parameters", error.key)
                self._found.add_field("error", merged, place, said(error)[0])
            return
        for target in self._targets:
            decisions.check(target)

    def _texts(self, scenario: Scenario, keys: Sequence[str]) -> None:
        columns = _columns(scenario, self._database.schema())
        if not scenario.template.template.strip():
            problem = "it is empty: write what is to be decided, in words"
            self._found.add("error", str(self._folder / "question.txt"), None, problem)
        if not scenario.rules.strip():
            problem = "it is empty: whatever a statement counts has to stand here in words"
            self._found.add("warning", str(self._folder / "rules.md"), None, problem)
        for name in ("rules.md", "question.txt"):
            known = keys if name == "rules.md" else [*scenario.parameters]
            if name == "rules.md":
                check_text(str(self._folder / name), self._found, known, columns)
            else:  # its parameters are told with the folder
                check_text(str(self._folder / name), self._found, [*keys, *known], columns)

    def _guesses(self) -> None:
        """Tell of the lines that somebody has to look at."""
        names = [path for path in sorted(self._folder.rglob("*")) if path.suffix in _CHECKED]
        for file in names:
            lines = guess_lines(self._found.lines(str(file)))
            if lines:
                listed = ", ".join(map(str, lines))
                what = "line is a guess" if len(lines) == 1 else "lines are guesses"
                problem = f"{len(lines)} {what}: check, and take the remark away ({listed})"
                self._found.add("note", str(file), lines[0], problem)


_CHECKED = frozenset({".toml", ".md", ".txt", *SUFFIXES.values()})


def _columns(scenario: Scenario, schema: DatabaseSchema) -> dict[str, set[str]]:
    """Return what texts may name: by table, label or type, its columns or properties."""
    found: dict[str, set[str]] = {}
    tables: list[TablePart | TableInfo] = [*scenario.document.tables, *schema.tables]
    for table in tables:
        found.setdefault(table.name, set()).update(column.name for column in table.columns)
    parts: list[NodeInfo | EdgeInfo] = [*schema.nodes, *schema.edges]
    for part in parts:
        found.setdefault(part.label, set()).update(one.name for one in part.properties)
    return found
