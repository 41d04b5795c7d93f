"""The verdict on a decision: whether it was right, and what the best decision was."""

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
    "infrastructure": "A failure of {who} ended the decision, so it is not judged.",
    "budget": "The run's budget was spent before the decision was made.",
    "stopped": "A person ended the decision.",
    "crashed": "A bug ended the decision, so it is not judged.",
}


_SERVERS = {"database": "the database", "model": "the model"}


def verdict(trace: Trace, result: Result | None, unit: str) -> Passage:
    """Describe whether a decision was right, the best decision, and the outcomes of both."""
    is_judged = result is not None and result.outcome.judged
    lines = [_judgement(trace, result)]
    if result is not None and result.match is not None:
        lines += [f"Gold statement: {result.ties[0]}"] if result.ties else []
    elif result is not None:
        lines += [*_best(result, unit), *(_given_away(result, unit) if is_judged else ())]
    text = "\n".join(lines)
    if result is None or not is_judged:
        return Passage("unjudged", "Not judged", tone="warning", text=text)
    tone: Tone = "good" if result.outcome is Outcome.CORRECT else "bad"
    return Passage("verdict", "Verdict", tone=tone, text=text)


def _judgement(trace: Trace, result: Result | None) -> str:
    """Say whether a decision was right, or why it was not judged."""
    if result is not None and result.outcome.judged:
        return _rightness(result) if result.match is None else _matching(result)
    if trace.ending.value in _ENDED:
        ended = _ENDED[trace.ending.value].format(who=_SERVERS.get(str(trace.outage), "a server"))
    elif result is None or result.outcome.repeated:
        ended = "No result was recorded for this decision."
    else:
        return (
            f"Not judged: {result.error}" if result.error else "The question has no known answer."
        )
    return f"{ended} {trace.error}" if trace.error else ended


def _matching(result: Result) -> str:
    if result.outcome is Outcome.CORRECT:
        return "Right: the statement's rows match those of the gold statement."
    if result.outcome is Outcome.WRONG:
        return f"Wrong: {result.error or 'its rows do not match those of the gold statement.'}"
    return _rightness(result)


def _rightness(result: Result) -> str:
    choice, ties, outcome = result.choice, result.ties, result.outcome
    if outcome is Outcome.CORRECT:
        if choice not in ties:
            return f"Right: {choice} is the official answer, and only this answer counts as right."
        best = "the best decision" if len(ties) == 1 else f"one of {len(ties):,} best decisions"
        return f"Right: {choice} is {best}."
    if outcome in {Outcome.WRONG, Outcome.FORBIDDEN}:
        if outcome is Outcome.WRONG and choice in ties:
            return f"Wrong: {choice} is a best decision, but only the official answer counts."
        rank = "" if result.rank is None else f"; it has rank {result.rank}"
        what = "not the best decision" if outcome is Outcome.WRONG else "forbidden"
        return f"Wrong: {choice} is {what}{rank}."
    if outcome in _WITHOUT_CHOICE:
        return f"No decision: the answer names {_WITHOUT_CHOICE[outcome]}."
    problem = result.error or "the decider ended without an answer."
    return f"No decision ({outcome.value}): {problem}"


def _best(result: Result, unit: str) -> Iterator[str]:
    if not result.ties:
        return
    several, hidden = len(result.ties) > 1, len(result.ties) - _TIES_SHOWN
    line = ", ".join(map(str, result.ties[:_TIES_SHOWN]))
    line += f" and {hidden} more" if hidden > 0 else ""
    if result.best_value is not None:
        line += f", {'each with' if several else 'with'} a {unit} of {result.best_value:.6g}"
        if result.goal is not None:
            line += f" ({'higher' if result.goal == 'maximise' else 'lower'} is better)"
    yield f"Best {'decisions' if several else 'decision'}: {line}."
    if result.baseline is not None and result.best_value is not None:
        gain = abs(result.best_value - result.baseline)
        yield f"Doing nothing leads to {result.baseline:.6g}: the best decision gains {gain:.6g}."
    official = result.official
    if official is not None and (several or official not in result.ties):
        yield f"Official answer: {official}."


def _given_away(result: Result, unit: str) -> Iterator[str]:
    if result.value is None:
        return
    if not result.regret:
        yield "The decision loses nothing relative to the best one."
        return
    leads = f"{result.choice} leads to {result.value:.6g}"
    yield f"{leads}, and loses {result.regret:.6g} of {unit} relative to the best decision."
    if result.baseline is None:
        return
    if result.relative_regret is None:
        yield "Even the best decision is no better than doing nothing."
    else:
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
        lines.append(
            f"{game.agreed} of {game.compared} decisions of {game.seats[0]} equal those of "
            f"{game.reference}"
        )
    return lines
