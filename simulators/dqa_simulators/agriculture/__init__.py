"""The Agriculture scenario (DeLLMa, section 4.1): its generator."""
