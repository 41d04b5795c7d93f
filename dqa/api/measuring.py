"""Measure, compare and export runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeAlias, cast, get_args

from dqa import plugins
from dqa.api.running import default_deciders
from dqa.api.runs import Run, name_runs
from dqa.api.stored import AnyRun, find_questions, open_run
from dqa.core import files
from dqa.core.errors import UnknownNameError, UsageError
from dqa.core.question import Candidate, Question
from dqa.core.question_set import QuestionSet
from dqa.core.text import counted
from dqa.evaluation.findings import Analysis, read_cases
from dqa.evaluation.papers import PaperView, view_questions
from dqa.evaluation.results import MOST_TIES, Result
from dqa.evaluation.spec import PlaySpec, RunSpec
from dqa.evaluation.statistics.comparing import Asked, Comparison, Contestant, compare_contestants
from dqa.evaluation.statistics.games import PlayFigures, count_games
from dqa.evaluation.statistics.pairs import match_questions, renamed
from dqa.report.export_rows import ExportedDecision, encode_rows

_NO_ANALYSIS = (
    "an analysis separates right decisions from wrong ones, and games have none; 'dqa show' "
    "prints their figures."
)


def analyse(
    run: AnyRun,
    reference: str | None = None,
    *,
    questions: QuestionSet | Path | str | None = None,
    paper: str | None = None,
) -> Analysis:
    """Measure a run's traces: retrievals, re-plannings, missed data and classes of failures.

    Parameters
    ----------
    run
        The folder that an evaluation wrote, or a run of a store.
    reference
        The decider whose number of retrievals tells single-retrieval questions from others; by
        default the usual one, if it took part.
    questions
        The questions, or their folder if it has moved. By default they are read or generated
        again, which takes as long as when the run began. If that is not possible, the data that a
        question needs is not known, and all data counts (`Analysis.without_data`).
    paper
        The paper whose package analyses the run; by default the first one.

    Raises
    ------
    UsageError
        The folder holds no run, the reference's traces do not tell how often it retrieved, or the
        folder of questions does not hold the run's.
    DataError
        The folder of questions cannot be read.
    UnknownNameError
        The reference decided nothing here.
    """
    found = open_run(run)
    found.require_questions(_NO_ANALYSIS)
    cases = read_cases(found.reader)
    asked, lacking = (questions if isinstance(questions, QuestionSet) else None), None
    if any(case.has_steps for case in cases.judged):
        asked, lacking = find_questions(found, questions)
    if reference is None:
        took_part = {case.result.decider for case in cases.judged}
        usual = (name for name in default_deciders("reference") if name in took_part)
        reference = next(usual, None)
    analysis = plugins.analyse(paper)(cases, reference, asked)
    notes = [*analysis.notes, *cases.notes()]
    if analysis.without_data:
        notes.append(
            f"{counted(analysis.without_data, 'run')} whose questions are not available, so that "
            f"the values of any node count. {lacking or ''} Name their folder (--questions)."
        )
    models = dict.fromkeys(case.result.model for case in cases.judged)
    return analysis.changed(lacking=lacking, models=tuple(models), notes=tuple(notes))


def view_paper(
    run: AnyRun,
    paper: str,
    reference: str | None = None,
    *,
    questions: QuestionSet | Path | str | None = None,
) -> PaperView:
    """Compare a run's figures with those that a paper printed, table by table.

    Parameters
    ----------
    run, reference, questions
        As in `analyse`.
    paper
        The name of a paper, whose tables a method's package has.

    Raises
    ------
    UnknownNameError
        No package has such a paper.
    UsageError, DataError
        As in `analyse`.
    """
    publication, found = plugins.publication(paper), open_run(run)
    analysed = analyse(found, reference, questions=questions, paper=paper)
    strict = found.strict_official
    return view_questions(publication, found.summaries, analysed, strict_official=strict)


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
        What `evaluate` returned, or the locations of runs.
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
        Whether to compare the durations of decisions, too; this reads all traces.

    Raises
    ------
    UsageError
        There is only one contestant, or none was asked anything; they were asked different
        questions, which the message counts; or the runs count different answers as right.
    UnknownNameError
        No run has such a decider or scenario, or no contestant that name.
    """
    read = [open_run(run) for run in runs]
    for run in read:
        run.require_questions(_NO_COMPARISON)
    _require_one_scoring(read)
    found, differing = _contestants(read, times=times)
    found = _select(found, deciders, scenario)
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
            "No question was judged for two contestants: 'dqa show RUN --failed' says why."
        )
    return compared


