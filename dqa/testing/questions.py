"""The fixture that generates questions."""

from __future__ import annotations

from typing import Any

from dqa.api.generating import generate
from dqa.core.question_set import QuestionSet


class QuestionMaker:
    """Generates question sets, each once (fixture ``dqa_questions``).

    A question set cannot be changed, so tests may share one.
    """

    def __init__(self) -> None:
        self._made: dict[str, QuestionSet] = {}

    def __call__(
        self,
        *scenarios: str,
        count: int = 2,
        seed: int = 0,
        **options: Any,  # noqa: ANN401  (those of `generate`)
    ) -> QuestionSet:
        """Generate `count` questions of each scenario, with their databases and answers.

        Parameters
        ----------
        scenarios
            By name; none for all that can be generated.
        count, seed, **options
            As `dqa.generate` takes them. The same arguments give the same questions everywhere.

        Raises
        ------
        UsageError, UnknownNameError
            As `dqa.generate`.
        """
        key = repr((scenarios, count, seed, sorted(options.items())))
        if key not in self._made:
            self._made[key] = generate(scenarios or None, count, seed, **options)
        return self._made[key]
