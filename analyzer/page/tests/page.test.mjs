// The page in a real browser: every panel draws, says what the data say, obeys nobody's names, and needs no mouse.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { PICTURE, cell, colouredPictures, colouredPixels, coloursIn, drawn, launch, open, placeIn, show, widest } from "./browser.mjs";
import { dataOf, unpack } from "./data.mjs";
import { count, percent, seconds } from "./words.mjs";

const PANELS = ["summary", "code", "callsites", "iterations", "timeline", "overtime", "waiting", "communication", "whatif", "stages", "patterns", "overheads", "facts", "glossary"];

let browser;
before(async () => (browser = await launch()));
after(() => browser.close());

/** A cell that tells a time, whatever the unit of its column. */
function tells(cell, time) {
    const [, number, decimals, unit] = /^(\d+(?:\.(\d+))?) (s|ms|µs)$/.exec(cell) ?? assert.fail(`${cell} is no time`);
    const scale = { s: 1, ms: 1e3, µs: 1e6 }[unit];
    assert.ok(Math.abs(Number(number) - time * scale) <= 0.501 * 10 ** -(decimals?.length ?? 0), `${cell} is not ${time} s`);
}

const missing = (page, id) => page.$eval(`#panel-${id}`, (panel) => panel.querySelector(".body > .missing:not(:empty)")?.textContent ?? "");

test("every chart shows its series, of loops that were found as well", async () => {
    // Of a found loop the first iteration has no value; a line across the plot has hundreds of pixels, the legend's marks a few dozen at most.
    for (const name of ["small", "found", "large"]) {
        const { page, complaints, close } = await open(browser, name);
        const drawn = [];
        for (const id of PANELS) {
            await show(page, id);
            for (const { label, coloured } of await colouredPixels(page)) {
                assert.ok(coloured > 200, `${name}, ${id}: the chart "${label}" has ${coloured} coloured pixels`);
                drawn.push(id);
            }
        }
        assert.ok(drawn.includes("iterations"), `${name} has charts of iterations: ${drawn}`);
        assert.deepEqual(complaints, []);
        await close();
    }
});

for (const name of ["small", "hostile", "large"]) {
    test(`every panel of ${name} draws, without a complaint`, async () => {
        const { page, complaints, close } = await open(browser, name);
        for (const id of PANELS) {
            await show(page, id, { mouse: true });
            assert.equal(await missing(page, id), "", `${id} has data`);
            for (const colours of await coloursIn(page, id)) {
                assert.ok(colours > 2, `a picture of ${id} has ${colours} colours`);
            }
            const empty = await page.$$eval(`#panel-${id} table`, (tables) => tables.filter((table) => table.tBodies[0].rows.length === 0).map((table) => table.caption?.textContent));
            // uPlot's legends are tables, too, with their rows in the body.
            assert.deepEqual(empty, [], `tables of ${id} have rows`);
        }
        const pictures = await page.$$eval(".picture", (all) => all.length);
        // The large run has no samples, and so no function stacks.
        assert.equal(pictures, name === "large" ? 8 : 9, "bars by rank, heat map in small, heat map, patterns, tracks, timeline, function stacks, who waits for whom, who sends to whom");
        assert.deepEqual(complaints, []);
        await close();
    });
}

test("a run recorded as sums says what it cannot show", async () => {
    const { page, complaints, close } = await open(browser, "sums");
    await show(page, "waiting");
    assert.match(await missing(page, "waiting"), /not known/);
    await show(page, "timeline");
    assert.match(await missing(page, "timeline"), /no timeline/);
    assert.deepEqual(complaints, []);
    await close();
});

test("functions are by themselves, and by samples the slowest rank is beside the mean", async () => {
    const { report } = dataOf("small");
    const rows = report.call_tree;
    const { page, complaints, close } = await open(browser, "small");
    await show(page, "code");
    const choices = page.locator("#panel-code .controls select");
    const red = rows.find((row) => row.kind === "function" && row.excess_s > 0);
    assert.ok(red, "the slowest rank spends more in a function");
    await page.locator("#panel-code .controls select:visible").nth(1).selectOption("slowest");
    const box = page.locator("#panel-code .icicle .box", { hasText: red.name }).first();
    assert.notEqual(await box.evaluate((one) => one.style.background), "", "it has a colour");
    await choices.nth(0).selectOption("functions");
    const functions = await page.locator("#panel-code .icicle .box").count();
    assert.ok(functions > 1 && functions < rows.length);
    const tables = page.locator("#panel-code table:visible");
    const parts = page.locator("#panel-code .body > div:last-of-type select");
    const [threads] = report.functions.other_threads;
    assert.deepEqual([threads.call_mpi, await parts.count(), await tables.count()], [false, 2, 3]);
    await parts.nth(0).selectOption("1");
    assert.equal(await tables.nth(1).locator("tbody tr").count(), report.functions.regions[0].functions.length);
    await parts.nth(1).selectOption("1");
    assert.equal(await tables.nth(2).locator("tbody tr").count(), threads.regions[0].functions.length);
    assert.match(await tables.nth(2).locator("tbody").textContent(), /^scenario100/);
    await choices.nth(0).selectOption("callers");
    await page.locator("#panel-code .controls select:visible").nth(1).selectOption(red.name);
    const around = rows[red.parent];
    assert.match(await page.textContent("#panel-code .code-rows tbody"), new RegExp(`^.?${red.name}`));
    assert.ok(around.kind !== "function" || (await page.textContent("#panel-code .code-rows tbody")).includes(around.name));
    assert.deepEqual(complaints, []);
    await close();
});

