"""TALP: TALP-Pages reads the file and finds the efficiencies of the report, for the program and for each region.

    read_talp.py TALP.json REPORT.json
"""

import json
import math
import sys
from pathlib import Path

from talp_pages.io.dataframe_handling import load_talp_json_df

table, report = load_talp_json_df(Path(sys.argv[1])), json.load(open(sys.argv[2]))
table = table.set_index("regionName")
assert set(table["executionMode"]) == {"MPI"} and set(table["totalNumMpiRanks"]) == {len(report["ranks"])}
for region in report["regions"]:
    row, own = table.loc["Global" if region["path"] == "main" else region["path"]], region["efficiency"]
    for key, of_report in [("parallelEfficiency", "parallel"), ("mpiCommunicationEfficiency", "communication"),
                           ("mpiLoadBalance", "load_balance"), ("elapsedTime", "elapsed_s")]:
        assert math.isclose(row[key], own[of_report], rel_tol=1e-9, abs_tol=1e-9), (region["path"], key, row[key], own[of_report])
        print(f"{region['path']}: {key} {row[key]:.9g}")
    assert math.isclose(row["mpiLoadBalanceIn"] * row["mpiLoadBalanceOut"], row["mpiLoadBalance"])
