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
from dqa.databases.kept_columns import OPTIONS, blob, number, text

METADATA = MetaData()

RUNS = Table(
    f"{PREFIX}runs",
    METADATA,
    Column("id", number(), primary_key=True, autoincrement=True),
    Column("name", String(200), nullable=False, unique=True),
    Column("dqa", String(60), nullable=False),
    Column("spec", text()),
    Column("content_hash", String(64), nullable=False),
    Column("planned", Integer),
    Column("began", String(40)),
    Column("options", text(), nullable=False),
    Column("calls", text(), nullable=False),
    Column("price_input", Double),
    Column("price_output", Double),
    Column("versions", text(), nullable=False),
    Column("games", text()),  # of a run of games
    **OPTIONS,
)

PROMPTS = Table(
    f"{PREFIX}prompts",
    METADATA,
    Column("hash", String(64), primary_key=True),
    Column("text", text(), nullable=False),
    **OPTIONS,
)

RUN_PROMPTS = Table(
    f"{PREFIX}run_prompts",
    METADATA,
    Column("run_id", number(), primary_key=True, autoincrement=False),
    Column("decider", String(200), primary_key=True),
    Column("name", String(200), primary_key=True),
    Column("hash", String(64), nullable=False),
    **OPTIONS,
)

RESULTS = Table(
    f"{PREFIX}results",
    METADATA,
    Column("run_id", number(), primary_key=True, autoincrement=False),
    Column("task", String(64), primary_key=True),  # the hash of the decision's key
    Column("position", Integer),  # in the plan
    Column("worker_id", number()),  # who made it; of no meaning once that has ended
    Column("question", String(700), nullable=False),
    Column("scenario", String(200), nullable=False),
    Column("situation", text()),
    Column("database", String(500), nullable=False),
    Column("kind", String(20), nullable=False),
    Column("decider", String(500), nullable=False),
    Column("model", text(), nullable=False),
    Column("epoch", Integer, nullable=False, server_default="1"),
    Column("outcome", String(40), nullable=False),
    Column("answer", text(), nullable=False),
    Column("choice", text()),
    Column("official", text()),
    Column("ties", text(), nullable=False),
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
    Column("error", text()),
    Column("input_tokens", BigInteger, nullable=False),
    Column("output_tokens", BigInteger, nullable=False),
    Column("calls", BigInteger, nullable=False),
    Column("tags", text(), nullable=False),
    Column("match", String(40)),
    Column("ended_by", text()),
    Column("seconds", Double, nullable=False),
    Column("more", text()),
    Index(f"{PREFIX}results_by_question", "run_id", "question"),
    **OPTIONS,
)

TRACES = Table(
    f"{PREFIX}traces",
    METADATA,
    Column("run_id", number(), primary_key=True, autoincrement=False),
    Column("task", String(64), primary_key=True),
    Column("body", blob(), nullable=False),  # JSON, compressed by zlib
    **OPTIONS,
)

LOST = Table(
    f"{PREFIX}lost",
    METADATA,
    Column("id", number(), primary_key=True, autoincrement=True),
    Column("run_id", number(), nullable=False, index=True),
    Column("kind", String(20), nullable=False),  # lost, or the trace of what was made again
    Column("input_tokens", BigInteger, nullable=False),
    Column("output_tokens", BigInteger, nullable=False),
    Column("calls", BigInteger, nullable=False),
    Column("body", blob(), nullable=False),  # the line of the folder's abandoned.jsonl
    **OPTIONS,
)

SHORTCUTS = Table(
    f"{PREFIX}shortcuts",
    METADATA,
    Column("run_id", number(), primary_key=True, autoincrement=False),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("body", text(), nullable=False),
    **OPTIONS,
)

WORKERS = Table(
    f"{PREFIX}workers",
    METADATA,
    Column("id", number(), primary_key=True, autoincrement=True),
    Column("run_id", number(), nullable=False, index=True),
    Column("host", String(200), nullable=False),
    Column("pid", Integer, nullable=False),
    Column("started", String(60)),  # the process, by its system's clock
    Column("beats", BigInteger, nullable=False),
    **OPTIONS,
    sqlite_autoincrement=True,  # no number is given out twice
)

CLAIMS = Table(
    f"{PREFIX}claims",
    METADATA,
    Column("run_id", number(), primary_key=True, autoincrement=False),
    Column("task", String(64), primary_key=True),
    Column("worker_id", number(), nullable=False, index=True),
    **OPTIONS,
)
