"""Invent unique names from a seed."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

_SYLLABLES = [c + v for c in "bdfghjklmnprstvz" for v in "aeiou"]
_ENDINGS = "dklmnrstvx"
_ROOM = 4  # possible names per used name, so that similar names are rare


def stems(rng: np.random.Generator, count: int) -> NDArray[np.object_]:
    """Return `count` different stems such as ``"velan"``.

    A stem spells a number in syllables. Each number is the previous number plus a step, modulo the
    number of possible stems. The step and the number of possible stems have no common factor, so no
    stem occurs twice.

    Returns
    -------
    NDArray[np.object_]
        Shape (count,), of lower-case `str`. A stem has 5 letters; if more than 16,000 stems are
        needed, 7 letters; if more than 1,280,000 are needed, 9 letters.
    """
    length = 2
    while len(_SYLLABLES) ** length * len(_ENDINGS) < _ROOM * count:
        length += 1
    spellings = len(_SYLLABLES) ** length * len(_ENDINGS)
    start = int(rng.integers(spellings))
    step = int(rng.integers(spellings // 3, spellings // 2))
    while math.gcd(step, spellings) > 1:
        step += 1
    numbers = (start + step * np.arange(count, dtype=np.int64)) % spellings
    numbers, last = np.divmod(numbers, len(_ENDINGS))
    names = np.array(list(_ENDINGS), dtype=object)[last]
    syllables = np.array(_SYLLABLES, dtype=object)
    for _ in range(length):
        numbers, digit = np.divmod(numbers, len(_SYLLABLES))
        names = syllables[digit] + names
    return np.asarray(names)


def with_suffixes(
    names: NDArray[np.object_], suffixes: tuple[str, ...], picks: NDArray[np.int64]
) -> NDArray[np.object_]:
    """Append ``_`` and a suffix to each name. `picks` has the suffix index of each name."""
    tails = np.array(["_" + suffix for suffix in suffixes], dtype=object)
    return np.asarray(names + tails[picks % len(suffixes)])
