"""Scripted models: chat models whose replies a program decides from the conversation alone.

They drive the same loops, prompts, parsers, tools and databases as a language model would, need no
key, and are a real baseline: an analyst who follows the business rules with queries. They are never
presented as a language model's results.
"""

from dqa.models.scripted.model import ScriptedModel, check_agent, scripted_model

__all__ = ["ScriptedModel", "check_agent", "scripted_model"]
