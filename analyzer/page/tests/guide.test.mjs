// From the answer to its cause: links with a rank, a region and iterations lead to pictures in which these are marked.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { after, before, test } from "node:test";
import { PICTURE, colouredPictures, drawn, launch, open, panelsOf, placeIn, show } from "./browser.mjs";
import { dataOf, packed, pageWith, unpack } from "./data.mjs";
import { percent, seconds } from "./words.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser.close());

const plain = (text) => text.replaceAll("\u00a0", " ");

/** How many pixels of what lies above a panel's first picture are not transparent. */
const marks = (page, id) =>
    page.$eval(`#panel-${id} .picture:not(.tracks) canvas.above`, (canvas) => {
        // Read from a copy: the browser complains of a canvas that is read often.
        const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
        copy.drawImage(canvas, 0, 0);
        return new Uint32Array(copy.getImageData(0, 0, canvas.width, canvas.height).data.buffer).filter((pixel) => pixel !== 0).length;
    });

test("every link of the answer leads to a panel that shows what it names", async () => {
    for (const name of ["small", "slow", "found", "sums"]) {
        const { report } = dataOf(name);
        const { page, complaints, close } = await open(browser, name);
        const links = await page.$$eval("#verdict a, .losses a, .lost-parts a", (all) => all.map((one) => [one.getAttribute("href"), one.textContent]));
        assert.ok(links.length >= 1 + Math.min(report.findings.filter(({ share }) => share >= 0.01).length, 3), `${name}: ${links.join()}`);
        for (const [href, text] of links) {
            await page.goto(`${page.url().split("#")[0]}${href}`);
            const id = /^#(\w+)/.exec(href)[1];
            await page.waitForSelector(`#panel-${id}:not([hidden])`);
            await drawn(page);
            assert.equal(await page.locator(`#panel-${id} .body > .missing:not(:empty)`).count(), 0, `${name}: ${text} leads to ${href}, where there is nothing`);
            const rank = /rank=(\d+)/.exec(href)?.[1];
            if (rank) {
                assert.match(await page.textContent(`#panel-${id} .pointed-out`), new RegExp(`rank ${rank}\\b`));
                const isMarked = ["iterations", "timeline", "waiting"].includes(id) ? (await marks(page, id)) > 0 : id === "code" || (await page.locator(`#panel-${id} .selected-row`).count()) > 0;
                assert.ok(isMarked, `${name}: ${href} marks rank ${rank}`);
            }
        }
        assert.deepEqual(complaints, []);
        await close();
    }
});

test("each finding has links with its rank and its region", async () => {
    const { report } = dataOf("small");
    const [finding] = report.findings.filter(({ seconds }) => seconds > 0);
    const [[rank], { region }] = [finding.ranks, finding.place];
    const { page, close } = await open(browser, "small");
    const links = await page.$$eval(".losses li:first-child a", (all) => all.map((one) => decodeURIComponent(one.getAttribute("href"))));
    const wanted = `rank=${rank}&region=${region}`;
    for (const panel of ["iterations", "code", "waiting"]) {
        assert.ok(links.includes(`#${panel}?${wanted}`), `${panel}: ${links}`);
    }
    await page.click(`.losses li:first-child a[href^="#waiting"]`);
    await page.waitForSelector("#panel-waiting:not([hidden]) .selected-row");
    const cause = report.blocking.causes.find((one) => one.rank === rank && one.region === region);
    assert.ok((await page.textContent("#causes .selected-row")).includes(String(cause.rank)));
    await page.click("#panel-waiting .pointed-out a");
    await page.waitForSelector("#panel-waiting .pointed-out", { state: "hidden" });
    assert.equal(await page.locator("#panel-waiting .selected-row").count(), 0, "clear");
    await close();
});

