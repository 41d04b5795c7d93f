"""The verdict on a decision: whether it was right, and the best decision."""

from __future__ import annotations

from collections.abc import Iterator

from dqa.evaluation.results import Outcome, Result
from dqa.evaluation.traces import Trace
from dqa.report.passages import Passage

_TIES_SHOWN = 10
_ENDED = {
    "infrastructure": "A failure of {who} ended the decision, so it is not judged.",
    "budget": "The run's budget was spent before the decision was made.",
    "stopped": "A person ended the decision.",
    "crashed": "A bug ended the decision, so it is not judged.",
}


def verdict(trace: Trace, result: Result | None, unit: str) -> Passage:
    """Describe whether a decision was right, and compare it with the best decision."""
    judged = result is not None and result.outcome.judged
    lines = [_judgement(result) if result is not None and judged else _unjudged(trace, result)]
    if result is not None and result.match is not None:
        lines += [f"Gold statement: {gold}" for gold in result.ties[:1]]
    elif result is not None:
        lines += [*_best(result, unit), *(_loss(result, unit) if judged else ())]
    text = "\n".join(lines)
    if result is None or not judged:
        return Passage("unjudged", "Not judged", tone="warning", text=text)
    right = result.outcome is Outcome.CORRECT
    return Passage("verdict", "Verdict", tone="good" if right else "bad", text=text)


def _unjudged(trace: Trace, result: Result | None) -> str:
    """Explain why a decision was not judged."""
    if trace.ending.value in _ENDED:
        who = "a server" if trace.outage is None else f"the {trace.outage}"
        ended = _ENDED[trace.ending.value].format(who=who)
    elif result is None or result.outcome.repeated:
        ended = "No result was recorded for this decision."
    elif result.error:
        return f"Not judged: {result.error}"
    else:
        return "The question has no known answer."
    return f"{ended} {trace.error}" if trace.error else ended


def _judgement(result: Result) -> str:
    """Say whether a decision was right."""
    choice, ties, outcome = result.choice, result.ties, result.outcome
    if outcome not in {Outcome.CORRECT, Outcome.WRONG, Outcome.FORBIDDEN}:
        why = result.error or _NO_CHOICE.get(outcome, "the decider ended without an answer.")
        return f"No decision ({outcome.value}): {why}"
    if result.match is not None:
        right = outcome is Outcome.CORRECT
        why = (
            result.error
            or f"its rows {'' if right else 'do not '}match those of the gold statement."
        )
        return f"{'Right' if right else 'Wrong'}: {why}"
    if outcome is Outcome.CORRECT:
        best = f"one of {len(ties):,} best decisions" if ties[1:] else "the best decision"
        official = "the official answer, and only this answer counts as right"
        return f"Right: {choice} is {best if choice in ties else official}."
    if choice in ties:
        return f"Wrong: {choice} is a best decision, but only the official answer counts."
    what = "forbidden" if outcome is Outcome.FORBIDDEN else "not the best decision"
    rank = "" if result.rank is None else f"; it has rank {result.rank}"
    return f"Wrong: {choice} is {what}{rank}."


_NO_CHOICE = {
    Outcome.NO_CANDIDATE: "the answer names no candidate.",
    Outcome.AMBIGUOUS: "the answer names more than one candidate.",
}


def _best(result: Result, unit: str) -> Iterator[str]:
    """Return lines with the best decision, its gain, and the official answer."""
    ties, best, official = result.ties, result.best_value, result.official
    if not ties:
        return
    hidden = len(ties) - _TIES_SHOWN
    line = ", ".join(map(str, ties[:_TIES_SHOWN])) + (f" and {hidden} more" if hidden > 0 else "")
    if best is not None:
        line += f", {'each ' if ties[1:] else ''}with a {unit} of {best:.6g}"
        if result.goal is not None:
            line += f" ({'higher' if result.goal == 'maximise' else 'lower'} is better)"
    yield f"Best decision{'s' if ties[1:] else ''}: {line}."
    if best is not None and result.baseline is not None:
        gain = abs(best - result.baseline)
        yield f"Doing nothing leads to {result.baseline:.6g}: the best decision gains {gain:.6g}."
    if official is not None and ties != (official,):
        yield f"Official answer: {official}."


def _loss(result: Result, unit: str) -> Iterator[str]:
    """Describe the loss relative to the best decision."""
    if result.value is None:
        return
    if not result.regret:
        yield "The decision loses nothing relative to the best one."
        return
    leads = f"{result.choice} leads to {result.value:.6g}"
    yield f"{leads}, and loses {result.regret:.6g} of {unit} relative to the best decision."
    if result.baseline is not None and result.relative_regret is None:
        yield "Even the best decision is no better than doing nothing."
    elif result.baseline is not None and result.relative_regret is not None:
        share = 100.0 * result.relative_regret
        yield f"This loss is {share:.1f} % of the gain of the best decision over doing nothing."


def game_lines(result: Result) -> list[str]:
    """Describe the result of a game in a few lines."""
    game = result.game
    if game is None:
        return []
    lines = [f"{seat}: {value:+g}" for seat, value in game.returns.items()]
    lines += [
        f"{wrong} of {game.moves[seat]} moves of {seat} named no legal action"
        for seat, wrong in game.fallbacks.items()
        if wrong
    ]
    if game.attempts > 1:
        lines.append(f"played {game.attempts} times; one attempt is scored")
    if game.compared:
        of = f"{game.compared} decisions of {game.seats[0]}"
        lines.append(f"{game.agreed} of {of} equal those of {game.reference}")
    return lines
