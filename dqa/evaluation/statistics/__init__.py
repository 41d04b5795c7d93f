"""Statistics over results: pure functions that return typed records.

`summaries` counts; `shares` and `clusters` have the intervals; `epochs`, `pairs`, `comparing` and
`efficiency` say what stands in their names. ``docs/evaluation.md`` says which figure to trust when.
"""

from __future__ import annotations

from dqa.evaluation.statistics.clusters import (
    ClusteredMean,
    Estimate,
    clustered_mean,
    clustered_ratio,
    clusters_of,
    situations_of,
)
from dqa.evaluation.statistics.comparing import (
    Comparison,
    PairComparison,
    Standing,
    compare_contestants,
)
from dqa.evaluation.statistics.contestants import Contestant
from dqa.evaluation.statistics.efficiency import Efficiency, Rate, measure_efficiency
from dqa.evaluation.statistics.epochs import (
    EpochAccuracy,
    EpochStatistics,
    PassRate,
    count_epochs,
    pass_all,
    pass_at,
)
from dqa.evaluation.statistics.overall import OverallTest
from dqa.evaluation.statistics.pairs import (
    Difference,
    Power,
    SignTest,
    holm,
    newcombe,
    paired_difference,
    power_of_pairs,
    questions_needed,
    sign_test,
)
from dqa.evaluation.statistics.shares import (
    clustered_share,
    normalised_utility,
    share_of_questions,
    wilson,
)
from dqa.evaluation.statistics.summaries import (
    KindMean,
    Summary,
    TagCount,
    Total,
    count_tags,
    kind_means,
    summarise,
    total_matches,
)

__all__ = [
    "ClusteredMean",
    "Comparison",
    "Contestant",
    "Difference",
    "Efficiency",
    "EpochAccuracy",
    "EpochStatistics",
    "Estimate",
    "KindMean",
    "OverallTest",
    "PairComparison",
    "PassRate",
    "Power",
    "Rate",
    "SignTest",
    "Standing",
    "Summary",
    "TagCount",
    "Total",
    "clustered_mean",
    "clustered_ratio",
    "clustered_share",
    "clusters_of",
    "compare_contestants",
    "count_epochs",
    "count_tags",
    "holm",
    "kind_means",
    "measure_efficiency",
    "newcombe",
    "normalised_utility",
    "paired_difference",
    "pass_all",
    "pass_at",
    "power_of_pairs",
    "questions_needed",
    "share_of_questions",
    "sign_test",
    "situations_of",
    "summarise",
    "total_matches",
    "wilson",
]
