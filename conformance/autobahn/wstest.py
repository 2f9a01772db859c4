"""Starts the suite on loopback alone and on a free port, which it says: `listening PORT`.

Runs under the suite's Python 2.7. The suite itself listens on every interface, on a port that has
to be chosen beforehand; and its compression cases take minutes of Python's time for the same
128 KiB a thousand times, so that WIRETRIAL_BYTES_PER_CASE can bound what each of them sends.
"""

import os
import sys

from autobahntestsuite import case, wstest
from twisted.internet import reactor

most = os.environ.get("WIRETRIAL_BYTES_PER_CASE")
if most:
    for chosen in case.Cases:
        if hasattr(chosen, "AUTOFRAGSIZE"):
            chosen.COUNT = min(chosen.COUNT, int(most) // chosen.LEN)

listen_tcp = reactor.listenTCP


def listen(port, factory, *args, **kwargs):
    listener = listen_tcp(0, factory, interface="127.0.0.1")
    # The suite compares it with the Host field.
    factory.externalPort = listener.getHost().port
    sys.stdout.write("listening %d\n" % factory.externalPort)
    sys.stdout.flush()
    return listener


reactor.listenTCP = listen
wstest.run()
