"""Cassettes: every reply of a run's models, recorded to be played again without them.

A cassette is LangChain's cache (`BaseCache`), with what that interface alone does not give:

- It is keyed by the whole request: model, parameters, tools, stop sequences and messages, in a form
  of our own, so that neither a key nor a provider's package is needed to ask for it again
  (`dqa.models.recorded.RecordedModel` sees to that).
- Everyone who asks has a tape of their own (`dqa.models.takes`): two questions in the same words,
  about other data, keep their replies apart, whichever thread is faster.
- A request that was made twice has two replies, and they are played in their order; a cache would
  give the first one twice. Each go at a decision plays them from the first one on.
- A reply is kept whole: text, tool calls, token counts, and how it ended.
- A request that ended in failure, after all retries, fails again when it is played.
- What was not recorded is an error that says what was asked and what comes nearest to it. A run
  that its budget stopped is recorded as far as it went, and can be replayed once it was resumed.

The file is JSON lines, each flushed as it comes, so that a crash costs the last one at most: first
a header, then messages, each once and named by its hash, and the requests made of them, with who
asked and how many replies they had had before. Lines of several askers stand as they came; a run
with one worker makes the same file every time. It holds no time and no secret: what looks like one
is blotted out before the request is looked up and before the reply is used, so what a run sees
while recording is what it will see when it is played.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self, TextIO

from langchain_core.caches import RETURN_VAL_TYPE, BaseCache
from langchain_core.messages import message_to_dict, messages_from_dict
from langchain_core.outputs import ChatGeneration, Generation

from dqa.core.errors import (
    ModelUnavailableError,
    ParseError,
    RequestTooLongError,
    UnrecordedRequestError,
    UsageError,
)
from dqa.core.secrets import redact, redacted
from dqa.models.faults import told_too_long
from dqa.models.takes import Asker, Take, Tapes, current_take
from dqa.models.unrecorded import Request, difference, exhausted, of_others

__all__ = ["FORMAT", "Cassette"]

FORMAT = 2
"""Version of the file's format."""

_PACKAGES = ("dqa", "langchain-core")


