"""What a run in a folder says that it is."""

from __future__ import annotations

from typing import Any

from dqa.evaluation.record import RunRecord, versions
from dqa.evaluation.spec import RunFields, RunSpec
from dqa.loaders.sources import GivenQuestions


def run_record(**fields: Any) -> RunRecord:
    """Return the record of a run of questions that were made for the occasion."""
    questions = GivenQuestions(name="made", content_hash="0" * 64)
    spec = RunSpec(questions=questions, deciders=("one",), **fields)
    return RunRecord(spec=spec, content_hash="0" * 64, versions=versions())
