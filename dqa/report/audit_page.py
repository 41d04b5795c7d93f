"""The audit as a page: one self-contained HTML file that opens anywhere, offline."""

from __future__ import annotations

from dqa.evaluation.audit import LabelVerdict, ReleaseAudit
from dqa.report.pages import rendered

__all__ = ["render_audit"]

_MEANINGS = {
    LabelVerdict.DATA_DEFECT: "the label is missing, or names nothing that can be chosen",
    LabelVerdict.TIE: "several candidates are exactly as good as the label; table order picked it",
    LabelVerdict.LAST_BIT: "the best and the next differ by rounding; the order of sums picked it",
    LabelVerdict.BOTH: "best under both rule sets",
    LabelVerdict.RELEASED_ONLY: "best only where sums count twice",
    LabelVerdict.PAPER_ONLY: "best only in a clean simulation",
    LabelVerdict.NEITHER: "best under neither rule set",
}


def render_audit(audit: ReleaseAudit) -> str:
    """Return the audit as one HTML page, without scripts or styles from elsewhere."""
    return rendered(
        "dqa.report",
        "audit_page.html",
        audit=audit,
        verdicts=tuple(LabelVerdict),
        meanings=_MEANINGS,
    )
