"""Chat models of tests: with prepared replies, and with recorded replies."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, TypeAlias

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from pydantic import PrivateAttr

from dqa.core.errors import UsageError
from dqa.core.files import make_private_folder, write_private
from dqa.core.text import shortened
from dqa.models.cassette import Cassette
from dqa.models.registry import Connection, chat_model
from dqa.models.scripted import ProgramModel, Wording, find_responder
from dqa.models.scripted.steps import Answer, Step

Reply: TypeAlias = str | AIMessage | Step | Answer | Exception
"""A text, a message, an exception to raise, or a statement or decision for a `Wording`."""

_SHOWN = 400
"""The maximum number of characters of a request in an error message."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request to a model.

    Attributes
    ----------
    messages
        The conversation so far.
    tools
        The names of the tools that the model may call.
    number
        The number of the request among all requests to the model, from 0.
    """

    messages: tuple[BaseMessage, ...]
    tools: tuple[str, ...]
    number: int

    @property
    def text(self) -> str:
        """The texts of all messages, separated by blank lines."""
        return "\n\n".join(message.text for message in self.messages)

    @property
    def last(self) -> str:
        """The text of the last message, which is an observation, a correction, or the task."""
        return self.messages[-1].text if self.messages else ""


class PreparedReplies(ProgramModel):
    """A chat model with prepared replies. It records its requests.

    Several threads may use the same model. Replies from a list are used in the order of the
    requests, so parallel decisions need a function.

    Parameters
    ----------
    replies
        The replies in order, or a function that returns the reply to a request.

    Raises
    ------
    UsageError
        There are more requests than replies, or a reply is a database statement although the
        method runs no statements.
    """

    name: str | None = "scripted:replies"

    _make: Callable[[Request], Reply] | None = PrivateAttr(default=None)
    _left: deque[Reply] = PrivateAttr(default_factory=deque)
    _requests: list[Request] = PrivateAttr(default_factory=list)
    _lock: Lock = PrivateAttr(default_factory=Lock)

    def __init__(
        self,
        replies: Sequence[Reply] | Callable[[Request], Reply],
        **fields: Any,  # noqa: ANN401  (the base class's fields)
    ) -> None:
        super().__init__(**fields)
        if callable(replies):
            self._make = replies
        else:
            self._left.extend([replies] if isinstance(replies, str) else replies)

    @property
    def requests(self) -> tuple[Request, ...]:
        """The requests so far, in order."""
        return tuple(self._requests)

    @property
    def unused(self) -> int:
        """The number of replies in the list that were not used."""
        return len(self._left)

    def _reply(self, messages: list[BaseMessage], tools: list[str]) -> AIMessage:
        with self._lock:
            request = Request(tuple(messages), tuple(tools), len(self._requests))
            self._requests.append(request)
            if self._make is None and not self._left:
                raise _refused("has no reply left. Add a reply", request)
            reply = self._left.popleft() if self._make is None else None
        if self._make is not None:
            reply = self._make(request)
        if isinstance(reply, Exception):
            raise reply
        if not isinstance(reply, Step | Answer):
            return reply if isinstance(reply, AIMessage) else AIMessage(str(reply))
        responder = find_responder(request.messages)
        if isinstance(responder, Wording):
            message, is_used = responder.word(request.messages, request.tools, reply)
            if not is_used and self._make is None:
                self._left.appendleft(reply)
            return message
        if isinstance(reply, Answer):
            return AIMessage(reply.answer)
        raise _refused("is not allowed to run statements here. Reply with a text", request)


def _refused(problem: str, request: Request) -> UsageError:
    shown = shortened(request.last, _SHOWN)
    return UsageError(f"The scripted model {problem}. The request was:\n{shown}")


_THOUGHT = "The next step."
_NO_NAME = re.compile(r"[^\w.-]+")


def query(statement: str, thought: str = _THOUGHT, plan: str | None = None) -> Step:
    """Return a reply that runs a statement, in the format of the method that calls the model.

    Parameters
    ----------
    statement
        Statement in the language of the database.
    thought
        Reason for the statement.
    plan
        Plan as a numbered list, if the reply contains a new plan.
    """
    return Step(thought, statement, plan)


def answer(decision: str, thought: str = _THOUGHT) -> Answer:
    """Return a reply with the decision, in the format of the method that calls the model."""
    return Answer(thought, str(decision))


class ModelScripter:
    """Creates chat models with scripted replies (fixture ``dqa_scripted``)."""

    def __init__(self) -> None:
        self._models: list[PreparedReplies] = []

    def __call__(
        self,
        replies: Sequence[Reply] | Callable[[Request], Reply],
        *,
        name: str = "scripted:replies",
        all_used: bool = True,
    ) -> PreparedReplies:
        """Create a chat model. Its attribute `requests` records the requests that it receives.

        Parameters
        ----------
        replies
            The replies in order, or a function that returns a reply to a `Request`. A reply is a
            result of `query` or `answer`, a text, a LangChain message, or an exception, which is
            raised.
        name
            Name of the model in traces.
        all_used
            Whether the test fails if some replies were not used.
        """
        model = PreparedReplies(replies, name=name)
        self._models += [model] if all_used else []
        return model

    def check_all_used(self) -> None:
        """Fail if some replies were not used."""
        import pytest  # prepared replies also work without it

        __tracebackhide__ = True
        for model in self._models:
            if model.unused:
                last = "reply was" if model.unused == 1 else f"{model.unused} replies were"
                pytest.fail(
                    f"{model.get_name()}: the last {last} not used. Remove unused replies, or set "
                    "all_used=False.",
                    pytrace=False,
                )


class ModelRecorder:
    """Creates chat models that replay or record a cassette (fixture ``dqa_recorded``).

    Parameters
    ----------
    folder
        Folder of the test module's cassettes.
    test
        Name of the test.
    mode
        ``none`` replays cassettes, ``missing`` records missing cassettes, and ``all`` records all
        cassettes again.
    """

    def __init__(self, folder: Path, test: str, mode: str) -> None:
        self._folder = folder
        self._test = test
        self._mode = mode
        self._models: dict[str, BaseChatModel] = {}
        self._recordings: list[tuple[Cassette, Path]] = []

    def __call__(self, model: str, *, base_url: str | None = None, seed: int = 0) -> BaseChatModel:
        """Return the chat model. A replay needs neither an API key nor the provider's package.

        Parameters
        ----------
        model
            ``provider:model``, such as ``openai:gpt-5``.
        base_url, seed
            URL of the server, and seed of a scripted model. They are used only when a cassette is
            recorded.

        Raises
        ------
        UsageError
            The cassette is missing, or it was recorded with another model.
        MissingKeyError
            A key or a package that recording needs is missing.
        """
        __tracebackhide__ = True
        if model not in self._models:
            connection = Connection(base_url=base_url, cassette=self._cassette(model))
            self._models[model] = chat_model(model, connection, seed)
        return self._models[model]

    def close(self, *, keep: bool) -> None:
        """Close recordings.

        With `keep`, move the recordings to the files of the cassettes. Otherwise print where they
        are.
        """
        for cassette, target in self._recordings:
            cassette.close()
            if keep:
                make_private_folder(target.parent)
                write_private(target, cassette.path.read_bytes())
                shutil.rmtree(cassette.path.parent)
            else:
                print(  # noqa: T201  (pytest shows it with the test that failed)
                    f"The test did not pass, so its cassette was not replaced: {target}\n"
                    f"To use the new recording, copy {cassette.path} to that file."
                )

    def _cassette(self, model: str) -> Cassette:
        __tracebackhide__ = True
        target = self._folder / f"{_file_name(self._test)}.{_file_name(model)}.jsonl"
        if self._mode == "all" or (self._mode == "missing" and not target.exists()):
            recording = Path(tempfile.mkdtemp(prefix="dqa-cassette-")) / target.name
            cassette = Cassette.record(recording, [model])
            self._recordings.append((cassette, target))
            return cassette
        if not target.exists():
            raise UsageError(
                f"There is no cassette {target}. Record it with 'pytest --dqa-record=missing', "
                f"which calls {model}."
            )
        return Cassette.replay(target, [model])


def _file_name(text: str) -> str:
    return _NO_NAME.sub("-", text.replace("::", ".")).strip("-")
