"""The reader of the release's recorded prompts and answers.

A run is a folder of one method at one setting. It holds a folder for each choice of actions
(``apple-avocado``), and that a folder ``prompt`` and a folder ``response``. Runs are found by the
names of their folders, wherever below ``results`` they are. Hidden folders are passed over; any
other folder that cannot be what its place says is reported as a `Defect` and left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from dqa.core.errors import ParseError
from dqa.core.files import DATA_BYTES, read_text
from dqa.core.question_set import Defect
from dqa_dellma.release.questions import KNOWN_YEAR

__all__ = ["Instance", "RecordedRun", "Recording", "ShownPair", "find_runs", "read_pairs"]

_DIRECT = frozenset({"zero-shot", "cot", "self-consistency"})
_SETTINGS = re.compile(
    r"sample_size=(?P<samples>\d{1,4})_minibatch_size=(?P<batch>\d{1,4})_overlap_pct=(?P<overlap>\d{1,4})"
)
_PAIR = re.compile(
    r"^- State-Action Pair (?P<place>\d+)\. State: (?P<state>.*); "
    r"Action (?P<number>\d+)\. (?P<name>[^:\n]+)",
    re.MULTILINE,
)
_YEAR = re.compile(r"\d{4}")
_DATASETS = ("agriculture", "stocks")
_LEFT_OUT = "it is left out"


@dataclass(frozen=True, slots=True)
class ShownPair:
    """A state-action pair as a prompt lists it.

    Attributes
    ----------
    action
        Name of the action, lower case.
    stated
        The state in the prompt's words; `state` takes it apart.
    """

    action: str
    stated: str

    @property
    def state(self) -> dict[str, str]:
        """The state as factor to value."""
        state: dict[str, str] = {}
        begun = ""
        for part in self.stated.split(", "):
            # Names of factors hold commas themselves: only what has a colon is complete.
            begun += part
            factor, colon, value = begun.rpartition(": ")
            if colon:
                state[factor] = value
            begun = "" if colon else f"{begun}, "
        return state


@dataclass(frozen=True, slots=True)
class Recording:
    """A prompt and what was answered to it.

    Attributes
    ----------
    number
        Of the prompt, from 0: which minibatch it is, where there are several.
    prompt, response
        The files.
    reply
        The JSON object that was answered; None where there is none.
    """

    number: int
    prompt: Path
    response: Path
    reply: Mapping[str, Any] | None

    @property
    def answered(self) -> bool:
        """Whether there is an answer, be it one that cannot be read."""
        return self.reply is not None or self.response.is_file()

    @property
    def ranking(self) -> Any:  # noqa: ANN401  (whatever the model gave for it)
        """What was given for a ranking, under either of its names; None where nothing was."""
        if self.reply is None:
            return None
        return self.reply.get("rank", self.reply.get("order"))


@dataclass(frozen=True, slots=True)
class Instance:
    """One question of a run: its actions (lower case, in order), and its folder."""

    actions: tuple[str, ...]
    folder: Path

    def recordings(self, defects: list[Defect]) -> Iterator[Recording]:
        """Read the prompts' answers in their order; what cannot be read is reported."""
        replies = _numbered(self.folder / "response", "response_*.json", defects)
        prompts = _numbered(self.folder / "prompt", "prompt_*.txt", defects)
        for number in sorted(prompts.keys() | replies.keys()):
            prompt = prompts.get(number, self.folder / "prompt" / f"prompt_{number}.txt")
            response = replies.get(number, self.folder / "response" / f"response_{number}.json")
            yield Recording(number, prompt, response, _reply(response, defects))


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """The recorded answers of one method at one setting.

    Attributes
    ----------
    dataset
        ``agriculture`` or ``stocks``.
    mode
        ``zero-shot``, ``cot``, ``self-consistency``, ``rank`` or ``rank-minibatch``, as the
        release calls it.
    folder
        Holds a folder for each choice of actions.
    year
        Of agriculture: whose report was the context; 2021 where the path does not tell. Else None.
    samples, batch, overlap
        Of ``rank-minibatch``: samples an action, items of a minibatch, and how many percent of
        them the next one shares.
    """

    dataset: str
    mode: str
    folder: Path
    year: int | None = None
    samples: int | None = None
    batch: int | None = None
    overlap: int | None = None

    @property
    def key(self) -> tuple[str | int | None, ...]:
        """All that tells one run from another: everything but the folder."""
        return self.dataset, self.mode, self.year, self.samples, self.batch, self.overlap

    @property
    def step(self) -> int:
        """By how many items a minibatch starts behind the one before; 0 without minibatches."""
        return 0 if self.batch is None else self.batch - self.batch * (self.overlap or 0) // 100

    def instances(self, defects: list[Defect]) -> list[Instance]:
        """Return the questions, fewest actions first.

        A folder whose name is no choice, or one that is there already, is reported.
        """
        found: dict[tuple[str, ...], Instance] = {}
        for folder in _folders(self.folder, defects):
            actions = tuple(folder.name.lower().split("-"))
            choice = tuple(sorted(actions))
            if len(set(actions)) < max(len(actions), 2):
                problem = "the name is no choice of two or more actions, such as apple-avocado"
                defects.append(Defect(folder, None, problem, _LEFT_OUT))
            elif choice in found:
                problem = f"the same choice as {found[choice].folder.name}"
                defects.append(Defect(folder, None, problem, _LEFT_OUT))
            else:
                found[choice] = Instance(actions, folder)
        return sorted(found.values(), key=lambda each: (len(each.actions), each.actions))


