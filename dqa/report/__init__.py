"""What people read: tables, pages and passages over typed data."""
