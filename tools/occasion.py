"""Measures the studies once more, on this machine, and keeps the occasion with those before it.

Usage: python -m tools.occasion [STUDY]... [--prefix DIR]..., each study a folder of studies/; none:
all that keep trials. A study that keeps none gets its first occasion. Runs one study after the
other, so that nothing else runs meanwhile; give it the machine for itself, as long as it takes
(`wiretrial study show NAME` tells that). Two occasions are kept in `results/occasions.jsonl.xz`,
and pages stay on the first: over two an interval has one degree of freedom. From three on they are
kept in `results/trials.jsonl.xz`, and `make results` makes the pages of all of them.

A scenario that this machine can't measure, or whose trials failed and failed again when the study
was gone on with, lacks in what is kept, with its reason. Exit code 0: all else was measured and
kept, invalid trials among them; else that of the command that ended badly.
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tools.results import ROOT, STUDIES, with_trials
from wiretrial.errors import EXIT_FAILED, EXIT_GOOD, EXIT_INVALID
from wiretrial.results import answers, kept
from wiretrial.stats.occasions import ENOUGH

WIRETRIAL = Path(sys.executable).with_name("wiretrial")
WAITING = "results/occasions.jsonl.xz"
"""Below a study's folder: occasions that are not enough yet, the first among them.

Where a study is measured anew, because its first occasion has a fault, they are the new ones alone.
"""


def newest(study: Path) -> Path:
    """The file that has all occasions of a study so far."""
    waiting = study / WAITING
    return waiting if waiting.exists() else study / kept.FILE


def settle(study: Path, exported: Path) -> Path:
    """Puts a file of kept trials where as many occasions belong; gives where that is."""
    occasions = {trial.occasion for trial in kept.read(exported).trials}
    enough = len(occasions) >= ENOUGH or not (study / kept.FILE).exists()
    place = study / (kept.FILE if enough else WAITING)
    # A study that keeps none yet has no such folder.
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(exported.read_bytes())
    if enough:
        (study / WAITING).unlink(missing_ok=True)
    return place


def measure(study: Path, prefixes: list[str]) -> int:
    """The exit code; nothing is kept of an occasion that is not whole."""
    words = [word for prefix in prefixes for word in ("--prefix", prefix)]
    # Where trials stay if something goes wrong: hours may be in them.
    results = ROOT / "results"
    if (study / kept.FILE).exists():
        results = kept.unpack(newest(study), results).folder
        what = ["--add-occasion", str(results)]
        (results / answers.FILE).unlink(missing_ok=True)
    else:
        results.mkdir(exist_ok=True)
        results = Path(tempfile.mkdtemp(prefix=f"{study.name}-first-", dir=results))
        what = [study.name, "--results", str(results)]
    code = run([str(WIRETRIAL), "study", "run", *what, *words])
    measured = results if what[0] == "--add-occasion" else next(results.iterdir(), results)
    answer = measured / answers.FILE
    if code == EXIT_FAILED and answer.exists():
        # It answers when nothing more can be measured. What failed by chance is there after a
        # second time; what this machine can't measure is not.
        answer.unlink()
        code = run([str(WIRETRIAL), "study", "run", "--resume", str(measured), *words])
        if code == EXIT_FAILED and answer.exists():
            code = EXIT_GOOD
    with tempfile.TemporaryDirectory(prefix="wiretrial-occasion-") as folder:
        exported = Path(folder) / f"exported{kept.SUFFIX}"
        if _is_whole(code):
            export = ["export", str(measured), "--format", "kept", "-o", str(exported)]
            code = run([str(WIRETRIAL), "results", *export])
        if not _is_whole(code):
            sys.stderr.write(f"tools.occasion: trials so far are in {results}\n")
            return code
        sys.stdout.write(f"{settle(study, exported).relative_to(STUDIES)}\n")
        return 0


def _is_whole(code: int) -> bool:
    """A trial that is invalid is kept as what it is; all of them were measured."""
    return code in (EXIT_GOOD, EXIT_INVALID)


def run(command: Sequence[str]) -> int:
    """Its exit code. Ctrl-C reaches it from the terminal, and it is waited for."""
    # Python would kill it a quarter of a second later, and its servers and links would stay. What
    # is ignored the command would ignore, too; what is handled it is not.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        return subprocess.run(command, check=False).returncode
    finally:
        signal.signal(signal.SIGINT, before)


def main() -> int:
    """Measures what was asked for."""
    parser = argparse.ArgumentParser(prog="tools.occasion", description=__doc__)
    parser.add_argument("study", nargs="*", help="a folder of studies/; none: all with trials")
    parser.add_argument("--prefix", action="append", default=[], help="of a library by hand")
    asked = parser.parse_args()
    for study in [STUDIES / name for name in asked.study] or list(with_trials(STUDIES)):
        if not study.is_dir():
            sys.stderr.write(f"tools.occasion: there is no study {study.name}\n")
            return 2
        if code := measure(study, asked.prefix):
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
