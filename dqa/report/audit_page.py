"""The HTML page of an audit of labels."""

from __future__ import annotations

from dqa.evaluation.audit import BY_TEXT, DATA_DEFECT, EVERY, LAST_BIT, NONE, TIE, ReleaseAudit
from dqa.report.pages import drawn_page

_MEANINGS = {
    DATA_DEFECT: "the label is missing or is not a candidate",
    TIE: "several candidates are exactly as good as the label, or all are equal up to rounding",
    LAST_BIT: "the two best candidates differ only by rounding; the order of summation decides",
    EVERY: "best under every rule set",
    BY_TEXT: "best under the rules as written, but not under every rule set",
    NONE: "not best under any rule set",
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
        meanings=dict.fromkeys(found, "best only under the named rule sets") | _MEANINGS,
        rules=tuple(dict.fromkeys(name for totals in audit.totals for name in totals.agree)),
    )
