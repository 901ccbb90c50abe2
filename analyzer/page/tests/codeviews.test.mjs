// Views of the calling-context tree are other orders of the same time.
import assert from "node:assert/strict";
import { test } from "node:test";
import { source } from "./sources.mjs";

const { functionsOf, callersOf } = await source("data/codeviews");

/** A row: what it is in, its kind and name, and its time with what is in it. */
function row(parent, kind, name, time_s) {
    const none = { at: null, full_name: null, region: null, core_states: null, load_balance: null, micro_load_balance: null, slowest_rank: null, cpu_s: null, slowest_cpu_s: null, excess_s: null, excess_error_s: null, waiting_s: null, caused_s: null, caused_alone_s: null, lost_s: null, lost_alone_s: null };
    return { ...none, parent, depth: 0, kind, name, time_s, share: 0, alone_s: 0, computation_s: time_s, mpi_s: 0, max_computation_s: 0, calls: 0, bytes: 0, left_out: 0 };
}

// main 1 ┬ step 2 ─ loop 1 ┬ force 3
//        │                 └ MPI_Wait 2
//        └ setup 0 ─ force 1 ─ force 1
const rows = [
    row(null, "program", "main", 11),
    row(0, "function", "step", 8),
    row(1, "loop", "loop", 6),
    row(2, "function", "force", 3),
    row(2, "call", "MPI_Wait", 2),
    row(0, "function", "setup", 2),
    row(5, "function", "force", 2),
    row(6, "function", "force", 1),
];
[0, 1, 2, 4].forEach((at) => (rows[at].calls = 1));

test("each function has its own time, with its loops and calls", () => {
    const functions = functionsOf(rows);
    assert.deepEqual(functions.map(({ name, time_s }) => [name, time_s]), [["main", 11], ["step", 5], ["force", 5], ["main", 1], ["setup", 0]]);
    assert.ok(functions.slice(1).every(({ parent, kind }) => parent === 0 && kind === "function"));
    assert.equal(functions.find(({ name }) => name === "step").calls, 1);
    assert.ok(functions.every(({ waiting_s }) => waiting_s === null), "what is not known stays so");
});

test("the callers of a function have its time, once", () => {
    const callers = callersOf(rows, "force");
    assert.deepEqual(callers.map(({ name, parent, time_s }) => [name, parent, time_s]), [["force", null, 5], ["step", 0, 3], ["main", 1, 3], ["setup", 0, 2], ["main", 3, 2]]);
    assert.deepEqual(callers.map(({ share }) => share), [1, 0.6, 0.6, 0.4, 0.4]);
});
