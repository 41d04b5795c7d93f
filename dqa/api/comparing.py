"""Comparing contestants on the same questions: deciders of one run, or of several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from dqa.api.reading import read_run
from dqa.api.runs import Run
from dqa.core.errors import UnknownNameError, UsageError
from dqa.core.text import counted
from dqa.evaluation.record import require_questions
from dqa.evaluation.results import Result
from dqa.evaluation.spec import RunSpec
from dqa.evaluation.statistics.comparing import Asked, Comparison, Contestant, compare_contestants
from dqa.evaluation.statistics.same_questions import match_questions, renamed
from dqa.evaluation.statistics.summaries import grouped


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
    names, differing = match_questions([run.results for run in read], _labels(read))
    found = _contestants(read, names, deciders, scenario, times=times)
    if len(found) < 2:
        raise UsageError(
            f"There is nothing to compare: {_named(found)} took part. Name a run with several "
            "deciders, or several runs."
        )
    _require_one_truth(found)
    found, left_out = _on_shared_questions(found, differing, only_shared=only_shared)
    compared = compare_contestants(
        found,
        None if against is None else _one_named(found, against),
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
    """Raise where runs do not count the same answers as right."""
    specs = [run.spec for run in runs if isinstance(run.spec, RunSpec)]
    if len({spec.strict_official for spec in specs}) > 1:
        strict = [_place(run) for run in runs if run.strict_official]
        raise UsageError(
            f"Only the official answer is right in {', '.join(strict)}, and every tie of the best "
            "in the others: evaluate again with, or without, --strict-official."
        )
    if len({spec.rule_set for spec in specs}) > 1:
        named = [(_place(run), run.spec) for run in runs]
        told = [f"{place} {spec.rule_set or 'the usual'}" for place, spec in named if spec]
        raise UsageError(
            f"The runs follow different rule sets: {', '.join(told)}. Evaluate again with one "
            "--rule-set."
        )


def _place(run: Run) -> str:
    return "the run" if run.place is None else str(run.place)


def _contestants(
    runs: Sequence[Run],
    names: Sequence[Mapping[str, str]],
    deciders: Sequence[str],
    scenario: str | None,
    *,
    times: bool,
) -> list[Contestant]:
    decided = [[renamed(r, new) for r in run.results] for run, new in zip(runs, names, strict=True)]
    known = {result.decider for results in decided for result in results}
    for name in deciders:
        if name not in known:
            raise UnknownNameError("decider", name, known)
    scenarios = {result.scenario for results in decided for result in results}
    if scenario is not None and scenario not in scenarios:
        raise UnknownNameError("scenario", scenario, scenarios)
    found = []
    for run, label, new, results in zip(runs, _labels(runs), names, decided, strict=True):
        wanted = [r for r in results if scenario in {None, r.scenario}]
        seconds = {
            key._replace(question=new.get(key.question, key.question)): took
            for key, took in (run.seconds if times else {}).items()
        }
        found += [
            Contestant(
                name=decider if label is None else f"{label}:{decider}",
                results=tuple(of_decider),
                run=label,
                cost=None if run.prices is None else run.prices.cost,
                seconds=seconds if times else None,
            )
            for decider, of_decider in grouped(wanted, lambda r: r.decider).items()
            if not deciders or decider in deciders
        ]
    if deciders:
        found.sort(key=lambda one: deciders.index(one.decider))
    return found


def _labels(runs: Sequence[Run]) -> list[str | None]:
    """Return what each of several runs is called: the last part of its place that tells it."""
    if len(runs) == 1:
        return [None]
    names = [str(number) if run.name is None else run.name for number, run in enumerate(runs, 1)]
    if len(set(names)) == len(names):
        return list(names)
    return [f"{number}-{name}" for number, name in enumerate(names, 1)]


def _one_named(found: Sequence[Contestant], name: str) -> Contestant:
    """Return the contestant of a name, or of its decider's name where one alone has that."""
    for one in found:
        if one.name == name:
            return one
    of_decider = [one for one in found if one.decider == name]
    if len(of_decider) > 1:
        raise UsageError(
            f"Several contestants are {name}: {', '.join(one.name for one in of_decider)}. Name "
            "one of them (against, --against)."
        )
    if not of_decider:
        raise UnknownNameError("contestant", name, [one.name for one in found])
    return of_decider[0]


def _require_one_truth(found: Sequence[Contestant]) -> None:
    """Raise where a question of one name has other right answers, so is another question."""
    first: dict[str, tuple[str, Result]] = {}
    for one in found:
        for result in one.results:
            name, other = first.setdefault(result.question, (one.name, result))
            if _is_another(result, other):
                raise UsageError(
                    f"{result.question} is not the same question for {name} and {one.name}: what "
                    "is right differs. Compare runs on one set of questions (the same release, "
                    "seed or file)."
                )


def _is_another(result: Result, other: Result) -> bool:
    if result.situation != other.situation and None not in {result.situation, other.situation}:
        return True
    if not (result.ties and other.ties):
        return False  # what a failing server ended was judged by nobody
    if result.official != other.official or result.match != other.match:
        return True
    # Of very many ties a line holds some, and the choice.
    most = min(len(result.ties), len(other.ties)) - 1 or 1
    return result.ties[:most] != other.ties[:most]


def _on_shared_questions(
    found: Sequence[Contestant], differing: Sequence[str], *, only_shared: bool
) -> tuple[list[Contestant], int]:
    """Return the contestants with the questions that all were asked, and how many others had."""
    asked = [set(one.asked) for one in found]
    shared, every = set.intersection(*asked), set.union(*asked)
    if shared == every:
        return list(found), 0
    reason = f"{_where(found)}{_examples(differing)}"
    if not shared:
        raise UsageError(f"They share no question on one database: {_counted(found)}.{reason}")
    if not only_shared:
        raise UsageError(
            f"They were asked different questions: {_counted(found)}, of which all share "
            f"{_questions(shared)}. --shared (only_shared=True) compares on these.{reason}"
        )
    limited = [
        replace(one, results=tuple(r for r in one.results if (r.question, r.database) in shared))
        for one in found
    ]
    return limited, len(every) - len(shared)


def _counted(found: Iterable[Contestant]) -> str:
    return ", ".join(f"{one.name} {counted(_questions(one.asked), 'question')}" for one in found)


def _questions(asked: Iterable[Asked]) -> int:
    """Return how many questions there are, on however many databases each was asked."""
    return len({question for question, _ in asked})


def _where(found: Iterable[Contestant]) -> str:
    """Return which databases each was asked on, where these differ."""
    databases: Mapping[str, str] = {
        one.name: ", ".join(sorted({database for _, database in one.asked})) for one in found
    }
    if len(set(databases.values())) == 1:
        return ""
    return f" Databases: {'; '.join(f'{name} on {on}' for name, on in databases.items())}."


def _examples(differing: Sequence[str]) -> str:
    """Return how some questions of one name differ."""
    more = f", and {len(differing) - _SHOWN} more" if len(differing) > _SHOWN else ""
    return f" {'; '.join(differing[:_SHOWN])}{more}." if differing else ""


def _named(found: Iterable[Contestant]) -> str:
    return ", ".join(f"'{one.name}'" for one in found) or "nobody"
