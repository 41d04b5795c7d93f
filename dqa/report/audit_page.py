"""The audit of labels as a page."""

from __future__ import annotations

from dqa.evaluation.audit import (
    BY_TEXT,
    DATA_DEFECT,
    EVERY,
    LAST_BIT,
    NONE,
    TIE,
    ReleaseAudit,
)
from dqa.report.pages import drawn_page

_MEANINGS = {
    DATA_DEFECT: "the label is missing, or names nothing that can be chosen",
    TIE: "several candidates are exactly as good as the label, or all are up to rounding",
    LAST_BIT: "the best and the next differ by rounding; the order of sums picked it",
    EVERY: "best under every rule set",
    BY_TEXT: "best by what the rules say, though not under every rule set",
    NONE: "best under no rule set",
}


def render_audit(audit: ReleaseAudit) -> str:
    """Return the audit as one self-contained HTML page."""
    found = {label.verdict: None for label in audit.labels}
    return drawn_page(
        "page/audit.html",
        ("shell.js", "audit.js"),
        {},
        audit=audit,
        verdicts=tuple(dict.fromkeys((*_MEANINGS, *found))),
        meanings=dict.fromkeys(found, "best by the rule sets that say so, and by no other")
        | _MEANINGS,
        rules=tuple(dict.fromkeys(name for totals in audit.totals for name in totals.agree)),
    )