test("where calls can't be matched it says why nothing is predicted", async () => {
    const { report } = dataOf("gaps");
    assert.deepEqual([report.predictions.length, report.critical_path === null], [0, false]);
    const { page, complaints, close } = await open(browser, "gaps");
    await show(page, "whatif");
    assert.match(await page.textContent("#panel-whatif .body"), /otherwise is not known: the logs do not show what some calls/);
    await show(page, "summary");
    assert.doesNotMatch(await page.textContent("#panel-summary .body"), /What the run would take if/);
    assert.deepEqual(complaints, []);
    await close();
});

test("the summary says what the report says", async () => {
    const { report } = dataOf("small");
    const { page, close } = await open(browser, "small");
    const { sentence, lines } = report.verdict.answer;
    const plain = (texts) => texts.map((text) => text.replaceAll("\u00a0", " "));
    assert.deepEqual(plain(await page.locator("#verdict > p").allTextContents()), [sentence]);
    assert.deepEqual(plain(await page.locator("#verdict dt").allTextContents()), lines.map(({ label }) => label));
    assert.deepEqual(plain(await page.locator("#verdict dd").allTextContents()), lines.map(({ text }) => text));
    const shown = (name) => page.textContent(`tr[data-efficiency="${name}"] .value`);
    assert.equal(await shown("parallel efficiency"), percent(report.efficiency.parallel));
    assert.equal(await shown("load balance"), percent(report.efficiency.load_balance));
    assert.equal(await shown("communication efficiency"), percent(report.efficiency.communication));
    assert.equal(await shown("micro load balance"), percent(report.efficiency.micro_load_balance));
    assert.equal(await shown("transfer"), percent(report.efficiency.transfer));
    const told = (await page.locator(".losses li").allTextContents()).map((text) => text.replaceAll("\u00a0", " "));
    assert.ok(told.length > 0 && told.every((text, at) => text.startsWith(report.findings.filter(({ seconds }) => seconds > 0)[at].sentence)), told.join("\n"));
    await page.click('tr[data-efficiency="load balance"] a');
    // Its numbers lead to the panels.
    await page.waitForSelector("#panel-iterations:not([hidden])");
    await close();
});

test("the call tree has boxes as wide as what they weigh, which zoom, and are found", async () => {
    const { report } = dataOf("small");
    const rows = report.call_tree;
    const { page, complaints, close } = await open(browser, "small");
    await show(page, "code");
    const width = (name) => page.$$eval(".icicle .box", (boxes, wanted) => boxes.filter((box) => box.textContent === wanted).reduce((sum, box) => sum + parseFloat(box.style.width), 0), name);
    const nodes = (name) => rows.filter((row) => row.name === name);
    const share = (name, of) => (100 * nodes(name).reduce((sum, row) => sum + row[of], 0)) / rows[0][of];
    assert.ok(nodes("halo").length > 0 && nodes("force").length > 0);
    assert.ok(Math.abs((await width("halo")) - share("halo", "time_s")) < 0.01);
    // What is computed between the calls is in the functions that samples show.
    const computing = rows.filter((row) => row.kind === "function" && row.at === null && row.cpu_s > 0);
    assert.ok(computing.length > 0, "samples show functions");
    for (const { name } of computing) {
        assert.ok(Math.abs((await width(name)) - share(name, "time_s")) < 0.01, name);
    }
    const weigh = (id) => page.selectOption("#panel-code .controls label:nth-of-type(3) select", id);
    for (const [id, of] of [["computation", "computation_s"], ["waiting", "waiting_s"], ["caused", "caused_s"], ["lost", "lost_s"]]) {
        await weigh(id);
        assert.ok(Math.abs((await width("halo")) - share("halo", of)) < 0.01, id);
    }
    await weigh("time");
    // By mouse, then by keys.
    const halo = page.locator(".icicle .box", { hasText: /^halo$/ }).first();
    await halo.click();
    assert.equal(await halo.evaluate((box) => box.style.width), "100%");
    await page.keyboard.press("Escape");
    await page.keyboard.press("ArrowDown");
    const [first, parent] = await page.evaluate(() => [document.activeElement.getAttribute("aria-level"), document.activeElement.getAttribute("role")]);
    assert.deepEqual([first, parent], ["2", "treeitem"]);
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement.style.width), "100%", "the focus stays where it was");
    await page.click("#panel-code .controls button");
    await page.fill("#panel-code input", "MPI_Allreduce");
    assert.match(await page.textContent("#panel-code output"), /^1 found, with [\d.]+ % of the time$/);
    assert.equal(await page.locator(".icicle .found").count(), 1);
    const listed = await page.locator("#panel-code .code-rows tbody tr").count();
    const path = (at) => (at === null ? 0 : 1 + path(rows[at].parent));
    assert.equal(listed, path(rows.findIndex((row) => row.name === "MPI_Allreduce")), "it, and what is around it");
    await page.fill("#panel-code input", "nowhere");
    assert.match(await page.textContent("#panel-code tbody"), /Nothing is found/);
    assert.deepEqual(complaints, []);
    await close();
});

