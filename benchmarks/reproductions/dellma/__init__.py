"""The replay of the recorded answers of DeLLMa's release, scored anew.

``python -m benchmarks.reproductions.dellma --release DIR`` prints the scores.
"""
