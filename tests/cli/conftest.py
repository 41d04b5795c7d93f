"""Running the command line inside the test."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from dqa.cli.main import run
from tests.sqlite_files import run_script


@dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str


Command = Callable[..., Ran]


@pytest.fixture
def dqa(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run `dqa` with arguments, as the installed script does."""

    def ran(*arguments: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["dqa", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            run()
        captured = capsys.readouterr()
        code = ended.value.code
        return Ran(code if isinstance(code, int) else 0, captured.out, captured.err)

    return ran


@pytest.fixture(scope="session")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two small questions of each scenario."""
    from dqa.loaders.generator.generate import generate
    from dqa.loaders.generator.manifest import write_generated
    from dqa_simulators.building.generator import BuildingSize
    from dqa_simulators.locating.generator import LocatingSize

    folder = tmp_path_factory.mktemp("generated") / "small"
    sizes = (LocatingSize(12, 20, 20, 60), BuildingSize(6, 12, 10, 14))
    write_generated(generate(count=2, seed=11, sizes=sizes), folder, seed=11)
    return folder


@pytest.fixture(scope="session")
def whole_shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a database of a user's own: suppliers, and 300 tables that no question is about."""
    columns = ", ".join(f"measure_{number} REAL" for number in range(12))
    script = [
        "CREATE TABLE supplier (id INTEGER PRIMARY KEY, name TEXT, cost REAL)",
        "INSERT INTO supplier VALUES (1, 'Nord, West', 2.5), (2, 'Süd', 1.0)",
        "CREATE TABLE salary (name TEXT, pay REAL)",
        *(f"CREATE TABLE archive_{number:03} (id INTEGER, {columns})" for number in range(300)),
    ]
    return run_script(tmp_path_factory.mktemp("shop") / "shop.db", ";".join(script))


@pytest.fixture
def shop(whole_shop: Path, tmp_path: Path) -> Path:
    """Copy the database."""
    return Path(shutil.copy(whole_shop, tmp_path / "shop.db"))
