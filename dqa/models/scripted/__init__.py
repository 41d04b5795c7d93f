"""Scripted models: chat models whose replies a program decides from the conversation alone.

They drive the same loops, prompts, parsers, tools and databases as a language model, need no key,
and are a real baseline: an analyst who follows the business rules with queries. They are never
presented as a language model's results.

`dqa.models.scripted.steps` has what scripts are written in, a scenario's folder names its scripts,
and each method answers its own conversations by a `Responder`.
"""

from dqa.models.scripted.fake import (
    GivenReplies,
    ProgramModel,
    Reply,
    Request,
    Responder,
    ScriptedModel,
    scripted_model,
)

__all__ = [
    "GivenReplies",
    "ProgramModel",
    "Reply",
    "Request",
    "Responder",
    "ScriptedModel",
    "scripted_model",
]
