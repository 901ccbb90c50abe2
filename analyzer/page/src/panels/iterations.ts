// Iterations × ranks as a heat map, with the course of the longest and the mean computation beside it.
import { formatAddress, type Selection } from "../frame/address";
import { Chart } from "../pictures/chart";
import { key } from "../pictures/legend";
import { button, choice, el, field } from "../frame/dom";
import { rowOrder, rowSum, type Order } from "../data/roworder";
import type { PackedNumbers } from "../data/packed";
import { scaleGradient, scalePixels, CATEGORIES, type ScaleName } from "../pictures/palette";
import type { Data, Panel } from "../frame/panel";
import { MARGINS, Picture, pictureHeight, type Plot, type Scene } from "../pictures/picture";
import { markOutliers, outlierKey, outlierList } from "../data/outliers";
import { againstMedians, paintMeans, poolLongest, poolMeans, rangeAroundZero, rangeFromZero, robustRange, type Pooling, type Range } from "../pictures/pool";
import { drawSelected } from "../pictures/outline";
import type { Report } from "../generated/report.generated";
import { iterationTicks } from "../pictures/ticks";
import { term } from "../frame/tip";
import { attributes, cellInTimeline, columnName, columnOf, iterationsIn, ranksIn, rowLabel, rowName, rowOf, timesOf, type Iterations } from "../data/views";
import { onWindow, showWindow, timeWindow, type TimeWindow } from "../frame/timewindow";
import { count, percent, plural, seconds, secondsLike, shortPath } from "../wording/words";

export const iterations: Panel = {
    id: "iterations",
    title: "Iterations × ranks",
    about: "How long each rank took in each iteration of the main loop: a bright row is a slow rank, a bright column a slow iteration. A click opens the timeline there.",
    missing: ({ views, report }) =>
        views.iterations
            ? null
            : report.selection?.region
              ? "No iterations lie in the selected region: make the page without --region, or with the region of a loop."
              : "No iterations are marked in the program, and none were found in its calls. Mark them with LBPROF_ITERATION_BEGIN of lbprof.h, or name a call that ends each: lb-report --loop CALLSITE.",
    build(host, data) {
        return new HeatMap(data, data.views.iterations as Iterations).fill(host);
    },
};

/** With more rows than this several share a pixel. */
const SHARED = 400;

/** The amount at which colours start. */
type Ground = "zero" | "median";

const GROUNDS: [Ground, string][] = [["zero", "zero"], ["median", "the iteration's median"]];

class HeatMap {
    private shown = "computation";
    private order: Order = "rank";
    private ground: Ground = "zero";
    private selection: Selection = { rank: null, region: null, iterations: null };
    /** The values to draw: amounts, or their differences from the medians. */
    private shades!: PackedNumbers;
    /** The value for several ranks in a row or a pixel. The longest one makes a single slow rank visible. */
    private pooling: Pooling = "longest";
    private rows: number[] = [];
    private range: Range = { low: 0, high: 0 };
    private readonly legend = el("div", { class: "legend" });
    private readonly picture: Picture;
    private readonly times: Chart;
    private readonly balance: Chart;

    constructor(
        private readonly data: Data,
        private readonly of: Iterations,
    ) {
        this.choose();
        this.picture = new Picture(this.scene(), this.height());
        this.times = new Chart(this.timesSpec());
        this.balance = new Chart(this.balanceSpec());
    }

