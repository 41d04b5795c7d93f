"""Comparing contestants on the same questions: deciders of one run, or of several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from dqa.api.runs import Run
from dqa.api.stored import read_run
from dqa.core.errors import UnknownNameError, UsageError
from dqa.core.text import counted
from dqa.evaluation.record import require_questions
from dqa.evaluation.results import Result
from dqa.evaluation.spec import RunSpec
from dqa.evaluation.statistics.comparing import Asked, Comparison, Contestant, compare_contestants
from dqa.evaluation.statistics.pairs import match_questions, renamed


def compare(  # noqa: PLR0913  (each is a question of its own to the caller)
    *runs: Run | Path | str,
    deciders: Sequence[str] = (),
    against: str | None = None,
    scenario: str | None = None,
    only_shared: bool = False,
    times: bool = False,
    all_pairs: bool = False,
) -> Comparison:
    """Compare deciders, of one run or of several, on the questions that they share.

    With several runs every contestant is called ``RUN:DECIDER``, and if they share deciders the
    same decider is compared across runs. Questions are the same if their text, rules, candidates
    and data are the same, whatever their names and files.

    Parameters
    ----------
    runs
        What `evaluate` returned, or where runs are kept.
    deciders
        Only these; by default all that took part.
    against
        The contestant to compare each of the others with. Fewer comparisons cost less correction.
        With several runs a decider's name alone will do where one run has it.
    all_pairs
        Compare every two, also of several runs that share deciders.
    scenario
        Only the questions of this one.
    only_shared
        Compare on the questions that all were asked, where not all were asked the same.
    times
        Also tell how long decisions took, for which all traces are read.

    Raises
    ------
    UsageError
        There is only one contestant, or none was asked anything; they were asked different
        questions, which the message counts; or the runs count different answers as right.
    UnknownNameError
        No run has such a decider or scenario, or no contestant that name.
    """
    read = [run if isinstance(run, Run) else read_run(run) for run in runs]
    for run in read:
        require_questions(run.spec, _place(run), _NO_COMPARISON)
    _require_one_scoring(read)
    labels = _labels(read)
    names, differing = match_questions([run.results for run in read], labels)
    found = _contestants(read, labels, names, times=times)
    if scenario is not None:
        found = _of_scenario(found, scenario)
    if deciders:
        found = [one for name in deciders for one in _of_decider(found, name)]
    if len(found) < 2:
        taking_part = ", ".join(f"'{one.name}'" for one in found) or "no decider"
        raise UsageError(
            f"There is nothing to compare: {taking_part} took part. Name a run with several "
            "deciders, or several runs."
        )
    _require_one_truth(found)
    found, left_out = _on_shared_questions(found, differing, only_shared=only_shared)
    compared = compare_contestants(
        found,
        None if against is None else _find_contestant(found, against),
        same_decider=not all_pairs,
        only_shared=left_out,
        strict_official=read[0].strict_official,
    )
    if not compared.pairs:
        raise UsageError(
            "No question was judged for two contestants: 'dqa results RUN --failed' says why."
        )
    return compared


_SHOWN = 3
"""Questions that a message names."""
_NO_COMPARISON = (
    "what is compared are right decisions; 'dqa results' prints every player against every "
    "opponent, on the same deals."
)


def _require_one_scoring(runs: Sequence[Run]) -> None:
    """Raise `UsageError` if the runs do not count the same answers as right."""
    specs = [(_place(run), run.spec) for run in runs if isinstance(run.spec, RunSpec)]
    strict = [place for place, spec in specs if spec.strict_official]
    if 0 < len(strict) < len(specs):
        raise UsageError(
            f"Only the official answer is right in {', '.join(strict)}, and every tie of the best "
            "in the others: evaluate again with, or without, --strict-official."
        )
    if len({spec.rule_set for _, spec in specs}) > 1:
        told = ", ".join(f"{place} {spec.rule_set or 'the usual'}" for place, spec in specs)
        raise UsageError(
            f"The runs follow different rule sets: {told}. Evaluate again with one --rule-set."
        )


def _place(run: Run) -> str:
    return "the run" if run.location is None else str(run.location)


def _contestants(
    runs: Sequence[Run],
    labels: Sequence[str | None],
    names: Sequence[Mapping[str, str]],
    *,
    times: bool,
) -> list[Contestant]:
    """Return the deciders of all runs, with their decisions under the new names of questions."""
    found = []
    for run, label, new in zip(runs, labels, names, strict=True):
        took = run.seconds if times else {}
        decided: dict[str, list[Result]] = {}
        seconds = {}
        for result in run.results:
            named = renamed(result, new)
            decided.setdefault(result.decider, []).append(named)
            if result.key in took:
                seconds[named.key] = took[result.key]
        for decider, results in decided.items():
            name = decider if label is None else f"{label}:{decider}"
            cost = None if run.prices is None else run.prices.cost
            timed = seconds if times else None
            found.append(Contestant(name, tuple(results), label, cost, timed))
    return found


def _of_scenario(found: Sequence[Contestant], scenario: str) -> list[Contestant]:
    known = {result.scenario for one in found for result in one.results}
    if scenario not in known:
        raise UnknownNameError("scenario", scenario, known)
    asked = [(one, tuple(r for r in one.results if r.scenario == scenario)) for one in found]
    return [replace(one, results=results) for one, results in asked if results]


def _labels(runs: Sequence[Run]) -> list[str | None]:
    """Return the names of several runs in the comparison, numbered if two are the same."""
    if len(runs) == 1:
        return [None]
    names = [run.name or str(number) for number, run in enumerate(runs, 1)]
    if len(set(names)) == len(names):
        return list(names)
    return [f"{number}-{name}" for number, name in enumerate(names, 1)]


def _of_decider(found: Sequence[Contestant], name: str) -> list[Contestant]:
    of_decider = [one for one in found if one.decider == name]
    if not of_decider:
        raise UnknownNameError("decider", name, {one.decider for one in found})
    return of_decider


def _find_contestant(found: Sequence[Contestant], name: str) -> Contestant:
    """Return the contestant of a name, or the only one of a decider's name."""
    named = [one for one in found if name == one.name] or [
        one for one in found if name == one.decider
    ]
    if len(named) > 1:
        raise UsageError(
            f"Several contestants are {name}: {', '.join(one.name for one in named)}. Name "
            "one of them (against, --against)."
        )
    if not named:
        raise UnknownNameError("contestant", name, [one.name for one in found])
    return named[0]


