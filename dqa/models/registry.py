"""Chat models by name: ``provider:model``, e.g. ``scripted:analyst`` or ``openai:gpt-5``."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dqa.core.distribution import install_command
from dqa.core.errors import MissingKeyError, ModelUnavailableError, UsageError
from dqa.core.secrets import redact
from dqa.models.policy import REPLY_LIMIT

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from dqa.models.cassette import Cassette

SCRIPTED = "scripted"
"""The provider of models whose replies a program decides."""

_URL = re.compile(r"https?://[^\s/:@]+(?:[^\s/]*@[^\s/:]+)?(?::\d{1,5})?(?:/\S*)?", re.IGNORECASE)
_OPENAI_KEY = "OPENAI_API_KEY"
_PROBE_SECONDS = (2.0, 10.0)
"""For the answer of a server, which may be slow, and for the connection."""


def is_scripted(name: str) -> bool:
    """Whether a scripted program is part of `name`, which may be several joined by ``+``."""
    return any(part.split(":", 1)[0] == SCRIPTED for part in name.split(" + "))


@dataclass(frozen=True, slots=True)
class Connection:
    """How models are reached.

    Attributes
    ----------
    base_url
        Address of an OpenAI-compatible server; it may need no key.
    timeout
        Most seconds of one attempt.
    cassette
        Records every reply, or replays them in the models' place; None for neither.
    reply_limit
        Most bytes of one reply.
    reply_tokens
        Most tokens of one reply, as a server is asked; None for its own bound.
    parameters
        Further arguments of the provider's chat model: top_p, reasoning_effort, extra_body.

    Raises
    ------
    UsageError
        `base_url` is not an HTTP address.
    """

    base_url: str | None = None
    timeout: float = 120.0
    cassette: Cassette | None = None
    reply_limit: int = REPLY_LIMIT
    reply_tokens: int | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse an address to which no request can be made."""
        if self.base_url is not None and not _URL.fullmatch(self.base_url):
            rest = re.sub(r"^[a-z+]*:?/+", "", self.base_url, flags=re.IGNORECASE)
            raise UsageError(
                f"The base URL '{redact(self.base_url)}' is not an HTTP address: write it with its "
                f"scheme, --base-url http://{redact(rest) or 'localhost:8000/v1'} (or https://)."
            )


_DIRECT = Connection()


def chat_model(
    name: str, connection: Connection = _DIRECT, seed: int = 0, temperature: float = 0.0
) -> BaseChatModel:
    """Return the chat model called `name`.

    Its package does not repeat requests: `dqa.models.calling` does, and records it in the trace.

    Parameters
    ----------
    name
        ``provider:model``. ``scripted:`` needs nothing, ``openai:`` is the OpenAI protocol, and
        every other provider is one of LangChain's `init_chat_model`.
    connection
        How it is reached. A model that a cassette replays needs no key and no package.
    seed
        Of a scripted model that draws at random, and of an OpenAI model with a temperature.
    temperature
        Of models that have one; 0 for the likeliest reply.

    Raises
    ------
    UsageError
        `name` has no provider.
    UnknownNameError
        There is no scripted model of that name.
    MissingKeyError
        A package or a key is missing; the message names it.
    """
    provider, _, model = name.partition(":")
    if not provider or not model:
        raise UsageError(
            f"'{name}' names no model: write provider:model, e.g. scripted:analyst or openai:gpt-5."
        )
    is_program = provider == SCRIPTED
    if is_program and connection.base_url is not None:
        raise UsageError(f"'{name}' is a program, not a server: omit --base-url.")
    if is_program and connection.parameters:
        names = ", ".join(connection.parameters)
        raise UsageError(f"'{name}' is a program and takes no parameters: omit {names}.")
    if connection.cassette is not None and connection.cassette.replays:
        made: BaseChatModel | None = None
    elif is_program:
        from dqa.models.scripted import scripted_model

        made = scripted_model(model, seed)
    else:
        made = _provider_model(provider, model, connection, seed, temperature)
    drawn = {"temperature": temperature, "seed": seed} if temperature else {"temperature": 0}
    most = {} if connection.reply_tokens is None else {"max_tokens": connection.reply_tokens}
    own = {"seed": seed} if is_program else {**drawn, **most, **connection.parameters}
    return _recorded(name, made, connection, own)


