"""Create chat models by name, such as ``scripted:analyst`` or ``openai:gpt-5``."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dqa.core.distribution import install_command
from dqa.core.errors import MissingKeyError, ModelUnavailableError, UsageError
from dqa.core.secrets import redact

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from dqa.models.cassette import Cassette

SCRIPTED = "scripted"
"""The provider name of scripted models."""

_URL = re.compile(r"https?://[^\s/:@]+(?:[^\s/]*@[^\s/:]+)?(?::\d{1,5})?(?:/\S*)?", re.IGNORECASE)
_OPENAI_KEY = "OPENAI_API_KEY"
_PROBE_SECONDS = (2.0, 10.0)
"""The time limits in seconds for the answer of a server, and for the connection."""


def is_scripted(name: str) -> bool:
    """Return whether a name, or one of several names joined by ``+``, is a scripted model."""
    return any(part.split(":", 1)[0] == SCRIPTED for part in name.split(" + "))


@dataclass(frozen=True, slots=True)
class Connection:
    """The settings of the connection to models.

    Attributes
    ----------
    base_url
        The address of an OpenAI-compatible server, which may need no key.
    timeout
        The maximum time in seconds of one attempt.
    cassette
        Records or replays all replies; None for neither.
    reply_tokens
        The maximum number of tokens of a reply; None for the server's own limit.
    parameters
        Other arguments of the provider's chat model: top_p, reasoning_effort, extra_body.

    Raises
    ------
    UsageError
        `base_url` is not an HTTP address.
    """

    base_url: str | None = None
    timeout: float = 120.0
    cassette: Cassette | None = None
    reply_tokens: int | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise `UsageError` unless `base_url` is an HTTP address."""
        if self.base_url is not None and not _URL.fullmatch(self.base_url):
            raise UsageError(
                f"The base URL '{redact(self.base_url)}' is not an HTTP address: write it with its "
                "scheme, such as --base-url http://localhost:8000/v1."
            )


_DIRECT = Connection()


def chat_model(
    name: str, connection: Connection = _DIRECT, seed: int = 0, temperature: float = 0.0
) -> BaseChatModel:
    """Return the chat model called `name`.

    The package of the provider does not retry. `dqa.models.calling` retries and records faults.

    Parameters
    ----------
    name
        ``provider:model``. The provider ``scripted`` needs no key. ``openai`` means any server with
        OpenAI's protocol. Other providers are those of LangChain's `init_chat_model`.
    connection
        The settings of the connection. A replayed model needs neither a key nor a package.
    seed
        The seed of random choices. Only scripted models, and OpenAI models with a temperature, use
        the seed.
    temperature
        The temperature; 0 for the most likely reply.

    Raises
    ------
    UsageError
        `name` has no provider.
    UnknownNameError
        There is no scripted model with this name.
    MissingKeyError
        A package or a key is missing.
    """
    provider, _, model = name.partition(":")
    if not provider or not model:
        raise UsageError(
            f"'{name}' is not the name of a model: write provider:model, e.g. scripted:analyst or "
            "openai:gpt-5."
        )
    is_program = provider == SCRIPTED
    if is_program and (connection.base_url is not None or connection.parameters):
        names = ", ".join([*connection.parameters, *(["--base-url"] * bool(connection.base_url))])
        raise UsageError(
            f"'{name}' is a scripted model, which has no server and no parameters: omit {names}."
        )
    drawn = {"temperature": temperature, "seed": seed} if temperature else {"temperature": 0}
    most = {} if connection.reply_tokens is None else {"max_tokens": connection.reply_tokens}
    own = {"seed": seed} if is_program else {**drawn, **most, **connection.parameters}

    def create() -> BaseChatModel:
        if not is_program:
            return _provider_model(provider, model, connection, own)
        from dqa.models.scripted import scripted_model

        return scripted_model(model, seed)

    return _recorded(name, create, connection, own)


