"""The record of a run in its store, and the checks before a run resumes."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Discriminator, Field, Tag, model_validator

from dqa.core.distribution import find_versions
from dqa.core.errors import UsageError
from dqa.core.records import Record
from dqa.evaluation.options import CallOptions, RunOptions
from dqa.evaluation.play_spec import PlaySpec
from dqa.evaluation.spec import RunSpec, differences, without_models
from dqa.scenarios import scenario_name

_PACKAGES = (
    "ladybug",
    "langchain-core",
    "langchain-openai",
    "langgraph",
    "numpy",
    "sqlalchemy",
    "sqlglot",
)


def _kind_of(spec: object) -> str:
    """Return which kind of run a spec describes. Only a spec of games has a world."""
    played = "world" in spec if isinstance(spec, Mapping) else isinstance(spec, PlaySpec)
    return _GAMES if played else _QUESTIONS


_GAMES, _QUESTIONS = "games", "questions"
AnySpec: TypeAlias = Annotated[
    Annotated[RunSpec, Tag(_QUESTIONS)] | Annotated[PlaySpec, Tag(_GAMES)], Discriminator(_kind_of)
]
"""The spec of a run of questions or of games."""


class RunRecord(Record):
    """The record of a run: its spec, questions and versions.

    Attributes
    ----------
    version
        The version of this record.
    spec
        The spec of the run; None if an older version did not record it.
    content_hash
        The hash of the questions and their situations, or of the games' first moves and players.
    planned
        The number of decisions or games; None if an older version did not record it.
    began
        Start time of the run; None if an older version did not record it.
    options, calls
        The options of the command that most recently started or resumed the run.
    versions
        The versions of Python and of the main packages.
    sources
        The hashes of the files that define own deciders, by name of the decider.
    history
        The id by which the history of the games identifies the run; empty for a run of questions.
    resumable
        Whether the run can be resumed. False for a run of an older version whose prompts differ.
    """

    version: Literal[1] = 1
    spec: AnySpec | None
    content_hash: str = ""
    planned: int | None = Field(ge=0, default=None)
    began: datetime | None = None
    options: RunOptions = RunOptions()
    calls: CallOptions = CallOptions()
    versions: dict[str, str] = Field(default_factory=dict)
    sources: dict[str, str] = Field(default_factory=dict)
    history: str = ""
    resumable: bool = True

    @model_validator(mode="before")
    @classmethod
    def _without_models(cls, values: Any) -> Any:  # noqa: ANN401  (whatever is to be validated)
        """Read a run from the time when a spec had a list of models, and a model a label."""
        spec = values.get("spec") if isinstance(values, Mapping) else None
        if not isinstance(spec, Mapping):
            return values
        # Which of its deciders needed a model is not recorded.
        resumable = values.get("resumable", True) and not spec.get("models")
        return {**values, "spec": without_models(spec, even_set=True), "resumable": resumable}

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of the record; see `RunSpec.json_schema`."""
        return cls.model_json_schema(mode="validation")

    @property
    def written_by(self) -> str:
        """The version of dqa that started the run."""
        return self.versions.get("dqa", "of an unknown version")

    def require_resumable(self, where: str) -> AnySpec:
        """Return the spec. Raise `UsageError` if an older version started the run."""
        if self.spec is None or not self.resumable:
            raise UsageError(
                f"{where} was started by dqa {self.written_by} in an older format. This version "
                "can read it, but not resume it: choose another location."
            )
        return self.spec


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that a run depends on."""
    return {"python": platform.python_version()} | find_versions(*_PACKAGES)


def now() -> datetime:
    """Return the current time without fractions of a second."""
    return datetime.now(UTC).replace(microsecond=0)


def resume_record(
    earlier: RunRecord, current: RunRecord, where: str, *, may_change: bool = False
) -> RunRecord:
    """Check that a stored run can be resumed, and return its new record.

    Parameters
    ----------
    earlier
        The stored record.
    current
        The record of the command that resumes the run.
    where
        The location of the run, for messages.
    may_change
        Whether the code of own deciders may have changed.

    Raises
    ------
    UsageError
        The settings or the questions differ, or an older version started the run.
    """
    spec = earlier.require_resumable(where)
    if current.spec is None or type(spec) is not type(current.spec):
        held, wanted = (_kind_of(one) for one in (spec, current.spec))
        raise UsageError(
            f"{where} already contains a run of {held}. To store a run of {wanted}, choose another "
            "location."
        )
    differing = differences(spec, current.spec)
    if differing:
        raise UsageError(
            f"{where} contains a run with other settings: {'; '.join(differing)}. To resume this "
            "run, give --resume (in Python resume=True) and no other options. For a new run, name "
            "another location."
        )
    if earlier.content_hash != current.content_hash:
        what = spec.description if isinstance(spec, PlaySpec) else spec.questions.description
        raise UsageError(
            f"The run in {where} cannot be resumed, because its questions, databases, candidates, "
            f"world or trained players have changed ({what}): restore them (trained players are in "
            "DQA_CACHE), or name another location."
        )
    for decider, source in current.sources.items():
        if not may_change and earlier.sources.get(decider, source) != source:
            raise UsageError(
                f"{where} contains decisions of another version of the decider '{decider}': its "
                "file has changed. Name another location. To keep these decisions and make the "
                "missing ones with the new version, pass resume=True."
            )
    return current.changed(
        began=earlier.began,
        versions=earlier.versions,
        sources=earlier.sources | current.sources,
        history=earlier.history,
    )


def name_run(record: RunRecord) -> str:
    """Return the name of an unnamed run: a hash of its spec and its data."""
    spec = None if record.spec is None else record.spec.to_json()
    if spec is not None and isinstance(record.spec, RunSpec):
        # Questions are identified by their content, not by their path.
        spec["questions"] = {
            name: value
            for name, value in spec["questions"].items()
            if name not in {"file", "folder"}
        }
    written = json.dumps([spec, record.content_hash], sort_keys=True)
    return f"run-{hashlib.sha256(written.encode()).hexdigest()[:12]}"


def require_questions(spec: AnySpec | None, where: str, why: str) -> RunSpec | None:
    """Return the spec of a run of questions. For a run of games, raise `UsageError` with `why`."""
    if isinstance(spec, PlaySpec):
        raise UsageError(f"{where} is a run of games ({spec.description}): {why}")
    return spec


def register_scenarios(spec: AnySpec | None) -> None:
    """Register the scenarios in the folders that a run names, if the folders still exist.

    Raises
    ------
    UsageError
        Another scenario has the same name.
    ParseError
        The folder no longer contains a valid scenario.
    """
    for name in spec.questions.scenarios or () if isinstance(spec, RunSpec) else ():
        scenario_name(name)
