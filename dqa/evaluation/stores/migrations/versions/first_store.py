"""The first form of a store: runs, prompts, results, traces, claims."""

from __future__ import annotations

from alembic import op
from sqlalchemy import BigInteger, Column, Double, Integer, String

from dqa.databases.kept_columns import OPTIONS, blob, number, text

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
        if_not_exists=True,
        **OPTIONS,
    )
    op.create_table(
        "dqa_prompts",
        Column("hash", String(64), primary_key=True),
        Column("text", text(), nullable=False),
        if_not_exists=True,
        **OPTIONS,
    )
    op.create_table(
        "dqa_run_prompts",
        Column("run_id", number(), primary_key=True, autoincrement=False),
        Column("decider", String(200), primary_key=True),
        Column("name", String(200), primary_key=True),
        Column("hash", String(64), nullable=False),
        if_not_exists=True,
        **OPTIONS,
    )
    op.create_table(
        "dqa_shortcuts",
        Column("run_id", number(), primary_key=True, autoincrement=False),
        Column("position", Integer, primary_key=True, autoincrement=False),
        Column("body", text(), nullable=False),
        if_not_exists=True,
        **OPTIONS,
    )


def _make_results() -> None:
    op.create_table(
        "dqa_results",
        Column("run_id", number(), primary_key=True, autoincrement=False),
        Column("task", String(64), primary_key=True),
        Column("position", Integer),
        Column("worker_id", number()),
        Column("question", String(700), nullable=False),
        Column("scenario", String(200), nullable=False),
        Column("database", String(500), nullable=False),
        Column("kind", String(20), nullable=False),
        Column("decider", String(500), nullable=False),
        Column("model", text(), nullable=False),
        Column("outcome", String(40), nullable=False),
        Column("answer", text(), nullable=False),
        Column("choice", text()),
        Column("official", text()),
        Column("ties", text(), nullable=False),
        *(Column(name, Double) for name in ("regret", "relative_regret")),
        Column("rank", BigInteger),
        *(Column(name, Double) for name in ("value", "best_value", "baseline")),
        Column("goal", String(20)),
        *(Column(name, Integer, nullable=False) for name in ("steps", "statements", "plans")),
        Column("error", text()),
        *(
            Column(name, BigInteger, nullable=False)
            for name in ("input_tokens", "output_tokens", "calls")
        ),
        Column("tags", text(), nullable=False),
        Column("match", String(40)),
        Column("ended_by", text()),
        Column("seconds", Double, nullable=False),
        Column("more", text()),
        if_not_exists=True,
        **OPTIONS,
    )
    op.create_index(
        "dqa_results_by_question", "dqa_results", ["run_id", "question"], if_not_exists=True
    )
    op.create_table(
        "dqa_traces",
        Column("run_id", number(), primary_key=True, autoincrement=False),
        Column("task", String(64), primary_key=True),
        Column("body", blob(), nullable=False),
        if_not_exists=True,
        **OPTIONS,
    )
    op.create_table(
        "dqa_lost",
        Column("id", number(), primary_key=True, autoincrement=True),
        Column("run_id", number(), nullable=False, index=True),
        Column("kind", String(20), nullable=False),
        *(
            Column(name, BigInteger, nullable=False)
            for name in ("input_tokens", "output_tokens", "calls")
        ),
        Column("body", blob(), nullable=False),
        if_not_exists=True,
        **OPTIONS,
    )


def _make_workers() -> None:
    op.create_table(
        "dqa_workers",
        Column("id", number(), primary_key=True, autoincrement=True),
        Column("run_id", number(), nullable=False, index=True),
        Column("host", String(200), nullable=False),
        Column("pid", Integer, nullable=False),
        Column("started", String(60)),
        Column("beats", BigInteger, nullable=False),
        if_not_exists=True,
        sqlite_autoincrement=True,
        **OPTIONS,
    )
    op.create_table(
        "dqa_claims",
        Column("run_id", number(), primary_key=True, autoincrement=False),
        Column("task", String(64), primary_key=True),
        Column("worker_id", number(), nullable=False, index=True),
        if_not_exists=True,
        **OPTIONS,
    )
