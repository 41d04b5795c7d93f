"""SQLite: files and memory."""
