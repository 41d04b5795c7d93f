"""Auditing official labels, as data and as a page."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from dqa.core.errors import UsageError
from dqa.core.question_set import Defect, QuestionSet
from dqa.core.truth import Truth
from dqa.evaluation.audit import DATA_DEFECT, EVERY, NONE, TIE, ReleaseAudit, audit
from dqa.loaders.release import read_release
from dqa.report.audit_page import render_audit
from dqa.report.pages import write_page
from tests.evaluation.test_annotate import mixed


@pytest.fixture(scope="module")
def shared(release_dir: Path) -> ReleaseAudit:
    """The audit of the release."""
    return audit(read_release(release_dir))


def labelled(*answers: str | int) -> QuestionSet:
    """The mixed set with other official answers."""
    questions = mixed()
    asked = questions.questions[: len(answers)]
    truths = {q.key: Truth((answer,)) for q, answer in zip(asked, answers, strict=True)}
    return replace(questions, questions=asked, truths=truths)


def test_verdicts_of_small_labels() -> None:
    """Agreement, a tie, a wrong label and a label that is no candidate are told apart."""
    assert [label.verdict for label in audit(labelled("mid", 1)).labels] == [
        EVERY,
        TIE,
    ]
    wrong, other_tie = audit(labelled("far", 2)).labels
    assert wrong.verdict == NONE
    assert wrong.rank["paper"] == 2
    assert (other_tie.verdict, other_tie.agrees["released"]) == (TIE, False)
    (defect,) = audit(labelled("atlantis")).labels
    assert defect.verdict == DATA_DEFECT
    assert "atlantis" in defect.reason


def test_a_question_without_label_is_a_defect() -> None:
    """A missing label is said to be missing."""
    label = audit(mixed()).labels[2]
    assert (label.verdict, label.official) == (DATA_DEFECT, None)


def test_defects_stand_beside_the_labels_of_their_file() -> None:
    """A label is told what was wrong in its own scenario's file, and no other label is."""
    defect = Defect(Path("locating/trade.sql"), 3, "a column is misspelt", "read as meant")
    first, second, *_ = audit(replace(mixed(), defects=(defect,))).labels
    assert first.defects == ("a column is misspelt; read as meant",)
    assert second.defects == ()


def test_the_labels_of_the_release_rest_on_what_was_found(shared: ReleaseAudit) -> None:
    """Every label agrees under `released`; what is only there, tied or rounded adds up."""
    for totals in shared.totals:
        assert totals.agree["released"] == totals.labels
        assert totals.agree["paper"] + totals.only_first == totals.labels
        assert sum(totals.verdicts.values()) == totals.labels
    locating, building = shared.totals
    assert locating.decided_by_last_bit == 0
    assert building.ties == 0
    found = {label.question: label for label in shared.labels if label.decided_by_last_bit}
    assert set(found) <= {"25", "30", "40", "71", "73", "126"}


def test_locating_ties_are_ties_of_every_candidate(shared: ReleaseAudit) -> None:
    """Where Locating labels tie, nothing that the merchant does reaches home."""
    ties = [label for label in shared.labels if label.verdict == TIE]
    assert ties
    for label in ties:
        assert label.reason.startswith(f"All {label.tie_of} candidates")
        assert label.agrees["released"]


def test_the_audit_is_json(shared: ReleaseAudit) -> None:
    """The audit survives a round through JSON, every label with verdict and reason."""
    document = json.loads(json.dumps(shared.to_json()))
    assert len(document["labels"]) == len(shared.labels)
    assert all(label["verdict"] and label["reason"] for label in document["labels"])


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.rows = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.links += [value or "" for name, value in attrs if name in {"src", "href", "action"}]
        self.rows += tag == "tr"


def test_the_page_holds_every_label_and_needs_no_network(shared: ReleaseAudit) -> None:
    """One row a label and one a shortcut, no link to anything elsewhere."""
    page = render_audit(shared)
    parser = _Links()
    parser.feed(page)
    assert parser.links == []
    assert not re.search(r"https?://|@import|url\(", page)
    listed = (shared.labels, shared.totals, shared.shortcuts)
    assert parser.rows == sum(map(len, listed)) + 3
    assert all(f"<td>{shortcut.name}</td>" in page for shortcut in shared.shortcuts)
    assert all(page.count(label.reason) for label in shared.labels if "'" not in label.reason)


def test_names_cannot_break_out_of_the_page() -> None:
    """What stands in a release's files is shown as text, never as markup."""
    page = render_audit(audit(labelled("<script>alert(1)</script>")))
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_a_page_that_cannot_be_written_is_an_error_of_use(tmp_path: Path) -> None:
    """The file is named, with the reason."""
    file = tmp_path / "missing" / "audit.html"
    with pytest.raises(UsageError, match="cannot be written"):
        write_page(render_audit(audit(mixed())), file)
