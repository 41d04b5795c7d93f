"""What an agent stated last, where its budget ends the run and it does not decide any more."""

from __future__ import annotations

from collections.abc import Iterator

from dqa.core.decision import Decision, Ending
from dqa.core.errors import InfrastructureError, UnparsableReplyError
from dqa.core.events import ReplyEvent
from dqa.core.evidence import QUERY
from dqa_planrag.state import Run


def last_stated(run: Run) -> Decision:
    """Return the decision for what the agent stated last; that there is none, where it did not.

    That is the only candidate that a reply names, or of a question that a statement answers, the
    last statement that returned rows.
    """
    for text in _stated(run):
        try:
            choice = run.choose(text)
        except InfrastructureError as error:
            return run.recorder.failed(error)
        except UnparsableReplyError:
            continue
        if choice is not None:
            return run.recorder.answered(str(choice), choice)
    return run.recorder.ended(
        Ending.NO_DECISION,
        f"The budget of {run.recorder.spent} was spent before a decision was stated.",
    )


def _stated(run: Run) -> Iterator[str]:
    """Yield what may be a decision, the last first."""
    recorder = run.recorder
    if run.question.answer_form == "statement":
        ran = [one for one in recorder.evidence if one.tool == QUERY and one.error is None]
        yield from (evidence.statement for evidence in reversed(ran))
        return
    for event in reversed(recorder.events):
        if isinstance(event, ReplyEvent) and event.role == "agent" and event.thought:
            yield event.thought
