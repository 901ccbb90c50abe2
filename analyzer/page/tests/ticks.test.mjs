// Axes of iterations tell the numbers that the iterations have.
import assert from "node:assert/strict";
import { test } from "node:test";
import { source } from "./sources.mjs";

const { iterationTicks } = await source("pictures/ticks");

const of = (first, per_column = 1) => ({ first, per_column, columns: first.length, count: first.length * per_column });
const told = (iterations, from, to) => iterationTicks(iterations, from, to, 4).map(({ at, text }) => `${text} at ${at}`);

test("ticks stand in the middle of the iteration that they name", () => {
    assert.deepEqual(told(of(Array.from({ length: 20 }, (_, i) => i + 5)), 0, 20), ["5 at 0.5", "10 at 5.5", "15 at 10.5", "20 at 15.5"]);
});

test("where columns hold several iterations, ticks are where the round one begins", () => {
    assert.deepEqual(told(of(Array.from({ length: 20 }, (_, i) => 4 * i), 4), 0, 20), ["0 at 0", "20 at 5", "40 at 10", "60 at 15"]);
});

test("where numbers have gaps, each tick has the number of its column", () => {
    const first = [0, 1, 2, 3, 4, 1000, 1001, 1002, 1003, 1004];
    assert.deepEqual(told(of(first), 0, 10), ["0 at 0.5", "1000 at 5.5"]);
    assert.deepEqual(told(of(first), 4, 8), ["4 at 4.5", "1000 at 5.5", "1001 at 6.5", "1002 at 7.5", "1003 at 8.5"]);
});