def find_runs(folder: Path, defects: list[Defect]) -> list[RecordedRun]:
    """Find every run of a release, in the order of its folders.

    Parameters
    ----------
    folder
        The release: the folder that holds ``results``.
    defects
        Gets what is there and cannot be a run.

    Raises
    ------
    ParseError
        There is not one.
    """
    results = folder / "results"
    runs: dict[tuple[str | int | None, ...], RecordedRun] = {}
    for dataset in _folders(results, defects):
        name = dataset.name.lower()
        if name not in _DATASETS:
            problem = f"the name is no data set: {' or '.join(_DATASETS)}"
            defects.append(Defect(dataset, None, problem, _LEFT_OUT))
            continue
        for run in _runs(name, dataset, KNOWN_YEAR if name == "agriculture" else None, defects):
            if run.key in runs:
                problem = f"the same data set, method and setting as {runs[run.key].folder}"
                defects.append(Defect(run.folder, None, problem, _LEFT_OUT))
                continue
            runs[run.key] = run
    if not runs:
        first = f". The first problem: {defects[0]}" if defects else ""
        raise ParseError(
            results,
            None,
            "there are no recorded answers here: name the folder of the DeLLMa release, with "
            "results/agriculture and results/stocks, and below them folders such as zero-shot and "
            f"rank-minibatch/sample_size=64_minibatch_size=32_overlap_pct=25{first}",
        )
    return list(runs.values())


def _runs(
    dataset: str, folder: Path, year: int | None, defects: list[Defect]
) -> Iterator[RecordedRun]:
    """Yield the runs below a folder, without looking into their questions."""
    stray = 0
    for inner in _folders(folder, defects):
        mode = inner.name.lower()
        if mode in _DIRECT or mode == "rank":
            yield RecordedRun(dataset, mode, inner, year)
        elif mode == "rank-minibatch":
            for setting in _folders(inner, defects):
                if run := _minibatched(dataset, setting, year, defects):
                    yield run
        elif (inner / "response").is_dir():
            stray += 1
        else:
            told = year is not None and _YEAR.fullmatch(mode)
            yield from _runs(dataset, inner, int(mode) if told else year, defects)
    if stray:
        methods = ", ".join((*sorted(_DIRECT), "rank", "rank-minibatch"))
        problem = f"{stray} questions are in no folder of a method: {methods}"
        defects.append(Defect(folder, None, problem, "they are left out"))


def _minibatched(
    dataset: str, folder: Path, year: int | None, defects: list[Defect]
) -> RecordedRun | None:
    """Return the run of a folder whose name is its setting, or None and a report why not."""
    found = _SETTINGS.fullmatch(folder.name.lower())
    if found is None:
        problem = (
            "the name is not sample_size=S_minibatch_size=B_overlap_pct=P with whole numbers "
            "below 10000"
        )
        defects.append(Defect(folder, None, problem, _LEFT_OUT))
        return None
    samples, batch, overlap = (int(found[name]) for name in ("samples", "batch", "overlap"))
    if samples < 1 or batch < 2 or overlap > 99:
        problem = (
            f"{samples} samples in minibatches of {batch} that share {overlap} % cannot be: there "
            "has to be at least 1 sample, a minibatch has at least 2 items, and shares at most 99 %"
        )
        defects.append(Defect(folder, None, problem, _LEFT_OUT))
        return None
    return RecordedRun(dataset, "rank-minibatch", folder, year, samples, batch, overlap)


def read_pairs(prompt: Path) -> list[ShownPair]:
    """Read the state-action pairs that a prompt lists, in order.

    Raises
    ------
    ParseError
        The prompt is missing, lists none, or does not number them 1, 2, 3, ...
    """
    found = list(_PAIR.finditer(read_text(prompt, home=prompt.parent, most=DATA_BYTES)))
    places = [int(match["place"]) for match in found]
    if not places or places != list(range(1, len(places) + 1)):
        raise ParseError(prompt, None, "expected state-action pairs, numbered from 1")
    return [ShownPair(match["name"].strip().lower(), match["state"]) for match in found]


def _reply(file: Path, defects: list[Defect]) -> Mapping[str, Any] | None:
    """Return the object that a file of an answer holds, or None and a report why not."""
    try:
        reply = json.loads(read_text(file, home=file.parent, most=DATA_BYTES))
    except (ParseError, ValueError, RecursionError) as error:
        problem = error.problem if isinstance(error, ParseError) else f"this is no JSON: {error}"
    else:
        if isinstance(reply, dict):
            return reply
        problem = "expected a JSON object"
    defects.append(Defect(file, None, problem, "it answers nothing"))
    return None


def _folders(folder: Path, defects: list[Defect]) -> list[Path]:
    """Return the folders in a folder but for hidden ones, sorted whatever their case.

    There are none where it is missing; where it cannot be read, that is reported.
    """
    if not folder.is_dir():
        return []
    try:
        inner = [path for path in folder.iterdir() if path.is_dir() and path.name[0] != "."]
    except OSError as error:
        problem = f"this folder cannot be read: {error.strerror}"
        defects.append(Defect(folder, None, problem, _LEFT_OUT))
        return []
    return sorted(inner, key=lambda path: (path.name.lower(), path.name))


def _numbered(folder: Path, pattern: str, defects: list[Defect]) -> dict[int, Path]:
    """Return the files of a pattern by the number in their name; others are reported."""
    files: dict[int, Path] = {}
    for path in _matching(folder, pattern):
        name = path.stem.rpartition("_")[2]
        if name.isdecimal() and int(name) not in files:
            files[int(name)] = path
            continue
        problem = "the number in the name is there twice" if name.isdecimal() else "no number"
        defects.append(
            Defect(path, None, f"expected {pattern} with a number: {problem}", _LEFT_OUT)
        )
    return files


def _matching(folder: Path, pattern: str) -> list[Path]:
    """Return the files of a pattern, sorted; `Path.glob` takes several times as long."""
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if fnmatch(path.name, pattern))