test("communication tells who sends to whom, by bytes and by messages", async () => {
    const { report } = dataOf("small");
    const { pairs, message_sizes } = report.communication;
    const { page, complaints, close } = await open(browser, "small");
    await show(page, "communication");
    const [from, to] = [0, 1];
    const pair = pairs.find((one) => one.from === from && one.to === to);
    const tip = async () => {
        const place = await placeIn(page, "communication", (to + 0.5) / 4, (from + 0.5) / 4);
        await page.mouse.move(place.x - 2, place.y);
        await page.mouse.move(place.x, place.y);
        return page.textContent("#tip");
    };
    assert.match(await tip(), new RegExp(`rank 0 to rank 1${(pair.bytes / 1000).toFixed(0)} kB`));
    await page.selectOption("#panel-communication select >> nth=0", "messages");
    assert.match(await tip(), new RegExp(`${pair.messages} messages`));
    assert.equal(await page.textContent('#panel-communication table td:nth-child(2) .value >> nth=0'), count(message_sizes[0].count));
    assert.deepEqual(complaints, []);
    await close();
});

test("the run over time has a bar for each window, as high as the ranks' time in it", async () => {
    const { report } = dataOf("small");
    const { page, complaints, close } = await open(browser, "small");
    await show(page, "overtime");
    assert.equal(await page.locator("#panel-overtime .column").count(), report.windows.length);
    const whole = Math.max(...report.windows.map((row) => row.states.reduce((sum, state) => sum + state.time_s, 0)));
    const computes = report.windows[3].states.find((state) => state.state === "computation").time_s;
    const height = await page.$eval("#panel-overtime .column:nth-child(4) span", (part) => parseFloat(part.style.height));
    assert.ok(Math.abs(height - (100 * computes) / whole) < 0.01);
    assert.deepEqual(complaints, []);
    await close();
});

test("a zoomed window stands in the address, and all views with a time axis show it", async () => {
    const { report, views } = dataOf("small");
    const { page, complaints, close } = await open(browser, "small");
    const width = (id) => page.$eval(`#panel-${id} .in-view`, (line) => line.textContent);
    await show(page, "timeline");
    await page.getByLabel("zoom in").click();
    await page.waitForFunction(() => window.location.hash.includes("?t="));
    const zoomed = await page.evaluate(() => window.location.hash);
    const [from, to] = /t=([\d.]+)-([\d.]+)/.exec(zoomed).slice(1).map(Number);
    assert.ok(Math.abs(to - from - (views.timeline.end_s - views.timeline.begin_s) / 2) < 1e-6);
    await page.waitForFunction(() => /In view/.test(document.querySelector("#panel-timeline .in-view").textContent));
    const said = (await width("timeline")).replaceAll("\u00a0", " ");
    // Half of the run, in which ranks compute about as much as in all of it.
    const share = Number(/computation ([\d.]+) %/.exec(said)[1]);
    assert.ok(Math.abs(share - 100 * report.efficiency.parallel) < 8, said);
    await show(page, "iterations");
    assert.equal(await page.evaluate(() => window.location.hash), zoomed.replace("timeline", "iterations"), "other panels keep it");
    const first = views.iterations.first.length;
    const text = await page.$eval("#panel-iterations canvas", (canvas) => canvas.getAttribute("aria-label"));
    assert.ok(text.includes(`${first} columns`));
    await page.getByRole("button", { name: "show all" }).first().click();
    await page.waitForFunction(() => !window.location.hash.includes("?t="));
    // A colleague opens the address.
    const address = page.url().split("#")[0] + zoomed;
    const other = await page.context().newPage();
    await other.goto(address);
    await other.waitForSelector("#panel-timeline:not([hidden]) .in-view:not(:empty)");
    assert.equal((await other.textContent("#panel-timeline .in-view")).replaceAll("\u00a0", " "), said);
    assert.deepEqual(complaints, []);
    await close();
});

test("the keys of browsers of traces zoom and move in the timeline", async () => {
    const { page, close } = await open(browser, "small");
    await show(page, "timeline");
    const shown = async () => {
        await drawn(page);
        const [, from, to] = /t=([\d.]+)-([\d.]+)/.exec(await page.evaluate(() => location.hash)) ?? [];
        return { from: Number(from), to: Number(to) };
    };
    await page.locator("#panel-timeline .picture canvas[tabindex]").nth(1).focus();
    await page.keyboard.press("w");
    const zoomed = await shown();
    await page.keyboard.press("d");
    const moved = await shown();
    assert.ok(moved.from > zoomed.from && moved.to > zoomed.to, `${JSON.stringify(zoomed)} ${JSON.stringify(moved)}`);
    assert.ok(Math.abs(moved.to - moved.from - (zoomed.to - zoomed.from)) < 1e-3 * zoomed.to);
    await page.keyboard.press("s");
    const { from, to } = await shown();
    assert.ok(!(to - from < 1.2 * (moved.to - moved.from)), "s zooms out");
    await close();
});

