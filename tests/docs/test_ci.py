"""The examples for CI services, as their runners take them: each shell step, one after the other.

A runner is more than that; what it does between the steps (checkout, artefacts) is done here in a
scratch repository with a small server and a branch that is slower or not. GitLab's example is also
run whole, by gitlab-ci-local.
"""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from tests.apps import installed
from tests.cli import checkouts
from tests.docs.fences import blocks
from tests.interop.conftest import program
from tools.docs.layout import ROOT
from wiretrial.errors import EXIT_GATE, EXIT_GOOD

pytestmark = pytest.mark.alone

PAGE = Path("docs/ci.md")
RUNNERS = ROOT / "tests" / "docs" / "runners"
LIMIT_S = 240.0
LAUNCHER = ROOT / "wiretrial.data" / "scripts" / "wiretrial"
LENGTH = "--trials 10 -d 3s"
BRIEFLY = "--trials 4 -d 400ms --warmup 100ms -c 2"
"""What a test takes in the place of it; no other word of a step is changed."""


@dataclass(frozen=True)
class Step:
    """What is given to a shell, and which exit codes are no failure of the job."""

    script: str
    allowed: frozenset[int] = frozenset({EXIT_GOOD})


def github() -> list[Step]:
    """The `run` steps of the workflow."""
    (text,) = (block for block in blocks(PAGE, "yaml") if "runs-on" in block)
    return [
        Step(step["run"])
        for job in yaml.safe_load(text)["jobs"].values()
        for step in job["steps"]
        if "run" in step
    ]


def gitlab() -> list[Step]:
    """The lines of the job's script."""
    (text,) = (block for block in blocks(PAGE, "yaml") if "script:" in block)
    (job,) = yaml.safe_load(text).values()
    allowed = frozenset({EXIT_GOOD, *job["allow_failure"]["exit_codes"]})
    return [Step(line, allowed) for line in job["script"]]


def jenkins() -> list[Step]:
    """Each `sh` of the pipeline; of the one whose status is asked for, 4 is told as unstable."""
    (text,) = blocks(PAGE, "groovy")
    plain = [Step(script) for script in re.findall(r"^ *sh '([^']*)'$", text, re.MULTILINE)]
    asked = re.findall(r"sh\(returnStatus: true, script: '([^']*)'\)", text)
    unstable = {int(code) for code in re.findall(r"code == (\d+)\) \{ unstable", text)}
    return [*plain, *(Step(script, frozenset({EXIT_GOOD, *unstable})) for script in asked)]


SERVICES = {"github": github, "gitlab": gitlab, "jenkins": jenkins}


@dataclass(frozen=True)
class Runner:
    """A clone in which steps are run, as a service makes it."""

    folder: Path
    environment: dict[str, str]

    def run(self, steps: list[Step]) -> int:
        """The first exit code that fails the job; 0: none does."""
        for step in steps:
            script = step.script.replace(LENGTH, BRIEFLY)
            assert script == step.script or LENGTH in step.script
            done = subprocess.run(
                ["bash", "-e", "-c", script],
                cwd=self.folder,
                env=self.environment,
                capture_output=True,
                text=True,
                timeout=LIMIT_S,
                check=False,
            )
            if done.returncode not in step.allowed:
                assert "Traceback" not in done.stderr
                return done.returncode
        return EXIT_GOOD

    def summary(self) -> str:
        """What the service shows of the job."""
        (found,) = (p for p in (self.folder / "summary.md", self.folder / "step.md") if p.exists())
        return found.read_text(encoding="utf-8")


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[Runner]:
    """A clone at a branch whose server is slower than that of the main branch."""
    origin = checkouts.write(tmp_path / "origin", extra="build = 'true'\n")
    checkouts.commit(origin, "first")
    checkouts.git(origin, "checkout", "-q", "-b", "change")
    checkouts.write(origin, busy_ms=checkouts.SLOW_MS, extra="build = 'true'\n")
    checkouts.commit(origin, "second")
    folder = tmp_path / "clone"
    checkouts.git(tmp_path, "clone", "-q", "-b", "change", str(origin), str(folder))
    tools = tmp_path / "bin"
    tools.mkdir()
    launcher = f'#!/bin/sh\nexec "{sys.executable}" "{LAUNCHER}" "$@"\n'
    for name, text in (("wiretrial", launcher), ("pip", "#!/bin/sh\n")):
        program = tools / name
        program.write_text(text, encoding="utf-8")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
    yield Runner(
        folder,
        {
            **os.environ,
            "PATH": f"{tools}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT / "python"),
            "WIRETRIAL_CACHE": str(tmp_path / "cache"),
            "GITHUB_STEP_SUMMARY": str(folder / "step.md"),
            "CI_DEFAULT_BRANCH": "main",
        },
    )
    assert checkouts.worktrees(folder) == 1
    assert checkouts.running(tmp_path) == []


