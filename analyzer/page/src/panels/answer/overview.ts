// The pictures of the first screen: what each rank does, as bars, and iterations × ranks beside it, with the slow ranks marked in both.
import { formatAddress } from "../../frame/address";
import { el } from "../../frame/dom";
import { key } from "../../pictures/legend";
import { markRow } from "../../data/outliers";
import { scaleGradient, scalePixels, stateColour } from "../../pictures/palette";
import type { Data } from "../../frame/panel";
import { Picture, pictureHeight, type Plot, type Scene } from "../../pictures/picture";
import { paintMeans, poolLongest, rangeFromZero } from "../../pictures/pool";
import type { RankRow } from "../../generated/report.generated";
import { iterationTicks } from "../../pictures/ticks";
import { cellInTimeline, columnName, ranksIn, rowLabel, rowName, rowOf, type Iterations } from "../../data/views";
import { percent, plural, roundTicks, seconds, secondsLike, secondsTick, shortPath } from "../../wording/words";
import { STATES } from "../../generated/states.generated";

/** Seconds of a rank; of a row of several those of the listed rank that computes longest, else their mean. */
interface RankBar {
    name: string;
    computation: number;
    waiting: number;
    /** In MPI besides waiting. */
    mpi: number;
}

const PARTS = [
    { part: "computation", text: "computation", colour: stateColour("computation") },
    { part: "waiting", text: "waiting", colour: stateColour("waiting") },
    { part: "mpi", text: "MPI besides waiting", colour: stateColour("point-to-point") },
] as const;

/** Both pictures; `marked` ranks stand out. */
export function overview(data: Data, marked: number[]): { element: HTMLElement; draw(): void } {
    const rows = [...new Set(marked.map((rank) => rowOf(data, rank)))].filter((row) => row >= 0);
    const height = pictureHeight(data.views.ranks.rows, 26, 12, 230);
    const bars = new Picture(barScene(data, rows), height);
    const of = data.views.iterations;
    const map = of && new Picture(iterationScene(data, of, rows), height);
    const parts = PARTS.filter(({ part }) => part !== "waiting" || data.views.seconds["waiting"]);
    const slow = rows.length > 0 && el("span", { class: "key" }, el("span", { "aria-hidden": "true" }, "▶"), `rank ${marked.slice(0, 4).join(", ")}`);
    const element = el(
        "div",
        { class: "side-by-side overview" },
        el("div", {}, el("h3", {}, "What each rank does"), el("div", { class: "legend" }, ...parts.map(({ text, colour }) => key(colour, text)), slow), bars.element),
        of && map ? el("div", {}, el("h3", {}, `Computation in each iteration of ${shortPath(of.region)}`), iterationLegend(of), map.element) : el("div", {}, el("h3", {}, "Iterations × ranks"), el("p", { class: "missing" }, "No loop is known: mark its iterations with LBPROF_ITERATION_BEGIN of lbprof.h, or name a call that ends each with lb-report --loop CALLSITE.")),
    );
    return { element, draw: () => [bars, map].forEach((picture) => picture?.draw()) };
}

function barScene(data: Data, marked: number[]): Scene {
    const { views, report } = data;
    const bars = rankBars(data);
    const elapsed = report.run.elapsed_s;
    const order = bars.map((_, row) => row);
    return {
        label: `What each rank does: ${plural(bars.length, "row")} of ranks, computation, waiting and MPI in ${seconds(elapsed)}`,
        still: true,
        rows: bars.length,
        x0: 0,
        x1: elapsed,
        least: elapsed,
        step: () => elapsed,
        left: 84,
        paint: (plot) => {
            paintBars(plot, bars);
            marked.forEach((row) => markRow(plot, row, bars.length > 16));
        },
        rowName: (row) => rowLabel(views, row),
        ticks: (from, to, wanted) => {
            const ticks = roundTicks(from, to, wanted);
            return ticks.map((at) => ({ at, text: secondsTick(at, (ticks[1] ?? to) - (ticks[0] ?? from), to) }));
        },
        describe: (_, row) => {
            const { name, ...times } = bars[order[row]];
            return [name, ...PARTS.map(({ part, text }) => `${text} ${secondsLike(times[part], elapsed)} (${percent(times[part] / elapsed)})`)];
        },
        choose: (_, row) => {
            const rank = marked.includes(row) ? (report.verdict.worst?.rank ?? views.ranks.first[row]) : views.ranks.first[row];
            window.location.hash = formatAddress({ panel: views.iterations ? "iterations" : "facts", rank });
        },
    };
}

