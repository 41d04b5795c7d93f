"""Read the statement in an answer, if a question asks for one.

It is one statement that only reads and runs on the question's database, without the fence of
Markdown around it. A statement that takes too long for a trial is accepted, because scoring gives
it more time.
"""

from __future__ import annotations

import re

from dqa.core.database import DEFAULT_LIMITS, Database, Limits
from dqa.core.errors import InvalidAnswerError, QueryError, StatementTimeoutError
from dqa.deciders.reviewing import describe_refusal, settle_statement

_FENCE = re.compile(r"```[ \t]*\w*[ \t]*\n?(?P<inside>.*?)```", re.DOTALL)
_LABEL = re.compile(r"\A(?:sql|statement|query)[ \t]*:\s*", re.IGNORECASE)


def statement_in(answer: str) -> str:
    """Return the statement of an answer, without a fence, a label or the semicolon behind it."""
    fenced = _FENCE.search(answer)
    text = answer if fenced is None else fenced["inside"]
    text = text.strip()
    if text.startswith("`") and text.endswith("`"):  # no statement begins with a quoted name
        text = text.strip("`")
    return _LABEL.sub("", text.strip()).rstrip("; \t\n")


def read_statement(answer: str, database: Database, limits: Limits = DEFAULT_LIMITS) -> str:
    """Return the statement that an answer gives, once it has run.

    Parameters
    ----------
    answer
        The words of a decider or its model.
    database
        The database of the question.
    limits
        The limits of the statement; its rows are ignored.

    Raises
    ------
    InvalidAnswerError
        It is not a statement that may and can run; the message is for the model.
    InfrastructureError
        The database failed, which says nothing about the answer.
    """
    statement = statement_in(answer)
    advice = f"Answer with one statement in {database.language} that only reads, and nothing else."
    if not statement:
        raise InvalidAnswerError("The answer holds no statement.", advice)
    settled = settle_statement(statement, database)
    if settled.text is None:
        raise InvalidAnswerError(describe_refusal(settled), advice)
    statement = settled.text
    try:
        database.query(statement, Limits(rows=1, bytes=limits.bytes, seconds=limits.seconds))
    except StatementTimeoutError:
        return statement
    except QueryError as error:
        raise InvalidAnswerError(
            f"The answer does not run as a statement. {error}", advice
        ) from error
    return statement
