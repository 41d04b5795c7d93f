"""Whether a model's server can be reached at all, which is asked before any question is.

Requests that fail are made again with pauses that grow to a minute, which is right for a server
that stumbles and wrong for an address where nobody is: 200 questions would each find that out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dqa.core.errors import MalformedReplyError, ModelUnavailableError
from dqa.core.secrets import redact
from dqa.models.faults import unreached
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
    client = next(
        filter(None, (getattr(layer, "root_client", None) for layer in layers(model))), None
    )
    if client is None:
        return
    import openai

    timeout = openai.Timeout(_ANSWER_SECONDS, connect=_CONNECT_SECONDS)
    try:
        # By the model's own client, whose proxies and certificates are those of its requests.
        client.with_options(timeout=timeout, max_retries=0).get("", cast_to=object)
    except openai.APIConnectionError as error:
        problem = unreached(error)
        if problem is not None:  # else somebody is there, and slow
            raise ModelUnavailableError(
                f"The model {name} cannot be reached at {redact(str(client.base_url))}: "
                f"{problem}. Nothing was asked."
            ) from error
    except (openai.OpenAIError, MalformedReplyError, RecursionError, ValueError):
        return  # Somebody is there; what is asked of it will say what it lacks.
