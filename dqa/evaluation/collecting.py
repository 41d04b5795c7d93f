"""Python's collector of cyclic garbage while decisions are made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collecting_new() -> Iterator[None]:
    """Let the collector look only at what is made within the block.

    What a process has imported are half a million objects that stay. To look through them takes a
    tenth of a second and more, in which no thread goes on. Where somebody keeps objects from the
    collector already, that stays as it is.
    """
    if gc.get_freeze_count():
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
