"""Reading what a run left behind: its record, its results and its traces.

A decision counts from its result on; a trace without one is of a decision that was not kept.
Every line says of which version it is. Lines of the first form, which said nothing, are read like
those of today; a newer version is refused by name, with the version of dqa that wrote it.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from json import JSONDecodeError
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

from pydantic import Discriminator, Field, Tag, ValidationError, model_validator

from dqa.core.decision import Usage
from dqa.core.distribution import find_versions, own_version
from dqa.core.errors import ParseError, UsageError
from dqa.core.files import parse_json, read_text, whole_lines
from dqa.core.paths import problem_of_path, require_folder
from dqa.core.records import Record, dump_line, problem_of
from dqa.evaluation.keys import DecisionKey
from dqa.evaluation.options import CallOptions, RunOptions
from dqa.evaluation.playing.spec import PLAY_VERSION, PlaySpec
from dqa.evaluation.prompts import Prompts, prompts_from_json
from dqa.evaluation.results import Result
from dqa.evaluation.shortcuts import ShortcutChoices
from dqa.evaluation.spec import SPEC_VERSION, RunSpec, differences
from dqa.evaluation.traces import Trace
from dqa.scenarios import scenario_name

RUN, RESULTS, TRACES = "run.json", "results.jsonl", "traces.jsonl"
SHORTCUTS = "shortcuts.jsonl"
PROMPTS = "prompts.json"
ABANDONED = "abandoned.jsonl"
"""Traces of what was decided again, and what else was lost: they count for what they used alone."""
_LOST = "lost"
_VERSION = 1
_PACKAGES = (
    "ladybug",
    "langchain-core",
    "langchain-openai",
    "langgraph",
    "numpy",
    "sqlalchemy",
    "sqlglot",
)
_Line = TypeVar("_Line")


def _which(spec: object) -> str:
    """Return which kind of spec is given: one of games names a world."""
    played = "world" in spec if isinstance(spec, Mapping) else isinstance(spec, PlaySpec)
    return _GAMES if played else _QUESTIONS


_GAMES, _QUESTIONS = "games", "questions"
AnySpec: TypeAlias = Annotated[
    Annotated[RunSpec, Tag(_QUESTIONS)] | Annotated[PlaySpec, Tag(_GAMES)], Discriminator(_which)
]
"""What was run: questions that were decided, or games that were played."""


class GamesRecord(Record):
    """What a run of games has beside its spec.

    Attributes
    ----------
    run
        By which its history knows the games of this run.
    history
        Where that was named to be, without any password; None where the run's place says it.
    weights
        Of each player that has learnt, and of the reference, the hash of what was learnt.
    """

    run: str = ""
    history: str | None = None
    weights: dict[str, str] = Field(default_factory=dict)


class RunRecord(Record):
    """``run.json``: what was run, on which questions, and by which versions.

    Attributes
    ----------
    version
        Of the folder's form.
    spec
        What was evaluated, or played; None of a folder of the first form.
    content_hash
        Of the questions and their situations, or of how games begin.
    planned
        How many decisions there are to make, or games to play; None where an older version did not
        say.
    began
        When it began; None where an older version did not say.
    options, calls
        How it went about its work, and how models were called, when it was last gone on with.
    versions
        Of Python and of the packages that matter.
    games
        Of a run of games, what its spec does not say.
    """

    version: Literal[1] = 1
    spec: AnySpec | None
    content_hash: str = ""
    planned: int | None = Field(ge=0, default=None)
    began: datetime | None = None
    options: RunOptions = RunOptions()
    calls: CallOptions = CallOptions()
    versions: dict[str, str] = Field(default_factory=dict)
    games: GamesRecord | None = None

    @model_validator(mode="before")
    @classmethod
    def _of_workers_alone(cls, given: Any) -> Any:  # noqa: ANN401  (whatever is to be validated)
        """Read a record of version 0.3, which kept the number of workers and no other option."""
        if not isinstance(given, Mapping) or "workers" not in given:
            return given
        rest = {name: value for name, value in given.items() if name != "workers"}
        return {"options": {"workers": given["workers"]}, **rest}

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of the file; see `RunSpec.json_schema`."""
        return cls.model_json_schema(mode="validation")

    @property
    def written_by(self) -> str:
        """The version of dqa that wrote it."""
        return self.versions.get("dqa", "of an unknown version")


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that a run depends on."""
    return {"python": platform.python_version()} | find_versions(*_PACKAGES)


def now() -> datetime:
    """Return the time, to the second."""
    return datetime.now(UTC).replace(microsecond=0)


def read_record(folder: Path) -> RunRecord:
    """Read what was run.

    Raises
    ------
    UsageError
        The folder holds no run, or one of a newer version.
    """
    require_folder(folder, "Name the folder of 'dqa eval --out'.")
    if not (folder / RUN).exists():
        raise UsageError(
            f"{folder} holds no run that could go on: there is no {RUN}. Name the folder of one."
        )
    try:
        written = parse_json(read_text(folder / RUN, home=folder))
        known = _is_known(written, folder / RUN, folder)
        if known and "spec" in written:
            return _checked(written, folder / RUN)
        return RunRecord(spec=None, versions=written["versions"])
    except ValidationError as error:
        raise UsageError(f"{folder / RUN}: {problem_of(error)}.") from error
    except OSError as error:
        raise UsageError(f"{problem_of_path(folder / RUN, error)}.") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(
            f"{folder} holds no run that could go on ({RUN}: {error}): name the folder of one."
        ) from error


def _checked(written: Mapping[str, Any], path: Path) -> RunRecord:
    try:
        return RunRecord.model_validate(written)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error


def read_resumable(folder: Path) -> tuple[RunRecord, AnySpec]:
    """Read what was run, and the spec by which it can go on.

    Raises
    ------
    UsageError
        The folder holds no run, or one of a newer version, or one that began in an older form.
    """
    record = read_record(folder)
    written = parse_json(read_text(folder / RUN, home=folder)).get("spec") or {}
    return require_resumable(record, written.get("version"), str(folder))


def require_resumable(
    record: RunRecord, version: int | None, where: str
) -> tuple[RunRecord, AnySpec]:
    """Return a record and its spec, whose `version` was written; `UsageError` of an older form."""
    # What was decided then had other prompts, ties and rule sets, some of them of today's names.
    latest = PLAY_VERSION if isinstance(record.spec, PlaySpec) else SPEC_VERSION
    if record.spec is None or (latest if version is None else version) < latest:
        raise UsageError(
            f"{where} was begun by dqa {record.written_by} in an older form, which can be "
            "read but not resumed, as agents and rule sets have changed since: name another folder."
        )
    return record, record.spec


def compare_records(earlier: RunRecord, spec: AnySpec, now: RunRecord, where: str) -> RunRecord:
    """Return the record of a run that goes on, which began when, and with what, it did.

    Raises
    ------
    UsageError
        It has other settings, or its questions have changed.
    """
    if now.spec is None:
        raise AssertionError("a run that goes on has a spec")
    if type(spec) is not type(now.spec):
        held, wanted = (_told_kind(one) for one in (spec, now.spec))
        raise UsageError(f"{where} holds a run of {held}, not of {wanted}: name another folder.")
    differing = differences(spec, now.spec)
    if differing:
        raise UsageError(
            f"{where} holds a run with other settings: {'; '.join(differing)}. "
            "Leave them out to go on as it began, or name another folder."
        )
    if earlier.content_hash != now.content_hash and isinstance(now.spec, PlaySpec):
        raise UsageError(
            f"The games of {where} begin otherwise than they did ({now.spec.told}): the world, or "
            "how it deals, was changed. Use the version that began it, or name another folder."
        )
    if earlier.content_hash != now.content_hash and isinstance(now.spec, RunSpec):
        raise UsageError(
            f"The questions of {where} are others than those it began with "
            f"({now.spec.questions.told}): they, their databases or what lists their "
            "candidates were changed. Put back what was there, or name another folder."
        )
    games = None if now.games is None else _go_on(earlier.games, now.games, where)
    return now.changed(began=earlier.began, versions=earlier.versions, games=games)


def _go_on(earlier: GamesRecord | None, now: GamesRecord, where: str) -> GamesRecord:
    """Return what a run of games goes on with; a history that is named now is its history."""
    if earlier is None:  # as no history of that time says whose its games are
        return now.changed(run="")
    for player, learnt in earlier.weights.items():
        if now.weights.get(player, learnt) != learnt:
            raise UsageError(
                f"The player '{player}' of {where} has learnt something else by now: put back the "
                "trained players that it began with (DQA_CACHE), or the versions that trained "
                "them, or name another folder."
            )
    return now.changed(run=earlier.run, history=now.history or earlier.history)


def _told_kind(spec: AnySpec) -> str:
    return "games" if isinstance(spec, PlaySpec) else "questions"


def require_questions(spec: AnySpec | None, where: str, why: str) -> RunSpec | None:
    """Return the spec of a run of questions; `UsageError` of a run of games, which says `why`."""
    if isinstance(spec, PlaySpec):
        raise UsageError(f"{where} is a run of games ({spec.told}): {why}")
    return spec


def register_scenarios(spec: AnySpec | None) -> None:
    """Make the scenarios known that a run named by their folders, where these still are.

    Raises
    ------
    UsageError
        Another scenario has such a name.
    ParseError
        Such a folder is wrong by now.
    """
    for name in spec.questions.scenarios or () if isinstance(spec, RunSpec) else ():
        scenario_name(name)


def read_results(folder: Path) -> list[Result]:
    """Read a run's results; of a decision made twice the later counts.

    A half-written last line is skipped.

    Raises
    ------
    ParseError
        A whole line is no result.
    UsageError
        It was written by a newer version.
    """
    # What is in no result is decided again, and its trace is set aside.
    mend = "; without this line 'dqa eval --resume' decides it again"
    lines = _lines(folder / RESULTS, "result", Result.from_json, mend=mend)
    return list({result.key: result for result in lines}.values())


def read_traces(folder: Path, question: str | None = None) -> list[Trace]:
    """Read a run's traces, in the order of the first try; of a decision made twice the last counts.

    Parameters
    ----------
    folder
        Of the run.
    question
        The one whose traces are wanted, for traces are large; None for all.

    Raises
    ------
    UsageError
        The folder holds no run, or it was written by a newer version.
    ParseError
        A whole line is no trace.
    """
    path = folder / TRACES
    if not path.is_file():
        raise UsageError(
            f"{folder} holds no run: there is no {TRACES}. Name the folder of "
            "one ('dqa runs' lists them)."
        )
    found = _lines(path, "trace", Trace.from_json, _mentions(question))
    wanted = (trace for trace in found if question in {None, trace.question})
    return list({trace.key: trace for trace in wanted}.values())


def _mentions(question: str | None) -> Callable[[bytes], bool]:
    """Return whether a line may be of a question, which is told without reading its JSON."""
    if question is None:
        return _every
    written = {dump_line(question), json.dumps(question), json.dumps(question, ensure_ascii=False)}
    forms = tuple(form.encode("utf-8", "surrogatepass") for form in sorted(written))
    return lambda line: any(form in line for form in forms)


def read_shortcuts(folder: Path) -> tuple[ShortcutChoices, ...]:
    """Read what the heuristics chose; nothing of a run that did not keep it.

    Raises
    ------
    ParseError
        A whole line is none.
    UsageError
        It was written by a newer version.
    """
    path = folder / SHORTCUTS
    return tuple(_lines(path, "answer of heuristics", ShortcutChoices.model_validate))


def read_prompts(folder: Path) -> Prompts:
    """Read in which words the deciders asked; nothing of a run that did not keep it.

    Raises
    ------
    ParseError
        The file is not what a run writes.
    """
    path = folder / PROMPTS
    if not path.is_file():
        return {}
    try:
        return prompts_from_json(parse_json(read_text(path, home=folder)))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ParseError(path, None, f"these are no prompts of a run: {error!r}") from error


def read_abandoned(folder: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the lines of what was used and led to no decision.

    Raises
    ------
    ParseError
        A whole line is damaged.
    """
    return _lines(folder / ABANDONED, "trace", _used_line)


