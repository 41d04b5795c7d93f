"""The fixtures that make chat models: scripted ones, and ones that play a cassette."""

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
from dqa.models.scripted import GivenReplies, Reply, Request
from dqa.models.scripted.steps import Answer, Step

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

_THOUGHT = "The next step."
_NO_NAME = re.compile(r"[^\w.-]+")


def query(statement: str, thought: str = _THOUGHT, plan: str | None = None) -> Step:
    """Return the reply that asks the database, in the words of whichever method asks.

    Parameters
    ----------
    statement
        In the database's language.
    thought
        Why it is asked.
    plan
        A numbered list: the plan where it begins or changes.
    """
    return Step(thought, statement, plan)


def answer(decision: str, thought: str = _THOUGHT) -> Answer:
    """Return the reply that decides, in the words of whichever method asks."""
    return Answer(thought, str(decision))


class ModelScripter:
    """Makes chat models with scripted replies (fixture ``dqa_scripted``)."""

    def __init__(self) -> None:
        self._made: list[GivenReplies] = []

    def __call__(
        self,
        replies: Sequence[Reply] | Callable[[Request], Reply],
        *,
        name: str = "scripted:replies",
        all_used: bool = True,
    ) -> GivenReplies:
        """Make a chat model; its `requests` are those that it received.

        Parameters
        ----------
        replies
            In their order: `query`, `answer`, a text, a message of LangChain's, or an exception,
            which is raised instead. Or a function that makes one of a `Request`.
        name
            What traces call the model.
        all_used
            Whether the test fails where replies are left over.
        """
        made = GivenReplies(replies, name=name)
        if all_used:
            self._made.append(made)
        return made

    def check_all_used(self) -> None:
        """Fail where replies are left over."""
        __tracebackhide__ = True
        for made in self._made:
            if made.unused:
                last = "reply was" if made.unused == 1 else f"{made.unused} replies were"
                pytest.fail(
                    f"{made.get_name()}: the last {last} not used. Remove unused replies, or set "
                    "all_used=False.",
                    pytrace=False,
                )


class ModelRecorder:
    """Makes chat models that play a cassette, or record one (fixture ``dqa_recorded``).

    Parameters
    ----------
    folder
        Where the cassettes of a test module are.
    test
        The test's name.
    mode
        ``none`` plays, ``missing`` records missing cassettes, ``all`` all of them.
    """

    def __init__(self, folder: Path, test: str, mode: str) -> None:
        self._folder = folder
        self._test = test
        self._mode = mode
        self._models: dict[str, BaseChatModel] = {}
        self._recordings: list[tuple[Cassette, Path]] = []

    def __call__(self, model: str, *, base_url: str | None = None, seed: int = 0) -> BaseChatModel:
        """Return the chat model, which needs neither key nor package where its cassette is played.

        Parameters
        ----------
        model
            ``provider:model``, e.g. ``openai:gpt-5``.
        base_url, seed
            Where it is, and the seed of a scripted one, for recording.

        Raises
        ------
        UsageError
            There is no cassette, or it is of another model.
        MissingKeyError
            It is to be recorded, and a key or a package is missing.
        """
        __tracebackhide__ = True
        if model not in self._models:
            cassette = self._cassette(model)
            connection = Connection(base_url=base_url, cassette=cassette)
            self._models[model] = chat_model(model, connection, seed)
        return self._models[model]

    def close(self, *, keep: bool) -> None:
        """Move the recordings of a test that passed to their files."""
        for cassette, place in self._recordings:
            cassette.close()
            if keep:
                make_private_folder(place.parent)
                write_private(place, cassette.path.read_bytes())
                shutil.rmtree(cassette.path.parent)
            else:
                print(  # noqa: T201  (pytest shows it with the test that failed)
                    f"The test did not pass, so its cassette stays as it was: {place}\n"
                    f"The recording is {cassette.path}; copy it there to use it."
                )

    def _cassette(self, model: str) -> Cassette:
        __tracebackhide__ = True
        place = self._folder / f"{_file_name(self._test)}.{_file_name(model)}.jsonl"
        if self._mode == "all" or (self._mode == "missing" and not place.exists()):
            made = Path(tempfile.mkdtemp(prefix="dqa-cassette-")) / place.name
            cassette = Cassette.record(made, [model])
            self._recordings.append((cassette, place))
            return cassette
        if not place.exists():
            raise UsageError(
                f"There is no cassette {place}: record it by 'pytest --dqa-record=missing', which "
                f"asks {model}."
            )
        return Cassette.replay(place, [model])


def _file_name(text: str) -> str:
    return _NO_NAME.sub("-", text.replace("::", ".")).strip("-")
