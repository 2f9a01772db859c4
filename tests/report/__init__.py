"""Reports, from synthetic trials."""
