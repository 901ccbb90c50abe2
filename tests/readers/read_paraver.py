"""Paraver: a reader of the three files, written from the rules of the format alone, finds in them what the report says.

    read_paraver.py TRACE.prv REPORT.json

The rules are those of Paraver's and Dimemas's own readers: numbers from 1, lines in the order of time, states that have a length and follow one another,
events of calls as a value and a 0, communicators before all records. The meaning of each number is looked up in .pcf.
"""

import collections
import json
import re
import sys

from figures import equal, has_all_calls, operations

path, report = sys.argv[1].removesuffix(".prv"), json.load(open(sys.argv[2]))

# The names: of states, and by event type and value.
states, types, values = {}, {}, collections.defaultdict(dict)
section, current = None, []
for line in open(path + ".pcf"):
    words = line.split(None, 2 if section == "EVENT_TYPE" else 1)
    if not words:
        current = current if section in ("EVENT_TYPE", "VALUES") else []
    elif line[0].isupper() and not line[0].isdigit():
        section = words[0]
        current = [] if section == "EVENT_TYPE" else current
    elif section == "STATES":
        states[int(words[0])] = words[1].strip()
    elif section == "EVENT_TYPE":
        types[int(words[1])] = words[2].strip()
        current.append(int(words[1]))
    elif section == "VALUES":
        for kind in current:
            values[kind][int(words[0])] = words[1].strip()

# The names of lines.
rows, level = {}, None
for line in open(path + ".row"):
    head = re.fullmatch(r"LEVEL (\w+) SIZE (\d+)\n", line)
    if head:
        level = rows[head[1]] = []
        sizes = rows.setdefault("sizes", {})
        sizes[head[1]] = int(head[2])
    elif line.strip():
        level.append(line.strip())
assert open(path + ".row").readline().startswith("LEVEL CPU SIZE ")
assert all(len(rows[name]) == size for name, size in rows["sizes"].items())

lines = open(path + ".prv")
head = re.fullmatch(r"#Paraver \((\d\d/\d\d/\d{4} at \d\d:\d\d)\):(\d+)_ns:(\d+)\(([\d,]+)\):1:(\d+)\(([\d:,]+)\),(\d+)\n", next(lines))
end, n_nodes, n_tasks, n_comms = int(head[2]), int(head[3]), int(head[5]), int(head[7])
cpus = [int(n) for n in head[4].split(",")]
tasks = [tuple(map(int, task.split(":"))) for task in head[6].split(",")]
assert len(cpus) == n_nodes == rows["sizes"]["NODE"] and sum(cpus) == rows["sizes"]["CPU"]
assert len(tasks) == n_tasks == rows["sizes"]["TASK"] and sum(n for n, _ in tasks) == rows["sizes"]["THREAD"]
ranks = [int(name.removeprefix("rank ")) for name in rows["TASK"]]

comms = {}
for _ in range(n_comms):
    kind, app, number, size, *members = next(lines).strip().split(":")
    assert kind == "c" and app == "1" and int(size) == len(members) and all(1 <= int(task) <= n_tasks for task in members)
    comms[int(number)] = [int(task) for task in members]

now, until, n_lines = 0, collections.Counter(), collections.Counter()
in_state, n_states = collections.defaultdict(collections.Counter), collections.Counter()
open_call, calls = {}, collections.defaultdict(lambda: [0, 0])
regions, in_regions = collections.defaultdict(list), collections.Counter()
iterations, open_iterations = collections.Counter(), {}
waits, open_waits = collections.defaultdict(lambda: [0, 0]), {}
matrix, sent = collections.defaultdict(lambda: [0, 0]), collections.Counter()


def thread_of(cpu, app, task, thread):
    threads, node = tasks[int(task) - 1]
    assert app == "1" and 1 <= int(thread) <= threads and 1 <= int(cpu) <= sum(cpus)
    assert sum(cpus[:node - 1]) < int(cpu) <= sum(cpus[:node]), "the processor is of the task's node"
    return int(task), int(thread)