    fill(host: HTMLElement): () => void {
        const { of } = this;
        const { views } = this.data;
        const orders: [Order, string][] = [["rank", "rank"], ["load", "load: slow ranks on top"], ["host", "host"]];
        if (views.cluster_of_row) {
            orders.push(["cluster", "cluster"]);
        }
        const close = this.data.report.efficiency.t_ideal_phase_profile_close ?? true;
        const loop = doubt(this.data.report);
        if (loop) {
            host.append(loop);
        }
        host.append(
            el(
                "div",
                { class: "controls" },
                field("show", choice(attributes(of).map(([name]) => [name, name]), this.shown, (name) => this.change(() => (this.shown = name)))),
                field("sort by", choice(orders, this.order, (order) => this.change(() => (this.order = order as Order)))),
                field("from", choice(GROUNDS, this.ground, (ground) => this.change(() => (this.ground = ground as Ground)))),
                this.isShared && field("of several ranks", choice([["longest", "the longest"], ["mean", "the mean"]], this.pooling, (pooling) => this.change(() => (this.pooling = pooling as Pooling)))),
                button("show all", () => this.picture.reset()),
            ),
            this.legend,
            this.picture.element,
            outlierList(this.data, (row) => this.zoomToRow(row)) ?? "",
            el("h3", {}, term("computation"), " by iteration: longest of a rank, and mean of all"),
            this.times.element,
            el("h3", {}, term("load balance"), " of each iteration, and ", term("micro load balance"), ` of all up to it, ${close ? "by iterations" : "at most: ranks also wait within them"}`),
            this.balance.element,
            el("p", { class: "hint" }, "Wheel: zoom along iterations, with Shift along ranks. Drag: zoom to the part; with Shift: move. 0: all. A click, or Enter, opens the timeline at that iteration. In the charts, drag zooms, too."),
        );
        host.addEventListener("selection", (event) => this.select((event as CustomEvent<Selection>).detail));
        onWindow(this, (window) => this.follow(window));
        this.follow(timeWindow());
        return () => this.draw();
    }

    /** Marks the rank and the iterations that a link points out. */
    private select(selection: Selection): void {
        this.selection = selection;
        this.picture.drawAbove();
    }

    /** Outlines what is selected. */
    private above(plot: Plot): void {
        const { rank, iterations: range } = this.selection;
        const row = rank === null ? -1 : rowOf(this.data, rank);
        const columns = range && { from: columnOf(this.of, range.first), to: columnOf(this.of, range.last) + 1 };
        drawSelected(plot, { row: row < 0 ? null : this.rows.indexOf(row), columns: columns && columns.from >= 0 && columns.to > 0 ? columns : null });
    }

    /** Shows the iterations of a window of time that another view was zoomed to. */
    private follow(window: TimeWindow | null): void {
        const { of } = this;
        let [x0, x1] = [0, of.columns];
        if (window) {
            const begins = Array.from({ length: of.columns }, (_, column) => of.begin_s.at(column));
            x0 = Math.max(0, begins.findLastIndex((begin) => begin <= window.from));
            const after = begins.findIndex((begin) => begin >= window.to);
            x1 = Math.max(x0 + 1, after < 0 ? of.columns : after);
        }
        this.picture.zoomTo({ ...this.picture.view, x0, x1 }, true);
        this.zoomCharts(x0, x1);
    }

    private change(what: () => void): void {
        what();
        this.choose();
        this.picture.show(this.scene(), this.height());
        this.showLegend();
    }

    private draw(): void {
        this.showLegend();
        this.picture.draw();
        this.times.draw();
        this.balance.draw();
        const { x0, x1 } = this.picture.view;
        this.zoomCharts(x0, x1);
    }

    /** Returns whether several ranks share a row or a pixel. */
    private get isShared(): boolean {
        const { ranks } = this.data.views;
        return ranks.per_row > 1 || ranks.rows > SHARED;
    }

    private get means(): PackedNumbers {
        return attributes(this.of).find(([name]) => name === this.shown)?.[1] ?? this.of.computation;
    }

    /** The longest of the ranks of each row; of what is known by means alone, null. */
    private get longest(): PackedNumbers | null {
        return this.shown === "computation" ? this.of.longest : null;
    }

    private get matrix(): PackedNumbers {
        return (this.pooling === "longest" && this.longest) || this.means;
    }

    /** Zooms so far that the row has a height, with some beside it. */
    private zoomToRow(row: number): void {
        const at = this.rows.indexOf(row);
        this.picture.zoomTo({ ...this.picture.view, y0: at - 8, y1: at + 9 });
        this.picture.element.scrollIntoView({ block: "nearest" });
    }

