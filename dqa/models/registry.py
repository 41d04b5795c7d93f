"""Chat models by name: ``provider:model``, e.g. ``scripted:analyst`` or ``openai:gpt-5``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from dqa.errors import MissingKeyError, UsageError

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

__all__ = ["SCRIPTED", "chat_model", "is_scripted"]

SCRIPTED = "scripted"
"""The provider of models whose replies a program decides."""

_OPENAI_KEY = "OPENAI_API_KEY"
_NO_KEY = "none"


def is_scripted(name: str) -> bool:
    """Whether `name` is a scripted program's, not a language model's."""
    return name.split(":", 1)[0] == SCRIPTED


def chat_model(name: str, base_url: str | None = None, seed: int = 0) -> BaseChatModel:
    """Return the chat model called `name`, at temperature 0.

    Parameters
    ----------
    name
        ``provider:model``. ``scripted:`` needs nothing, ``openai:`` speaks the OpenAI protocol,
        and every other provider is LangChain's `init_chat_model`'s.
    base_url
        Where an OpenAI-compatible server listens; it may need no key.
    seed
        Of a scripted model that draws at random.

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
    if provider == SCRIPTED:
        if base_url is not None:
            raise UsageError(f"'{name}' is a program, not a server: leave --base-url away.")
        from dqa.models.scripted import scripted_model

        return scripted_model(model, seed)
    if provider == "openai":
        return _openai(model, base_url)
    return _by_langchain(provider, model, base_url)


def _openai(model: str, base_url: str | None) -> BaseChatModel:
    try:
        from langchain_openai import ChatOpenAI
    except ImportError as error:
        raise _missing_package(f"openai:{model}", "openai", error) from error
    arguments: dict[str, Any] = {"model": model, "temperature": 0}
    key = os.environ.get(_OPENAI_KEY)
    if base_url is not None:
        arguments |= {"base_url": base_url, "api_key": key or _NO_KEY}
    elif not key:
        raise MissingKeyError(
            f"openai:{model} needs a key: set the variable {_OPENAI_KEY}, or name a server that "
            "needs none with --base-url."
        )
    return ChatOpenAI(**arguments)


def _by_langchain(provider: str, model: str, base_url: str | None) -> BaseChatModel:
    try:
        from langchain.chat_models import init_chat_model
    except ImportError as error:
        raise _missing_package(f"{provider}:{model}", "models", error) from error
    arguments: dict[str, Any] = {"model_provider": provider, "temperature": 0}
    if base_url is not None:
        arguments["base_url"] = base_url
    try:
        found: BaseChatModel = init_chat_model(model, **arguments)
    except ImportError as error:
        raise MissingKeyError(f"{provider}:{model} needs another package: {error}") from error
    except ValueError as error:
        # LangChain tells an unknown provider, and providers a missing key, by ValueError alone.
        raise UsageError(f"{provider}:{model} cannot be made: {_first_line(error)}") from error
    return found


def _missing_package(name: str, extra: str, error: ImportError) -> MissingKeyError:
    return MissingKeyError(
        f'{name} needs the package {error.name}: install it with pip install "dqa[{extra}]".'
    )


def _first_line(error: Exception) -> str:
    """Return the sentence that says what is wrong; pydantic puts its on the line after a title."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines[:3]) or type(error).__name__
