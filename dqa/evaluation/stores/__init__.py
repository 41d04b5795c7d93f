"""Where runs are kept: folders of JSON lines, and stores in SQL databases."""
