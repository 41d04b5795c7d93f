"""DuckDB: files and memory."""
