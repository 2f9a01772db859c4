"""TOML that people write, read into a model: what is wrong is one line with the remedy.

Knows files and models' errors; must not know what a document means.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from wiretrial.errors import UsageProblem

Model = TypeVar("Model", bound=BaseModel)


def read_toml(path: Path, model: type[Model], missing: str) -> Model:
    """The document in `path`; `missing` says what to do where it can't be opened."""
    try:
        with path.open("rb") as file:
            return model.model_validate(tomllib.load(file))
    except OSError as error:
        raise UsageProblem(f"{path}: {error.strerror}", missing) from error
    except tomllib.TOMLDecodeError as error:
        raise UsageProblem(f"{path}: {error}", "correct the TOML") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        what = first["msg"].removeprefix("Value error, ")
        raise UsageProblem(
            f"{path}: {where + ': ' if where else ''}{what}", "correct it"
        ) from error
