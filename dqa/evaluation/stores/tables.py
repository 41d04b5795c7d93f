"""The tables of a store, as the newest migration leaves them.

Columns are what plain SQL recomputes every figure from; what a column cannot hold exactly (a choice
that is a number, a text with a character that a server refuses) stands in ``more`` besides.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    Index,
    Integer,
    MetaData,
    String,
    Table,
)

from dqa.core.run_stores import TABLE_PREFIX as PREFIX
from dqa.databases.store_locations import LONG_BLOB, LONG_TEXT, NUMBER, TABLE_OPTIONS

METADATA = MetaData()

RUNS = Table(
    f"{PREFIX}runs",
    METADATA,
    Column("id", NUMBER, primary_key=True, autoincrement=True),
    Column("name", String(200), nullable=False, unique=True),
    Column("dqa", String(60), nullable=False),
    Column("spec", LONG_TEXT),
    Column("content_hash", String(64), nullable=False),
    Column("planned", Integer),
    Column("began", String(40)),
    Column("options", LONG_TEXT, nullable=False),
    Column("calls", LONG_TEXT, nullable=False),
    Column("price_input", Double),
    Column("price_output", Double),
    Column("versions", LONG_TEXT, nullable=False),
    Column("games", LONG_TEXT),  # of a run of games
    **TABLE_OPTIONS,
)

PROMPTS = Table(
    f"{PREFIX}prompts",
    METADATA,
    Column("hash", String(64), primary_key=True),
    Column("text", LONG_TEXT, nullable=False),
    **TABLE_OPTIONS,
)

RUN_PROMPTS = Table(
    f"{PREFIX}run_prompts",
    METADATA,
    Column("run_id", NUMBER, primary_key=True, autoincrement=False),
    Column("decider", String(200), primary_key=True),
    Column("name", String(200), primary_key=True),
    Column("hash", String(64), nullable=False),
    **TABLE_OPTIONS,
)

RESULTS = Table(
    f"{PREFIX}results",
    METADATA,
    Column("run_id", NUMBER, primary_key=True, autoincrement=False),
    Column("task", String(64), primary_key=True),  # the hash of the decision's key
    Column("position", Integer),  # in the plan
    Column("worker_id", NUMBER),  # who made it; of no meaning once that has ended
    Column("question", String(700), nullable=False),
    Column("scenario", String(200), nullable=False),
    Column("situation", LONG_TEXT),
    Column("database", String(500), nullable=False),
    Column("kind", String(20), nullable=False),
    Column("decider", String(500), nullable=False),
    Column("model", LONG_TEXT, nullable=False),
    Column("epoch", Integer, nullable=False, server_default="1"),
    Column("outcome", String(40), nullable=False),
    Column("answer", LONG_TEXT, nullable=False),
    Column("choice", LONG_TEXT),
    Column("official", LONG_TEXT),
    Column("ties", LONG_TEXT, nullable=False),
    Column("regret", Double),
    Column("relative_regret", Double),
    Column("rank", BigInteger),
    Column("value", Double),
    Column("best_value", Double),
    Column("baseline", Double),
    Column("goal", String(20)),
    Column("steps", Integer, nullable=False),
    Column("statements", Integer, nullable=False),
    Column("plans", Integer, nullable=False),
    Column("error", LONG_TEXT),
    Column("input_tokens", BigInteger, nullable=False),
    Column("output_tokens", BigInteger, nullable=False),
    Column("calls", BigInteger, nullable=False),
    Column("tags", LONG_TEXT, nullable=False),
    Column("match", String(40)),
    Column("ended_by", LONG_TEXT),
    Column("seconds", Double, nullable=False),
    Column("more", LONG_TEXT),
    Index(f"{PREFIX}results_by_question", "run_id", "question"),
    **TABLE_OPTIONS,
)

TRACES = Table(
    f"{PREFIX}traces",
    METADATA,
    Column("run_id", NUMBER, primary_key=True, autoincrement=False),
    Column("task", String(64), primary_key=True),
    Column("body", LONG_BLOB, nullable=False),  # JSON, compressed by zlib
    **TABLE_OPTIONS,
)

LOST = Table(
    f"{PREFIX}lost",
    METADATA,
    Column("id", NUMBER, primary_key=True, autoincrement=True),
    Column("run_id", NUMBER, nullable=False, index=True),
    Column("kind", String(20), nullable=False),  # lost, or the trace of what was made again
    Column("input_tokens", BigInteger, nullable=False),
    Column("output_tokens", BigInteger, nullable=False),
    Column("calls", BigInteger, nullable=False),
    Column("body", LONG_BLOB, nullable=False),  # the line of the folder's abandoned.jsonl
    **TABLE_OPTIONS,
)

SHORTCUTS = Table(
    f"{PREFIX}shortcuts",
    METADATA,
    Column("run_id", NUMBER, primary_key=True, autoincrement=False),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("body", LONG_TEXT, nullable=False),
    **TABLE_OPTIONS,
)

WORKERS = Table(
    f"{PREFIX}workers",
    METADATA,
    Column("id", NUMBER, primary_key=True, autoincrement=True),
    Column("run_id", NUMBER, nullable=False, index=True),
    Column("host", String(200), nullable=False),
    Column("pid", Integer, nullable=False),
    Column("started", String(60)),  # the process, by its system's clock
    Column("beats", BigInteger, nullable=False),
    **TABLE_OPTIONS,
    sqlite_autoincrement=True,  # no number is given out twice
)

CLAIMS = Table(
    f"{PREFIX}claims",
    METADATA,
    Column("run_id", NUMBER, primary_key=True, autoincrement=False),
    Column("task", String(64), primary_key=True),
    Column("worker_id", NUMBER, nullable=False, index=True),
    **TABLE_OPTIONS,
)
