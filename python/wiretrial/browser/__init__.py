"""What a browser makes of the same requests: a page that measures, and a browser that runs it.

Knows pages, browsers and the front that stands before a server; must not know studies or results.
"""
