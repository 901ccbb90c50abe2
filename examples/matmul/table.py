#!/usr/bin/env python3
"""Blocking factors of runs of matmul: a table like the first of "Causes of Blocking Overhead in Message-Passing Programs" (2003).

usage: table.py RUN…          RUN: a folder that lb-report reads, or the output of lb-report --no-detect --json for it; one or more per number of ranks

β of a phase is the waiting that it causes divided by its own time. For several runs with the same number of ranks the median is shown.
"""

import json
import os
import statistics
import subprocess
import sys
from collections import defaultdict

# Rows of the table: regions and classes of causes. The own time of messages' delays is that of the communication.
COMMUNICATION = ("main/distribute", "main/broadcast")
ROWS = {
    "β communication": (COMMUNICATION, "communication"),
    "β delay": (COMMUNICATION, "message delay"),
    "β partitioning": (("main/partition",), "control of parallelism"),
}


def read(run):
    if os.path.isdir(run):
        # Calls repeat themselves in phases, as those of the broadcasts, which are no iterations: the phases are the regions.
        command = ["lb-report", run, "--no-detect", "--json"]
        return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    with open(run, encoding="utf-8") as file:
        return json.load(file)


def within(path, regions):
    return any(path == region or path.startswith(region + "/") for region in regions)


def figures(report):
    """Of one run: rows of the table, in order."""
    phases = report["blocking"]["phases"]
    values = {}
    for name, (regions, which) in ROWS.items():
        of = lambda one: within(one["region"], regions)
        caused = sum(one["caused_s"] for one in phases if of(one) and one["class"] == which)
        own_class = "communication" if which == "message delay" else which
        own = sum(one["own_s"] for one in phases if of(one) and one["class"] == own_class)
        values[name] = caused / own if own > 0 else None
        if which != "message delay":
            values["own " + name[2:] + " [ms]"] = 1000 * own
    classes = report["blocking"]["by_class"]
    imbalance = sum(value for name, value in classes.items() if name.startswith("imbalance"))
    values["waiting [ms]"] = 1000 * report["blocking"]["total_s"]
    values["of that, workload imbalance [ms]"] = 1000 * imbalance
    values["elapsed [ms]"] = 1000 * report["run"]["elapsed_s"]
    return values


def main(runs):
    if not runs or runs[0].startswith("-"):
        sys.exit(__doc__)
    by_ranks = defaultdict(list)
    for run in runs:
        report = read(run)
        by_ranks[report["run"]["ranks"]].append(figures(report))
    ranks = sorted(by_ranks)
    print("| p |", " | ".join(map(str, ranks)), "|")
    print("|" + "---|" * (len(ranks) + 1))
    for name in by_ranks[ranks[0]][0]:
        cells = []
        for p in ranks:
            values = [one[name] for one in by_ranks[p] if one[name] is not None]
            digits = 1 if name.endswith("[ms]") else 2
            cells.append(f"{statistics.median(values):.{digits}f}" if values else "–")
        print(f"| {name} |", " | ".join(cells), "|")


if __name__ == "__main__":
    main(sys.argv[1:])
