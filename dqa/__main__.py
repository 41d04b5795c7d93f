"""``dqa`` and ``python -m dqa``: the way in, and the only way out of an interrupt."""

import os
import sys


def main() -> None:
    """Run the command line; Ctrl-C ends it in one line even while it is still being imported."""
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
