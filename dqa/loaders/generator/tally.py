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
        texts = _bounds(difficulty)
        met = {name: self.met[name] for name in texts}
        parts = [f"{met[name]} {text}" for name, text in texts.items()]
        if difficulty.mix is not None:
            wanted = {"direct": difficulty.mix.direct, "far": difficulty.mix.far}
            kinds = {name: self.kinds[name == "far"] for name in wanted}
            parts += [f"{kinds[name]} that meet every bound are {name}" for name in wanted]
            met["mix"] = min(kinds[name] for name, share in wanted.items() if share)
        if resistance is not None:
            met["resist"] = self.met["resist"]
            parts.append(
                f"{self.met['asked']} were put to the deciders, who were all wrong on "
                f"{met['resist']} ({resistance.told()})"
            )
        few, many = min(self.rows, default=0), max(self.rows, default=0)
        size = f"{few}" if few == many else f"{few} to {many}"
        counts = f" Of these, {'; '.join(parts)}." if parts else ""
        advice = "Ask for other worlds: larger ones, or another seed."
        if self.sure:
            tight = min(met, key=met.__getitem__, default="sure")
            advice = f"Too tight is {tight}: ask for {_ADVICE[tight]}, or for larger worlds."
        return (
            f"No question of '{scenario}' is left: {counted(len(self.rows), 'world')} of {size} "
            f"rows were drawn and {self.looked_at} questions searched; {self.sure} have one sure "
            f"answer.{counts} {advice}"
        )


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
