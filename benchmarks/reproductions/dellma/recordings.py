"""The reader of the release's recorded prompts and answers.

A run is a folder of one method at one setting. It contains a folder for each choice of actions
(``apple-avocado``) with the folders ``prompt`` and ``response``. Runs are found by the names of
their folders at any depth below ``results``; other folders are skipped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dqa.core.errors import ParseError
from dqa.core.files import DATA_BYTES, read_text
from dqa.core.question_set import Defect
from dqa_dellma.release.questions import KNOWN_YEAR

__all__ = ["DIRECT", "Instance", "RecordedRun", "Recording", "find_runs", "read_pairs"]

DIRECT: Mapping[str, str] = {
    "zero-shot": "zero-shot",
    "cot": "chain-of-thought",
    "self-consistency": "self-consistency",
}
"""The release's modes that decide in words, without rankings, and the names of their methods."""
_SETTINGS = re.compile(r"sample_size=(\d{1,4})_minibatch_size=(\d{1,4})_overlap_pct=(\d{1,2})")
_PAIR = re.compile(
    r"^- State-Action Pair (?P<place>\d+)\. State: .*; Action \d+\. (?P<name>[^:\n]+)", re.MULTILINE
)
_YEAR = re.compile(r"\d{4}")


@dataclass(frozen=True, slots=True)
class Recording:
    """A prompt and its answer.

    Attributes
    ----------
    number
        Number of the prompt, from 0. With minibatches, each has one prompt.
    prompt, response
        The files.
    reply
        The JSON object of the answer; None if it cannot be read.
    """

    number: int
    prompt: Path
    response: Path
    reply: Mapping[str, Any] | None

    @property
    def ranking(self) -> Any:  # noqa: ANN401  (any JSON value)
        """The ranking in the reply (the field ``rank`` or ``order``); None if there is none."""
        reply = self.reply or {}
        return reply.get("rank", reply.get("order"))


@dataclass(frozen=True, slots=True)
class Instance:
    """One question of a run: its actions (lower case, in order), and its folder."""

    actions: tuple[str, ...]
    folder: Path

    def recordings(self, defects: list[Defect]) -> Iterator[Recording]:
        """Read the answers in the order of their prompts; report those that cannot be read."""
        prompts, responses = _numbered(self.folder / "prompt"), _numbered(self.folder / "response")
        for number in sorted(prompts.keys() | responses.keys()):
            prompt = prompts.get(number, self.folder / "prompt" / f"prompt_{number}.txt")
            response = responses.get(number, self.folder / "response" / f"response_{number}.json")
            yield Recording(number, prompt, response, _reply(response, defects))


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """The recorded answers of one method at one setting.

    Attributes
    ----------
    dataset
        ``agriculture`` or ``stocks``.
    mode
        A key of `DIRECT`, ``rank`` or ``rank-minibatch``: the release's names.
    folder
        Contains a folder for each choice of actions.
    year
        Agriculture: the year of the report, or 2021 if the path names no year. Stocks: None.
    samples, batch, overlap
        Only for ``rank-minibatch``: samples per action, items of a minibatch, and the percentage of
        items that consecutive minibatches share.
    """

    dataset: str
    mode: str
    folder: Path
    year: int | None = None
    samples: int | None = None
    batch: int | None = None
    overlap: int | None = None

    @property
    def step(self) -> int:
        """The distance between the starts of consecutive minibatches; 0 without minibatches."""
        return 0 if self.batch is None else self.batch - self.batch * (self.overlap or 0) // 100

    @property
    def instances(self) -> list[Instance]:
        """The questions, fewest actions first."""
        found = [Instance(tuple(one.name.lower().split("-")), one) for one in _folders(self.folder)]
        return sorted(found, key=lambda each: (len(each.actions), each.actions))


def find_runs(folder: Path) -> list[RecordedRun]:
    """Find every run of a release, in the order of its folders.

    Parameters
    ----------
    folder
        The release: the folder that contains ``results``.

    Raises
    ------
    ParseError
        There is no run.
    """
    results = folder / "results"
    runs = [
        *_runs("agriculture", results / "agriculture", KNOWN_YEAR),
        *_runs("stocks", results / "stocks", None),
    ]
    if not runs:
        raise ParseError(
            results,
            None,
            "there are no recorded answers here: name the folder of the DeLLMa release, with "
            "results/agriculture and results/stocks, and below them folders such as zero-shot and "
            "rank-minibatch/sample_size=64_minibatch_size=32_overlap_pct=25",
        )
    return runs


def _runs(dataset: str, folder: Path, year: int | None) -> Iterator[RecordedRun]:
    for inner in _folders(folder):
        name = inner.name.lower()
        if name in DIRECT or name == "rank":
            yield RecordedRun(dataset, name, inner, year)
        elif setting := _SETTINGS.fullmatch(name):
            yield RecordedRun(dataset, "rank-minibatch", inner, year, *map(int, setting.groups()))
        else:
            has_year = year is not None and _YEAR.fullmatch(name)
            yield from _runs(dataset, inner, int(name) if has_year else year)


def read_pairs(prompt: Path) -> list[str]:
    """Read the actions (lower case) of the state-action pairs that a prompt lists, in order.

    Raises
    ------
    ParseError
        The prompt cannot be read, or does not number its pairs 1, 2, 3, ...
    """
    found = list(_PAIR.finditer(read_text(prompt, home=prompt.parent, most=DATA_BYTES)))
    if not found or [int(match["place"]) for match in found] != list(range(1, len(found) + 1)):
        raise ParseError(prompt, None, "expected state-action pairs, numbered from 1")
    return [match["name"].strip().lower() for match in found]


def _reply(file: Path, defects: list[Defect]) -> Mapping[str, Any] | None:
    """Return the JSON object in a file. If there is none, report it and return None."""
    try:
        reply = json.loads(read_text(file, home=file.parent, most=DATA_BYTES))
    except (ParseError, ValueError) as error:
        problem = error.problem if isinstance(error, ParseError) else f"this is not JSON: {error}"
    else:
        if isinstance(reply, dict):
            return reply
        problem = "expected a JSON object"
    defects.append(Defect(file, problem, "treated as no answer"))
    return None


def _numbered(folder: Path) -> dict[int, Path]:
    """Return the files in a folder by the numbers at the end of their names."""
    return {int(file.stem.rpartition("_")[2]): file for file in folder.glob("*_*")}


def _folders(folder: Path) -> list[Path]:
    """Return the folders in a folder, except hidden ones, sorted by name without regard to case."""
    inner = folder.iterdir() if folder.is_dir() else ()
    found = (path for path in inner if path.is_dir() and path.name[0] != ".")
    return sorted(found, key=lambda path: path.name.lower())
