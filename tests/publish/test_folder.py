"""The folder of a site: put there whole or not at all, and nobody else's files are lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from wiretrial.errors import StoreError, UsageProblem
from wiretrial.site import folder


def tree(base: Path) -> dict[str, str]:
    """Every file below a folder, without the site's own mark."""
    return {
        path.relative_to(base).as_posix(): path.read_text()
        for path in base.rglob("*")
        if path.is_file() and path.name != folder.MARK
    }


def test_a_new_site_is_written_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    target = tmp_path / "public"
    folder.write(target, {"index.html": b"one", "a/b.html": b"two"})
    assert tree(target) == {"index.html": "one", "a/b.html": "two"}
    assert [path.name for path in tmp_path.iterdir()] == ["public"]
    assert target.stat().st_mode & 0o777 == 0o755


def test_pages_that_are_gone_are_removed_and_other_files_stay(tmp_path: Path) -> None:
    target = tmp_path / "public"
    folder.write(target, {"index.html": b"one", "a/gone.html": b"x", "b/stays.html": b"y"})
    (target / ".git" / "refs" / "empty").mkdir(parents=True)
    (target / ".git" / "HEAD").write_text("ref")
    (target / "CNAME").write_text("results.example")
    (target / "b" / "own.txt").write_text("mine")
    folder.require_ours(target, force=False)
    folder.write(target, {"index.html": b"new", "b/stays.html": b"z"})
    assert tree(target) == {
        "index.html": "new",
        "b/stays.html": "z",
        "b/own.txt": "mine",
        ".git/HEAD": "ref",
        "CNAME": "results.example",
    }
    assert (target / ".git" / "refs" / "empty").is_dir()
    assert not (target / "a").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["public"]


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    target = tmp_path / "public"
    target.mkdir()
    folder.require_ours(target, force=False)
    folder.write(target, {"index.html": b"one"})
    assert tree(target) == {"index.html": "one"}


def test_a_folder_of_something_else_is_refused_unless_it_is_forced(tmp_path: Path) -> None:
    target = tmp_path / "home"
    target.mkdir()
    (target / "thesis.txt").write_text("years of work")
    with pytest.raises(UsageProblem, match="is not empty and holds no site") as told:
        folder.require_ours(target, force=False)
    assert "--force" in told.value.line()
    folder.require_ours(target, force=True)
    folder.write(target, {"index.html": b"one"})
    assert tree(target) == {"index.html": "one", "thesis.txt": "years of work"}


@pytest.mark.parametrize(("name", "said"), [("file", "is a file"), ("no/where", "no folder")])
def test_what_can_not_be_a_folder_is_refused_at_once(tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageProblem, match=said):
        folder.require_ours(tmp_path / name, force=True)


def test_a_site_that_can_not_be_written_leaves_the_former_one(tmp_path: Path) -> None:
    target = tmp_path / "public"
    folder.write(target, {"index.html": b"one"})
    # A file and a folder of one name: the second can't be made.
    with pytest.raises(StoreError, match="can't be written"):
        folder.write(target, {"a": b"file", "a/b.html": b"below it"})
    assert tree(target) == {"index.html": "one"}
    assert [path.name for path in tmp_path.iterdir()] == ["public"]


def test_a_link_to_a_folder_stays_one(tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.mkdir()
    (tmp_path / "public").symlink_to(there)
    folder.write(tmp_path / "public", {"index.html": b"one"})
    assert (tmp_path / "public").is_symlink()
    assert tree(there) == {"index.html": "one"}
