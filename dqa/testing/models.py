"""The classes that the fixtures for chat models use: scripted models and recorded models."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dqa.core.errors import UsageError
from dqa.core.files import make_private_folder, write_private
from dqa.models.cassette import Cassette
from dqa.models.registry import Connection, chat_model
from dqa.models.scripted.steps import Answer, Step
from dqa.testing.fake_models import PreparedReplies, Reply, Request

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

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