def given_model(name: str, model: BaseChatModel, connection: Connection) -> BaseChatModel:
    """Return the user's own chat model, recorded or replayed as one by name would be."""
    replays = connection.cassette is not None and connection.cassette.replays
    return _recorded(name, None if replays else model, connection, {})


def _recorded(
    name: str, model: BaseChatModel | None, connection: Connection, own: dict[str, Any]
) -> BaseChatModel:
    """Return a model behind the cassette, if there is one."""
    cassette = connection.cassette
    if cassette is None and model is not None:
        return model
    from dqa.models.cassette import RecordedModel

    return RecordedModel(
        name=name,
        model=name,
        cassette=cassette,
        parameters=own,
        inner=model,
        reply_limit=connection.reply_limit,
    )


def _provider_model(
    provider: str, model: str, connection: Connection, seed: int, temperature: float
) -> BaseChatModel:
    """Return the chat model of a provider's package."""
    most = connection.reply_tokens
    shared: dict[str, Any] = {"max_retries": 0, "timeout": connection.timeout}
    shared |= {"temperature": temperature or 0} | dict(connection.parameters)
    if most is not None:
        shared["max_tokens"] = most
    if connection.base_url is not None:
        shared["base_url"] = connection.base_url
    name = f"{provider}:{model}"
    try:
        if provider != "openai":
            from langchain.chat_models import init_chat_model

            found: BaseChatModel = init_chat_model(model, model_provider=provider, **shared)
            return found
        from dqa.models.openai_chat import OpenAIChat
    except ImportError as error:
        if error.name not in {"langchain", "langchain.chat_models", "langchain_openai", "openai"}:
            raise MissingKeyError(f"{name} needs another package: {error}") from error
        extra = "openai" if provider == "openai" else "models"
        raise MissingKeyError(
            f"{name} needs the package {error.name}: install it with {install_command(extra)}."
        ) from error
    except ValueError as error:  # an unknown provider, or a missing key
        words = " ".join(str(error).split())[:300] or type(error).__name__
        raise UsageError(f"{name} cannot be made: {words}") from error
    key = os.environ.get(_OPENAI_KEY)
    if connection.base_url is not None:
        shared["api_key"] = key or "none"
    elif not key:
        raise MissingKeyError(
            f"{name} needs a key: set the variable {_OPENAI_KEY}, or name a server that needs none "
            "with --base-url."
        )
    if temperature:
        shared["seed"] = seed
    if most is not None and connection.base_url is not None:
        # OpenAI renamed it to what LangChain sends, which some servers ignore.
        shared["extra_body"] = {"max_tokens": most, **shared.get("extra_body", {})}
    return OpenAIChat(model=model, reply_limit=connection.reply_limit, **shared)


def check_reachable(name: str, model: BaseChatModel) -> None:
    """Connect to a model's server, if it has the OpenAI protocol; any answer is good.

    Requests that fail are repeated for minutes, which is wrong for an address without a server.

    Parameters
    ----------
    name
        The name of the model.
    model
        The model; one that a cassette or a program answers has no server.

    Raises
    ------
    ModelUnavailableError
        There is no connection; the message names the address, and what to fix.
    """
    client = getattr(getattr(model, "inner", None) or model, "root_client", None)
    if client is None:
        return
    import openai

    from dqa.core.errors import MalformedReplyError
    from dqa.models.faults import unreached

    timeout = openai.Timeout(_PROBE_SECONDS[0], connect=_PROBE_SECONDS[1])
    try:
        # By the model's own client, whose proxies and certificates are those of its requests.
        client.with_options(timeout=timeout, max_retries=0).get("", cast_to=object)
    except openai.APIConnectionError as error:
        problem = unreached(error)
        if problem is not None:
            raise ModelUnavailableError(
                f"The model {name} cannot be reached at {redact(str(client.base_url))}: "
                f"{problem}. Nothing was asked."
            ) from error
    except (openai.OpenAIError, MalformedReplyError, RecursionError, ValueError):
        return  # There is a server.