test("regions, call sites and ranks are found, wherever they are", async () => {
    const { report } = dataOf("small");
    const { page, complaints, close } = await open(browser, "small");
    const find = (text) => page.fill(".search input", text);
    await find("halo");
    const links = await page.locator(".hits a").allTextContents();
    assert.ok(links.includes("main/step/halo"), links.join());
    await page.click(".hits a >> text=main/step/halo");
    await page.waitForSelector("#panel-patterns:not([hidden]) .found-row");
    assert.equal(await page.textContent("#panel-patterns .found-row td"), "main/step/halo");
    await find(`rank ${report.ranks[3].rank}`);
    await page.click(".hits a >> nth=0");
    await page.waitForSelector("#panel-facts:not([hidden]) .found-row");
    await find("allreduce");
    await page.click(".hits a >> nth=-1");
    await page.waitForSelector("#panel-callsites:not([hidden])");
    assert.notEqual(await page.inputValue("#panel-callsites input"), "");
    await find("no such thing");
    assert.match(await page.textContent(".hits"), /Nothing is found/);
    assert.deepEqual(complaints, []);
    await close();
});

test("tables are saved as CSV, pictures as PNG", async () => {
    const { report } = dataOf("small");
    const { page, complaints, close } = await open(browser, "small");
    const saved = async (button) => {
        const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
        return [download.suggestedFilename(), readFileSync(await download.path())];
    };
    await show(page, "callsites");
    const [name, csv] = await saved(page.locator("#panel-callsites .save"));
    assert.match(name, /^lbprof-call-sites.*\.csv$/);
    const lines = csv.toString().trimEnd().split("\r\n");
    assert.equal(lines.length, report.callsites.length + 1);
    assert.ok(lines[0].startsWith("call,at,mean [s]"), lines[0]);
    assert.ok(lines[1].includes(String(report.callsites[0].mean_s)), "with all digits");
    await show(page, "iterations");
    const [, png] = await saved(page.locator("#panel-iterations .picture .save"));
    assert.equal(png.subarray(1, 4).toString(), "PNG");
    const [, chart] = await saved(page.locator("#panel-iterations .chart .save").first());
    assert.equal(chart.subarray(1, 4).toString(), "PNG");
    assert.deepEqual(complaints, []);
    await close();
});

test("the page is usable on a phone", async () => {
    for (const name of ["small", "hostile"]) {
        const { page, close } = await open(browser, name, { width: 390 });
        for (const id of PANELS) {
            await show(page, id, { mouse: name === "small" });
            const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
            assert.ok(overflow <= 0, `${name}, ${id}: ${overflow} pixels too wide: ${await widest(page)}`);
        }
        await close();
    }
});

test("rows of the call tree fold", async () => {
    const { page, close } = await open(browser, "small");
    await show(page, "code");
    const lines = page.locator("#panel-code .code-rows tbody tr");
    const all = await lines.count();
    const fold = page.locator("#panel-code .fold[aria-expanded=true]").first();
    await fold.focus();
    await page.keyboard.press("Enter");
    assert.equal(await lines.count(), 1);
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-expanded")), "false", "the focus stays");
    await page.keyboard.press("Enter");
    assert.equal(await lines.count(), all);
    await close();
});

test("the heat map tells the packed value under the pointer", async () => {
    const { report, views } = dataOf("small");
    const of = views.iterations;
    const values = unpack(of.computation);
    const { page, close } = await open(browser, "small");
    await show(page, "iterations");
    for (const [rank, iteration] of [[0, 4], [2, 11], [3, 19]]) {
        const place = await placeIn(page, "iterations", (iteration + 0.5) / of.columns, (rank + 0.5) / 4);
        await page.mouse.move(place.x, place.y);
        const tip = await page.innerText("#tip");
        assert.match(tip, new RegExp(`rank ${rank} on node${Math.floor(rank / 2)}`));
        assert.ok(tip.includes(`iteration ${iteration}\n`), tip);
        assert.ok(tip.includes(`computation ${seconds(values[rank * of.columns + iteration])}`), tip);
    }
    const longest = report.iterations.per_iteration[19].max_s;
    assert.ok((await page.innerText("#tip")).includes(`longest ${seconds(longest)}`), "as --json says of the iteration");
    await close();
});

test("sorted by load the heat map has the rank with most computation first", async () => {
    const { report, views } = dataOf("small");
    const values = unpack(views.iterations.computation);
    const sums = report.ranks.map((_, row) => values.slice(row * 20, row * 20 + 20).reduce((a, b) => a + b));
    const { page, close } = await open(browser, "small");
    await show(page, "iterations");
    await page.getByLabel("sort by").nth(0).selectOption("load");
    const place = await placeIn(page, "iterations", 0.5, 0.1);
    await page.mouse.move(place.x, place.y);
    assert.match(await page.innerText("#tip"), new RegExp(`^rank ${sums.indexOf(Math.max(...sums))} `));
    await close();
});

