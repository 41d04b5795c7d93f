"""Tables of ``dqa compare`` and of games, and the lines below them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from dqa.core.text import counted, visible
from dqa.evaluation.results import NO_MODEL
from dqa.evaluation.statistics.comparing import Comparison, PairComparison, Standing
from dqa.evaluation.statistics.games import AGREEMENT, GameFigures, PlayerDifference, PlayFigures
from dqa.evaluation.statistics.pairs import Difference
from dqa.report.spending import model_lines
from dqa.report.table import NONE, Table, estimate_text, in_percent

STANDINGS = "Each decider, with 95 % intervals below"
PAIRS = (
    "Differences, first decider minus second, in percentage points; p-values are corrected for all "
    "pairs (Holm)"
)
_ROUGH = 4.0
_PAIR, _PAIRS = "pair of question and database", "pairs of question and database"


def tables(comparison: Comparison) -> list[Table]:
    """Return the table of deciders and the table of pairs."""
    standings = {one.name: one for one in comparison.standings}
    pairs = {f"{pair.first}\n- {pair.second}": pair for pair in comparison.pairs}
    # If questions share situations, the table has a second p-value.
    shared = any(pair.accuracy.clusters < pair.accuracy.pairs for pair in comparison.pairs)
    return [
        Table.listing(STANDINGS, "Decider", standings, _standing(comparison.standings)),
        Table.listing(PAIRS, "Pair", pairs, _pair(shared=shared)),
    ]


def _standing(found: Sequence[Standing]) -> dict[str, Callable[[Standing], str]]:
    """Return the columns of the table of deciders."""
    columns: dict[str, Callable[[Standing], str]] = {
        "Accuracy in %": _accuracy,
        "Relative regret\nin %": lambda one: in_percent(one.relative_regret),
        "Rank": lambda one: estimate_text(one.rank, digits=".1f"),
    }
    used = filter(None, (one.efficiency.tokens for one in found))
    spent = any(e.value for e in (rate.per_question for rate in used) if e)
    rates = {"Tokens": ("tokens", ",.0f"), "Cost": ("money", ".4g")} if spent else {}
    for title, (name, digits) in (rates | {"Seconds": ("seconds", ".2f")}).items():
        for per in ("question", "right"):
            shown = f"{title} per\n{'right answer' if per == 'right' else per}"
            columns[shown] = partial(_rate, name, f"per_{per}", digits)
    return columns


def _rate(measure: str, per: str, digits: str, one: Standing) -> str:
    rate = getattr(one.efficiency, measure)
    return NONE if rate is None else estimate_text(getattr(rate, per), digits=digits)


def _accuracy(one: Standing) -> str:
    found = one.accuracy
    if found is not None and found.low is None:
        found = found.changed(low=one.low, high=one.high)
    return estimate_text(found, 100.0, ".1f", counts=f" ({one.correct}/{one.judged})")


def _pair(*, shared: bool) -> dict[str, Callable[[PairComparison], str]]:
    """Return the columns of the table of pairs.

    `shared` is set if several questions are about the same situation.
    """
    columns: dict[str, Callable[[PairComparison], str]] = {
        "Accuracy": lambda pair: _points(pair.accuracy),
        "Better\non": lambda pair: str(pair.by_questions.better),
        "Worse\non": lambda pair: str(pair.by_questions.worse),
        "p by questions\n(McNemar)": lambda pair: p_value(pair.holm_by_questions),
    }
    if shared:
        columns["p by\nsituations"] = lambda pair: p_value(pair.holm_by_situations)
    return columns | {"Relative\nregret": lambda pair: _points(pair.relative_regret)}


def _points(found: Difference | None) -> str:
    return estimate_text(found, 100.0, "+.1f")


def p_value(found: float | None) -> str:
    """Format a p-value."""
    if found is None:
        return NONE
    return "<0.001" if found < 0.001 else f"{found:.3f}"


def notes(comparison: Comparison) -> list[str]:
    """Return lines that state which questions the figures include and which they leave out."""
    lines = [_rests_on(comparison)]
    if comparison.only_shared:
        lines.append(
            f"Left out: {counted(comparison.only_shared, _PAIR, _PAIRS)} that only some deciders "
            "were asked."
        )
    lines += [
        f"Left out of {pair.first} - {pair.second}: {counted(pair.left_out, _PAIR, _PAIRS)} "
        "for which at least one of the two has no judged decision."
        for pair in comparison.pairs
        if pair.left_out
    ]
    overall = comparison.overall
    if overall is not None:
        test = "Cochran's Q" if overall.test == "cochran" else "Friedman's test"
        lines.append(
            f"All {len(comparison.standings)} deciders, by questions: {test} "
            f"{overall.statistic:.2f}, {overall.degrees_of_freedom} degrees of freedom, "
            f"p {p_value(overall.p_value)}."
        )
    lines += model_lines(standing.model for standing in comparison.standings)
    return lines


def _rests_on(comparison: Comparison) -> str:
    counts = "Only the official answer" if comparison.strict_official else "All best candidates"
    counts += " counts" if comparison.strict_official else " count"
    on = f"{counts} as right; {counted(comparison.questions, _PAIR, _PAIRS)}"
    if comparison.situations is None:
        return f"{on}; it is unknown which questions share a situation."
    freedom = [pair.accuracy.degrees_of_freedom for pair in comparison.pairs]
    rough = any(found is not None and found < _ROUGH for found in freedom)
    few = ". With few situations, intervals and p-values by situations are rough" if rough else ""
    if comparison.situations == 1:
        few = ". The intervals are not valid for other situations"
    return f"{on}, about {counted(comparison.situations, 'situation')}{few}."


DIFFERENCES = (
    "First player minus second player on the same deals, with 95 % intervals; p-values are "
    "corrected for all pairs (Holm)"
)


def game_tables(found: PlayFigures) -> list[Table]:
    """Return the tables of a run of games, without empty tables."""
    return [table for table in _tables(found) if table.figures]


def difference_table(found: PlayFigures) -> Table:
    """Return the table that compares every pair of players on the same deals."""
    unit, digits = ("score", "+.3f") if found.alone else ("payoff", "+.2f")
    columns: dict[str, Callable[[PlayerDifference], str]] = {
        f"Difference,\n{unit} a game": lambda one: estimate_text(one.difference, digits=digits),
        "p": lambda one: p_value(one.holm),
        "Deals": lambda one: str(one.difference.clusters),
    }
    if found.alone:
        columns["Deals for\n0.05"] = lambda one: str(one.needed or "")
    else:
        columns["Opponents"] = lambda one: str(one.opponents)
    rows = {f"{one.first}\n- {one.second}": one for one in found.differences}
    return Table.listing(DIFFERENCES, "Players", rows, columns)


def _tables(found: PlayFigures) -> Iterator[Table]:
    shown = found.players if found.alone else found.pairs
    reference = next((one.reference for one in shown if one.reference), None)
    rational = f"Rational degree: decisions that equal those of {reference}"
    players = {one.player: one for one in found.players}
    if found.alone:
        yield Table.listing(
            "Score and success of the player, with 95 % intervals", "Player", players, _SCORES
        )
        yield _tasks(found)
        yield Table.listing(
            rational, "Player", players, {f"as {reference}, in %": lambda p: in_percent(p.rational)}
        )
    else:
        payoff = "Payoff of the player per game, with its 95 % interval"
        yield _grid(found, payoff, lambda one: estimate_text(one.payoff))
        if any(one.rational is not None for one in shown):
            yield _grid(found, f"{rational}, in %", lambda one: in_percent(one.rational))
        if any(one.score is not None for one in shown):
            score = "Score: payoff of the player per game with an agreement"
            yield _grid(found, score, lambda one: estimate_text(one.score))
    yield difference_table(found)
    yield _facts(found)


_SCORES: Mapping[str, Callable[[GameFigures], str]] = {
    "Score": lambda one: estimate_text(one.payoff, digits=".3f"),
    "Success, %": lambda one: in_percent(one.success),
    "Moves a game": lambda one: estimate_text(one.length, digits=".1f"),
    "Attempts": lambda one: estimate_text(one.attempts, digits=".1f"),
    "Fallbacks": lambda one: str(one.fallbacks),
    "Games": lambda one: str(one.games),
}
"""The columns for worlds with one player."""


def _tasks(found: PlayFigures) -> Table:
    """Return a table of success rates: a row for each player, a column for each kind of task."""
    tasks = {name: task for one in found.players for name, task in one.tasks.items()}
    cells: dict[tuple[str, str], str] = {}
    for one in found.players if tasks else ():
        cells |= {(one.player, name): in_percent(task.success) for name, task in one.tasks.items()}
        cells[one.player, ""] = in_percent(one.success)
    titles = {name: name for name in sorted(tasks)} | ({"": "all"} if tasks else {})
    return Table.grid("Success by kind of task, in %", "Player", cells, titles)


def _grid(found: PlayFigures, title: str, cell: Callable[[GameFigures], str]) -> Table:
    """Return a table with a row for each player, a column for each opponent, and a mean column."""
    cells = {(one.player, one.opponent): cell(one) for one in found.pairs}
    titles = {opponent: opponent or "" for _, opponent in cells}
    if len(titles) > 1:
        titles[None] = "Mean"
        cells |= {(one.player, None): cell(one) for one in found.players}
    return Table.grid(title, "Player", cells, titles)


def _facts(found: PlayFigures) -> Table:
    """Return a table of the figures that the world defines, with a row for each pair of players.

    The last columns are about the games that ended with an agreement.
    """
    cells: dict[tuple[str, str], str] = {}
    for one in found.pairs:
        row = f"{one.player}\n{one.opponent}" if one.opponent else one.player
        cells |= {(row, name): estimate_text(fact) for name, fact in one.facts.items()}
        cells |= {
            (row, f"{name},\nif agreed"): estimate_text(one.agreed_facts.get(name))
            for name in one.facts
            if one.agreed_facts and name != AGREEMENT
        }
    titles = {name: name for _, name in cells}
    title = "Further figures of the world, as means or shares per game"
    return Table.grid(title, "Player" if found.alone else "Player and opponent", cells, titles)


def game_lines(found: PlayFigures, models: Mapping[str, str]) -> list[str]:
    """Return the lines below the tables: the games, warnings, and the models."""
    if found.alone:
        games = max((one.games for one in found.pairs), default=0)
        how = ", the same for every player; intervals treat games as independent"
    else:
        games = sum(one.games for one in found.pairs)
        swapped = ", each played twice with the players' hidden information swapped"
        how = f" on the same deals for all pairs{swapped if found.mirrored else ''}"
        how += "; intervals treat deals as independent"
    lines = [f"{counted(games, 'game')} of {found.world}{how}.", *_warnings(found)]
    return lines + model_lines(model for model in models.values() if model != NO_MODEL)


def _warnings(found: PlayFigures) -> list[str]:
    """Return lines about illegal moves, unfinished games, and missing mirrored games."""
    wrong: Counter[str] = Counter()
    moves: Counter[str] = Counter()
    for one in found.pairs:
        wrong[one.player] += one.fallbacks
        moves[one.player] += one.moves
        wrong[one.opponent or ""] += one.opponent_fallbacks
        moves[one.opponent or ""] += one.opponent_moves
    lines = [
        f"{visible(name)} named no legal action in {count} of {counted(moves[name], 'move')}: the "
        "most cautious action was played instead."
        for name, count in wrong.items()
        if count
    ]
    if failed := sum(one.failed for one in found.pairs):
        lines.append(f"{counted(failed, 'game')} not finished: resuming the run repeats them.")
    if unpaired := sum(one.unpaired for one in found.pairs):
        lines.append(f"Not in the figures: {counted(unpaired, 'game')} without a mirrored game.")
    return lines
