"""What servers say of tokens: counts, what is none, and what lost attempts have cost."""
