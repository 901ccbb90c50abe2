"""OTF2: the Python bindings of OTF2 find in an archive what the report says and what lb-report dump prints, and otf2-print as many events.

    read_otf2.py TRACE/traces.otf2 REPORT.json DUMP.jsonl     with the Python that has the bindings: Debian's /usr/bin/python3
"""

import collections
import json
import re
import subprocess
import sys

import otf2
from otf2 import events

from figures import equal, has_all_calls, operations

path, report = sys.argv[1], json.load(open(sys.argv[2]))
records = [line for line in map(json.loads, open(sys.argv[3])) if line["type"] == "record"]

n_events, in_location = collections.Counter(), collections.Counter()
stacks, last = collections.defaultdict(list), collections.Counter()
calls = collections.defaultdict(lambda: [0, 0])
regions, waits = collections.Counter(), collections.defaultdict(lambda: [0, 0])
sends, receives = collections.Counter(), collections.Counter()
unfinished = {}
open_collective, instances = {}, collections.defaultdict(collections.Counter)
collectives, contributed = collections.Counter(), collections.Counter()
open_sends, open_receives = collections.Counter(), collections.Counter()
cancelled_sends = 0


def rank_of(location):
    """The rank in MPI_COMM_WORLD."""
    return int(location.group.name.removeprefix("MPI Rank "))


def member(comm, own, number):
    """The rank in MPI_COMM_WORLD of one in a communicator."""
    ranks = [rank_of(location) for location in comm.group.members]
    assert own in ranks, "who communicates is a member"
    return ranks[number]


with otf2.reader.open(path) as trace:
    clock = trace.definitions.clock_properties
    assert clock.timer_resolution == 10**9 and clock.global_offset == 0
    for location, event in trace.events:
        kind, rank, stack = type(event).__name__, rank_of(location), stacks[location]
        n_events[kind] += 1
        in_location[location] += 1
        assert last[location] <= event.time <= clock.trace_length, "events of a location are in the order of time"
        last[location] = event.time
        if isinstance(event, events.Enter):
            stack.append((event.region, event.time))
            attributes = {attribute.name: value for attribute, value in (event.attributes or {}).items()}
            if "wait state" in attributes:
                wait = waits[attributes["wait state"]]
                wait[0] += 1
                wait[1] += attributes["waiting"]
        elif isinstance(event, events.Leave):
            region, begin = stack.pop()
            assert region == event.region, "regions are nested"
            if region.paradigm == otf2.Paradigm.MPI:
                calls[region.name][0] += 1
                calls[region.name][1] += event.time - begin
            elif region.paradigm == otf2.Paradigm.USER:
                names = [outer.name for outer, _ in stack] + [region.name]
                regions["/".join(names)] += event.time - begin
        elif isinstance(event, (events.MpiSend, events.MpiIsend)):
            if isinstance(event, events.MpiIsend):
                open_sends[rank, event.request_id] += 1
            peer = member(event.communicator, rank, event.receiver)
            message = rank, peer, event.communicator.name, event.msg_tag, event.msg_length
            sends[message] += 1
            if isinstance(event, events.MpiIsend):
                unfinished[rank, event.request_id] = message
        elif isinstance(event, events.MpiIsendComplete):
            open_sends[rank, event.request_id] -= 1
        elif isinstance(event, events.MpiIrecvRequest):
            open_receives[rank, event.request_id] += 1
        elif isinstance(event, events.MpiRequestCancelled):
            if open_receives[rank, event.request_id] > 0:
                open_receives[rank, event.request_id] -= 1
            else:
                # A send that was cancelled has no receive.
                open_sends[rank, event.request_id] -= 1
                cancelled_sends += 1
                sends.subtract([unfinished.pop((rank, event.request_id))])
        elif isinstance(event, events.MpiRequestTest):
            assert stack[-1][0].paradigm == otf2.Paradigm.MPI, "requests are tested in calls"
        elif isinstance(event, (events.MpiRecv, events.MpiIrecv)):
            if isinstance(event, events.MpiIrecv):
                open_receives[rank, event.request_id] -= 1
            assert stack and stack[-1][0].paradigm == otf2.Paradigm.MPI, "messages are received in calls"
            peer = member(event.communicator, rank, event.sender)
            receives[peer, rank, event.communicator.name, event.msg_tag, event.msg_length] += 1
        elif isinstance(event, events.MpiCollectiveBegin):
            open_collective[location] = stack[-1]
        else:
            assert isinstance(event, events.MpiCollectiveEnd)
            assert open_collective.pop(location) == stack[-1], "a collective is one call"
            name = stack[-1][0].name
            collectives[name] += 1
            contributed[name] += event.size_sent
            instances[event.communicator.name, event.collective_op][location] += 1
    locations = list(trace.definitions.locations)
