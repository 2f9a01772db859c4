"""TOML that people write, read into a model: what is wrong is one line with the remedy.

Knows files and models' errors; must not know what a document means.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from wiretrial import suggest
from wiretrial.errors import UsageProblem

Model = TypeVar("Model", bound=BaseModel)


def read_toml(path: Path, model: type[Model], missing: str) -> Model:
    """The document in `path`; `missing` says what to do where it can't be opened."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageProblem(f"{path}: {error.strerror}", missing) from error
    return parse_toml(content, model, str(path))


def parse_toml(content: bytes, model: type[Model], path: str) -> Model:
    """The document that is the content of the file called `path`."""
    try:
        return model.model_validate(tomllib.loads(content.decode()))
    except UnicodeDecodeError as error:
        raise UsageProblem(f"{path} is not UTF-8", "save it as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise UsageProblem(f"{path}: {error}", "correct the TOML") from error
    except ValidationError as error:
        fault = first_fault(error, model)
        raise UsageProblem(f"{path}: {fault.told}", fault.remedy) from error


@dataclass(frozen=True)
class Fault:
    """What is wrong with a document, and where in it."""

    location: tuple[int | str, ...]
    what: str
    remedy: str

    @property
    def told(self) -> str:
        """The key and what is wrong with it."""
        where = ".".join(map(str, self.location))
        return f"{where}: {self.what}" if where else self.what


def first_fault(error: ValidationError, model: type[BaseModel]) -> Fault:
    """The first of the faults that a model found."""
    first = error.errors()[0]
    what = first["msg"].removeprefix("Value error, ")
    # What stands in brackets is how a field is read, and no place in the document.
    location = tuple(part for part in first["loc"] if "[" not in str(part))
    return Fault(location, what, _remedy(first, model))


def require_among(name: str | None, known: Collection[str], told: str) -> None:
    """For a model's validator: raises `ValueError` where a name is none of those that are known."""
    if name is not None and name not in known:
        raise ValueError(f"{told}: {suggest.remedy(name, known)}")


def _remedy(error: Mapping[str, Any], model: type[BaseModel]) -> str:
    """What to write instead, where a name is spelled nearly right."""
    match error["type"]:
        case "extra_forbidden":
            word, known = str(error["loc"][-1]), _fields(error["loc"][:-1], model)
        case "literal_error":
            word, known = str(error["input"]), re.findall(r"'([^']*)'", error["ctx"]["expected"])
        case _:
            return "correct it"
    return suggest.remedy(word, known, "correct it")


def _fields(where: tuple[int | str, ...], model: type[BaseModel]) -> list[str]:
    """What may stand in the part of the document at `where`."""
    for part in where:
        named = (
            field.annotation
            for kind in (model, *_kinds(model))
            for name, field in kind.model_fields.items()
            if part in (name, field.alias)
        )
        model = next((found for one in named for found in _models(one)), model)
    kinds = (model, *_kinds(model))
    return [field.alias or name for kind in kinds for name, field in kind.model_fields.items()]


def _kinds(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """What may stand in its place, with fields of their own."""
    for kind in model.__subclasses__():
        yield kind
        yield from _kinds(kind)


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models(inner)
