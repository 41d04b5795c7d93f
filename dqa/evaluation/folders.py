"""What a run's folder holds, and the record of the run, with which it can be gone on with or not.

A newer version is refused by name, with the version of dqa that wrote it.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Discriminator, Field, Tag, ValidationError, model_validator

from dqa.core.distribution import find_versions, own_version
from dqa.core.errors import DataError, UsageError
from dqa.core.files import read_json, require_folder
from dqa.core.records import Record, problem_of
from dqa.evaluation.options import CallOptions, RunOptions
from dqa.evaluation.playing.spec import PLAY_VERSION, PlaySpec
from dqa.evaluation.spec import SPEC_VERSION, RunSpec, differences
from dqa.scenarios import scenario_name

RUN, RESULTS, TRACES = "run.json", "results.jsonl", "traces.jsonl"
SHORTCUTS = "shortcuts.jsonl"
PROMPTS = "prompts.json"
ABANDONED = "abandoned.jsonl"
"""Traces of what was decided again, and what else was lost: they count for what they used alone."""
VERSION = 1
"""Of what is written; whoever writes another form gives it the next."""
_PACKAGES = (
    "ladybug",
    "langchain-core",
    "langchain-openai",
    "langgraph",
    "numpy",
    "sqlalchemy",
    "sqlglot",
)


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
        written = read_json(folder / RUN, home=folder)
        known = is_known(written, folder / RUN, folder)
        if known and "spec" in written:
            return _checked(written, folder / RUN)
        return RunRecord(spec=None, versions=written["versions"])
    except ValidationError as error:
        raise UsageError(f"{folder / RUN}: {problem_of(error)}.") from error
    except (DataError, ValueError, KeyError, TypeError, AttributeError) as error:
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
    written = read_json(folder / RUN, home=folder).get("spec") or {}
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


def is_known(written: Mapping[str, Any], path: Path, folder: Path) -> bool:
    """Whether it is of today's version; `UsageError` where it is of a newer one."""
    found = written.get("version", 0)
    if not isinstance(found, int) or found > VERSION:
        raise UsageError(
            f"{path} is of version {found!r}, written by dqa {_writer(folder)}; this dqa "
            f"{own_version()} reads versions up to {VERSION}: use the newer one."
        )
    return found == VERSION


def _writer(folder: Path) -> str:
    try:
        return str(read_json(folder / RUN, home=folder)["versions"]["dqa"])
    except (DataError, KeyError, TypeError):
        return "of an unknown version"
