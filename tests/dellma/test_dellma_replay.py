"""The recorded answers of the DeLLMa release, scored anew."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import choix
import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from benchmarks.reproductions.dellma.recordings import RecordedRun
from benchmarks.reproductions.dellma.replay import ReplayScores, padded, replay
from benchmarks.reproductions.dellma.rounding import one_vs_all, rank_to_pairs, rounded_scores
from benchmarks.reproductions.dellma.rules import SCRIPTS
from benchmarks.reproductions.dellma.scores import ReplayedDecision, cluster_interval
from dqa.core.errors import DataError, ParseError, UnknownNameError
from dqa_dellma.release.replayed import Score
from tests.dellma.dellma_scripts import (
    prompt,
    write,
    write_decision,
    write_prices,
    write_rankings,
    write_tables,
)

SHOWN = ["fig", "kiwi", "fig", "kiwi"]


Key = tuple[str, str, str | None, int | None, int | None]


@pytest.fixture(scope="module")
def released(dellma_release_dir: Path) -> ReplayScores:
    """The shared part of the release."""
    return replay(dellma_release_dir)


def test_linear_algebra_is_on_one_thread(tmp_path: Path) -> None:
    """Several wait for one another, a second becomes a minute, and they round differently."""

    def threads() -> list[int]:
        return [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]

    taken: list[int] = []

    def noted(runs: Sequence[RecordedRun]) -> Iterator[RecordedRun]:
        taken.extend(threads())
        return iter(runs)

    write_tables(tmp_path)
    write_rankings(tmp_path, [(SHOWN, {"rank": [2, 4, 1, 3]})] * 3)
    with threadpool_limits(2, user_api="blas"):
        replay(tmp_path, watch=noted)
        after = threads()
    assert taken
    assert {*taken} == {1}
    assert {*after} == {2}


def overall(replayed: ReplayScores) -> dict[Key, Score]:
    """Scores by data set, method, scoring, sample size and overlap."""
    return {
        (score.dataset, score.method, score.scored_by, score.sample_size, score.overlap): score
        for score in replayed.scores
    }


@pytest.mark.parametrize("key", [key for key in SCRIPTS if key[0] == "agriculture"], ids=str)
def test_agriculture_comes_out_as_the_released_scripts_say(
    released: ReplayScores, key: tuple[str, str, int | None, int | None]
) -> None:
    """Accuracy and normalised utility of all 120 questions, to a thousandth of a percent."""
    dataset, method, samples, overlap = key
    score = overall(released)[dataset, method, "all" if samples else None, samples, overlap]
    assert (score.questions, score.tied, score.undecided) == (120, 0, 0)
    assert (round(score.accuracy, 3), round(score.normalised_utility, 3)) == SCRIPTS[key]
    assert (score.scripts_accuracy, score.scripts_normalised_utility) == SCRIPTS[key]
    assert score.accuracy_by_tie_break == (score.accuracy, score.accuracy)
    low, high = score.interval
    assert low < score.accuracy < high
    assert score.clustered_interval is not None


def test_every_run_is_one_score(released: ReplayScores) -> None:
    """Data set, method, scoring, sample size and overlap tell the 17 of the shared part apart."""
    assert len(released.scores) == len(overall(released)) == 17
    assert {score.minibatch_size for score in released.scores} == {None, 32}
    assert {(score.dataset, score.year) for score in released.scores} == {
        ("agriculture", 2021),
        ("stocks", None),
    }


def test_released_stocks_are_ties(released: ReplayScores) -> None:
    """The released rule tells nothing of any ranking; one softmax leaves none to rounding."""
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


def test_naive_stocks_are_scored_by_the_release_s_own_options(released: ReplayScores) -> None:
    """A softmax within each action: the one with the fewest samples has the largest utility."""
    scores = overall(released)
    score = scores["stocks", "naive", "action", 50, None]
    assert (score.questions, score.tied) == (56, 2)
    assert round(score.normalised_utility, 3) == 58.715
    assert score.accuracy_by_tie_break == pytest.approx((100 * 23 / 56, 100 * 24 / 56))
    assert (score.scripts_accuracy, score.scripts_normalised_utility) == (30.833, 51.112)
    assert round(scores["stocks", "naive", "all", 50, None].accuracy, 3) == 26.786


def test_what_needs_no_answer_stands_beside_the_scores(released: ReplayScores) -> None:
    """The first of the listed and chance, and of stocks the note that says what that means."""
    fruits, stocks = released.record.yardsticks
    assert (fruits.dataset, fruits.questions, stocks.questions) == ("agriculture", 120, 56)
    assert (round(fruits.first_listed, 3), round(fruits.chance, 3)) == (8.333, 30.355)
    assert round(stocks.first_listed, 3) == 64.286
    (note,) = released.record.notes
    assert note.startswith("Stocks: the released rule")
    assert "1/64 up to rounding" in note
    assert '"always the first listed" 64.3 %' in note
    assert note.endswith("by this rule the one with the fewest wins.")


def test_stocks_that_were_decided_in_words(released: ReplayScores) -> None:
    """What the shared part gives, as the share of the best stock's gain."""
    found = {
        method: overall(released)["stocks", method, None, None, None]
        for method in ("zero-shot", "chain-of-thought", "self-consistency")
    }
    assert all(score.undecided == 0 for score in found.values())
    pair, triple = found["zero-shot"].by_actions
    assert (pair.actions, triple.actions) == (2, 3)
    assert (round(pair.accuracy, 3), round(pair.normalised_utility, 3)) == (57.143, 72.468)
    assert (round(triple.accuracy, 3), round(triple.normalised_utility, 3)) == (40.0, 62.253)


