"""An installed laboratory: an environment of its own, with nothing of the checkout on any path.

Knows how a wheel is laid out and installed; must not know what is tried with it. The packages that
it depends on are those of the environment in which the tests run.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass
from pathlib import Path

from wiretrial.engine import BINARY, Engine

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 150.0
PATH = "/usr/bin:/bin"
WHEEL = "WIRETRIAL_WHEEL"
"""Names the wheel to try; without it the tree is laid out as a wheel does."""
NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs")
OUR_NAME = ("-c", "user.name=wiretrial", "-c", "user.email=wiretrial@localhost")


@dataclass(frozen=True)
class Installed:
    """The environment, and the words before a command that take root's rights away."""

    folder: Path
    without_root: tuple[str, ...] = ()

    @property
    def bin(self) -> Path:
        """Where the commands lie."""
        return self.folder / "bin"

    @property
    def packages(self) -> Path:
        """Where the Python packages lie."""
        (found,) = self.folder.glob("lib/python*/site-packages")
        return found

    def command(self, *words: str) -> list[str]:
        """A command line of it."""
        return [*self.without_root, str(self.bin / words[0]), *words[1:]]

    def home(self) -> Path:
        """A new folder that everybody may write into: a home, and where commands are typed."""
        made = Path(tempfile.mkdtemp(prefix="home-", dir=self.folder.parent))
        made.chmod(0o777)
        return made

    def run(self, home: Path, *words: str, path: str = PATH) -> subprocess.CompletedProcess[str]:
        """Runs a command to its end."""
        return subprocess.run(
            self.command(*words),
            cwd=home,
            env=environment(home, path),
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )


def environment(home: Path, path: str = PATH) -> dict[str, str]:
    """All that is told to a command; no path of the checkout."""
    return {"HOME": str(home), "PATH": path, "COLUMNS": "80", "NO_COLOR": "1"}


def laid_out(folder: Path) -> Installed:
    """What a wheel of this tree would install, with the engine that is built already."""
    made = _environment(folder)
    tree = folder / "tree"
    subprocess.run(
        [str(ROOT / "tools" / "dist.sh"), "--lay-out", str(tree), _commit()],
        check=True,
        timeout=LIMIT_S,
    )
    shutil.move(tree / "python" / "wiretrial", made.packages / "wiretrial")
    shutil.copy2(Engine.find().binary, made.bin / BINARY)
    script = (tree / "wiretrial.data" / "scripts" / "wiretrial").read_text(encoding="utf-8")
    command = made.bin / "wiretrial"
    command.write_text(script.replace("#!python", f"#!{made.bin / 'python'}", 1), encoding="utf-8")
    command.chmod(0o755)
    shutil.rmtree(tree)
    return _with_dependencies(made)


def from_wheel(wheel: Path, folder: Path) -> Installed:
    """What pip makes of a wheel."""
    made = _environment(folder)
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "--python", str(made.bin / "python"), "install"),
            *("--quiet", "--no-deps", "--no-index", str(wheel)),
        ],
        check=True,
        timeout=LIMIT_S,
    )
    return _with_dependencies(made)


def _environment(folder: Path) -> Installed:
    made = folder / "environment"
    interpreter, without_root = _interpreter()
    subprocess.run(
        [str(interpreter), "-m", "venv", "--without-pip", str(made)], check=True, timeout=LIMIT_S
    )
    return Installed(made, without_root)


def _interpreter() -> tuple[Path, tuple[str, ...]]:
    """A Python as ours, and how it is run without root's rights; as root, if nobody else may."""
    ours = Path(sys.executable).resolve()
    program = shutil.which(NOBODY[0])
    if os.geteuid() == 0 and program and _open_to_all(_dependencies()):
        system = Path("/usr/bin") / f"python{sys.version_info.major}.{sys.version_info.minor}"
        for interpreter in (ours, system):
            if interpreter.exists() and _open_to_all(interpreter):
                # By its path: where a command is looked for is of the trial.
                return interpreter, (program, *NOBODY[1:])
    return ours, ()


def _open_to_all(path: Path) -> bool:
    return all(one.stat().st_mode & 0o001 for one in (path, *path.parents))


def _dependencies() -> Path:
    """The packages of the tests; of their `.pth` files, which are not read, one leads to us."""
    return Path(sysconfig.get_path("purelib"))


def _with_dependencies(made: Installed) -> Installed:
    (made.packages / "dependencies.pth").write_text(str(_dependencies()), encoding="utf-8")
    return made


def _commit() -> str:
    """The tracked files as they are now, as a commit that no branch holds."""
    stashed = subprocess.run(
        ["git", *OUR_NAME, "-C", str(ROOT), "stash", "create"],
        capture_output=True,
        text=True,
        check=True,
        timeout=LIMIT_S,
    )
    return stashed.stdout.strip() or "HEAD"
