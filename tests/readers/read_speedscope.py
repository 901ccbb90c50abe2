"""speedscope: a file of the published schema, whose sums by function and rank are those of the report.

    read_speedscope.py RUN.speedscope.json SCHEMA.json REPORT.json

SCHEMA.json is file-format-schema.json of the npm package speedscope.
"""

import collections
import json
import sys
from pathlib import PurePosixPath

from figures import equal

KINDS = {"object": dict, "array": list, "string": str, "number": (int, float)}


def faults(value, rule, schema, path="$"):
    """What in a value breaks a rule of the schema, which has what a generator makes of TypeScript's types."""
    if "$ref" in rule:
        return faults(value, schema["definitions"][rule["$ref"].rsplit("/", 1)[1]], schema, path)
    if "anyOf" in rule:
        found = [faults(value, one, schema, path) for one in rule["anyOf"]]
        return [] if [] in found else min(found, key=len)
    unknown = set(rule) - {"$ref", "anyOf", "type", "enum", "const", "properties", "required", "items", "title", "description", "$schema", "definitions", "additionalProperties"}
    assert not unknown, f"{path}: a rule of a kind that this program does not know: {unknown}"
    allowed = rule.get("enum", [rule["const"]] if "const" in rule else None)
    if allowed is not None and value not in allowed:
        return [f"{path}: {value!r} is none of {allowed}"]
    if "type" in rule and (not isinstance(value, KINDS[rule["type"]]) or isinstance(value, bool)):
        return [f"{path}: {value!r} is no {rule['type']}"]
    found = [f"{path}: no {key}" for key in rule.get("required", []) if key not in value]
    if isinstance(value, dict):
        for key, one in value.items():
            if key in rule.get("properties", {}):
                found += faults(one, rule["properties"][key], schema, f"{path}.{key}")
            elif rule.get("additionalProperties") is False:
                found.append(f"{path}: {key} is not in the schema")
    if isinstance(value, list) and isinstance(rule.get("items"), dict):
        found += [fault for at, one in enumerate(value) for fault in faults(one, rule["items"], schema, f"{path}[{at}]")]
    return found


file, schema, report = (json.load(open(name)) for name in sys.argv[1:4])
found = faults(file, schema, schema)
assert not found, found[:5]
broken = json.loads(json.dumps(file))
broken["profiles"][0]["unit"] = "parsecs"
del broken["profiles"][1]["weights"]
assert len(faults(broken, schema, schema)) == 2, "the schema says something"

functions = report["functions"]
in_calls = {one["name"] for one in report["activities"]} - {"computation"}
names = [frame["name"] for frame in file["shared"]["frames"]]
by_function, by_rank, others = collections.Counter(), collections.Counter(), 0.0
for profile in file["profiles"]:
    assert len(profile["samples"]) == len(profile["weights"])
    equal(f"{profile['name']}: all", sum(profile["weights"]), profile["endValue"] - profile["startValue"])
    rank = int(profile["name"].split()[1])
    if ", " in profile["name"]:
        others += sum(profile["weights"]) if "regions not known" not in profile["name"] else 0
        continue
    for stack, weight in zip(profile["samples"], profile["weights"]):
        frames = [names[at] for at in stack]
        assert frames[0] == "main", frames
        if not in_calls & set(frames):
            by_function[frames[-1]] += weight
            by_rank[rank] += weight
assert len(by_rank) == functions["ranks"]
equal("other threads", others, functions["other_threads_s"])
equal("computation", sum(by_rank.values()), functions["computation_s"])
slowest = functions["program"]["slowest_rank"]
equal(f"rank {slowest}", by_rank[slowest], functions["tree"][0]["slowest_s"])
assert functions["program"]["others"]["functions"] == 0
rows = collections.Counter()
for row in functions["program"]["functions"]:
    module = PurePosixPath(row["module"]).name if row["module"] else "generated code"
    rows[row["function"] or f"[{module}]"] += row["mean_s"] * functions["ranks"]
assert set(rows) == set(by_function), (rows, by_function)
for name, seconds in rows.items():
    equal(name, by_function[name], seconds)