    /** Describes the value for several ranks in a cell. */
    private sharing(): string | false {
        const { per_row } = this.data.views.ranks;
        if (!this.isShared) {
            return false;
        }
        if (this.pooling === "mean") {
            return "the mean of several ranks";
        }
        return per_row > 1 && !this.longest ? `the longest of several rows, each the mean of ${plural(per_row, "rank")}` : "the longest of several ranks";
    }

    private choose(): void {
        const { matrix, of } = this;
        this.rows = rowOrder(this.data.views, this.order, (row) => rowSum(matrix, of.columns, row));
        this.shades = this.ground === "median" ? againstMedians(matrix, of.columns) : matrix;
        this.range = this.ground === "median" ? rangeAroundZero(this.shades, robustRange(matrix, 0.5).high) : rangeFromZero(matrix);
    }

    private height(): number {
        return pictureHeight(this.data.views.ranks.rows, 40, 14, 460);
    }

    private scene(): Scene {
        const { of, rows } = this;
        const { views } = this.data;
        const value = (matrix: PackedNumbers, x: number, row: number) => matrix.at(rows[row] * of.columns + Math.floor(x));
        return {
            label: `Heat map of ${this.shown}: ${plural(of.columns, "column")} of iterations, ${plural(rows.length, "row")} of ranks`,
            rows: rows.length,
            x0: 0,
            x1: of.columns,
            least: 1,
            step: () => 1,
            paint: (plot) => {
                const { shades, pooling } = this;
                const { view, width, height } = plot;
                const pooled = pooling === "longest" ? poolLongest(shades, of.columns, rows, view, width, height, "mean") : poolMeans(shades, of.columns, rows, view, width, height);
                paintMeans(plot, pooled, this.range, scalePixels(this.colours));
                markOutliers(plot, this.data, rows);
            },
            overlay: (plot) => this.above(plot),
            choose: (x, row) => this.open(Math.floor(x), rows[row]),
            rowName: (row) => rowLabel(views, rows[row]),
            ticks: (from, to, wanted) => iterationTicks(of, from, to, wanted),
            describe: (x, row) => {
                const column = Math.min(Math.floor(x), of.columns - 1);
                const each = iterationsIn(of, column) > 1 ? " each" : "";
                return [
                    `${rowName(views, rows[row])} on ${views.hosts[views.host_of_row[rows[row]]] ?? "?"}`,
                    columnName(of, column),
                    `${this.shown} ${seconds(value(this.means, column, row))}${each}${ranksIn(views, rows[row]) > 1 ? ", mean of these ranks" : ""}`,
                    ...(this.longest ? [`the longest of them ${seconds(value(this.longest, column, row))}${each}`] : []),
                    `all ranks: mean ${seconds(of.mean.at(column))}, longest ${seconds(of.max.at(column))} of computation`,
                ];
            },
            moved: (view) => {
                this.zoomCharts(view.x0, view.x1);
                showWindow(timesOf(this.data, of, Math.floor(view.x0), Math.ceil(view.x1)), this);
            },
        };
    }

    /** Shows the iteration in the timeline. */
    private open(column: number, row: number): void {
        const target = cellInTimeline(this.data, this.of, Math.min(column, this.of.columns - 1), row);
        if (target) {
            window.location.hash = formatAddress(target);
        }
    }

    private get colours(): ScaleName {
        return this.ground === "median" ? "difference" : "viridis";
    }

    private showLegend(): void {
        const bar = el("span", { class: "scale" });
        bar.style.background = scaleGradient(this.colours);
        const { low, high } = this.range;
        const region = shortPath(this.of.region);
        const more = this.ground === "median" ? ", less the median of all ranks" : "";
        this.legend.replaceChildren(
            `${this.shown} in an iteration of ${region}${more}: ${this.ground === "zero" ? "" : "≤ "}${low === 0 ? "0" : secondsLike(low, high)} `,
            bar,
            ` ≥ ${this.ground === "median" ? "+" : ""}${seconds(high)}`,
            el("span", {}, this.sharing()),
            outlierKey(this.data) ?? "",
            key("var(--cell)", this.shown === "computation" ? "no such iteration, or not known" : "no such iteration"),
        );
    }

