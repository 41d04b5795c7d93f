"""Statistics over results: pure functions that return typed records.

``docs/statistics.md`` explains which figure answers which question.
"""

from dqa.evaluation.statistics.clusters import Estimate as Estimate
from dqa.evaluation.statistics.clusters import clustered_share as clustered_share
from dqa.evaluation.statistics.clusters import clusters_of as clusters_of
from dqa.evaluation.statistics.clusters import normalised_utility as normalised_utility
from dqa.evaluation.statistics.clusters import share_of_questions as share_of_questions
from dqa.evaluation.statistics.clusters import situations_of as situations_of
from dqa.evaluation.statistics.clusters import wilson as wilson
from dqa.evaluation.statistics.comparing import Comparison as Comparison
from dqa.evaluation.statistics.comparing import Contestant as Contestant
from dqa.evaluation.statistics.comparing import PairComparison as PairComparison
from dqa.evaluation.statistics.summaries import EpochStatistics as EpochStatistics
from dqa.evaluation.statistics.summaries import KindMean as KindMean
from dqa.evaluation.statistics.summaries import MatchTotal as MatchTotal
from dqa.evaluation.statistics.summaries import Summary as Summary
from dqa.evaluation.statistics.summaries import TagCount as TagCount
from dqa.evaluation.statistics.summaries import count_epochs as count_epochs
from dqa.evaluation.statistics.summaries import count_tags as count_tags
from dqa.evaluation.statistics.summaries import kind_means as kind_means
from dqa.evaluation.statistics.summaries import summarise as summarise
from dqa.evaluation.statistics.summaries import total_matches as total_matches
