"""The proposed statements and texts: skeletons that run, and say what to put in their place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dqa.core.text import visible
from dqa.loaders.proposal.choices import Choice
from dqa.loaders.proposal.guesses import GUESS
from dqa.loaders.proposal.survey import Surveyor

_MOST = 1_000
_FEW = 100
"""Candidates that are proposed where there are too many to choose from."""
_FIGURES = 6
"""Numbers of what can be chosen that the context shows."""


@dataclass(frozen=True, slots=True)
class Statements:
    """The statements of one proposal, in the language of its database.

    Attributes
    ----------
    choice
        The decision.
    surveyor
        Spells names.
    """

    choice: Choice
    surveyor: Surveyor

    @property
    def suffix(self) -> str:
        """The ending of their files."""
        return ".cypher" if self.surveyor.is_graph else ".sql"

    def _name(self, name: str) -> str:
        """Return a name as a template has it, in which a dollar sign is written twice."""
        return self.surveyor.written(name).replace("$", "$$")

    def _remark(self, text: str) -> str:
        return f"{'//' if self.surveyor.is_graph else '--'} {visible(text)}"

    @property
    def _candidate(self) -> str:
        return f"c.{self._name(self.choice.column)}"

    # --- candidates ---

    def candidates(self) -> str:
        """Return the statement that lists what can be chosen."""
        choice = self.choice
        conditions = [f"{self._candidate} IS NOT NULL"]
        if choice.kind is not None:
            conditions.append(f"c.{self._name(choice.kind)} = ${choice.parameter}")
        limit = ""
        remarks = [
            self._remark(f"{GUESS}: each {choice.noun} can be chosen. Its first column counts."),
            self._remark("Say here which of them cannot, and in rules.md why."),
        ]
        if choice.count is not None and choice.count > _MOST:
            remarks.append(self._remark(f"{GUESS}: of {choice.count:,}, the first {_FEW}; narrow."))
            limit = "" if self.surveyor.database.dialect == "ansi" else f"\nLIMIT {_FEW}"
        where = " AND ".join(conditions)
        table = self._name(choice.table.name)
        if self.surveyor.is_graph:
            lines = [
                f"MATCH (c:{table})",
                f"WHERE {where}",
                f"RETURN DISTINCT {self._candidate} AS candidate",
                f"ORDER BY candidate{limit};",
            ]
        else:
            lines = [
                f"SELECT DISTINCT {self._candidate} AS candidate",
                f"FROM {table} c",
                f"WHERE {where}",
                f"ORDER BY candidate{limit};",
            ]
        return "\n".join([*remarks, *lines, ""])

    # --- outcomes ---

    def outcomes(self) -> str:
        """Return the statement that tells what each leads to."""
        choice = self.choice
        remarks = [
            self._remark("What each candidate leads to: a row each, the candidate and a number."),
            self._remark(f"{GUESS}: the {choice.measured}. Put what your rules say in its place;"),
            self._remark("whatever is counted here has to stand in rules.md in words."),
        ]
        value = self._value()
        matched = list(self._rows(named=True))
        if self.surveyor.is_graph:
            lines = [*matched, f"RETURN {self._candidate} AS candidate, {value} AS outcome;"]
        else:
            lines = [
                f"SELECT {self._candidate} AS candidate, {value} AS outcome",
                *matched,
                f"GROUP BY {self._candidate};",
            ]
        return "\n".join([*remarks, *lines, ""])

    def _value(self) -> str:
        choice = self.choice
        element = "c" if choice.fact is None else "f"
        if choice.measure is None:
            if choice.fact is None:
                return "COUNT(*)"
            return f"COUNT({self._counted()})"
        of = choice.table if choice.fact is None else choice.fact.table
        value = self.surveyor.summed(of, choice.measure, element).replace("$", "$$")
        zero = "0" if of.column(choice.measure).type == "integer" else "0.0"
        return f"COALESCE({value}, {zero})"

    def _counted(self) -> str:
        """Return what is counted of the rows that belong to a candidate."""
        fact = self.choice.fact
        if fact is None or fact.join is None:
            return "f"
        return f"f.{self._name(fact.join.columns[0])}"

    def _rows(self, *, named: bool) -> Iterator[str]:
        """Yield what the candidates and the rows that belong to them are read from."""
        choice, table = self.choice, self._name(self.choice.table.name)
        listed = "[$candidates]" if self.surveyor.is_graph else "($candidates)"
        # Where there are very many, a statement that names them all is slow.
        kept = f"{self._candidate} IN {listed}"
        if self.surveyor.is_graph:
            yield f"MATCH (c:{table})"
            yield f"WHERE {kept}"
            if choice.fact is not None and choice.fact.table.ends is not None:
                fact = choice.fact
                other = (fact.table.ends or ("", ""))[1 if fact.outward else 0]
                left, right = ("-", "->") if fact.outward else ("<-", "-")
                pattern = f"[f:{self._name(fact.table.name)}]"
                yield f"OPTIONAL MATCH (c){left}{pattern}{right}(:{self._name(other)})"
            return
        yield f"FROM {table} c"
        if choice.fact is not None and choice.fact.join is not None:
            fact, join = choice.fact, choice.fact.join
            same = " AND ".join(
                f"f.{self._name(column)} = c.{self._name(other)}" for column, other in join.pairs
            )
            yield f"LEFT JOIN {self._name(fact.table.name)} f ON {same}"
        if named:
            yield f"WHERE {kept}"

    # --- context ---

    def context(self) -> str:
        """Return the statements whose rows bear on the question."""
        choice = self.choice
        remarks = [
            self._remark("What bears on the question, for methods that write no statements."),
            self._remark(f"{GUESS}: figures of each {choice.noun}, and how much belongs to it."),
        ]
        figures = [
            column.name
            for column in choice.table.columns
            if column.type in ("integer", "decimal", "float", "boolean", "date")
            and column.name not in (*choice.table.key, choice.column)
        ][:_FIGURES]
        shown = [f"{self._candidate} AS candidate"]
        shown += [f"c.{self._name(name)} AS {self._name(name)}" for name in figures]
        table = self._name(choice.table.name)
        if self.surveyor.is_graph:
            first = [
                f"MATCH (c:{table})",
                f"WHERE {self._candidate} IN [$candidates]",
                f"RETURN {', '.join(shown)}",
                "ORDER BY candidate;",
            ]
        else:
            first = [
                f"SELECT {', '.join(shown)}",
                f"FROM {table} c",
                f"WHERE {self._candidate} IN ($candidates)",
                "ORDER BY candidate;",
            ]
        return "\n".join([*remarks, *first, *self._belonging(), ""])

    def _belonging(self) -> Iterator[str]:
        if self.choice.fact is None:
            return
        rows, counted = list(self._rows(named=True)), f"COUNT({self._counted()}) AS belonging"
        if self.surveyor.is_graph:
            yield from rows
            yield f"RETURN {self._candidate} AS candidate, {counted}"
        else:
            yield f"SELECT {self._candidate} AS candidate, {counted}"
            yield from rows
            yield f"GROUP BY {self._candidate}"
        yield "ORDER BY candidate;"

    # --- texts ---

    def rules(self) -> str:
        """Return the business rules."""
        choice = self.choice
        of = choice.table if choice.fact is None else choice.fact.table
        table, other = f"`{visible(choice.table.name)}`", f"`{visible(of.name)}`"
        belong = "" if choice.fact is None else f" that belong to the {choice.noun}"
        if choice.measure is None:
            counted = f"the number of rows of {other}{belong}"
        else:
            counted = f"the sum of `{visible(choice.measure)}` over the rows of {other}{belong}"
        only = ""
        if choice.kind is not None:
            only = f" whose `{visible(choice.kind)}` is the one that is asked about"
        remark = (
            f"<!-- {GUESS}: write your rules, a number each, and take this line away. Whatever a "
            "statement counts has to stand here in words: who decides reads this alone. -->"
        )
        return "\n".join(
            [
                remark,
                f"1. Each {choice.noun} in {table}{only} can be chosen.",
                f"2. The {choice.measured} of a {choice.noun} is {counted}.",
                "",
            ]
        )

    def question(self, asked: str) -> str:
        """Return the question, the user's own or a proposed one, and how it is to be answered."""
        choice = self.choice
        most = "least" if choice.goal == "minimise" else "most"
        text = asked.strip().replace("$", "$$")
        if not text:
            text = f"Which {choice.noun} has the {most} by its {choice.measured}?"
            if choice.kind is not None:
                kind = visible(choice.kind).replace("$", "$$")
                text += f' Those whose {kind} is "${choice.parameter}" can be chosen.'
        return f"{' '.join(text.split())}\n\nAnswer with the name of one {choice.noun}.\n"
