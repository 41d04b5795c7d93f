"""Reading a run back, from a folder, a store or the file of one decision."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from dqa.api.runs import Run
from dqa.core.errors import ParseError, UsageError
from dqa.core.files import DATA_BYTES, read_json
from dqa.core.records import problem_of
from dqa.evaluation.location import DATABASE, RunLocation, locate_run
from dqa.evaluation.record import register_scenarios
from dqa.evaluation.traces import Trace


def read_run(run: RunLocation | Path | str) -> Run:
    """Read a run back.

    Parameters
    ----------
    run
        The folder that an evaluation wrote, a run of a store (``runs.db#NAME``, ``URL#NAME``; the
        name may be left out where there is one run), or the file of one decision
        (``dqa ask --trace``).

    Raises
    ------
    UsageError
        There is no run, or one of a newer version, or a store has several and none is named.
    ParseError
        A line is no result or no trace.
    """
    from dqa.evaluation.run_files import RESULTS_FILE, TRACES_FILE
    from dqa.evaluation.stored_runs import RunReader

    location = locate_run(run)
    if location.folder is not None and location.folder.is_file():
        file = location.folder
        if file.name in {RESULTS_FILE, TRACES_FILE} and (file.parent / DATABASE).is_file():
            raise UsageError(f"{file} is a part of a run: name its folder, {file.parent}.")
        return Run((), planned=1, _asked=(_read_asked(file),))
    reader = RunReader(location)
    record = reader.record
    register_scenarios(record.spec)
    return Run(
        tuple(reader.results()),
        record.spec,
        reader.location,
        planned=record.planned,
        prices=record.calls.prices,
        shortcut_choices=reader.shortcuts(),
        abandoned=reader.lost(recorded=record.calls.record is not None),
    )


def _read_asked(file: Path) -> Trace:
    """Read what ``dqa ask --trace`` wrote."""
    problem = "not written by 'dqa ask --trace' of this version"
    try:
        written = read_json(file, most=DATA_BYTES)
        # What a file of the first form does not tell is not shown either.
        return Trace.from_json({"question": "custom/1", "kind": "relational"} | written)
    except ValidationError as error:
        raise ParseError(file, None, f"{problem}: {problem_of(error)}") from error
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ParseError(file, None, f"{problem}: {error!r}") from error
