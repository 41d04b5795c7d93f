"""Cassettes: files with all replies of a run's models, which can be replayed without the models.

- The key of a reply is the whole request: model, parameters, tools, stop sequences and messages. So
  a replay needs neither an API key nor the package of the provider.
- Each reply belongs to a requester (`dqa.models.attempts`), because two questions with equal texts
  may be about different data. Equal requests of one requester are replayed in the order of the
  recording. Each attempt at a decision begins with the first recorded reply.
- A request that failed after all retries fails again in a replay.

The file consists of JSON lines: a header, and a line for each reply. The line contains the
requester, the hash of the request, and the last message of the request for readers. The file
contains no times and no secrets. Secrets are redacted before a request is looked up and before a
reply is used, so the recording and its replay use the same texts.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
import weakref
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path
from typing import Any, Self

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, message_to_dict, messages_from_dict
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables.base import RunnableBindingBase
from pydantic import Field

from dqa.core.distribution import own_version
from dqa.core.errors import (
    ModelUnavailableError,
    ParseError,
    RequestTooLongError,
    UnrecordedRequestError,
    UsageError,
)
from dqa.core.files import (
    add_line,
    describe_file_error,
    open_to_add,
    parse_json,
    problem_of_path,
    whole_lines,
)
from dqa.core.secrets import redact, redacted
from dqa.core.text import shortened
from dqa.models.attempts import Requester, claim_reply, current_attempt
from dqa.models.replies import ask_once
from dqa.models.tool_model import ToolModel

FORMAT = 3
"""The version of the file format."""
_SHOWN_NAMES = ("name", "tool_calls", "invalid_tool_calls", "tool_call_id")
_SHOWN = 80
"""The maximum number of characters of a request in an error message."""
_ERRORS = {kind.__name__: kind for kind in (ModelUnavailableError, RequestTooLongError)}
_Answer = Mapping[str, Any]
"""A mapping: ``reply`` in LangChain's form, or ``failure`` with the class and text of an error."""


@dataclass(frozen=True, slots=True)
class _Request:
    """A request without secrets: its requester, its hash, and the text of its last message."""

    asker: Requester
    hash: str
    text: str = field(default="", compare=False)


