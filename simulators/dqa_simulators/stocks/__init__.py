"""The generator of the Stocks scenario (DeLLMa, section 4.2)."""
