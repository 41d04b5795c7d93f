"""Whether a model's server can be reached at all, which is asked before any question is.

Requests that fail are made again with pauses that grow to a minute, which is right for a server
that stumbles and wrong for an address where nobody is: 200 questions would each find that out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dqa.core.errors import ModelUnavailableError
from dqa.core.secrets import redact
from dqa.models.faults import unreached, words_of
from dqa.models.layers import layers

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

_CONNECT_SECONDS = 10.0
_ANSWER_SECONDS = 2.0
"""A server that is slow to answer is there all the same."""


def check_reachable(name: str, model: BaseChatModel) -> None:
    """Connect to a model's server, where it is one of OpenAI's protocol; whatever it answers.

    Parameters
    ----------
    name
        What the model is called.
    model
        The model; one that a cassette plays or a program answers has no server.

    Raises
    ------
    ModelUnavailableError
        No connection can be made; the message names the address, and what to mend.
    """
    address = _address(model)
    if address is None:
        return
    import httpx

    timeout = httpx.Timeout(_ANSWER_SECONDS, connect=_CONNECT_SECONDS)
    try:
        httpx.head(address, timeout=timeout)
    except (httpx.ConnectError, httpx.ConnectTimeout) as error:
        raise ModelUnavailableError(
            f"The model {name} cannot be reached at {redact(address)}: "
            f"{unreached(error) or words_of(error)}. Nothing was asked."
        ) from error
    except httpx.HTTPError:
        return  # Somebody is there; what is asked of it will say what it lacks.


def _address(model: BaseChatModel) -> str | None:
    """Return the base URL of the client beneath a model; None where there is none."""
    for layer in layers(model):
        client = getattr(layer, "root_client", None)
        if client is not None:
            return str(client.base_url)
    return None