class Cassette:
    """The recorded replies of a file. While recording, new replies are added to the file.

    `record` and `replay` create cassettes. Threads may share a cassette.

    Attributes
    ----------
    path
        The file.
    models
        The names of the recorded models.
    """

    def __init__(self, path: Path, models: Sequence[str]) -> None:
        self.path = path
        self.models = tuple(models)
        self._answers: defaultdict[_Request, list[_Answer]] = defaultdict(list)
        self._file: FileIO | None = None
        self._lock = threading.Lock()

    @classmethod
    def record(cls, path: Path, models: Sequence[str], *, resume: bool = False) -> Self:
        """Start a cassette, or continue an existing cassette.

        When a run resumes, recorded replies are replayed, so no request is paid for twice.

        Parameters
        ----------
        path
            A new file, or a cassette without replies. With `resume`, the cassette may have replies.
        models
            The names of the recorded models.
        resume
            Whether to continue an existing cassette.

        Raises
        ------
        UsageError
            The file exists, contains replies of other models, or cannot be written.
        ParseError
            The existing file is not a cassette of this format.
        """
        cassette = cls(path, models)
        try:
            is_new = not path.exists()
            if not is_new:
                read = cassette._read() if path.stat().st_size else 0
                if cassette._answers and not resume:
                    raise UsageError(f"--record {path} already exists: choose a new file.")
                cassette._require(models)
                os.truncate(path, read)  # removes an incomplete last line
            cassette._file = open_to_add(path, new=is_new)
        except OSError as error:
            raise UsageError(f"--record: {problem_of_path(path, error, writing=True)}.") from error
        weakref.finalize(cassette, cassette._file.close)
        if not path.stat().st_size:
            cassette._write({"cassette": FORMAT, "dqa": own_version(), "models": list(models)})
        return cassette

    @classmethod
    def replay(cls, path: Path, models: Sequence[str]) -> Self:
        """Open a cassette whose replies replace the calls of `models`.

        Raises
        ------
        UsageError
            The file cannot be read, or contains replies of other models.
        ParseError
            The file is not a cassette of this format.
        """
        cassette = cls(path, models)
        try:
            cassette._read()
            cassette._require(models)
        except OSError as error:
            problem = problem_of_path(path, error)
            raise UsageError(f"{problem}: --replay needs a file that --record wrote.") from error
        return cassette

    @property
    def replays(self) -> bool:
        """Whether the cassette only replays recorded replies and never asks a model."""
        return self._file is None

    def find(self, request: _Request) -> _Answer | None:
        """Return the next recorded answer to a request; None if the answer must be recorded.

        Raises
        ------
        UnrecordedRequestError
            The cassette only replays, and contains no further answer to this request from the same
            requester.
        """
        attempt = current_attempt()
        with self._lock:
            answers, position = self._answers.get(request, ()), attempt.positions[self][request]
            found = answers[position] if position < len(answers) else None
            if self._file is not None and (found is None or "failure" in found):
                return None
            if found is None:
                who = f" of ({', '.join(request.asker)})" if request.asker else ""
                raise UnrecordedRequestError(
                    f"{self.path}: no further reply to this request{who} is recorded: "
                    f"'{shortened(request.text, _SHOWN)}'. Replay the cassette with the settings "
                    "of the recording. If prompts or data have changed, record it again."
                )
            attempt.positions[self][request] += 1
        return found

    def add(self, request: _Request, answer: _Answer) -> None:
        """Record the answer to a request.

        A reply that arrives after the time limit of its call is not recorded, because the run did
        not use it.
        """
        if self._file is None or not claim_reply():
            return
        attempt = current_attempt()
        with self._lock:
            answers, position = self._answers[request], attempt.positions[self][request]
            if position < len(answers) and "failure" not in answers[position]:
                position = len(answers)  # another attempt has recorded this answer already
            answers[position : position + 1] = [answer]
            attempt.positions[self][request] = position + 1
            about = {"request": request.hash, "asker": request.asker, "position": position}
            self._write({**about, "message": request.text, **answer})

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def _write(self, line: Mapping[str, Any]) -> None:
        if self._file is None:
            raise AssertionError("The cassette only replays.")
        try:
            add_line(self._file, json.dumps(line, ensure_ascii=False))
        except OSError as error:
            problem = describe_file_error(error, self.path)
            raise UsageError(
                f"--record: {problem} The replies recorded so far are not lost."
            ) from error

    def _read(self) -> int:
        """Read the file. Return the number of bytes of its complete lines."""
        read = 0
        for number, line in enumerate(whole_lines(self.path), start=1):
            read += len(line)
            try:
                entry = parse_json(line)
                if number == 1:
                    self._read_header(entry)
                    continue
                answers = self._answers[_Request(tuple(entry["asker"]), entry["request"])]
                position = entry["position"]  # an answer may replace an earlier failure
                answers[position : position + 1] = [entry]
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                problem = "this is not a line of a cassette: record it again, in a new file."
                raise ParseError(self.path, number, problem) from error
        if not read:
            raise ParseError(self.path, 1, "this is an empty file: record it again.")
        return read

    def _require(self, models: Sequence[str]) -> None:
        """Raise `UsageError` if the file lacks the replies of at least one of these models."""
        missing = [name for name in models if name not in self.models]
        if missing:
            raise UsageError(
                f"{self.path} contains replies of {', '.join(self.models)}, but none of "
                f"{', '.join(missing)}: choose the recorded model (--model)."
            )

    def _read_header(self, header: dict[str, Any]) -> None:
        if header["cassette"] != FORMAT:
            raise ParseError(
                *(self.path, 1),
                f"the cassette has format {header['cassette']}, and this version reads format "
                f"{FORMAT}: use dqa {header.get('dqa', '?')}, or record the replies again.",
            )
        self.models = tuple(header["models"])