test("the bars of ranks are as long as what they do, and the slow rank is marked", async () => {
    const { report } = dataOf("small");
    const { page, close } = await open(browser, "small");
    const lengths = await page.$eval("#panel-summary .picture canvas", (canvas) => {
        const [width, rows, left] = [canvas.width - 96, 4, 84];
        const image = canvas.getContext("2d").getImageData(left, 0, width, canvas.height);
        const pixels = new Uint32Array(image.data.buffer);
        const height = (canvas.height - 26) / rows;
        const count = (row, abgr) => {
            const y = Math.round(4 + (row + 0.3) * height);
            return pixels.slice(y * width, (y + 1) * width).filter((pixel) => pixel === abgr).length / width;
        };
        return [0, 1, 2, 3].map((row) => [count(row, 0xffb27200), count(row, 0xff005ed5)]);
    });
    for (const [row, [computation, waiting]] of lengths.entries()) {
        const rank = report.ranks[row];
        assert.ok(Math.abs(computation - rank.computation_s / report.run.elapsed_s) < 0.02, `rank ${row} computes ${computation}`);
        assert.ok(Math.abs(waiting - rank.blocked_s / report.run.elapsed_s) < 0.02, `rank ${row} waits ${waiting}`);
    }
    assert.ok((await page.textContent("#panel-summary .overview")).includes(`rank ${report.verdict.worst.rank}`));
    await close();
});

test("a click in iterations × ranks opens the timeline at that iteration", async () => {
    const { views } = dataOf("small");
    const begins = unpack(views.iterations.begin_s);
    const { page, complaints, close } = await open(browser, "small");
    for (const id of ["iterations", "summary"]) {
        await show(page, id);
        const picture = page.locator(`#panel-${id} ${PICTURE}:not(.above)`).nth(id === "summary" ? 1 : 0);
        const box = await picture.boundingBox();
        const left = id === "summary" ? 84 : 92;
        await page.mouse.click(box.x + left + ((7 + 0.5) / views.iterations.columns) * (box.width - left - 12), box.y + 4 + (2.5 / 4) * (box.height - 26));
        await page.waitForSelector("#panel-timeline:not([hidden])");
        const hash = await page.evaluate(() => window.location.hash);
        const [from, to] = /t=([\d.]+)-([\d.]+)/.exec(hash).slice(1).map(Number);
        assert.ok(Math.abs(from - begins[7]) < 1e-6 && Math.abs(to - begins[8]) < 1e-6, hash);
        assert.match(await page.textContent("#panel-timeline .pointed-out"), /rank 2, iteration 7/);
    }
    assert.deepEqual(complaints, []);
    await close();
});

test("a wait has its chain of causes, with calls and functions", async () => {
    const { views, report } = dataOf("small");
    const { waits, begin_s, end_s } = views.timeline;
    const [ranks, begins, ends, sources] = [waits.rank, waits.begin_s, waits.end_s, waits.delay_source].map(unpack);
    // Rank 3 waits at the end of iteration 4 for rank 1, which waited for rank 0, which worked.
    const at = begins.findIndex((_, at) => ranks[at] === 3 && sources[at] === 1);
    assert.ok(at >= 0);
    const { page, close } = await open(browser, "small");
    await show(page, "timeline");
    const place = await placeIn(page, "timeline", ((begins[at] + ends[at]) / 2 - begin_s) / (end_s - begin_s), (3 + 0.5) / 4);
    await page.mouse.click(place.x, place.y);
    const text = plain(await page.innerText("#panel-timeline .details"));
    assert.match(text, new RegExp(`^Rank 3 waits ${seconds(ends[at] - begins[at])}`));
    assert.match(text, /in MPI_Allreduce at /, "the call");
    assert.match(text, /Rank 1 ended it\. .*it waited [\d.]+ ms for rank 0, in MPI_Recv at /s);
    assert.match(text, /Rank 0 ended that\. Until then it worked [\d.]+ ms, [\d.]+ ms of it in step\/halo, mostly in scenario/s);
    assert.match(text, /Cause: rank 0\./);
    assert.ok(report.functions.regions.length > 0);
    await page.click("#panel-timeline .details a[href^='#waiting']");
    await page.waitForSelector("#panel-waiting:not([hidden])");
    assert.match(await page.textContent("#panel-waiting .pointed-out"), /rank 0/);
    await close();
});

