"""``dqa`` and ``python -m dqa``: the way in, and the only way out of an interrupt."""

import gc
import os
import sys

if __name__ == "__main__" and not sys.flags.safe_path:
    # `python -m dqa` puts the current directory first on the path. What is imported from here on
    # must not come from a file that happens to lie there; the command `dqa` imports none either.
    # `gc`, `os` and `sys` are there before any path is, so importing them is safe.
    try:
        if sys.path[0] == os.getcwd():  # noqa: PTH109  (pathlib would have to be imported)
            del sys.path[0]
    except FileNotFoundError:  # the current directory was removed, and Python added nothing
        pass


def main() -> None:
    """Run the command line; Ctrl-C ends it in one line even while it is still being imported."""
    gc.set_threshold(50_000)  # of the start, an eighth would go into looking for garbage
    try:
        from dqa.cli.main import run

        run()
    except KeyboardInterrupt:
        _leave("Interrupted.", 130)
    except BrokenPipeError:
        # Whoever read the output has had enough; what is left of it goes nowhere, in silence.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _leave(line: str, code: int) -> None:
    from signal import SIG_IGN, SIGINT, signal

    signal(SIGINT, SIG_IGN)  # the second one of a hasty user would be a traceback
    sys.stderr.write(f"{line}\n")
    sys.exit(code)


if __name__ == "__main__":
    main()
