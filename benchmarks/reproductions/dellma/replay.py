"""The recorded answers of the DeLLMa release, scored anew (sections 4.1, 4.2, appendix B).

What GPT-4 said goes through our parsers and our elicitation; what the release does with an answer
that is not what was asked for is repeated, so that its figures come out: a ranking that is no
permutation of 1 to its length gets its missing numbers appended in order, numbers past the
minibatch are skipped, every item is preferred to each one behind it, also where an item is named
again, and an answer that cannot be read ranks nothing. Every such answer is reported. A question or
run whose truth is not told, that nobody answered, or whose folder is not what it should be, is
reported and left out.

By the release's rule for stocks all actions tie (`rules` says why). Such questions are counted, and
decided with the release's own operations (`rounding`); beside them stands what the same rankings
say by one softmax over all items. Where other rules leave the best actions level, the first of them
is taken, and the score says between which accuracies the choice among them decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from statistics import mode
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from dqa.core.errors import DataError, InvalidAnswerError, ParseError, UnknownNameError
from dqa.core.question_set import Defect
from dqa.deciders.replies import read_action, read_decision
from dqa.evaluation.statistics import normalised_utility
from dqa_dellma.release.questions import KNOWN_YEAR
from dqa_dellma.utilities.bradley_terry import fit_pairs, fit_top1
from dqa_dellma.utilities.rankings import order_strictly, rank_places, read_places

from .notes import notes_on
from .realised import read_utilities
from .recordings import Instance, RecordedRun, Recording, find_runs, read_pairs
from .records import Replay, Score
from .rounding import one_vs_all, rank_to_pairs, rounded_scores
from .rules import RULES, ScoringRule
from .scores import ReplayedDecision, score_of, yardstick_of

__all__ = ["ReplayScores", "on_one_thread", "padded", "replay"]

_TIED = 1e-9
"""Expected utilities that differ by less, relatively, are equal: scores are found to 1e-12."""
_QUOTED = 200
"""Characters of an answer that a message repeats."""
_DIRECT: Mapping[str, str] = MappingProxyType(
    {
        "zero-shot": "zero-shot",
        "cot": "chain-of-thought",
        "self-consistency": "self-consistency",
    }
)


@dataclass(frozen=True, slots=True)
class ReplayScores:
    """The scores of a release's recorded answers, and what was wrong in its files."""

    record: Replay
    defects: tuple[Defect, ...]

    @property
    def scores(self) -> tuple[Score, ...]:
        """One for each run and method, in the order of the runs' folders."""
        return self.record.scores


@dataclass(frozen=True)
class _Elicited:
    """A question's rankings.

    Attributes
    ----------
    action_of
        Shape (n,): which action each item pairs; -1 for an item that no prompt showed.
    rankings
        Items, best first; with those that were named again.
    """

    action_of: NDArray[np.int64]
    rankings: list[list[int]]

    @property
    def first_places(self) -> list[list[int]]:
        """The rankings with each item at its first place only."""
        return [list(dict.fromkeys(ranking)) for ranking in self.rankings]


def replay(
    folder: Path,
    rules: str = "released",
    watch: Callable[[Sequence[RecordedRun]], Iterator[RecordedRun]] = iter,
) -> ReplayScores:
    """Score every recorded answer of a release.

    Parameters
    ----------
    folder
        The release: the folder that holds ``data`` and ``results``.
    rules
        Rule set by which rankings are scored, a key of `RULES`.
    watch
        Passes the runs on one by one, to show how far it is.

    Returns
    -------
    ReplayScores
        A score for each run and method, in the order of the runs' folders, and what was wrong.

    Raises
    ------
    ParseError
        There are no recorded answers.
    DataError
        Not one of them can be scored.
    UnknownNameError
        There is no such rule set.
    """
    if rules not in RULES:
        raise UnknownNameError("rule set", rules, RULES)
    defects: list[Defect] = []
    runs = find_runs(folder, defects)
    truth = _Truth(folder)
    scores: list[Score] = []
    asked: dict[str, dict[tuple[str, ...], ReplayedDecision]] = {}
    with on_one_thread():
        for run in watch(runs):
            for score, decisions in _scores(run, truth, RULES[rules], defects):
                scores.append(score)
                listed = asked.setdefault(run.dataset, {})
                # A choice is one question, in whichever run and order it was asked.
                listed |= {tuple(sorted(each.actions)): each for each in decisions}
    if not scores:
        first = f" The first problem: {defects[0]}." if defects else ""
        raise DataError(f"{folder}: not one recorded answer can be scored.{first}")
    yardsticks = tuple(
        yardstick_of(dataset, list(listed.values())) for dataset, listed in asked.items()
    )
    notes = tuple(notes_on(scores, yardsticks))
    record = Replay(rule_set=rules, scores=tuple(scores), yardsticks=yardsticks, notes=notes)
    return ReplayScores(record, tuple(defects))