test("zooming the heat map zooms the charts beside it, and a brush in a chart the heat map", async () => {
    const { page, close } = await open(browser, "small");
    await show(page, "iterations");
    const from = await placeIn(page, "iterations", 0.25, 0.5);
    const to = await placeIn(page, "iterations", 0.5, 0.5);
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move(to.x, to.y, { steps: 4 });
    await page.mouse.up();
    // Iterations 5 to 10 of 20 fill the picture now: its first quarter is iteration 6.
    const place = await placeIn(page, "iterations", 0.3, 0.5);
    await page.mouse.move(place.x, place.y);
    assert.match(await page.innerText("#tip"), /iteration 6\n/);
    const chart = await page.locator("#panel-iterations .u-over").first().boundingBox();
    await page.mouse.move(chart.x + chart.width * 0.5, chart.y + 20);
    await page.mouse.down();
    await page.mouse.move(chart.x + chart.width * 0.99, chart.y + 20, { steps: 4 });
    await page.mouse.up();
    await page.mouse.move(place.x, place.y);
    const seen = /iteration (\d+)\n/.exec(await page.innerText("#tip"));
    assert.ok(seen && Number(seen[1]) >= 7 && Number(seen[1]) <= 9, `iteration ${seen?.[1]} of 7.5 to 10`);
    await close();
});

test("chosen ranks and stages have the sums that the report has", async () => {
    const { report, views } = dataOf("small");
    const { page, complaints, close } = await open(browser, "small");
    await show(page, "stages");
    const ranks = page.getByLabel("ranks", { exact: true });
    const stages = page.getByLabel("stages", { exact: true });
    const total = (column) => cell(page, "stages", "What was chosen", "computation", column);

    await ranks.fill("2");
    await ranks.press("Enter");
    tells(await total("these ranks in the whole run"), report.ranks[2].computation_s);
    const own = unpack(views.iterations.computation).slice(40, 60);
    tells(await total("all ranks"), own.reduce((a, b) => a + b));

    await ranks.fill("0-:2");
    await ranks.press("Enter");
    tells(await total("these ranks in the whole run"), report.ranks[0].computation_s + report.ranks[2].computation_s);
    await ranks.fill("host=node1");
    await ranks.press("Enter");
    tells(await total("these ranks in the whole run"), report.ranks[2].computation_s + report.ranks[3].computation_s);

    // A stage of two iterations is the sum of both; --json has the mean of the ranks.
    await ranks.fill("");
    await ranks.press("Enter");
    await page.getByLabel("stage length").fill("2");
    await page.getByLabel("stage length").press("Enter");
    await stages.fill("3");
    await stages.press("Enter");
    const both = report.iterations.per_iteration.slice(6, 8).reduce((sum, one) => sum + one.mean_s, 0);
    tells(await total("mean of a rank"), both);
    tells(await total("all ranks"), 4 * both);

    await ranks.fill("seven");
    await ranks.press("Enter");
    assert.match(await page.textContent("#panel-stages [role=alert]"), /no list of ranks/);
    assert.deepEqual(complaints, []);
    await close();
});

test("a click on a rank shows it alone by stage", async () => {
    const { report } = dataOf("small");
    const { page, close } = await open(browser, "small");
    await show(page, "stages");
    const chart = await page.locator("#panel-stages .u-over").nth(1).boundingBox();
    await page.mouse.click(chart.x + chart.width * 0.12, chart.y + chart.height - 10);
    assert.match(await page.innerText("#panel-stages .only"), /only rank 0/);
    tells(await cell(page, "stages", "What was chosen", "computation", "these ranks in the whole run"), report.ranks[0].computation_s);
    await page.click("#panel-stages .only button");
    assert.equal(await page.innerText("#panel-stages .only"), "");
    await close();
});

test("the keyboard chooses a rank and a stage in charts", async () => {
    const { report } = dataOf("small");
    const { page, complaints, close } = await open(browser, "small");
    await show(page, "stages");
    const chart = (number) => page.locator("#panel-stages .u-over").nth(number);
    const press = async (...keys) => {
        for (const key of keys) {
            await page.keyboard.press(key);
        }
    };
    await chart(1).focus();
    await press("ArrowRight", "ArrowRight", "ArrowRight", "Enter");
    assert.match(await page.innerText("#panel-stages .only"), /only rank 2/);
    tells(await cell(page, "stages", "What was chosen", "computation", "these ranks in the whole run"), report.ranks[2].computation_s);
    // The focus stays where it was, and so does the cursor.
    await press("ArrowLeft", "Enter");
    assert.match(await page.innerText("#panel-stages .only"), /only rank 1/);
    await press("Enter");
    assert.equal(await page.innerText("#panel-stages .only"), "");
    await chart(0).focus();
    await press("End", "Enter");
    assert.match(await page.innerText("#panel-stages .only"), /only stage 19 /);
    assert.deepEqual(complaints, []);
    await close();
});

test("where the ideal time is not known well, ratios are not told as if it were", async () => {
    for (const name of ["small", "hostile", "sums"]) {
        const { efficiency: of } = dataOf(name).report;
        const { page, close } = await open(browser, name);
        const rows = page.locator('tr[data-efficiency="transfer"] .value');
        const told = await rows.allTextContents();
        const longest = Math.min(of.t_ideal_phase_profile_s + of.t_ideal_phase_profile_bound_s, of.elapsed_s);
        if (of.t_ideal_certain) {
            assert.deepEqual(told, [percent(of.transfer)]);
        } else if (of.t_ideal_phase_profile_s === null) {
            assert.deepEqual(told, []);
            assert.match(await page.innerText("#panel-summary"), /need iterations/);
        } else {
            assert.deepEqual(told, [`${percent(of.transfer)} to ${percent(longest / of.elapsed_s)}`]);
        }
        await close();
    }
});

