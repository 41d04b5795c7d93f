"""The first form of a store: runs, prompts, results, traces, claims."""

from __future__ import annotations

from alembic import op
from sqlalchemy import BigInteger, Column, Double, Integer, String

from dqa.databases.store_locations import LONG_BLOB, LONG_TEXT, NUMBER, TABLE_OPTIONS

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make every table; one that is there is of a start that was killed."""
    _make_runs()
    _make_results()
    _make_workers()


def _make_runs() -> None:
    op.create_table(
        "dqa_runs",
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
        if_not_exists=True,
        **TABLE_OPTIONS,
    )
    op.create_table(
        "dqa_prompts",
        Column("hash", String(64), primary_key=True),
        Column("text", LONG_TEXT, nullable=False),
        if_not_exists=True,
        **TABLE_OPTIONS,
    )
    op.create_table(
        "dqa_run_prompts",
        Column("run_id", NUMBER, primary_key=True, autoincrement=False),
        Column("decider", String(200), primary_key=True),
        Column("name", String(200), primary_key=True),
        Column("hash", String(64), nullable=False),
        if_not_exists=True,
        **TABLE_OPTIONS,
    )
    op.create_table(
        "dqa_shortcuts",
        Column("run_id", NUMBER, primary_key=True, autoincrement=False),
        Column("position", Integer, primary_key=True, autoincrement=False),
        Column("body", LONG_TEXT, nullable=False),
        if_not_exists=True,
        **TABLE_OPTIONS,
    )


def _make_results() -> None:
    op.create_table(
        "dqa_results",
        Column("run_id", NUMBER, primary_key=True, autoincrement=False),
        Column("task", String(64), primary_key=True),
        Column("position", Integer),
        Column("worker_id", NUMBER),
        Column("question", String(700), nullable=False),
        Column("scenario", String(200), nullable=False),
        Column("database", String(500), nullable=False),
        Column("kind", String(20), nullable=False),
        Column("decider", String(500), nullable=False),
        Column("model", LONG_TEXT, nullable=False),
        Column("outcome", String(40), nullable=False),
        Column("answer", LONG_TEXT, nullable=False),
        Column("choice", LONG_TEXT),
        Column("official", LONG_TEXT),
        Column("ties", LONG_TEXT, nullable=False),
        *(Column(name, Double) for name in ("regret", "relative_regret")),
        Column("rank", BigInteger),
        *(Column(name, Double) for name in ("value", "best_value", "baseline")),
        Column("goal", String(20)),
        *(Column(name, Integer, nullable=False) for name in ("steps", "statements", "plans")),
        Column("error", LONG_TEXT),
        *(
            Column(name, BigInteger, nullable=False)
            for name in ("input_tokens", "output_tokens", "calls")
        ),
        Column("tags", LONG_TEXT, nullable=False),
        Column("match", String(40)),
        Column("ended_by", LONG_TEXT),
        Column("seconds", Double, nullable=False),
        Column("more", LONG_TEXT),
        if_not_exists=True,
        **TABLE_OPTIONS,
    )
    op.create_index(
        "dqa_results_by_question", "dqa_results", ["run_id", "question"], if_not_exists=True
    )
    op.create_table(
        "dqa_traces",
        Column("run_id", NUMBER, primary_key=True, autoincrement=False),
        Column("task", String(64), primary_key=True),
        Column("body", LONG_BLOB, nullable=False),
        if_not_exists=True,
        **TABLE_OPTIONS,
    )
    op.create_table(
        "dqa_lost",
        Column("id", NUMBER, primary_key=True, autoincrement=True),
        Column("run_id", NUMBER, nullable=False, index=True),
        Column("kind", String(20), nullable=False),
        *(
            Column(name, BigInteger, nullable=False)
            for name in ("input_tokens", "output_tokens", "calls")
        ),
        Column("body", LONG_BLOB, nullable=False),
        if_not_exists=True,
        **TABLE_OPTIONS,
    )


def _make_workers() -> None:
    op.create_table(
        "dqa_workers",
        Column("id", NUMBER, primary_key=True, autoincrement=True),
        Column("run_id", NUMBER, nullable=False, index=True),
        Column("host", String(200), nullable=False),
        Column("pid", Integer, nullable=False),
        Column("started", String(60)),
        Column("beats", BigInteger, nullable=False),
        if_not_exists=True,
        sqlite_autoincrement=True,
        **TABLE_OPTIONS,
    )
    op.create_table(
        "dqa_claims",
        Column("run_id", NUMBER, primary_key=True, autoincrement=False),
        Column("task", String(64), primary_key=True),
        Column("worker_id", NUMBER, nullable=False, index=True),
        if_not_exists=True,
        **TABLE_OPTIONS,
    )
