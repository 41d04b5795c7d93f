"""Which state-action pairs are ranked (section 3.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dqa.core.errors import DataError, UnparsableReplyError
from dqa.deciders.method import Finding
from dqa_dellma.findings import Ranking
from dqa_dellma.settings import DellmaSettings
from dqa_dellma.utilities.beliefs import Beliefs, sample_states
from dqa_dellma.utilities.maximisation import Maximised
from dqa_dellma.utilities.pairs import (
    Pairs,
    cut_minibatches,
    pair_separate_states,
    pair_shared_states,
)

Rank: TypeAlias = Callable[[Pairs, Sequence[int]], Ranking]
"""Ranks a minibatch of pairs, by their numbers."""
Maximise: TypeAlias = Callable[[Pairs, Sequence[Ranking], int], Maximised]
"""Finds the best of some actions."""


@dataclass(frozen=True, slots=True)
class Elicitation:
    """Ranks pairs, and finds the best action.

    Attributes
    ----------
    rank, maximise
        The third and the fourth step.
    note
        Records what was drawn and ranked.
    settings
        The number of samples, and the minibatches.
    actions
        The number of actions.
    """

    rank: Rank
    maximise: Maximise
    note: Callable[[str, Finding], None]
    settings: DellmaSettings
    actions: int

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
        settings, count = self.settings, self.actions
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

    def _ranked(self, pairs: Pairs, batch: Sequence[int]) -> Ranking:
        found = self.rank(pairs, batch)
        self.note("elicitation", found)
        return found

    def _maximised(self, pairs: Pairs, rankings: Sequence[Ranking]) -> Maximised:
        if not _comparing(rankings):
            raise UnparsableReplyError(f"None of {len(rankings)} minibatches was ranked.")
        try:
            return self.maximise(pairs, rankings, self.actions)
        except (DataError, ArithmeticError, np.linalg.LinAlgError) as error:
            # Every ranking is paid for by now: the run ends with its trace.
            raise UnparsableReplyError(
                f"No figures to decide by follow from {len(rankings)} rankings: {error}"
            ) from error


def _comparing(rankings: Sequence[Ranking]) -> bool:
    return any(len(ranking.items) > 1 for ranking in rankings)
