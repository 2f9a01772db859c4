"""What a command learns of replies before it loads a server, and what it says of that.

Knows the words of the command line; must not know how rules are made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from wiretrial.cli import learn_to, output
from wiretrial.cli.options import Asked
from wiretrial.cli.wanted import Wanted
from wiretrial.engine import Engine
from wiretrial.errors import EngineFailed, UsageProblem
from wiretrial.plan import Plan
from wiretrial.results.learned import LearnedRule
from wiretrial.studies import learned, taught
from wiretrial.studies.learned import Known
from wiretrial.studies.spec import Study
from wiretrial.words import CALLS, HTTP

if TYPE_CHECKING:
    from wiretrial.calls.methods import Method
    from wiretrial.cli.comparing_calls import Called

SHAPE = "shape"
"""The rule of `--expect` by which only the shape of JSON is learned."""


@dataclass(frozen=True)
class Learning:
    """How a command learns: whether at all, and whether constants, too."""

    is_wanted: bool = True
    constants: bool = True
    file: Path | None = None
    """It gets what was learned."""

    @classmethod
    def of(cls, asked: Asked) -> Learning:
        """As it was typed."""
        is_of_shape = SHAPE in asked.expect
        if is_of_shape and not asked.learns:
            raise UsageProblem(f"--no-learn and --expect {SHAPE} exclude each other", "keep one")
        if asked.learn_to is not None:
            learn_to.require_free(asked.learn_to)
        return cls(is_wanted=asked.learns, constants=not is_of_shape, file=asked.learn_to)

    def require_fitting(self, protocol: str) -> None:
        """Raises where a shape is asked for of what has none."""
        if not self.constants and protocol not in (*HTTP, *CALLS):
            raise UsageProblem(
                f"--expect {SHAPE} is of http, https, grpc and grpcs",
                "use echo, status, @FILE or json:PATH",
            )

    def learnt(
        self,
        plan: Plan,
        wanted: Wanted,
        variables: Sequence[str] = (),
        *,
        of_fleet: bool = False,
    ) -> tuple[Plan, Wanted]:
        """The plan with what is learned now, which is told; `variables` are a traffic file's.

        `of_fleet`: others send, and may reach what this machine can't.
        """
        if wanted.method is not None:
            return self._of_calls(plan, wanted, wanted.method, of_fleet=of_fleet)
        if not self.is_wanted or not learned.learns(plan):
            if self.file:
                raise UsageProblem(
                    f"{learn_to.FLAG}: nothing is learned, since it is said what is right",
                    f"leave {learn_to.FLAG} out, or --expect, or a response part",
                )
            return plan, wanted
        try:
            # For a fleet, too: its agents get the rule with their plans.
            [known] = learned.known(Engine.find(), (plan,), constants=self.constants)
        except EngineFailed as error:
            if not of_fleet or self.file:
                raise
            output.say(f"nothing is learned, since the server can't be asked here: {error.line()}")
            return plan, wanted
        _tell(known)
        if self.file and wanted.file:
            learn_to.of_file(self.file, Path(wanted.file), variables, known.learned)
        elif self.file and known.learned:
            learn_to.of_url(self.file, plan.target, known.learned[0])
        return known.plan, replace(wanted, traffic=known.plan.traffic, learned=known.rules)

    def _of_calls(
        self, plan: Plan, wanted: Wanted, method: Method, *, of_fleet: bool
    ) -> tuple[Plan, Wanted]:
        """The same of a method of gRPC."""
        from wiretrial.cli import grpc_learning

        if not self.is_wanted or not grpc_learning.learns(plan):
            return plan, wanted
        try:
            known = grpc_learning.known(plan, wanted.address, method, constants=self.constants)
        except EngineFailed as error:
            # Calls that are learned from go over HTTP/2.
            if not of_fleet and plan.target.http.version != "3":
                raise
            output.say(f"nothing is learned, since the server can't be asked here: {error.line()}")
            return plan, wanted
        wanted = replace(wanted, first=known.first)
        if known.rule is None:
            return known.plan, wanted
        output.say(known.rule.line)
        return known.plan, replace(wanted, learned=(known.rule,))

    def learnt_of_study(self, study: Study, called: Called | None = None) -> Study:
        """The same of a study's servers: now where all run already, else before the first trial.

        `called`: its calls of gRPC.
        """
        if not self.is_wanted:
            return study
        if called is not None:
            study = called.learnt(study, constants=self.constants)
        waiting = taught.pending(study, constants=self.constants)
        if waiting.learning:
            return waiting
        study, told = learned.in_study(Engine.find(), study, constants=self.constants)
        for known in told:
            _tell(known)
        return study


def _tell(known: Known) -> None:
    """Says what was learned, a line for each rule."""
    for line in lines(known.rules, known.unknown):
        output.say(line)


def lines(rules: Sequence[LearnedRule], unknown: Sequence[str]) -> Iterator[str]:
    """What was learned, and of which routes nothing was."""
    for rule in rules:
        yield rule.line
    if unknown:
        yield f"not learned, so that any 2xx reply is right: {', '.join(unknown)}"
