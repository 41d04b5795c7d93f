"""The context of a decision: what queries return, shortened where it is too long (section 4.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dqa.core.errors import UsageError
from dqa.deciders.context import Context
from dqa.deciders.method import Asking
from dqa.deciders.prompting import fill_in
from dqa_dellma.context.problem import Problem
from dqa_dellma.context.summaries import Shortener
from dqa_dellma.findings import ContextRead

METHOD = "DeLLMa"
_LEAST_CONTEXT = 200
"""Fewest characters that goal and actions have to leave to rules and rows."""


@dataclass(frozen=True, slots=True)
class Briefing(Context):
    """A context from which problems of any length are made."""

    method: ClassVar[str] = METHOD

    @property
    def least(self) -> int:
        """Fewest characters of a problem: its goal and actions, and some for rules and rows."""
        return self._taken + _LEAST_CONTEXT

    @property
    def size(self) -> int:
        """Characters of the problem with all of its rules and rows."""
        return self._taken + len(self.rules) + len(self._rows)

    def problem(self, asking: Asking, most: int) -> Problem:
        """Make the decision problem: goal, actions and context.

        Parameters
        ----------
        asking
            The model that summarises; its recorder gets the context.
        most
            Most characters of goal, actions, rules and rows together. Rules and rows that are
            longer than what the others leave are summarised piece by piece.

        Raises
        ------
        UsageError
            Goal and actions alone are too long.
        UnparsableReplyError
            Rules or rows are too long, and no reply shortens them.
        InfrastructureError, BudgetSpentError
            The model failed, or nothing is left to spend.
        """
        rules, rows = self.rules, self._rows
        for_rules, for_rows = _shares(len(rules), len(rows), self._room(most))
        shortener = Shortener(self.goal, self.actions, asking)
        rules_summarised, summarised = len(rules) > for_rules, len(rows) > for_rows
        if rules_summarised:
            rules = shortener.shorten("rules", [rules], for_rules)
        if summarised:
            rows = shortener.shorten("rows", self.tables, for_rows)
        asking.note(
            "context",
            ContextRead(
                goal=self.goal,
                rules=rules,
                actions=self.actions,
                left_out=self.left_out,
                text=rows,
                summarised=summarised,
                rules_summarised=rules_summarised,
                failed=self.failed,
                cut=self.cut,
            ),
        )
        return self._problem(_context(rules, rows))

    def cut_problem(self, most: int) -> Problem:
        """Make the problem of as many rules and rows as fit, without asking a model."""
        room = max(self._room(most), 0)
        rules = self.rules[:room]
        lines = self._rows.split("\n")
        while lines and sum(map(len, lines)) + len(lines) > max(room - len(rules), 0):
            lines.pop()
        return self._problem(_context(rules, "\n".join(lines)))

    def _problem(self, context: str) -> Problem:
        return Problem(self.goal, self.actions, context, self.noun, self.states_form)

    @property
    def _rows(self) -> str:
        return "\n\n".join(self.tables)

    @property
    def _taken(self) -> int:
        """How many characters goal and actions take."""
        return len(fill_in("dqa_dellma", "task", problem=self._problem(_context("", ""))))

    def _room(self, most: int) -> int:
        """Return how many characters goal and actions leave to rules and rows."""
        taken = self._taken
        if most - taken < _LEAST_CONTEXT:
            raise UsageError(
                f"The goal and {len(self.actions)} actions alone take {taken} of the {most} "
                "characters that dellma.context allows, which leaves no room for what the database "
                f"holds: raise it with --set dellma.context={2 * (taken + _LEAST_CONTEXT)}, or "
                "list fewer actions."
            )
        return most - taken


def _context(rules: str, rows: str) -> str:
    return fill_in("dqa_dellma", "context", rules=rules, rows=rows)


def _shares(rules: int, rows: int, room: int) -> tuple[int, int]:
    """Return the most characters of rules and of rows: each has what the other leaves, or half."""
    half = room // 2
    return max(half, room - rows), max(half, room - rules)
