"""Write the figures that tests compare with our statistics.

Run ``python -m benchmarks.reproductions.statistics.figures FILE`` and then
``Rscript benchmarks/reproductions/statistics/figures.R FILE``. The first program draws small data
sets from a fixed seed and adds the figures of statsmodels. The second program adds the figures of R
(packages clubSandwich, jsonlite and survey). The file is
``tests/evaluation/statistics/golden/figures.json``.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import statsmodels
import statsmodels.api as sm
from scipy.stats import norm, t
from statsmodels.stats.contingency_tables import cochrans_q, mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

SEED = 16
SIZES = {
    "equal": (5, 5, 5, 5, 5, 5),
    "one large": (58, 9, 8, 7, 6, 4, 3, 2, 2, 1),
    "three": (20, 14, 15),
    "two": (3, 8),
    "alone": (1,) * 12,
    "many": tuple(1 + place % 4 for place in range(40)),
}
TABLES = ((0, 0), (1, 0), (0, 7), (5, 9), (12, 2), (30, 31), (60, 90))
P_VALUES = ((0.01, 0.02, 0.03, 0.04), (0.5, 0.001, 0.001, 0.9, 0.02), (0.3,), (0.04, 0.6, 0.04))


def main() -> None:
    """Write data and statsmodels' figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    file = parser.parse_args().file
    random = np.random.default_rng(SEED)
    figures = {
        "sources": {"statsmodels": statsmodels.__version__},
        "means": [_mean(name, sizes, random) for name, sizes in SIZES.items()],
        "shares": [_share(right, of) for of in (1, 7, 101, 200) for right in (0, 1, of // 3, of)],
        "effective_shares": [_effective(*case) for case in ((0.3, 12.5, 4.0), (0.92, 55.25, 2.6))],
        "mcnemar": [_mcnemar(*table) for table in TABLES],
        "holm": [_holm(values) for values in P_VALUES],
        "cochran": [_cochran(count, random) for count in (3, 4, 6)],
    }
    file.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")


def _mean(name: str, sizes: tuple[int, ...], random: np.random.Generator) -> dict[str, Any]:
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    shifts = random.normal(size=len(sizes))
    values = np.round(2.0 + shifts[clusters] + random.normal(size=len(clusters)), 3)
    counts = random.integers(0, 2, len(clusters))
    counts[0] = 1
    fitted = sm.OLS(values, np.ones(len(values))).fit()
    clustered = fitted.get_robustcov_results("cluster", groups=clusters, use_t=True)
    return {
        "name": name,
        "values": values.tolist(),
        "counts": counts.tolist(),
        "clusters": clusters.tolist(),
        "statsmodels": {
            "mean": float(clustered.params[0]),
            "cr1_error": float(clustered.bse[0]),
            "low": float(clustered.conf_int()[0][0]),
            "high": float(clustered.conf_int()[0][1]),
            "p_value": float(clustered.pvalues[0]),
        },
    }


def _share(right: int, of: int) -> dict[str, Any]:
    low, high = proportion_confint(right, of, method="wilson")
    return {"right": right, "of": of, "statsmodels": {"low": float(low), "high": float(high)}}


def _effective(share: float, size: float, freedom: float) -> dict[str, Any]:
    quantile = float(t.ppf(0.975, freedom))
    alpha = float(2.0 * norm.sf(quantile))
    low, high = proportion_confint(share * size, size, alpha=alpha, method="wilson")
    return {
        "share": share,
        "size": size,
        "degrees_of_freedom": freedom,
        "quantile": quantile,
        "statsmodels": {"low": float(low), "high": float(high)},
    }


def _mcnemar(first: int, second: int) -> dict[str, Any]:
    found = mcnemar(np.array([[10, first], [second, 4]]), exact=True)
    return {"first": first, "second": second, "statsmodels": {"p_value": float(found.pvalue)}}


def _holm(values: tuple[float, ...]) -> dict[str, Any]:
    corrected = multipletests(values, method="holm")[1]
    return {"p_values": list(values), "statsmodels": corrected.tolist()}


def _cochran(count: int, random: np.random.Generator) -> dict[str, Any]:
    shares = np.linspace(0.3, 0.7, count)
    right = (random.random((30, count)) < shares).astype(int)
    found = cochrans_q(right)
    return {
        "right": right.tolist(),
        "statsmodels": {"statistic": float(found.statistic), "p_value": float(found.pvalue)},
    }


if __name__ == "__main__":
    main()
