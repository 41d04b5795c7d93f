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

from collections.abc import Iterable, Iterator, Mapping
from importlib.resources.abc import Traversable
from pathlib import Path, PurePath
from string import Template
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from dqa.core.errors import ParseError
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


def read_scenario(folder: Traversable | Path | str) -> Scenario:
    """Read the scenario that a folder holds.

    Raises
    ------
    ParseError
        A file is missing or wrong; names the file, its line and field, and how to mend it.
    """
    place: Traversable = Path(folder) if isinstance(folder, str) else folder
    document, merged = _document(place)
    stems = ("context", "candidates", "outcomes", *_heuristic_files(place, document))
    files = {stem: _statements(place, stem) for stem in stems}
    _check(place, document, merged, files)
    asked, _, answer_form = _text(place, "question.txt").partition("\n\n")
    candidates = _listing(document.candidates, files["candidates"])
    return Scenario(
        document=document.model_copy(update={"candidates": candidates}),
        schema=_schema(document),
        rules=_text(place, "rules.md").strip(),
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
        folder=str(place),
    )


def _text(folder: Traversable, name: str) -> str:
    file = folder / name
    try:
        return read_text(file)
    except FileNotFoundError:
        raise ParseError(str(file), None, "the file is missing; add it") from None
    except OSError as error:
        raise ParseError(str(file), None, f"it cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ParseError(str(file), None, f"it cannot be read as UTF-8 text: {error}") from error


# --- the document ---


def _document(folder: Traversable) -> tuple[ScenarioDocument, MergedDocument]:
    merged = merge_included(folder, str(folder / DOCUMENT), _text(folder, DOCUMENT))
    try:
        return ScenarioDocument.model_validate(merged.values), merged
    except ValidationError as error:
        found = error.errors(include_url=False)
        raise _refused(merged, [(detail["loc"], _problem(detail)) for detail in found]) from error


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


def _refused(merged: MergedDocument, found: list[tuple[Place, str]]) -> ParseError:
    """Return the error that names the first problem's line and field."""
    place, problem = found[0]
    more = f" (and {len(found) - 1} more to mend)" if len(found) > 1 else ""
    return merged.wrong(place, f"{problem}{more}")


# --- statements and texts ---


def _heuristic_files(folder: Traversable, document: ScenarioDocument) -> list[str]:
    """Return the files of heuristics that are declared or there, without their endings."""
    names = [part.name for part in document.heuristics]
    home = folder / HEURISTICS
    there = (PurePath(file.name) for file in home.iterdir()) if home.is_dir() else ()
    found = sorted({file.stem for file in there if file.suffix in SUFFIXES.values()})
    return [heuristic_file(name) for name in dict.fromkeys([*names, *found])]


def _statements(folder: Traversable, stem: str) -> dict[Kind, tuple[Template, ...]]:
    found: dict[Kind, tuple[Template, ...]] = {}
    for kind, suffix in SUFFIXES.items():
        name = f"{stem}{suffix}"
        file = folder / name
        if not file.is_file():
            continue
        _text(folder, name)
        found[kind] = read_statements(file)
        if stem != "context" and len(found[kind]) != 1:
            raise ParseError(
                str(file),
                None,
                f"it holds {counted(len(found[kind]), 'statement')}; write exactly one",
            )
    return found


def _check(
    folder: Traversable,
    document: ScenarioDocument,
    merged: MergedDocument,
    files: Mapping[str, Mapping[Kind, tuple[Template, ...]]],
) -> None:
    """Hold the parts of a scenario against one another; `ParseError` names the first misfit."""
    found = list(problems(document, {stem: bool(files[stem]) for stem in files}))
    if found:
        raise _refused(merged, found)
    known = [*document.parameters]
    asked = Template(_text(folder, "question.txt"))
    _check_template(folder, "question.txt", asked, known)
    for stem, by_kind in files.items():
        allowed = known if stem == "candidates" else [*known, "candidates"]
        for kind, templates in by_kind.items():
            for template in templates:
                _check_template(folder, f"{stem}{SUFFIXES[kind]}", template, allowed)


def _check_template(
    folder: Traversable, name: str, template: Template, known: Iterable[str]
) -> None:
    problem = unknown_places(template, known)
    if problem is None:
        return
    unknown = [place for place in template.get_identifiers() if place not in known]
    lines = _text(folder, name).splitlines()
    wrong = (number for number, line in enumerate(lines, 1) if unknown and unknown[0] in line)
    raise ParseError(str(folder / name), next(wrong, None), problem)


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
