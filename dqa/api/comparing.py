"""Compare deciders on shared questions, and players on shared deals."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from dqa.api.runs import Run, name_runs
from dqa.api.stored import open_run
from dqa.core.errors import UnknownNameError, UsageError
from dqa.core.text import counted
from dqa.evaluation.play_spec import PlaySpec
from dqa.evaluation.record import require_questions
from dqa.evaluation.results import MOST_TIES
from dqa.evaluation.statistics.comparing import Comparison, Contestant, compare_contestants, limited
from dqa.evaluation.statistics.games import PlayFigures, count_games
from dqa.evaluation.statistics.pairs import match_questions, renamed
from dqa.evaluation.statistics.summaries import grouped


def compare(
    *runs: Run | Path | str,
    deciders: Sequence[str] = (),
    only_shared: bool = False,
    times: bool = False,
) -> Comparison:
    """Compare the deciders of one or more runs on the questions that they share.

    A contestant is a decider of one run. With several runs, it is called ``RUN:DECIDER``. If
    several runs have the same decider, only pairs of contestants with the same decider are
    compared. Two questions are the same if their text, rules, candidates and data are equal; their
    names and files may differ.

    Parameters
    ----------
    runs
        Runs that `evaluate` returned, or the locations of runs.
    deciders
        The deciders or contestants to compare; by default all. If a contestant is named, all pairs
        are compared.
    only_shared
        Whether to use only the shared questions if contestants were asked different questions.
        Otherwise different questions are an error.
    times
        Whether to also compare the durations of decisions.

    Raises
    ------
    UsageError
        There are fewer than two contestants with questions; the contestants were asked different
        questions; or the runs score answers differently.
    UnknownNameError
        No run has a decider of a given name.
    """
    read = [open_run(run) for run in runs]
    for run in read:
        require_questions(run.spec, run.where, _NO_COMPARISON)
    _require_one_scoring(read)
    asked = find_contestants(read, times=times)
    found = _select([*asked.by_run.values()], deciders)
    _require_one_truth(found)
    found, left_out = _on_shared_questions(found, asked.differing, only_shared=only_shared)
    compared = compare_contestants(
        found,
        only_shared=left_out,
        strict_official=read[0].strict_official,
        every_pair=any(one.name in deciders for one in found),
    )
    if not compared.pairs:
        raise UsageError(
            "There is no question for which decisions of two contestants were judged. 'dqa show "
            "RUN --failed' lists the decisions that were not judged."
        )
    return compared


def compare_games(*runs: Run | Path | str, players: Sequence[str] = ()) -> PlayFigures:
    """Compare the players of one or more runs of games on the deals that they share.

    With several runs, every player is called ``RUN:PLAYER``. If several runs have the same player,
    only pairs with the same player are compared. Differences are paired by deal and by the
    opponent's name.

    Parameters
    ----------
    runs
        Runs that `play` returned, or the locations of runs.
    players
        The players to compare; by default all. If a player is named as ``RUN:PLAYER``, all pairs
        are compared.

    Raises
    ------
    UsageError
        A run is not of games, the runs are of different worlds, or no two players share a deal.
    UnknownNameError
        No run has a player of a given name.
    """
    read = [open_run(run) for run in runs]
    specs = [run.spec for run in read if isinstance(run.spec, PlaySpec)]
    worlds = {(one.world, *sorted(one.world_settings.items()), one.mirror) for one in specs}
    if len(specs) < len(read) or len(worlds) > 1:
        raise UsageError(
            "Players of several runs can be compared only on the same deals. All runs must be "
            "games of one world with the same settings and the same --mirror."
        )
    results, contestants = [], dict[str, str]()
    for run, label in zip(read, name_runs(read), strict=True):
        for result, game in ((one, one.game) for one in run.results if one.game is not None):
            name = f"{label}:{game.player}" if len(read) > 1 else game.player
            contestants[name] = game.player
            if not players or not {name, game.player}.isdisjoint(players):
                results.append(result.changed(game=game.changed(player=name)))
    _require_known("player", players, {*contestants, *contestants.values()})
    same = contestants if contestants.keys().isdisjoint(players) else {}
    found = count_games(results, mirrored=specs[0].mirror, contestants=same)
    if not found.differences:
        raise UsageError(
            "The players cannot be compared, because no two players finished the same deal."
        )
    return found


def _select(found: Sequence[Contestant], deciders: Sequence[str]) -> list[Contestant]:
    """Return the contestants whose own name or decider's name is in `deciders`.

    Raises
    ------
    UsageError
        There are fewer than two contestants.
    """
    names = {one.name: {one.name, one.decider} for one in found}
    _require_known("decider", deciders, set[str]().union(*names.values()))
    named = {one.name: one for of in deciders for one in found if of in names[one.name]}
    chosen = [*named.values()] if deciders else list(found)
    if len(chosen) < 2:
        taking_part = ", ".join(f"'{one.name}'" for one in chosen) or "no decider"
        raise UsageError(
            f"A comparison needs at least two contestants, but this one has only {taking_part}. "
            "Name a run with several deciders, or several runs."
        )
    return chosen


def _require_known(kind: str, names: Sequence[str], known: Collection[str]) -> None:
    for name in names:
        if name not in known:
            raise UnknownNameError(kind, name, known)


_SHOWN = 3
"""The maximum number of questions in a message."""
_NO_COMPARISON = (
    "dqa.compare compares answers to questions. To compare players, use dqa.compare_games, or 'dqa "
    "compare' with runs of games only."
)


def _require_one_scoring(runs: Sequence[Run]) -> None:
    """Raise `UsageError` if the runs score answers differently. Runs without a spec may differ."""
    rules, listed = set(), []
    for run in runs:
        if run.spec is None:
            continue
        rules.add((run.strict_official, run.spec.rule_set))
        right = "only the official answer" if run.strict_official else "every best answer"
        rule_set = run.spec.rule_set or "default"
        listed.append(f"{run.location or 'a run in memory'} ({right}, {rule_set} rules)")
    if len(rules) > 1:
        raise UsageError(
            f"The runs count different answers as right: {', '.join(listed)}. Evaluate all runs "
            "with the same --rule-set, and all or none with --strict-official."
        )


class Contestants(NamedTuple):
    """The deciders of runs. Equal questions have the same name in all runs.

    Attributes
    ----------
    by_run
        Each contestant, by the index of its run and the name of its decider.
    names
        The new names of the questions of each run.
    differing
        Descriptions of questions that have the same name but differ between runs.
    """

    by_run: Mapping[tuple[int, str], Contestant]
    names: Sequence[Mapping[str, str]]
    differing: Sequence[str]


def find_contestants(runs: Sequence[Run], *, times: bool = False) -> Contestants:
    """Return the deciders of all runs.

    Parameters
    ----------
    runs
        The runs.
    times
        Whether to read the durations of decisions.
    """
    labels = [None] if len(runs) == 1 else name_runs(runs)
    names, differing = match_questions([run.results for run in runs], labels)
    found = {}
    for index, (run, label) in enumerate(zip(runs, labels, strict=True)):
        results = [renamed(result, names[index]) for result in run.results]
        keys = zip(run.results, results, strict=True)
        seconds = (
            None
            if not times
            else {one.key: run.seconds[old.key] for old, one in keys if old.key in run.seconds}
        )
        for decider, own in grouped(results, lambda result: result.decider).items():
            cost = None if run.prices is None else run.prices.known_cost
            name = decider if label is None else f"{label}:{decider}"
            found[index, decider] = Contestant(name, tuple(own), label, cost, seconds)
    return Contestants(found, names, differing)


def require_comparable(runs: Sequence[Run], asked: Contestants) -> None:
    """Raise `UsageError` if the runs differ in their questions, right answers or scoring."""
    _require_one_scoring(runs)
    found = [*asked.by_run.values()]
    _require_one_truth(found)
    _on_shared_questions(
        found, asked.differing, hint="Evaluate the same questions, or report each run alone."
    )


def _require_one_truth(found: Sequence[Contestant]) -> None:
    """Raise `UsageError` if the right answers to one question differ."""
    first: dict[str, tuple[str, object]] = {}
    for one in found:
        for result in one.results:
            if not result.ties:  # not judged, because a server failed
                continue
            # In `ties`, the decider's own statement follows the gold statements if it is right.
            answers = result.ties[:1] if result.match is not None else result.ties[:MOST_TIES]
            truth = (result.situation, result.official, result.match is None, answers)
            name, known = first.setdefault(result.question, (one.name, truth))
            if truth != known:
                raise UsageError(
                    f"{result.question} has different right answers for {name} and {one.name}. "
                    "Compare runs on one set of questions (the same release, seed or file)."
                )


def _on_shared_questions(
    found: Sequence[Contestant],
    differing: Sequence[str],
    *,
    only_shared: bool = False,
    hint: str = "",
) -> tuple[list[Contestant], int]:
    """Limit all contestants to shared questions. Also return the number of questions left out."""
    questions_of = {one.name: set(one.asked) for one in found}
    shared, every = set.intersection(*questions_of.values()), set.union(*questions_of.values())
    if shared == every:
        return list(found), 0
    if shared and only_shared:
        on_shared = limited(found, lambda result: (result.question, result.database) in shared)
        return on_shared, len(every) - len(shared)
    counts = ", ".join(
        f"{name} {counted(len(dict(keys)), 'question')} on "
        f"{', '.join(sorted({database for _, database in keys}))}"
        for name, keys in questions_of.items()
    )
    if differing:
        more = f", and {len(differing) - _SHOWN} more" if len(differing) > _SHOWN else ""
        counts += f". {'; '.join(differing[:_SHOWN])}{more}"
    if shared and not hint:
        hint = "'dqa compare --shared' (only_shared=True) compares only on these questions."
    raise UsageError(
        f"The contestants were asked different questions: {counts}. All contestants share "
        f"{counted(len(dict(shared)), 'question')}. {hint}".rstrip()
    )
