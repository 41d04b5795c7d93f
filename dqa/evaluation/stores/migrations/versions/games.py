"""Runs of games say who writes their history, where it is, and what their players had learnt."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, inspect

from dqa.databases.store_locations import LONG_TEXT

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the column where it is missing; of earlier runs nothing is known."""
    there = {column["name"] for column in inspect(op.get_bind()).get_columns("dqa_runs")}
    if "games" not in there:  # a server may have been stopped in between
        op.add_column("dqa_runs", Column("games", LONG_TEXT))
