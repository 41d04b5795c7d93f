"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def release_dir() -> Path:
    """Folder of the DQA release: ``DQA_RELEASE_DIR``, or the shared copy beside the checkout."""
    folder = Path(
        os.environ.get("DQA_RELEASE_DIR", ROOT.parent / "shared" / "data" / "dqa-release")
    )
    if not folder.is_dir():
        pytest.skip(f"no DQA release at {folder}; set DQA_RELEASE_DIR")
    return folder