def _require_one_truth(found: Sequence[Contestant]) -> None:
    """Raise `UsageError` if the right answers to one question differ."""
    first: dict[str, tuple[str, Result]] = {}
    for one in found:
        for result in one.results:
            if not result.ties:  # a failing server ended it before it was judged
                continue
            name, other = first.setdefault(result.question, (one.name, result))
            # Of very many ties a result has some, and the choice.
            most = max(1, min(len(result.ties), len(other.ties)) - 1)
            truth, known = (
                (each.situation, each.official, each.match, each.ties[:most])
                for each in (result, other)
            )
            if truth != known:
                raise UsageError(
                    f"{result.question} is not the same question for {name} and {one.name}: what "
                    "is right differs. Compare runs on one set of questions (the same release, "
                    "seed or file)."
                )


def _on_shared_questions(
    found: Sequence[Contestant], differing: Sequence[str], *, only_shared: bool
) -> tuple[list[Contestant], int]:
    """Return the contestants with the questions that all were asked, and how many others had."""
    asked = {one.name: set(one.asked) for one in found}
    shared, every = set.intersection(*asked.values()), set.union(*asked.values())
    if shared == every:
        return list(found), 0
    if not only_shared or not shared:
        counts = ", ".join(
            f"{name} {counted(_count_questions(keys), 'question')}" for name, keys in asked.items()
        )
        reason = f"{_where(asked)}{_examples(differing)}"
        if not shared:
            raise UsageError(f"They share no question on one database: {counts}.{reason}")
        raise UsageError(
            f"They were asked different questions: {counts}, of which all share "
            f"{_count_questions(shared)}. --shared (only_shared=True) compares on these.{reason}"
        )
    limited = [
        replace(one, results=tuple(r for r in one.results if (r.question, r.database) in shared))
        for one in found
    ]
    return limited, len(every) - len(shared)


def _count_questions(asked: Iterable[Asked]) -> int:
    """Return the number of questions, on however many databases each was asked."""
    return len({question for question, _ in asked})


def _where(asked: Mapping[str, Iterable[Asked]]) -> str:
    """Return the databases of each contestant, if they differ."""
    databases = {
        name: ", ".join(sorted({database for _, database in keys})) for name, keys in asked.items()
    }
    if len(set(databases.values())) == 1:
        return ""
    return f" Databases: {'; '.join(f'{name} on {on}' for name, on in databases.items())}."


def _examples(differing: Sequence[str]) -> str:
    """Return how some questions of one name differ."""
    more = f", and {len(differing) - _SHOWN} more" if len(differing) > _SHOWN else ""
    return f" {'; '.join(differing[:_SHOWN])}{more}." if differing else ""
