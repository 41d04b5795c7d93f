"""What a search for questions found: for the message where it finds none."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

from dqa.core.text import counted
from dqa.scenarios.generation import Difficulty, Resistance

_RELAXED = {
    "hops": "fewer hops",
    "rivals": "fewer rivals",
    "margins": "wider margins",
    "mix": "another mix",
    "resist": "fewer deciders to resist",
    "sure": "other worlds",
}
"""By bound, what to ask for where it is too tight."""

_FAR = 2
"""Steps from which an answer is far; where more are asked for, fewer can be."""

_MOST_ASKED = 1000
"""After so many questions put to deciders, none of which is kept, the search ends."""


class Tally:
    """Counts the questions that were looked at, and how many of them met each bound."""

    def __init__(self) -> None:
        self._rows: list[int] = []
        self._looked_at = 0
        self._sure = 0
        self._met: Counter[str] = Counter()
        self._kinds: Counter[bool] = Counter()

    def world(self, rows: int) -> None:
        """Count a world that was drawn."""
        self._rows.append(rows)

    def questions(self, count: int) -> None:
        """Count questions that were looked at."""
        self._looked_at += count

    def sure(self, met: Iterable[str]) -> None:
        """Count a question with one sure answer, and the bounds that it meets."""
        self._sure += 1
        self._met.update(met)

    def kind(self, far: bool) -> None:
        """Count a question of a mix that meets every bound."""
        self._kinds[far] += 1

    def resisted(self, asked: int, kept: int) -> None:
        """Count questions that deciders were asked, and those that they got wrong."""
        self._met.update({"asked": asked, "resist": kept})

    @property
    def hopeless(self) -> bool:
        """Whether deciders were right on so many questions that asking on is of no use."""
        return self._met["asked"] >= _MOST_ASKED and not self._met["resist"]

    def problem(self, scenario: str, difficulty: Difficulty, resistance: Resistance | None) -> str:
        """Return what there was, bound by bound, and which of them is too tight."""
        bounds = _bounds(difficulty)
        parts = [f"{self._met[name]} {said}" for name, said in bounds.items()]
        if difficulty.mix is not None:
            parts.append(
                f"{self._kinds[False]} of those that meet every bound are direct and "
                f"{self._kinds[True]} far"
            )
        if resistance is not None:
            parts.append(
                f"{self._met['asked']} were put to the deciders, who were all wrong on "
                f"{self._met['resist']} ({resistance.told()})"
            )
        tight = self._advice(difficulty, bounds)
        few, many = min(self._rows, default=0), max(self._rows, default=0)
        rows = f"{few}" if few == many else f"{few} to {many}"
        there = f" Of these, {'; '.join(parts)}." if parts else ""
        return (
            f"No question of '{scenario}' is left: "
            f"{counted(len(self._rows), 'world')} of {rows} rows were "
            f"drawn and {self._looked_at} questions looked at, of which {self._sure} have one sure "
            f"answer.{there} {tight}"
        )

    def _advice(self, difficulty: Difficulty, bounds: Iterable[str]) -> str:
        if not self._sure:
            return "Ask for other worlds: larger ones, or another seed."
        met = {name: self._met[name] for name in bounds}
        if self._met["asked"]:
            met["resist"] = self._met["resist"]
        if difficulty.mix is not None and 2 * min(met.values(), default=self._sure) >= self._sure:
            shares = {False: difficulty.mix.direct, True: difficulty.mix.far}
            few = min((far for far, share in shares.items() if share), key=self._kinds.__getitem__)
            met["hops" if few and difficulty.hops > _FAR else "mix"] = self._kinds[few]
        tight = min(met, key=met.__getitem__, default="sure")
        return f"Too tight is {tight}: ask for {_RELAXED[tight]}, or for larger worlds."


def _bounds(difficulty: Difficulty) -> dict[str, str]:
    """Return what is said of the questions that meet each bound that was set."""
    usual = Difficulty()
    said: dict[str, str] = {}
    if difficulty.hops > usual.hops:
        whom = "an answer" if difficulty.mix is None else "a direct answer or one"
        said["hops"] = f"have {whom} at least {difficulty.hops} steps away"
    if difficulty.rivals != usual.rivals:
        said["rivals"] = f"have {difficulty.rivals} or more candidates that are better than nothing"
    if (difficulty.min_margin, difficulty.max_margin) != (usual.min_margin, usual.max_margin):
        most = "" if math.isinf(difficulty.max_margin) else f" and at most {difficulty.max_margin}"
        said["margins"] = f"have a margin of at least {difficulty.min_margin}{most}"
    return said
