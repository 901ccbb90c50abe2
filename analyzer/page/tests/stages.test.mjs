// Matrices hold means; their sums, and the rows of ranks, are those of the ranks that are there.
import assert from "node:assert/strict";
import { test } from "node:test";
import { source } from "./sources.mjs";

const { sources, stagesOf } = await source("data/stages");
const { rowOf, columnName } = await source("data/views");

const packed = (values) => ({ length: values.length, at: (i) => values[i] });
const ranks = (numbers, per_row) => {
    const first = numbers.filter((_, place) => place % per_row === 0);
    return { count: numbers.length, rows: first.length, per_row, first, numbers: numbers.map((number) => [number, 1, 1]) };
};

/** Ranks 0 and 1 with three iterations of 2 s of computation in one column, of which rank 1 has only one. */
function skipping(per_row) {
    const iterations = {
        region: "main/step", count: 3, columns: 1, per_column: 3, first: [0],
        passes: packed(per_row === 1 ? [3, 1] : [4]),
        computation: packed(per_row === 1 ? [2, 2] : [2]),
        blocking: null, activities: {}, elapsed: packed([2]), max: packed([2]), mean: packed([4 / 3]), micro_load_balance: packed([1]),
    };
    return { ranks: ranks([0, 1], per_row), iterations, timeline: null };
}

test("stages add up the iterations that ranks went through, and no others", () => {
    for (const [per_row, sums] of [[1, [6, 2]], [2, [8]]]) {
        const views = skipping(per_row);
        const stages = stagesOf(sources(views)[0], "computation", 1, views);
        assert.deepEqual([...stages.seconds], sums);
        assert.deepEqual([...stages.elapsed], [6]);
    }
});

test("slices of time add up all ranks of a row", () => {
    const timeline = { begin_s: 0, end_s: 2, bins: 2, states: ["computation"], share: { computation: packed([0.5, 1]) } };
    const views = { ranks: ranks([0, 1], 2), iterations: null, timeline };
    assert.deepEqual([...stagesOf(sources(views)[0], "computation", 1, views).seconds], [1, 2]);
});

test("ranks that were not selected have no row", () => {
    const numbers = [0, 1, 8, 9];
    for (const per_row of [1, 2, 3]) {
        const data = { report: { ranks: numbers.map((rank) => ({ rank })) }, views: { ranks: ranks(numbers, per_row) } };
        assert.deepEqual(numbers.map((rank) => rowOf(data, rank)), numbers.map((_, place) => Math.floor(place / per_row)));
        assert.deepEqual([2, 7, 10].map((rank) => rowOf(data, rank)), [-1, -1, -1]);
    }
});

test("a column is named by the iterations in it, whose numbers may have gaps", () => {
    const iterations = { count: 5, per_column: 2, first: [0, 10, 20] };
    assert.deepEqual([0, 1, 2].map((column) => columnName(iterations, column)), ["iterations 0 to 9", "iterations 10 to 19", "iteration 20"]);
});
