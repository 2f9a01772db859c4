"""The command `wiretrial`: a face per command, what it does, and what commands share.

Knows words, flags and the terminal; must not know how anything is measured or computed.

A face (`load`, `study`, ...) is what help and a shell see of a command: options, examples, and a
line that hands what was typed to the module that does it (`loading`, `studying`, ...). A face
imports only what is light, and the doing inside the function, because numpy, pydantic and scipy
take a second to import, and help and the Tab key need none of them. An import inside a function
here has this reason, or the package that it needs is optional.
"""
