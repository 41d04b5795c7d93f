"""Reading a prompt of LDM2 or a baseline: its task, what is seen, remembered and legal."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from dqa.core.trajectories import Step

TASKS = frozenset(
    {
        "evaluate",
        "summarise",
        "cluster goals",
        "cluster observations",
        "index goal",
        "index observation",
        "act",
        "think and act",
        "explore",
        "choose",
        "compare",
        "reflect",
    }
)
"""What prompts of the package ask for, as their last heading says it."""

_HEADING = re.compile(r"^# (?P<title>.+)$", re.MULTILINE)
_FIRST = re.compile(r"\A# (?:Goal|Numbered (?:goal|observation)s|Types of (?:goal|observation)s)$")
_LEGAL = re.compile(r"^Legal actions: (?P<list>\[.*\])$", re.MULTILINE)
_FORM = re.compile(r'any action in the form (?P<form>"(?:[^"\\]|\\.)*")')
_MOST = re.compile(r"^Name up to (?P<most>\d+) ", re.MULTILINE)
_KNOWN = re.compile(r"use them where they fit: (?P<list>\[.*\])$", re.MULTILINE)
_NUMBERED = re.compile(r"^(?P<number>\d+)\.$")
_TYPE = re.compile(r"^Type \d+: (?P<name>\".*\")$")
_SUBGOAL = re.compile(r'^- (?P<goal>".*"): (?P<judged>complete|not complete)$', re.MULTILINE)
_PROCESS = re.compile(r"(?:Process|Trial|Example) \d+")


@dataclass(frozen=True, slots=True)
class Example:
    """A remembered tuple, or the whole process that an example shows."""

    goal: str
    steps: tuple[Step, ...]
    history: str = ""
    end: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a prompt asks, and what it shows.

    Attributes
    ----------
    task
        What its last heading says.
    goal, history, observation
        As it shows them; empty where it does not.
    steps
        What was done so far, as far as it shows it.
    before
        The summary of what came before these steps.
    remembered
        Tuples (of one step each), or whole examples.
    processes
        Those that are compared, or chosen from.
    legal, form, most
        What can be done, and how many actions are asked for.
    texts, known
        What is to be sorted, and the types that there are already.
    types
        What an index has: names with examples.
    text
        What is looked up.
    subgoals
        As they were judged last.
    whole
        All of the prompt.
    """

    task: str
    goal: str = ""
    history: str = ""
    observation: str = ""
    steps: tuple[Step, ...] = ()
    before: str = ""
    remembered: tuple[Example, ...] = ()
    processes: tuple[Example, ...] = ()
    legal: tuple[str, ...] = ()
    form: str = ""
    most: int = 1
    texts: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    types: tuple[tuple[str, tuple[str, ...]], ...] = ()
    text: str = ""
    subgoals: tuple[str, ...] = ()
    whole: str = field(default="", repr=False)


def asks(text: str) -> bool:
    """Whether a text is a prompt of LDM2 or of one of its baselines."""
    titles = [found["title"] for found in _HEADING.finditer(text)]
    return (
        bool(titles)
        and _FIRST.match(text.partition("\n")[0]) is not None
        and titles[-1].removeprefix("Task: ") in TASKS
        and titles[-1].startswith("Task: ")
    )


def read_prompt(text: str) -> Asked:
    """Read a prompt."""
    sections = list(_sections(text))
    title, task = sections[-1]
    by_title = dict(sections[:-1])
    done = by_title.get("What was done so far") or by_title.get("What was done since", "")
    legal, form = _LEGAL.search(task), _FORM.search(task)
    most, known = _MOST.search(task), _KNOWN.search(task)
    processes = tuple(_example(body) for name, body in sections if _PROCESS.fullmatch(name))
    shows_examples = title.removeprefix("Task: ") in {"act", "think and act"}
    remembered = tuple(_examples(by_title.get("Remembered", "")))
    return Asked(
        task=title.removeprefix("Task: "),
        goal=_plain(by_title.get("Goal", "")),
        history=_plain(by_title.get("History", "")),
        observation=_plain(by_title.get("Seen now", "")),
        steps=_example(done).steps,
        before=_plain(by_title.get("Summary until then", "")),
        remembered=processes if shows_examples and processes else remembered,
        processes=processes,
        legal=tuple(json.loads(legal["list"])) if legal else (),
        form=json.loads(form["form"]) if form else "",
        most=int(most["most"]) if most else 1,
        texts=tuple(_texts(sections[0][1])) if sections[0][0].startswith("Numbered") else (),
        known=tuple(json.loads(known["list"])) if known else (),
        types=tuple(_types(sections[0][1])) if sections[0][0].startswith("Types of") else (),
        text=_plain(by_title.get("New goal", "") or by_title.get("New observation", "")),
        subgoals=tuple(json.loads(found["goal"]) for found in _SUBGOAL.finditer(task)),
        whole=text,
    )


def _sections(text: str) -> Iterator[tuple[str, str]]:
    found = list(_HEADING.finditer(text))
    ends = [one.start() for one in found[1:]] + [len(text)]
    for one, end in zip(found, ends, strict=True):
        yield one["title"], text[one.end() : end].strip("\n")


def _plain(body: str) -> str:
    """Return the quoted lines of a section, without the sign."""
    return "\n".join(_unquoted(line) for line in body.split("\n") if line.startswith(">"))


def _unquoted(line: str) -> str:
    return line.removeprefix(">").removeprefix(" ")


def _examples(body: str) -> Iterator[Example]:
    for part in re.split(r"^Example \d+\.$", body, flags=re.MULTILINE)[1:]:
        yield _example(part)


def _example(body: str) -> Example:
    """Read labelled parts: what stands quoted below a label belongs to it."""
    parts: dict[str, list[str]] = {}
    steps: list[Step] = []
    label = ""
    for line in body.split("\n"):
        if line.startswith(">"):
            parts.setdefault(label, []).append(_unquoted(line))
        elif line.startswith("Done: "):
            seen = "\n".join(parts.pop("Seen:", []))
            steps.append(Step(seen, json.loads(line.removeprefix("Done: "))))
            label = ""
        elif line.endswith(":"):
            label = line
    texts = {name: "\n".join(lines) for name, lines in parts.items()}
    return Example(
        texts.get("Goal:", ""),
        tuple(steps),
        texts.get("History:", ""),
        texts.get("Seen at the end:", ""),
    )


def _texts(body: str) -> Iterator[str]:
    lines: list[str] | None = None
    for line in body.split("\n"):
        if _NUMBERED.match(line):
            if lines is not None:
                yield "\n".join(lines)
            lines = []
        elif lines is not None and line.startswith(">"):
            lines.append(_unquoted(line))
    if lines is not None:
        yield "\n".join(lines)


def _types(body: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    name: str | None = None
    examples: list[str] = []
    for line in body.split("\n"):
        found = _TYPE.match(line)
        if found is not None:
            if name is not None:
                yield name, tuple(examples)
            name, examples = json.loads(found["name"]), []
        elif line.startswith(">"):
            examples.append(_unquoted(line))
    if name is not None:
        yield name, tuple(examples)
