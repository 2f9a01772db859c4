"""How every page begins.

Imports nothing: whoever only shows pages must not wait for what draws pictures.
"""

HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
{style}</style>
</head>
"""
"""To be formatted with the page's title and its style."""
