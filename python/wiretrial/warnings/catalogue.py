"""Every warning that there is: what brings it about, and what to do about it.

Knows words only; must not know by what a warning is recognised (`rules`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from wiretrial.results.model import Warning


class Code(StrEnum):
    """What a reader must beware of, gravest first."""

    ERRORS = "errors"
    CONNECT_FAILURES = "connect-failures"
    GENERATOR_LIMITS = "generator-limits"
    STALLED = "stalled"
    CLIENT_BOUND = "client-bound"
    OWN_WINDOW = "own-window"
    DATAGRAMS_DROPPED = "datagrams-dropped"
    OVERLOADED = "overloaded"
    PARTIAL = "partial"
    AGENT_LOST = "agent-lost"
    AGENT_STANDS_OUT = "agent-stands-out"
    AGENTS_SHARE = "agents-share-a-machine"
    SERVER_RESTARTED = "server-restarted"
    OUT_OF_MEMORY = "out-of-memory"
    WATCH_ENDED = "watch-ended"
    SERVER_THROTTLED = "server-throttled"
    NOT_STEADY = "not-steady"
    TOO_SHORT = "too-short"
    DISTURBED = "disturbed"
    STARVED = "starved"
    LATE_SENDS = "late-sends"
    NO_FREE_CONNECTION = "no-free-connection"
    BLOCKED = "blocked"
    DELAYED_ACK = "40-ms-mode"
    RETRANSMISSION = "200-ms-mode"
    SYN_RETRANSMISSION = "1-s-connects"
    RECONNECTS = "reconnects"
    SECOND_MODE = "second-mode"
    STEAL = "steal"
    NEIGHBOURS = "busy-neighbours"
    FREQUENCY = "frequency"
    SHARED_CPU = "shared-cpu"
    UNPINNED = "unpinned"
    NO_SERVER_CPU = "no-server-cpu"
    INSECURE = "insecure"
    UNLIKE_CONGESTION = "unlike-congestion"
    TWINS_DIFFER = "twins-differ"
    FEW_TRIALS = "few-trials"
    ONE_OCCASION = "one-occasion"


@dataclass(frozen=True)
class Entry:
    """One warning of the catalogue."""

    cause: str
    remedy: str


def warn(code: Code, message: str) -> Warning:
    """The warning with its remedy; `message` says what was seen, with figures."""
    return Warning(code=code.value, message=message, advice=CATALOGUE[code].remedy)


CATALOGUE: dict[Code, Entry] = {
    Code.ERRORS: Entry(
        cause="Requests or messages failed: refused, cut off, wrong, or too late.",
        remedy="Look at the first excerpt per class; lower the load until the server answers all.",
    ),
    Code.CONNECT_FAILURES: Entry(
        cause=(
            "The server, or the network path to it, did not accept connections as fast as they "
            "came."
        ),
        remedy="Raise the server's listen backlog and net.core.somaxconn, or connect more slowly.",
    ),
    Code.GENERATOR_LIMITS: Entry(
        cause=(
            "The generator ran out of descriptors or of local ports; the server did not cause this."
        ),
        remedy=(
            "Raise `ulimit -n`, or give more source addresses: one source and one server port "
            "carry 28,232 ports, which at 60 s of TIME_WAIT is 470 new connections per second."
        ),
    ),
    Code.STALLED: Entry(
        cause=(
            "The server accepted requests or messages but stopped answering: a deadlock. Most "
            "often a handler waits for work that another thread of the same pool must do."
        ),
        remedy=(
            "Look for a wait in the handler; the trial was ended for it, and has no figure but when"
            " it stopped."
        ),
    ),
    Code.CLIENT_BOUND: Entry(
        cause=(
            "The generator was saturated, or was kept from running, before the server was at its "
            "limit."
        ),
        remedy=(
            "Read its throughput as “at least”; compare the server's CPU cost, or give the "
            "generator more threads."
        ),
    ),
    Code.OWN_WINDOW: Entry(
        cause=(
            "Over HTTP/2, replies used up the window that the generator gives the server. The "
            "server waited until it could send more: the figures are those of the window."
        ),
        remedy=(
            "Give a wider window (--window, --connection-window). A trial is void for it unless the"
            " window that bound was given as the factor."
        ),
    ),
    Code.DATAGRAMS_DROPPED: Entry(
        cause=(
            "Over HTTP/3, datagrams came faster than the generator read them: a socket's buffer "
            "was full, and this machine dropped them. The server sent them again, and took the "
            "path to be slower than it is."
        ),
        remedy=(
            "Raise net.core.rmem_max, use fewer connections or streams per CPU, or give the "
            "generator more threads."
        ),
    ),
    Code.OVERLOADED: Entry(
        cause=(
            "More requests or messages were due than were sent or answered: the server or the "
            "link was at its limit, or there were too few connections."
        ),
        remedy=(
            "Read its throughput as the most that could be reached, and do not use its response"
            " times, which grow for as long as the run lasts. Lower --rate, or use more connections"
            " (-c) if those were the limit."
        ),
    ),
    Code.PARTIAL: Entry(
        cause="The run was stopped by Ctrl-C or another signal.",
        remedy=(
            "The figures cover the time before it was stopped. Run the command again for the whole"
            " time."
        ),
    ),
    Code.AGENT_LOST: Entry(
        cause=(
            "A machine of the fleet, or the network path to it, was lost; the rest of its share "
            "is missing."
        ),
        remedy="Look after that host and measure again: the result is partial.",
    ),
    Code.AGENT_STANDS_OUT: Entry(
        cause=(
            "One machine of the fleet, or its network path to the server, is slower than the "
            "others."
        ),
        remedy="Compare the agents' own figures; look at its CPU and network, or leave it out.",
    ),
    Code.AGENTS_SHARE: Entry(
        cause="Several agents run on one machine, and take CPU time from each other.",
        remedy="Start one agent per machine, and give it more threads (--threads).",
    ),
    Code.SERVER_RESTARTED: Entry(
        cause=(
            "A server that was named with --server crashed, was restarted by its supervisor, or "
            "was replaced, so its counters started again."
        ),
        remedy="It has no cost per message. Look at its log, and measure again.",
    ),
    Code.OUT_OF_MEMORY: Entry(
        cause="A server reached the memory limit of its control group.",
        remedy="Raise the limit, or look for what grows (`--soak`).",
    ),
    Code.WATCH_ENDED: Entry(
        cause="The program that watched the servers of a host, or the connection to it, was lost.",
        remedy="That host's figures end there, or are missing. Look after it, and measure again.",
    ),
    Code.SERVER_THROTTLED: Entry(
        cause=(
            "A server used up the CPU limit of its control group, and was stopped until the "
            "limit's next period: most often 100 ms later."
        ),
        remedy=(
            "Long response times are the limit's. Raise it (`docker update --cpus`), or state it"
            " with the result."
        ),
    ),
    Code.NOT_STEADY: Entry(
        cause=(
            "The server's throughput, or at a given rate its CPU per message, kept drifting (cache"
            " warm-up, garbage collection, heat, other load)."
        ),
        remedy=(
            "Measure for longer, allow more warm-up, or look for what changes the server's pace."
        ),
    ),
    Code.TOO_SHORT: Entry(
        cause="The measured time has too few intervals for the change-point rule.",
        remedy="Measure for two seconds or more, so that warm-up can be told from the rest.",
    ),
    Code.DISTURBED: Entry(
        cause="The machine paused, or another program used the generator's CPU.",
        remedy="Those intervals are left out; stop other work on the machine and measure again.",
    ),
    Code.STARVED: Entry(
        cause="Other processes used the generator's CPU when it was ready to run.",
        remedy="Give the generator cores of its own, or stop other work on the machine.",
    ),
    Code.LATE_SENDS: Entry(
        cause=(
            "The generator could not send requests or messages at the instants at which they were "
            "due."
        ),
        remedy=(
            "Give the generator more threads or spinning pacing; response times include this lag."
        ),
    ),
    Code.NO_FREE_CONNECTION: Entry(
        cause="The generator was not busy, but had no free connection: each waited for a reply.",
        remedy=(
            "Give more connections (-c, or a larger pool) or more in flight on each (--depth);"
            " response times include this wait."
        ),
    ),
    Code.BLOCKED: Entry(
        cause=(
            "A closed loop sends nothing while it waits, so a stall hides the requests that it "
            "delayed."
        ),
        remedy=(
            "Measure with --rate: an open loop shows such stalls in full, a closed loop waits "
            "them out."
        ),
    ),
    Code.DELAYED_ACK: Entry(
        cause=(
            "One side writes a message in two sends. Nagle's algorithm holds the second one until "
            "the first is acknowledged, and the other side delays the acknowledgement by 40 ms."
        ),
        remedy="Set TCP_NODELAY on the side that writes so, and write each message with one call.",
    ),
    Code.RETRANSMISSION: Entry(
        cause=(
            "A lost packet is sent again after 200 ms at the earliest; clients that try a "
            "second address (`localhost` as ::1, then 127.0.0.1) wait about as long."
        ),
        remedy=(
            "Look for lost packets (`nstat TcpRetransSegs`) or an address that is tried first "
            "and fails."
        ),
    ),
    Code.SYN_RETRANSMISSION: Entry(
        cause=(
            "The listen queue was full, and the kernel dropped the first packet of the "
            "connection; it is sent again after a second. A full table of tracked connections "
            "(nf_conntrack) does the same."
        ),
        remedy=(
            "Raise the server's listen backlog and net.core.somaxconn; where the machine has a "
            "firewall or Docker, net.netfilter.nf_conntrack_max."
        ),
    ),
    Code.RECONNECTS: Entry(
        cause=(
            "The server closes a connection after a number of requests (nginx: 100 before "
            "1.19.10, 1,000 since)."
        ),
        remedy=(
            "Raise the server's limit of requests per connection (nginx: keepalive_requests), "
            "or state it."
        ),
    ),
    Code.SECOND_MODE: Entry(
        cause=(
            "There are two kinds of replies, and no known cause fits. It may be a cache that hits "
            "or misses, two threads of unequal load, or a garbage collector."
        ),
        remedy="Look at the percentile plot: quote both modes with their shares, never one mean.",
    ),
    Code.STEAL: Entry(
        cause="The machine is virtual, and its host ran other guests.",
        remedy="Use a machine of your own or a dedicated host; compare within blocks only.",
    ),
    Code.NEIGHBOURS: Entry(
        cause="Other programs ran on the host of a server, and took CPU time and caches from it.",
        remedy="Stop them; name them with --server where they belong to the application.",
    ),
    Code.FREQUENCY: Entry(
        cause=(
            "The CPU's clock rate changes with heat and load, so the same work takes longer or "
            "shorter from trial to trial."
        ),
        remedy="Set the governor to `performance`, switch boost off, and see to the cooling.",
    ),
    Code.SHARED_CPU: Entry(
        cause=(
            "Both sides take CPU time from each other, so each one's cost slows the other down."
        ),
        remedy="Pin the server and the generator to different cores.",
    ),
    Code.UNPINNED: Entry(
        cause="The kernel moves threads between cores, and they lose their data in the caches.",
        remedy="Pin the server and the generator to stated cores, so that they do not move.",
    ),
    Code.NO_SERVER_CPU: Entry(
        cause="The server is not on this machine, or its processes may not be watched.",
        remedy=(
            "Let wiretrial start the server, so that it can read the CPU time of its processes."
        ),
    ),
    Code.INSECURE: Entry(
        cause="Certificates were not checked (`--insecure`).",
        remedy="Trust the server's authority with --cacert FILE, and leave --insecure out.",
    ),
    Code.UNLIKE_CONGESTION: Entry(
        cause=(
            "HTTP/3 was compared with HTTP over TCP over a link, and TCP had another congestion "
            "control than QUIC. BBR, for example, hardly reacts to a lost packet, while Cubic "
            "reduces its window by 30 %."
        ),
        remedy=(
            'Give both the same (`congestion = "cubic"` in the workloads), or state both with the'
            " result."
        ),
    ),
    Code.TWINS_DIFFER: Entry(
        cause=(
            "The scenario that is measured twice gave two different results: by chance, or "
            "because something changed between trials of one block."
        ),
        remedy=(
            "Chance alone does this in one study of twenty; if it comes again, look for other "
            "work on the machine, and believe no difference of that size."
        ),
    ),
    Code.FEW_TRIALS: Entry(
        cause="Trials were left out, failed, or were never asked for.",
        remedy="Run five trials or more; ten where ranks matter.",
    ),
    Code.ONE_OCCASION: Entry(
        cause=(
            "An interval over trials covers the differences between trials, but none between "
            "days, boots and machines."
        ),
        remedy="Repeat it on two other days or machines (`study run --add-occasion DIR`).",
    ),
}
