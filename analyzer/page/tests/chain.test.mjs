// Chains of causes: a wait is followed to the rank that worked.
import assert from "node:assert/strict";
import { test } from "node:test";
import { source } from "./sources.mjs";

const { causeChain } = await source("timeline/chain");

const wait = (rank, begin, end, delaySource) => ({ rank, begin, end, delaySource, state: "late sender", region: "main", site: "" });

/** The links of the first of these waits, as rank, begin and end of its work, and the rank that it waited for. */
function chain(waits) {
    const of = (rank, from, to) => waits.filter((one) => one.rank === rank && one.end >= from && one.begin <= to);
    return causeChain(waits[0], of).map(({ rank, begin, end, waited }) => [rank, begin, end, waited?.delaySource ?? null]);
}

test("a rank that worked all the time is the cause", () => {
    assert.deepEqual(chain([wait(1, 2, 10, 0)]), [[0, 2, 10, null]]);
});

test("a rank that waited itself passes the blame on", () => {
    assert.deepEqual(chain([wait(1, 2, 10, 0), wait(0, 3, 8, 2), wait(2, 2, 4, 3)]), [[0, 8, 10, 2], [2, 4, 8, 3], [3, 2, 4, null]]);
});

test("waits before, and those that explain next to nothing, are left out", () => {
    assert.deepEqual(chain([wait(1, 2, 10, 0), wait(0, 0, 2, 2)]), [[0, 2, 10, null]]);
    assert.deepEqual(chain([wait(1, 2, 10, 0), wait(0, 3, 3.5, 2)]), [[0, 2, 10, null]]);
});

test("a wait that nobody ended has no chain, and circles end", () => {
    assert.deepEqual(chain([wait(1, 2, 10, null)]), []);
    const circle = chain([wait(1, 0, 10, 0), wait(0, 0, 10, 1)]);
    assert.ok(circle.length > 0 && circle.length <= 16);
});
