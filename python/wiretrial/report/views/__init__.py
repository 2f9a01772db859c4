"""One view per file: what it draws, and the section of the page that it fills."""