test("a click on who waits for whom shows the longest such wait", async () => {
    const { views } = dataOf("small");
    const { waits } = views.timeline;
    const [ranks, sources, begins, ends] = [waits.rank, waits.delay_source, waits.begin_s, waits.end_s].map(unpack);
    const at = ranks.findIndex((rank, at) => rank === 2 && sources[at] === 1);
    const { page, complaints, close } = await open(browser, "small");
    await show(page, "waiting");
    const place = await placeIn(page, "waiting", (1 + 0.5) / 4, (2 + 0.5) / 4);
    await page.mouse.click(place.x, place.y);
    await page.waitForSelector("#panel-timeline:not([hidden]) .chain");
    assert.ok(plain(await page.innerText("#panel-timeline .details")).startsWith(`Rank 2 waits ${seconds(ends[at] - begins[at])}`));
    assert.match(await page.innerText("#panel-timeline .chain"), /^Rank 1 ended it/);
    // A pair that never waits leads nowhere.
    await show(page, "waiting");
    const pairs = [0, 1, 2, 3].flatMap((row) => [0, 1, 2, 3].map((column) => [row, column]));
    const [row, column] = pairs.find(([row, column]) => !ranks.some((rank, at) => rank === row && sources[at] === column));
    const none = await placeIn(page, "waiting", (column + 0.5) / 4, (row + 0.5) / 4);
    await page.mouse.click(none.x, none.y);
    await drawn(page);
    assert.ok(await page.isVisible("#panel-waiting"));
    assert.deepEqual(complaints, []);
    await close();
});

test("tracks have the iterations, and the regions in the shares that there are", async () => {
    const { views } = dataOf("small");
    const { bins, regions, share } = views.timeline.region_course;
    const shares = unpack(share);
    const sums = regions.map((_, row) => shares.slice(row * bins, (row + 1) * bins).reduce((a, b) => a + b) / bins);
    const whole = sums.reduce((a, b) => a + b);
    assert.ok(Math.abs(whole - 1) < 0.01, "all time is in a region");
    const { page, close } = await open(browser, "small");
    await show(page, "timeline");
    const [keys, seen] = await page.$eval("#panel-timeline", (panel) => {
        const canvas = panel.querySelector(".tracks canvas");
        const keys = [...panel.querySelectorAll("details .key")].map((key) => [getComputedStyle(key.querySelector(".swatch")).backgroundColor.match(/\d+/g).map(Number), key.textContent]);
        const height = (canvas.height - 8) / 3;
        const image = canvas.getContext("2d").getImageData(92, Math.round(4 + height + 2), canvas.width - 104, Math.round(height - 4)).data;
        const count = ([r, g, b]) => {
            let n = 0;
            for (let at = 0; at < image.length; at += 4) {
                n += Math.abs(image[at] - r) + Math.abs(image[at + 1] - g) + Math.abs(image[at + 2] - b) < 12;
            }
            return n / (image.length / 4);
        };
        return [keys, keys.map(([colour]) => count(colour))];
    });
    assert.equal(keys.length, regions.length);
    for (const [at, sum] of sums.entries()) {
        assert.ok(Math.abs(seen[at] - sum) < 0.06, `${keys[at][1]}: ${percent(seen[at])} of the track, ${percent(sum)} of the time`);
    }
    await close();
});

