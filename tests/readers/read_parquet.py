"""Parquet: DuckDB finds in the tables what the report says.

    read_parquet.py TABLES REPORT.json
"""

import json
import math
import sys

import duckdb

tables, report = sys.argv[1], json.load(open(sys.argv[2]))


def query(sql):
    """The rows of a query; a table is named by @."""
    for name in ["ranks", "regions", "call_paths", "iterations", "waits", "messages", "calls"]:
        sql = sql.replace("@" + name, f"'{tables}/{name}.parquet'")
    return duckdb.sql(sql).fetchall()


def equal(what, found, expected):
    assert math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-12), f"{what}: {found}, the report has {expected}"
    print(f"{what}: {found:.12g}")


efficiency, blocking = report["efficiency"], report["blocking"]
[(load_balance, longest)] = query("select avg(computation_s) / max(computation_s), max(computation_s) from @ranks")
equal("load balance", load_balance, efficiency["load_balance"])

# What is computed in no iteration counts by its maximum over ranks.
[(in_iterations, outside)] = query("""
    with slowest as (select iteration, max(computation_s) s from @iterations where region = 'main/step' group by 1),
         inside as (select rank, sum(computation_s) s from @iterations where region = 'main/step' group by 1)
    select (select sum(s) from slowest), (select max(computation_s - s) from @ranks join inside using (rank))""")
equal("ideal time of the iterations", in_iterations + outside, efficiency["t_ideal_phase_profile_s"])
equal("micro load balance", longest / efficiency["t_ideal_s"], efficiency["micro_load_balance"])

[(waited,)] = query("select sum(end_ns - begin_ns) * 1e-9 from @waits")
equal("waiting", waited, blocking["total_s"])
for state in blocking["states"]:
    [(n, s)] = query(f"select count(*), sum(end_ns - begin_ns) * 1e-9 from @waits where state = '{state['state']}'")
    equal(f"waits: {state['state']}", n, state["count"])
    equal(f"waiting: {state['state']}", s, state["blocked_s"])

matrix = query("select source, dest, count(*), sum(bytes) from @messages group by 1, 2")
equal("messages", sum(n for _, _, n, _ in matrix), blocking["matching"]["messages"])
received = query("select sum(received_bytes) from @calls where activity = 'point-to-point'")
equal("bytes of the communication matrix", sum(size for *_, size in matrix), received[0][0])
assert query("select count(*) from @messages where sent_ns > received_ns") == [(0,)]

for site in report["callsites"]:
    operation = "MPI_" + site["operation"]
    if site["operation"] == "Finalize":
        continue
    [(n, time, sent, received)] = query(f"""select count(*), sum(end_ns - begin_ns) * 1e-9, sum(sent_bytes),
        sum(received_bytes) from @calls where operation = '{operation}'""")
    for what, found, key in [("calls", n, "calls"), ("time", time, "time_s"), ("bytes sent", sent, "sent_bytes"),
                             ("bytes received", received, "received_bytes")]:
        equal(f"{operation}: {what}", found, site[key])

# The rank that sends most to each other one, by a join of events and sums.
assert query("""select count(*) from @calls c left join (select distinct call_path from @call_paths) p using (call_path)
    where c.call_path is not null and p.call_path is null""") == [(0,)]
print(len(matrix), "pairs of ranks exchange messages")
