"""The assertion on decisions: what passes, and what is said where one does not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import dqa
from dqa.core.database import Rows
from dqa.core.decision import Decision, Ending, Usage
from dqa.core.evidence import Evidence
from dqa.loaders.custom_question import UserQuestion
from dqa.testing import assert_choice
from dqa.testing.decisions import ask_in_test, make_questions
from dqa_simulators.locating.generator import LocatingSize
from tests.sqlite_files import run_script

READ = Evidence("SELECT o.total FROM orders o WHERE o.note = 'salary'", "", row_count=1)
FAILED = Evidence("SELECT * FROM budget", "There is no table budget.", error="StatementError")
MADE = Decision(
    Ending.ANSWERED,
    answer="Take south.",
    choice="south",
    evidence=(READ, FAILED),
    usage=Usage(90, 10, 2),
    steps=3,
)
UNLISTED = Decision(Ending.ANSWERED, answer="42 ")
BROKEN = Decision(Ending.UNPARSABLE, answer="south", steps=3, error="No reply could be read.")


@pytest.mark.parametrize(
    ("decision", "expected"),
    [(MADE, ("south",)), (MADE, ("north", "south")), (UNLISTED, ("42",)), (UNLISTED, (42,))],
)
def test_what_holds_passes(decision: Decision, expected: tuple[dqa.Candidate, ...]) -> None:
    """One of several choices; a text without candidates equals a number."""
    assert_choice(decision, *expected)


@pytest.mark.parametrize(
    ("decision", "expected", "problem"),
    [
        (MADE, "Take south.", "The decision is 'south', but 'Take south.'"),
        (BROKEN, "south", "No decision was made, but 'south' was expected."),
    ],
)
def test_what_does_not_hold_is_said(decision: Decision, expected: str, problem: str) -> None:
    """The text of the answer does not replace the choice."""
    with pytest.raises(AssertionError) as raised:
        assert_choice(decision, expected)
    assert problem in str(raised.value)


def test_the_message_goes_on_with_what_happened() -> None:
    """Each statement with what came of it."""
    with pytest.raises(AssertionError) as raised:
        assert_choice(MADE, "north")
    assert str(raised.value).splitlines()[1:] == [
        "  Choice: south",
        "  Answer: Take south.",
        "  Ended: answered after 3 replies",
        "  Evidence: 2 statements",
        f"    {READ.statement}",
        "      -> 1 row",
        "    SELECT * FROM budget",
        "      -> StatementError: There is no table budget.",
    ]
    with pytest.raises(AssertionError, match="No reply could be read") as raised:
        assert_choice(BROKEN, "north")
    assert "Evidence: 0 statements" in str(raised.value)


class Stray(dqa.Decider):
    """A user's decider that does not check its choice."""

    name = "stray"

    def decide(self, question: dqa.Question, database: dqa.Database) -> Decision:
        """Choose something else."""
        return Decision(Ending.ANSWERED, "elsewhere", "elsewhere")


def test_a_choice_is_a_candidate_and_a_message_has_warnings(tmp_path: Path) -> None:
    """A stray answer is no choice; a warning of the database is in the message."""
    database = run_script(tmp_path / "plants.db", "CREATE TABLE plant (name TEXT)")
    asked = UserQuestion(question="Which plant?", candidates=("north", "south"))
    trace = dqa.ask(database, asked, decider="first", allow_no_evidence=True, record=False)
    assert_choice(trace, str(trace.choice))
    stray = dqa.ask(database, asked, decider=Stray(), allow_no_evidence=True, record=False)
    assert (stray.ending, stray.choice) == (Ending.UNPARSABLE, None)
    meant = asked.changed(candidates=("here", "elsewhere "))
    for accepts, choice in ((True, "elsewhere "), (None, "elsewhere "), (False, None)):
        named = ask_in_test(database, meant, decider=Stray(), allow_no_evidence=accepts)
        assert (named.choice, named.ending is Ending.NO_EVIDENCE) == (choice, choice is None)
    rows = Rows(("n",), (), warning="there is no label Plnat")
    assert replace(rows, cut="rows").to_text().endswith("; there is no label Plnat)")
    warned = rows.to_text()
    read = replace(MADE, evidence=(Evidence("MATCH (p:Plnat) RETURN p.n", warned),))
    with pytest.raises(AssertionError, match="-> 0 rows; there is no label Plnat"):
        assert_choice(read, "north")


def test_the_same_arguments_give_the_same_question_set() -> None:
    """Each set is generated once, whatever the options are."""
    sizes = [LocatingSize(nodes=8, edges=9, countries=5, node_countries=9)]
    one, same = (make_questions("locating", count=1, sizes=list(sizes)) for _ in range(2))
    assert one is same
    assert make_questions("locating", count=1, seed=1, sizes=sizes) is not one
