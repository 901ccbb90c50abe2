// The page of a study in a real browser: every panel draws, says what the data say, obeys nobody's names, and needs no mouse.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { cell, coloursIn, launch, open, show, widest } from "./browser.mjs";
import { studyOf as dataOf } from "./data.mjs";

const PANELS = ["runs", "history", "scaling", "models", "causal"];

let browser;
before(async () => (browser = await launch()));
after(() => browser.close());

for (const name of ["study", "hostile-study"]) {
    test(`every panel of ${name} draws, without a complaint`, async () => {
        const { page, complaints, close } = await open(browser, name);
        for (const id of PANELS) {
            await show(page, id, { mouse: true });
            for (const colours of await coloursIn(page, id)) {
                assert.ok(colours > 2, `a plot of ${id} has ${colours} colours`);
            }
            const wide = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
            assert.equal(wide, false, wide ? await widest(page) : "");
        }
        assert.match(await page.title(), /^lbprof: /, "no name has taken the page");
        assert.equal(await page.locator("img").count(), 0);
        assert.deepEqual(complaints, []);
        await close();
    });
}

test("runs are told with their figures", async () => {
    const { runs } = dataOf("study");
    const { page, close } = await open(browser, "study");
    await show(page, "runs");
    assert.equal(runs.length, 24);
    assert.equal(await cell(page, "runs", "Runs", "3", "ranks"), String(runs[2].ranks));
    assert.equal(await cell(page, "runs", "Runs", "3", "load balance"), `${(100 * runs[2].load_balance).toFixed(1)} %`);
    await close();
});

test("scaling is shown against the ranks and against a parameter", async () => {
    const { scaling } = dataOf("study");
    assert.deepEqual(scaling.map((one) => one.by), ["ranks", "step"]);
    const { page, close } = await open(browser, "study");
    await show(page, "scaling");
    const captions = await page.locator("#panel-scaling figcaption").allTextContents();
    assert.deepEqual(captions.slice(0, 3), ["scaling: speedup", "scaling: efficiency", "time: elapsed T"]);
    const legend = await page.locator("#panel-scaling figure").first().locator(".u-series .u-label").allTextContents();
    assert.deepEqual(legend.slice(1), ["step=100", "step=200", "step=300", "step=400", "step=500", "step=600", "ideal"]);
    await page.selectOption("#panel-scaling select", { label: "step" });
    const byStep = await page.locator("#panel-scaling figure").first().locator(".u-series .u-label").allTextContents();
    assert.deepEqual(byStep.slice(1, 3), ["1 rank", "2 ranks"]);
    await close();
});

test("the history of runs has their labels, oldest first, and the change from run to run", async () => {
    const { page, complaints, close } = await open(browser, "history");
    await show(page, "history");
    for (const colours of await coloursIn(page, "history")) {
        assert.ok(colours > 2, `a plot has ${colours} colours`);
    }
    const captions = await page.locator("#panel-history figcaption").allTextContents();
    assert.deepEqual(captions, ["elapsed time: scenario, 4 ranks, n=512", "efficiencies: scenario, 4 ranks, n=512"]);
    assert.equal(await cell(page, "history", "From run to run", "1", "label"), "commit-1");
    assert.equal(await cell(page, "history", "From run to run", "1", "change"), "–");
    assert.equal(await cell(page, "history", "From run to run", "3", "change"), "+90.9 %");
    assert.equal(await cell(page, "history", "From run to run", "3", "load balance"), "62.5 %");
    assert.deepEqual(complaints, []);
    await close();
});

test("a relation shows its law and errors by degree", async () => {
    const { page, close } = await open(browser, "study");
    await show(page, "models");
    assert.match(await page.textContent("#panel-models .hint"), /^T_comp = 1\.00 ns\/operation·#op/);
    const legend = await page.locator("#panel-models figure").first().locator(".u-label").allTextContents();
    assert.deepEqual(legend.slice(1), ["run", "law"]);
    await page.selectOption("#panel-models select", { label: "#op force against step" });
    assert.match(await page.textContent("#panel-models .hint"), /#op = 2\.00·step³/);
    const captions = await page.locator("#panel-models figure:not([hidden]) figcaption").allTextContents();
    assert.equal(captions[2], "Cross-validation error of polynomials by degree; degree 3 is chosen");
    await close();
});

test("the causal model is chosen from by keyboard", async () => {
    const { programs } = dataOf("study");
    const { page, close } = await open(browser, "study");
    await show(page, "causal");
    const [{ graph }] = programs;
    assert.equal(await page.locator("#panel-causal .node").count(), graph.nodes.length);
    assert.equal(await page.locator("#panel-causal .edge").count(), graph.edges.length);
    const box = await page.locator("#panel-causal svg.causal").boundingBox();
    assert.ok(box.x + box.width <= 1280, "all of it is in the window");
    await page.focus('#panel-causal .node[aria-label="#op force"]');
    await page.keyboard.press("Enter");
    assert.equal(await page.textContent("#panel-causal caption"), "Equations of #op force");
    assert.equal(await page.locator("#panel-causal tbody tr").count(), 2);
    assert.equal(await page.getAttribute('#panel-causal .node[aria-label="#op force"]', "aria-pressed"), "true");
    await page.keyboard.press("Enter");
    assert.equal(await page.textContent("#panel-causal caption"), "Equations");
    await close();
});

test("without scripts the tables are there as text", async () => {
    const { page, close } = await open(browser, "study", { script: false });
    assert.match(await page.textContent("noscript"), /Scaling/);
    await close();
});

test("a table of figures stands above the plots, with efficiencies on the colours of their limits", async () => {
    const { scaling } = dataOf("study");
    const { page, close } = await open(browser, "study");
    await show(page, "scaling");
    const [first] = scaling[0].tables;
    assert.equal(await page.locator("#panel-scaling .verdict").first().innerText(), first.sentence);
    const value = first.sections.find(({ name }) => name === "Efficiency").lines[0].values[0];
    const cells = page.locator("#panel-scaling table").first().locator("tr:has-text('parallel efficiency') .figure");
    assert.equal(await cells.first().innerText(), `${(100 * value).toFixed(1)} %`);
    assert.notEqual(await cells.first().evaluate((cell) => getComputedStyle(cell).backgroundColor), "rgba(0, 0, 0, 0)");
    await close();
});