class RecordedModel(ToolModel):
    """A chat model that records the replies of another model on a cassette, or replays them.

    A recorded request contains only the fields of this class. So a replay needs no package, no key
    and no address of the recorded model.

    Attributes
    ----------
    model
        The recorded model's name, ``provider:model``.
    cassette
        The cassette.
    parameters
        Other settings that influence replies, e.g. ``{"temperature": 0}``.
    inner
        The recorded model; None in a replay.
    """

    model: str
    cassette: Any = Field(exclude=True)
    parameters: dict[str, Any] = Field(default_factory=dict)
    inner: BaseChatModel | None = None
    cache: Any = False

    def request(
        self, messages: Sequence[BaseMessage], stop: list[str] | None, settings: dict[str, Any]
    ) -> _Request:
        """Return the request as the cassette stores it."""
        shown = [redacted(_shown(message)) for message in messages]
        whole = json.dumps([redact(self._get_llm_string(stop=stop, **settings)), shown])
        asker = tuple(map(redact, current_attempt().requester))
        digest = hashlib.sha256(whole.encode()).hexdigest()[:32]
        return _Request(asker, digest, redact(messages[-1].text))

    @property
    def _llm_type(self) -> str:
        return "recorded"

    @property
    def _identifying_params(self) -> Mapping[str, Any]:
        return {"model": self.model, **self.parameters}

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,  # noqa: ANN401  (the base class's signature)
    ) -> ChatResult:
        del run_manager
        request, cassette = self.request(messages, stop, kwargs), self.cassette
        answer = cassette.find(request)
        if answer is None:
            reply = ask_once(lambda: self._ask(messages, stop, kwargs))
            answer = {"reply": _stored(reply)}
            cassette.add(request, answer)
        if "failure" in answer:
            name, words = answer["failure"]
            raise _ERRORS[name](words)
        (found,) = messages_from_dict([answer["reply"]])
        return ChatResult(generations=[ChatGeneration(message=found)])

    def _ask(
        self, messages: list[BaseMessage], stop: list[str] | None, settings: dict[str, Any]
    ) -> AIMessage:
        if self.inner is None:
            raise AssertionError("The cassette only replays.")
        if "tools" in settings:
            return self.inner.bind_tools(**settings).invoke(messages, stop=stop)
        return self.inner.invoke(messages, stop=stop, **settings)


def inner_model(model: object) -> object:
    """Return a chat model without its bound tools and without the `RecordedModel` around it."""
    model, _ = _unbound(model)
    if isinstance(model, RecordedModel) and model.inner is not None:
        return inner_model(model.inner)
    return model


def _unbound(model: object) -> tuple[object, dict[str, Any]]:
    """Return a chat model without bound tools, and the settings that were bound."""
    settings: dict[str, Any] = {}
    while isinstance(model, RunnableBindingBase):
        settings, model = {**model.kwargs, **settings}, model.bound
    return model, settings


def record_failure(
    model: object,
    messages: Sequence[BaseMessage],
    stop: list[str] | None,
    error: ModelUnavailableError,
) -> None:
    """Record a request that failed after all retries, if the model has a cassette."""
    model, settings = _unbound(model)
    if isinstance(model, RecordedModel):
        request = model.request(messages, stop, settings)
        model.cassette.add(request, {"failure": [type(error).__name__, redact(str(error))]})


def _shown(message: BaseMessage) -> dict[str, Any]:
    """Return the fields of a message that a model receives, without LangChain's own fields."""
    found = {name: getattr(message, name, None) for name in _SHOWN_NAMES}
    named = {name: value for name, value in found.items() if value}
    return {"role": message.type, "content": message.content, **named}


def _stored(reply: AIMessage) -> dict[str, Any]:
    stored: dict[str, Any] = redacted(message_to_dict(reply))
    if str(stored["data"].get("id")).startswith("lc_"):
        stored["data"]["id"] = None  # LangChain creates a new id in every run
    return stored
