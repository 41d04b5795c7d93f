"""The recorded answers of the DeLLMa release, scored again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import choix
import numpy as np
import pytest

from benchmarks.reproductions.dellma.recordings import RecordedRun
from benchmarks.reproductions.dellma.records import Score
from benchmarks.reproductions.dellma.replay import ReplayScores, replay
from benchmarks.reproductions.dellma.rounding import one_vs_all, rank_to_pairs, rounded_scores
from benchmarks.reproductions.dellma.rules import SCRIPTS
from dqa.core.errors import ParseError, UnknownNameError
from tests.dellma.dellma_scripts import write_decision, write_rankings, write_tables

SHOWN = ["fig", "kiwi", "fig", "kiwi"]


Key = tuple[str, str, str | None, int | None, int | None]


@pytest.fixture(scope="module")
def agriculture(dellma_release_dir: Path) -> ReplayScores:
    """The scores of the agriculture runs whose figures the released scripts print."""

    def published(runs: Sequence[RecordedRun]) -> Iterator[RecordedRun]:
        return (run for run in runs if run.dataset == "agriculture" and run.samples != 16)

    return replay(dellma_release_dir, watch=published)


@pytest.fixture(scope="module")
def released(dellma_release_dir: Path) -> ReplayScores:
    """The scores of the whole shared part of the release."""
    return replay(dellma_release_dir)


def overall(replayed: ReplayScores) -> dict[Key, Score]:
    """Return scores by data set, method, scoring, sample size and overlap."""
    return {
        (score.dataset, score.method, score.scored_by, score.sample_size, score.overlap): score
        for score in replayed.scores
    }


@pytest.mark.slow
@pytest.mark.parametrize("key", [key for key in SCRIPTS if key[0] == "agriculture"], ids=str)
def test_agriculture_equals_the_released_scripts(
    agriculture: ReplayScores, key: tuple[str, str, int | None, int | None]
) -> None:
    """Accuracy and normalised utility of all 120 questions, to a thousandth of a percent."""
    dataset, method, samples, overlap = key
    score = overall(agriculture)[dataset, method, "all" if samples else None, samples, overlap]
    assert (score.questions, score.tied, score.undecided) == (120, 0, 0)
    assert (round(score.accuracy, 3), round(score.normalised_utility, 3)) == SCRIPTS[key]
    assert (score.scripts_accuracy, score.scripts_normalised_utility) == SCRIPTS[key]
    assert score.accuracy_by_tie_break == (score.accuracy, score.accuracy)
    low, high = score.interval
    assert low < score.accuracy < high
    assert score.clustered_interval is not None


@pytest.mark.deep
def test_every_run_is_one_score(released: ReplayScores) -> None:
    """Data set, method, scoring, sample size and overlap identify the 17 shared runs."""
    assert len(released.scores) == len(overall(released)) == 17
    assert {score.minibatch_size for score in released.scores} == {None, 32}
    assert {(score.dataset, score.year) for score in released.scores} == {
        ("agriculture", 2021),
        ("stocks", None),
    }


@pytest.mark.deep
def test_released_stocks_are_ties(released: ReplayScores) -> None:
    """The released rule ignores all rankings; one softmax over all scores leaves no ties."""
    scores = overall(released)
    for method in ("pairs", "top1"):
        score = scores["stocks", method, "action", 64, 50]
        assert score.tied == score.all_tied == score.questions
        assert score.accuracy_by_tie_break == (0.0, 100.0)
        assert score.scripts_accuracy is not None
        decided = scores["stocks", method, "all", 64, 50]
        assert (decided.tied, decided.questions) == (0, score.questions)
        assert decided.scripts_accuracy is None
        assert decided.interval[0] < decided.accuracy < decided.interval[1]


@pytest.mark.deep
def test_naive_stocks_are_scored_by_the_release_s_own_options(released: ReplayScores) -> None:
    """With a softmax per action, the action with the fewest samples has the largest utility."""
    scores = overall(released)
    score = scores["stocks", "naive", "action", 50, None]
    assert (score.questions, score.tied) == (56, 2)
    assert round(score.normalised_utility, 3) == 58.715
    assert score.accuracy_by_tie_break == pytest.approx((100 * 23 / 56, 100 * 24 / 56))
    assert (score.scripts_accuracy, score.scripts_normalised_utility) == (30.833, 51.112)
    assert round(scores["stocks", "naive", "all", 50, None].accuracy, 3) == 26.786


def test_faulty_answers_are_reported(tmp_path: Path) -> None:
    """Incomplete, repeating, unreadable and missing answers count as in the release."""
    write_tables(tmp_path)
    replies: list[dict[str, object] | str | None]
    replies = [{"rank": [2, 2, 9]}, "{", None, {"rank": []}, {"rank": [2, 4, 3, 1]}]
    setting = "sample_size=6_minibatch_size=4_overlap_pct=50"
    write_rankings(tmp_path, [(SHOWN, reply) for reply in replies], setting)
    replayed = replay(tmp_path)
    assert {score.accuracy for score in replayed.scores} == {100.0}
    problems = [str(defect) for defect in replayed.defects]
    assert len(problems) == 4
    assert re.findall(r"\d+", replayed.defects[0].problem) == ["4", "3", "1", "1"]
    assert "not JSON" in problems[1]
    assert "response_2.json" in problems[2]
    assert "response_3.json" in problems[3]


def test_decisions_in_words(tmp_path: Path) -> None:
    """A worse choice gets its share of the best utility; an unreadable one is wrong and counted."""
    write_tables(tmp_path)
    write_decision(tmp_path, "zero-shot", json.dumps({"decision": "Action 1. FIG: 10 acres"}))
    write_decision(tmp_path, "cot", json.dumps({"decision": "nothing at all"}))
    none, worse = replay(tmp_path).scores
    assert (none.method, worse.method) == ("chain-of-thought", "zero-shot")
    assert (worse.accuracy, worse.normalised_utility, worse.undecided) == (0.0, 50.0, 0)
    assert (none.accuracy, none.normalised_utility, none.undecided) == (0.0, 0.0, 1)


def test_a_repeated_pair_wins_again_under_the_released_rule(tmp_path: Path) -> None:
    """Under the paper's rule only its first rank counts."""
    write_tables(tmp_path)
    setting = "sample_size=2_minibatch_size=4_overlap_pct=0"
    # The fig's first pair wins its first place, and loses where it is named again.
    write_rankings(tmp_path, [(SHOWN, {"rank": [1, 2, 4, 1]})], setting)
    released, paper = (
        {score.method: score.accuracy for score in replay(tmp_path, rules).scores}
        for rules in ("released", "paper")
    )
    preferred = [(0, 1), (0, 3), (0, 0), (0, 2), (1, 3), (1, 0), (1, 2), (3, 0), (3, 2), (0, 2)]
    weights = np.exp(choix.ilsr_pairwise(4, preferred, alpha=2e-3))
    assert weights[[0, 2]].sum() < weights[[1, 3]].sum()
    assert (released["pairs"], paper["pairs"]) == (100.0, 0.0)


def test_a_wrong_folder_or_rule_set_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match="there are no recorded answers"):
        replay(tmp_path)
    with pytest.raises(UnknownNameError, match="rule set 'mine'"):
        replay(tmp_path, "mine")


@pytest.mark.parametrize("alpha", [1e-3, 2e-8])
def test_rounded_scores_are_those_of_choix_to_the_last_bit(alpha: float) -> None:
    rankings: list[list[int]] = [[3, 1, 0, 2], [2, 4, 3, 5], [5, 0, 4]]
    pairs, firsts = rank_to_pairs(rankings), one_vs_all(rankings)
    won = [(item, other) for item, (other,) in pairs]
    theirs = choix.ilsr_pairwise(6, won, alpha=alpha, max_iter=10_000)
    assert np.array_equal(rounded_scores(pairs, 6, alpha), theirs)
    chosen = [(item, tuple(others)) for item, others in firsts]
    theirs = choix.ilsr_top1(6, chosen, alpha=alpha, max_iter=10_000)
    assert np.array_equal(rounded_scores(firsts, 6, alpha), theirs)
