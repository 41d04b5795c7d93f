"""The same question in several runs: equal text, rules, candidates and data, whatever its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from dqa.evaluation.results import Result

Content: TypeAlias = tuple[str | None, str | None]
"""The content of a question: digests of text, rules and candidates, and its data."""


def match_questions(
    runs: Sequence[Sequence[Result]],
    labels: Sequence[str | None],
    unknown: Sequence[str | None] = (),
) -> tuple[list[dict[str, str]], list[str]]:
    """Return each run's new names of questions, and how questions of one name differ.

    A question has the name that the first run with its content gives it.

    Parameters
    ----------
    runs
        The results of each run.
    labels
        What the runs are called.
    unknown
        By run, the content of its questions if results of older versions have none; without it
        the names of these stay.
    """
    known: dict[Content, list[str]] = {}
    contents: dict[str, Content] = {}
    renamed, differing = [], []
    for place, (results, label) in enumerate(zip(runs, labels, strict=True)):
        own: dict[Content, list[str]] = {}
        for result in {result.question: result for result in results}.values():
            if result.content is not None:
                own.setdefault((result.content, result.situation), []).append(result.question)
            elif unknown:
                own.setdefault((unknown[place], result.question), []).append(result.question)
        names: dict[str, str] = {}
        for content, asked in own.items():
            before = known.setdefault(content, [])
            names |= zip(asked, before, strict=False)
            for name in asked[len(before) :]:
                names[name] = name
                if name in contents:
                    differing.append(
                        f"{name} has {_difference(contents[name], content)} in {label}"
                    )
                    names[name] = f"{name} ({label})"
                before.append(names[name])
                contents[names[name]] = content
        renamed.append(names)
    return renamed, differing


def renamed(result: Result, names: Mapping[str, str]) -> Result:
    """Return a result with the name that its question has in all runs."""
    name = names.get(result.question, result.question)
    if name == result.question:
        return result
    return result.model_copy(update={"question": name, "scenario": name.partition("/")[0]})


def _difference(one: Content, other: Content) -> str:
    parts = [*zip((one[0] or "").split("."), (other[0] or "").split("."), strict=False)]
    named = zip(("text", "rules", "candidates", "data"), [*parts, (one[1], other[1])], strict=False)
    return " and ".join(f"other {part}" for part, (mine, its) in named if mine != its)
