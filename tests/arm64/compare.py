"""The same program, recorded on two processors: what does not depend on time must be equal.

    compare.py PROGRAM NATIVE.json ARM64.json
"""

import collections
import json
import sys

program = sys.argv[1]
native, arm = (json.load(open(path)) for path in sys.argv[2:4])


def polls(operation):
    """Whether a program calls it until something has happened, as often as that takes."""
    return operation.startswith(("Test", "Win_test", "Request_get_status", "Parrived")) or operation in ("Iprobe", "Improbe")


def calls(report):
    """By call site and operation: calls and bytes. Of polls it does not depend on time that there are any."""
    found = collections.Counter()
    for site in report["callsites"]:
        key = site["function"], site["line"], site["operation"]
        others = site["other_threads"]["calls"]
        if polls(site["operation"]):
            found[*key, "polls"] = 1
            continue
        for name, n in [("calls", site["calls"]), ("sent", site["sent_bytes"]), ("received", site["received_bytes"]), ("by others", others)]:
            found[*key, name] += n
    return found


def call_paths(report):
    """The functions of the program as they call one another down to an MPI function, with lines, and its calls. Which of several loops is shown in
    between may depend on time."""
    paths = collections.Counter()
    for leaf in report["call_tree"]:
        if not leaf["name"].startswith("MPI_") or polls(leaf["name"].removeprefix("MPI_")):
            continue
        names, node = [], leaf
        while node is not None:
            if node["kind"] != "loop":
                names.append((node["name"], node["at"] and node["at"]["line"]))
            node = report["call_tree"][node["parent"]] if node["parent"] is not None else None
        paths[tuple(reversed(names))] += leaf["calls"]
    return paths


def facts(report):
    """What is compared."""
    blocking = report["blocking"]["matching"]
    return {
        "calls": calls(report),
        "call paths": call_paths(report),
        "ranks": [row["rank"] for row in report["ranks"]],
        "messages": blocking["messages"],
        "iterations": (report["iterations"]["count"], report["iterations"]["source"]),
    }


natively, there = facts(native), facts(arm)
different = [name for name in natively if natively[name] != there[name]]
for name in different:
    print(f"{name}:\n  x86-64: {natively[name]}\n  arm64:  {there[name]}")
n_calls = sum(n for key, n in natively["calls"].items() if key[-1] == "calls")
print(f"{program}: {len(natively['call paths'])} call paths, {n_calls} calls, {natively['messages']} messages, {natively['iterations'][0]} iterations:",
      "different" if different else "the same on both")
# Rank 0 of our own program sleeps for 4 ms in each of 20 iterations: the clocks are right.
if program.startswith("arm64/"):
    for report in [native, arm]:
        elapsed = report["run"]["elapsed_s"]
        assert 0.08 < elapsed < 60, f"{elapsed} s"
sys.exit(bool(different))