def compare_games(
    *runs: Run | Path | str, players: Sequence[str] = (), against: str | None = None
) -> PlayFigures:
    """Compare players, of one run of games or of several, on the deals that they share.

    With several runs every player is called ``RUN:PLAYER``. The paired differences are those
    against opponents of the same name.

    Parameters
    ----------
    runs
        What `play` returned, or the locations of runs.
    players
        Only these; by default all that played.
    against
        The player to compare each of the others with; by default every two are compared.

    Raises
    ------
    UsageError
        A run is not of games, the runs are of different worlds, or no two players share a deal.
    UnknownNameError
        No run has such a player.
    """
    read = [open_run(run) for run in runs]
    specs = [run.spec for run in read if isinstance(run.spec, PlaySpec)]
    worlds = {(one.world, *sorted(one.world_settings.items()), one.mirror) for one in specs}
    if len(specs) < len(read) or len(worlds) > 1:
        raise UsageError(
            "The players of several runs are compared on the same deals: name runs of games of one "
            "world, with the same settings and the same --mirror."
        )
    labels: Sequence[str | None] = [None] if len(read) == 1 else name_runs(read)
    results, known = [], set[str]()
    for run, label in zip(read, labels, strict=True):
        for result, game in ((one, one.game) for one in run.results if one.game is not None):
            name = game.player if label is None else f"{label}:{game.player}"
            known |= {name, game.player}
            if not players or not {name, game.player}.isdisjoint(players):
                results.append(result.changed(game=game.changed(player=name)))
    for name in players:
        _require_known("player", name, known)
    if against is not None:
        _require_known("player", against, {one.game.player for one in results if one.game})
    found = count_games(results, mirrored=specs[0].mirror, against=against)
    if not found.differences:
        raise UsageError("There is nothing to compare: no two players finished the same deal.")
    return found


def _select(
    found: Sequence[Contestant], deciders: Sequence[str], scenario: str | None
) -> list[Contestant]:
    """Return the contestants of some deciders, with their results of one scenario."""
    if scenario is not None:
        _require_known("scenario", scenario, {r.scenario for one in found for r in one.results})
        found = _limited(found, lambda result: result.scenario == scenario)
        found = [one for one in found if one.results]
    for name in deciders:
        _require_known("decider", name, {one.decider for one in found})
    if not deciders:
        return list(found)
    return [one for name in deciders for one in found if one.decider == name]


def _limited(found: Sequence[Contestant], includes: Callable[[Result], bool]) -> list[Contestant]:
    """Return the contestants with some of their results."""
    return [replace(one, results=tuple(filter(includes, one.results))) for one in found]


def _require_known(kind: str, name: str, known: Collection[str]) -> None:
    if name not in known:
        raise UnknownNameError(kind, name, known)


_SHOWN = 3
"""Questions that a message names."""
_NO_COMPARISON = (
    "this compares right decisions; 'dqa compare' with runs of games alone (dqa.compare_games) "
    "compares players."
)


def _require_one_scoring(runs: Sequence[Run]) -> None:
    """Raise `UsageError` if the runs do not count the same answers as right."""
    specs = [
        (str(run.location or "a run in memory"), run.spec)
        for run in runs
        if isinstance(run.spec, RunSpec)
    ]
    strict = [where for where, spec in specs if spec.strict_official]
    if 0 < len(strict) < len(specs):
        raise UsageError(
            f"Only the official answer is right in {', '.join(strict)}, and every tie of the best "
            "in the others: evaluate again with, or without, --strict-official."
        )
    if len({spec.rule_set for _, spec in specs}) > 1:
        listed = ", ".join(f"{where} {spec.rule_set or 'the usual'}" for where, spec in specs)
        raise UsageError(
            f"The runs follow different rule sets: {listed}. Evaluate again with one --rule-set."
        )