def on_one_thread() -> AbstractContextManager[object]:
    """Return what keeps linear algebra on one thread.

    Several would share matrices of less than half a millisecond, and wait for one another far
    longer than that where other work takes the processors. They round differently, too: rounding
    decides stocks, and should not hang on how many processors there are.
    """
    limited: AbstractContextManager[object] = threadpool_limits(1, user_api="blas")
    return limited


class _Truth:
    """What came true, read once for each data set and year."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[tuple[str, int], Mapping[str, float] | ParseError] = {}

    def utilities(self, run: RecordedRun, defects: list[Defect]) -> Mapping[str, float] | None:
        """Return each action's utility (`read_utilities`), or None and a report why not."""
        key = (run.dataset, run.year or KNOWN_YEAR)
        if key not in self._read:
            try:
                self._read[key], found = read_utilities(self._folder, *key)
                defects += found
            except ParseError as error:
                self._read[key] = error
        told = self._read[key]
        if isinstance(told, ParseError):
            problem = f"nothing tells what came true: {told}"
            defects.append(Defect(run.folder, None, problem, "the run is left out"))
            return None
        return told


def _scores(
    run: RecordedRun,
    truth: _Truth,
    rules: Mapping[str, Mapping[str, ScoringRule]],
    defects: list[Defect],
) -> Iterator[tuple[Score, Sequence[ReplayedDecision]]]:
    """Yield a run's scores, of each method that it can be scored by, and what they count."""
    instances = run.instances(defects)
    if not instances:
        defects.append(Defect(run.folder, None, "there is no question in it", "not scored"))
        return
    utilities = truth.utilities(run, defects)
    if utilities is None:
        return
    instances = _told(instances, utilities, defects)
    if run.mode in _DIRECT:
        direct = [_direct(instance, utilities, defects) for instance in instances]
        if decisions := [decision for decision in direct if decision is not None]:
            yield score_of(run, _DIRECT[run.mode], None, None, decisions), decisions
        return
    read = [(instance, _elicited(instance, run, defects)) for instance in instances]
    known = [(instance, elicited) for instance, elicited in read if elicited is not None]
    if not known:
        return
    samples = run.samples or mode(len(elicited.action_of) for _, elicited in known)
    for method in ("naive",) if run.mode == "rank" else ("pairs", "top1"):
        rule = rules[run.dataset][method]
        # What a softmax within each action leaves to rounding, one over all items decides.
        also = (RULES["paper"][run.dataset][method],) if rule.within else ()
        for each_rule in (rule, *also):
            decisions = [_chosen(instance, each, each_rule, utilities) for instance, each in known]
            yield score_of(run, method, each_rule, samples, decisions), decisions


def _told(
    instances: Sequence[Instance], utilities: Mapping[str, float], defects: list[Defect]
) -> list[Instance]:
    """Return the questions about actions whose truth is known; others are reported."""
    told = []
    for instance in instances:
        unknown = [action for action in instance.actions if action not in utilities]
        if unknown:
            problem = f"no table tells what came true of {', '.join(unknown)}"
            defects.append(Defect(instance.folder, None, problem, "the question is left out"))
        else:
            told.append(instance)
    return told


def _decision(
    instance: Instance,
    chosen: str | None,
    utilities: Mapping[str, float],
    tied: Sequence[str] = (),
) -> ReplayedDecision:
    """Return what came of a choice; `tied` are the actions that stood level, where any did."""
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


def _direct(
    instance: Instance, utilities: Mapping[str, float], defects: list[Defect]
) -> ReplayedDecision | None:
    """Return what came of a decision in words; None where none was recorded."""
    recording = next((each for each in instance.recordings(defects) if each.answered), None)
    if recording is None:
        problem = "no answer was recorded"
        defects.append(Defect(instance.folder, None, problem, "the question is left out"))
        return None
    said = read_decision(recording.reply or {})
    try:
        chosen = str(read_action((said or "").lower(), instance.actions))
    except InvalidAnswerError:
        chosen = None
        quoted = repr(said if said is None else said[:_QUOTED])
        problem = f"the decision {quoted} names none of {', '.join(instance.actions)}"
        defects.append(Defect(recording.response, None, problem, "counted as wrong"))
    return _decision(instance, chosen, utilities)


