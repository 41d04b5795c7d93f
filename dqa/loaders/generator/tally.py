"""Counts the results of a search for questions, for the message if it finds none."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field

from dqa.core.text import counted
from dqa.scenarios.generation import Difficulty, Resistance

_ADVICE = {
    "hops": "fewer hops",
    "rivals": "fewer rivals",
    "margins": "wider margins",
    "mix": "another mix",
    "resist": "fewer deciders to resist",
    "sure": "other worlds",
}
"""By bound, what to ask for if it is too tight."""

_FAR = 2
"""An answer is far from so many steps on; a larger bound may be lowered."""
_MOST_ASKED = 1000
"""The search ends after so many questions to deciders who were always right."""


@dataclass(slots=True)
class Tally:
    """Counters of a search.

    Attributes
    ----------
    rows
        Of each world that was drawn.
    looked_at, sure
        Questions, and those with one sure answer.
    met
        Of these, how many meet each bound; ``asked`` and ``resist`` count those put to deciders,
        and those that all of them got wrong.
    kinds
        Of a mix, how many questions that meet every bound are far.
    """

    rows: list[int] = field(default_factory=list)
    looked_at: int = 0
    sure: int = 0
    met: Counter[str] = field(default_factory=Counter)
    kinds: Counter[bool] = field(default_factory=Counter)

    @property
    def hopeless(self) -> bool:
        """Whether deciders were right on too many questions to continue."""
        return self.met["asked"] >= _MOST_ASKED and not self.met["resist"]

    def problem(self, scenario: str, difficulty: Difficulty, resistance: Resistance | None) -> str:
        """Return the results, bound by bound, and the tightest bound."""
        bounds = _bounds(difficulty)
        parts = [f"{self.met[name]} {text}" for name, text in bounds.items()]
        if difficulty.mix is not None:
            parts.append(f"{self.kinds[False]} that meet every bound are direct")
            parts.append(f"{self.kinds[True]} that meet every bound are far")
        if resistance is not None:
            parts.append(
                f"{self.met['asked']} were put to the deciders, who were all wrong on "
                f"{self.met['resist']} ({resistance.told()})"
            )
        few, many = min(self.rows, default=0), max(self.rows, default=0)
        size = f"{few}" if few == many else f"{few} to {many}"
        there = f" Of these, {'; '.join(parts)}." if parts else ""
        return (
            f"No question of '{scenario}' is left: {counted(len(self.rows), 'world')} of {size} "
            f"rows were drawn and {self.looked_at} questions looked at, of which {self.sure} have "
            f"one sure answer.{there} {self._advice(difficulty, bounds)}"
        )

    def _advice(self, difficulty: Difficulty, bounds: dict[str, str]) -> str:
        if not self.sure:
            return "Ask for other worlds: larger ones, or another seed."
        met = {name: self.met[name] for name in bounds}
        if self.met["asked"]:
            met["resist"] = self.met["resist"]
        mix = difficulty.mix
        if mix is not None and 2 * min(met.values(), default=self.sure) >= self.sure:
            few = min(
                (far for far, share in ((False, mix.direct), (True, mix.far)) if share),
                key=self.kinds.__getitem__,
            )
            met["hops" if few and difficulty.hops > _FAR else "mix"] = self.kinds[few]
        tight = min(met, key=met.__getitem__, default="sure")
        return f"Too tight is {tight}: ask for {_ADVICE[tight]}, or for larger worlds."


def _bounds(difficulty: Difficulty) -> dict[str, str]:
    """Return the bounds that were set, each with a text about the questions that meet it."""
    usual, least, most = Difficulty(), difficulty.min_margin, difficulty.max_margin
    found: dict[str, str] = {}
    if difficulty.hops > usual.hops:
        whom = "an answer" if difficulty.mix is None else "a direct answer or one"
        found["hops"] = f"have {whom} at least {difficulty.hops} steps away"
    if difficulty.rivals != usual.rivals:
        found["rivals"] = f"have {difficulty.rivals} or more candidates better than doing nothing"
    if (least, most) != (usual.min_margin, usual.max_margin):
        bound = "" if math.isinf(most) else f" and at most {most}"
        found["margins"] = f"have a margin of at least {least}{bound}"
    return found
