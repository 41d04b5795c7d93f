"""Scripted models: chat models whose replies a program decides from the conversation alone.

They drive the same loops, prompts, parsers, tools and databases as a language model would, need no
key, and are a real baseline: an analyst who follows the business rules with queries. They are never
presented as a language model's results.

What a script does is written in `dqa.models.scripted.steps`, a scenario's folder names its scripts,
and how a method's conversations are answered is its own `Responder`.
"""

from dqa.models.scripted.given import GivenReplies, Reply, Request
from dqa.models.scripted.model import ProgramModel, ScriptedModel, scripted_model
from dqa.models.scripted.responder import Responder

__all__ = [
    "GivenReplies",
    "ProgramModel",
    "Reply",
    "Request",
    "Responder",
    "ScriptedModel",
    "scripted_model",
]