def padded(places: Sequence[int]) -> list[int]:
    """Return a ranking's 1-based places as the release mends them.

    What is no permutation of 1 to its length gets the numbers that are missing of these appended in
    order. It is not the minibatch's length that counts: 30 of 32 places stay 30.
    """
    missing = sorted(set(range(1, len(places) + 1)).difference(places))
    return [*places, *missing]


def _elicited(instance: Instance, run: RecordedRun, defects: list[Defect]) -> _Elicited | None:
    """Read a question's rankings; None where most pairs or all answers are missing."""
    due = (run.samples or 0) * len(instance.actions)
    action_of = np.full(due, -1, dtype=np.int64)
    rankings: list[list[int]] = []
    answered = False
    for recording in instance.recordings(defects):
        start = recording.number * run.step
        shown = _shown(instance, recording, defects)
        if shown is None:
            continue
        if recording.number and start >= due:
            problem = f"minibatch {recording.number} begins past the question's pairs"
            defects.append(Defect(recording.prompt, None, problem, "its ranking is left out"))
            continue
        items = range(start, start + len(shown))
        if items.stop > len(action_of):
            action_of = np.pad(action_of, (0, items.stop - len(action_of)), constant_values=-1)
        action_of[start : items.stop] = shown
        answered = answered or recording.answered
        places = padded(_places(recording, items, defects))
        rankings.append([items[place - 1] for place in places if 1 <= place <= len(items)])
    if not _scorable(instance, action_of, answered, defects):
        return None
    return _Elicited(action_of, rankings)


def _shown(instance: Instance, recording: Recording, defects: list[Defect]) -> list[int] | None:
    """Return the places of the actions that a prompt pairs, or None and a report why not."""
    try:
        return [instance.actions.index(pair.action) for pair in read_pairs(recording.prompt)]
    except ParseError as error:
        problem = error.problem
    except ValueError:
        problem = f"a pair's action is none of {', '.join(instance.actions)}"
    defects.append(Defect(recording.prompt, None, problem, "its ranking is left out"))
    return None


def _scorable(
    instance: Instance, action_of: NDArray[np.int64], answered: bool, defects: list[Defect]
) -> bool:
    """Whether a question's rankings can be scored; pairs that are in no prompt are reported."""
    missing = int((action_of < 0).sum())
    if not answered:
        problem = "no answer was recorded"
    elif missing:
        problem = f"{missing} of {len(action_of)} pairs are in no prompt that can be read"
    else:
        return True
    # What is scored stays in proportion to what is there, whatever the folder's name promises.
    few = not answered or 2 * missing > len(action_of)
    action = "the question is left out" if few else "scored without them"
    defects.append(Defect(instance.folder, None, problem, action))
    return not few


def _places(recording: Recording, items: range, defects: list[Defect]) -> list[int]:
    """Return the places that an answer ranks, and report what is wrong with them."""
    entries = order_strictly(read_places(recording.ranking))
    ranking = rank_places(entries, items)
    places = [place for entry in entries for place in entry]
    if recording.reply is not None and ranking.oddities:
        problem = (
            f"of {len(items)} pairs {ranking.omitted} are not ranked, {ranking.repeated} are "
            f"ranked again, and {ranking.invented} ranks name no pair"
        )
        action = "mended as the release does" if places else "it ranks nothing"
        defects.append(Defect(recording.response, None, problem, action))
    return places


def _chosen(
    instance: Instance, elicited: _Elicited, rule: ScoringRule, utilities: Mapping[str, float]
) -> ReplayedDecision:
    """Return what comes of a question's rankings by a rule."""
    pairwise = rule.elicitation == "pairs"
    count = len(elicited.action_of)
    if rule.within:
        choices = rank_to_pairs if pairwise else one_vs_all
        scores = rounded_scores(choices(elicited.rankings), count, rule.alpha)
    else:
        fit = fit_pairs if pairwise else fit_top1
        rankings = elicited.rankings if rule.released else elicited.first_places
        scores = fit(rankings, count, rule.alpha, repeats=rule.released)
    expected = _expected(scores, elicited.action_of, rule)
    shown = np.unique(elicited.action_of[elicited.action_of >= 0])
    tied = shown[expected >= expected.max() * (1.0 - _TIED)]
    chosen = int(shown[np.argmax(expected)]) if rule.within else int(tied[0])
    names = [instance.actions[int(action)] for action in tied]
    return _decision(instance, instance.actions[chosen], utilities, names)


def _expected(
    scores: NDArray[np.float64], action_of: NDArray[np.int64], rule: ScoringRule
) -> NDArray[np.float64]:
    """Return the expected utility of each action that was shown, by the release's operations.

    `dqa_dellma.utilities.maximisation` gives the same but for rounding; here the operations and
    their order are the release's, because in stocks the last bit decides.
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
