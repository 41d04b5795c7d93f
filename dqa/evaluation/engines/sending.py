"""What workers are sent: what they build a run from, and the secrets that it takes."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dqa.core.errors import UsageError
from dqa.evaluation.engines.remote import Recipe
from dqa.evaluation.targets import label_of
from dqa.loaders.places import variable_of

if TYPE_CHECKING:
    from dqa.evaluation.build import BuiltRun
    from dqa.evaluation.engines.base import GivenObjects
    from dqa.evaluation.options import CallOptions, RunOptions

_BESIDE_KEYS = ("API_BASE", "BASE_URL", "ORG_ID")
"""What providers read from the environment beside ``NAME_API_KEY``."""


def needed_variables(built: BuiltRun) -> dict[str, str]:
    """Return the variables of this process that a worker needs to build the same run.

    They are the URLs of the run's databases and the keys of its models: nothing else is sent.
    """
    names = set(_names(built))
    return {name: os.environ[name] for name in sorted(names) if name in os.environ}


def _names(built: BuiltRun) -> Iterator[str]:
    yield from (variable_of(label_of(database)) for database in built.spec.databases)
    for name, place in built.setup.places.items():
        yield from (variable_of(name), variable_of(place.backend.name))
    for chats in built.connected.chats:
        for chat in chats.values():
            for key in getattr(chat, "lc_secrets", {}).values():
                yield key
                yield from (key.replace("API_KEY", one) for one in _BESIDE_KEYS)


def pack_recipes(  # noqa: PLR0913, PLR0917  (all that a worker builds its run from)
    built: BuiltRun,
    calls: CallOptions,
    options: RunOptions,
    threads: Sequence[int],
    environment: Mapping[str, str],
    dumps: Callable[[Any], bytes],
) -> list[bytes]:
    """Pack what each worker builds its run from, who has so many of the `threads`."""
    return [
        dumps(Recipe(built.spec, share, options.changed(workers=each), environment))
        for share, each in zip(shared_calls(calls, len(threads)), threads, strict=True)
    ]


def shares(count: int, workers: int) -> list[int]:
    """Return how many of a number of places each worker has."""
    each, more = divmod(count, workers)
    return [each + (number < more) for number in range(workers)]


def shared_calls(calls: CallOptions, workers: int) -> list[CallOptions]:
    """Return how each worker calls models, so that together they keep the limits of the run."""

    def share(limit: float | None) -> float | None:
        return None if limit is None else limit / workers

    places: Iterable[int | None] = [None] * workers
    if calls.max_concurrency is not None:
        places = shares(calls.max_concurrency, workers)
    return [
        calls.changed(
            max_concurrency=most,
            requests_per_minute=share(calls.requests_per_minute),
            tokens_per_minute=share(calls.tokens_per_minute),
        )
        for most in places
    ]


def pack_given(given: GivenObjects, dumps: Callable[[Any], bytes]) -> bytes:
    """Pack the deciders and chat models that a Python caller passed.

    Raises
    ------
    UsageError
        One of them cannot be sent to another process.
    """
    for kind, objects in (("decider", given.deciders), ("chat model", given.chats)):
        for name, one in objects.items():
            try:
                dumps(one)
            except (TypeError, ValueError, AttributeError, pickle.PicklingError) as error:
                raise UsageError(
                    f"The {kind} '{name}' was passed in Python and cannot be sent to another "
                    f"process ({error}): give it as a name that a package registers, keep what "
                    "cannot be pickled out of it, or decide in this process (engine='local', "
                    "processes=1)."
                ) from error
    return dumps(given)
