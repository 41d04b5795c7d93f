"""Which pairs are ranked (Algorithm 2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from dqa.core.errors import DataError, UnparsableReplyError
from dqa_dellma.findings import Ranking
from dqa_dellma.settings import DellmaSettings
from dqa_dellma.steps.sampling import Elicitation
from dqa_dellma.utilities.beliefs import judge
from dqa_dellma.utilities.maximisation import Maximised, maximise
from dqa_dellma.utilities.pairs import Pairs, cut_minibatches
from tests.dellma.talking import conversation, noted, ranking

SEASON = judge({"season": dict.fromkeys("abc", "likely")})


@dataclass
class Knowing:
    """Ranks by utilities it knows, action by season; unreadable batches rank nothing."""

    utilities: np.ndarray[Any, Any]
    unreadable: frozenset[int] = frozenset()
    batches: list[list[int]] = field(default_factory=list)

    def rank(
        self,
        pairs: Pairs,
        batch: Sequence[int],
    ) -> Ranking:
        """Rank the pairs, the first shown of equals first."""
        self.batches.append(list(batch))
        if len(self.batches) - 1 in self.unreadable:
            return ranking((), batch, omitted=len(batch))
        states = pairs.states[pairs.state_of, 0]
        worth = self.utilities[pairs.action_of, states]
        return ranking(sorted(batch, key=lambda item: -worth[item]), batch)


CLEAR = np.array([[1, 2, 3], [7, 8, 9], [4, 5, 6]])
CLOSE = np.array([[1, 5, 9], [9, 5, 1.5], [1.2, 9.5, 5.5]])


def elicited(ranker: Knowing, seed: int = 0, **settings: Any) -> Maximised:
    """Choose among as many actions as the ranker knows."""
    own = DellmaSettings(**{"samples": 32, "batch": 16} | settings)
    return Elicitation(
        ranker.rank,
        lambda pairs, rankings, count: maximise(pairs, rankings, count, own),
        conversation().note,
        own,
        len(ranker.utilities),
    ).run(SEASON, np.random.default_rng(seed))


def test_all_minibatches_are_ranked_by_default() -> None:
    """Every item once at least."""
    ranker = Knowing(CLEAR)
    chosen = elicited(ranker)
    assert ranker.batches == [list(batch) for batch in cut_minibatches(96, 16, 0.25)]
    assert chosen.best == 1


def test_naive_ranks_one_batch() -> None:
    """As many states as are set, each with one action, whatever a minibatch is elsewhere."""
    for samples in (2, 50, 64):
        ranker = Knowing(CLEAR)
        chosen = elicited(ranker, shared=False, samples=samples, batch=16, overlap=0.5)
        assert ranker.batches == [list(range(samples))]
        assert len(chosen.pairs) == len(chosen.pairs.states) == samples


def test_the_same_seed_ranks_the_same() -> None:
    """And another one samples others."""
    runs = [elicited(Knowing(CLOSE), seed) for seed in (1, 1, 2)]
    assert runs[0].pairs.action_of.tolist() == runs[1].pairs.action_of.tolist()
    assert runs[0].scores.tolist() == runs[1].scores.tolist()
    assert runs[0].pairs.action_of.tolist() != runs[2].pairs.action_of.tolist()


def test_no_readable_minibatch_is_no_choice() -> None:
    """Nothing is made up; how many were asked for is said."""
    ranker = Knowing(CLEAR, frozenset(range(100)))
    with pytest.raises(UnparsableReplyError, match="None of 8 minibatches"):
        elicited(ranker)


def test_rankings_without_figures_end_the_run_and_not_the_evaluation() -> None:
    """What cannot be solved is said, once every ranking is noted."""

    def unsolvable(*given: object) -> Maximised:
        del given
        raise DataError("No scores are found.")

    found = conversation()
    settings = DellmaSettings(samples=32, batch=16)
    elicitation = Elicitation(Knowing(CLEAR).rank, unsolvable, found.note, settings, 3)
    with pytest.raises(UnparsableReplyError, match=r"No figures .* No scores are found"):
        elicitation.run(SEASON, np.random.default_rng(0))
    assert noted(found.recorder.events, "elicitation")


def test_an_action_that_is_never_ranked_is_not_chosen() -> None:
    """More actions than naive samples: the rest has no figures, rather than made-up ones."""
    ranker = Knowing(np.arange(100)[:, None].repeat(3, axis=1))
    chosen = elicited(ranker, shared=False, samples=20)
    assert (chosen.ranked > 0).sum() == 20
    assert chosen.ranked[chosen.best] == 1
    told = chosen.found(range(100), "why").actions
    assert sum(one.expected_utility is None for one in told) == 80
