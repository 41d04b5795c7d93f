"""The reader of the release's beliefs: how likely each value of each factor was said to be.

No command reads them: the recorded prompts hold the states that were drawn from them. They are for
whoever compares what another model believes.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from dqa.core.errors import ParseError, UnknownNameError
from dqa_dellma.release.files import read_object

__all__ = ["read_beliefs"]

_FILES: Mapping[str, str] = MappingProxyType(
    {"agriculture": "cache/farmer_2021_states.json", "stocks": "cache/trader_states.json"}
)


def read_beliefs(folder: Path, dataset: str) -> Mapping[str, Mapping[str, str]]:
    """Read the beliefs that GPT-4 stated about a data set (section 3.2).

    Parameters
    ----------
    folder
        The release.
    dataset
        ``agriculture`` or ``stocks``.

    Returns
    -------
    Factor to value to verbalised probability, in the file's order.

    Raises
    ------
    ParseError
        The file is missing, or is not factors with a word for each of their values.
    UnknownNameError
        There is no such data set.
    """
    if dataset not in _FILES:
        raise UnknownNameError("data set of the DeLLMa release", dataset, _FILES)
    file = folder / _FILES[dataset]
    beliefs = read_object(file, folder)
    for factor, words in beliefs.items():
        stated = isinstance(words, dict) and all(isinstance(word, str) for word in words.values())
        if not stated or not words:
            raise ParseError(file, None, f"'{factor}' needs a word for each of its values")
    return MappingProxyType({name: MappingProxyType(words) for name, words in beliefs.items()})
