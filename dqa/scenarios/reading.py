"""Reads a scenario's folder, wherever it lies.

The folder holds

``scenario.toml``
    what is data: tables, graph, parameters, candidates, outcomes (`dqa.scenarios.document`);
what it includes
    tables, nodes, edges, parameters and settings that scenarios share (`dqa.scenarios.including`);
``rules.md``
    the business rules;
``question.txt``
    what is asked, a `string.Template` over the question's target and, below an empty line, how it
    is to be answered;
``context.sql``, ``context.cypher``
    where deciders are told what to read, statements whose rows bear on a question;
``candidates.sql``, ``candidates.cypher``
    where a statement lists what can be chosen;
``outcomes.sql``, ``outcomes.cypher``
    where a statement tells what each candidate leads to;
``heuristics/NAME.sql``, ``heuristics/NAME.cypher``
    of each heuristic that ``scenario.toml`` declares, a statement whose first row's first column
    is its answer.

Statements are templates over the target and, but for those of the candidates, ``$candidates``. Of
candidates, outcomes and a heuristic one language is enough.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path, PurePath
from string import Template
from typing import Any, TypeAlias, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from dqa.core.errors import ParseError, UsageError
from dqa.core.files import read_text
from dqa.core.situation import Column, EdgeSchema, NodeSchema, Schema, TableSchema
from dqa.core.text import counted
from dqa.scenarios.base import Heuristic, Scenario
from dqa.scenarios.checks import (
    HEURISTICS,
    heuristic_file,
    problems,
    unknown_places,
    unknown_word,
)
from dqa.scenarios.document import CandidatesPart, ScenarioDocument
from dqa.scenarios.including import MergedDocument, merge_included
from dqa.scenarios.statements import SUFFIXES, Kind, read_statements
from dqa.scenarios.toml_lines import Place

DOCUMENT = "scenario.toml"
"""The file by which a scenario's folder is known."""
_REMARK = re.compile(r"<!--.*?-->", re.DOTALL)
_ByKind: TypeAlias = Mapping[Kind, tuple[Template, ...]]


@dataclass(frozen=True, slots=True)
class ReadFolder:
    """What a scenario's folder holds, and everything that is wrong with it.

    Attributes
    ----------
    scenario
        None where its document cannot be read. With problems it may not be whole.
    problems
        In the order in which they were found; () for a good one.
    document
        Where each of its fields is written; None where it is no TOML.
    """

    scenario: Scenario | None
    problems: tuple[ParseError, ...]
    document: MergedDocument | None = None


def read_scenario(folder: Traversable | Path | str) -> Scenario:
    """Read the scenario that a folder holds.

    Raises
    ------
    ParseError
        A file is missing or wrong; names the file, its line and field, and how to mend it.
    """
    found = read_folder(folder)
    if found.scenario is not None and not found.problems:
        return found.scenario
    first, *others = found.problems
    more = f" (and {len(others)} more to mend)" if others else ""
    raise ParseError(first.file, first.line, f"{first.problem}{more}") from first


def read_folder(folder: Traversable | Path | str) -> ReadFolder:
    """Read a scenario's folder as far as it can be, with all that is wrong with it."""
    return _Reading(Path(folder) if isinstance(folder, str) else folder).read()


