"""The Stocks scenario (DeLLMa, section 4.2): its generator."""