def _used_line(line: Mapping[str, Any]) -> Mapping[str, Any]:
    _usage(line)
    return line


def usage_so_far(folder: Path) -> Usage:
    """Return what all decisions of a run have used, those that were made again included.

    Raises
    ------
    ParseError
        A whole line of the traces is damaged.
    """
    # A process that was killed while it settled the folder may have left a line in both files.
    abandoned = set(whole_lines(folder / ABANDONED, home=folder))
    made = _lines(folder / TRACES, "trace", _usage, lambda line: line not in abandoned)
    return sum(made, usage_abandoned(folder))


def usage_abandoned(folder: Path, *, recorded: bool = False) -> Usage:
    """Return what was used on the way to a run's decisions and led to none of them.

    Parameters
    ----------
    folder
        Of the run.
    recorded
        Whether replies were recorded: those of a decision that was made again are then among what
        this one has used.

    Raises
    ------
    ParseError
        A whole line is damaged.
    """

    def counted(line: Mapping[str, Any]) -> Usage:
        return _usage(line) if not recorded or is_lost(line) else Usage()

    return sum(_lines(folder / ABANDONED, "trace", counted), Usage())


def is_lost(line: Mapping[str, Any]) -> bool:
    """Whether a line is of what was lost on the way, and not the trace of what was made again."""
    return line.get("kind") == _LOST


