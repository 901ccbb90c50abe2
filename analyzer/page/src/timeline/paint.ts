// The picture of the timeline: the main state of each pixel, or in high rows the share of each state in slices of time, stacked; or the functions by samples.
import { pixel, stateColour } from "../pictures/palette";
import type { Plot, View } from "../pictures/picture";
import { byLines, poolMeans, putOver } from "../pictures/pool";
import type { Timeline } from "../data/views";
import type { SpanIndex } from "./spans";
import { functionAt, functionColour, type Stacks } from "./stacks";

/** More spans than this are drawn from slices: they would be narrower than pixels anyway. */
const MOST_SPANS = 30_000;

/** Rows at least this high, in CSS pixels, have a gap between them. */
const WITH_GAP = 4;

/** Rows at least this high have room for a stack of states. */
export const STACKED = 20;

/** Exact states where few enough are in view, else shares of states. Rows that are too low for a stack get the main state of each pixel. */
export function paintTimeline(plot: Plot, of: Timeline, rows: number[], spans: SpanIndex | null): void {
    const isHigh = plot.height / (plot.view.y1 - plot.view.y0) >= STACKED * plot.ratio;
    if (!isHigh) {
        paintMain(plot, of, rows, spans, null);
    } else if (spans && isFew(plot, rows, spans)) {
        paintSpans(plot, of, rows, spans);
    } else {
        paintStacked(plot, of, rows);
    }
}

/** The state with most time in each pixel; of computation its function, where `stacks` are given and have one. */
export function paintMain(plot: Plot, of: Timeline, rows: number[], spans: SpanIndex | null, stacks: Stacks | null): void {
    const { view, width, height } = plot;
    const image = new ImageData(width, height);
    const pixels = new Uint32Array(image.data.buffer);
    const main = spans ? mainOfSpans(plot, of, rows, spans) : mainOfShares(plot, of, rows);
    const colours = of.states.map((state) => pixel(stateColour(state)));
    const computation = of.states.indexOf("computation");
    const inks = stacks?.functions.map((_, at) => pixel(functionColour(of, stacks, at))) ?? [];
    const gap = plot.py(1) - plot.py(0) >= WITH_GAP * plot.ratio ? plot.ratio : 0;
    for (let y = 0; y < height; y++) {
        const row = Math.floor(view.y0 + ((y + 0.5) / height) * (view.y1 - view.y0));
        if (gap > 0 && y - plot.py(row) < gap) {
            continue;
        }
        for (let x = 0; x < width; x++) {
            const state = main[y * width + x];
            const time = view.x0 + ((x + 0.5) / width) * (view.x1 - view.x0);
            const inFunction = stacks && state === computation ? functionAt(of, stacks, rows[row], time) : NaN;
            pixels[y * width + x] = inks[inFunction] ?? colours[state] ?? 0;
        }
    }
    putOver(plot, image);
}

/** The number of the state with most time in each pixel, by slices of time; NaN where most is not recorded. */
function mainOfShares(plot: Plot, of: Timeline, rows: number[]): Float32Array {
    const { width, height } = plot;
    const main = new Float32Array(width * height).fill(NaN);
    const most = new Float32Array(width * height);
    const rest = new Float32Array(width * height).fill(1);
    of.states.forEach((state, number) => {
        const means = poolMeans(of.share[state], of.bins, rows, inBins(plot.view, of), width, height);
        means.forEach((share, at) => {
            rest[at] -= share;
            if (share > most[at]) {
                [main[at], most[at]] = [number, share];
            }
        });
    });
    return main.map((state, at) => (most[at] >= rest[at] ? state : NaN));
}

/** The same, by the states of single calls. */
function mainOfSpans(plot: Plot, of: Timeline, rows: number[], spans: SpanIndex): Float32Array {
    const { view, width } = plot;
    const all = of.spans!;
    const times = of.states.map(() => new Float32Array(width));
    return byLines(rows, view, width, plot.height, (from, to, main, start) => {
        times.forEach((ofState) => ofState.fill(0));
        for (const row of rows.slice(from, to)) {
            spans.each(row, view.x0, view.x1, (index) => {
                const ofState = times[all.state.at(index)];
                const left = Math.max(plot.px(all.begin_s.at(index)), 0);
                const right = Math.min(plot.px(all.end_s.at(index)), width);
                for (let x = Math.floor(left); x < right; x++) {
                    ofState[x] += Math.min(right, x + 1) - Math.max(left, x);
                }
            });
        }
        for (let x = 0; x < width; x++) {
            let [state, most, rest] = [NaN, 0, to - from];
            times.forEach((ofState, number) => {
                rest -= ofState[x];
                [state, most] = ofState[x] > most ? [number, ofState[x]] : [state, most];
            });
            main[start + x] = most >= rest ? state : NaN;
        }
    });
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

/** Shares of states as stacks. */
function paintStacked(plot: Plot, of: Timeline, rows: number[]): void {
    const image = new ImageData(plot.width, plot.height);
    const pixels = new Uint32Array(image.data.buffer);
    const first = Math.floor(plot.view.y0);
    const shown = Math.ceil(plot.view.y1) - first;
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

/** Puts the main states of a row onto the line of pixels in its middle: a row that stands out is not lost among its neighbours. */
export function paintLine(plot: Plot, of: Timeline, row: number, at: number): void {
    const line = { ...plot, height: 1, view: { ...plot.view, y0: 0, y1: 1 } };
    const y = Math.floor(plot.py(at + 0.5));
    mainOfShares(line, of, [row]).forEach((state, x) => {
        if (!Number.isNaN(state)) {
            plot.context.fillStyle = stateColour(of.states[state]);
            plot.context.fillRect(x, y, 1, 1);
        }
    });
}