@dataclass(frozen=True, slots=True)
class _Recorded:
    """What one request was answered: replies as LangChain writes messages down, or a failure."""

    replies: tuple[dict[str, Any], ...] = ()
    failure: str | None = None

    @classmethod
    def from_json(cls, entry: Mapping[str, Any]) -> Self:
        failed = "failure" in entry
        return cls(failure=entry["failure"]) if failed else cls(tuple(entry["replies"]))

    def to_json(self) -> dict[str, Any]:
        return {"replies": self.replies} if self.failure is None else {"failure": self.failure}


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request as it comes: who makes it, in which take, and its messages."""

    take: Take
    asker: Asker
    request: Request
    messages: list[dict[str, Any]]


class Cassette(BaseCache):
    """Recorded replies, and, while recording, the file that takes down more.

    Made by `record` and `replay`. Safe to use from several threads.

    Attributes
    ----------
    path
        The file.
    models
        The models whose replies it holds.
    warnings
        How the versions that made it differ from those that play it.
    """

    def __init__(self, path: Path, models: Sequence[str]) -> None:
        self.path = path
        self.models = tuple(models)
        self.warnings: tuple[str, ...] = ()
        self._messages: dict[str, dict[str, Any]] = {}
        self._requests: dict[tuple[Asker, str], Request] = {}
        self._tapes: Tapes[_Recorded] = Tapes()
        self._file: TextIO | None = None
        self._lock = threading.Lock()
        # Not a context variable: between `lookup` and whoever learns of the failure a call stays on
        # its thread, and LangChain's wrappers of models forget what is set inside of them.
        self._made = threading.local()

    @classmethod
    def record(cls, path: Path, models: Sequence[str], *, resume: bool = False) -> Self:
        """Start a cassette, or go on with one.

        A run that goes on asks its unfinished questions again: what is already recorded is played,
        so nothing is paid for twice and the cassette stays one consistent run.

        Parameters
        ----------
        path
            A new file, or one without replies, unless `resume` is set.
        models
            The models that will be recorded.
        resume
            Whether to go on with a file that is there.

        Raises
        ------
        UsageError
            The file exists, holds another model's replies, or cannot be written.
        ParseError
            The file that goes on is no cassette of this format.
        """
        tape = cls(path, models)
        try:
            if path.exists() and (resume or _is_unused(path)):
                tape._read(mend=True)
                tape._check_models(models)
                tape._file = path.open("a", encoding="utf-8", newline="\n")
            else:
                tape._file = path.open("x", encoding="utf-8", newline="\n")
        except FileExistsError as error:
            raise UsageError(f"--record {path} exists already: name a new file.") from error
        except OSError as error:
            raise UsageError(f"--record {path} cannot be written: {error.strerror}.") from error
        weakref.finalize(tape, tape._file.close)
        if not tape._file.tell():
            tape._write({"cassette": FORMAT, **_versions(), "models": list(models)})
        return tape

    @classmethod
    def replay(cls, path: Path, models: Sequence[str]) -> Self:
        """Open a cassette to be played in place of `models`.

        Raises
        ------
        UsageError
            The file cannot be read, or holds other models' replies.
        ParseError
            The file is no cassette, or one of a format that this version does not read.
        """
        tape = cls(path, models)
        try:
            tape._read(mend=False)
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"--replay {path} cannot be read: {error}.") from error
        tape._check_models(models)
        return tape

    @property
    def replays(self) -> bool:
        """Whether it only plays, and asks no model."""
        return self._file is None

    def lookup(self, prompt: str, llm_string: str) -> RETURN_VAL_TYPE | None:
        """Return the next recorded reply to a request, or None where one has to be recorded.

        Raises
        ------
        UnrecordedRequestError
            The cassette is played and holds no further reply to this request by who makes it.
        ModelUnavailableError
            The request failed when it was recorded.
        """
        asked = self._made.last = _asked(prompt, llm_string)
        key = asked.request.key
        with self._lock:
            answers = self._tapes.answers(asked.asker, key)
            position = self._tapes.position(asked.take, asked.asker, key)
            found = answers[position] if position < len(answers) else None
            if self._file is not None and (found is None or found.failure is not None):
                return None
            if found is None:
                raise UnrecordedRequestError(f"{self.path}: {self._missing(asked)}")
            self._tapes.wind(asked.take, asked.asker, key, position + 1)
        return _played(found)

    def update(self, prompt: str, llm_string: str, return_val: RETURN_VAL_TYPE) -> None:
        """Take down a reply, right behind the messages that it answers."""
        replies = tuple(_kept(generation) for generation in return_val)
        self._take_down(_asked(prompt, llm_string), _Recorded(replies))

    def record_failure(self, words: str) -> None:
        """Take down that the request which this thread made last has failed for good."""
        if self._file is not None:
            self._take_down(self._made.last, _Recorded(failure=redact(words)))

    def clear(self, **kwargs: Any) -> None:  # noqa: ANN401, ARG002  (the base class's signature)
        """Refuse: a cassette is a record, and is deleted as a file."""
        raise UsageError(f"{self.path} is a record and cannot be cleared: delete the file.")

    def close(self) -> None:
        """Close the file; everything that was taken down stays."""
        if self._file is not None:
            self._file.close()

    def _take_down(self, asked: _Asked, answer: _Recorded) -> None:
        request = asked.request
        with self._lock:
            answers = self._tapes.answers(asked.asker, request.key)
            position = self._tapes.position(asked.take, asked.asker, request.key)
            if position < len(answers) and answers[position].failure is None:
                position = len(answers)  # another take of the same asker was faster
            self._tapes.put(asked.asker, request.key, position, answer)
            self._tapes.wind(asked.take, asked.asker, request.key, position + 1)
            for name, message in zip(request.messages, asked.messages, strict=True):
                if name not in self._messages:
                    self._messages[name] = message
                    self._write({"message": name, **message})
            self._write(
                {
                    "request": request.key,
                    "asker": asked.asker,
                    "position": position,
                    "settings": request.settings,
                    "messages": request.messages,
                    **answer.to_json(),
                }
            )

    def _missing(self, asked: _Asked) -> str:
        """Say what is asked that nothing is recorded of."""
        asker, request = asked.asker, asked.request
        had = len(self._tapes.answers(asker, request.key))
        if had:
            return exhausted(asker, had)
        others = self._tapes.askers(request.key)
        if others:
            return of_others(asker, asked.messages, others)
        # What else the same asker asked comes nearest, where others asked the like.
        near = sorted(self._requests, key=lambda asked_before: asked_before[0] != asker)
        requests = [self._requests[name] for name in near]
        return difference(asker, request, asked.messages, requests, self._messages)

    def _write(self, line: Mapping[str, Any]) -> None:
        if self._file is None:
            raise AssertionError("a cassette that is played takes nothing down")
        self._file.write(json.dumps(line, ensure_ascii=False) + "\n")
        self._file.flush()

    def _read(self, *, mend: bool) -> None:
        content = self.path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if mend and len(whole) < len(content):
            os.truncate(self.path, len(whole))
        # Not splitlines(): other line separators may stand inside a JSON string.
        lines = whole.decode("utf-8").split("\n")[:-1]
        if not lines and mend:
            return
        for number, line in enumerate(lines or [""], start=1):
            try:
                entry = json.loads(line)
                self._read_header(entry) if number == 1 else self._read_entry(entry)
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                raise ParseError(
                    self.path, number, f"no line of a cassette ({error!r}): record it again."
                ) from error

    def _read_header(self, header: dict[str, Any]) -> None:
        if header["cassette"] != FORMAT:
            raise ParseError(
                self.path,
                1,
                f"a cassette of format {header['cassette']}, and this version reads format "
                f"{FORMAT}: use the version that made it (dqa {header.get('dqa', '?')}), or "
                "record it again.",
            )
        self.models = tuple(header["models"])
        differing = [
            f"{name} {header.get(name, '?')} and not {now}"
            for name, now in _versions().items()
            if header.get(name) != now
        ]
        if differing:
            made = f"{self.path} was made by {', '.join(differing)}"
            self.warnings = (
                f"{made}: where prompts have changed in between, their replies are not found.",
            )

    def _read_entry(self, entry: dict[str, Any]) -> None:
        if "message" in entry:
            self._messages[entry.pop("message")] = entry
            return
        request = Request(entry["request"], entry["settings"], tuple(entry["messages"]))
        asker, answer = tuple(entry["asker"]), _Recorded.from_json(entry)
        # A request that failed and was made again by a later take did not fail in the end.
        self._tapes.put(asker, request.key, entry["position"], answer)
        self._requests[asker, request.key] = request

    def _check_models(self, models: Sequence[str]) -> None:
        missing = [name for name in models if name not in self.models]
        if missing:
            raise UsageError(
                f"{self.path} holds replies of {', '.join(self.models)} and none of "
                f"{', '.join(missing)}: name its model with --model."
            )


def _is_unused(path: Path) -> bool:
    """Whether a run that failed before its first reply left the file behind."""
    with path.open("rb") as file:
        header, second = file.readline(), file.readline()
    return not second and (not header or header.startswith(b'{"cassette"'))


def _versions() -> dict[str, str]:
    return {name: version(name) for name in _PACKAGES}


def _asked(prompt: str, llm_string: str) -> _Asked:
    """Return what LangChain's two texts ask for, and who asks, without secrets."""
    messages = [redacted(_canonical(message["kwargs"])) for message in json.loads(prompt)]
    names = tuple(_hash(json.dumps(message, sort_keys=True)) for message in messages)
    settings = redact(llm_string)
    request = Request(_hash("\n".join([settings, *names])), settings, names)
    take = current_take()
    return _Asked(take, tuple(map(redact, take.asker)), request, messages)


def _canonical(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a model is shown of a message, whichever version of LangChain wrote it."""
    shown = {"role": message["type"], "content": message["content"]}
    for name in ("name", "tool_calls", "invalid_tool_calls", "tool_call_id"):
        if message.get(name):
            shown[name] = message[name]
    return shown


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _kept(generation: Generation) -> dict[str, Any]:
    if not isinstance(generation, ChatGeneration):
        raise TypeError("only chat models' replies can be recorded")
    kept = message_to_dict(generation.message)
    if str(kept["data"].get("id")).startswith("lc_"):
        kept["data"]["id"] = None  # LangChain's own, another one in every run
    return kept


def _played(recorded: _Recorded) -> list[Generation]:
    if recorded.failure is not None:
        # The file keeps the words of a failure, and they tell its class.
        too_long = told_too_long(recorded.failure)
        raise (RequestTooLongError if too_long else ModelUnavailableError)(recorded.failure)
    messages = messages_from_dict(list(recorded.replies))
    return [ChatGeneration(message=message) for message in messages]
