"""LadybugDB, the embedded graph database: files and memory."""
