"""Statistics, by known answers and by simulation."""
