"""A command line that can't be read: one line that says what is wrong and what to write instead.

Knows typer's errors; must not know what a command does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException

from wiretrial import suggest
from wiretrial.cli import foreign

_NO_SUCH_OPTION, _NO_SUCH_COMMAND = "No such option: ", "No such command "
_CHOICE = re.compile(r"'(?P<value>[^']*)' is not one of (?P<known>.*)$", re.DOTALL)

_PLAIN = {
    " Value error,": "",
    "Input should be a valid integer, unable to parse string as an integer": "not a whole number",
}
"""What a library says, and plain words for it."""


def is_help(error: TyperException) -> bool:
    """Whether nothing is wrong but that a group was named without a command."""
    return type(error).__name__ == "NoArgsIsHelpError"


def line(error: TyperException, words: Sequence[str]) -> str:
    """The error; `words` are the command line's."""
    message = " ".join(error.message.split()).removesuffix(".")
    context = getattr(error, "ctx", None)
    if message.startswith(_NO_SUCH_OPTION) and context is not None:
        name = message.removeprefix(_NO_SUCH_OPTION)
        return f"there is no option {name}: {_other_option(name, words, context)}"
    if message.startswith(_NO_SUCH_COMMAND) and context is not None:
        name = message.removeprefix(_NO_SUCH_COMMAND).partition(". Did")[0].strip("'")
        return f"there is no command {name!r}: {_other_command(name, context)}"
    whole = " ".join(error.format_message().split()).removesuffix(".")
    for theirs, ours in _PLAIN.items():
        whole = whole.replace(theirs, ours)
    if found := _CHOICE.search(message):
        known = re.findall(r"'([^']*)'", found["known"])
        if closest := suggest.closest(found["value"], known):
            return f"{whole}: did you mean {closest}?"
    return f"{whole}: see {_help_of(context)}"


def _other_option(name: str, words: Sequence[str], context: typer.Context) -> str:
    options = {
        spelled
        for parameter in context.command.get_params(context)
        if parameter.param_type_name == "option"
        for spelled in (*parameter.opts, *parameter.secondary_opts)
    }
    if told := foreign.hint(name, value_of(name, words), options):
        return told
    rest = f"see {_help_of(context)}"
    long = (option for option in options if option.startswith("--"))
    return suggest.remedy(name, long, rest) if name.startswith("--") else rest


def _other_command(word: str, context: typer.Context) -> str:
    command = context.command
    assert isinstance(command, TyperGroup)
    if "://" in word and "load" in command.commands:
        return f"write {context.command_path} load {word}"
    return suggest.remedy(word, command.commands, f"see {_help_of(context)}")


def value_of(name: str, words: Sequence[str]) -> str | None:
    """The value that stands with an option: in the same word, or in the next."""
    for word, after in zip(words, (*words[1:], ""), strict=True):
        if word == name:
            return after if after and not after.startswith("-") else None
        if word.startswith(f"{name}="):
            return word.removeprefix(f"{name}=")
        if len(name) == 2 and name[1] != "-" and word.startswith(name):
            return word.removeprefix(name)
    return None


def _help_of(context: typer.Context | None) -> str:
    if context is None:
        return "--help"
    return f"`{context.command_path} --help`"
