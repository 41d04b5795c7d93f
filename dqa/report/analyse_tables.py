"""What ``dqa analyse`` prints: each table of an analysis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dqa.evaluation.findings import FindingTable, Share
from dqa.report.columns import columns_table, interval_text, share_text

if TYPE_CHECKING:
    from rich.table import Table

_WIDEST = 7
"""Columns beyond which each share has a line of its own."""


def finding_table(measured: FindingTable) -> Table:
    """Return an analysis's table for a terminal."""
    columns = sorted({column for row in measured.rows for column in row.shares})
    if len(columns) > _WIDEST:
        lines = (
            [row.scenario, row.decider, column, _cell(share)]
            for row in measured.rows
            for column, share in row.shares.items()
            if share.count
        )
        return columns_table(["Scenario", "Decider", "Kind"], ["Share"], lines)
    rows = (
        [row.scenario, row.decider, *(_cell(row.shares.get(column)) for column in columns)]
        for row in measured.rows
    )
    return columns_table(["Scenario", "Decider"], columns, rows)


def _cell(share: Share | None) -> str:
    if share is None or share.low is None or share.high is None:
        return "-"
    return f"{share_text(share.count, share.of)}\n{interval_text(share.low, share.high)}"
