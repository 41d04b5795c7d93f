"""Read a scenario's folder.

The folder contains

``scenario.toml``
    data: tables, graph, parameters, candidates, outcomes (`dqa.scenarios.document`), and perhaps
    files to include (`dqa.scenarios.including`);
``rules.md``
    the business rules;
``question.txt``
    the question, as a `string.Template` whose placeholders are the keys of its target. The form of
    the answer follows below an empty line;
``context.sql``, ``context.cypher``
    statements with data that is relevant for a question; optional;
``candidates.sql``, ``candidates.cypher``
    the statement that lists the candidates; optional;
``outcomes.sql``, ``outcomes.cypher``
    the statement that returns the outcome of each candidate; optional;
``heuristics/NAME.sql``, ``heuristics/NAME.cypher``
    for each heuristic of ``scenario.toml``, a statement that returns the answer in the first column
    of its first row.

Statements are templates whose placeholders are the keys of the target. All statements except those
that list candidates may also use ``$candidates``. For candidates,
outcomes and heuristics, a statement in one of the two languages is enough.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path, PurePath
from string import Template
from typing import TypeAlias

from pydantic import ValidationError

from dqa.core.errors import ParseError, UsageError
from dqa.core.files import read_text
from dqa.core.records import problem_of_field, problems_in
from dqa.core.situation import Column, EdgeSchema, NodeSchema, Schema, TableSchema
from dqa.core.text import counted
from dqa.scenarios.base import Heuristic, Scenario
from dqa.scenarios.checks import HEURISTICS, heuristic_file, problems, unknown_names
from dqa.scenarios.document import ScenarioDocument
from dqa.scenarios.including import MergedDocument, merge_included
from dqa.scenarios.statements import SUFFIXES, Kind, split_statements

DOCUMENT = "scenario.toml"
"""The file that every scenario's folder has."""
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_ByKind: TypeAlias = Mapping[Kind, tuple[Template, ...]]


@dataclass(frozen=True, slots=True)
class ReadFolder:
    """The content of a scenario's folder, and all its problems.

    Attributes
    ----------
    scenario
        The scenario; None if the document cannot be read. If there are problems, the
        scenario may be incomplete.
    problems
        The problems, in the order in which they were found.
    document
        The values of the document; None if it is not TOML.
    """

    scenario: Scenario | None
    problems: tuple[ParseError, ...]
    document: MergedDocument | None = None


def read_scenario(folder: Traversable | Path | str) -> Scenario:
    """Read the scenario of a folder.

    Raises
    ------
    ParseError
        A file is missing or wrong. The message contains the file, the field and the fix.
    """
    found = read_folder(folder)
    if found.scenario is not None and not found.problems:
        return found.scenario
    first, *others = found.problems
    more = f" (and {counted(len(others), 'more problem')})" if others else ""
    raise ParseError(first.file, first.line, f"{first.problem}{more}") from first


def read_folder(folder: Traversable | Path | str) -> ReadFolder:
    """Read a scenario's folder as far as possible, with all its problems."""
    return _Reading(Path(folder) if isinstance(folder, str) else folder).read()