@pytest.mark.timeout(300)
@pytest.mark.parametrize("service", SERVICES)
def test_a_slower_change_fails_the_job(runner: Runner, service: str) -> None:
    # Behind `|| [ ... ]` it is the bracket that fails.
    assert runner.run(SERVICES[service]()) == (1 if service == "github" else EXIT_GATE)
    suite = ElementTree.parse(runner.folder / "compare.xml").getroot()
    assert suite.get("failures") == "1"
    assert "❌ broken" in runner.summary()
    assert list(runner.folder.glob("results/compare-*/report.html"))


@pytest.mark.timeout(300)
def test_a_change_that_is_quicker_passes(runner: Runner) -> None:
    # Main is the slow one now.
    checkouts.git(runner.folder.parent / "origin", "branch", "-f", "main", "change")
    checkouts.git(runner.folder, "fetch", "-q", "origin")
    checkouts.git(runner.folder, "checkout", "-q", "first")
    assert runner.run(github()) == EXIT_GOOD
    assert "✅ kept" in runner.summary()


def test_each_service_compares() -> None:
    for service, steps in SERVICES.items():
        scripts = [step.script for step in steps()]
        assert sum("wiretrial compare . --at" in script for script in scripts) == 1, service
        assert sum(script.startswith("pip install") for script in scripts) == 1, service


@pytest.fixture(scope="session")
def services() -> Path:
    """The folder with what runs the examples as the services do."""
    return installed.node_application("runners", RUNNERS)


@dataclass(frozen=True)
class GitLab:
    """The example in a repository, and gitlab-ci-local, which runs its jobs in a shell."""

    runner: Runner
    program: Path

    def run(
        self, *words: str, source: str = "merge_request_event"
    ) -> subprocess.CompletedProcess[str]:
        """Runs the pipeline that such an event starts, each job in a copy of the repository."""
        told = {name: value for name, value in self.runner.environment.items() if name[:3] != "CI_"}
        return subprocess.run(
            [
                *(str(self.program), "--force-shell-executor", "--shell-isolation", *words),
                *("--variable", f"CI_PIPELINE_SOURCE={source}"),
            ],
            cwd=self.runner.folder,
            env={**told, "HOME": str(self.runner.folder.parent), "NO_COLOR": "1"},
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )


@pytest.fixture
def pipeline(runner: Runner, services: Path) -> GitLab:
    """The example as `.gitlab-ci.yml` of a branch, in a clone that knows GitLab's address."""
    program("rsync", "rsync")
    (text,) = (block for block in blocks(PAGE, "yaml") if "script:" in block)
    assert LENGTH in text
    (runner.folder / ".gitlab-ci.yml").write_text(text.replace(LENGTH, BRIEFLY), encoding="utf-8")
    checkouts.commit(runner.folder, "pipeline")
    checkouts.git(runner.folder, "remote", "set-head", "origin", "main")
    address = "https://gitlab.example.org/shop/server.git"
    checkouts.git(runner.folder, "remote", "add", "gcl-origin", address)
    return GitLab(runner, services / "node_modules" / ".bin" / "gitlab-ci-local")


@pytest.mark.timeout(300)
def test_gitlab_runs_the_example_whole_and_keeps_its_artifacts(pipeline: GitLab) -> None:
    done = pipeline.run()
    # Whatever a busy machine could tell: the job's end is that of the comparison.
    broken = "❌ broken" in pipeline.runner.summary()
    assert broken or "cannot tell" in pipeline.runner.summary()
    assert re.search(rf"{'FAIL' if broken else 'WARN'}\s+performance", done.stdout), done.stderr
    assert list(pipeline.runner.folder.glob("results/compare-*/report.html"))


@pytest.mark.parametrize(("code", "told"), [(0, "PASS"), (EXIT_GATE, "FAIL"), (4, "WARN")])
def test_gitlab_takes_each_verdict_as_the_page_says(pipeline: GitLab, code: int, told: str) -> None:
    program = pipeline.runner.folder.parent / "bin" / "wiretrial"
    program.write_text(f"#!/bin/sh\necho said > summary.md\nexit {code}\n", encoding="utf-8")
    done = pipeline.run()
    assert re.search(rf"{told}\s+performance", done.stdout), done.stderr
    assert pipeline.runner.summary() == "said\n"


def test_a_gitlab_job_is_of_merge_requests_alone(pipeline: GitLab) -> None:
    assert "performance" in pipeline.run("--list-csv").stdout
    assert "performance" not in pipeline.run("--list-csv", source="push").stdout
