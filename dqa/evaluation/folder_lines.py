"""Reading the lines that a run left in its folder: its results, its traces, what was abandoned.

A decision counts from its result on; a trace without one is of a decision that was not kept.
Every line says of which version it is. Lines of the first form, which said nothing, are read like
those of today.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from json import JSONDecodeError
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from dqa.core.decision import Usage
from dqa.core.errors import ParseError, UsageError
from dqa.core.files import parse_json, read_json, whole_lines
from dqa.core.records import dump_line, problem_of
from dqa.evaluation.folders import (
    ABANDONED,
    PROMPTS,
    RESULTS,
    SHORTCUTS,
    TRACES,
    VERSION,
    is_known,
)
from dqa.evaluation.keys import DecisionKey
from dqa.evaluation.prompts import Prompts, prompts_from_json
from dqa.evaluation.results import Result
from dqa.evaluation.shortcuts import ShortcutChoices
from dqa.evaluation.traces import Trace

_LOST = "lost"
_Line = TypeVar("_Line")


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
        return prompts_from_json(read_json(path, home=folder))
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
    return {"version": VERSION, "kind": _LOST, **key._asdict(), "usage": asdict(lost)}


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
            is_known(written, path, path.parent)
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


def cut_half_line(path: Path) -> None:
    """Cut a half-written last line off a file."""
    if path.exists():
        os.truncate(path, sum(map(len, whole_lines(path, home=path.parent))))
