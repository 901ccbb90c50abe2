// Opens pages in Debian's Chromium and notes all that a page must not do.
import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { pagePath } from "./data.mjs";

const EXECUTABLE = process.env.LBPROF_CHROMIUM ?? ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);

/** One browser for all tests of a file. */
export async function launch() {
    return chromium.launch({ executablePath: EXECUTABLE, args: ["--no-sandbox", "--disable-lcd-text"] });
}

/** A page of a run in a context of its own; `complaints` has what the console and the network saw. */
export async function open(browser, name, { width = 1280, scheme = "light", script = true } = {}) {
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme, javaScriptEnabled: script });
    // On a machine that is busy with other tests, the browser gets what they leave.
    context.setDefaultTimeout(120_000);
    const page = await context.newPage();
    const complaints = [];
    page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("request", (request) => /^(file|data|blob):/.test(request.url()) || complaints.push(`asks for ${request.url()}`));
    await page.goto(pathToFileURL(pagePath(name)).href);
    if (script) {
        await page.waitForSelector("html[data-ready]");
    }
    return { page, complaints, close: () => context.close() };
}

/** Shows a panel as its link does. */
export async function show(page, id) {
    const link = page.locator(`nav a[href="#${id}"]`);
    if (!(await link.isVisible())) {
        // In a narrow window it is in the list of its group.
        await page.locator(`nav .group:has(a[href="#${id}"]) .group-button`).click();
    }
    await link.click();
    await page.waitForSelector(`#panel-${id}:not([hidden])`);
    await drawn(page);
}

/** Charts and pictures draw in the frame after. */
export async function drawn(page) {
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

/** The innermost of the elements that end farthest to the right, those left out that scroll in a box of their own. */
export async function widest(page) {
    return page.evaluate(() => {
        const scrolls = (element) => element !== null && element !== document.body && (getComputedStyle(element).overflowX !== "visible" || scrolls(element.parentElement));
        const ends = [...document.querySelectorAll("body *")].filter((element) => element.checkVisibility() && !scrolls(element.parentElement)).map((element) => ({ element, right: element.getBoundingClientRect().right }));
        const most = Math.max(...ends.map(({ right }) => right));
        const { element } = ends.findLast(({ right }) => right > most - 0.5);
        return `<${element.localName} class="${element.className}"> up to ${most.toFixed(0)}: ${element.textContent.slice(0, 60)}`;
    });
}

/** How many coloured pixels each visible picture of a panel has, and how many it has in all. */
export async function colouredPictures(page, id) {
    return page.$$eval(`#panel-${id} .picture canvas:not(.above)`, (canvases) =>
        canvases.filter((canvas) => canvas.checkVisibility()).map((canvas) => {
            const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            let coloured = 0;
            for (let at = 0; at < data.length; at += 4) {
                coloured += data[at + 3] > 128 && Math.max(data[at], data[at + 1], data[at + 2]) - Math.min(data[at], data[at + 1], data[at + 2]) > 40;
            }
            return { label: canvas.ariaLabel, coloured, all: data.length / 4 };
        }),
    );
}

/** How many different colours each visible canvas of a panel has, those over others left out. */
export async function coloursIn(page, id) {
    return page.$$eval(`#panel-${id} canvas:not(.above)`, (canvases) =>
        canvases.map((canvas) => {
            const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            return new Set(new Uint32Array(data.buffer)).size;
        }),
    );
}

/** How many coloured pixels each visible chart has: lines and bars, but not axes and grid, which are grey. */
export async function colouredPixels(page) {
    return page.$$eval(".chart", (charts) => {
        const shown = charts.filter((chart) => chart.checkVisibility() && chart.querySelector("canvas"));
        return shown.map((chart) => {
            const canvas = chart.querySelector("canvas");
            const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            let coloured = 0;
            for (let at = 0; at < data.length; at += 4) {
                const [red, green, blue, alpha] = data.slice(at, at + 4);
                coloured += alpha > 128 && Math.max(red, green, blue) - Math.min(red, green, blue) > 64;
            }
            return { label: canvas.ariaLabel ?? chart.textContent.slice(0, 60), coloured };
        });
    });
}

/** The text of a cell: of the row of a table whose first cell is `row`, under `column`. */
export async function cell(page, id, caption, row, column) {
    return page.$$eval(
        `#panel-${id} table`,
        (tables, [caption, row, column]) => {
            const table = tables.find((one) => one.caption?.textContent.startsWith(caption));
            const heads = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
            const found = [...table.tBodies[0].rows].find((one) => one.cells[0].textContent === row);
            return found?.cells[heads.indexOf(column)]?.textContent ?? null;
        },
        [caption, row, column],
    );
}

/** The canvases of pictures, those of the timeline's tracks left out. */
export const PICTURE = ".picture:not(.tracks) canvas";

/** Where a place of a picture lies in the window: `x` and `y` are shares of its plot. */
export async function placeIn(page, id, x, y, left = 92) {
    const box = await page.locator(`#panel-${id} ${PICTURE}`).first().boundingBox();
    return { x: box.x + left + x * (box.width - left - 12), y: box.y + 4 + y * (box.height - 26) };
}
