"""Watches a server through a Prometheus: a host by node_exporter, containers by cAdvisor.

Knows when the Prometheus is asked, and what must be there; must not know how a counter is told per
message. Counters stand only where they were scraped, every 15 s or so. They are asked for once,
when the load is over and the scrape after it has come.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence
from typing import Final, Self

import psutil

from wiretrial.errors import ObserverFailed, ServiceFailed, UsageProblem
from wiretrial.observers import clock, coarse, scraped, scrapes, selectors
from wiretrial.observers.address import OPTION, Scraped
from wiretrial.observers.clock import Laid, Question
from wiretrial.observers.promapi import Prometheus
from wiretrial.observers.scraped import Target
from wiretrial.observers.scrapes import Series
from wiretrial.observers.selectors import Matcher
from wiretrial.observers.watch import END, Mark, Watched

LOOKBACK_S: Final = 300.0
"""Before the load: what is there, how often it is scraped, and what the host does without load."""
QUESTIONS: Final = 3
"""About the server's clock, at the begin and at the end."""
MOST_NAMED: Final = 4
MOST_WAIT_S: Final = 130.0
"""For the scrape after the load: intervals of a minute are the longest in use."""
LATE_S: Final = 5.0
"""A scrape may be so late: it takes a while, and is written then."""
BOOT_ERROR_S: Final = 2.0
"""The kernel tells it in whole seconds, and corrects it with its clock."""
_DOCKER_NAME: Final = "name"


def require_length(typed: str, length_ns: int | None) -> None:
    """Refuses a load that is too short for what is scraped now and then, before it begins.

    `length_ns`: of the measurement; None where it ends after so many messages.
    """
    if length_ns is None:
        raise UsageProblem(
            f"{OPTION} {typed}: a load of a number of messages may be over between two scrapes",
            f"give a time: -d {coarse.LEAST_WINDOW_S:.0f}s or more",
        )
    if length_ns < coarse.LEAST_WINDOW_S * 1e9:
        raise UsageProblem(
            f"{OPTION} {typed}: a Prometheus scrapes every 15 s or so, and {length_ns / 1e9:g} s"
            " are too short for that",
            f"measure for {coarse.LEAST_WINDOW_S:.0f} s or more: -d {coarse.LEAST_WINDOW_S:.0f}s",
        )