def test_the_numbers_of_actions_add_up(released: ReplayScores) -> None:
    """Each overall score is the mean of its parts, and counts all of their questions."""
    for whole in released.scores:
        assert sum(part.questions for part in whole.by_actions) == whole.questions
        total = sum(part.accuracy * part.questions for part in whole.by_actions)
        assert total / whole.questions == pytest.approx(whole.accuracy)
        total = sum(part.normalised_utility * part.questions for part in whole.by_actions)
        assert total / whole.questions == pytest.approx(whole.normalised_utility)


@pytest.mark.parametrize(
    ("places", "mended"),
    [
        ([], []),
        ([2, 1, 3], [2, 1, 3]),
        ([4, 2], [4, 2, 1]),
        ([2, 2, 5], [2, 2, 5, 1, 3]),
    ],
)
def test_a_ranking_is_mended_as_released(places: list[int], mended: list[int]) -> None:
    """Numbers missing of 1 to its own length follow in order."""
    assert padded(places) == mended


@pytest.mark.parametrize("reply", [{"rank": [2, 4, 1, 3]}, {"order": ["Pair 2", "Pair 4", 1, 3]}])
def test_rankings_decide(tmp_path: Path, reply: dict[str, object]) -> None:
    """The kiwi's pairs are ranked first, and the kiwi is the best."""
    write_tables(tmp_path)
    write_rankings(tmp_path, [(SHOWN, reply)] * 3)
    replayed = replay(tmp_path)
    assert [score.method for score in replayed.scores] == ["pairs", "top1"]
    assert {score.accuracy for score in replayed.scores} == {100.0}
    assert {(score.sample_size, score.overlap) for score in replayed.scores} == {(4, 50)}
    assert replayed.defects == ()


def test_answers_that_are_not_what_was_asked_for_are_reported(tmp_path: Path) -> None:
    """Incomplete, repeating, unreadable and missing answers count as released, and are told."""
    write_tables(tmp_path)
    replies: list[dict[str, object] | str | None]
    replies = [{"rank": [2, 2, 9]}, "{", None, {"rank": []}, {"rank": [2, 4, 3, 1]}]
    setting = "sample_size=6_minibatch_size=4_overlap_pct=50"
    write_rankings(tmp_path, [(SHOWN, reply) for reply in replies], setting)
    replayed = replay(tmp_path)
    assert {score.accuracy for score in replayed.scores} == {100.0}
    problems = [str(defect) for defect in replayed.defects]
    assert len(problems) == 4
    assert "3 are not ranked, 1 are ranked again, and 1 ranks name no pair" in problems[0]
    assert "no JSON" in problems[1]
    assert "response_2.json" in problems[2]
    assert "ranks nothing" in problems[3]


