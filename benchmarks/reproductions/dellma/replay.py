"""Score the recorded answers of the DeLLMa release again (sections 4.1, 4.2, appendix B).

GPT-4's recorded answers are read by our parsers and scored by our elicitation. To reproduce the
release's figures, irregular answers are treated as in the release:

- A ranking that is not a permutation of 1 to its length gets the missing numbers at the end.
- Numbers above the size of the minibatch are skipped.
- Every item is preferred to each later item, even if an item is repeated.
- An unreadable answer has no ranking.

Every such answer is reported. A question without a known truth or without an answer is reported and
left out.

By the release's rule for stocks, all actions tie (see `rules`). The number of ties is counted, and
the release's own operations decide (`rounding`). The same rankings are also scored with one softmax
over all items. If another rule ties the best actions, the first of them is chosen. The score then
contains the range of accuracies over all such choices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import mode

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from dqa.core.errors import DataError, InvalidAnswerError, ParseError, UnknownNameError
from dqa.core.question_set import Defect
from dqa.deciders.replies import read_action
from dqa.evaluation.statistics.clusters import normalised_utility
from dqa_dellma.problem import read_decision
from dqa_dellma.release.questions import BOUGHT, KNOWN_YEAR, SOLD
from dqa_dellma.release.tables import gains, read_statistics, read_stocks
from dqa_dellma.utilities.bradley_terry import fit_scores
from dqa_dellma.utilities.rankings import order_strictly, rank_places, read_places

from .recordings import DIRECT, Instance, RecordedRun, Recording, find_runs, read_pairs
from .records import Replay, Score
from .rounding import one_vs_all, rank_to_pairs, rounded_scores
from .rules import RULES, ScoringRule
from .scores import ReplayedDecision, note_on_rounding, score_of, yardstick_of

__all__ = ["ReplayScores", "replay"]

_TIED = 1e-9
"""Expected utilities with a smaller relative difference are equal."""
_QUOTED = 200
"""The maximum number of characters of an answer in a message."""

_Utilities = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class ReplayScores:
    """The scores of a release's recorded answers, and the defects of its files."""

    record: Replay
    defects: tuple[Defect, ...]

    @property
    def scores(self) -> tuple[Score, ...]:
        """One for each run and method, in the order of the runs' folders."""
        return self.record.scores


@dataclass(frozen=True)
class _Elicited:
    """The rankings of a question.

    Attributes
    ----------
    action_of
        Shape (n,): the action of each item; -1 for an item without a prompt.
    rankings
        Item numbers, best first. If an answer repeats an item, its ranking repeats the number.
    """

    action_of: NDArray[np.int64]
    rankings: list[list[int]]


def replay(
    folder: Path,
    rules: str = "released",
    watch: Callable[[Sequence[RecordedRun]], Iterable[RecordedRun]] = iter,
) -> ReplayScores:
    """Score every recorded answer of a release.

    Linear algebra runs on one thread. With several threads, rounding depends on the number of
    processors and changes the scores of stocks; small matrices would also be slower.

    Parameters
    ----------
    folder
        The release: the folder that contains ``data`` and ``results``.
    rules
        Rule set for scoring rankings, a key of `RULES`.
    watch
        A function that yields the given runs, and shows the progress.

    Returns
    -------
    ReplayScores
        A score for each run and method, in the order of the runs' folders, and the defects.

    Raises
    ------
    ParseError
        There are no recorded answers, or a table with true utilities cannot be read.
    DataError
        No answer can be scored.
    UnknownNameError
        The rule set does not exist.
    """
    if rules not in RULES:
        raise UnknownNameError("rule set", rules, RULES)
    defects: list[Defect] = []
    truths: dict[tuple[str, int | None], _Utilities] = {}
    scores: list[Score] = []
    questions: dict[str, dict[tuple[str, ...], ReplayedDecision]] = {}
    with threadpool_limits(1, user_api="blas"):
        for run in watch(find_runs(folder)):
            key = run.dataset, run.year
            if key not in truths:
                truths[key] = _read_utilities(folder, run)
            for score, decisions in _scores(run, truths[key], rules, defects):
                scores.append(score)
                # The same actions are one question, in every run and in every order.
                listed = questions.setdefault(run.dataset, {})
                listed |= {tuple(sorted(each.actions)): each for each in decisions}
    if not scores:
        raise DataError(f"No recorded answer in {folder} can be scored. Problem: {defects[0]}.")
    yardsticks = tuple(yardstick_of(name, [*each.values()]) for name, each in questions.items())
    notes = [note_on_rounding(scores, yardstick) for yardstick in yardsticks]
    record = Replay(
        rule_set=rules,
        scores=tuple(scores),
        yardsticks=yardsticks,
        notes=tuple(note for note in notes if note),
    )
    return ReplayScores(record, tuple(defects))


