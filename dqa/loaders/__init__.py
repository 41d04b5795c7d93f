"""Readers and writers of files: the DQA release, generated sets; a database read back."""
