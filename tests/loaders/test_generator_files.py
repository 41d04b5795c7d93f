"""Generated question sets on disk: byte for byte the same, and read only if unchanged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dqa
from dqa.core.errors import DataError
from dqa.core.question_set import QuestionSet
from dqa.loaders.generator.generate import generate
from dqa.loaders.generator.manifest import GENERATOR_VERSION, read_manifest, write_generated
from dqa.loaders.reading import read_questions
from dqa.loaders.release import MANIFEST
from dqa.scenarios.generation import Difficulty
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


def test_a_seed_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    """The manifest included; the graph form holds the same situations."""
    again = generate(count=4, seed=8, sizes=[LocatingSize(20, 35, 40, 120)], per_database=2)
    write_generated(again, tmp_path / "again", seed=8, options={"difficulty": Difficulty()})
    assert files_of(tmp_path / "again") == files_of(folder)
    read = read_questions(folder, form="graph", strict=True)
    assert dict(read.situations) == dict(again.situations)


def files_of(folder: Path) -> dict[str, bytes]:
    """Read every file of a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_the_manifest_describes_the_questions(folder: Path) -> None:
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


def test_a_changed_or_missing_file_is_named(folder: Path) -> None:
    """One more byte is enough."""
    one, *_, other = sorted((folder / "data").rglob("*.*ql"))
    one.write_bytes(one.read_bytes() + b"\n")
    with pytest.raises(DataError, match=f"{one.name} was changed"):
        dqa.read_generated(folder)
    one.write_bytes(one.read_bytes()[:-1])
    other.unlink()
    with pytest.raises(DataError, match=f"{other.name} was changed or is missing"):
        dqa.read_generated(folder)


def test_a_malformed_manifest_is_refused(folder: Path) -> None:
    """The message names the manifest; the rule set of an old version is not the present one."""
    path = folder / MANIFEST
    whole = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**whole, "generator_version": 1}), "utf-8")
    assert dqa.read_generated(folder).rule_set is None
    for content, problem in (
        ({**whole, "format": "something else"}, "manifest"),
        ({**whole, "files": {}}, "files: must not be empty"),
        ({**whole, "files": {"a.sql": "zz"}}, r"files\.a\.sql: .*match pattern"),
        ({**whole, "files": {"../elsewhere.sql": "0" * 64}}, "outside of the folder"),
    ):
        path.write_text(json.dumps(content), "utf-8")
        with pytest.raises(DataError, match=problem):
            dqa.read_generated(folder)
    path.write_text('{"format": ', "utf-8")
    with pytest.raises(DataError, match="this is not JSON"):
        dqa.read_generated(folder)
    path.unlink()
    with pytest.raises(DataError, match=f"{MANIFEST}: it does not exist"):
        dqa.read_generated(folder)