def _read_utilities(folder: Path, run: RecordedRun) -> _Utilities:
    """Read the true utility of each action: dollars per acre, or the gain of one dollar."""
    if run.dataset == "agriculture":
        statistics = read_statistics(folder, (run.year or KNOWN_YEAR) + 1)
        return {crop.lower(): row.revenue for crop, row in statistics.items()}
    gained = gains(read_stocks(folder), BOUGHT, SOLD)
    return {symbol.lower(): gain for symbol, gain in gained.items()}


def _scores(
    run: RecordedRun, utilities: _Utilities, rules: str, defects: list[Defect]
) -> Iterator[tuple[Score, Sequence[ReplayedDecision]]]:
    """Yield a score for each method of a run, with the decisions from which it was calculated."""
    instances = []
    for one in run.instances:
        if unknown := [action for action in one.actions if action not in utilities]:
            problem = f"the true utility is unknown of {', '.join(unknown)}"
            defects.append(Defect(one.folder, problem, "the question is left out"))
        else:
            instances.append(one)
    decide: Callable[[Instance], ReplayedDecision | None]
    if run.mode in DIRECT:
        decide = partial(_decide_directly, utilities=utilities, defects=defects)
        if decisions := [one for one in map(decide, instances) if one is not None]:
            yield score_of(run, DIRECT[run.mode], None, None, decisions), decisions
        return
    read = [(instance, _elicited(instance, run, defects)) for instance in instances]
    known = [(instance, elicited) for instance, elicited in read if elicited is not None]
    if not known:
        return
    samples = run.samples or mode(len(elicited.action_of) for _, elicited in known)
    for method in ("naive",) if run.mode == "rank" else ("pairs", "top1"):
        rule = RULES[rules][run.dataset][method]
        # A softmax within each action ties all actions. So also score with one softmax.
        also = (RULES["paper"][run.dataset][method],) if rule.within else ()
        for each_rule in (rule, *also):
            decisions = [_chosen(instance, each, each_rule, utilities) for instance, each in known]
            yield score_of(run, method, each_rule, samples, decisions), decisions


def _decision(
    instance: Instance, chosen: str | None, utilities: _Utilities, tied: Sequence[str] = ()
) -> ReplayedDecision:
    """Return the result of a question. `tied` contains the best actions if there are several."""
    best = max(instance.actions, key=lambda action: utilities[action])
    got = None if chosen is None else utilities[chosen]
    correct = got == utilities[best]
    level = [utilities[action] == utilities[best] for action in tied] or [correct]
    return ReplayedDecision(
        actions=instance.actions,
        best=best,
        correct=correct,
        utility=normalised_utility(got, utilities[best]),
        tied=len(tied),
        surely=all(level),
        possibly=any(level),
        undecided=chosen is None,
    )


def _decide_directly(
    instance: Instance, utilities: _Utilities, defects: list[Defect]
) -> ReplayedDecision | None:
    """Return the result of a question that was decided in words; None without an answer."""
    recording = next(instance.recordings(defects), None)
    if recording is None or not recording.response.is_file():
        _report_unanswered(instance, defects)
        return None
    said = read_decision(recording.reply or {})
    try:
        chosen = str(read_action((said or "").lower(), instance.actions))
    except InvalidAnswerError:
        chosen = None
        quoted = repr(said if said is None else said[:_QUOTED])
        problem = f"the decision {quoted} names none of {', '.join(instance.actions)}"
        defects.append(Defect(recording.response, problem, "counted as wrong"))
    return _decision(instance, chosen, utilities)