def passed_model(name: str, model: BaseChatModel, connection: Connection) -> BaseChatModel:
    """Return a user's chat model.

    If the connection has a cassette, the cassette records or replays the model's replies.
    """
    return _recorded(name, lambda: model, connection, {})


def _recorded(
    name: str, create: Callable[[], BaseChatModel], connection: Connection, own: dict[str, Any]
) -> BaseChatModel:
    """Return the result of `create`, or a `RecordedModel` if the connection has a cassette."""
    cassette = connection.cassette
    if cassette is None:
        return create()
    from dqa.models.cassette import RecordedModel

    return RecordedModel(
        name=name,
        model=name,
        cassette=cassette,
        parameters=own,
        inner=None if cassette.replays else create(),
    )


def _provider_model(
    provider: str, model: str, connection: Connection, own: Mapping[str, Any]
) -> BaseChatModel:
    """Return the chat model of a provider's package. `own` are parameters of each request."""
    shared: dict[str, Any] = {"max_retries": 0, "timeout": connection.timeout, **own}
    if connection.base_url is not None:
        shared["base_url"] = connection.base_url
    name = f"{provider}:{model}"
    try:
        if provider != "openai":
            from langchain.chat_models import init_chat_model

            shared.pop("seed", None)
            found: BaseChatModel = init_chat_model(model, model_provider=provider, **shared)
            return found
        from dqa.models.openai_chat import OpenAIChat, limited_client
    except ImportError as error:
        if error.name not in {"langchain", "langchain.chat_models", "langchain_openai", "openai"}:
            raise MissingKeyError(f"{name} needs another package: {error}") from error
        extra = "openai" if provider == "openai" else "models"
        raise MissingKeyError(
            f"{name} needs the package {error.name}: install it with {install_command(extra)}."
        ) from error
    except ValueError as error:  # an unknown provider, or a missing key
        words = " ".join(str(error).split())[:300] or type(error).__name__
        raise UsageError(f"The model {name} cannot be created: {words}") from error
    key = os.environ.get(_OPENAI_KEY)
    if connection.base_url is not None:
        shared["api_key"] = key or "none"
        if connection.reply_tokens is not None:
            # LangChain sends `max_completion_tokens`, which some servers ignore.
            most = {"max_tokens": connection.reply_tokens}
            shared["extra_body"] = most | shared.get("extra_body", {})
    elif not key:
        raise MissingKeyError(
            f"{name} needs a key: set the variable {_OPENAI_KEY}, or use a server that needs no "
            "key (--base-url)."
        )
    client = limited_client(connection.timeout)
    shared |= {"http_client": client, "http_socket_options": (), "openai_proxy": None}
    return OpenAIChat(model=model, **shared)


def check_reachable(name: str, model: object) -> None:
    """Check that the server of a model with OpenAI's protocol can be reached.

    Without this check, a wrong address would be reported only after minutes of retries.

    Parameters
    ----------
    name
        The name of the model, for messages.
    model
        The model. Scripted and replayed models have no server.

    Raises
    ------
    ModelUnavailableError
        There is no connection. The message contains the address and the fix.
    """
    from dqa.models.cassette import inner_model

    client = getattr(inner_model(model), "root_client", None)
    if client is None:
        return
    import openai

    from dqa.core.errors import MalformedReplyError
    from dqa.models.faults import unreached

    timeout = openai.Timeout(_PROBE_SECONDS[0], connect=_PROBE_SECONDS[1])
    try:
        # The model's own client uses the same proxies and certificates as later requests.
        client.with_options(timeout=timeout, max_retries=0).get("", cast_to=object)
    except openai.APIConnectionError as error:
        problem = unreached(error)
        if problem is None:
            return
        raise ModelUnavailableError(
            f"The model {name} cannot be reached at {redact(str(client.base_url))}: {problem}. No "
            "question was asked."
        ) from error
    except (openai.OpenAIError, MalformedReplyError, RecursionError, ValueError):
        pass  # A server answered, even if it refused this request.