class PrometheusWatch:
    """One host, or the containers that a selection names. See `watch.Watch`."""

    def __init__(self, address: Scraped, length_ns: int | None = None) -> None:
        """`length_ns`: how long the measurement is, where that is known."""
        require_length(address.text, length_ns)
        self._address = address
        self._selection = selectors.parse(address.url, f"{OPTION} {address.text}")
        self._api = Prometheus(self._selection.url)
        of_containers = self._selection.is_of_containers
        self._counter = scraped.CPU if of_containers else scraped.HOST_CPU
        """What a cost is taken from."""
        self._length_ns = length_ns
        self._questions: list[Question] = []
        self._marks: list[Mark] = []
        self._selector = ""
        self._matchers: tuple[Matcher, ...] = self._selection.matchers
        self._sources: tuple[Target, ...] = ()
        """What was scraped."""
        self._interval_s = 0.0
        self._began_s = 0.0
        self.place = self._selection.name

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing runs."""

    def start(self) -> None:
        """Finds what is meant, and how often it is scraped. Raises `ObserverFailed`."""
        try:
            self._find()
        except ServiceFailed as error:
            raise ObserverFailed(error.message, error.remedy) from error

    def mark(self, name: str) -> None:
        """Remembers the instant: nothing is read before the end."""
        self._marks.append(Mark(name, time.monotonic_ns(), 0))

    def stop(self) -> Watched:
        """Waits for the scrape after the load, and asks for all samples."""
        try:
            return self._read()
        except ServiceFailed as error:
            return self._watched((), error.line())

    def _find(self) -> None:
        self._ask_clock()
        self._began_s = self._now_s()
        if self._selection.is_of_containers:
            names = scraped.CONTAINER_METRICS
            found = self._containers()
        else:
            names = scraped.HOST_METRICS
            found = self._host()
        self._selector = selectors.select("", _one_of(scraped.METRIC, names), *self._matchers)
        self._sources = tuple(scraped.sources(found, self._counter))
        points = max((one.points for one in found), key=len)
        interval = scrapes.interval_s(points)
        if interval is None:
            raise ObserverFailed(
                f"{self._shown}: {self._counter} was scraped once in the last {LOOKBACK_S:.0f} s",
                "wait for a few scrapes, or shorten scrape_interval",
            )
        self._interval_s = interval
        self._require_scrapes()

    def _host(self) -> list[Series]:
        found = self._lookback(scraped.HOST_CPU)
        hosts = scraped.sources(found, scraped.HOST_CPU)
        if not hosts:
            raise self._absent("node_cpu_seconds_total of node_exporter")
        if len(hosts) > 1:
            first = dict(hosts[0].labels)
            instances = {dict(one.labels).get("instance") for one in hosts}
            choice = "instance" if len(instances) > 1 else "job"
            raise ObserverFailed(
                f"{self._shown}: {len(hosts)} hosts match ({_named(hosts)})",
                f"name one: {selectors.EXAMPLE}?{choice}={first.get(choice, 'NAME')}",
            )
        self.place = dict(hosts[0].labels).get("instance", self.place)
        return found

    def _containers(self) -> list[Series]:
        typed = self._selection.matchers
        forms = [typed]
        if any(one.label == selectors.CONTAINER for one in typed):
            # Docker's cAdvisor has the name in another label than a kubelet's.
            forms.append(
                tuple(
                    Matcher(_DOCKER_NAME, one.value, one.operator)
                    if one.label == selectors.CONTAINER
                    else one
                    for one in typed
                )
            )
        elif any(one.label in ("namespace", "pod") for one in typed):
            # A pod as a whole, and the container that holds its network, have nothing of their own.
            forms = [(*typed, Matcher(selectors.CONTAINER, "", "!="), _NO_PAUSE)]
        for matchers in forms:
            self._matchers = matchers
            if found := self._lookback(scraped.CPU):
                break
        else:
            raise self._absent(f"{scraped.CPU} of cAdvisor")
        for container, sources in scraped.containers(found).items():
            if len(sources) > 1:
                job = dict(sources[0].labels).get("job", "NAME")
                raise ObserverFailed(
                    f"{self._shown}: the container {container} is scraped {len(sources)} times"
                    f" ({_named(sources)})",
                    f"name one: add &job={job}",
                )
        return found

    def _lookback(self, metric: str) -> list[Series]:
        found = self._api.raw(selectors.select(metric, *self._matchers), LOOKBACK_S, self._began_s)
        return [one for one in found if one.points]

    def _require_scrapes(self) -> None:
        """Refuses a load in which there can't be enough scrapes."""
        least_s = coarse.length_s(self._interval_s)
        if self._length_ns is not None and self._length_ns < least_s * 1e9:
            raise ObserverFailed(
                f"{self._shown}: it is scraped every {self._interval_s:g} s, and"
                f" {self._length_ns / 1e9:g} s hold fewer than {coarse.LEAST_SCRAPES} scrapes",
                f"measure for longer: -d {least_s:.0f}s, or shorten scrape_interval",
            )

    def _read(self) -> Watched:
        self._ask_clock()
        laid = self._laid()
        ended_ns = next(
            (one.at_ns for one in reversed(self._marks) if one.name == END), time.monotonic_ns()
        )
        found = self._await_scrape(_there_s(laid, ended_ns))
        return self._watched(found, late_ns=self._late_ns())

    def _late_ns(self) -> int:
        """How long a scrape took at most: a counter was read so long after its instant, or less."""
        instances = [dict(one.labels).get("instance", "") for one in self._sources]
        asked = selectors.select(scraped.DURATION, _one_of("instance", instances))
        now_s = self._now_s()
        told = self._api.raw(asked, now_s - self._began_s + LOOKBACK_S, now_s)
        took = [one.value for series in told for one in series.points]
        return round(max(took, default=0.0) * 1e9)

    def _await_scrape(self, ended_s: float) -> list[Series]:
        """All samples, once there is one after the end, or none has come for long enough."""
        late = min(2 * self._interval_s + LATE_S, MOST_WAIT_S)
        while True:
            now_s = self._now_s()
            span_s = now_s - self._began_s + LOOKBACK_S
            found = [one for one in self._api.raw(self._selector, span_s, now_s) if one.points]
            # cAdvisor gives counters the instant at which it read them; limits have the scrape's.
            counters = (one for one in found if one.label(scraped.METRIC) == self._counter)
            newest = max((one.points[-1].at_s for one in counters), default=0.0)
            if newest >= ended_s or now_s >= ended_s + late:
                return found
            time.sleep(min(1.0, max(0.2, self._interval_s / 10)))

    def _watched(
        self, found: Sequence[Series], failed: str | None = None, late_ns: int = 0
    ) -> Watched:
        laid = self._laid()

        def ours(at_s: float) -> int:
            return laid.ours(round(at_s * 1e9))

        is_of_containers = self._selection.is_of_containers
        parts = (
            (scraped.part(self._address.name, self._address.text, found, ours),)
            if is_of_containers
            else ()
        )
        return Watched(
            place=self.place,
            kind="prometheus",
            parts=parts,
            host=() if is_of_containers else scraped.host_readings(found, ours),
            marks=tuple(self._marks),
            has_generator=_is_this_machine(found),
            cpus=None if is_of_containers else scraped.cpus(found),
            clock_error_ns=laid.error_ns + late_ns,
            failed=failed,
        )

    def _ask_clock(self) -> None:
        self._questions += [self._api.clock() for _ in range(QUESTIONS)]

    def _laid(self) -> Laid:
        laid = clock.laid(self._questions)
        assert laid is not None, "the clock is asked first"
        return laid

    def _now_s(self) -> float:
        return _there_s(self._laid(), time.monotonic_ns())

    def _absent(self, what: str) -> ObserverFailed:
        matched = f" where {', '.join(map(str, self._selection.matchers))}"
        return ObserverFailed(
            f"{self._shown}: no {what} in the last {LOOKBACK_S:.0f} s"
            f"{matched if self._selection.matchers else ''}",
            "check the labels on its page /targets, and that it scrapes the server's host",
        )

    @property
    def _shown(self) -> str:
        return f"{OPTION} {self._address.text}"


_NO_PAUSE: Final = Matcher(selectors.CONTAINER, "POD", "!=")


def _one_of(label: str, values: Iterable[str]) -> Matcher:
    return Matcher(label, "|".join(map(re.escape, values)), "=~")


def _there_s(laid: Laid, ours_ns: int) -> float:
    """The other clock's Unix time of an instant of ours."""
    return (ours_ns - laid.last.offset_ns) / 1e9


def _is_this_machine(found: Sequence[Series]) -> bool:
    """Whether the host was started when this one was, to a second or so, and has as many CPUs."""
    booted_s = scraped.booted_s(found)
    if booted_s is None or abs(booted_s - psutil.boot_time()) > BOOT_ERROR_S:
        return False
    return scraped.cpus(found) == psutil.cpu_count()


def _named(targets: Sequence[Target]) -> str:
    told = "; ".join(str(one) for one in targets[:MOST_NAMED])
    more = len(targets) - MOST_NAMED
    return f"{told}; and {more} more" if more > 0 else told
