"""DeLLMa: decisions under uncertainty by ranked states and expected utility (arXiv 2402.02392)."""
