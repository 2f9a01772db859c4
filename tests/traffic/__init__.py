"""Traffic files: what is read, compiled, refused and imported."""
