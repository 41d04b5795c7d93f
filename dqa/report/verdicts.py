"""The value of a decision, and why, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from dqa.evaluation.results import Outcome, Result
from dqa.evaluation.traces import Trace
from dqa.report.passages import Passage, Tone

_TIES_SHOWN = 10
_WITHOUT_CHOICE = {
    Outcome.NO_CANDIDATE: "no candidate",
    Outcome.AMBIGUOUS: "more than one candidate",
}
_ENDED = {
    "infrastructure": "A failure of {who} ended the run, which says nothing.",
    "budget": "The budget was spent before the run could end.",
    "stopped": "A person ended the run.",
    "crashed": "A bug ended the run, which says nothing of the decision.",
}


def verdict_passage(trace: Trace, result: Result | None, unit: str) -> Passage:
    """Return whether a decision was right, which one is best, and the outcome of each.

    Parameters
    ----------
    trace
        The decision.
    result
        Its result; None where it has none.
    unit
        The unit of the scenario's values.
    """
    text = "\n".join(_lines(trace, result, unit))
    if result is None or not result.outcome.judged:
        return Passage("unjudged", "Not judged", tone="warning", text=text)
    tone: Tone = "good" if result.outcome is Outcome.CORRECT else "bad"
    return Passage("verdict", "Verdict", tone=tone, text=text)


def _lines(trace: Trace, result: Result | None, unit: str) -> Iterator[str]:
    if result is None:
        yield _not_judged(trace, None)
    elif result.match is not None:
        yield _statement(trace, result)
        if result.ties:
            yield f"Gold statement: {result.ties[0]}"
    else:
        yield _outcome(result) if result.outcome.judged else _not_judged(trace, result)
        yield from _best(result, unit)
        if result.outcome.judged:
            yield from _given_away(result, unit)


def _statement(trace: Trace, result: Result) -> str:
    if result.outcome is Outcome.CORRECT:
        return "Right: the statement's rows match those of the gold statement."
    if result.outcome is Outcome.WRONG:
        return f"Wrong: {result.error or 'its rows do not match those of the gold statement.'}"
    if result.outcome.judged:
        return _outcome(result)
    if result.outcome.repeated:
        return _not_judged(trace, result)
    return f"Not judged: {result.error or 'No gold statement is known.'}"


def _outcome(result: Result) -> str:
    choice, ties = result.choice, result.ties
    if result.outcome is Outcome.CORRECT:
        if choice not in ties:
            return f"Right: {choice} is the official answer, and only that counted."
        best = "the best decision" if len(ties) == 1 else f"one of {len(ties):,} best decisions"
        return f"Right: {choice} is {best}."
    if result.outcome is Outcome.WRONG:
        if choice in ties:
            return f"Wrong: {choice} is as good as any, but only the official answer counted."
        rank = "" if result.rank is None else f"; it has rank {result.rank}"
        return f"Wrong: {choice} is not the best decision{rank}."
    if result.outcome in _WITHOUT_CHOICE:
        return f"No decision: the answer names {_WITHOUT_CHOICE[result.outcome]}."
    return f"No decision ({result.outcome.value}): {result.error or 'the run ended without one.'}"


def _not_judged(trace: Trace, result: Result | None) -> str:
    problem = f" {trace.error}" if trace.error else ""
    if trace.ending.value in _ENDED:
        servers = {"database": "the database", "model": "the model"}
        who = servers.get(str(trace.outage), "a server")
        return _ENDED[trace.ending.value].format(who=who) + problem
    if result is not None and not result.outcome.repeated:
        return "Nothing tells whether it is right: the question has no known answer."
    return f"No result was recorded for this decision.{problem}"


def _best(result: Result, unit: str) -> Iterator[str]:
    if not result.ties:
        return
    several, hidden = len(result.ties) > 1, len(result.ties) - _TIES_SHOWN
    line = ", ".join(map(str, result.ties[:_TIES_SHOWN]))
    line += f" and {hidden} more" if hidden > 0 else ""
    if result.best_value is not None:
        line += f", {'each with' if several else 'with'} a {unit} of {result.best_value:.6g}"
        if result.goal is not None:
            line += f" (a {'higher' if result.goal == 'maximise' else 'lower'} one is better)"
    yield f"Best {'decisions' if several else 'decision'}: {line}."
    if result.baseline is not None and result.best_value is not None:
        gain = abs(result.best_value - result.baseline)
        yield f"Deciding nothing leads to {result.baseline:.6g}: the best gains {gain:.6g}."
    official = result.official
    if official is not None and (several or official not in result.ties):
        yield f"Official answer: {official}."


def _given_away(result: Result, unit: str) -> Iterator[str]:
    if result.value is None:
        return
    if not result.regret:
        yield "The decision gives nothing away."
        return
    leads = f"{result.choice} leads to {result.value:.6g}"
    yield f"{leads} and gives away {result.regret:.6g} of {unit}."
    if result.baseline is None:
        return
    if result.relative_regret is None:
        yield "Even the best decision gains nothing over deciding nothing."
    else:
        share = 100.0 * result.relative_regret
        yield f"That is {share:.1f} % of what the best decision gains over deciding nothing."
