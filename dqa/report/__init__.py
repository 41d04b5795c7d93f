"""Tables, pages and exports for people, made from typed data."""