test("a selected region stands out in the tracks", async () => {
    const { page, close } = await open(browser, "small");
    await show(page, "timeline");
    /** Pixels of the track of all regions that have the colour of the first key whose region is `name`. */
    const pixels = (name) =>
        page.$eval(
            "#panel-timeline",
            (panel, name) => {
                const key = [...panel.querySelectorAll("details .key")].find((one) => one.textContent === name);
                const [r, g, b] = getComputedStyle(key.querySelector(".swatch")).backgroundColor.match(/\d+/g).map(Number);
                const canvas = panel.querySelector(".tracks canvas");
                const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
                copy.drawImage(canvas, 0, 0);
                const { data } = copy.getImageData(92, 34, canvas.width - 104, 20);
                return data.reduce((n, red, at) => n + (at % 4 === 0 && Math.abs(red - r) + Math.abs(data[at + 1] - g) + Math.abs(data[at + 2] - b) < 12), 0);
            },
            name,
        );
    const before = [await pixels("step/force"), await pixels("step/halo")];
    assert.ok(before[0] > 1000 && before[1] > 200, before.join());
    await page.evaluate(() => (window.location.hash = "#timeline?region=main/step/halo"));
    await drawn(page);
    assert.deepEqual([await pixels("step/force"), await pixels("step/halo")], [0, before[1]]);
    await close();
});

/** The colours in the middle of pixels of the timeline, by state's name, at these places: shares of width and height. */
async function coloursAt(page, places) {
    return page.$eval(
        `#panel-timeline ${PICTURE}`,
        (canvas, places) => {
            const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
            copy.drawImage(canvas, 0, 0);
            const keys = [...document.querySelectorAll("#panel-timeline .legend .key")].map((one) => [getComputedStyle(one.querySelector(".swatch") ?? one).backgroundColor, one.textContent]);
            return places.map(([x, y]) => {
                const [r, g, b] = copy.getImageData(92 + Math.floor(x * (canvas.width - 104)), 4 + Math.floor(y * (canvas.height - 26)), 1, 1).data;
                return keys.find(([colour]) => colour === `rgb(${r}, ${g}, ${b})`)?.[1] ?? null;
            });
        },
        places,
    );
}

test("of many ranks each pixel of the timeline has its main state", async () => {
    const { page, close } = await open(browser, "slow");
    await show(page, "timeline");
    assert.match(await page.textContent("#panel-timeline .legend"), /a pixel has the state with most time in it/);
    const { bins, states, share } = dataOf("slow").views.timeline;
    const shares = states.map((state) => unpack(share[state]));
    const places = [];
    const expected = [];
    for (let bin = 2; bin < bins; bin += 7) {
        for (let row = 100; row < 1024; row += 311) {
            const all = shares.map((one) => one[row * bins + bin]);
            const most = Math.max(...all);
            // Where neighbours under the pixel agree, and nothing is nearly as long.
            if (most > 0.8 && [-2, -1, 1, 2].every((step) => shares[all.indexOf(most)][(row + step) * bins + bin] > 0.8)) {
                places.push([(bin + 0.5) / bins, (row + 0.5) / 1024]);
                expected.push(states[all.indexOf(most)]);
            }
        }
    }
    assert.ok(new Set(expected).size > 1 && places.length > 50, `${places.length} places`);
    assert.deepEqual(await coloursAt(page, places), expected);
    await close();
});