test("a wait is told with its rank, state and the rank that ended it", async () => {
    const { views } = dataOf("small");
    const { waits, begin_s, end_s } = views.timeline;
    const [ranks, begins, ends, states, delaySources] = [waits.rank, waits.begin_s, waits.end_s, waits.state, waits.delay_source].map(unpack);
    const longest = begins.reduce((best, _, at) => (ends[at] - begins[at] > ends[best] - begins[best] ? at : best), 0);
    const { page, close } = await open(browser, "small");
    await show(page, "timeline");
    const middle = ((begins[longest] + ends[longest]) / 2 - begin_s) / (end_s - begin_s);
    const place = await placeIn(page, "timeline", middle, (ranks[longest] + 0.5) / 4);
    await page.mouse.click(place.x, place.y);
    const told = await page.innerText("#panel-timeline .details");
    assert.ok(told.includes(`Rank ${ranks[longest]} waits ${seconds(ends[longest] - begins[longest])}`), told);
    assert.ok(told.includes(waits.states[states[longest]]), told);
    assert.ok(told.includes(`Rank ${delaySources[longest]} ended it`), told);
    const marked = await page.$eval("#panel-timeline .picture:not(.tracks) canvas.above", (canvas) => new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer).some((pixel) => pixel !== 0));
    assert.ok(marked, "the wait and its delay source are outlined");
    await close();
});

test("the matrix of waiting tells the pairs", async () => {
    const { report } = dataOf("small");
    const { page, close } = await open(browser, "small");
    await show(page, "waiting");
    const pair = report.blocking.pairs[0];
    const place = await placeIn(page, "waiting", (pair.delay_source + 0.5) / 4, (pair.waiting_rank + 0.5) / 4);
    await page.mouse.move(place.x, place.y);
    const tip = await page.innerText("#tip");
    assert.ok(tip.includes(`rank ${pair.waiting_rank} waits ${seconds(pair.time_s)}`), tip);
    await close();
});

test("patterns tell the letter of each rank", async () => {
    const { report } = dataOf("small");
    const pattern = report.dispersion.patterns[0];
    const words = { m: "the shortest time", l: "lower 15 %", "-": "between", u: "upper 15 %", M: "the longest time" };
    const rows = report.dispersion.patterns.filter((one) => one.activity === pattern.activity).length;
    const { page, close } = await open(browser, "small");
    await show(page, "patterns");
    for (const rank of [0, 1, 2, 3]) {
        const place = await placeIn(page, "patterns", (rank + 0.5) / 4, 0.5 / rows, 250);
        await page.mouse.move(place.x, place.y);
        assert.ok((await page.innerText("#tip")).includes(words[pattern.ranks[rank]]), `rank ${rank} of ${pattern.ranks}`);
    }
    await close();
});

test("a table is sorted by the column that is pressed", async () => {
    const { report } = dataOf("small");
    const { page, close } = await open(browser, "small");
    await show(page, "facts");
    const column = async () => page.$$eval("#panel-facts table", (tables) => [...tables.find((one) => one.caption.textContent === "Ranks").tBodies[0].rows].map((row) => Number(row.cells[0].textContent)));
    await page.click("#panel-facts th button:text('waits')");
    const waits = report.ranks.map((rank) => rank.blocked_s);
    assert.deepEqual(await column(), [0, 1, 2, 3].sort((a, b) => waits[b] - waits[a]));
    await page.click("#panel-facts th button:text('rank')");
    await page.click("#panel-facts th button:text('rank')");
    assert.deepEqual(await column(), [0, 1, 2, 3]);
    await close();
});

test("hostile names stay text", async () => {
    const { report } = dataOf("hostile");
    const { page, complaints, close } = await open(browser, "hostile");
    const elements = () => page.$$eval("script, img, b", (all) => all.map((one) => one.tagName).filter((name) => name !== "B"));
    const before = await elements();
    for (const id of PANELS) {
        await show(page, id);
    }
    assert.deepEqual(await elements(), before, "no element comes from a name");
    assert.equal(before.includes("IMG"), false);
    assert.doesNotMatch(await page.title(), /taken/);
    const text = await page.textContent("#panel-patterns");
    const hostile = report.regions.find((region) => region.path.includes("<img"));
    assert.ok(text.includes(hostile.path), "the name is shown as it is");
    assert.ok((await page.textContent("#panel-facts")).includes("</script><b>host</b>0"));
    assert.deepEqual(complaints, []);
    await close();
});