def lost_line(key: DecisionKey, lost: Usage) -> dict[str, Any]:
    """Return the line of what was used on the way to a decision and led to nothing."""
    return {"version": _VERSION, "kind": _LOST, **key._asdict(), "usage": asdict(lost)}


def _usage(line: Mapping[str, Any]) -> Usage:
    return Usage(**line["usage"])


def _every(_: bytes) -> bool:
    return True


def _lines(
    path: Path,
    what: str,
    read: Callable[[Mapping[str, Any]], _Line],
    wanted: Callable[[bytes], bool] = _every,
    mend: str = "",
) -> Iterator[_Line]:
    """Read the wanted lines of a file, of which a half-written last one is none.

    `mend` is what can be done about a line that is no JSON, where anything can.
    """
    for number, line in enumerate(whole_lines(path, home=path.parent), start=1):
        if not wanted(line):
            continue
        try:
            written = parse_json(line)
            _is_known(written, path, path.parent)
            yield read(written)
        except UnicodeDecodeError as error:
            problem = "this is no UTF-8 text, so no result of a run"
            raise ParseError(path, number, problem) from error
        except ValidationError as error:
            problem = f"this is no {what}: {problem_of(error)}"
            raise ParseError(path, number, problem) from error
        except JSONDecodeError as error:
            problem = f"this is no {what}, for it is no JSON (column {error.colno}: {error.msg})"
            raise ParseError(path, number, f"{problem}{mend}") from error
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ParseError(path, number, f"this is no {what}: {error!r}") from error


def _is_known(written: Mapping[str, Any], path: Path, folder: Path) -> bool:
    """Whether it is of today's version; `UsageError` where it is of a newer one."""
    found = written.get("version", 0)
    if not isinstance(found, int) or found > _VERSION:
        raise UsageError(
            f"{path} is of version {found!r}, written by dqa {_writer(folder)}; this dqa "
            f"{own_version()} reads versions up to {_VERSION}: use the newer one."
        )
    return found == _VERSION


def _writer(folder: Path) -> str:
    try:
        return str(parse_json(read_text(folder / RUN, home=folder))["versions"]["dqa"])
    except (OSError, ValueError, KeyError, TypeError):
        return "of an unknown version"


def cut_half_line(path: Path) -> None:
    """Cut a half-written last line off a file."""
    if path.exists():
        os.truncate(path, sum(map(len, whole_lines(path, home=path.parent))))
