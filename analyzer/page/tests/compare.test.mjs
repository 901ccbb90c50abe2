// The page of a comparison in a real browser.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { cell, launch, open, show, widest } from "./browser.mjs";
import { comparisonOf } from "./data.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser.close());

test("a comparison says what changed, why, and where", async () => {
    const comparison = comparisonOf("compare");
    for (const width of [400, 1280]) {
        const { page, complaints, close } = await open(browser, "compare", { width });
        assert.equal(await page.locator("#panel-answer .verdict").innerText(), comparison.verdict);
        for (const id of ["answer", "changes", "runs"]) {
            await show(page, id, { mouse: true });
            const wide = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
            assert.equal(wide, false, wide ? await widest(page) : "");
        }
        assert.equal(await page.locator("#panel-changes table").first().locator("tbody tr").count(), comparison.places.length);
        assert.equal(await cell(page, "runs", "New runs", comparison.new[0].name, "ranks"), String(comparison.new[0].ranks));
        assert.deepEqual(complaints, []);
        await close();
    }
});
