"""Watches servers that this laboratory did not start: processes, control groups, containers, hosts.

Knows how the parts of an application are named, how their raw counters are read while load runs,
and what follows from the counters: their cost per message. Must not know how load is sent or
what a report says. `address` parses a name, `watch` is what every kind of place gives, `cost` is
pure.
"""
