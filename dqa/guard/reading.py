"""Reads statements so that neither a parser's mistake nor a caller's deep stack decides.

A parser that fails on a text that it does not expect must not fail whoever asked: what cannot be
read is refused. That holds for whatever it raises, for nobody can list the mistakes of a parser of
ten thousand lines; a verdict that is missing is "no".
"""

from __future__ import annotations

import _thread
from collections.abc import Callable
from typing import TypeVar

from dqa.guard.verdict import Refusal

Result = TypeVar("Result")
_STACK = 16 << 20
"""Bytes, where the usual stack of a thread is half a megabyte on some systems."""
_sizing = _thread.allocate_lock()


def read(reader: Callable[[], Result]) -> Result:
    """Return what `reader` returns, on a stack of its own if the caller's has no room for it.

    Parameters
    ----------
    reader
        Reads a statement; what it does must be the same when it is called again.

    Raises
    ------
    Refusal
        As `reader` does, and where it raises any other exception.
    MemoryError
        There is no memory left, which says nothing of the statement.
    """
    try:
        try:
            return reader()
        except Exception as error:
            if not _is_out_of_stack(error):
                raise
        return _on_own_stack(reader)
    except (Refusal, MemoryError):
        raise
    except Exception as error:  # whatever a parser raises, see above
        if _is_out_of_stack(error):
            raise Refusal("it is nested too deeply; write it flatter") from error
        raise Refusal(
            f"it cannot be read: the parser failed on it ({type(error).__name__}); write it more "
            "simply, with every function's arguments"
        ) from error


def _is_out_of_stack(error: BaseException | None) -> bool:
    """Whether an error is, or was raised for, a recursion that went too deep."""
    while error is not None and not isinstance(error, RecursionError):
        error = error.__cause__ or error.__context__
    return error is not None


def _on_own_stack(reader: Callable[[], Result]) -> Result:
    """Call `reader` in a thread. The low-level module is used because it needs no frame itself."""
    results: list[Result] = []
    errors: list[BaseException] = []
    ended = _thread.allocate_lock()

    def run() -> None:
        try:
            results.append(reader())
        except BaseException as error:  # noqa: BLE001  (raised where it was asked for)
            errors.append(error)
        finally:
            ended.release()

    ended.acquire()
    with _sizing:
        usual = _thread.stack_size(_STACK)
        try:
            _thread.start_new_thread(run, ())
        except RuntimeError as error:
            raise MemoryError("There is no room for another thread.") from error
        finally:
            _thread.stack_size(usual)
    ended.acquire()
    if errors:
        raise errors[0]
    return results[0]