test("the keyboard reaches every panel, and moves in pictures", async () => {
    const { views } = dataOf("small");
    const values = unpack(views.iterations.computation);
    const { page, close } = await open(browser, "small");
    const focused = () => page.evaluate(() => document.activeElement.getAttribute("href"));
    const reached = new Set();
    for (let i = 0; i < 24; i++) {
        await page.keyboard.press("Tab");
        reached.add(await focused());
    }
    for (const link of await page.$$eval("nav a", (all) => all.map((one) => one.getAttribute("href")))) {
        assert.ok(reached.has(link), `Tab reaches ${link}`);
    }
    await page.focus('nav a[href="#iterations"]');
    await page.keyboard.press("Enter");
    await page.waitForSelector("#panel-iterations:not([hidden])");
    let steps = 0;
    while (!(await page.evaluate(() => document.activeElement.matches(".picture canvas"))) && steps++ < 20) {
        await page.keyboard.press("Tab");
    }
    for (const key of ["ArrowRight", "ArrowRight", "ArrowRight", "ArrowDown"]) {
        await page.keyboard.press(key);
    }
    const said = await page.innerText("#panel-iterations .readout");
    assert.ok(said.includes("rank 1 ") && said.includes("iteration 2 ") && said.includes(seconds(values[22])), said);
    await page.keyboard.press("/");
    assert.ok(await page.evaluate(() => document.activeElement.matches(".search input")), "/ leads to the search");
    await close();
});

test("terms are explained on hover and on focus, in the glossary's words", async () => {
    const { page, close } = await open(browser, "small");
    await page.focus('[data-term="transfer"]');
    assert.match(await page.innerText("#tip"), /network costs nothing/);
    await page.keyboard.press("Escape");
    assert.equal(await page.isVisible("#tip"), false);
    await page.hover('[data-term="micro load balance"]');
    assert.match(await page.innerText("#tip"), /different ranks are slow in turn, or depend on each other in chains/);
    await close();
});

test("dark and light", async () => {
    const back = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await open(browser, "small");
    const dark = await open(browser, "small", { scheme: "dark" });
    const colours = [await back(light.page), await back(dark.page)];
    assert.notEqual(colours[0], colours[1], "as the system has it");
    await dark.page.click("button:text('dark / light')");
    assert.equal(await back(dark.page), colours[0], "until the reader chooses");
    await show(dark.page, "iterations");
    assert.deepEqual(dark.complaints, []);
    await light.close();
    await dark.close();
});

test("without scripts the text report stands there", async () => {
    const { report } = dataOf("small");
    const { page, close } = await open(browser, "small", { script: false });
    const text = (await page.innerText("noscript, body")).replaceAll(/\s+/g, " ");
    assert.ok(text.includes(report.verdict.text.slice(0, 60)), text.slice(0, 300));
    await close();
});

test("printing makes a PDF of all panels", async () => {
    const { page, complaints, close } = await open(browser, "small", { scheme: "dark" });
    const pdf = (await page.pdf({ format: "A4", landscape: true })).toString("latin1");
    const pages = pdf.match(/\/Type \/Page\b/g).length;
    assert.ok(pages >= PANELS.length, `${pages} pages`);
    assert.equal(await page.locator("section:visible").count(), 1, "afterwards one panel is shown, as before");
    assert.deepEqual(complaints, []);
    await close();
});

/** The fonts of a machine are not known: its own, a wide one, and one wider than any. */
const FONTS = {
    "its own font": "",
    "a wide font": '* { font-family: "DejaVu Sans", Verdana, sans-serif !important; letter-spacing: 0.6px; }',
    "a very wide font": '* { font-family: "DejaVu Sans Mono", monospace !important; letter-spacing: 2px; }',
};

for (const name of ["small", "hostile", "large"]) {
    for (const [font, style] of Object.entries(FONTS)) {
        test(`${name} fits a window of 900 pixels in ${font}`, async () => {
            const { page, close } = await open(browser, name, { width: 900 });
            await page.evaluate((text) => document.head.append(Object.assign(document.createElement("style"), { textContent: text })), style);
            for (const id of PANELS) {
                await show(page, id);
                const [wide, window] = await page.evaluate(() => [document.scrollingElement.scrollWidth, innerWidth]);
                assert.ok(wide <= window, `${id} is ${wide} wide because of ${wide > window ? await widest(page) : ""}`);
            }
            await close();
        });
    }
}

/** Of the lines of pixels of a picture's plot, those that hold `row` of `rows` and a few beside it: the pixel at the share `x` of each. */
async function pixelsNear(page, id, row, rows, x) {
    return page.$eval(
        `#panel-${id} ${PICTURE}`,
        (canvas, [row, rows, x]) => {
            const height = canvas.height - 26;
            const y = Math.floor(4 + ((row + 0.5) / rows) * height);
            // Read from a copy: the browser complains of a canvas that is read often.
            const copy = new OffscreenCanvas(1, 25).getContext("2d");
            copy.drawImage(canvas, -Math.round(92 + x * (canvas.width - 104)), 12 - y);
            const { data } = copy.getImageData(0, 0, 1, 25);
            return [...new Uint32Array(data.buffer)].map((abgr) => abgr.toString(16));
        },
        [row, rows, x],
    );
}

