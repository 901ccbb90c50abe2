// The picture of the timeline: exact states where few enough are in view, else the share of each state in slices of time, stacked. Rows that are
// too low for a stack share one.
import { pixel, stateColour } from "../palette";
import type { Plot, View } from "../picture";
import { poolMeans, putOver } from "../pool";
import type { Timeline } from "../views";
import type { SpanIndex } from "./spans";

/** More spans than this are drawn from slices: they would be narrower than pixels anyway. */
const MOST_SPANS = 30_000;

/** Rows at least this high, in CSS pixels, have a stack each. */
const STACKED = 6;

/** Stacks of several rows are about as high as this. */
const BAND = 14;

export function paintTimeline(plot: Plot, of: Timeline, rows: number[], spans: SpanIndex | null): void {
    if (spans && isFew(plot, rows, spans)) {
        paintSpans(plot, of, rows, spans);
        return;
    }
    paintStacked(plot, of, rows, rowsPerBand(plot));
}

function isFew(plot: Plot, rows: number[], spans: SpanIndex): boolean {
    const { view } = plot;
    let n = 0;
    for (let row = Math.floor(view.y0); row < view.y1 && n < MOST_SPANS; row++) {
        const inRow = spans.countIn(rows[row], view.x0, view.x1);
        // Where a pixel holds many calls their shares show more than the last one drawn.
        if (inRow > (2 * plot.width) / plot.ratio) {
            return false;
        }
        n += inRow;
    }
    return n < MOST_SPANS;
}

function paintSpans(plot: Plot, of: Timeline, rows: number[], spans: SpanIndex): void {
    const { view, context } = plot;
    const all = of.spans;
    if (!all) {
        return;
    }
    for (let row = Math.floor(view.y0); row < view.y1; row++) {
        const top = plot.py(row) + plot.ratio;
        const height = plot.py(row + 1) - plot.py(row) - 2 * plot.ratio;
        spans.each(rows[row], view.x0, view.x1, (index) => {
            const left = plot.px(Math.max(all.begin_s.at(index), view.x0));
            const right = plot.px(Math.min(all.end_s.at(index), view.x1));
            context.fillStyle = stateColour(of.states[all.state.at(index)]);
            context.fillRect(left, top, Math.max(right - left, 0.5), height);
        });
    }
}

/** The view in bins in place of seconds. */
function inBins(view: View, of: Timeline): View {
    const place = (x: number) => ((x - of.begin_s) / (of.end_s - of.begin_s)) * of.bins;
    return { ...view, x0: place(view.x0), x1: Math.min(place(view.x1), of.bins) };
}

/** Shares of states as stacks, each of `each` successive rows. */
function paintStacked(plot: Plot, of: Timeline, rows: number[], each: number): void {
    const image = new ImageData(plot.width, plot.height);
    const pixels = new Uint32Array(image.data.buffer);
    // Bands start at multiples, so that they stay what they are when the view moves.
    const first = Math.floor(plot.view.y0 / each);
    const shown = Math.ceil(Math.min(rows.length, Math.ceil(plot.view.y1)) / each) - first;
    const view = { ...inBins(plot.view, of), y0: first * each, y1: (first + shown) * each };
    const levels = new Float32Array(plot.width * shown);
    // A gap between rows; bands of many meet, for they are no rows.
    const gap = each === 1 ? plot.ratio : 0;
    for (const state of of.states) {
        const means = poolMeans(of.share[state], of.bins, rows, view, plot.width, shown);
        const colour = pixel(stateColour(state));
        for (let line = 0; line < shown; line++) {
            const top = Math.round(plot.py((first + line) * each)) + gap;
            const height = Math.round(plot.py(Math.min((first + line + 1) * each, rows.length))) - gap - top;
            for (let x = 0; x < plot.width; x++) {
                const at = line * plot.width + x;
                const share = means[at];
                if (!(share > 0)) {
                    continue;
                }
                const from = Math.round(levels[at] * height);
                levels[at] += share;
                const to = Math.min(height, Math.round(levels[at] * height));
                for (let y = Math.max(0, Math.ceil(top + from)); y < top + to && y < plot.height; y++) {
                    pixels[y * plot.width + x] = colour;
                }
            }
        }
    }
    putOver(plot, image);
}

/** The number of successive rows that share a band of pixels. Rows that are too low for a stack of states are joined up to the height of a band. */
export function rowsPerBand(plot: Pick<Plot, "height" | "ratio" | "view">): number {
    const rowHeight = plot.height / (plot.view.y1 - plot.view.y0);
    return rowHeight >= STACKED * plot.ratio ? 1 : Math.ceil((BAND * plot.ratio) / rowHeight);
}

/** Puts the state that a row is in most of the time onto the line of pixels in its middle: a row that stands out is not lost in its band. */
export function paintLine(plot: Plot, of: Timeline, row: number, at: number): void {
    const shares = of.states.map((state) => poolMeans(of.share[state], of.bins, [row], { ...inBins(plot.view, of), y0: 0, y1: 1 }, plot.width, 1));
    const y = Math.floor(plot.py(at + 0.5));
    for (let x = 0; x < plot.width; x++) {
        const most = shares.reduce((best, share, state) => (share[x] > (shares[best]?.[x] ?? 0) ? state : best), -1);
        if (most >= 0) {
            plot.context.fillStyle = stateColour(of.states[most]);
            plot.context.fillRect(x, y, 1, 1);
        }
    }
}
