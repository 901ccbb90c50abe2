// The picture of the timeline: exact states where few enough are in view, else the share of each state in slices of time. Of rows that
// are too low for that, bands of pixels show the shares.
import { pixel, stateColour } from "../palette";
import type { Plot, View } from "../picture";
import { poolMeans, putOver } from "../pool";
import type { Timeline } from "../views";
import type { SpanIndex } from "./spans";

/** More spans than this are drawn from slices: they would be narrower than pixels anyway. */
const MOST_SPANS = 30_000;

/** Rows at least this high, in CSS pixels, show the shares of states stacked; of lower ones, bands as high as this do. */
export const STACKED = 6;

export function paintTimeline(plot: Plot, of: Timeline, rows: number[], spans: SpanIndex | null): void {
    if (spans && isFew(plot, rows, spans)) {
        paintSpans(plot, of, rows, spans);
        return;
    }
    const rowHeight = (plot.height / (plot.view.y1 - plot.view.y0)) | 0;
    if (rowHeight >= STACKED * plot.ratio) {
        paintStacked(plot, of, rows);
    } else {
        paintBands(plot, of, rows);
    }
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

function paintStacked(plot: Plot, of: Timeline, rows: number[]): void {
    const image = new ImageData(plot.width, plot.height);
    const pixels = new Uint32Array(image.data.buffer);
    const first = Math.floor(plot.view.y0);
    const shown = Math.min(rows.length, Math.ceil(plot.view.y1)) - first;
    const view = { ...inBins(plot.view, of), y0: first, y1: first + shown };
    const levels = new Float32Array(plot.width * shown);
    for (const state of of.states) {
        const means = poolMeans(of.share[state], of.bins, rows, view, plot.width, shown);
        const colour = pixel(stateColour(state));
        for (let line = 0; line < shown; line++) {
            const top = Math.round(plot.py(first + line)) + plot.ratio;
            const height = Math.round(plot.py(first + line + 1)) - plot.ratio - top;
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

/**
 * Shares of states where a band of pixels holds many ranks. Each line of pixels has the shares of its own rows, and shows the state that
 * stands as high in their stack as the line does in its band. So a band of ranks that do the same looks like their stack, a state
 * has as many pixels as its share, and ranks that are in one state all the time differ from their neighbours.
 */
function paintBands(plot: Plot, of: Timeline, rows: number[]): void {
    const image = new ImageData(plot.width, plot.height);
    const pixels = new Uint32Array(image.data.buffer);
    const band = Math.max(1, Math.round(STACKED * plot.ratio));
    const levels = new Float32Array(pixels.length);
    const view = inBins(plot.view, of);
    for (const state of of.states) {
        const means = poolMeans(of.share[state], of.bins, rows, view, plot.width, plot.height);
        const colour = pixel(stateColour(state));
        for (let y = 0; y < plot.height; y++) {
            const height = ((y % band) + 0.5) / band;
            for (let i = y * plot.width; i < (y + 1) * plot.width; i++) {
                if (means[i] > 0) {
                    const from = levels[i];
                    levels[i] += means[i];
                    if (from <= height && height < levels[i]) {
                        pixels[i] = colour;
                    }
                }
            }
        }
    }
    putOver(plot, image);
}