def test_decisions_in_words(tmp_path: Path) -> None:
    """A worse choice has its share of the best one's utility; no choice is wrong, and counted."""
    write_tables(tmp_path)
    write_decision(tmp_path, "zero-shot", json.dumps({"decision": "Action 1. FIG: 10 acres"}))
    write_decision(tmp_path, "cot", json.dumps({"decision": "nothing at all"}))
    none, worse = replay(tmp_path).scores
    assert (none.method, worse.method) == ("chain-of-thought", "zero-shot")
    assert (worse.accuracy, worse.normalised_utility, worse.undecided) == (0.0, 50.0, 0)
    assert (none.accuracy, none.normalised_utility, none.undecided) == (0.0, 0.0, 1)


def test_a_question_without_an_answer_is_left_out(tmp_path: Path) -> None:
    """Where that leaves nothing, the error says what was wrong first."""
    write_tables(tmp_path)
    write_decision(tmp_path, "cot", "{").unlink()
    question = write_rankings(tmp_path, [(SHOWN, None)] * 3)
    assert not list(question.glob("response/*"))
    with pytest.raises(DataError, match="not one recorded answer can be scored"):
        replay(tmp_path)


def test_an_answer_that_cannot_be_read_decides_nothing(tmp_path: Path) -> None:
    """It was given, so its question counts: as wrong in words, and as a tie of rankings."""
    write_tables(tmp_path)
    for mode, reply in (("cot", "{"), ("zero-shot", '"I cannot say"')):
        write_decision(tmp_path, mode, reply)
    for score in (said := replay(tmp_path)).scores:
        assert (score.questions, score.accuracy, score.undecided) == (1, 0.0, 1)
    assert any("no JSON" in str(defect) for defect in said.defects)
    rankings: list[dict[str, object] | str] = ["I cannot rank these", {"rank": []}, {}]
    for ranking in rankings:
        write_rankings(tmp_path, [(SHOWN, ranking)] * 3)
        for score in [each for each in replay(tmp_path).scores if each.sample_size]:
            assert (score.questions, score.accuracy, score.all_tied) == (1, 0.0, 1)


def test_a_number_decides_as_it_does_for_a_decider(tmp_path: Path) -> None:
    """The second action is the kiwi."""
    write_tables(tmp_path)
    write_decision(tmp_path, "cot", '{"decision": 2}')
    [score] = replay(tmp_path).scores
    assert (score.accuracy, score.undecided) == (100.0, 0)


def test_a_pair_that_is_ranked_again_is_chosen_again(tmp_path: Path) -> None:
    """As released; by the paper's rules its first place counts."""
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


def test_actions_without_a_truth_are_left_out(tmp_path: Path) -> None:
    """Their question is named, and the others are scored."""
    write_tables(tmp_path)
    write_decision(tmp_path, "cot", '{"decision": "fig"}', "fig-moon")
    with pytest.raises(DataError, match=r"fig-moon: no table tells what came true of moon"):
        replay(tmp_path)
    write_decision(tmp_path, "cot", '{"decision": "kiwi"}')
    replayed = replay(tmp_path)
    assert [(score.questions, score.accuracy) for score in replayed.scores] == [(1, 100.0)]
    assert [defect.file.name for defect in replayed.defects] == ["fig-moon"]


def test_runs_without_a_truth_are_left_out(tmp_path: Path) -> None:
    """Another year without statistics and stocks without prices do not keep 2021 from scoring."""
    write_tables(tmp_path)
    write_decision(tmp_path, "cot", '{"decision": "kiwi"}')
    write_decision(tmp_path, "cot", '{"decision": "kiwi"}', dataset="agriculture/2022")
    for mode in ("cot", "zero-shot"):
        write_decision(tmp_path, mode, '{"decision": "amd"}', "amd-spy", "stocks")
    replayed = replay(tmp_path)
    assert [(score.dataset, score.year) for score in replayed.scores] == [("agriculture", 2021)]
    season, *stocks = replayed.defects
    assert "no CA-2023.csv" in season.problem
    assert [defect.file.name for defect in stocks] == ["cot", "zero-shot"]
    assert all("no SYMBOL.csv" in defect.problem for defect in stocks)


