"""What the readers of exports compare with: the figures of lb-report's JSON."""

import collections
import math


def equal(what, found, expected, n=0):
    """Equal but for rounding: each of n times is rounded to nanoseconds."""
    assert math.isclose(found, expected, rel_tol=1e-9, abs_tol=2e-9 + n * 1e-9), f"{what}: {found}, the report has {expected}"
    print(f"{what}: {found:.12g}")


def operations(report):
    """By operation: the calls, time and bytes of all its call sites."""
    found = collections.defaultdict(collections.Counter)
    for site in report["callsites"]:
        for key in ["calls", "time_s", "sent_bytes", "received_bytes"]:
            found[site["operation"]][key] += site[key]
    # With MPI_Finalize the time ends that is followed. The recorder's own calls are none of the program.
    for name in ["Finalize", "Flush"]:
        found.pop(name, None)
    return found


def has_all_calls(name):
    """Whether an export has each call of an operation: a wait by polling is one, whatever the number of polls."""
    return not any(word in name for word in ["Test", "Win_test", "robe", "Request_get_status"])