for line in lines:
    kind, *fields = line.strip().split(":")
    n_lines[kind] += 1
    own, time = thread_of(*fields[:4]), int(fields[4])
    assert now <= time <= end, "lines are in the order of time"
    now = time
    if kind == "1":
        stop, state = int(fields[5]), int(fields[6])
        assert time < stop <= end and until[own] <= time, "states have a length and do not overlap"
        until[own] = stop
        in_state[own][states[state]] += stop - time
        n_states[own] += 1
    elif kind == "2":
        pairs = [(int(a), int(b)) for a, b in zip(fields[5::2], fields[6::2])]
        assert len(fields) % 2 == 1 and pairs
        for type, value in pairs:
            assert type in types, f"{type} has a name"
            if 50000001 <= type <= 50000005:
                if value:
                    assert own not in open_call, "calls do not overlap"
                    open_call[own] = (type, values[type][value], time)
                else:
                    opened, name, begin = open_call.pop(own)
                    assert opened == type
                    calls[name][0] += 1
                    calls[name][1] += time - begin
            elif type == 50100001:
                sent[open_call[own][1]] += value
            elif type == 50100004:
                assert own[0] in comms[value], "who enters a collective is a member"
            elif type == 60000019:
                if value:
                    regions[own].append((values[type][value], time))
                else:
                    name, begin = regions[own].pop()
                    in_regions[name] += time - begin
            elif types[type].startswith("Iteration of "):
                name = types[type].removeprefix("Iteration of ").removesuffix(", plus 1")
                if value:
                    assert (own, name) not in open_iterations
                    open_iterations[own, name] = value - 1
                else:
                    open_iterations.pop((own, name))
                    iterations[name] += 1
            elif types[type] == "Wait state":
                if value:
                    open_waits[own] = (values[type][value], time)
                else:
                    name, begin = open_waits.pop(own)
                    waits[name][0] += 1
                    waits[name][1] += time - begin
    else:
        assert kind == "3"
        send, receiver = int(fields[5]), thread_of(*fields[6:10])
        posted, received, size, tag = map(int, fields[10:])
        assert time <= send <= received <= end and posted <= received
        pair = matrix[ranks[own[0] - 1], ranks[receiver[0] - 1]]
        pair[0] += 1
        pair[1] += size
assert not open_call and not open_iterations and not open_waits and not any(regions.values())


print("lines:", dict(n_lines), "communicators:", {number: len(members) for number, members in comms.items()})
for task, rank in enumerate(ranks, 1):
    row = next(row for row in report["ranks"] if row["rank"] == rank)
    equal(f"rank {rank}: running", in_state[task, 1]["Running"] * 1e-9, row["computation_s"], n_states[task, 1])
    in_mpi = sum(ns for state, ns in in_state[task, 1].items() if state not in ("Running", "Not created", "Tracing Disabled"))
    equal(f"rank {rank}: in MPI", in_mpi * 1e-9, row["mpi_s"], n_states[task, 1])
for name, own in operations(report).items():
    n, ns = calls["MPI_" + name]
    if has_all_calls(name):
        equal(f"MPI_{name}: calls", n, own["calls"])
    equal(f"MPI_{name}: time", ns * 1e-9, own["time_s"], n)
    if sent["MPI_" + name]:
        equal(f"MPI_{name}: bytes", sent["MPI_" + name], own["sent_bytes"])
blocking = report["blocking"]
equal("messages", sum(n for n, _ in matrix.values()), blocking["matching"]["messages"])
received = sum(site["received_bytes"] for site in report["callsites"] if site["activity"] == "point-to-point")
equal("bytes of messages", sum(size for _, size in matrix.values()), received)
for state in blocking["states"]:
    equal(f"waits: {state['state']}", waits[state["state"]][0], state["count"])
    equal(f"waiting: {state['state']}", waits[state["state"]][1] * 1e-9, state["blocked_s"], state["count"])
for region in report["regions"]:
    equal(f"time in {region['path']}", in_regions[region["path"]] * 1e-9, region["inclusive_s"], sum(n_states.values()))
loop = report["iterations"]["region"]
if loop and report["iterations"]["source"] == "marked":
    equal(f"iterations of {loop}", iterations[loop], report["iterations"]["count"] * len(ranks))
