"""Parquet: DuckDB finds in the tables what the report says.

    read_parquet.py TABLES REPORT.json
"""

import json
import sys

import duckdb

from figures import equal, has_all_calls, operations

tables, report = sys.argv[1], json.load(open(sys.argv[2]))


def query(sql):
    """The rows of a query; a table is named by @."""
    for name in ["ranks", "regions", "call_paths", "iterations", "waits", "messages", "calls"]:
        sql = sql.replace("@" + name, f"'{tables}/{name}.parquet'")
    return duckdb.sql(sql).fetchall()


efficiency, blocking = report["efficiency"], report["blocking"]
[(load_balance, longest)] = query("select avg(computation_s) / max(computation_s), max(computation_s) from @ranks")
equal("load balance", load_balance, efficiency["load_balance"])

# What is computed in no iteration counts by its maximum over ranks.
loop = report["iterations"]["region"]
if loop and report["iterations"]["source"] == "marked":
    [(in_iterations, outside)] = query(f"""
        with slowest as (select iteration, max(computation_s) s from @iterations where region = '{loop}' group by 1),
             inside as (select rank, sum(computation_s) s from @iterations where region = '{loop}' group by 1)
        select (select sum(s) from slowest), (select max(computation_s - s) from @ranks join inside using (rank))""")
    equal("ideal time of the iterations", in_iterations + outside, efficiency["t_ideal_phase_profile_s"])
equal("micro load balance", longest / efficiency["t_ideal_s"], efficiency["micro_load_balance"])

[(waited,)] = query("select sum(end_ns - begin_ns) * 1e-9 from @waits")
equal("waiting", waited, blocking["total_s"], sum(state["count"] for state in blocking["states"]))
for state in blocking["states"]:
    [(n, s)] = query(f"select count(*), sum(end_ns - begin_ns) * 1e-9 from @waits where state = '{state['state']}'")
    equal(f"waits: {state['state']}", n, state["count"])
    equal(f"waiting: {state['state']}", s, state["blocked_s"], n)

matrix = query("select source, dest, count(*), sum(bytes) from @messages group by 1, 2")
equal("messages", sum(n for _, _, n, _ in matrix), blocking["matching"]["messages"])
received = query("select sum(received_bytes) from @calls where activity = 'point-to-point'")
equal("bytes of the communication matrix", sum(size for *_, size in matrix), received[0][0])
assert query("select count(*) from @messages where sent_ns > received_ns") == [(0,)]

for name, own in operations(report).items():
    [(n, time, sent, received)] = query(f"""select count(*), sum(end_ns - begin_ns) * 1e-9, sum(sent_bytes),
        sum(received_bytes) from @calls where operation = 'MPI_{name}'""")
    if has_all_calls(name):
        equal(f"MPI_{name}: calls", n, own["calls"])
    equal(f"MPI_{name}: time", time, own["time_s"], n)
    equal(f"MPI_{name}: bytes sent", sent, own["sent_bytes"])
    equal(f"MPI_{name}: bytes received", received, own["received_bytes"])

# Each call path of an event is in the table of sums.
assert query("""select count(*) from @calls c left join (select distinct call_path from @call_paths) p using (call_path)
    where c.call_path is not null and p.call_path is null""") == [(0,)]
print(len(matrix), "pairs of ranks exchange messages")
