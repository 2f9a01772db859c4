"""`check.ROUTE.schema` of a TOML file: the schema of each reply of a route, or of a step's answer.

Knows which routes there are; must not know what a schema may say.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from wiretrial import suggest
from wiretrial.plan_traffic import Check, IsShape
from wiretrial.traffic.conversations import Spoken
from wiretrial.traffic.document import TrafficFile
from wiretrial.traffic.json_schema import read_schema
from wiretrial.traffic.places import Place, TrafficProblem, standing_at
from wiretrial.traffic.routes import Compiled


@dataclass(frozen=True)
class SchemaChecks:
    """By route: what else must hold of each reply, and where the file says so."""

    checks: Mapping[str, tuple[Check, Place]]

    @classmethod
    def of_file(cls, file: TrafficFile, names: Collection[str]) -> SchemaChecks:
        """Those of a file that has routes, or steps, of these names."""
        found = {}
        for name, part in file.part.check.items():
            place = file.place("check", name, "schema")
            if name not in names:
                raise TrafficProblem(
                    place, f"there is no route {name}", suggest.remedy(name, names)
                )
            if not part.schema_:
                raise TrafficProblem(place, f"{name}: no schema", 'write schema = "FILE.json"')
            with standing_at(place):
                shape = read_schema(file.path.parent / part.schema_, "check.ROUTE.schema")
            found[name] = (Check(of="body", test=IsShape(shape=shape)), place)
        return cls(found)

    def of_route(self, one: Compiled) -> Compiled:
        """The route with its check."""
        if one.route.name not in self.checks:
            return one
        check, _ = self.checks[one.route.name]
        expect = one.route.expect
        expect = expect.model_copy(update={"checks": (*expect.checks, check)})
        route = one.route.model_copy(update={"expect": expect})
        return replace(one, route=route, is_unchecked=False)

    def of_line(self, one: Spoken) -> Spoken:
        """The step with its check."""
        if one.line.name not in self.checks:
            return one
        check, place = self.checks[one.line.name]
        if not one.line.listens:
            raise TrafficProblem(
                place, f"{one.line.name} awaits no message", "name a step with reply or await"
            )
        checks = (*one.line.checks, check)
        return replace(one, line=one.line.model_copy(update={"checks": checks}))
