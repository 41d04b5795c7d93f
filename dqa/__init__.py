"""Decision QA: the best decision for a question, business rules and a database."""
