"""The reader of the DeLLMa release, as the entry point ``dqa.readers`` names it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from dqa.core.errors import UnknownNameError
from dqa.core.question_set import QuestionSet
from dqa.core.situation import Situation
from dqa.core.truth import LabelledQuestion
from dqa.loaders.base import WHOLE, Part
from dqa.loaders.release_layout import Form
from dqa_dellma.release.questions import make_agriculture_questions, make_stocks_questions


class DellmaReleaseReader:
    """Reads the 240 questions of the DeLLMa release, with what happened.

    Attributes
    ----------
    name
        What messages call it.
    rule_set
        The rule set that its answers follow.
    """

    name = "the DeLLMa release"
    rule_set = "released"
    in_place = False

    def recognises(self, folder: Path) -> bool:
        """Whether a folder looks like it: with statistics of crops, or files of prices."""
        prices = folder / "data" / "stocks"
        return (folder / "data" / "agriculture" / "stats").is_dir() or any(prices.glob("*.csv"))

    def read(
        self,
        folder: Path,
        *,
        scenarios: Sequence[str] | None = None,
        form: Form = "relational",
        part: Part = WHOLE,
    ) -> QuestionSet:
        """Read the questions.

        Parameters
        ----------
        folder
            The release: the folder that holds ``data``.
        scenarios
            ``agriculture``, ``stocks``; None for those with data. Other names are
            ignored.
        form
            Of no use here: the release has one form of its data.
        part
            Unused: all questions share two databases.

        Returns
        -------
        QuestionSet
            Questions by scenario, number of candidates and name, e.g.
            ``agriculture/apple-avocado``. `Truth.outcomes` are dollars an acre in 2022, and
            the gain of a dollar from 2023-12-01 (open) to 2023-12-29 (close).

        Raises
        ------
        ParseError
            A file is missing or cannot be read.
        DataError
            A fruit or stock lacks the figures that its questions need.
        UnknownNameError
            The release has none of `scenarios`.
        """
        del form, part
        made = [_MAKERS[name](folder) for name in _wanted(folder, scenarios)]
        return QuestionSet.of(
            folder.resolve().name,
            [question for questions, _ in made for question in questions],
            {situation.name: situation for _, situation in made},
            (),
        )


READER = DellmaReleaseReader()


def _wanted(folder: Path, scenarios: Sequence[str] | None) -> Sequence[str]:
    if scenarios is None:
        return [n for n in _MAKERS if (folder / "data" / n).is_dir()] or list(_MAKERS)
    if wanted := [name for name in _MAKERS if name in scenarios]:
        return wanted
    raise UnknownNameError("scenario of the DeLLMa release", ", ".join(scenarios), _MAKERS)


_MAKERS: Mapping[str, Callable[[Path], tuple[tuple[LabelledQuestion, ...], Situation]]] = {
    "agriculture": make_agriculture_questions,
    "stocks": make_stocks_questions,
}
