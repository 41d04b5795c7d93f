"""What the parts of a scenario's document say about one another, held against the whole.

Each check yields the place of a field, and what is wrong there and how to mend it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from string import Formatter, Template

from dqa.core.errors import DataError
from dqa.core.simulator import CountingRules
from dqa.scenarios.document import Listing, ScenarioDocument
from dqa.scenarios.formula import Formula
from dqa.scenarios.toml_lines import Place

Problem = tuple[Place, str]

_UNNAMED = frozenset({"float", "boolean", "json", "array"})
"""Types of columns whose values no answer can name."""
_NUMBERS = frozenset({"float", "integer", "boolean", "decimal"})

HEURISTICS = "heuristics"
"""What the heuristics are called in the document, and the folder of their statements."""


def heuristic_file(name: str) -> str:
    """Return the file of a heuristic's statement within its scenario's folder, without ending."""
    return f"{HEURISTICS}/{name}"


def problems(document: ScenarioDocument, statements: Mapping[str, bool]) -> Iterator[Problem]:
    """Yield what does not fit together, in the order of the document.

    Parameters
    ----------
    document
        Valid part by part.
    statements
        Which of a scenario's files of statements are there: ``candidates``, ``outcomes`` and
        those of heuristics, by their names without endings.
    """
    whole = _Whole(document)
    yield from whole.tables()
    yield from whole.graph()
    yield from whole.parameters()
    yield from whole.candidates(file=statements["candidates"])
    yield from whole.outcomes(file=statements["outcomes"])
    yield from whole.critical_values()
    yield from whole.matters()
    yield from whole.heuristics(statements)
    yield from whole.release()


def unknown_word(kind: str, word: str, known: Iterable[str]) -> str:
    """Return what to say of a word that names nothing."""
    names = list(known)
    close = get_close_matches(word, names, n=1)
    hint = f"; did you mean '{close[0]}'?" if close else ""
    return f"there is no {kind} '{word}' (there are: {', '.join(names) or 'none'}){hint}"


def unknown_places(template: Template, known: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each ``$name`` in a template that nothing fills in, and what to say of it.

    The name is empty for a sign that stands before none.

    Parameters
    ----------
    template
        Of a question or a statement.
    known
        What fills it in.
    """
    if not template.is_valid():
        yield "", "a '$' stands before no name; write '$$' for the sign itself"
        return
    names = list(known)
    for place in template.get_identifiers():
        if place not in names:
            yield place, unknown_word("parameter", place, names)


def unstated_rule(rules: str, counting: CountingRules) -> str | None:
    """Return what to say of a text of rules that lacks one a simulator counts by; None of a whole.

    Parameters
    ----------
    rules
        Numbered rules, each a paragraph that begins with its heading: ``4. Demand. ...``.
    counting
        What the simulator declares.
    """
    numbered = re.split(r"^\d+\.\s+", rules, flags=re.MULTILINE)[1:]
    texts = {text.partition(".")[0].strip(): " ".join(text.split()) for text in numbered}
    for heading, figures in counting.stated:
        if heading not in texts:
            return (
                f"it lacks the rule '{heading}', by which the simulator counts; "
                f"add a numbered rule that begins with '{heading}.'"
            )
        for figure in figures:
            if not _says(texts[heading], figure):
                return (
                    f"the rule '{heading}' lacks '{figure}', by which the simulator counts; "
                    "say it there"
                )
    return None


def _says(text: str, figure: str) -> bool:
    """Whether a text holds a constant or word by itself: 3 is not in 30, nor 1.05 in 1.055."""
    return re.search(rf"(?<![\w.]){re.escape(figure)}(?!\w|\.\d)", text) is not None


