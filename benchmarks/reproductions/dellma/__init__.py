"""Score the recorded answers of DeLLMa's release again.

``python -m benchmarks.reproductions.dellma --release DIR`` prints the scores.
"""
