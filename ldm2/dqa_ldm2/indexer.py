"""What whoever adds to a memory asks a model for: summaries, clusters, types."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import Lock, local

from langchain_core.language_models import BaseChatModel

from dqa.core.decision import Usage
from dqa.core.errors import UnparsableReplyError
from dqa.core.events import Event
from dqa.core.recorder import Recorder
from dqa.core.trajectories import Step
from dqa.models.conversation import Conversation
from dqa.models.policy import DEFAULT_POLICY, CallPolicy
from dqa_ldm2.events import ClustersEvent, Kind
from dqa_ldm2.memory.base import MemoryType
from dqa_ldm2.memory.keeping import OTHER
from dqa_ldm2.operations.indexing import cluster, find_type
from dqa_ldm2.process import Process

_AT_ONCE, _CHARACTERS = 40, 24_000
"""Most texts of one request, and most characters of them."""
_MOST = 40_000


class AskedIndexer:
    """Asks a model; see `dqa_ldm2.memory.indexing.Indexer`.

    Several threads may use it, each for a trajectory of its own.

    Long lists are sorted in several requests, each of which is shown the types that there are by
    then; texts that come again are shown once. What no reply gives a type is left out and counted:
    `assign` asks for it once more. A history that no reply tells lists the actions.

    Parameters
    ----------
    model
        Who is asked.
    max_failures
        Most replies to one question that may not be readable.
    calls
        Retries, limits and budget.
    told
        Is told of everything that happens; None for nobody.

    Attributes
    ----------
    requests
        How many replies there were.
    forgotten
        How many texts no reply gave a type.
    unusable
        How many histories no reply told, so that they list what was done.
    usage
        Tokens and calls.
    """

    def __init__(
        self,
        model: BaseChatModel,
        max_failures: int = 3,
        calls: CallPolicy = DEFAULT_POLICY,
        told: Callable[[Event], None] | None = None,
    ) -> None:
        self.requests = self.forgotten = self.unusable = 0
        self.usage = Usage()
        self._model = model
        self._max_failures = max_failures
        self._calls = calls
        self._told = told
        self._counting = Lock()
        self._threads = local()

    def summarise(self, goal: str, steps_before: Sequence[Step]) -> str:
        """Return the history; what an earlier call summarised is not summarised again."""
        conversation = self._conversation()
        try:
            return self._process().summary_of(goal, tuple(steps_before), conversation, _MOST)
        except UnparsableReplyError:
            with self._counting:
                self.unusable += 1
            return "; ".join(step.action for step in steps_before)
        finally:
            self._take(conversation.recorder)

    def cluster(self, kind: Kind, texts: Sequence[str]) -> Mapping[str, tuple[int, ...]]:
        """Return types with numbers; see `Indexer`."""
        places: dict[str, list[int]] = {}
        for number, text in enumerate(texts, 1):
            places.setdefault(text, []).append(number)
        names: dict[str, str] = {}
        forgotten = 0
        for part in _parts(list(places)):
            found, left = self._cluster_part(kind, part, list(dict.fromkeys(names.values())))
            names |= found
            forgotten += sum(len(places[text]) for text in left)
        types: dict[str, list[int]] = {}
        for text, name in names.items():
            types.setdefault(name, []).extend(places[text])
        sizes = {name: len(numbers) for name, numbers in types.items()}
        with self._counting:
            self.forgotten += forgotten
        if self._told is not None and types:
            self._told(ClustersEvent(of=kind, types=sizes, forgotten=forgotten))
        return {name: tuple(sorted(numbers)) for name, numbers in types.items()}

    def classify(self, kind: Kind, text: str, types: Sequence[MemoryType]) -> str:
        """Return a type; see `Indexer`."""
        conversation = self._conversation()
        try:
            found = find_type(kind, text, types, conversation)
            conversation.recorder.note(found)
            return found.type
        finally:
            self._take(conversation.recorder)

    def _cluster_part(
        self, kind: Kind, part: Sequence[str], known: Sequence[str]
    ) -> tuple[dict[str, str], tuple[str, ...]]:
        """Return the type of each text, and those that no reply gave one."""
        if len(part) == 1 and not known:
            known = (" ".join(part[0].split())[:60] or OTHER,)
            return {part[0]: known[0]}, ()
        conversation = self._conversation()
        try:
            found = cluster(kind, part, known, conversation)
        except UnparsableReplyError:
            return {}, tuple(part)
        finally:
            self._take(conversation.recorder)
        names = {
            part[number - 1]: name for name, numbers in found.types.items() for number in numbers
        }
        return names, tuple(part[number - 1] for number in found.forgotten)

    def _conversation(self) -> Conversation:
        return Conversation(self._model, self._max_failures, self._calls, Recorder())

    def _process(self) -> Process:
        """Return what this thread knows of the trajectory that it summarises."""
        if not hasattr(self._threads, "process"):
            self._threads.process = Process()
        process: Process = self._threads.process
        return process

    def _take(self, recorder: Recorder) -> None:
        with self._counting:
            self.requests += recorder.steps
            self.usage += recorder.usage + recorder.lost
        if self._told is not None:
            for event in recorder.events:
                self._told(event)


def _parts(texts: Sequence[str]) -> list[list[str]]:
    """Return texts in parts that fit a request, in order."""
    parts: list[list[str]] = []
    size = 0
    for text in texts:
        if not parts or len(parts[-1]) >= _AT_ONCE or size + len(text) > _CHARACTERS:
            parts.append([])
            size = 0
        parts[-1].append(text)
        size += len(text)
    return parts
