"""Reviews of statements and decisions by a person.

Without a reviewer, nothing is reviewed. A statement that the guard refuses is not reviewed. The
guard also checks corrected statements.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping

from dqa.core.database import Database
from dqa.core.errors import InvalidAnswerError
from dqa.core.journal import replay
from dqa.core.question import Candidate
from dqa.core.review import Review, Settled, current_reviewing
from dqa.guard import GuardedDatabase, GuardVerdict, check

_ALLOWED = "The guard allows the statement, because it only reads."
_ONWARD: Mapping[str, str] = {
    "statement": "Write another statement that takes this into account, or continue without one if "
    "none is needed.",
    "decision": "Check the decision, by a query if the results so far are not sufficient. If it is "
    "right, decide the same again and give the evidence. If it is wrong, decide differently.",
    "plan": "Write another plan that takes this into account.",
    "new plan": "The previous plan is still valid: continue with it, or write another new plan "
    "that takes this into account.",
}
"""The instruction for the model after a refusal, by the kind of text."""


def settle_statement(statement: str, database: Database) -> Settled:
    """Let a person review a model's statement before it runs.

    Raises
    ------
    StoppedError
        The person ends the run.
    """
    reviewing = current_reviewing()
    if reviewing is None or "statement" not in reviewing.kinds or statement in reviewing.approved:
        return Settled(statement)
    if not _verdict(statement, database).allowed:
        return Settled(statement)

    def problem_with(correction: str) -> str:
        verdict = _verdict(correction.strip(), database)
        return "" if verdict.allowed else f"The guard refuses the statement: {verdict.reason}"

    review = Review(
        kind="statement",
        text=statement,
        database=database.name,
        language=database.language,
        verdict=_ALLOWED,
    )
    settled = reviewing.settle(review, problem_with)
    if settled.text != statement and isinstance(database, GuardedDatabase):
        what = "corrected" if settled.corrected else "refused"
        why = ": ".join(filter(None, [f"{what} by {settled.by or 'a person'}", settled.reason]))
        replay("not run", [statement, why], lambda: database.note_not_run(statement, why))
    return settled


def settle_decision(
    answer: str, choice: Candidate | None, choose: Callable[[str], Candidate | None]
) -> tuple[Settled, Candidate | None]:
    """Let a person review a decision before it is final.

    Parameters
    ----------
    answer, choice
        The decider's answer, and the candidate in it.
    choose
        Returns the candidate in a correction; raises `InvalidAnswerError` if there is none.

    Returns
    -------
    tuple
        The approved answer, and the candidate in it.
    """
    reviewing = current_reviewing()
    if reviewing is None or "decision" not in reviewing.kinds:
        return Settled(answer), choice
    chosen: Candidate | None = None

    def problem_with(correction: str) -> str:
        nonlocal chosen
        reviewing.approved.add(correction.strip())
        try:
            chosen = choose(correction)
        except InvalidAnswerError as error:
            return str(error)
        return ""

    text = answer if choice is None else str(choice)
    settled = reviewing.settle(Review(kind="decision", text=text), problem_with)
    if settled.text is None:
        return settled, None
    return (settled, chosen) if settled.corrected else (Settled(answer), choice)


def describe_correction(settled: Settled) -> str:
    """Return the message to add below the result of a corrected statement."""
    ran = textwrap.indent(settled.text or "", "  ")
    why = f"Reason: {settled.reason}. Take it into account in later statements. "
    replaced = (
        "A person replaced your statement by the following statement. The result above is the "
        "result of this statement:"
    )
    return f"{replaced}\n{ran}\n{why if settled.reason else ''}Continue from this result."


def describe_refusal(settled: Settled, what: str = "statement") -> str:
    """Return the message about a refused text: the reason, and how the model can continue.

    Parameters
    ----------
    settled
        The result of the review.
    what
        The kind of the text: ``statement``, ``decision``, ``plan`` or ``new plan``.
    """
    reason = f"Reason: {settled.reason}." if settled.reason else "No reason was given."
    return f"A person refused your {what}. {reason} {_ONWARD[what]}"


def _verdict(statement: str, database: Database) -> GuardVerdict:
    if isinstance(database, GuardedDatabase):
        return database.check(statement)
    return check(statement, database.dialect)
