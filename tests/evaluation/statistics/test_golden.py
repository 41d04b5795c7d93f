"""Our figures beside those of statsmodels and R (benchmarks/reproductions/statistics)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import friedmanchisquare, norm

from dqa.evaluation.statistics.clusters import (
    Estimate,
    mean_of_ratios,
    score_interval,
    t_quantile,
    wilson,
)
from dqa.evaluation.statistics.comparing import Contestant, overall_test
from dqa.evaluation.statistics.pairs import holm, paired_difference, sign_test
from tests.evaluation.statistics.results import result

GOLDEN: dict[str, Any] = json.loads(
    (Path(__file__).parent / "golden" / "figures.json").read_text("utf-8")
)


def close(value: float) -> Any:
    """Return what equals a figure that was written with 15 digits."""
    return pytest.approx(value, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("case", GOLDEN["means"], ids=lambda case: case["name"])
def test_clustered_means_are_those_of_r(case: dict[str, Any]) -> None:
    """CR2 with Satterthwaite's degrees of freedom, by clubSandwich, few or uneven as they are."""
    found = Estimate.of(case["values"], case["clusters"])
    assert found is not None
    wanted = case["R"]
    assert found.value == close(case["statsmodels"]["mean"])
    assert found.standard_error == close(wanted["cr2_error"])
    assert found.degrees_of_freedom == close(wanted["degrees_of_freedom"])
    assert (found.low, found.high) == (close(wanted["low"]), close(wanted["high"]))
    tested = paired_difference(case["values"], case["clusters"])
    assert tested is not None
    assert tested.p_value == close(wanted["p_value"])


@pytest.mark.parametrize("case", GOLDEN["means"], ids=lambda case: case["name"])
def test_ratios_are_those_of_rs_survey(case: dict[str, Any]) -> None:
    """Amounts by count, as tokens by right answer."""
    cases = (case["values"], case["counts"], case["clusters"])
    found = mean_of_ratios([list(zip(*cases, strict=True))], 0.0)
    assert found is not None
    assert found.value == close(case["R"]["ratio"])
    assert found.standard_error == close(case["R"]["ratio_error"])


def test_wilsons_interval_is_that_of_both() -> None:
    """From none right to all."""
    for case in GOLDEN["shares"]:
        found = wilson(case["right"], case["of"])
        assert found is not None
        for source in ("statsmodels", "R"):
            assert found == (close(case[source]["low"]), close(case[source]["high"]))


def test_the_interval_of_an_effective_size_is_wilsons() -> None:
    """With any size, and Student's t for the normal's quantile."""
    for case in GOLDEN["effective_shares"]:
        assert t_quantile(case["degrees_of_freedom"]) == close(case["quantile"])
        level = 2.0 * float(norm.sf(case["quantile"]))
        found = score_interval(case["share"], case["size"], level)
        wanted = case["statsmodels"]
        assert found == (close(wanted["low"]), close(wanted["high"]))


def test_mcnemars_exact_test_is_that_of_both() -> None:
    """Without discordant questions, too."""
    for case in GOLDEN["mcnemar"]:
        differences = [1.0] * case["first"] + [-1.0] * case["second"] + [0.0] * 14
        found = sign_test(differences)
        assert (found.better, found.worse, found.equal) == (case["first"], case["second"], 14)
        for source in ("statsmodels", "R"):
            assert found.p_value == close(case[source]["p_value"])


def test_holms_correction_is_that_of_both() -> None:
    """In the order of what was given, ties included."""
    for case in GOLDEN["holm"]:
        corrected = holm(case["p_values"])
        assert corrected == tuple(map(close, case["statsmodels"]))
        assert corrected == tuple(map(close, np.atleast_1d(case["R"]).tolist()))


def test_cochrans_q_is_that_of_both() -> None:
    """As the case of Friedman's test where answers are right or wrong."""
    for case in GOLDEN["cochran"]:
        columns = list(zip(*case["right"], strict=True))
        contestants = [
            Contestant(
                f"c{place}", tuple(result(n, bool(answer)) for n, answer in enumerate(column))
            )
            for place, column in enumerate(columns)
        ]
        found = overall_test(contestants)
        assert found is not None
        assert (found.test, found.questions) == ("cochran", 30)
        for source in ("statsmodels", "R"):
            assert found.statistic == close(case[source]["statistic"])
            assert found.p_value == close(case[source]["p_value"])


def test_friedmans_test_is_scipys() -> None:
    """With scores of several answers to a question, ties within and over questions."""
    random = np.random.default_rng(16)
    for count in (3, 5):
        blocks = random.integers(0, 4, (25, count))
        contestants = [
            Contestant(
                f"c{place}",
                tuple(
                    result(n, bool(epoch <= score), epoch=epoch)
                    for n, score in enumerate(column)
                    for epoch in (1, 2, 3)
                ),
            )
            for place, column in enumerate(blocks.T)
        ]
        wanted, found = friedmanchisquare(*blocks.T), overall_test(contestants)
        assert found is not None
        assert (found.test, found.questions) == ("friedman", 25)
        assert found.statistic == close(float(wanted.statistic))
        assert found.p_value == close(float(wanted.pvalue))