class _Whole:
    """The checks of one document."""

    def __init__(self, document: ScenarioDocument) -> None:
        self._document = document
        self._columns = {t.name: {c.name: c.type for c in t.columns} for t in document.tables}

    def tables(self) -> Iterator[Problem]:
        """Yield tables and columns that are there twice, and keys of other columns."""
        seen: set[str] = set()
        for index, table in enumerate(self._document.tables):
            here: Place = ("tables", index)
            if table.name in seen:
                yield (*here, "name"), f"the table '{table.name}' is there twice; rename one"
            seen.add(table.name)
            names = [column.name for column in table.columns]
            twice = next((name for name in names if names.count(name) > 1), None)
            if twice is not None:
                yield (*here, "columns"), f"the column '{twice}' is there twice; rename one"
            yield from self._all_columns((*here, "key"), table.name, table.key)

    def graph(self) -> Iterator[Problem]:
        """Yield nodes and edges of tables, columns or labels that are not there."""
        labels = [node.label for node in self._document.nodes]
        for index, node in enumerate(self._document.nodes):
            here: Place = ("nodes", index)
            yield from self._mapped(here, node.table, node.properties)
            if node.key not in node.properties:
                yield (*here, "key"), unknown_word("property", node.key, node.properties)
        for index, edge in enumerate(self._document.edges):
            here = ("edges", index)
            yield from self._mapped(here, edge.table, edge.properties)
            for end, (label, column) in (("source", edge.source), ("target", edge.target)):
                if label not in labels:
                    yield (*here, end), unknown_word("node", label, labels)
                yield from self._all_columns((*here, end), edge.table, (column,))

    def parameters(self) -> Iterator[Problem]:
        """Yield parameters that no template can name, and values that come from nowhere."""
        for name, parameter in self._document.parameters.items():
            here: Place = ("parameters", name)
            if not name.isidentifier() or name in {"candidates", "question_num"}:
                yield here, f"'{name}' cannot be a parameter's name; take letters and underscores"
            yield from self._listing(here, parameter)
            if parameter.follows is not None:
                yield from self._listing((*here, "follows"), parameter.follows, needed=True)

    def candidates(self, *, file: bool) -> Iterator[Problem]:
        """Yield what keeps candidates from coming from exactly one place."""
        here: Place = ("candidates",)
        given = self._document.candidates
        if file and given.is_given:
            yield here, "a file candidates.sql or candidates.cypher lists them already; keep one"
        yield from self._listing(here, given, needed=not file)
        kind = self._columns.get(given.table or "", {}).get(given.column or "", "text")
        if kind in _UNNAMED and given.type is None:
            problem = f"the column '{given.column}' holds {kind} values"
            mend = "a candidate is text or an integer (type, of those that a statement lists)"
            yield (*here, "column"), f"{problem}; {mend}"
        for key, name in (("except", given.except_), ("listed_in", given.listed_in)):
            if name is not None:
                yield from self._parameter((*here, key), name)

    def outcomes(self, *, file: bool) -> Iterator[Problem]:
        """Yield what the source of the outcomes lacks, and what belongs to another one."""
        here: Place = ("outcomes",)
        given = self._document.outcomes
        belong = {"python": ("python",), "formula": ("table", "key", "formula")}
        for source, fields in belong.items():
            for field in fields:
                is_there = getattr(given, field) is not None
                if source == given.source and not is_there:
                    yield here, f"the source '{source}' needs the field '{field}'; add it"
                if source != given.source and is_there:
                    yield (*here, field), f"it belongs to the source '{source}'; remove it"
        if (given.source == "query") != file:
            mend = "change the source" if file else "add one"
            pair = "the source 'query' and a file outcomes.sql or outcomes.cypher"
            yield (*here, "source"), f"{pair} belong together; {mend}"
        if given.source == "formula" and None not in (given.table, given.key, given.formula):
            yield from self._formula(str(given.table), str(given.key), str(given.formula))

    def critical_values(self) -> Iterator[Problem]:
        """Yield critical values of columns that are not there."""
        for index, value in enumerate(self._document.critical_values):
            here: Place = ("critical_values", index)
            yield from self._all_columns((*here, "column"), value.table, (value.column,))
            for table, column in value.solved:
                yield from self._all_columns((*here, "solved"), table, (column,))
            if value.spared is not None:
                names = [other.name for other in self._document.critical_values]
                if value.spared.by not in names:
                    wrong = unknown_word("critical value", value.spared.by, names)
                    yield (*here, "spared", "by"), wrong
                for table, column in value.spared.beside:
                    yield from self._all_columns((*here, "spared", "beside"), table, (column,))
            if value.computed is None:
                continue
            there = (*here, "computed")
            columns = (*sorted(value.computed.columns), value.computed.by)
            yield from self._all_columns(there, value.computed.table, columns)
            if value.computed.beside is not None:
                table, column = value.computed.beside
                yield from self._all_columns((*there, "beside"), table, (column,))

    def matters(self) -> Iterator[Problem]:
        """Yield what is no parameter that names a node, or no label of an edge."""
        given = self._document.matters
        if given is None:
            return
        here: Place = ("matters",)
        yield from self._parameter((*here, "parameter"), given.parameter)
        parameter = self._document.parameters.get(given.parameter)
        if parameter is not None and all(n.table != parameter.table for n in self._document.nodes):
            mend = "name a parameter whose table is one of the nodes"
            yield (*here, "parameter"), f"'{given.parameter}' names no node; {mend}"
        labels = [edge.label for edge in self._document.edges]
        for label in given.along:
            if label not in labels:
                yield (*here, "along"), unknown_word("edge", label, labels)

    def heuristics(self, files: Mapping[str, bool]) -> Iterator[Problem]:
        """Yield heuristics without a file, files without a heuristic, and names used twice."""
        names = [part.name for part in self._document.heuristics]
        for index, name in enumerate(names):
            here: Place = (HEURISTICS, index, "name")
            if name in names[:index]:
                yield here, f"the heuristic '{name}' is there twice; rename one"
            if not files.get(heuristic_file(name), False):
                yield here, f"there is no {heuristic_file(name)}.sql or .cypher; add one"
        for stem in files:
            prefix, _, name = stem.partition("/")
            if prefix == HEURISTICS and name not in names:
                yield (HEURISTICS,), f"a file {stem} is there, but no heuristic '{name}'; add it"

    def release(self) -> Iterator[Problem]:
        """Yield what is no name of a database: the question's number, or one parameter alone."""
        if self._document.release is None:
            return
        here: Place = ("release", "database")
        name = self._document.release.database
        try:
            fields = [field for _, field, _, _ in Formatter().parse(name) if field is not None]
        except ValueError:
            fields = []
        if fields == ["question_num"] or (len(fields) == 1 and name == f"{{{fields[0]}}}"):
            if fields != ["question_num"]:
                yield from self._parameter(here, fields[0])
            return
        yield here, "write 'q{question_num}', or one parameter in braces such as '{world}'"

    # --- parts of checks ---

    def _all_columns(self, place: Place, table: str, columns: Iterable[str]) -> Iterator[Problem]:
        known = self._columns.get(table)
        if known is None:
            yield place, unknown_word("table", table, self._columns)
            return
        for column in columns:
            if column not in known:
                yield place, unknown_word(f"column of '{table}'", column, known)

    def _mapped(self, here: Place, table: str, properties: Mapping[str, str]) -> Iterator[Problem]:
        if table not in self._columns:
            yield (*here, "table"), unknown_word("table", table, self._columns)
            return
        for name, column in properties.items():
            yield from self._all_columns((*here, "properties", name), table, (column,))

    def _parameter(self, place: Place, name: str) -> Iterator[Problem]:
        if name not in self._document.parameters:
            yield place, unknown_word("parameter", name, self._document.parameters)

    def _listing(self, here: Place, listing: Listing, *, needed: bool = False) -> Iterator[Problem]:
        if needed and not listing.is_given:
            yield here, "say where the values come from: table and column, or sql or cypher"
        if listing.is_statement and listing.table is not None:
            yield here, "the values come from a table or from a statement; keep one of the two"
        if (listing.table is None) != (listing.column is None):
            yield here, "table and column belong together; give both"
        elif listing.table is not None and listing.column is not None:
            yield from self._all_columns((*here, "column"), listing.table, (listing.column,))
        for column, parameter in listing.where.items():
            place = (*here, "where", column)
            yield from self._all_columns(place, listing.table or "", (column,))
            yield from self._parameter(place, parameter)
        for key, text in (("sql", listing.sql), ("cypher", listing.cypher)):
            for _, wrong in unknown_places(Template(text or ""), self._document.parameters):
                yield (*here, key), wrong

    def _formula(self, table: str, key: str, formula: str) -> Iterator[Problem]:
        yield from self._all_columns(("outcomes", "key"), table, (key,))
        place: Place = ("outcomes", "formula")
        try:
            columns = Formula(formula).columns
        except DataError as error:
            yield place, str(error)
            return
        types = self._columns.get(table, {})
        yield from self._all_columns(place, table, columns)
        for column in columns:
            if types.get(column, "float") not in _NUMBERS:
                holds = "text" if types[column] == "text" else f"{types[column]} values"
                yield place, f"the column '{column}' holds {holds}; a formula takes numbers"