test("functions by samples are shown by rank, with their callers, and source lines beside their samples", async () => {
    const { report, views } = dataOf("small");
    const stacks = { bins: 2, node: packed(Array.from({ length: 4 }, () => [2, null]).flat()), function: packed([0, 1, 2]), parent: packed([null, 0, 1]), functions: ["main (a.c)", "solve (a.c)", "relax (a.c)"] };
    pageWith("small", "stacks", { timeline: { ...views.timeline, stacks }, sources: [{ file: "/src/a.c", first: 10, lines: ["before", "\tx += <b>y</b>;", "after"] }] }, "views");
    const line = { error_s: 0, min_s: null, max_s: null, max_rank: null };
    const row = { ...report.functions.program.functions[0], function: "relax", file: "/src/a.c", line: 11, mean_s: 1, lines: [{ line: 11, mean_s: 0.75, ...line }] };
    pageWith("stacks", "stacks", { functions: { ...report.functions, program: { ...report.functions.program, functions: [row] } } });
    const { page, complaints, close } = await open(browser, "stacks");
    await show(page, "timeline");
    await page.locator('#panel-timeline .field:has(> span:text-is("show")) select').selectOption("functions");
    await drawn(page);
    const seen = await coloursAt(page, Array.from({ length: 200 }, (_, at) => [(at + 0.5) / 200, 0.6]));
    assert.ok(seen.slice(0, 100).includes("relax (a.c)") && !seen.slice(0, 100).includes("computation without samples"), seen.join());
    assert.ok(seen.slice(100).includes("computation without samples") && !seen.slice(100).includes("relax (a.c)"), seen.join());
    const place = await placeIn(page, "timeline", seen.indexOf("relax (a.c)") / 200, 0.6);
    await page.mouse.move(place.x, place.y);
    assert.match(await page.innerText("#tip"), /relax \(a\.c\)\nsolve \(a\.c\)\nmain \(a\.c\)/);
    await page.mouse.click(place.x, place.y);
    assert.match(await page.innerText("#panel-timeline"), /Function stacks of rank 2, by samples/);
    await show(page, "code");
    await page.locator('#panel-code .field:has(> span:text-is("show")) select').selectOption("functions");
    const lines = await page.$$eval("#panel-code .source tr", (rows) => rows.map((one) => [...one.cells].map((cell) => cell.textContent)));
    assert.deepEqual(lines.map(([share, number, text]) => [share.replace(/\s/g, " "), number, text]), [["", "10", "before"], ["75.0 %", "11", "\tx += <b>y</b>;"], ["", "12", "after"]]);
    assert.deepEqual(complaints, []);
    await close();
});

test("no column of a table is cut, however narrow the page, and none is folded where there is room", async () => {
    for (const [width, isNarrow] of [[400, true], [800, true], [2400, false]]) {
        const { page, complaints, close } = await open(browser, "small", { width });
        let folded = 0;
        for (const id of await panelsOf(page)) {
            await show(page, id);
            await drawn(page);
            const tables = await page.$$eval(`#panel-${id} .table`, (all) => all.filter((one) => one.checkVisibility()).map((one) => ({ name: one.textContent.slice(0, 30), cut: one.scrollWidth - one.clientWidth, folded: one.classList.contains("folded") })));
            assert.deepEqual(tables.filter(({ cut }) => cut > 1), [], `${id} at ${width}`);
            folded += tables.filter((one) => one.folded).length;
        }
        assert.equal(folded > 0, isNarrow, `${folded} folded at ${width}`);
        assert.deepEqual(complaints, []);
        await close();
    }
});

test("colours start from zero, or show differences from the median, and noise is faint", async () => {
    const { page, close } = await open(browser, "slow");
    await show(page, "iterations");
    assert.match(plain(await page.textContent("#panel-iterations .legend")), /in an iteration of step: 0 /);
    await page.locator('#panel-iterations .field:has(> span:text-is("from")) select').selectOption("median");
    await drawn(page);
    assert.match(plain(await page.textContent("#panel-iterations .legend")), /less the median of all ranks: ≤ −[\d.]+ µs .*≥ \+[\d.]+ µs/);
    const [typical, slow] = await page.$eval(`#panel-iterations ${PICTURE}`, (canvas) => {
        const context = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
        context.drawImage(canvas, 0, 0);
        const reddest = (y) => Math.max(...Array.from({ length: 7 }, (_, at) => context.getImageData(200, y + at - 3, 1, 1).data).map(([r, g]) => r - g));
        const height = canvas.height - 26;
        return [reddest(Math.round(4 + 0.2 * height)), reddest(Math.round(4 + (586.5 / 1024) * height))];
    });
    assert.ok(slow > 150 && Math.abs(typical) < 60, `${slow} for the slow rank, ${typical} for others`);
    // The option that puts slow ranks on top.
    await page.getByLabel("sort by").first().selectOption("load");
    const place = await placeIn(page, "iterations", 0.1, 0.0005);
    await page.mouse.move(place.x, place.y);
    assert.match(await page.innerText("#tip"), /^ranks 2344 to 2347/);
    await close();
});

