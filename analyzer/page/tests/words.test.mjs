// Numbers are written as the text report writes them; terms are those of the documents.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { bytes, count, oneUnit, percent, ranges, roundTicks, seconds, secondsLike, shortPath, signedPercent, withoutTemplateArguments } from "./words.mjs";

test("times have three or four digits and a unit", () => {
    assert.deepEqual([12.294, 1234.4, 0.0421, 0, null, NaN].map(seconds), ["12.29 s", "1234 s", "42.10 ms", "0.00 s", "–", "–"]);
});

test("times of a sentence have one unit where they fit in it", () => {
    assert.equal(secondsLike(0.0421, 1.2), "0.04 s");
    assert.equal(secondsLike(0.0021, 1.2), "2.10 ms");
    assert.equal(secondsLike(-0.0021, 1.2), "−2.10 ms");
    assert.equal(secondsLike(1.2558e-3, 0.9e-3), "1.26 ms");
});

test("times of a column have one unit", () => {
    assert.deepEqual([1.2, 0.0421, 0.0021, 0, null, -0.0021].map(oneUnit(1.2)), ["1.200 s", "0.042 s", "0.002 s", "0.000 s", "–", "−0.002 s"]);
    assert.deepEqual([25.3, 0.0021].map(oneUnit(25.3)), ["25.30 s", "< 0.01 s"]);
    assert.deepEqual([0.4, 1e-4].map(oneUnit(0.4)), ["400.0 ms", "0.1 ms"]);
});

test("shares, counts and bytes", () => {
    assert.deepEqual([-0.0001, -0.125, 0.874, null].map(percent), ["0.0 %", "−12.5 %", "87.4 %", "–"]);
    assert.deepEqual([0.125, -0.125, -0.0001].map(signedPercent), ["+12.5 %", "−12.5 %", "0.0 %"]);
    assert.equal(count(1234567), "1,234,567");
    assert.deepEqual([999, 1_320_000].map(bytes), ["999 B", "1.32 MB"]);
});

test("successive numbers are a range", () => {
    assert.equal(ranges([0, 1, 2, 3, 7]), "0-3, 7");
    assert.equal(ranges([5]), "5");
});

test("long paths lose their outer regions", () => {
    assert.equal(shortPath("main"), "main");
    assert.equal(shortPath("main/step/force"), "step/force");
    assert.equal(shortPath("main/other code between calls"), "main/other code between calls");
    assert.equal(shortPath("main/loop/loop in CommBrick::reverse_comm/other code between calls"), "loop in CommBrick::reverse_comm/other code between calls");
    assert.equal(shortPath("main/loop/loop in CommBrick::reverse_comm/CommBrick::forward_comm"), "CommBrick::forward_comm");
    assert.equal(shortPath(`main/a${"x".repeat(40)}/b\\/c`), "b\\/c");
});

test("ticks are round and in view", () => {
    assert.deepEqual(roundTicks(0.3, 10, 5), [2, 4, 6, 8, 10]);
    assert.deepEqual(roundTicks(1, 1, 5), []);
});

test("every term of the page is one that docs/report-reference.md or docs/metrics.md has", () => {
    const pages = ["report-reference.md", "metrics.md"].map((name) => readFileSync(new URL(`../../../docs/${name}`, import.meta.url), "utf8"));
    const docs = pages.join("\n").replaceAll(/[\s*]+/g, " ").toLowerCase();
    const source = readFileSync(new URL("../src/wording/glossary.ts", import.meta.url), "utf8");
    const terms = [...source.matchAll(/^ {4}"([^"]+)": "/gm)].map((found) => found[1]);
    assert.ok(terms.length > 40);
    assert.deepEqual(terms.filter((term) => !docs.includes(term.toLowerCase())), []);
});

test("every word that a panel marks as a term is in the glossary", () => {
    const folder = new URL("../src/", import.meta.url);
    const glossary = ["wording/glossary.ts", "generated/states.generated.ts"].map((name) => readFileSync(new URL(name, folder), "utf8")).join("\n");
    const terms = new Set([...glossary.matchAll(/^ {4}"([^"]+)": ["{]/gm)].map((found) => found[1]));
    const sources = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".ts") && !name.startsWith("study"));
    const marked = sources.flatMap((name) => [...readFileSync(new URL(name, folder), "utf8").matchAll(/\bterm(?:\(|: )"([^"]+)"/g)].map((found) => found[1]));
    assert.ok(marked.length > 40, `${marked.length} are marked`);
    assert.deepEqual([...new Set(marked)].filter((name) => !terms.has(name)), []);
});

test("every reason for waiting is explained", () => {
    const names = readFileSync(new URL("../../analysis/src/model/replayed/waits.rs", import.meta.url), "utf8");
    const states = [...names.matchAll(/^ {4}\w+ "([^"]+)"$/gm)].map((found) => found[1]);
    const source = readFileSync(new URL("../src/wording/glossary.ts", import.meta.url), "utf8");
    assert.ok(states.length >= 14);
    assert.deepEqual(states.filter((state) => !source.includes(`"${state}":`)), []);
});

test("names of functions lose the arguments of templates, and nothing else", () => {
    const names = ["cg_solve<Matrix<double, int>, Vector<double> > (cg.hpp:3 → 7)", "A<int>::operator<<", "A<B>::operator->", "call<fn(i32) -> i32>", "<T as Halo>::swap", "odd<a"];
    assert.deepEqual(names.map(withoutTemplateArguments), ["cg_solve<…> (cg.hpp:3 → 7)", "A<…>::operator<<", "A<…>::operator->", "call<…>", "<T as Halo>::swap", "odd<a"]);
});
