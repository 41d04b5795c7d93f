"""Read the answer to a question that asks for a statement.

The answer must be one statement that only reads, and that runs on the database of the question. A
Markdown fence is removed. A statement that exceeds the time limit is accepted, because scoring
allows more time.
"""

from __future__ import annotations

import re

from dqa.core.database import DEFAULT_LIMITS, Database, Limits
from dqa.core.errors import InvalidAnswerError, QueryError, StatementTimeoutError
from dqa.deciders.reviewing import describe_refusal, settle_statement

_FENCE = re.compile(r"```[ \t]*\w*[ \t]*\n?(?P<inside>.*?)```", re.DOTALL)
_LABEL = re.compile(r"\A(?:sql|statement|query)[ \t]*:\s*", re.IGNORECASE)


def statement_in(answer: str) -> str:
    """Return the statement of an answer without fence, label and final semicolon."""
    fenced = _FENCE.search(answer)
    text = answer if fenced is None else fenced["inside"]
    text = text.strip()
    if text.startswith("`") and text.endswith("`"):  # the backticks enclose the whole statement
        text = text.strip("`")
    return _LABEL.sub("", text.strip()).rstrip("; \t\n")


def read_statement(answer: str, database: Database, limits: Limits = DEFAULT_LIMITS) -> str:
    """Return the statement in an answer, after running it.

    Parameters
    ----------
    answer
        The text of a decider or its model.
    database
        The database of the question.
    limits
        The limits of the statement; its rows are ignored.

    Raises
    ------
    InvalidAnswerError
        The answer is not a statement, is refused, or does not run. The message is for the model.
    InfrastructureError
        The database failed.
    """
    statement = statement_in(answer)
    advice = f"Answer only with one statement in {database.language} that does nothing but read."
    if not statement:
        raise InvalidAnswerError("The answer contains no statement.", advice)
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