    /** Charts have columns on their axis, as the picture has: numbers of iterations may have gaps. */
    private zoomCharts(x0: number, x1: number): void {
        for (const chart of [this.times, this.balance]) {
            chart.zoomTo(x0, x1);
        }
    }

    private axis() {
        const { of } = this;
        return {
            x: of.first.map((_, column) => column + 0.5),
            xText: (x: number) => columnName(of, Math.max(0, Math.min(of.columns - 1, Math.floor(x)))),
            ticks: (from: number, to: number, wanted: number) => iterationTicks(of, from, to, wanted),
            left: MARGINS.left,
            right: MARGINS.right,
            zoomed: (x0: number, x1: number) => this.picture.zoomTo({ ...this.picture.view, x0, x1 }),
        };
    }

    private timesSpec() {
        const { of } = this;
        const list = (packed: PackedNumbers) => Array.from({ length: of.columns }, (_, i) => packed.at(i));
        // What is not known, as of an iteration with which a found loop is entered, is NaN.
        const longest = Math.max(0, ...list(of.max).filter((value) => value === value));
        return {
            ...this.axis(),
            label: "Longest and mean computation of the ranks by iteration",
            series: [
                { name: "longest", values: list(of.max), colour: CATEGORIES[0] },
                { name: "mean", values: list(of.mean), colour: CATEGORIES[1] },
            ],
            height: 190,
            text: (value: number) => secondsLike(value, longest),
        };
    }

    private balanceSpec() {
        const { of } = this;
        const list = (packed: PackedNumbers) => Array.from({ length: of.columns }, (_, i) => packed.at(i));
        return {
            ...this.axis(),
            label: "Load balance of each iteration and micro load balance",
            series: [
                { name: "load balance (mean / longest)", values: list(of.load_balance), colour: CATEGORIES[2] },
                { name: "micro load balance", values: list(of.micro_load_balance), colour: CATEGORIES[3] },
            ],
            height: 160,
            range: [0, 1.02] as [number, number],
            text: percent,
        };
    }
}

/** The reasons for doubts about a loop, by their names in the report. */
const DOUBTS: Record<string, string> = {
    period: "several of its iterations may be one step, or one of them several steps",
    ranks: "other ranks have another number of iterations",
    events: "its iterations are messages that ranks handle as they come, no steps",
    ends: "the first or the last of its iterations may be no step",
};

/** The note that the loop was found, and how sure it is. */
function doubt({ loops }: Report): HTMLElement | null {
    const unsure = loops.find((loop) => loop.in_report && loop.confidence !== null && loop.confidence !== "sure");
    if (!unsure) {
        return null;
    }
    const differ = unsure.iterations_min !== unsure.iterations_max;
    const why = unsure.doubt ? (DOUBTS[unsure.doubt] ?? unsure.doubt) : differ ? `ranks count ${count(unsure.iterations_min)} to ${count(unsure.iterations_max)} iterations` : "its iterations differ, are few, or take little of the time";
    const isOpen = unsure.possible_min !== null && unsure.possible_max !== null && (unsure.possible_min !== unsure.iterations_min || unsure.possible_max !== unsure.iterations_max);
    const open = isOpen ? ` (${count(unsure.possible_min!)} to ${count(unsure.possible_max!)} iterations)` : "";
    const advice = "Mark the iterations (LBPROF_ITERATION_BEGIN), or name a call that ends one (--loop CALLSITE), if this is not the program's.";
    return el("p", { class: `loop ${unsure.confidence}` }, `This loop was found in the calls, and is `, el("b", {}, unsure.confidence), `: ${why}${open}. ${advice}`);
}
