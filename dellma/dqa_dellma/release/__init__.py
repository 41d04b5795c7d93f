"""The reader of the DeLLMa release: its tables, as questions with what came true."""