function rankBars({ views, report }: Data): RankBar[] {
    const bars = Array.from({ length: views.ranks.rows }, (_, row) => {
        const each = (name: string) => (views.seconds[name]?.at(row) || 0) / ranksIn(views, row);
        const mpi = views.activities.filter((name) => STATES[name]?.group === "Mpi").reduce((sum, name) => sum + each(name), 0);
        return { name: rowName(views, row), ...barOf(each("computation"), each("waiting"), mpi) };
    });
    if (views.ranks.per_row > 1) {
        // A single slow rank is seen where its row has its own figures.
        for (const rank of [...report.ranks].sort((a, b) => a.computation_s - b.computation_s)) {
            const row = rowOf({ views, report }, rank.rank);
            if (row >= 0 && rank.computation_s > bars[row].computation) {
                bars[row] = { name: `rank ${rank.rank}`, ...ofRank(rank) };
            }
        }
    }
    return bars;
}

function ofRank(rank: RankRow): Omit<RankBar, "name"> {
    return barOf(rank.computation_s, rank.blocked_s ?? 0, rank.mpi_s);
}

/** Waiting is a part of the time in MPI. */
function barOf(computation: number, waiting: number, mpi: number): Omit<RankBar, "name"> {
    return { computation, waiting, mpi: Math.max(0, mpi - waiting) };
}

/** A bar for each row; of several rows under a line of pixels, that of the rank that computes longest. */
function paintBars(plot: Plot, bars: RankBar[]): void {
    const { context, view, height, ratio } = plot;
    const gap = plot.py(1) - plot.py(0) >= 8 * ratio ? 2 * ratio : 0;
    for (let y = 0; y < height; y++) {
        const from = Math.floor(view.y0 + (y / height) * (view.y1 - view.y0));
        const to = Math.max(from + 1, Math.ceil(view.y0 + ((y + 1) / height) * (view.y1 - view.y0) - 1e-9));
        const isGap = y - plot.py(from) < gap / 2 || plot.py(from + 1) - y <= gap / 2;
        if (to - from === 1 && isGap) {
            continue;
        }
        const bar = bars.slice(from, to).reduce((best, one) => (one.computation > best.computation ? one : best));
        let left = 0;
        for (const { part, colour } of PARTS) {
            const right = left + bar[part];
            context.fillStyle = colour;
            context.fillRect(plot.px(left), y, plot.px(right) - plot.px(left), 1);
            left = right;
        }
    }
}

function iterationLegend(of: Iterations): HTMLElement {
    const scale = el("span", { class: "scale" });
    scale.style.background = scaleGradient("viridis");
    return el("div", { class: "legend" }, "0", scale, `≥ ${seconds(rangeFromZero(of.longest ?? of.computation).high)}`, el("span", {}, "a click opens the timeline there"));
}

/** Iterations × ranks in small. */
function iterationScene(data: Data, of: Iterations, marked: number[]): Scene {
    const { views } = data;
    const matrix = of.longest ?? of.computation;
    const range = rangeFromZero(matrix);
    const order = Array.from({ length: views.ranks.rows }, (_, row) => row);
    const column = (x: number) => Math.min(Math.floor(x), of.columns - 1);
    return {
        label: `Computation by iteration and rank: ${plural(of.columns, "column")} of iterations, ${plural(views.ranks.rows, "row")} of ranks`,
        still: true,
        rows: views.ranks.rows,
        x0: 0,
        x1: of.columns,
        least: of.columns,
        step: () => 1,
        left: 84,
        paint: (plot) => {
            paintMeans(plot, poolLongest(matrix, of.columns, order, plot.view, plot.width, plot.height, "mean"), range, scalePixels("viridis"));
            marked.forEach((row) => markRow(plot, row, views.ranks.rows > 16));
        },
        rowName: (row) => rowLabel(views, row),
        ticks: (from, to, wanted) => iterationTicks(of, from, to, wanted),
        describe: (x, row) => [rowName(views, row), columnName(of, column(x)), `computation ${seconds(matrix.at(row * of.columns + column(x)))}`],
        choose: (x, row) => {
            const target = cellInTimeline(data, of, column(x), row);
            window.location.hash = formatAddress(target ?? { panel: "iterations", rank: views.ranks.first[row] });
        },
    };
}
