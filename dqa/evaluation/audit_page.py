"""The audit as a page: one self-contained HTML file that opens anywhere, offline."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from dqa.errors import UsageError
from dqa.evaluation.audit import Audit, Verdict

__all__ = ["render_audit", "write_audit_page"]

_MEANINGS = {
    Verdict.DATA_DEFECT: "the label is missing, or names nothing that can be chosen",
    Verdict.TIE: "several candidates are exactly as good as the label; table order picked it",
    Verdict.LAST_BIT: "the best and the next differ by rounding; the order of summation picked it",
    Verdict.BOTH: "best under both rule sets",
    Verdict.RELEASED_ONLY: "best only where sums count twice",
    Verdict.PAPER_ONLY: "best only in a clean simulation",
    Verdict.NEITHER: "best under neither rule set",
}


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("dqa.evaluation", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("audit_page.html")


def render_audit(audit: Audit) -> str:
    """Return the audit as one HTML page, without scripts or styles from elsewhere."""
    return _template().render(audit=audit, verdicts=tuple(Verdict), meanings=_MEANINGS)


def write_audit_page(audit: Audit, file: Path) -> None:
    """Write the audit's page.

    Raises
    ------
    UsageError
        The file cannot be written.
    """
    try:
        file.write_text(render_audit(audit), "utf-8")
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}.") from error
