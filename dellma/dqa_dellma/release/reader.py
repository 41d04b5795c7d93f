"""The reader of the DeLLMa release, for an entry point of the group ``dqa.readers``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from dqa.core.errors import UnknownNameError
from dqa.core.question_set import QuestionSet
from dqa.core.situation import Situation
from dqa.core.truth import LabelledQuestion
from dqa.loaders.release_layout import Form
from dqa_dellma.release.questions import make_agriculture_questions, make_stocks_questions


class DellmaReleaseReader:
    """Read the 240 questions of the DeLLMa release, with their outcomes.

    Attributes
    ----------
    name
        The name of the release in messages.
    rule_set
        The rule set that the answers follow.
    """

    name = "the DeLLMa release"
    rule_set = "released"
    in_place = False

    def recognises(self, folder: Path) -> bool:
        """Return whether a folder contains crop statistics or files of stock prices."""
        prices = folder / "data" / "stocks"
        return (folder / "data" / "agriculture" / "stats").is_dir() or any(prices.glob("*.csv"))

    def read(
        self,
        folder: Path,
        *,
        scenarios: Sequence[str] | None = None,
        form: Form = "relational",
        limit: int | None = None,
    ) -> QuestionSet:
        """Read the questions.

        Parameters
        ----------
        folder
            The folder of the release, which contains ``data``.
        scenarios
            ``agriculture``, ``stocks`` or both. Other names are ignored. None means the scenarios
            whose data the folder contains.
        form
            Unused: the release has only one form of its data.
        limit
            Unused: the release always has the same two databases.

        Returns
        -------
        QuestionSet
            The questions, ordered by scenario, number of candidates and name, such as
            ``agriculture/apple-avocado``. `Truth.outcomes` are dollars per acre in 2022, or the
            gain per dollar from 2023-12-01 (open) to 2023-12-29 (close).

        Raises
        ------
        ParseError
            A file is missing or cannot be read.
        DataError
            A fruit or stock lacks the figures that its questions need.
        UnknownNameError
            The release contains none of the named scenarios.
        """
        del form, limit
        parts = [_MAKERS[name](folder) for name in _wanted(folder, scenarios)]
        return QuestionSet.of(
            folder.resolve().name,
            [question for questions, _ in parts for question in questions],
            {situation.name: situation for _, situation in parts},
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