def test_another_year_has_its_own_truth(tmp_path: Path) -> None:
    """In 2023 the fig is the better one; the scripts' figures are about 2021 only."""
    write_tables(tmp_path)
    truth = (tmp_path / "data/agriculture/stats/CA-2022.csv").read_text("utf-8")
    write(tmp_path / "data/agriculture/stats/CA-2023.csv", truth.replace("1,000", "9,000"))
    for year in (2021, 2022):
        write_decision(tmp_path, "cot", '{"decision": "fig"}', dataset=f"agriculture/{year}")
    first, second = replay(tmp_path).scores
    assert (first.year, first.accuracy, first.scripts_accuracy) == (2021, 0.0, 34.167)
    assert (second.year, second.accuracy, second.scripts_accuracy) == (2022, 100.0, None)


def test_a_mutilated_release_is_scored_as_far_as_it_goes(tmp_path: Path) -> None:
    """Folders that nothing can be made of change no score, and each is reported but hidden ones."""
    write_tables(tmp_path)
    write_decision(tmp_path, "cot", '{"decision": "fig"}')
    question = write_rankings(tmp_path, [(SHOWN, {"rank": [2, 4, 1, 3]})] * 3)
    whole = replay(tmp_path)
    write_rankings(tmp_path, [(SHOWN, None)], "sample_size=4_minibatch_size=4_overlap_pct=0.25")
    write_rankings(tmp_path, [(SHOWN, None)], "sample_size=4_minibatch_size=0_overlap_pct=25")
    write_decision(tmp_path, "cot", '{"decision": "fig"}', "apple-zebra")
    write_decision(tmp_path, "cot_copy", '{"decision": "fig"}')
    write_decision(tmp_path, "cot", '{"decision": "fig"}', ".ipynb_checkpoints")
    (question.parent / ".ipynb_checkpoints").mkdir()
    (question.parent / "empty-fig").mkdir()
    (question.parents[2] / "rank").mkdir()
    mutilated = replay(tmp_path)
    assert mutilated.scores == whole.scores
    assert whole.defects == ()
    assert sorted(defect.file.name for defect in mutilated.defects) == [
        "apple-zebra",
        "cot_copy",
        "empty-fig",
        "rank",
        "sample_size=4_minibatch_size=0_overlap_pct=25",
        "sample_size=4_minibatch_size=4_overlap_pct=0.25",
    ]


def test_pairs_that_are_in_no_prompt_are_reported(tmp_path: Path) -> None:
    """A quarter missing is scored without, more than half is left out, and so is what is past."""
    write_tables(tmp_path)
    ranked = [(SHOWN, {"rank": [2, 4, 1, 3]})]
    question = write_rankings(tmp_path, ranked * 2)
    replayed = replay(tmp_path)
    assert {score.accuracy for score in replayed.scores} == {100.0}
    assert [defect.problem[:12] for defect in replayed.defects] == ["2 of 8 pairs"]
    (question / "prompt/prompt_1.txt").rename(question / "prompt/prompt_987654321.txt")
    (question / "response/response_1.json").rename(question / "response/response_987654321.json")
    past = replay(tmp_path)
    assert [defect.problem.split(" ", 1)[1] for defect in past.defects] == [
        "987654321 begins past the question's pairs",
        "of 8 pairs are in no prompt that can be read",
    ]
    (question / "prompt/prompt_0.txt").unlink()
    write(question / "prompt/prompt_0.txt", prompt(SHOWN[:3]))
    with pytest.raises(DataError, match="not one recorded answer"):
        replay(tmp_path)


def test_a_run_without_minibatches_has_one_prompt(tmp_path: Path) -> None:
    """A second one is left out, and one odd question does not name the run's sample size."""
    write_tables(tmp_path)
    rank = tmp_path / "results/agriculture/2021/dellma/rank"
    for name, shown in (("fig-kiwi", SHOWN), ("kiwi-fig", SHOWN), ("FIG-KIWI", SHOWN)):
        for number in (0, 1):
            write(rank / name / f"prompt/prompt_{number}.txt", prompt(shown))
            write(rank / name / f"response/response_{number}.json", '{"rank": [2, 4, 1, 3]}')
    replayed = replay(tmp_path)
    [score] = replayed.scores
    assert (score.method, score.sample_size, score.minibatch_size) == ("naive", 4, None)
    assert sum("begins past" in defect.problem for defect in replayed.defects) == 1
    assert sum("the same choice" in defect.problem for defect in replayed.defects) == 2


