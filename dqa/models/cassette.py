"""Cassettes: every reply of a run's models, recorded to be played again without them.

A cassette is LangChain's cache (`BaseCache`), with what that interface alone does not give:

- It is keyed by the whole request: model, parameters, tools, stop sequences and messages, in a form
  of our own, so that neither a key nor a provider's package is needed to ask for it again
  (`dqa.models.recorded.RecordedModel` sees to that).
- Replies belong to who asked (`dqa.models.attempts`): two questions in the same words, about other
  data, keep their replies apart, whichever thread is faster.
- A request that was made twice has two replies, and they are played in their order; a cache would
  give the first one twice. Each attempt at a decision plays them from the first one on.
- A reply is kept whole: text, tool calls, token counts, and how it ended.
- A request that ended in failure, after all retries, fails again when it is played.
- What was not recorded is an error that says what was asked and what comes nearest to it. A run
  that its budget stopped is recorded as far as it went, and can be replayed once it was resumed.

The file is JSON lines, each flushed as it comes, so that a crash costs the last one at most: first
a header, then messages, each once and named by its hash, and the requests made of them, with who
asked and how many replies they had before. Lines stand in the order in which replies came, so a run
with one worker makes the same file every time. It holds no times and no secrets: what looks like a
secret is redacted before the request is looked up and before the reply is used, so a run sees the
same while it is recorded and when it is played.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BufferedReader, FileIO
from pathlib import Path
from typing import Any, Self

from langchain_core.caches import RETURN_VAL_TYPE, BaseCache
from langchain_core.messages import message_to_dict, messages_from_dict
from langchain_core.outputs import ChatGeneration, Generation

from dqa.core.distribution import find_versions
from dqa.core.errors import (
    ModelUnavailableError,
    ParseError,
    RequestTooLongError,
    UnrecordedRequestError,
    UsageError,
)
from dqa.core.files import (
    LINE_BYTES,
    add_line,
    describe_file_error,
    open_regular,
    open_to_add,
    parse_json,
    problem_of_path,
    whole_lines,
)
from dqa.core.secrets import redact, redacted
from dqa.models.attempts import Attempt, Recordings, Requester, current_attempt
from dqa.models.faults import told_too_long
from dqa.models.unrecorded import Request, difference, exhausted, of_others

FORMAT = 2
"""Version of the file's format."""


@dataclass(frozen=True, slots=True)
class _RecordedAnswer:
    """What one request was answered: replies in LangChain's own form of messages, or a failure."""

    replies: tuple[dict[str, Any], ...] = ()
    failure: str | None = None

    @classmethod
    def from_json(cls, entry: Mapping[str, Any]) -> Self:
        failed = "failure" in entry
        return cls(failure=entry["failure"]) if failed else cls(tuple(entry["replies"]))

    def to_json(self) -> dict[str, Any]:
        return {"replies": self.replies} if self.failure is None else {"failure": self.failure}


@dataclass(frozen=True, slots=True)
class _PendingRequest:
    """A request that is being made: by whom, in which attempt, and its messages."""

    attempt: Attempt
    requester: Requester
    request: Request
    messages: list[dict[str, Any]]


