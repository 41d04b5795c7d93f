"""The verdict on a decision: whether it was right, and the best decision."""

from __future__ import annotations

from collections.abc import Iterator

from dqa.evaluation.results import Outcome, Result
from dqa.evaluation.traces import Trace

_TIES_SHOWN = 10
_ENDED = {
    "infrastructure": "A failure of {who} ended the decision, so it is not judged.",
    "budget": "The run's budget was spent before the decision was made.",
    "stopped": "A person ended the decision.",
    "crashed": "A bug ended the decision, so it is not judged.",
}


def verdict_lines(trace: Trace, result: Result | None, unit: str) -> Iterator[str]:
    """Describe whether a decision was right, and compare it with the best decision."""
    is_judged = result is not None and result.outcome.judged
    yield _judgement(result) if result is not None and is_judged else _unjudged(trace, result)
    if result is not None and result.match is not None:
        yield from (f"Gold statement: {gold}" for gold in result.ties[:1])
    elif result is not None:
        yield from _best(result, unit)


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
    """Yield lines with the best decision, the official answer, and the loss of the choice."""
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
    if official is not None and ties != (official,):
        yield f"Official answer: {official}."
    if result.value is not None and result.regret:
        loss = f"loses {result.regret:.6g} of {unit}"
        line = f"{result.choice} leads to {result.value:.6g}, and {loss}"
        if result.relative_regret is not None:
            share = 100.0 * result.relative_regret
            line += f", {share:.1f} % of the gain of the best decision over doing nothing"
        yield f"{line}."


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