def test_ties_of_the_best_are_told_with_what_hangs_on_them(tmp_path: Path) -> None:
    """Fig and kiwi are level and the plum is behind: not all tie, and the best may be either."""
    write_tables(tmp_path)
    for year in (2021, 2022):
        file = tmp_path / f"data/agriculture/stats/CA-{year}.csv"
        write(file, file.read_text("utf-8") + "plum,5 CWT / ACRE,10 $ / CWT\n")
    rank = tmp_path / "results/agriculture/2021/dellma/rank-minibatch"
    question = rank / "sample_size=2_minibatch_size=3_overlap_pct=0/fig-kiwi-plum"
    for number, order in enumerate(([1, 2, 3], [2, 1, 3])):
        text = prompt(["fig", "kiwi", "plum"]).replace("Action 2. plum", "Action 3. plum")
        write(question / f"prompt/prompt_{number}.txt", text)
        write(question / f"response/response_{number}.json", json.dumps({"rank": order}))
    for score in replay(tmp_path).scores:
        assert (score.questions, score.tied, score.all_tied) == (1, 1, 0)
        assert score.accuracy == 0.0
        assert score.accuracy_by_tie_break == (0.0, 100.0)
        assert score.by_actions[0].tied == 1


def test_intervals_by_cluster_know_what_stands_and_falls_together() -> None:
    """All right of one best action and none of the others: as wide as the draws of clusters."""

    def decision(best: str, *, correct: bool) -> ReplayedDecision:
        return ReplayedDecision(
            actions=("a", "b"),
            best=best,
            correct=correct,
            utility=1.0,
            tied=1,
            surely=correct,
            possibly=correct,
            undecided=False,
        )

    one = [decision("a", correct=True)] * 30
    assert cluster_interval(one) is None
    other = [decision(best, correct=False) for best in "bcdef" for _ in range(6)]
    assert cluster_interval([*one, *other]) == cluster_interval([*other, *one])
    low, high = cluster_interval([*one, *other]) or (0.0, 0.0)
    assert low == 0.0
    assert high > 80.0
    alike = [decision(best, correct=n < 3) for best in "abcdef" for n in range(6)]
    assert cluster_interval(alike) == pytest.approx((50.0, 50.0))


def test_losses_all_round(tmp_path: Path) -> None:
    """Where no stock gains, the least loss is all of the utility, and any other none of it."""
    write_prices(tmp_path, amd=-10.0, spy=-20.0)
    write_decision(tmp_path, "cot", '{"decision": "amd"}', "amd-spy", "stocks")
    write_decision(tmp_path, "zero-shot", '{"decision": "spy"}', "amd-spy", "stocks")
    best, other = replay(tmp_path).scores
    assert (best.accuracy, best.normalised_utility) == (100.0, 100.0)
    assert (other.accuracy, other.normalised_utility) == (0.0, 0.0)


def test_a_folder_that_is_no_release_is_an_error(tmp_path: Path) -> None:
    """So is a rule set that nobody knows."""
    with pytest.raises(ParseError, match="there are no recorded answers"):
        replay(tmp_path)
    with pytest.raises(UnknownNameError, match="rule set 'mine'"):
        replay(tmp_path, "mine")


@pytest.mark.parametrize("alpha", [1e-3, 2e-8])
def test_rounded_scores_are_those_of_choix_to_the_last_bit(alpha: float) -> None:
    """The same operations in the same order, for pairs and for first choices."""
    rankings: list[list[int]] = [[3, 1, 0, 2], [2, 4, 3, 5], [5, 0, 4]]
    pairs, firsts = rank_to_pairs(rankings), one_vs_all(rankings)
    won = [(item, other) for item, (other,) in pairs]
    theirs = choix.ilsr_pairwise(6, won, alpha=alpha, max_iter=10_000)
    assert np.array_equal(rounded_scores(pairs, 6, alpha), theirs)
    chosen = [(item, tuple(others)) for item, others in firsts]
    theirs = choix.ilsr_top1(6, chosen, alpha=alpha, max_iter=10_000)
    assert np.array_equal(rounded_scores(firsts, 6, alpha), theirs)