class Cassette(BaseCache):
    """Recorded replies, and, while recording, the file that more are written to.

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
        self._requests: dict[tuple[Requester, str], Request] = {}
        self._recordings: Recordings[_RecordedAnswer] = Recordings()
        self._file: FileIO | None = None
        self._lock = threading.Lock()
        # Not a context variable: between `lookup` and the failure a call stays on
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
        cassette = cls(path, models)
        try:
            if path.exists() and (resume or _is_unused(path)):
                cassette._read(mend=True)
                cassette._check_models(models)
                cassette._file = open_to_add(path)
            else:
                cassette._file = open_to_add(path, new=True)
        except FileExistsError as error:
            raise UsageError(f"--record {path} exists already: name a new file.") from error
        except OSError as error:
            raise UsageError(f"--record: {problem_of_path(path, error, writing=True)}.") from error
        weakref.finalize(cassette, cassette._file.close)
        if not path.stat().st_size:
            cassette._write(
                {"cassette": FORMAT, **find_versions("langchain-core"), "models": list(models)}
            )
        return cassette

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
        cassette = cls(path, models)
        try:
            cassette._read(mend=False)
        except OSError as error:
            problem = problem_of_path(path, error)
            raise UsageError(
                f"{problem}: --replay names the file of an earlier --record."
            ) from error
        cassette._check_models(models)
        return cassette

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
        asked = self._made.last = _pending(prompt, llm_string)
        key = asked.request.key
        with self._lock:
            answers = self._recordings.answers(asked.requester, key)
            position = self._recordings.position(asked.attempt, asked.requester, key)
            found = answers[position] if position < len(answers) else None
            if self._file is not None and (found is None or found.failure is not None):
                return None
            if found is None:
                raise UnrecordedRequestError(f"{self.path}: {self._missing(asked)}")
            self._recordings.move(asked.attempt, asked.requester, key, position + 1)
        asked.attempt.played.add(key)
        return _played(found)

    def update(self, prompt: str, llm_string: str, return_val: RETURN_VAL_TYPE) -> None:
        """Record a reply, right behind the messages that it answers."""
        replies = tuple(_kept(generation) for generation in return_val)
        self._record_answer(_pending(prompt, llm_string), _RecordedAnswer(replies))

    def record_failure(self, words: str) -> None:
        """Record that the request which this thread made last has failed for good."""
        if self._file is not None:
            self._record_answer(self._made.last, _RecordedAnswer(failure=redact(words)))

    def clear(self, **kwargs: Any) -> None:  # noqa: ANN401, ARG002  (the base class's signature)
        """Refuse: a cassette is a record, and is deleted as a file."""
        raise UsageError(f"{self.path} is a record and cannot be cleared: delete the file.")

    def close(self) -> None:
        """Close the file; everything that was recorded stays."""
        if self._file is not None:
            self._file.close()

    def _record_answer(self, asked: _PendingRequest, answer: _RecordedAnswer) -> None:
        request = asked.request
        with self._lock:
            answers = self._recordings.answers(asked.requester, request.key)
            position = self._recordings.position(asked.attempt, asked.requester, request.key)
            if position < len(answers) and answers[position].failure is None:
                position = len(answers)  # another attempt of the same requester was faster
            self._recordings.put(asked.requester, request.key, position, answer)
            self._recordings.move(asked.attempt, asked.requester, request.key, position + 1)
            for name, message in zip(request.messages, asked.messages, strict=True):
                if name not in self._messages:
                    self._messages[name] = message
                    self._write({"message": name, **message})
            self._write(
                {
                    "request": request.key,
                    "asker": asked.requester,
                    "position": position,
                    "settings": request.settings,
                    "messages": request.messages,
                    **answer.to_json(),
                }
            )

    def _missing(self, asked: _PendingRequest) -> str:
        """Say which request has no recorded reply."""
        requester, request = asked.requester, asked.request
        had = len(self._recordings.answers(requester, request.key))
        if had:
            return exhausted(requester, had)
        others = self._recordings.requesters(request.key)
        if others:
            return of_others(requester, asked.messages, others[0])
        # Of requests that come equally near, the same requester's own go first.
        near = sorted(self._requests, key=lambda known: known[0] != requester)
        requests = [self._requests[name] for name in near]
        return difference(requester, request, asked.messages, requests, self._messages)

    def _write(self, line: Mapping[str, Any]) -> None:
        if self._file is None:
            raise AssertionError("a cassette that is played records nothing")
        try:
            add_line(self._file, json.dumps(line, ensure_ascii=False))
        except OSError as error:
            problem = describe_file_error(error, self.path)
            raise UsageError(f"--record: {problem} What was recorded is kept.") from error

    def _read(self, *, mend: bool) -> None:
        size, read = self.path.stat().st_size, 0
        for number, line in enumerate(whole_lines(self.path), start=1):
            read += len(line)
            try:
                entry = parse_json(line)
                self._read_header(entry) if number == 1 else self._read_entry(entry)
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                why = repr(error) if line.strip().startswith(b"{") else "it is no JSON object"
                raise self._no_line(number, why) from error
        if not read and not mend:
            raise self._no_line(1, "it is no JSON object")
        if mend and read < size:
            os.truncate(self.path, read)

    def _no_line(self, number: int, why: str) -> ParseError:
        problem = f"no line of a cassette ({why}): record it again."
        return ParseError(self.path, number, problem)

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
            for name, now in find_versions("langchain-core").items()
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
        requester, answer = tuple(entry["asker"]), _RecordedAnswer.from_json(entry)
        # A request that failed and was made again by a later attempt did not fail in the end.
        self._recordings.put(requester, request.key, entry["position"], answer)
        self._requests[requester, request.key] = request

    def _check_models(self, models: Sequence[str]) -> None:
        missing = [name for name in models if name not in self.models]
        if missing:
            raise UsageError(
                f"{self.path} holds replies of {', '.join(self.models)} and none of "
                f"{', '.join(missing)}: name its model with --model."
            )


def _is_unused(path: Path) -> bool:
    """Whether a run that failed before its first reply left the file behind."""
    with BufferedReader(open_regular(path, most=None)) as file:
        header, second = file.readline(LINE_BYTES), file.read(1)
    return not second and (not header or header.startswith(b'{"cassette"'))


def _pending(prompt: str, llm_string: str) -> _PendingRequest:
    """Return what LangChain's two texts ask for, and who asks, without secrets."""
    messages = [redacted(_canonical(message["kwargs"])) for message in json.loads(prompt)]
    names = tuple(_hash(json.dumps(message, sort_keys=True)) for message in messages)
    settings = redact(llm_string)
    request = Request(_hash("\n".join([settings, *names])), settings, names)
    attempt = current_attempt()
    return _PendingRequest(attempt, tuple(map(redact, attempt.requester)), request, messages)


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


def _played(recorded: _RecordedAnswer) -> list[Generation]:
    if recorded.failure is not None:
        # The file keeps the words of a failure, and they tell its class.
        too_long = told_too_long(recorded.failure)
        raise (RequestTooLongError if too_long else ModelUnavailableError)(recorded.failure)
    messages = messages_from_dict(list(recorded.replies))
    return [ChatGeneration(message=message) for message in messages]
