"""Generated question sets on disk: byte for byte the same, and read only if unchanged."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dqa.core.errors import DataError, UsageError
from dqa.core.question_set import QuestionSet
from dqa.loaders.generator import (
    GENERATOR_VERSION,
    MANIFEST,
    Difficulty,
    generate,
    read_generated,
    read_manifest,
    write_generated,
)
from dqa.loaders.release import read_release
from dqa_simulators.locating.generator import LocatingSize


@pytest.fixture(scope="module")
def generated() -> QuestionSet:
    """A small set of both scenarios."""
    return generate(count=4, seed=8, sizes=[LocatingSize(20, 35, 40, 120)], per_database=2)


@pytest.fixture
def folder(generated: QuestionSet, tmp_path: Path) -> Path:
    """The small set, written."""
    write_generated(generated, tmp_path / "set", seed=8, options={"difficulty": Difficulty()})
    return tmp_path / "set"


def test_what_is_written_reads_back_equal(generated: QuestionSet, folder: Path) -> None:
    """Questions and situations come back with names, targets, answers and every value."""
    read = read_generated(folder)
    assert not read.defects
    assert dict(read.situations) == dict(generated.situations)
    for one, other in zip(read.questions, generated.questions, strict=True):
        assert (one.key, one.target) == (other.key, other.target)
        assert read.truth_of(one) == generated.truth_of(other)
        assert (one.situation, one.candidates) == (other.situation, other.candidates)
        assert (one.text, one.rules) == (other.text.strip(), other.rules.strip())


def test_the_graph_form_reads_back_equal_too(generated: QuestionSet, folder: Path) -> None:
    """The .cql files hold the same situations as the .sql files."""
    read = read_release(folder, form="graph", strict=True)
    assert dict(read.situations) == dict(generated.situations)


def test_a_seed_gives_the_same_bytes(generated: QuestionSet, folder: Path, tmp_path: Path) -> None:
    """Writing a set generated anew gives the same files, manifest included."""
    again = generate(count=4, seed=8, sizes=[LocatingSize(20, 35, 40, 120)], per_database=2)
    assert contents_of(generated) == contents_of(again)
    write_generated(again, tmp_path / "again", seed=8, options={"difficulty": Difficulty()})
    assert files_of(tmp_path / "again") == files_of(folder)


def contents_of(question_set: QuestionSet) -> dict[str, str]:
    """Hash every world."""
    return {name: s.content_hash for name, s in question_set.situations.items()}


def files_of(folder: Path) -> dict[str, bytes]:
    """Read every file of a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_the_manifest_says_what_was_generated(folder: Path) -> None:
    """Seed, version, options, rule sets of the labels, counts, and a hash of every file."""
    manifest = read_manifest(folder)
    assert manifest.seed == 8
    assert manifest.generator_version == GENERATOR_VERSION
    assert manifest.label_rules == ("paper", "released")
    assert manifest.options["difficulty"]["max_margin"] is None
    assert manifest.counts["locating"].questions == 4
    assert manifest.counts["locating"].databases == 2
    assert manifest.counts["locating"].mean_rows == 215
    assert set(manifest.files) == set(files_of(folder)) - {MANIFEST}


@pytest.mark.parametrize(("version", "judged_by"), [(GENERATOR_VERSION, "paper"), (1, None)])
def test_names_of_rule_sets_in_old_manifests_are_not_taken_for_todays(
    folder: Path, version: int, judged_by: str | None
) -> None:
    """What version 1 called ``paper`` counts otherwise today, and would deny some of its labels."""
    path = folder / MANIFEST
    manifest = json.loads(path.read_text("utf-8")) | {"generator_version": version}
    path.write_text(json.dumps(manifest), "utf-8")
    assert read_generated(folder).rule_set == judged_by


def test_a_changed_file_is_named(folder: Path) -> None:
    """One more byte anywhere is enough."""
    victim = next(iter(sorted((folder / "data").rglob("*.cql"))))
    victim.write_bytes(victim.read_bytes() + b"\n")
    with pytest.raises(DataError, match=f"{victim.name} was changed"):
        read_generated(folder)


def test_a_missing_file_is_named(folder: Path) -> None:
    """A file that the manifest lists has to be there."""
    victim = next(iter(sorted((folder / "data").rglob("*.sql"))))
    victim.unlink()
    with pytest.raises(DataError, match=f"{victim.name} is missing"):
        read_generated(folder)


def _outside(manifest: dict[str, object]) -> dict[str, object]:
    return {**manifest, "files": {"../elsewhere.sql": "0" * 64}}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda manifest: {**manifest, "format": "something else"}, "is no manifest"),
        (lambda manifest: {**manifest, "files": {}}, "files: must not be empty"),
        (
            lambda manifest: {**manifest, "files": {"a.sql": "zz"}},
            r"files\.a\.sql: .*match pattern",
        ),
        (_outside, "outside of the folder"),
        (lambda manifest: [manifest], "is no manifest"),
    ],
)
def test_a_malformed_manifest_is_refused(
    folder: Path, change: Callable[[dict[str, object]], object], problem: str
) -> None:
    """The message names the manifest and what is wrong in it."""
    path = folder / MANIFEST
    path.write_text(json.dumps(change(json.loads(path.read_text("utf-8")))), "utf-8")
    with pytest.raises(DataError, match=problem):
        read_generated(folder)


def test_a_manifest_that_is_no_json_is_refused(folder: Path) -> None:
    """A truncated manifest is no manifest."""
    (folder / MANIFEST).write_text('{"format": ', "utf-8")
    with pytest.raises(DataError, match="cannot be read as JSON"):
        read_generated(folder)


def test_a_folder_without_manifest_is_refused(tmp_path: Path) -> None:
    """A folder that was not generated, or not to its end, says so."""
    with pytest.raises(DataError, match=f"{MANIFEST} is missing"):
        read_generated(tmp_path)


def test_nothing_is_overwritten(generated: QuestionSet, folder: Path) -> None:
    """A folder that holds something is left as it is."""
    before = files_of(folder)
    with pytest.raises(UsageError, match="is not empty"):
        write_generated(generated, folder, seed=8)
    assert files_of(folder) == before
