"""Revisions of a repository: which one a folder is at, and a tree of files for each.

Knows git; must not know what is built. Nothing here changes the user's files, index or branches:
a tree is a detached worktree, and the repository forgets it again, whatever happens meanwhile.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from wiretrial import suggest
from wiretrial.errors import SubjectFailed, SubjectUnavailable, UsageProblem
from wiretrial.subjects.own import Revision

_OURS = ("-c", "core.hooksPath=/dev/null", "-c", "advice.detachedHead=false")
"""A worktree that is made runs no hook of the user's."""


@dataclass(frozen=True)
class Repository:
    """A folder within a repository."""

    top: Path
    within: Path
    """From there to the folder."""


def of(folder: Path) -> Revision | None:
    """The revision that the folder is at; None where it is in no repository, or that has none."""
    if not shutil.which("git"):
        return None
    commit = _git(folder, "rev-parse", "--verify", "--quiet", "HEAD")
    if commit.returncode:
        return None
    # Files that are not tracked may be what a build left there.
    status = _git(folder, "status", "--porcelain", "--untracked-files=no", "--", ".")
    return Revision(commit=commit.stdout.strip(), dirty=bool(status.stdout.strip()))


def repository(folder: Path) -> Repository:
    """The repository that the folder lies in."""
    if not shutil.which("git"):
        raise SubjectUnavailable("--at needs git, which is not installed", "install git")
    found = _git(folder, "rev-parse", "--show-toplevel")
    if "dubious ownership" in found.stderr:
        raise UsageProblem(
            f"git does not read {folder}, which belongs to another user",
            f"run: git config --global --add safe.directory {folder}",
        )
    if found.returncode:
        raise UsageProblem(
            f"{folder} is in no git repository, so it has no revisions",
            "leave --at out, or name a folder of a repository",
        )
    top = Path(found.stdout.strip()).resolve()
    return Repository(top, folder.resolve().relative_to(top))


def resolved(folder: Path, asked: str) -> Revision:
    """The commit that `asked` names: a branch, a tag, an id, `HEAD~1`."""
    words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{asked}^{{commit}}")
    found = _git(folder, *words)
    if found.returncode == 0:
        return Revision(commit=found.stdout.strip())
    if _git(folder, "rev-parse", "--is-shallow-repository").stdout.strip() == "true":
        remedy = "this clone is shallow: fetch it first (git fetch --unshallow)"
    else:
        refs = _git(folder, "for-each-ref", "--format=%(refname:short)").stdout.split()
        remedy = suggest.remedy(asked, refs, "see `git branch --all` and `git tag`")
    raise UsageProblem(f"--at {asked}: {folder} has no such revision", remedy)


def content(folder: Path, commit: str, name: str) -> bytes | None:
    """A file of the folder as it is in the commit; None: it is not there."""
    found = _git(folder, "show", f"{commit}:./{name}")
    return None if found.returncode else found.stdout.encode()


@contextmanager
def checked_out(top: Path, commit: str, place: Path) -> Iterator[None]:
    """The commit's files at `place`, which stay there if the block ends well.

    Meanwhile it is a worktree, so that a build can ask git for its version; afterwards the
    repository knows nothing of it.
    """
    forget(place)
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        made = _git(top, "worktree", "add", "--force", "--detach", str(place), commit)
        if made.returncode:
            said = (made.stderr.strip().splitlines() or ["git told nothing"])[-1]
            raise SubjectFailed(
                f"{commit[:10]} can't be checked out: {said}", "try git worktree add by hand"
            )
        yield
        _detach(place)
    except BaseException:
        forget(place)
        shutil.rmtree(_kept(place), ignore_errors=True)
        raise


def forget(place: Path) -> None:
    """Removes a worktree and its files, as far as they are there."""
    if (place / ".git").exists():
        words = ("rev-parse", "--path-format=absolute", "--git-common-dir")
        repository = _git(place, *words).stdout.strip()
        if repository:
            # Once for its changes, and once more in case that it is locked.
            _git(Path(repository), "worktree", "remove", "--force", "--force", str(place))
    shutil.rmtree(place, ignore_errors=True)


def _detach(place: Path) -> None:
    """Has the repository forget the worktree, whose files stay."""
    kept = _kept(place)
    shutil.rmtree(kept, ignore_errors=True)
    place.rename(kept)
    # Git removes what it finds at the worktree's path: a folder that is empty but for the mark.
    place.mkdir()
    (kept / ".git").rename(place / ".git")
    forget(place)
    with contextlib.suppress(FileNotFoundError):
        kept.rename(place)


def _kept(place: Path) -> Path:
    return place.with_name(f"{place.name}.kept")


def _git(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    # A hook that calls us has these set, for another folder than the one that is meant.
    foreign = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")
    environment = {name: value for name, value in os.environ.items() if name not in foreign}
    return subprocess.run(
        # Without optional locks `status` leaves the user's index as it is.
        ["git", "--no-optional-locks", *_OURS, "-C", str(folder), *words],
        env={**environment, "LC_ALL": "C.UTF-8", "GIT_TERMINAL_PROMPT": "0"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        # Ctrl-C is for us: what cleans up behind us must not be stopped by it.
        start_new_session=True,
    )