def _report_unanswered(instance: Instance, defects: list[Defect]) -> None:
    problem, action = "no answer was recorded", "the question is left out"
    defects.append(Defect(instance.folder, problem, action))


def _elicited(instance: Instance, run: RecordedRun, defects: list[Defect]) -> _Elicited | None:
    """Read the rankings of a question; None without an answer."""
    action_of = np.full((run.samples or 0) * len(instance.actions), -1, dtype=np.int64)
    rankings: list[list[int]] = []
    answered = False
    for recording in instance.recordings(defects):
        try:
            shown = [instance.actions.index(action) for action in read_pairs(recording.prompt)]
        except (ParseError, ValueError) as error:
            defects.append(Defect(recording.prompt, str(error), "its ranking is left out"))
            continue
        start = recording.number * run.step
        items = range(start, start + len(shown))
        if items.stop > len(action_of):
            action_of = np.pad(action_of, (0, items.stop - len(action_of)), constant_values=-1)
        action_of[start : items.stop] = shown
        answered = answered or recording.response.is_file()
        places = _places(recording, items, defects)
        # The release appends the missing numbers from 1 to the length of the ranking.
        places += sorted(set(range(1, len(places) + 1)).difference(places))
        rankings.append([items[place - 1] for place in places if 1 <= place <= len(items)])
    if not answered:
        _report_unanswered(instance, defects)
        return None
    if missing := int((action_of < 0).sum()):
        problem = f"no readable prompt contains {missing} of {len(action_of)} pairs"
        defects.append(Defect(instance.folder, problem, "scored without them"))
    return _Elicited(action_of, rankings)


def _places(recording: Recording, items: range, defects: list[Defect]) -> list[int]:
    """Return the item numbers in an answer's ranking, and report errors in them."""
    entries = order_strictly(read_places(recording.ranking))
    ranking = rank_places(entries, items)
    places = [place for entry in entries for place in entry]
    if recording.reply is not None and ranking.oddities:
        problem = (
            f"of {len(items)} pairs, the ranking omits {ranking.omitted} and repeats "
            f"{ranking.repeated}; {ranking.invented} of its numbers are not pairs"
        )
        action = "completed as in the release" if places else "the answer has no ranking"
        defects.append(Defect(recording.response, problem, action))
    return places


def _chosen(
    instance: Instance, elicited: _Elicited, rule: ScoringRule, utilities: _Utilities
) -> ReplayedDecision:
    """Return the result of a question, decided from its rankings by a rule."""
    pairwise = rule.elicitation == "pairs"
    count, rankings = len(elicited.action_of), elicited.rankings
    if rule.within:
        choices = rank_to_pairs if pairwise else one_vs_all
        scores = rounded_scores(choices(rankings), count, rule.alpha)
    else:
        if not rule.released:  # only the first place of a repeated item counts
            rankings = [list(dict.fromkeys(ranking)) for ranking in rankings]
        scores = fit_scores(rankings, count, rule.elicitation, rule.alpha)
    expected = _expected(scores, elicited.action_of, rule)
    shown = np.unique(elicited.action_of[elicited.action_of >= 0])
    tied = shown[expected >= expected.max() * (1.0 - _TIED)]
    chosen = int(shown[np.argmax(expected)]) if rule.within else int(tied[0])
    names = [instance.actions[int(action)] for action in tied]
    return _decision(instance, instance.actions[chosen], utilities, names)


def _expected(
    scores: NDArray[np.float64], action_of: NDArray[np.int64], rule: ScoringRule
) -> NDArray[np.float64]:
    """Return the expected utility of each action that was shown.

    The operations and their order are those of the release, because the last bit decides about
    stocks. Except for rounding, `dqa_dellma.utilities.maximisation` returns the same.
    """
    masks = [action_of == action for action in np.unique(action_of[action_of >= 0])]
    scaled = scores / rule.temperature
    if rule.within:
        return np.array([_softmax(scaled[mask]).sum() / mask.sum() for mask in masks])
    utilities = _softmax(scaled)
    return np.array([utilities[mask].sum() / mask.sum() for mask in masks])


def _softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    weights = np.exp(scores - scores.max())
    return np.asarray(weights / weights.sum())