test("of 4,096 ranks a single slow one is seen, marked and listed", async () => {
    const { views } = dataOf("slow");
    const of = views.iterations;
    const row = 586; // Of rank 2345, with those from 2344 to 2347.
    assert.deepEqual([views.ranks.rows, views.ranks.per_row, of.columns, of.outliers.ranks], [1024, 4, 4, [2345]]);
    assert.ok(Math.abs(unpack(of.computation)[row * 4] - 0.0001125) < 2e-6 && Math.abs(unpack(of.longest)[row * 4] - 0.00015) < 1e-6);
    for (const scheme of ["light", "dark"]) {
        const { page, complaints, close } = await open(browser, "slow", { scheme });
        await show(page, "iterations");
        assert.match(await page.innerText("#panel-iterations .legend"), /the longest of several ranks/);
        const [ink, back] = await page.evaluate(() => {
            const { color, backgroundColor } = getComputedStyle(document.body);
            return [color, backgroundColor].map((one) => one.match(/\d+/g).slice(0, 3).reverse().reduce((text, part) => text + Number(part).toString(16).padStart(2, "0"), "ff"));
        });
        // From zero to 300 µs, where the slow rank's last iteration ends the colours: it has the middle of them, and its neighbours a third.
        const near = await pixelsNear(page, "iterations", row, 1024, 0.1);
        const green = (pixels) => Math.max(...pixels.filter((pixel) => pixel !== ink && pixel !== back).map((pixel) => parseInt(pixel.slice(4, 6), 16)));
        const elsewhere = await pixelsNear(page, "iterations", 200, 1024, 0.1);
        assert.ok(green(near) > green(elsewhere) + 25, `${near} with the slow rank's row, ${elsewhere} without`);
        assert.equal(near.filter((pixel) => pixel === ink).length, 2, `an outline of ${ink} around it: ${near}`);
        assert.equal(elsewhere.includes(ink), false, "and around no other");
        // Their mean hides it.
        await page.getByLabel("of several ranks").selectOption("mean");
const [mean, elsewhereByMean] = [await pixelsNear(page, "iterations", row, 1024, 0.1), await pixelsNear(page, "iterations", 200, 1024, 0.1)];
        assert.ok(green(mean) - green(elsewhereByMean) < green(near) - green(elsewhere) - 10, "it is the longest that is seen");
        await page.getByLabel("of several ranks").selectOption("longest");
        assert.match((await page.innerText("#panel-iterations .outliers")).replaceAll(/\s/g, " "), /^1 outlier .* rank 2345 750\.0 µs \(\+50\.0 %\)$/);
        // The row has a height, once zoomed to, and tells both.
        await page.click("#panel-iterations .outliers button");
        await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
        const place = await placeIn(page, "iterations", 0.1, 8.5 / 17);
        await page.mouse.move(place.x, place.y);
        const tip = await page.innerText("#tip");
        assert.match(tip, /^ranks 2344 to 2347 on node36\n/);
        assert.match(tip, /computation 11\d\.\d µs, mean of these ranks\nthe longest of them 150\.0 µs/);
        await show(page, "timeline");
        assert.ok((await pixelsNear(page, "timeline", row, 1024, 0.5)).includes(ink), "marked in the timeline");
        assert.deepEqual(complaints, []);
        await close();
    }
});

test("of many ranks the timeline shows as much of each state as there is", async () => {
    const { views } = dataOf("slow");
    const { page, close } = await open(browser, "slow");
    await show(page, "timeline");
    const shares = Object.fromEntries(Object.entries(views.timeline.share).map(([state, packed]) => [state, unpack(packed)]));
    const mean = (state) => shares[state].reduce((a, b) => a + b) / shares[state].length;
    const seen = await page.$eval(`#panel-timeline ${PICTURE}`, (canvas) => {
        const { data } = canvas.getContext("2d").getImageData(110, 10, canvas.width - 140, 150);
        const pixels = new Uint32Array(data.buffer);
        const share = (abgr) => pixels.filter((pixel) => pixel === abgr).length / pixels.length;
        return { computation: share(0xffb27200), waiting: share(0xff005ed5) };
    });
    for (const state of ["computation", "waiting"]) {
        assert.ok(Math.abs(seen[state] - mean(state)) < 0.05, `${state}: ${seen[state]} of the picture, ${mean(state)} of the time`);
    }
    await close();
});

test("the large run tells each of its ranks and iterations", async () => {
    const { report, views } = dataOf("large");
    const { page, close } = await open(browser, "large");
    assert.ok((await page.innerText("header")).replaceAll("\u00a0", " ").includes(`${count(report.run.ranks)} ranks`));
    await show(page, "facts");
    assert.ok((await page.textContent("#panel-facts")).includes(count(report.run.events)));
    const of = views.iterations;
    const values = unpack(of.computation);
    await show(page, "iterations");
    const [x, y] = [0.371, 0.842];
    const place = await placeIn(page, "iterations", x, y);
    await page.mouse.move(place.x, place.y);
    const tip = await page.innerText("#tip");
    const row = views.ranks.first.indexOf(Number(/^ranks? (\d+)/.exec(tip)[1]));
    const column = of.first.indexOf(Number(/iterations? (\d+)/.exec(tip)[1]));
    assert.ok(Math.abs(row / views.ranks.rows - y) < 0.01 && Math.abs(column + 0.5 - x * of.columns) < 0.5 + 0.01 * of.columns, tip);
    assert.ok(tip.includes(seconds(values[row * of.columns + column])), tip);
    await close();
});
