"""The generator of the Agriculture scenario (DeLLMa, section 4.1)."""
