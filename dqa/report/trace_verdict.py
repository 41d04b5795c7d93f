"""What a decision is worth, and why, in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dqa.core.question import Candidate
from dqa.core.text import counted
from dqa.report.passages import Judgement, Unjudged

_TIES_SHOWN = 10


def verdict_lines(passage: Judgement | Unjudged) -> Iterator[str]:
    """Yield whether a run was right, which decision is best, and what each leads to."""
    if passage.matches:
        yield from _of_statement(passage)
        return
    if isinstance(passage, Unjudged):
        yield _why_not(passage)
    else:
        yield _outcome(passage)
    yield from _best(passage)
    if isinstance(passage, Judgement):
        yield from _given_away(passage)


def _of_statement(passage: Judgement | Unjudged) -> Iterator[str]:
    """Yield whether a statement's rows match, and the statement that they were compared with."""
    if isinstance(passage, Unjudged):
        problem = passage.problem or "No gold statement is known."
        yield f"Not judged: {problem}" if passage.decided else _why_not(passage)
    elif passage.outcome == "correct":
        yield "Right: the statement's rows match those of the gold statement."
    elif passage.outcome == "wrong":
        wrong = passage.problem or "its rows do not match those of the gold statement."
        yield f"Wrong: {wrong}"
    else:
        yield _outcome(passage)
    if passage.ties:
        yield f"Gold statement: {passage.ties[0]}"


def _outcome(judgement: Judgement) -> str:
    if judgement.outcome == "correct":
        return _right(judgement)
    if judgement.outcome == "wrong":
        return _wrong(judgement)
    if judgement.outcome == "no_candidate":
        return "No decision: the answer names no candidate."
    if judgement.outcome == "ambiguous":
        return "No decision: the answer names more than one candidate."
    return f"No decision ({judgement.outcome}): {judgement.problem or 'the run ended without one.'}"


def _right(judgement: Judgement) -> str:
    if judgement.choice not in judgement.ties:
        return f"Right: {judgement.choice} is the official answer, and only that counted."
    if len(judgement.ties) == 1:
        return f"Right: {judgement.choice} is the best decision."
    return f"Right: {judgement.choice} is one of {counted(len(judgement.ties), 'best decision')}."


def _wrong(judgement: Judgement) -> str:
    if judgement.choice in judgement.ties:
        return f"Wrong: {judgement.choice} is as good as any, but only the official answer counted."
    rank = "" if judgement.rank is None else f"; it has rank {judgement.rank}"
    return f"Wrong: {judgement.choice} is not the best decision{rank}."


def _why_not(unjudged: Unjudged) -> str:
    problem = f" {unjudged.problem}" if unjudged.problem else ""
    if unjudged.ending == "infrastructure":
        failed = {"database": "the database", "model": "the model"}.get(str(unjudged.outage))
        return f"A failure of {failed or 'a server'} ended the run, which says nothing.{problem}"
    if unjudged.ending == "budget":
        return f"The budget was spent before the run could end.{problem}"
    if unjudged.ending == "stopped":
        return f"A person ended the run.{problem}"
    if unjudged.ending == "crashed":
        return f"A bug ended the run, which says nothing of the decision.{problem}"
    if unjudged.decided:
        return "Nothing tells whether it is right: the question has no known answer."
    return f"No result was recorded for this decision.{problem}"


def _best(passage: Judgement | Unjudged) -> Iterator[str]:
    if not passage.ties:
        return
    several = len(passage.ties) > 1
    line = f"Best {'decisions' if several else 'decision'}: {_listed(passage.ties)}"
    if passage.best_value is not None:
        line += f", {'each with' if several else 'with'} a {passage.unit} of "
        line += _number(passage.best_value)
        if passage.goal is not None:
            line += f" (a {'higher' if passage.goal == 'maximise' else 'lower'} one is better)"
    yield f"{line}."
    if passage.baseline is not None and passage.best_value is not None:
        gain = _number(abs(passage.best_value - passage.baseline))
        yield f"Deciding nothing leads to {_number(passage.baseline)}: the best gains {gain}."
    official = passage.official
    if official is not None and (several or official not in passage.ties):
        yield f"Official answer: {official}."


def _given_away(judgement: Judgement) -> Iterator[str]:
    if judgement.value is None:
        return
    if not judgement.regret:
        yield "The decision gives nothing away."
        return
    yield (
        f"{judgement.choice} leads to {_number(judgement.value)} and gives away "
        f"{_number(judgement.regret)} of {judgement.unit}."
    )
    if judgement.baseline is None:
        return
    if judgement.relative_regret is None:
        yield "Even the best decision gains nothing over deciding nothing."
    else:
        share = 100.0 * judgement.relative_regret
        yield f"That is {share:.1f} % of what the best decision gains over deciding nothing."


def _listed(candidates: Iterable[Candidate]) -> str:
    names = [str(candidate) for candidate in candidates]
    hidden = len(names) - _TIES_SHOWN
    return ", ".join(names[:_TIES_SHOWN]) + (f" and {hidden} more" if hidden > 0 else "")


def _number(value: float) -> str:
    return f"{value:.6g}"
