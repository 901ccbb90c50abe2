"""Perfetto: its own definitions of the format, and SQL, find in a trace what the report says.

trace_processor is a program that the package `perfetto` downloads when it is used; where that is not possible, the package's definitions read
the trace, and what they find goes to SQLite: tables slice, flow and args with the columns that trace_processor gives them.

    read_perfetto.py TRACE REPORT.json
"""

import collections
import json
import sqlite3
import sys

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb

from figures import equal, has_all_calls, operations

trace, report = pb.Trace(), json.load(open(sys.argv[2]))
trace.ParseFromString(open(sys.argv[1], "rb").read())

db = sqlite3.connect(":memory:")
db.executescript("""
    create table track (id integer primary key, name text, process integer, thread integer, parent integer);
    create table slice (id integer primary key, parent_id integer, track_id integer, ts integer, dur integer, depth integer, name text, category text);
    create table args (slice_id integer, key text, value);
    create table flow (id integer primary key, slice_out integer, slice_in integer);""")

names, keys, texts, categories = {}, {}, {}, {}
opened, out, into = collections.defaultdict(list), {}, {}
n_slices = 0
# Events of a track come in any order of the tracks; of one track in the order of time, but for points.
for packet in trace.packet:
    for known, new in [(names, packet.interned_data.event_names), (keys, packet.interned_data.debug_annotation_names),
                       (categories, packet.interned_data.event_categories)]:
        known.update((one.iid, one.name) for one in new)
    texts.update((one.iid, one.str.decode()) for one in packet.interned_data.debug_annotation_string_values)
    if packet.HasField("track_descriptor"):
        one = packet.track_descriptor
        name = one.name or one.process.process_name or one.thread.thread_name
        db.execute("insert into track values (?, ?, ?, ?, ?)", (one.uuid, name, one.process.pid or one.thread.pid,
                   one.thread.tid if one.HasField("thread") else None, one.parent_uuid))
    if not packet.HasField("track_event"):
        continue
    event = packet.track_event
    assert packet.trusted_packet_sequence_id == 1
    if event.type == pb.TrackEvent.TYPE_SLICE_END:
        id, begin = opened[event.track_uuid].pop()
        assert begin <= packet.timestamp
        db.execute("update slice set dur = ? where id = ?", (packet.timestamp - begin, id))
    else:
        n_slices += 1
        is_point = event.type == pb.TrackEvent.TYPE_INSTANT
        around = opened[event.track_uuid]
        parent = around[-1][0] if around and not is_point else None
        db.execute("insert into slice values (?, ?, ?, ?, ?, ?, ?, ?)", (n_slices, parent, event.track_uuid, packet.timestamp,
                   0 if is_point else None, len(around), names[event.name_iid], "".join(categories[one] for one in event.category_iids)))
        for one in event.debug_annotations:
            value = texts[one.string_value_iid] if one.string_value_iid else one.int_value
            db.execute("insert into args values (?, ?, ?)", (n_slices, keys[one.name_iid], value))
        if not is_point:
            around.append((n_slices, packet.timestamp))
        out.update((flow, n_slices) for flow in event.flow_ids)
        into.update((flow, n_slices) for flow in event.terminating_flow_ids)
assert not any(opened.values()), "each slice that begins ends"
assert out.keys() == into.keys(), "each arrow has two ends"
db.executemany("insert into flow values (?, ?, ?)", [(flow, out[flow], into[flow]) for flow in out])


def query(sql):
    return db.execute(sql).fetchall()


print(query("select (select count(*) from track where thread is not null) threads, (select count(*) from slice) slices")[0])
assert query("""select count(*) from slice s join slice p on s.parent_id = p.id
    where s.ts < p.ts or s.ts + s.dur > p.ts + p.dur or s.depth != p.depth + 1 or s.track_id != p.track_id""") == [(0,)], "nesting"
assert query("""select count(*) from slice a join slice b on a.track_id = b.track_id and a.depth = b.depth and a.id < b.id
    and a.parent_id is b.parent_id where a.dur > 0 and b.dur > 0 and b.ts < a.ts + a.dur and b.ts + b.dur > a.ts
    and a.parent_id is not null limit 1""") == [(0,)], "slices beside each other do not overlap"
blocking = report["blocking"]
found = {name for name, in query("select distinct category from slice where name like 'MPI_%'")}
assert found and found <= {row["name"] for row in report["activities"]}, f"categories of calls: {found}"
equal("flows", query("select count(*) from flow")[0][0], blocking["matching"]["messages"])
assert query("select count(*) from flow join slice o on slice_out = o.id join slice i on slice_in = i.id where o.ts > i.ts") == [(0,)]
for name, own in operations(report).items():
    [(n, time)] = query(f"select count(*), sum(dur) * 1e-9 from slice where name = 'MPI_{name}'")
    if has_all_calls(name):
        equal(f"MPI_{name}: calls", n, own["calls"])
    equal(f"MPI_{name}: time", time, own["time_s"], n)
    for key, column in [("bytes sent", "sent_bytes"), ("bytes received", "received_bytes")]:
        [(n,)] = query(f"""select coalesce(sum(value), 0) from slice join args on slice_id = id
            where name = 'MPI_{name}' and key = '{key}'""")
        equal(f"MPI_{name}: {key}", n, own[column])
for state in blocking["states"]:
    [(n, time)] = query(f"""select count(*), coalesce(sum(dur), 0) * 1e-9 from slice
        where name = '{state['state']}' or name like '{state['state']} (rank %)'""")
    equal(f"waits: {state['state']}", n, state["count"])
    equal(f"waiting: {state['state']}", time, state["blocked_s"], n)
