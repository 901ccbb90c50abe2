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

/** Tabs, by colour scheme, that no test uses: to make one takes the browser twice as long as to show a page in it. */
const idle = { light: [], dark: [] };

/** A page of a run; `complaints` has what the console and the network saw. `close` leaves the tab as it was for the next one: the page stores nothing. */
export async function open(browser, name, { width = 1280, scheme = "light", script = true } = {}) {
    const free = script ? idle[scheme].pop() : undefined;
    const page = free ?? (await (await browser.newContext({ colorScheme: scheme, javaScriptEnabled: script })).newPage());
    // On a machine that is busy with other tests, the browser gets what they leave.
    page.setDefaultTimeout(120_000);
    const complaints = [];
    page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("request", (request) => /^(file|data|blob):/.test(request.url()) || complaints.push(`asks for ${request.url()}`));
    await page.setViewportSize({ width, height: 900 });
    await page.goto(pathToFileURL(pagePath(name)).href);
    if (script) {
        await page.waitForSelector("html[data-ready]");
    }
    const close = async () => {
        if (!script) {
            return page.context().close();
        }
        // What this page still does is not the next one's.
        await page.goto("about:blank");
        await page.mouse.move(0, 0);
        for (const event of ["console", "pageerror", "request"]) {
            page.removeAllListeners(event);
        }
        await Promise.all(page.context().pages().filter((other) => other !== page).map((other) => other.close()));
        idle[scheme].push(page);
    };
    return { page, complaints, close };
}

/** The panels of a page, in the order of the menu. */
export async function panelsOf(page) {
    return page.$$eval("section[id^=panel-]", (all) => all.map((one) => one.id.replace("panel-", "")));
}

/** Shows a panel as its link does. With `mouse` the links of its entry and of the view must also lie where they can be clicked, which takes half as long again. */
export async function show(page, id, { mouse = false } = {}) {
    if (mouse) {
        const entry = await page.$eval(`#panel-${id}`, (section) => section.querySelector(".view-links a")?.getAttribute("href") ?? `#${section.id.replace("panel-", "")}`);
        const link = page.locator(`nav a[href="#${id}"]`);
        if ((await link.count()) > 0) {
            await link.click();
        } else {
            await page.locator(`nav a[href="${entry}"]`).click();
            await page.locator(`section:not([hidden]) .view-links a[href="#${id}"]`).click();
        }
    } else {
        await page.evaluate((id) => (window.location.hash = id), id);
    }
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
                coloured += data[at + 3] > 128 && Math.max(data[at], data[at + 1], data[at + 2]) - Math.min(data[at], data[at + 1], data[at + 2]) > 64;
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