test("every picture and every graph has colours", async () => {
    for (const [name, schemes] of [["small", ["light", "dark"]], ["found", ["light"]], ["slow", ["light", "dark"]], ["large", ["dark"]]]) {
        for (const scheme of schemes) {
            const { page, complaints, close } = await open(browser, name, { scheme });
            const panels = await panelsOf(page);
            for (const id of panels) {
                await show(page, id);
                for (const { label, coloured, all } of await colouredPictures(page, id)) {
                    // Who waits for whom may have a single column, and most ranks lie between the longest and the shortest time.
                    const least = /^(Who|Patterns) /.test(label) ? 200 : 0.05 * all;
                    assert.ok(coloured > least, `${name}, ${scheme}, ${id}: ${coloured} of ${all} pixels of "${label}" have a colour`);
                }
                const widths = await page.$$eval(`#panel-${id} .icicle`, (all) => all.map((one) => [...one.querySelectorAll(".box")].filter((box) => box.getBoundingClientRect().width > 1).length));
                assert.ok(widths.every((boxes) => boxes > 1), `${name}, ${id}: ${widths}`);
            }
            assert.deepEqual(complaints, []);
            await close();
        }
    }
});

test("the menu has an entry for each question, and an entry links its views", async () => {
    const { page, close } = await open(browser, "small", { width: 390 });
    const words = await page.$$eval("nav a", (all) => all.map((one) => [one.textContent, one.getBoundingClientRect().top, one.getBoundingClientRect().right]));
    const entries = ["Answer", "Code", "Iterations", "Timeline", "Waiting", "Messages", "What if", "Methods", "Data"];
    assert.deepEqual(words.map(([text]) => text).filter((text) => text !== "Threads"), entries);
    assert.ok(new Set(words.map(([, top]) => Math.round(top))).size <= 2, "two lines at most");
    assert.ok(words.every(([, , right]) => right <= 390));
    await page.click("nav a:text('Timeline')");
    assert.deepEqual(await page.locator(".view-links a:visible").allTextContents(), ["Timeline", "Over time"]);
    await page.click(".view-links a:visible:text('Over time')");
    await page.waitForSelector("#panel-overtime:not([hidden])");
    assert.equal(await page.innerText("nav a[aria-current]"), "Timeline");
    await close();
});

test("what a search finds is listed under its field", async () => {
    for (const width of [390, 900, 1400]) {
        const { page, complaints, close } = await open(browser, "small", { width });
        await page.fill(".search input", "step");
        const [field, list] = await page.$$eval(".search input, .hits", (all) => all.map((one) => one.getBoundingClientRect().toJSON()));
        assert.ok(list.top >= field.bottom && list.top < field.bottom + 12, `${width}: the list begins at ${list.top}, the field ends at ${field.bottom}`);
        assert.ok(Math.abs(list.left - field.left) < 2 && list.right <= width, `${width}: ${list.left} to ${list.right}`);
        await page.keyboard.press("ArrowDown");
        assert.equal(await page.evaluate(() => document.activeElement.closest(".hits") !== null), true, "arrow keys go to the list");
        await page.keyboard.press("Enter");
        await page.waitForFunction(() => window.location.hash.length > 1);
        await page.evaluate(() => (window.location.hash = ""));
        await page.fill(".search input", "step");
        await page.press(".search input", "Enter");
        await page.waitForFunction(() => window.location.hash.length > 1);
        assert.deepEqual(complaints, []);
        await close();
    }
});

