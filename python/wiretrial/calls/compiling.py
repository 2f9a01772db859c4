"""`.proto` files become descriptors, by the compiler that grpcio-tools brings.

Knows the compiler's command line and how it says what is wrong; must not know what is described.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from google.protobuf.descriptor_pb2 import FileDescriptorSet

from wiretrial.calls.methods import Files
from wiretrial.errors import UsageProblem

COMPILER = "grpc_tools"
LIMIT_S = 60
FLAG, FOLDER_FLAG = "--proto", "--proto-path"


def compiled(files: Sequence[Path], folders: Sequence[Path]) -> Files:
    """These files and all that they import. `folders`: in which imports are looked for.

    A file below none of them is looked for in its own folder.
    """
    _require(files, folders)
    sought = [*folders, *(one.parent for one in files if not _is_below(one, folders))]
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "descriptors"
        command = [
            *(sys.executable, "-W", "ignore", "-m", f"{COMPILER}.protoc", "--include_imports"),
            *(f"-I{one}" for one in dict.fromkeys(sought)),
            f"--descriptor_set_out={made}",
            *map(str, files),
        ]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=LIMIT_S, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise UsageProblem(
                f"{FLAG}: the compiler took longer than {LIMIT_S} s", "name fewer files"
            ) from error
        if done.returncode:
            raise _refused(done.stderr)
        return {one.name: one for one in FileDescriptorSet.FromString(made.read_bytes()).file}


def _require(files: Sequence[Path], folders: Sequence[Path]) -> None:
    if importlib.util.find_spec(COMPILER) is None:
        raise UsageProblem(
            f"{FLAG} needs grpcio-tools, which is not installed", "pip install 'wiretrial[grpc]'"
        )
    for folder in folders:
        if not folder.is_dir():
            raise UsageProblem(f"{FOLDER_FLAG} {folder} is no folder", "name one that is there")
    for file in files:
        if not file.is_file():
            raise UsageProblem(f"{FLAG} {file} is no file", "name a .proto file")


def _is_below(file: Path, folders: Sequence[Path]) -> bool:
    return any(file.resolve().is_relative_to(folder.resolve()) for folder in folders)


def _refused(said: str) -> UsageProblem:
    """The compiler's first complaint; warnings are none."""
    lines = [line.strip() for line in said.splitlines()]
    faults = [line for line in lines if line and "warning:" not in line.lower()]
    first = faults[0].rstrip(".") if faults else "the compiler gave no reason"
    missing = "not found" in first.lower()
    remedy = f"name its folder with {FOLDER_FLAG} DIR" if missing else "correct it there"
    return UsageProblem(f"{FLAG}: {first}", remedy)