assert not open_collective and not any(stacks.values())
assert all(location.number_of_events == in_location[location] for location in locations)

print("events:", dict(n_events), "locations:", len(locations))
printed = subprocess.run(["otf2-print", path], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
words = collections.Counter(line.split()[0] for line in printed if line.strip())
for kind, n in n_events.items():
    # MpiIsendComplete is MPI_ISEND_COMPLETE there.
    name = re.sub("(?<!^)(?=[A-Z])", "_", kind).upper()
    equal(f"otf2-print: {name}", words[name], n)

for name, own in operations(report).items():
    n, ns = calls["MPI_" + name]
    if has_all_calls(name):
        equal(f"MPI_{name}: calls", n, own["calls"])
    equal(f"MPI_{name}: time", ns * 1e-9, own["time_s"], n)
for name, n in collectives.items():
    own = operations(report)[name.removeprefix("MPI_")]
    equal(f"{name}: collectives", n, own["calls"])
    equal(f"{name}: bytes", contributed[name], own["sent_bytes"])
recorded = collections.Counter(record["operation"] for record in records)
for name in [name for name in operations(report) if has_all_calls(name)]:
    equal(f"MPI_{name}: records", calls["MPI_" + name][0], recorded[name])
# Polls that found nothing have other figures there.
arrived = [record["received"] for record in records
           if record["activity"] == "point-to-point" and "nothing" not in record["flags"] and record["received"] > 0]
of_data = {key: n for key, n in receives.items() if key[-1] > 0}
equal("messages with data: records", sum(of_data.values()), len(arrived))
equal("bytes of messages: records", sum(n * key[-1] for key, n in of_data.items()), sum(arrived))
for by_location in instances.values():
    assert len(set(by_location.values())) == 1, "all members of a communicator call its collectives as often"
# A receive that is freed while it is active, or never completed, is in the trace if its message was received; a send that is freed stays open.
assert not any(open_receives.values()), "each receive under a request ends"
assert set(open_sends.values()) <= {0, 1}, "each send under a request ends once at most"
equal("sends under requests, complete", n_events["MpiIsendComplete"], n_events["MpiIsend"] - sum(open_sends.values()) - cancelled_sends)
equal("receives under requests", n_events["MpiIrecvRequest"], n_events["MpiIrecv"] + n_events["MpiRequestCancelled"] - cancelled_sends)
blocking = report["blocking"]
assert sends == receives, "both sides of each message agree"
equal("messages", sends.total(), blocking["matching"]["messages"])
size = sum(n * key[-1] for key, n in sends.items())
equal("bytes of messages", size, sum(site["received_bytes"] for site in report["callsites"] if site["activity"] == "point-to-point"))
for state in blocking["states"]:
    # What ranks wait for before MPI_Init and after MPI_Finalize is in no call.
    if state["state"] in ("late begin", "early end"):
        continue
    equal(f"waits: {state['state']}", waits[state["state"]][0], state["count"])
    equal(f"waiting: {state['state']}", waits[state["state"]][1] * 1e-9, state["blocked_s"], state["count"])
for region in report["regions"]:
    equal(f"time in {region['path']}", regions[region["path"]] * 1e-9, region["inclusive_s"], n_events["Enter"])