test("settings and macros that the page names exist, and no file that does not come with it", async () => {
    const root = new URL("../../../", import.meta.url);
    const known = readFileSync(new URL("collector/src/record/options.rs", root), "utf8") + readFileSync(new URL("interpose/include/lbprof.h", root), "utf8");
    const sources = readdirSync(new URL("../src/", import.meta.url), { recursive: true }).filter((name) => /\.ts$/.test(name) && !name.includes("generated"));
    const text = sources.map((name) => readFileSync(new URL(`../src/${name}`, import.meta.url), "utf8")).join("\n");
    for (const [name] of text.matchAll(/LBPROF_[A-Z_]+/g)) {
        assert.ok(new RegExp(`\\b${name}\\b`).test(known), `${name} is named, and is not there`);
    }
    const { page, close } = await open(browser, "small");
    await show(page, "glossary");
    assert.doesNotMatch(await page.textContent("#panel-glossary"), /docs\/|\.md\b/);
    await close();
});

test("an empty panel says why, and what to do", async () => {
    const { page, close } = await open(browser, "sums");
    const panels = await panelsOf(page);
    const reasons = {};
    for (const id of panels) {
        await show(page, id);
        for (const text of await page.locator(`#panel-${id} .missing:visible:not(:empty)`).allTextContents()) {
            assert.match(text, /LBPROF_[A-Z]+|--[a-z]+|[Rr]ecord more/, `${id}: ${text}`);
            reasons[id] = text;
        }
    }
    assert.deepEqual(["timeline", "waiting", "whatif"].every((id) => id in reasons), true, Object.keys(reasons).join());
    await close();
});

test("threads have a picture of regions × threads, and the lifetime a bar", async () => {
    const place = { function: "assemble", file: "/home/user/g.c", line: 13, module: "/home/user/g", offset: 16, callers: [] };
    const row = (team, useful) => ({
        ...place, of_first_thread: true, team, ranks: 2, instances: 20, elapsed_s: 1, useful_s: useful.reduce((a, b) => a + b), mpi_s: 0, idle_for_mpi_s: 0,
        imbalance_s: team - useful.reduce((a, b) => a + b), mutex_s: 0, ordered_s: 0, tasks_s: 0, fork_join_s: 0, longest_s: 1, mutexes: [],
        threads: useful.map((useful_s, thread) => ({ thread, useful_s, mpi_s: 0, waits_s: 0, longest: useful_s === 1 ? 20 : 0 })),
    });
    const part = (phase, median_s) => ({ phase, ranks: 4, median_s, max_s: median_s, max_rank: 0 });
    const threads = {
        cores: 8, min_cores: 4, max_cores: 4, core_time_s: 8, parallel: 0.5, mpi: 0.9, load_balance: 0.95, communication: 0.95, threads: 0.6, serial: 0.9, thread_balance: 0.7,
        waits: 1, fork_join: 0.99, useful_s: 4, other_masters_s: 0, losses: [{ kind: "thread-imbalance", core_s: 2, share: 0.25, at: place, heavy_thread: { thread: 3, against_others: 3 }, mutex: null }],
        regions: [row(4, [0.25, 0.25, 0.25, 1]), row(2, [1, 0.5])],
    };
    const lifetime = { elapsed_s: 1.4304, described_share: 0.3, parts: [part("before MPI_Init", 0.6), part("MPI_Init", 0.3), part("MPI_Finalize", 0.1)] };
    const use = (region, utilization) => ({ region, thread_time_s: 8, cpu_s: 2.5, waiting_s: 0.5, utilization, utilization_error: 0.0125 });
    const thread_pools = [{ name: "std::thread of Worker", routine: place, ranks: 2, threads: 8, started: 8, program: use("main", 0.25), regions: [use("main/step", 0.3125)] }];
    const name = pageWith("small", "threads", { threads, thread_pools, lifetime });
    const { page, complaints, close } = await open(browser, name);
    const widths = await page.$$eval("#panel-summary .lifetime span", (all) => all.map((one) => parseFloat(one.style.width)));
    const whole = 0.6 + 0.3 + 0.4304 + 0.1;
    [0.6, 0.3, 0.4304, 0.1].forEach((time, at) => assert.ok(Math.abs(widths[at] - (100 * time) / whole) < 0.01, widths.join()));
    await show(page, "threads");
    for (const [thread, row, share] of [[3, 0, 1], [0, 0, 0.25], [1, 1, 0.5]]) {
        const at = await placeIn(page, "threads", (thread + 0.5) / 4, (row + 0.5) / 2, 250);
        await page.mouse.move(at.x, at.y);
        assert.ok(plain(await page.innerText("#tip")).includes(`works ${seconds(share)} of 1.00 s (${percent(share)})`), await page.innerText("#tip"));
    }
    const colours = await page.$eval(`#panel-threads ${PICTURE}`, (canvas) => {
        const context = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
        context.drawImage(canvas, 0, 0);
        const at = (thread, row) => [...context.getImageData(250 + ((thread + 0.5) / 4) * (canvas.width - 262), 4 + ((row + 0.5) / 2) * (canvas.height - 26), 1, 1).data.slice(0, 3)];
        return [at(3, 0), at(0, 0), at(0, 1), at(1, 1)];
    });
    const [all, quarter, half] = [[253, 231, 37], [59, 82, 139], [33, 145, 140]];
    for (const [at, wanted] of [all, quarter, all, half].entries()) {
        assert.ok(wanted.every((channel, part) => Math.abs(channel - colours[at][part]) <= 4), `${colours[at]} is not ${wanted}`);
    }
    assert.match(await page.textContent("#panel-threads"), /3, 3\.0 times the mean of the others/);
    const pools = plain(await page.innerText("#panel-threads"));
    assert.ok(pools.includes("std::thread of Worker") && pools.includes(`${percent(0.25)} ± ${percent(0.0125)}`), pools);
    assert.ok(pools.includes("main/step") && pools.includes(percent(0.3125)), pools);
    assert.deepEqual(complaints, []);
    await close();
});

