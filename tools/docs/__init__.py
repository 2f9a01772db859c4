"""The documentation as a site: `python -m tools.docs OUT`."""
