"""Any other database with an SQLAlchemy dialect."""