def _contestants(runs: Sequence[Run], *, times: bool) -> tuple[list[Contestant], list[str]]:
    """Return the deciders of all runs, and how questions of one name differ.

    A question has one name in all runs.
    """
    labels: Sequence[str | None] = [None] if len(runs) == 1 else name_runs(runs)
    names, differing = match_questions([run.results for run in runs], labels)
    found = []
    for run, label, new in zip(runs, labels, names, strict=True):
        decided: dict[str, list[Result]] = {}
        for result in run.results:
            decided.setdefault(result.decider, []).append(renamed(result, new))
        took = run.seconds if times else {}
        seconds = {renamed(run.by_key[key], new).key: one for key, one in took.items()}
        for decider, results in decided.items():
            name = decider if label is None else f"{label}:{decider}"
            cost = None if run.prices is None else run.prices.cost
            timed = seconds if times else None
            found.append(Contestant(name, tuple(results), label, cost, timed))
    return found, differing


def _find_contestant(found: Sequence[Contestant], name: str) -> Contestant:
    """Return the contestant of a name, or the only one of a decider's name."""
    named = [one for one in found if name == one.name]
    named = named or [one for one in found if name == one.decider]
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
            truth, known = ((each.situation, each.official, each.match) for each in (result, other))
            if truth != known or _right_answers(result).isdisjoint(_right_answers(other)):
                raise UsageError(
                    f"{result.question} is not the same question for {name} and {one.name}: what "
                    "is right differs. Compare runs on one set of questions (the same release, "
                    "seed or file)."
                )


def _right_answers(result: Result) -> set[tuple[Candidate, ...]]:
    """Return the possible right answers: a right statement is one of them, or follows them."""
    answers = result.ties[:MOST_TIES]
    ends_in_own = result.match is not None and len(answers) > 1 and answers[-1] == result.choice
    return {answers, answers[:-1]} if ends_in_own else {answers}


def _on_shared_questions(
    found: Sequence[Contestant], differing: Sequence[str], *, only_shared: bool
) -> tuple[list[Contestant], int]:
    """Return the contestants with the questions that all were asked, and how many others had."""
    asked = {one.name: set(one.asked) for one in found}
    shared, every = set.intersection(*asked.values()), set.union(*asked.values())
    if shared == every:
        return list(found), 0
    if not only_shared or not shared:
        counts, differences = _describe_different(asked, differing)
        if not shared:
            raise UsageError(f"They share no question on one database: {counts}.{differences}")
        raise UsageError(
            f"They were asked different questions: {counts}, of which all share "
            f"{len(dict(shared))}. --shared (only_shared=True) compares on these.{differences}"
        )
    limited = _limited(found, lambda result: (result.question, result.database) in shared)
    return limited, len(every) - len(shared)


def _describe_different(
    asked: Mapping[str, Collection[Asked]], differing: Sequence[str]
) -> tuple[str, str]:
    """Return how many questions each was asked, and what differs: databases, and questions."""
    counts = (f"{name} {counted(len(dict(keys)), 'question')}" for name, keys in asked.items())
    databases = {
        name: ", ".join(sorted({database for _, database in keys})) for name, keys in asked.items()
    }
    differences = ""
    if len({*databases.values()}) > 1:
        listed = (f"{name} on {database}" for name, database in databases.items())
        differences = f" Databases: {'; '.join(listed)}."
    if differing:
        more = f", and {len(differing) - _SHOWN} more" if len(differing) > _SHOWN else ""
        differences += f" {'; '.join(differing[:_SHOWN])}{more}."
    return ", ".join(counts), differences


ExportFormat: TypeAlias = Literal["jsonl", "csv", "parquet", "inspect"]
"""The formats of an export."""

_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