class _Reading:
    """Reads one folder, and collects its problems."""

    def __init__(self, folder: Traversable) -> None:
        self._folder = folder
        self._problems: list[ParseError] = []

    def read(self) -> ReadFolder:
        """Return the scenario and the problems."""
        document, merged = self._document()
        texts = {name: self._text(name) for name in ("question.txt", "rules.md")}
        scenario = None
        if document is not None and merged is not None:
            stems = ("context", "candidates", "outcomes", *self._heuristic_files(document))
            files = {stem: self._statements(stem, document.parameters) for stem in stems}
            for path, problem in problems(document, {s: bool(files[s]) for s in stems}):
                self._problems.append(merged.wrong(path, problem))
            question = texts["question.txt"]
            self._check_names("question.txt", question, Template(question), document.parameters)
            scenario = self._scenario(document, files, texts)
        return ReadFolder(scenario, tuple(self._problems), merged)

    def _document(self) -> tuple[ScenarioDocument | None, MergedDocument | None]:
        try:
            text = _read(self._folder / DOCUMENT)
            merged = merge_included(self._folder, str(self._folder / DOCUMENT), text)
        except ParseError as error:
            self._problems.append(error)
            return None, None
        try:
            return ScenarioDocument.model_validate(merged.values), merged
        except ValidationError as error:
            for detail in problems_in(error):
                path = detail["loc"]
                problem = problem_of_field(detail, ScenarioDocument, str(path[-1]))
                self._problems.append(merged.wrong(path, problem))
            return None, merged

    def _text(self, name: str) -> str:
        try:
            return _read(self._folder / name)
        except ParseError as error:
            self._problems.append(error)
            return ""

    def _heuristic_files(self, document: ScenarioDocument) -> list[str]:
        """Return the files of heuristics that are declared or exist, without their endings."""
        home = self._folder / HEURISTICS
        paths = [PurePath(file.name) for file in home.iterdir()] if home.is_dir() else []
        existing = sorted(path.stem for path in paths if path.suffix in SUFFIXES.values())
        names = dict.fromkeys([*(part.name for part in document.heuristics), *existing])
        return [heuristic_file(name) for name in names]

    def _statements(self, stem: str, parameters: Iterable[str]) -> _ByKind:
        found: dict[Kind, tuple[Template, ...]] = {}
        known = [*parameters] if stem == "candidates" else [*parameters, "candidates"]
        for kind, suffix in SUFFIXES.items():
            name = f"{stem}{suffix}"
            if not (self._folder / name).is_file():
                continue
            text = self._text(name)
            statements = tuple(template for _, template in split_statements(text))
            if stem != "context" and len(statements) != 1:
                problem = f"it contains {counted(len(statements), 'statement')}; write exactly one"
                self._problems.append(ParseError(str(self._folder / name), None, problem))
            found[kind] = statements
            for template in statements:
                self._check_names(name, text, template, known)
        return found

    def _check_names(self, file: str, text: str, template: Template, known: Iterable[str]) -> None:
        """Report the unknown placeholders of a template in a file, with their lines."""
        for name, problem in unknown_names(template, known):
            spelled = re.compile(rf"\$\{{?{re.escape(name)}\b" if name else r"\$(?![\w{$])")
            lines = enumerate(text.splitlines(), 1)
            line = next((number for number, one in lines if spelled.search(one)), None)
            self._problems.append(ParseError(str(self._folder / file), line, problem))

    def _scenario(
        self, document: ScenarioDocument, files: Mapping[str, _ByKind], texts: Mapping[str, str]
    ) -> Scenario:
        question, _, answer_form = texts["question.txt"].partition("\n\n")
        one = {
            stem: {kind: templates[0] for kind, templates in by_kind.items() if templates}
            for stem, by_kind in files.items()
        }
        fields: Mapping[Kind, str] = {"relational": "sql", "graph": "cypher"}
        listing = {fields[kind]: found.template for kind, found in one["candidates"].items()}
        candidates = document.candidates.model_copy(update=listing)
        return Scenario(
            document=document.model_copy(update={"candidates": candidates}),
            schema=_schema(document),
            rules=_COMMENT.sub("", texts["rules.md"]).strip(),
            template=Template(question.strip()),
            answer_form=answer_form.strip(),
            contexts=files["context"],
            outcome_queries=one["outcomes"],
            heuristics=tuple(
                Heuristic(part.name, part.description, one[heuristic_file(part.name)])
                for part in document.heuristics
            ),
            folder=str(self._folder),
        )


def _read(file: Traversable) -> str:
    try:
        return read_text(file)
    except UsageError as error:
        raise ParseError(str(file), None, "the file is missing") from error


def _schema(document: ScenarioDocument) -> Schema:
    return Schema(
        scenario=document.name,
        tables=tuple(
            TableSchema(
                name=table.name,
                columns=tuple(Column(c.name, c.type, c.description) for c in table.columns),
                key=table.key,
                description=table.description,
            )
            for table in document.tables
        ),
        nodes=tuple(
            NodeSchema(node.label, node.table, node.key, tuple(node.properties.items()))
            for node in document.nodes
        ),
        edges=tuple(
            EdgeSchema(
                edge.label, edge.table, edge.source, edge.target, tuple(edge.properties.items())
            )
            for edge in document.edges
        ),
    )
