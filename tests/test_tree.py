"""What may stand in the tree: files of a readable size, nothing of the machine that wrote them."""

from __future__ import annotations

import contextlib
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

import wiretrial

ROOT = Path(__file__).resolve().parent.parent
SOURCE_SUFFIXES = {".rs", ".py", ".sh", ".js", ".mjs", ".css", ".html", ".c", ".cpp", ".go"}
MOST_LINES = 500

# Each pattern is written so that it does not match itself.
ADDRESSES = re.compile(
    r"pypi[.]org|pythonhosted[.]org|registry[.]npmjs|index[.]crates[.]io|static[.]crates[.]io"
    r"|proxy[.]golang|[a]rtifactory|--index-ur[l]|--find-link[s]|--extra-inde[x]"
)
# The lock of npm may carry addresses of its own; ours is written without them.
RESOLVED = re.compile(r'"resolve[d]"\s*:')
MACHINE_PATHS = re.compile(r"(?<![\w./}~-])/(?:[r]oot|hom[e]/\w+|[w]ork|opt/[w]heels|Users)/")
LEFT_OVER = re.compile(r"\b(?:TOD[O]|FIXM[E]|XX[X]|HAC[K])\b|\bdb[g]!|\btodo[!]|\bunimplemente[d]!")


def tracked_files() -> list[Path]:
    """Every file under version control that is there."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout, so there is no list of what belongs to the tree")
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, text=True, check=True
    )
    paths = (ROOT / name for name in listed.stdout.split("\0") if name)
    return [path for path in paths if path.is_file()]


def texts() -> list[tuple[Path, str]]:
    """The tracked files that are text, each with its content; pictures and fuzz seeds are not."""
    found = []
    for path in tracked_files():
        with contextlib.suppress(UnicodeDecodeError):
            found.append((path.relative_to(ROOT), path.read_bytes().decode("utf-8")))
    return found


def lines_with(pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{path}:{number}: {line.strip()[:100]}"
        for path, text in texts()
        for number, line in enumerate(text.splitlines(), start=1)
        if pattern.search(line)
    ]


@pytest.mark.parametrize(
    "pattern",
    [
        pytest.param(ADDRESSES, id="registry-address"),
        pytest.param(RESOLVED, id="address-in-a-lock"),
        pytest.param(MACHINE_PATHS, id="path-of-a-machine"),
        pytest.param(LEFT_OVER, id="left-over"),
    ],
)
def test_tree_holds_no(pattern: re.Pattern[str]) -> None:
    assert lines_with(pattern) == []


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        (ADDRESSES, "https://pypi" + ".org/simple"),
        (RESOLVED, '"resol' + 'ved": "https://example.org/a.tgz"'),
        (MACHINE_PATHS, "see /hom" + "e/somebody/notes"),
        (MACHINE_PATHS, "/ro" + "ot/.cargo"),
        (LEFT_OVER, "# TO" + "DO: later"),
    ],
)
def test_patterns_find_what_they_are_for(pattern: re.Pattern[str], line: str) -> None:
    assert pattern.search(line)


def test_source_files_can_be_read_in_one_sitting() -> None:
    long = {
        str(path): count
        for path, text in texts()
        if path.suffix in SOURCE_SUFFIXES and (count := text.count("\n")) > MOST_LINES
    }
    assert long == {}


def test_python_packages_are_pinned_with_hashes() -> None:
    for name in ("requirements.txt", "requirements-dev.txt", "requirements-docs.txt"):
        text = (ROOT / name).read_text(encoding="utf-8")
        entries = re.split(r"\n(?=\S)", re.sub(r"(?m)^ *#.*\n?", "", text).strip())
        assert entries, name
        for entry in entries:
            assert re.match(r"[\w.-]+==\S+", entry), f"{name}: not pinned: {entry[:80]}"
            assert "--hash=sha256:" in entry, f"{name}: no hash: {entry[:80]}"


def test_both_halves_carry_one_version() -> None:
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    assert wiretrial.__version__ == manifest["workspace"]["package"]["version"]
