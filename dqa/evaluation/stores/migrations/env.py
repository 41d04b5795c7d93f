"""What Alembic runs: the migrations, on the connection of `dqa.evaluation.stores.schema`."""

from __future__ import annotations

from alembic import context

from dqa.core.run_stores import VERSION_TABLE
from dqa.evaluation.stores.tables import METADATA

if hasattr(context, "config"):  # Alembic runs it, rather than an importer
    context.configure(
        connection=context.config.attributes["connection"],
        target_metadata=METADATA,
        version_table=VERSION_TABLE,
    )
    with context.begin_transaction():
        context.run_migrations()
