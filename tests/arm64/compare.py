"""The same program, recorded on two processors: what does not depend on time must be equal.

    compare.py NATIVE.json ARM64.json
"""

import collections
import json
import sys

native, arm = (json.load(open(path)) for path in sys.argv[1:3])


def calls(report):
    """By call site and operation: calls and bytes."""
    found = collections.Counter()
    for site in report["callsites"]:
        key = site["function"], site["line"], site["operation"]
        for name, n in [("calls", site["calls"]), ("sent", site["sent_bytes"]), ("received", site["received_bytes"]),
                        ("by others", site["other_threads"]["calls"])]:
            found[*key, name] += n
    return found


def call_paths(report):
    """The functions of the program as they call one another, with lines and calls: from each node of the tree to the root."""
    paths = []
    for node in report["call_tree"]:
        names = []
        while node is not None:
            names.append((node["name"], node["at"] and node["at"]["line"], node["calls"]))
            node = report["call_tree"][node["parent"]] if node["parent"] is not None else None
        paths.append(tuple(reversed(names)))
    return sorted(paths, key=str)


def facts(report):
    """What is compared."""
    blocking = report["blocking"]["matching"]
    return {
        "calls": calls(report),
        "call paths": call_paths(report),
        "ranks": [row["rank"] for row in report["ranks"]],
        "events": [row["events"] for row in report["ranks"]],
        "messages": blocking["messages"],
        "iterations": (report["iterations"]["count"], report["iterations"]["source"]),
        "regions": sorted(region["path"] for region in report["regions"]),
    }


natively, there = facts(native), facts(arm)
different = [name for name in natively if natively[name] != there[name]]
for name in different:
    print(f"{name}:\n  x86-64: {natively[name]}\n  arm64:  {there[name]}")
n_calls = sum(n for key, n in natively["calls"].items() if key[-1] == "calls")
print(f"{len(natively['call paths'])} call paths, {n_calls} calls, {natively['messages']} messages, {natively['iterations'][0]} iterations:",
      "different" if different else "the same on both")
for report in [native, arm]:
    # Rank 0 sleeps for 4 ms in each of 20 iterations: the clocks are right.
    elapsed = report["run"]["elapsed_s"]
    assert 0.08 < elapsed < 60, f"{elapsed} s"
sys.exit(bool(different))