def export_rows(run: AnyRun) -> tuple[ExportedDecision, ...]:
    """Return the decisions of a run as rows, from which its figures can be calculated.

    For a run in memory the seconds of decisions are not known.

    Raises
    ------
    UsageError
        There is no run, or it holds no finished decision.
    """
    found = open_run(run)
    found.require_results("nothing to export")
    seconds = {} if found.location is None else found.seconds
    chosen = {line.question: line for line in found.shortcut_choices}
    return tuple(
        ExportedDecision.of_result(
            result, seconds.get(result.key), found.prices, chosen.get(result.question)
        )
        for result in found.results
    )


def export_run(
    run: AnyRun,
    out: Path | str,
    as_format: str | None = None,
    *,
    for_spreadsheets: bool = False,
    questions: QuestionSet | None = None,
) -> Path:
    """Write a run for other programs: rows, one per decision, or logs of Inspect AI.

    The output is complete or missing, and replaces nothing.

    Parameters
    ----------
    run
        The run, or its location: a folder, or a run in a store.
    out
        A new file; of ``inspect`` a new folder, in which each decider has a log on every scenario
        and database (``inspect view --log-dir``).
    as_format
        By default the suffix of the file: ``.jsonl``, ``.csv`` or ``.parquet``.
    for_spreadsheets
        Whether texts of a CSV that a spreadsheet would run as a formula begin with an apostrophe.
    questions
        The questions, for the texts and choices of a log; by default they are read or generated
        again. If that is not possible, a log has the prompts of the model.

    Returns
    -------
    pathlib.Path
        The file or folder.

    Raises
    ------
    UsageError
        There is no such format, no such run, or nothing can be written there.
    """
    file = Path(out)
    named = file.suffix.removeprefix(".") if as_format is None else as_format
    wanted = require_format(named, for_spreadsheets=for_spreadsheets)
    (files.require_new_folder if wanted == "inspect" else files.require_new_file)(file)
    found = open_run(run)
    found.require_results("nothing to export")
    try:
        if wanted == "inspect":
            _write_logs(found, file, questions)
        else:
            rows = encode_rows(export_rows(found), wanted, for_spreadsheets=for_spreadsheets)
            files.write_private(file, rows, new=True)
    except FileExistsError as error:
        raise UsageError(f"{file} exists by now: name a new one.") from error
    except OSError as error:
        problem = files.problem_of_path(file, error, writing=True)  # the error names a part of it
        raise UsageError(f"{problem}. The run is as it was.") from error
    return file


def require_format(name: str, *, for_spreadsheets: bool = False) -> ExportFormat:
    """Return the format of a name; `UsageError` for another name, or one without formulas."""
    known = get_args(ExportFormat)
    if name not in known:
        problem = (
            f"'{name}' is no format of an export" if name else "The file's name tells no format"
        )
        raise UsageError(f"{problem}: name one of {', '.join(known)} (--format).")
    if for_spreadsheets and name != "csv":
        raise UsageError(f"Only a CSV is read by spreadsheets as formulas; {name} stays exact.")
    return cast("ExportFormat", name)


def _write_logs(run: Run, folder: Path, questions: QuestionSet | None) -> None:
    from dqa.report.inspect_log import InspectRun, write_logs

    record = run.record
    found = InspectRun(
        rows=export_rows(run),
        traces={trace.key: trace for trace in run.each_trace()},
        name=run.name or run.where,
        spec=run.spec,
        began=(None if record is None else record.began) or _LONG_AGO,
        questions=_questions(run, questions),
        complete=run.counts.complete is not False,
        versions={} if record is None else record.versions,
    )
    files.make_private_folder(folder)
    for name, content in write_logs(found):
        files.write_private(folder / name, content)


def _questions(run: Run, given: QuestionSet | None) -> Mapping[str, Question]:
    """Return the questions that were passed, or can be read again and have not changed.

    A user's own database is not queried again: traces have the prompts.
    """
    asks_in_place = isinstance(run.spec, RunSpec) and run.spec.questions.asks_in_place
    found = given if asks_in_place else find_questions(run, given)[0]
    if found is None or run.record is None or found.content_hash != run.record.content_hash:
        return {}
    return {question.key: question for question in found.questions}
