"""``dqa dellma replay``: the authors' recorded answers, scored anew.

The replay reproduces another program's figures, down to its rounding, and nothing else uses it. So
it lies in the project's checkout (``benchmarks/reproductions/dellma``) and not in the package.
"""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Annotated

import typer

from dqa.cli import options
from dqa.cli.help import QUESTIONS
from dqa.core.errors import UsageError

_FOLDER = Path("benchmarks", "reproductions", "dellma")
_NAME = "dqa_dellma_replay"


def replay(
    *,
    release: Annotated[
        Path,
        typer.Option(
            "--release",
            metavar="DIR",
            help="Folder of the DeLLMa release to read.",
            rich_help_panel=QUESTIONS,
        ),
    ],
    rules: Annotated[
        str,
        typer.Option(
            "--rule-set",
            metavar="NAME",
            help="How rankings are scored: 'released', or 'paper' for one softmax everywhere.",
            rich_help_panel=QUESTIONS,
        ),
    ] = "released",
    verbose: options.Verbose = False,
    as_json: options.AsJson = False,
) -> None:
    """Score the recorded GPT-4 answers of a DeLLMa release, beside what its scripts say."""
    load_replay().show(release, rules, verbose=verbose, as_json=as_json)


def load_replay(checkout: Path = Path(__file__).parents[3]) -> ModuleType:
    """Return the replay's package: its ``replay`` gives scores, and its ``show`` prints them.

    Parameters
    ----------
    checkout
        The project's folder; the one that this package lies in by default.

    Raises
    ------
    UsageError
        There is no replay: this is an installed package.
    """
    package = checkout / _FOLDER / "__init__.py"
    spec = spec_from_file_location(_NAME, package)
    if not package.is_file() or spec is None or spec.loader is None:
        raise UsageError(
            f"The replay is no part of the installed package: it is {_FOLDER.as_posix()} in the "
            "source distribution and in the repository of dqa. Unpack or clone one of them, and "
            "run 'dqa dellma replay' there."
        )
    if _NAME not in sys.modules:
        sys.modules[_NAME] = module_from_spec(spec)
        spec.loader.exec_module(sys.modules[_NAME])
    return sys.modules[_NAME]
