"""A small shop: FastAPI in front of PostgreSQL."""
