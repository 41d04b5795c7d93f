"""An indexer that is no model: types by leading words, summaries of the last actions.

It lets memories be formed, tested and measured where no model can be asked, and is a baseline for
what a model's types are worth.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from dqa.core.text import counted, shortened
from dqa.core.trajectories import Step
from dqa_ldm2.memory.base import MemoryType
from dqa_ldm2.memory.indexing import Indexed
from dqa_ldm2.memory.keeping import OTHER

_TOKEN: Final = re.compile(r"[^\W\d_]+|\d+(?:\.\d+)?")
_LEADING: Final = {"goals": 3, "observations": 4}
"""How many words of a text its type goes by."""
_SHARE: Final = 0.12
"""Of a batch's goals have a word that tells kinds of goals apart; rarer ones tell things apart."""
_ACTIONS: Final = 3
_LONGEST: Final = 80


class RuleIndexer:
    """Names types by rules; nothing is asked.

    A goal's type is its first words, without those that few goals begin with: ``put a clean``, but
    not which thing. An observation's type is its first words with numbers masked:
    ``on the desk #``. A history is how many steps there were, and the last actions.

    Attributes
    ----------
    name
        What versions and results call it, in place of a model.
    """

    name = "rules (no model)"

    def summarise(self, goal: str, steps_before: Sequence[Step]) -> str:  # noqa: ARG002
        """Return how many steps there were, and the last actions."""
        last = "; ".join(shortened(step.action, _LONGEST) for step in steps_before[-_ACTIONS:])
        return f"After {counted(len(steps_before), 'step')}, the last: {last}."

    def cluster(self, kind: Indexed, texts: Sequence[str]) -> Mapping[str, Sequence[int]]:
        """Return texts by their leading words."""
        leading = [_leading(kind, text) for text in texts]
        if kind == "goals":
            held = Counter(word for words in leading for word in set(words))
            least = min(2.0, len(texts)) if len(texts) * _SHARE < 2 else len(texts) * _SHARE
            leading = [[word for word in words if held[word] >= least] for words in leading]
        types: dict[str, list[int]] = {}
        for number, words in enumerate(leading, 1):
            types.setdefault(" ".join(words) or OTHER, []).append(number)
        return types

    def classify(self, kind: Indexed, text: str, types: Sequence[MemoryType]) -> str:
        """Return the type whose words are most of a text's leading ones; the first of several."""
        words = _leading(kind, text)
        shared = {each.name: _shared(each.name.split(), words, kind) for each in types}
        best = max(shared.values(), default=0)
        return next((name for name, count in shared.items() if best and count == best), OTHER)


def _leading(kind: Indexed, text: str) -> list[str]:
    found = (each.group().casefold() for each in _TOKEN.finditer(text))
    return [
        "#" if word[0].isdigit() else word
        for word, _ in zip(found, range(_LEADING[kind]), strict=False)
    ]


def _shared(name: Sequence[str], words: Sequence[str], kind: Indexed) -> int:
    """Return how many words of a type a text begins with; 0 for a goal that lacks one of them."""
    if kind == "goals":
        return len(name) if set(name) <= set(words) else 0
    return next((n for n, (a, b) in enumerate(zip(name, words, strict=False)) if a != b), len(name))
