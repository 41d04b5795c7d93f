"""Checks of the references between the parts of a scenario's document.

Each check yields the path of a field, the problem, and how to fix it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from string import Template

from dqa.scenarios.document import (
    ColumnPart,
    EdgePart,
    HeuristicPart,
    Listing,
    NodePart,
    ScenarioDocument,
    TablePart,
)
from dqa.scenarios.including import FieldPath

Problem = tuple[FieldPath, str]

_UNNAMED = frozenset({"float", "boolean", "json", "array"})
"""Types of columns whose values cannot be candidates."""

HEURISTICS = "heuristics"
"""The name of the list of heuristics in the document, and of the folder with their statements."""


def heuristic_file(name: str) -> str:
    """Return the path of a heuristic's statement in the scenario's folder, without the ending."""
    return f"{HEURISTICS}/{name}"


def problems(document: ScenarioDocument, files: Mapping[str, bool]) -> Iterator[Problem]:
    """Yield a problem for each wrong reference, and for parts that contradict each other.

    Parameters
    ----------
    document
        A document whose parts are valid.
    files
        Whether each file of statements exists, by the file's name without its ending:
        ``candidates``, ``outcomes`` and one name for each heuristic.
    """
    check = _Check(document, files)
    yield from check.tables()
    yield from check.graph()
    yield from check.parameters()
    yield from check.candidates()
    yield from check.outcomes()
    yield from check.critical_values()
    yield from check.release_and_matters()
    yield from check.heuristics()


def unknown_word(kind: str, word: str, known: Iterable[str]) -> str:
    """Describe the problem of an unknown name, with the known names."""
    names = list(known)
    return (
        f"there is no {kind} '{word}' (there are: {', '.join(names) or 'none'}){hint(word, names)}"
    )


def hint(word: str, known: Iterable[str]) -> str:
    """Return the end of a message that suggests the most similar name.

    The result is empty if no name is similar.
    """
    by_form = {name.casefold(): name for name in known}
    found = get_close_matches(word.casefold(), by_form, n=1)
    return f"; did you mean '{by_form[found[0]]}'?" if found else ""


def unknown_names(template: Template, known: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each unknown ``$name`` of a template, and a description of the problem.

    For a ``$`` without a name, the yielded name is empty.
    """
    if not template.is_valid():
        yield "", "a '$' must be followed by a name; write '$$' for the sign itself"
        return
    names = list(known)
    for name in template.get_identifiers():
        if name not in names:
            yield name, unknown_word("parameter", name, names)


