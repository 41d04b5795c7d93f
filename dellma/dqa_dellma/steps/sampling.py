"""Which state-action pairs are ranked, and when there are enough (section 3.3, and past it).

The paper ranks all of them. With `DellmaSettings.confidence` below 1 they come in rounds instead:
after each, actions that have next to no chance of being the best are dropped, and no more is asked
once one action is the best with that probability. The trace says how many calls that saved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dqa.core.errors import DataError, UnparsableReplyError
from dqa.core.question import Candidate
from dqa.deciders.method import Finding
from dqa_dellma.findings import Confidence, Ranking
from dqa_dellma.settings import DellmaSettings
from dqa_dellma.utilities.beliefs import Beliefs, sample_states
from dqa_dellma.utilities.maximisation import Maximised
from dqa_dellma.utilities.pairs import (
    Pairs,
    cut_minibatches,
    pair_separate_states,
    pair_shared_states,
    step_of,
)

_ROUNDS = 4
"""Rounds in which the state samples of an adaptive run are drawn."""
_HOPELESS = 0.02
"""Chance of being the best below which an action is not ranked any further."""


Rank: TypeAlias = Callable[[Pairs, Sequence[int]], Ranking]
"""Ranks a minibatch of pairs, by their numbers."""
Maximise: TypeAlias = Callable[[Pairs, Sequence[Ranking], int], Maximised]
"""Finds the best of some actions."""


@dataclass(frozen=True, slots=True)
class Elicitation:
    """Ranks pairs, and finds the best action: once, or after every round.

    Attributes
    ----------
    rank, maximise
        The third and the fourth step.
    note
        Records what was drawn and ranked.
    settings
        The number of samples, the minibatches, and the confidence.
    actions
        The actions.
    """

    rank: Rank
    maximise: Maximise
    note: Callable[[str, Finding], None]
    settings: DellmaSettings
    actions: Sequence[Candidate]

    def run(
        self,
        beliefs: Beliefs,
        rng: np.random.Generator,
        bearing: NDArray[np.bool_] | None = None,
    ) -> Maximised:
        """Rank state-action pairs, and decide by the rankings.

        Parameters
        ----------
        beliefs
            What is believed.
        rng
            Draws states and shuffles pairs.
        bearing
            Shape (A, k): which factors bear on which action; None for all.

        Raises
        ------
        UnparsableReplyError
            No minibatch was ranked, or no figures follow from the rankings.
        """
        settings, count = self.settings, len(self.actions)
        if settings.shared and settings.confidence < 1.0:
            return self._in_rounds(beliefs, rng, bearing)
        if settings.shared:
            states = sample_states(beliefs, settings.samples, rng, settings.draws)
            pairs = pair_shared_states(states, count, rng)
        else:
            pairs = pair_separate_states(beliefs, count, settings.samples, rng, settings.draws)
        pairs = replace(pairs, bearing=bearing)
        self.note("pairs", pairs.found())
        # States of their own link no two actions, so those pairs are ranked in one go.
        size = settings.batch if settings.shared else len(pairs)
        batches = cut_minibatches(len(pairs), size, settings.overlap)
        return self._maximised(pairs, [self._ranked(pairs, batch) for batch in batches])

    def _in_rounds(
        self, beliefs: Beliefs, rng: np.random.Generator, bearing: NDArray[np.bool_] | None
    ) -> Maximised:
        """Rank a share of the states a round, only for the actions that may still be the best.

        Minibatches are those of a run without rounds as long as no action drops out: a round ranks
        the full ones and leaves the rest to the next, so rounds cost no call of their own.
        """
        settings, count = self.settings, len(self.actions)
        planned = len(cut_minibatches(count * settings.samples, settings.batch, settings.overlap))
        contenders = np.arange(count)
        states = sample_states(beliefs, settings.samples, rng, settings.draws)
        pairs, rankings = replace(Pairs.none(len(beliefs)), bearing=bearing), list[Ranking]()
        queue = _Queue(settings)
        rounds = min(_ROUNDS, planned, settings.samples)
        for number, share in enumerate(np.array_split(np.arange(settings.samples), rounds), 1):
            fresh = pair_shared_states(states[share], len(contenders), rng)
            fresh = replace(fresh, action_of=contenders[fresh.action_of])
            queue.waiting += range(len(pairs), len(pairs) + len(fresh))
            pairs = pairs.joined(fresh)
            self.note("pairs", fresh.found())
            due = queue.due(last=number == rounds)
            rankings += [self._ranked(pairs, batch) for batch in due]
            if number < rounds and not (due and _comparing(rankings)):
                continue
            found = self._maximised(pairs, rankings)
            sure = float(found.chances[found.best])
            contenders = np.union1d(np.flatnonzero(found.chances >= _HOPELESS), [found.best])
            standing = Confidence(
                probability=sure,
                contenders=tuple(self.actions[int(action)] for action in contenders),
                calls=len(rankings),
                calls_saved=max(0, planned - len(rankings)),
            )
            self.note("confidence", standing)
            if sure >= settings.confidence or len(contenders) < 2:
                break
            queue.keep(np.isin(pairs.action_of, contenders))
        return found

    def _ranked(self, pairs: Pairs, batch: Sequence[int]) -> Ranking:
        found = self.rank(pairs, batch)
        self.note("elicitation", found)
        return found

    def _maximised(self, pairs: Pairs, rankings: Sequence[Ranking]) -> Maximised:
        if not _comparing(rankings):
            raise UnparsableReplyError(f"None of {len(rankings)} minibatches was ranked.")
        try:
            return self.maximise(pairs, rankings, len(self.actions))
        except (DataError, ArithmeticError, np.linalg.LinAlgError) as error:
            # Every ranking is paid for by now: the run ends with its trace.
            raise UnparsableReplyError(
                f"No figures to decide by follow from {len(rankings)} rankings: {error}"
            ) from error


@dataclass
class _Queue:
    """Items in the order in which they are shown, over several rounds.

    Attributes
    ----------
    settings
        How large minibatches are, and how many items lead over from one to the next.
    shown, waiting
        Items that a minibatch held already, and those that none has held yet.
    """

    settings: DellmaSettings
    shown: list[int] = field(default_factory=list)
    waiting: list[int] = field(default_factory=list)

    def due(self, *, last: bool) -> list[list[int]]:
        """Return the minibatches that are full, or all there are where nothing comes after."""
        size, overlap = self.settings.batch, self.settings.overlap
        # Items that were shown lead over to the others, so that all stay comparable.
        leading = self.shown[max(0, len(self.shown) - size + step_of(size, overlap)) :]
        items = [*leading, *self.waiting]
        runs = cut_minibatches(len(items), size, overlap)
        if not last and len(runs[-1]) < size:
            runs.pop()
        end = runs[-1].stop if runs else len(leading)
        self.shown += items[len(leading) : end]
        self.waiting = items[end:]
        return [[items[place] for place in run] for run in runs]

    def keep(self, wanted: NDArray[np.bool_]) -> None:
        """Forget the items that are not wanted any longer; shape (items,)."""
        self.shown = [item for item in self.shown if wanted[item]]
        self.waiting = [item for item in self.waiting if wanted[item]]


def _comparing(rankings: Sequence[Ranking]) -> bool:
    return any(len(ranking.items) > 1 for ranking in rankings)
