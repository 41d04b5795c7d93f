"""What came true of every action that the tables of the release tell of (sections 4.1 and 4.2)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from dqa.core.errors import ParseError, UnknownNameError
from dqa.core.question_set import Defect
from dqa_dellma.release.questions import BOUGHT, KNOWN_YEAR, SOLD
from dqa_dellma.release.tables import read_statistics, read_stocks

__all__ = ["read_utilities"]


def read_utilities(
    folder: Path, dataset: str, known_year: int = KNOWN_YEAR
) -> tuple[Mapping[str, float], tuple[Defect, ...]]:
    """Read what came true of every action that the tables of a release tell of.

    Parameters
    ----------
    folder
        The release: the folder that holds ``data``.
    dataset
        ``agriculture`` or ``stocks``.
    known_year
        Of agriculture: the season whose report was the context; the next one is the truth.

    Returns
    -------
    Action (lower case) to dollars an acre, or to what a dollar gained, and what was wrong in the
    files that tell it. No other file is read.

    Raises
    ------
    ParseError
        A file that tells it is missing or cannot be read, or tells of nothing.
    UnknownNameError
        There is no such data set.
    """
    if dataset == "agriculture":
        statistics, defects = read_statistics(folder, known_year + 1)
        told = {crop: row.revenue for crop, row in statistics.items() if row.comparable}
    elif dataset == "stocks":
        stocks = read_stocks(folder)
        told, defects = stocks.gains(BOUGHT, SOLD), stocks.defects
    else:
        raise UnknownNameError("data set of the DeLLMa release", dataset, ("agriculture", "stocks"))
    if not told:
        raise ParseError(folder / "data" / dataset, None, "no table tells what came true")
    return MappingProxyType({action.lower(): gain for action, gain in told.items()}), defects
