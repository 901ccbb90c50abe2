// The page's address: what is written is read again, and rows belong to a selection by what they have of it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { source } from "./sources.mjs";

const { formatAddress, parseAddress, isPointedOut } = await source("frame/address");

test("an address is read as it was written", () => {
    const target = { panel: "timeline", window: { from: 0, to: 1.5e-7 }, rank: 3, region: "main/a?b&c=d/e f", iterations: { first: 10, last: 14 }, find: "f (a.c:12)" };
    const { panel, window, find, selection } = parseAddress(formatAddress(target));
    assert.deepEqual({ panel, window, find, ...selection }, target);
    assert.equal(formatAddress({ panel: "facts", rank: 0 }), "#facts?rank=0");
});

test("what is no number, or no range, selects nothing", () => {
    for (const hash of ["#iterations", "#iterations?rank=-1&iterations=9-3&t=2-1", "#iterations?rank=x&iterations=&t=5", ""]) {
        const { window, selection } = parseAddress(hash);
        assert.deepEqual({ window, ...selection }, { window: null, rank: null, region: null, iterations: null }, hash);
    }
});

test("a row is pointed out by the rank and the region that it has", () => {
    const selection = { rank: 2, region: "main/a", iterations: null };
    assert.equal(isPointedOut(selection, { rank: 2, region: "main/a" }), true);
    assert.equal(isPointedOut(selection, { rank: 2, region: "main/b" }), false);
    assert.equal(isPointedOut(selection, { region: "main/a" }), true);
    assert.equal(isPointedOut({ ...selection, region: null }, { rank: 2, region: "main/b" }), true);
    assert.equal(isPointedOut({ rank: null, region: null, iterations: null }, { rank: 2 }), false);
});
