"""Results say which epoch they are of, and which situation their question stands on."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, Integer, inspect

from dqa.databases.store_locations import LONG_TEXT

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the columns that are missing; what was decided before is of the first epoch."""
    there = {column["name"] for column in inspect(op.get_bind()).get_columns("dqa_results")}
    for column in (
        Column("epoch", Integer, nullable=False, server_default="1"),
        Column("situation", LONG_TEXT),
    ):
        if column.name not in there:  # a server may have been stopped in between
            op.add_column("dqa_results", column)