class _Reading:
    """Reads one folder; what is wrong is kept, and reading goes on with the rest."""

    def __init__(self, folder: Traversable) -> None:
        self._folder = folder
        self._problems: list[ParseError] = []

    def read(self) -> ReadFolder:
        document, merged = self._document()
        texts = {name: self._text(name) for name in ("question.txt", "rules.md")}
        scenario = None
        if document is not None and merged is not None:
            stems = ("context", "candidates", "outcomes", *_heuristic_files(self._folder, document))
            files = {stem: self._statements(stem) for stem in stems}
            self._check(document, merged, files, texts["question.txt"])
            scenario = self._scenario(document, files, texts)
        return ReadFolder(scenario, tuple(self._problems), merged)

    def _scenario(
        self, document: ScenarioDocument, files: Mapping[str, _ByKind], texts: Mapping[str, str]
    ) -> Scenario:
        asked, _, answer_form = texts["question.txt"].partition("\n\n")
        candidates = _listing(document.candidates, files["candidates"])
        return Scenario(
            document=document.model_copy(update={"candidates": candidates}),
            schema=_schema(document),
            rules=_REMARK.sub("", texts["rules.md"]).strip(),
            template=Template(asked.strip()),
            answer_form=answer_form.strip(),
            contexts=files["context"],
            outcome_queries={kind: found[0] for kind, found in files["outcomes"].items()},
            heuristics=tuple(
                Heuristic(
                    part.name,
                    part.description,
                    {kind: found[0] for kind, found in files[heuristic_file(part.name)].items()},
                )
                for part in document.heuristics
            ),
            folder=str(self._folder),
        )

    def _document(self) -> tuple[ScenarioDocument | None, MergedDocument | None]:
        try:
            text = _text(self._folder, DOCUMENT)
            merged = merge_included(self._folder, str(self._folder / DOCUMENT), text)
        except ParseError as error:
            self._problems.append(error)
            return None, None
        self._problems += merged.problems
        try:
            return ScenarioDocument.model_validate(merged.values), merged
        except ValidationError as error:
            found = error.errors(include_url=False)
            for detail in found:
                # What was not included is not missing here.
                if not (merged.problems and detail["loc"] == ("tables",)):
                    self._problems.append(merged.wrong(detail["loc"], _problem(detail)))
            return None, merged

    def _text(self, name: str) -> str:
        try:
            return _text(self._folder, name)
        except ParseError as error:
            self._problems.append(error)
            return ""

    def _statements(self, stem: str) -> dict[Kind, tuple[Template, ...]]:
        found: dict[Kind, tuple[Template, ...]] = {}
        for kind, suffix in SUFFIXES.items():
            if not (self._folder / f"{stem}{suffix}").is_file():
                continue
            try:
                found[kind] = _read_statements(self._folder, f"{stem}{suffix}", stem)
            except ParseError as error:
                self._problems.append(error)
        return found

    def _check(
        self,
        document: ScenarioDocument,
        merged: MergedDocument,
        files: Mapping[str, _ByKind],
        question: str,
    ) -> None:
        """Hold the parts of a scenario against one another."""
        if not merged.problems:  # else what they name may be in what is missing
            there = {stem: _is_there(self._folder, stem) for stem in files}
            for place, problem in problems(document, there):
                self._problems.append(merged.wrong(place, problem))
        known = [*document.parameters]
        self._check_template("question.txt", Template(question), known)
        for stem, by_kind in files.items():
            allowed = known if stem == "candidates" else [*known, "candidates"]
            for kind, templates in by_kind.items():
                for template in templates:
                    self._check_template(f"{stem}{SUFFIXES[kind]}", template, allowed)

    def _check_template(self, name: str, template: Template, known: Sequence[str]) -> None:
        for place, problem in unknown_places(template, known):
            lines = _text(self._folder, name).splitlines()
            spelled = re.compile(rf"\$\{{?{re.escape(place)}\b" if place else r"\$(?![\w{$])")
            line = next((n for n, text in enumerate(lines, 1) if spelled.search(text)), None)
            self._problems.append(ParseError(str(self._folder / name), line, problem))


def _is_there(folder: Traversable, stem: str) -> bool:
    return any((folder / f"{stem}{suffix}").is_file() for suffix in SUFFIXES.values())


def _text(folder: Traversable, name: str) -> str:
    try:
        return read_text(folder / name)
    except UsageError as error:
        raise ParseError(str(folder / name), None, "the file is missing") from error


# --- the document ---


def _problem(detail: ErrorDetails) -> str:
    """Return what is wrong and how to mend it, in words of the file's."""
    name = str(detail["loc"][-1]) if detail["loc"] else ""
    if detail["type"] == "missing":
        return "it is missing; add it"
    if detail["type"] == "extra_forbidden":
        return unknown_word("field", name, _fields(detail["loc"][:-1]))
    return f"{detail['msg'][:1].lower()}{detail['msg'][1:]}, but it is {_shown(detail['input'])}"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _fields(place: Place) -> list[str]:
    """Return the names of the fields that the part at a place may have."""
    part: type[BaseModel] = ScenarioDocument
    for key in place:
        named = {f.alias or name: f for name, f in part.model_fields.items()}
        if key in named:
            part = next(_parts(named[str(key)].annotation), part)
    return [f.alias or name for name, f in part.model_fields.items()]


def _parts(annotation: Any) -> Iterator[type[BaseModel]]:  # noqa: ANN401  (any type expression)
    """Yield the parts that a field's type is made of."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _parts(argument)


# --- statements and texts ---


def _heuristic_files(folder: Traversable, document: ScenarioDocument) -> list[str]:
    """Return the files of heuristics that are declared or there, without their endings."""
    names = [part.name for part in document.heuristics]
    home = folder / HEURISTICS
    there = (PurePath(file.name) for file in home.iterdir()) if home.is_dir() else ()
    found = sorted({file.stem for file in there if file.suffix in SUFFIXES.values()})
    return [heuristic_file(name) for name in dict.fromkeys([*names, *found])]


def _read_statements(folder: Traversable, name: str, stem: str) -> tuple[Template, ...]:
    file = folder / name
    _text(folder, name)  # which says what cannot be read
    found = read_statements(file)
    if stem != "context" and len(found) != 1:
        problem = f"it holds {counted(len(found), 'statement')}; write exactly one"
        raise ParseError(str(file), None, problem)
    return found


def _listing(
    candidates: CandidatesPart, files: Mapping[Kind, tuple[Template, ...]]
) -> CandidatesPart:
    """Return the candidates with the statements of their files."""
    fields: Mapping[Kind, str] = {"relational": "sql", "graph": "cypher"}
    found = {fields[kind]: templates[0].template for kind, templates in files.items()}
    return candidates.model_copy(update=found)


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