class _Check:
    """Checks one document."""

    def __init__(self, document: ScenarioDocument, files: Mapping[str, bool]) -> None:
        self._document, self._files = document, files
        self._columns = {t.name: {c.name: c.type for c in t.columns} for t in document.tables}

    def tables(self) -> Iterator[Problem]:
        """Check that names are unique and that keys are columns."""
        tables = self._document.tables
        yield from _repeated(("tables",), "table", tables)
        for index, table in enumerate(tables):
            yield from _repeated(("tables", index, "columns"), "column", table.columns)
            yield from self._column(("tables", index, "key"), table.name, *table.key)

    def graph(self) -> Iterator[Problem]:
        """Check the tables, columns and labels that nodes and edges name."""
        labels = [node.label for node in self._document.nodes]
        for index, node in enumerate(self._document.nodes):
            yield from self._mapped(("nodes", index), node)
            yield from _known(("nodes", index, "key"), "property", node.key, node.properties)
        for index, edge in enumerate(self._document.edges):
            yield from self._mapped(("edges", index), edge)
            for end, (label, column) in (("source", edge.source), ("target", edge.target)):
                path = ("edges", index, end)
                yield from _known(path, "node", label, labels)
                yield from self._column(path, edge.table, column)

    def parameters(self) -> Iterator[Problem]:
        """Check the names of parameters and the sources of their values."""
        for name, parameter in self._document.parameters.items():
            path: FieldPath = ("parameters", name)
            if not name.isidentifier() or name in {"candidates", "question_num"}:
                yield path, f"'{name}' cannot be a parameter's name; use letters and underscores"
            yield from self._listing(path, parameter)
            if parameter.follows is not None:
                yield from self._listing((*path, "follows"), parameter.follows, needed=True)

    def candidates(self) -> Iterator[Problem]:
        """Check that candidates have exactly one source."""
        part, has_file = self._document.candidates, self._files["candidates"]
        if has_file and part.is_given:
            problem = (
                "the file candidates.sql or candidates.cypher already lists the candidates; "
                "remove the file, or the source under [candidates]"
            )
            yield ("candidates",), problem
        yield from self._listing(("candidates",), part, needed=not has_file)
        kind = self._columns.get(part.table or "", {}).get(part.column or "", "text")
        if kind in _UNNAMED and part.type is None:
            fix = "choose a column of texts or integers, or list the candidates with a statement"
            problem = f"the column '{part.column}' contains {kind} values; {fix}"
            yield ("candidates", "column"), problem
        for key, name in (("except", part.except_), ("listed_in", part.listed_in)):
            yield from self._parameter(("candidates", key), name)

    def outcomes(self) -> Iterator[Problem]:
        """Check that the fields for the source of outcomes do not contradict each other."""
        part, has_file = self._document.outcomes, self._files["outcomes"]
        if (part.source == "python") != (part.python is not None):
            problem = (
                "the source 'python' needs the field 'python', and no other source uses this "
                "field; add the field, or remove it"
            )
            yield ("outcomes",), problem
        if (part.source == "query") != has_file:
            problem = (
                f"the source is '{part.source}', but there is a file outcomes.sql or "
                'outcomes.cypher; write source = "query", or remove the file'
                if has_file
                else "the source 'query' needs a file outcomes.sql or outcomes.cypher; add one"
            )
            yield ("outcomes", "source"), problem

    def critical_values(self) -> Iterator[Problem]:
        """Check that the columns of critical values exist."""
        names = [value.name for value in self._document.critical_values]
        for index, value in enumerate(self._document.critical_values):
            columns = [("column", value.table, value.column)]
            columns += [("solved", *column) for column in value.solved]
            path: FieldPath = ("critical_values", index)
            if value.spared is not None:
                yield from _known((*path, "spared"), "critical value", value.spared.by, names)
                columns += [("spared", *column) for column in value.spared.columns]
            if (sums := value.computed) is not None:
                columns += [("computed", sums.table, name) for name in sorted(sums.columns)]
                columns += [("computed", sums.table, sums.by)]
            for field, table, column in columns:
                yield from self._column((*path, field), table, column)

    def release_and_matters(self) -> Iterator[Problem]:
        """Check that the parameters in ``[release]`` and ``[matters]`` exist."""
        document = self._document
        if document.release is not None:
            name = document.release.database
            if name.startswith("{") and name != "{question_num}":
                yield from self._parameter(("release", "database"), name.strip("{}"))
        if (part := document.matters) is None:
            return
        path: FieldPath = ("matters", "parameter")
        yield from self._parameter(path, part.parameter)
        parameter = document.parameters.get(part.parameter)
        if parameter is not None and all(n.table != parameter.table for n in document.nodes):
            fix = "choose a parameter whose table is mapped to nodes"
            yield path, f"'{part.parameter}' does not identify a node; {fix}"
        labels = [edge.label for edge in document.edges]
        for label in part.along:
            yield from _known(("matters", "along"), "edge", label, labels)

    def heuristics(self) -> Iterator[Problem]:
        """Check that each heuristic has a file, and each file a heuristic."""
        names = [part.name for part in self._document.heuristics]
        yield from _repeated((HEURISTICS,), "heuristic", self._document.heuristics)
        for index, name in enumerate(names):
            if not self._files.get(heuristic_file(name), False):
                problem = f"there is no {heuristic_file(name)}.sql or .cypher; add one"
                yield (HEURISTICS, index, "name"), problem
        for stem in self._files:
            prefix, _, name = stem.partition("/")
            if prefix == HEURISTICS and name not in names:
                problem = f"the file {stem} has no heuristic '{name}'; add it, or remove the file"
                yield (HEURISTICS,), problem

    # --- parts of checks ---

    def _column(self, path: FieldPath, table: str, *columns: str) -> Iterator[Problem]:
        """Check that a table and its columns exist."""
        yield from _known(path, "table", table, self._columns)
        for column in columns if table in self._columns else ():
            yield from _known(path, f"column of '{table}'", column, self._columns[table])

    def _mapped(self, path: FieldPath, part: NodePart | EdgePart) -> Iterator[Problem]:
        """Check the table and the columns of nodes or edges."""
        yield from self._column((*path, "table"), part.table)
        for name, column in part.properties.items() if part.table in self._columns else ():
            yield from self._column((*path, "properties", name), part.table, column)

    def _parameter(self, path: FieldPath, name: str | None) -> Iterator[Problem]:
        if name is not None:
            yield from _known(path, "parameter", name, self._document.parameters)

    def _listing(
        self, path: FieldPath, listing: Listing, *, needed: bool = False
    ) -> Iterator[Problem]:
        """Check the source of a list of values."""
        if needed and not listing.is_given:
            yield path, "say where the values come from: table and column, or sql or cypher"
        if listing.is_statement and listing.table is not None:
            yield path, "the values come from a table and from a statement; remove one of the two"
        if (listing.table is None) != (listing.column is None):
            yield path, "table needs column, and column needs table; give both"
        elif listing.table is not None and listing.column is not None:
            yield from self._column((*path, "column"), listing.table, listing.column)
        for column, parameter in listing.where.items():
            yield from self._column((*path, "where", column), listing.table or "", column)
            yield from self._parameter((*path, "where", column), parameter)
        for key, text in (("sql", listing.sql), ("cypher", listing.cypher)):
            for _, problem in unknown_names(Template(text or ""), self._document.parameters):
                yield (*path, key), problem


def _known(path: FieldPath, kind: str, word: str, known: Iterable[str]) -> Iterator[Problem]:
    if word not in known:
        yield path, unknown_word(kind, word, known)


def _repeated(
    path: FieldPath, kind: str, parts: Sequence[TablePart | ColumnPart | HeuristicPart]
) -> Iterator[Problem]:
    """Yield a problem for each part with the same name as an earlier part."""
    names = [part.name for part in parts]
    for index, name in enumerate(names):
        if name in names[:index]:
            yield (*path, index, "name"), f"the {kind} '{name}' exists twice; rename one"
