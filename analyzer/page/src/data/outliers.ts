// Ranks that compute far longer than the others: their rows are marked in pictures of ranks, and the first of them listed.
import { button, el } from "../frame/dom";
import type { Data } from "../frame/panel";
import type { Plot } from "../pictures/picture";
import { colour } from "../frame/theme";
import { term } from "../frame/tip";
import { rowOf } from "./views";
import { count, percent, plural, seconds } from "../wording/words";

/** So many are listed and outlined; the others are marked at the edges alone, or outlines would hide the picture. */
const LISTED = 10;

/** Height of an outlined row at least, in CSS pixels. */
const LEAST_HEIGHT = 6;

/** Outliers' rows in the page's matrices, those with most computation first, each once. */
function outlierRows(data: Data): number[] {
    const ranks = data.views.iterations?.outliers?.ranks ?? [];
    return [...new Set(ranks.map((rank) => rowOf(data, rank)))].filter((row) => row >= 0);
}

/** The rows of the first of them, which are listed and outlined. */
export function listedOutlierRows(data: Data): number[] {
    return outlierRows(data).slice(0, LISTED);
}

/** A mark at both edges for each row with an outlier, and an outline for the first; `order[i]` is the row that is shown as row i. */
export function markOutliers(plot: Plot, data: Data, order: number[]): void {
    const marked = outlierRows(data);
    if (marked.length === 0) {
        return;
    }
    const shownAt = new Map(order.map((row, at) => [row, at]));
    // The first of them last, above the others.
    for (let number = marked.length - 1; number >= 0; number--) {
        const at = shownAt.get(marked[number]) ?? -1;
        markRow(plot, at, number < LISTED);
    }
}

/** Marks the row that is shown at `at`, if it is in view: with arrows at both edges, and an outline. */
export function markRow(plot: Plot, at: number, isOutlined = true): void {
    const { ratio, view } = plot;
    if (at < 0 || at + 1 <= view.y0 || at >= view.y1) {
        return;
    }
    const middle = plot.py(at + 0.5);
    if (isOutlined) {
        const height = Math.max(plot.py(at + 1) - plot.py(at), LEAST_HEIGHT * ratio);
        thickenLine(plot, middle, height);
        outlineRow(plot, middle, height);
    }
    arrowhead(plot, 0, middle, 1);
    arrowhead(plot, plot.width, middle, -1);
}

/** Makes a row that is a line of pixels as high as its outline, so that its colours are seen. */
function thickenLine({ context, width }: Plot, middle: number, height: number): void {
    const { e: left, f: top } = context.getTransform();
    const line = Math.floor(middle);
    context.drawImage(context.canvas, left, top + line, width, 1, 0, Math.round(middle - height / 2), width, Math.round(height));
}

function outlineRow({ context, ratio, width }: Plot, middle: number, height: number): void {
    const thick = Math.max(1, Math.round(ratio));
    const [top, bottom] = [Math.round(middle - height / 2), Math.round(middle + height / 2)];
    for (const [ink, away] of [[colour("back"), 2], [colour("text"), 1]] as const) {
        context.fillStyle = ink;
        context.fillRect(0, top - away * thick, width, thick);
        context.fillRect(0, bottom + (away - 1) * thick, width, thick);
    }
}

/** Points from the edge `x` into the picture: `into` is 1 to the right, −1 to the left. */
function arrowhead({ context, ratio }: Plot, x: number, y: number, into: 1 | -1): void {
    const [length, half] = [9 * ratio * into, 5 * ratio];
    context.beginPath();
    context.moveTo(x, y - half);
    context.lineTo(x + length, y);
    context.lineTo(x, y + half);
    context.closePath();
    context.fillStyle = colour("text");
    context.strokeStyle = colour("back");
    context.lineWidth = ratio;
    context.fill();
    context.stroke();
}

/** The meaning of the mark, for a legend, or null if nothing is marked. */
export function outlierKey(data: Data): HTMLElement | null {
    return outlierRows(data).length === 0 ? null : el("span", { class: "key" }, el("span", { "aria-hidden": "true" }, "▶"), term("outlier"));
}

/** The rule, and the first ranks; a press on one calls `show` with its row. Null where there are none. */
export function outlierList(data: Data, show: (row: number) => void): HTMLElement | null {
    const of = data.views.iterations?.outliers;
    if (!of || of.count === 0) {
        return null;
    }
    const listed = of.ranks.slice(0, LISTED).map((rank, at) => {
        const computation = of.computation_s.at(at);
        return el("li", {}, button(`rank ${rank}`, () => show(rowOf(data, rank))), ` ${seconds(computation)} (+${percent(computation / of.median_s - 1)})`);
    });
    const first = of.count > listed.length ? ` The first ${count(listed.length)}:` : "";
    return el(
        "div",
        { class: "outliers" },
        el("p", {}, el("b", {}, plural(of.count, "outlier")), ` (▶): computation in the loop is above ${seconds(of.limit_s)}, that is 4 robust standard deviations and at least 1 % above the ranks' median of ${seconds(of.median_s)}.${first}`),
        el("ul", {}, ...listed),
    );
}
