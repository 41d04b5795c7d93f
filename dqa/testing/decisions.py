"""Functions that make decisions in tests and assert their choices."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from textwrap import indent
from types import TracebackType
from typing import Any, TypeAlias

from dqa.api.asking import ask
from dqa.core.database import Database
from dqa.core.decision import Decision, Ending
from dqa.core.errors import DqaError
from dqa.core.question import Candidate
from dqa.core.question_set import QuestionSet
from dqa.evaluation.traces import Trace
from dqa.loaders.custom_question import UserQuestion
from dqa.loaders.generator.generate import generate

Decided: TypeAlias = Trace | Decision
"""The result of `dqa.ask`, or of a decider."""


def ask_in_test(
    database: str | Path | Database,
    question: str | UserQuestion,
    **fields: Any,  # noqa: ANN401  (as `dqa.ask`)
) -> Trace:
    """Ask one question about a database (fixture ``dqa_ask``). Errors of any kind are raised.

    Parameters
    ----------
    database, question, **fields
        Arguments of `dqa.ask`: rules, candidates, decider, model, calls, ...

    Raises
    ------
    UsageError, QueryError, DataError, InfrastructureError
        See `dqa.ask`. In addition, a scripted model raises an error if it has no further reply.
    """
    __tracebackhide__ = True
    try:
        return ask(database, question, debug=True, record=False, **fields)
    except DqaError as error:
        if statement := getattr(error, "statement", ""):
            error.add_note(f"Statement: {statement}")
        # The message explains the fix. A long traceback through libraries would hide it.
        raise error.with_traceback(_own_frames(error.__traceback__)) from None


def _own_frames(traceback: TracebackType | None) -> TracebackType | None:
    """Return a traceback with only the frames of the user's own files."""
    if traceback is None:
        return None
    rest, frame = _own_frames(traceback.tb_next), traceback.tb_frame
    is_dqa = frame.f_globals.get("__name__", "").startswith("dqa")
    if is_dqa or "site-packages" in frame.f_code.co_filename:
        return rest
    return TracebackType(rest, frame, traceback.tb_lasti, traceback.tb_lineno)


Asker: TypeAlias = Callable[..., Trace]
"""The type of the fixture ``dqa_ask``; see `ask_in_test`."""


def assert_choice(decision: Decided, *expected: Candidate) -> None:
    """Fail if a decision is not one of the expected choices, or did not end as ``answered``.

    If the question has no candidates, the text of the answer is compared.
    """
    __tracebackhide__ = True
    choice = decision.answer.strip() if decision.choice is None else decision.choice
    text = f"The decision is {choice!r}"
    if decision.ending is not Ending.ANSWERED:
        text = "No decision was made"
    elif choice in (expected if decision.choice is not None else [str(one) for one in expected]):
        return
    _fail(decision, f"{text}, but {' or '.join(map(repr, expected))} was expected.")


def describe_decisions(traces: Iterable[Trace], *, full: bool) -> str:
    """Describe decisions step by step; `full` is true with pytest's option ``-vv``."""
    from dqa.report.reading import read
    from dqa.report.trace_text import passages_to_text

    return "\n\n".join(passages_to_text(read(trace), full=full).plain for trace in traces)


def _fail(decision: Decided, problem: str) -> None:
    __tracebackhide__ = True
    from dqa.report.reading import decision_lines

    lines = "\n".join(decision_lines(decision))
    raise AssertionError(f"{problem}\n{indent(lines, '  ')}")


_QUESTIONS: dict[str, QuestionSet] = {}
"""Cache of generated question sets, by the arguments of `make_questions`."""


def make_questions(
    *scenarios: str,
    count: int = 2,
    seed: int = 0,
    **options: Any,  # noqa: ANN401  (those of `generate`)
) -> QuestionSet:
    """Generate questions with their databases and answers (fixture ``dqa_questions``).

    Question sets are immutable. Calls with the same arguments return the same set.

    Parameters
    ----------
    scenarios
        Names of scenarios; by default all scenarios that can be generated.
    count, seed, **options
        Arguments of `dqa.generate`. The same arguments give the same questions on every machine.

    Raises
    ------
    UsageError, UnknownNameError
        See `dqa.generate`.
    """
    key = repr((scenarios, count, seed, sorted(options.items())))
    if key not in _QUESTIONS:
        _QUESTIONS[key] = generate(scenarios or None, count, seed, **options)
    return _QUESTIONS[key]


QuestionMaker: TypeAlias = Callable[..., QuestionSet]
"""The type of the fixture ``dqa_questions``; see `make_questions`."""
