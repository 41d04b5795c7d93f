"""Read the DeLLMa release: its tables become questions with known outcomes."""
