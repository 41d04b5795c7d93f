"""Chat models by name: ``provider:model``, e.g. ``scripted:analyst`` or ``openai:gpt-5``."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from dqa.core.distribution import install_command
from dqa.core.errors import MissingKeyError, UsageError
from dqa.core.secrets import redact
from dqa.models.bounds import REPLY_LIMIT

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from dqa.models.cassette import Cassette

SCRIPTED = "scripted"
"""The provider of models whose replies a program decides."""

_HTTP = re.compile(r"https?://[^\s/]", re.IGNORECASE)
_OPENAI_KEY = "OPENAI_API_KEY"
_NO_KEY = "none"


def is_scripted(name: str) -> bool:
    """Whether a scripted program has a part in `name`, which may be several joined by ``+``."""
    return any(part.split(":", 1)[0] == SCRIPTED for part in name.split(" + "))


@dataclass(frozen=True, slots=True)
class Connection:
    """How models are reached.

    Attributes
    ----------
    base_url
        Where an OpenAI-compatible server listens; it may need no key.
    timeout
        Most seconds that a provider may be silent before a request counts as failed.
    cassette
        Records every reply, or plays those it holds in the models' place; None for neither.
    reply_limit
        Most bytes of one reply, unpacked.
    reply_tokens
        Most tokens of one reply, which a server is asked to keep to; None for its own bound.
    parameters
        Further arguments of the provider's chat model: top_p, reasoning_effort, extra_body.

    Raises
    ------
    UsageError
        `base_url` is no address of HTTP.
    """

    base_url: str | None = None
    timeout: float = 120.0
    cassette: Cassette | None = None
    reply_limit: int = REPLY_LIMIT
    reply_tokens: int | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse an address that no request could be made to."""
        if self.base_url is not None and not _is_http(self.base_url):
            rest = re.sub(r"^[a-z+]*:?/+", "", self.base_url, flags=re.IGNORECASE)
            raise UsageError(
                f"The base URL '{redact(self.base_url)}' is no HTTP address: write it with its "
                f"scheme, --base-url http://{redact(rest) or 'localhost:8000/v1'} (or https://)."
            )


def _is_http(url: str) -> bool:
    """Whether a request could be made to a URL."""
    try:
        urlsplit(url).port  # noqa: B018  (raises)
    except ValueError:
        return False
    return url.isprintable() and _HTTP.match(url) is not None


_DIRECT = Connection()


def chat_model(
    name: str, connection: Connection = _DIRECT, seed: int = 0, temperature: float = 0.0
) -> BaseChatModel:
    """Return the chat model called `name`.

    Its own package makes no second attempt at a request: `dqa.models.calling` does, and says so in
    the trace.

    Parameters
    ----------
    name
        ``provider:model``. ``scripted:`` needs nothing, ``openai:`` speaks the OpenAI protocol,
        and every other provider is LangChain's `init_chat_model`'s.
    connection
        How it is reached. A model that a cassette plays needs no key and no package.
    seed
        Of a scripted model that draws at random, and of any other whose temperature is not 0 and
        whose provider takes one.
    temperature
        Of models that have one; 0 for the likeliest reply. Scripted ones have none.

    Raises
    ------
    UsageError
        `name` has no provider.
    UnknownNameError
        No scripted model is called that.
    MissingKeyError
        A package or a key is missing; the message names it.
    """
    provider, _, model = name.partition(":")
    if not provider or not model:
        raise UsageError(
            f"'{name}' names no model: write provider:model, e.g. scripted:analyst or openai:gpt-5."
        )
    if provider == SCRIPTED and connection.base_url is not None:
        raise UsageError(f"'{name}' is a program, not a server: omit --base-url.")
    if provider == SCRIPTED and connection.parameters:
        names = ", ".join(connection.parameters)
        raise UsageError(f"'{name}' is a program and takes no parameters: omit {names}.")
    cassette = connection.cassette
    if cassette is None:
        return _asked(provider, model, connection, seed, temperature)
    from dqa.models.recorded import recorded

    inner = None if cassette.replays else _asked(provider, model, connection, seed, temperature)
    drawn: dict[str, Any] = {"temperature": temperature}
    if temperature:
        drawn["seed"] = seed
    else:
        drawn["temperature"] = 0
    if connection.reply_tokens is not None:
        drawn["max_tokens"] = connection.reply_tokens
    drawn |= connection.parameters
    parameters = {"seed": seed} if provider == SCRIPTED else drawn
    return recorded(name, cassette, inner, parameters, connection.reply_limit)


def given_model(name: str, model: BaseChatModel, connection: Connection) -> BaseChatModel:
    """Return a chat model that somebody made, recorded or played as one by name would be."""
    cassette = connection.cassette
    if cassette is None:
        return model
    from dqa.models.recorded import recorded

    inner = None if cassette.replays else model
    return recorded(name, cassette, inner, {}, connection.reply_limit)


def _asked(
    provider: str, model: str, connection: Connection, seed: int, temperature: float
) -> BaseChatModel:
    """Return a model that is really asked."""
    if provider == SCRIPTED:
        from dqa.models.scripted import scripted_model

        return scripted_model(model, seed)
    shared: dict[str, Any] = {"max_retries": 0, "timeout": connection.timeout}
    shared["temperature"] = temperature or 0
    shared |= connection.parameters
    most = connection.reply_tokens
    if most is not None:
        shared["max_tokens"] = most
    if connection.base_url is not None:
        shared["base_url"] = connection.base_url
    if provider != "openai":
        return _other(provider, model, shared)
    if temperature:
        shared["seed"] = seed
    if most is not None and connection.base_url is not None:
        # OpenAI's own has another word for it by now, which LangChain uses and some servers ignore.
        shared["extra_body"] = {"max_tokens": most, **shared.get("extra_body", {})}
    return _openai(model, {**shared, "reply_limit": connection.reply_limit})


def _openai(model: str, shared: dict[str, Any]) -> BaseChatModel:
    try:
        from dqa.models.openai_chat import OpenAIChat
    except ImportError as error:
        raise _missing_package(f"openai:{model}", "openai", error) from error
    key = os.environ.get(_OPENAI_KEY)
    if "base_url" in shared:
        shared["api_key"] = key or _NO_KEY
    elif not key:
        raise MissingKeyError(
            f"openai:{model} needs a key: set the variable {_OPENAI_KEY}, or name a server that "
            "needs none with --base-url."
        )
    return OpenAIChat(model=model, **shared)


def _other(provider: str, model: str, shared: dict[str, Any]) -> BaseChatModel:
    try:
        from langchain.chat_models import init_chat_model
    except ImportError as error:
        raise _missing_package(f"{provider}:{model}", "models", error) from error
    try:
        found: BaseChatModel = init_chat_model(model, model_provider=provider, **shared)
    except ImportError as error:
        raise MissingKeyError(f"{provider}:{model} needs another package: {error}") from error
    except ValueError as error:
        # LangChain tells an unknown provider, and providers a missing key, by ValueError alone.
        raise UsageError(f"{provider}:{model} cannot be made: {_first_line(error)}") from error
    return found


def _missing_package(name: str, extra: str, error: ImportError) -> MissingKeyError:
    return MissingKeyError(
        f"{name} needs the package {error.name}: install it with {install_command(extra)}."
    )


def _first_line(error: Exception) -> str:
    """Return the sentence that says what is wrong; pydantic puts its on the line after a title."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines[:3]) or type(error).__name__
