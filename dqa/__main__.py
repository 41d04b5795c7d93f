"""Start the command line, for ``dqa`` and ``python -m dqa``, and end it after Ctrl-C."""

import gc
import os
import sys

if __name__ == "__main__" and not sys.flags.safe_path:
    # `python -m dqa` puts the current directory first on the path, but files in it must not be
    # imported. The imports of `gc`, `os` and `sys` do not use the path.
    try:
        if sys.path[0] == os.getcwd():  # noqa: PTH109  (importing pathlib would use the path)
            del sys.path[0]
    except FileNotFoundError:  # the current directory was removed, so Python did not add it
        pass


def main() -> None:
    """Run the command line. After Ctrl-C, even during the imports, print one line."""
    gc.set_threshold(200_000)  # collections would take an eighth of the start
    try:
        from dqa.cli.main import run

        run()
    except KeyboardInterrupt:
        from signal import SIG_IGN, SIGINT, signal

        signal(SIGINT, SIG_IGN)  # a second Ctrl-C would print a traceback
        sys.stderr.write("Interrupted.\n")
        sys.exit(130)
    except BrokenPipeError:
        # The reader of the output has closed it, so the rest is discarded.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    finally:
        gc.freeze()  # Python's collections at exit would take a fifth of a short command


if __name__ == "__main__":
    main()