test("the threads of a rank are on the timeline's axis on demand", async () => {
    const { views } = dataOf("small");
    const { begin_s, end_s } = views.timeline;
    // A region in the first half of the window, in which thread 1 works for a quarter of its time.
    const half = (end_s - begin_s) / 2;
    const teams = {
        rank: packed([0, 0, 0]), thread: packed([null, 0, 1]), begin_s: packed([0, 0, 0]), end_s: packed([1, 1, 1], half), name: packed([0, 0, 0]), team: packed([2, 0, 0]),
        useful_s: packed([0, 4, 1], half / 4), names: ["assemble (g.c:13)"],
    };
    const name = pageWith("small", "teams", { timeline: { ...views.timeline, teams } }, "views");
    const { page, complaints, close } = await open(browser, name);
    await show(page, "timeline");
    const place = "#panel-timeline details:has(> summary:text-is('Threads of a rank'))";
    assert.equal(await page.locator(`${place} canvas`).count(), 0, "nothing is drawn before it is asked for");
    await page.click(`${place} > summary`);
    const canvas = page.locator(`${place} canvas`).first();
    await canvas.scrollIntoViewIfNeeded();
    const box = await canvas.boundingBox();
    for (const [row, along, said] of [[0, 0.25, "2 threads"], [1, 0.25, "works 100.0 % of it"], [2, 0.25, "works 25.0 % of it"], [2, 0.75, "in no parallel region"]]) {
        // The margins of a picture, see src/pictures/picture.ts.
        await page.mouse.move(box.x + 92 + along * (box.width - 104), box.y + 4 + ((row + 0.5) / 3) * (box.height - 26));
        assert.ok(plain(await page.innerText("#tip")).includes(plain(said)), await page.innerText("#tip"));
    }
    assert.deepEqual(complaints, []);
    await close();
});
