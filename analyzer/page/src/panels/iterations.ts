// Iterations × ranks as a heat map, with the course of the longest and the mean computation beside it.
import { Chart } from "../chart";
import { key } from "../legend";
import { button, choice, el, field } from "../dom";
import { rowOrder, rowSum, type Order } from "../order";
import type { Packed } from "../packed";
import { scaleGradient, scalePixels, SERIES, type ScaleName } from "../palette";
import type { Data, Panel } from "../panel";
import { MARGINS, Picture, pictureHeight, type Scene } from "../picture";
import { paintMeans, poolMeans, robustRange, type Range } from "../pool";
import { term } from "../tip";
import { attributes, columnName, iterationsIn, rowName, type Iterations } from "../views";
import { percent, roundTicks, seconds, secondsLike, shortPath } from "../words";

export const iterations: Panel = {
    id: "iterations",
    title: "Iterations × ranks",
    about: "How long each rank took in each iteration of the main loop: a bright row is a slow rank, a bright column a slow iteration.",
    missing: ({ views }) => (views.iterations ? null : "No iterations are marked in the program, and none were found in its calls. LBPROF_ITERATION_BEGIN marks them."),
    build(host, data) {
        return new HeatMap(data, data.views.iterations as Iterations).fill(host);
    },
};

class HeatMap {
    private shown = "computation";
    private order: Order = "rank";
    private scale: ScaleName = "viridis";
    private fromZero = false;
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
        const orders: [Order, string][] = [["rank", "rank"], ["load", "load, the longest first"], ["host", "host"]];
        if (views.cluster_of_row) {
            orders.push(["cluster", "cluster"]);
        }
        host.append(
            el(
                "div",
                { class: "controls" },
                field("show", choice(attributes(of).map(([name]) => [name, name]), this.shown, (name) => this.change(() => (this.shown = name)))),
                field("sort by", choice(orders, this.order, (order) => this.change(() => (this.order = order as Order)))),
                field("colours", choice([["viridis", "viridis"], ["cividis", "cividis"]], this.scale, (name) => this.change(() => (this.scale = name as ScaleName)))),
                field("from zero", el("input", { type: "checkbox", onchange: () => this.change(() => (this.fromZero = !this.fromZero)) })),
                button("show all", () => this.picture.reset()),
            ),
            this.legend,
            this.picture.element,
            el("h3", {}, term("computation"), " by iteration: longest of a rank, and mean of all"),
            this.times.element,
            el("h3", {}, term("load balance"), " of each iteration, and ", term("micro load balance"), " of all up to it"),
            this.balance.element,
            el("p", { class: "hint" }, "Wheel: zoom along iterations, with Shift along ranks. Drag: zoom to the part; with Shift: move. Double click: all. In the charts, drag zooms, too."),
        );
        return () => this.draw();
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

    private get matrix(): Packed {
        return attributes(this.of).find(([name]) => name === this.shown)?.[1] ?? this.of.computation;
    }

    private choose(): void {
        const { matrix, of } = this;
        this.rows = rowOrder(this.data.views, this.order, (row) => rowSum(matrix, of.columns, row));
        const range = robustRange(matrix, 0.01);
        this.range = this.fromZero ? { low: 0, high: range.high } : range;
    }

    private height(): number {
        return pictureHeight(this.data.views.ranks.rows, 40, 14, 460);
    }

    private scene(): Scene {
        const { of, rows } = this;
        const { views } = this.data;
        const value = (x: number, row: number) => this.matrix.at(rows[row] * of.columns + Math.floor(x));
        return {
            label: `Heat map of ${this.shown}: ${of.columns} columns of iterations, ${rows.length} rows of ranks`,
            rows: rows.length,
            x0: 0,
            x1: of.columns,
            least: 1,
            step: () => 1,
            paint: (plot) => {
                const means = poolMeans(this.matrix, of.columns, rows, plot.view, plot.width, plot.height);
                paintMeans(plot, means, this.range, scalePixels(this.scale));
            },
            rowName: (row) => rowName(views, rows[row]),
            ticks: (from, to, wanted) => iterationTicks(of, from, to, wanted),
            describe: (x, row) => {
                const column = Math.min(Math.floor(x), of.columns - 1);
                const each = iterationsIn(of, column) > 1 ? " each" : "";
                return [
                    `${rowName(views, rows[row])} on ${views.hosts[views.host_of_row[rows[row]]] ?? "?"}`,
                    columnName(of, column),
                    `${this.shown} ${seconds(value(column, row))}${each}`,
                    `all ranks: mean ${seconds(of.mean.at(column))}, longest ${seconds(of.max.at(column))} of computation`,
                ];
            },
            moved: (view) => this.zoomCharts(view.x0, view.x1),
        };
    }

    private showLegend(): void {
        const bar = el("span", { class: "scale" });
        bar.style.background = scaleGradient(this.scale);
        const { low, high } = this.range;
        const region = shortPath(this.of.region);
        this.legend.replaceChildren(
            `${this.shown} in an iteration of ${region}: ${this.fromZero ? "" : "≤ "}${secondsLike(low, high)} `,
            bar,
            ` ≥ ${seconds(high)}`,
            key("var(--cell)", "no such iteration"),
        );
    }

    /** Charts have the number of the iteration on their axis, the picture the number of the column. */
    private zoomCharts(x0: number, x1: number): void {
        const place = (x: number) => this.of.first[0] + x * this.of.per_column;
        for (const chart of [this.times, this.balance]) {
            chart.zoomTo(place(x0), place(x1));
        }
    }

    private zoomed(from: number, to: number): void {
        const column = (x: number) => (x - this.of.first[0]) / this.of.per_column;
        const view = { ...this.picture.view, x0: column(from), x1: column(to) };
        this.picture.zoomTo(view);
    }

    private axis() {
        const middle = 0.5 * this.of.per_column;
        return {
            x: this.of.first.map((first) => first + middle),
            xText: (x: number) => `${Math.floor(x)}`,
            whole: true,
            left: MARGINS.left,
            right: MARGINS.right,
            zoomed: (from: number, to: number) => this.zoomed(from, to),
        };
    }

    private timesSpec() {
        const { of } = this;
        const list = (packed: Packed) => Array.from({ length: of.columns }, (_, i) => packed.at(i));
        const longest = Math.max(...list(of.max));
        return {
            ...this.axis(),
            label: "Longest and mean computation of the ranks by iteration",
            series: [
                { name: "longest", values: list(of.max), colour: SERIES[0] },
                { name: "mean", values: list(of.mean), colour: SERIES[1] },
            ],
            height: 190,
            text: (value: number) => secondsLike(value, longest),
        };
    }

    private balanceSpec() {
        const { of } = this;
        const column = (value: (i: number) => number) => Array.from({ length: of.columns }, (_, i) => value(i));
        return {
            ...this.axis(),
            label: "Load balance of each iteration and micro load balance",
            series: [
                { name: "load balance (mean / longest)", values: column((i) => of.mean.at(i) / of.max.at(i)), colour: SERIES[2] },
                { name: "micro load balance", values: column((i) => of.micro_load_balance.at(i)), colour: SERIES[3] },
            ],
            height: 160,
            range: [0, 1.02] as [number, number],
            text: percent,
        };
    }
}

/** Ticks at round iterations. */
export function iterationTicks(of: Iterations, from: number, to: number, wanted: number): { at: number; text: string }[] {
    const start = of.first[0];
    const place = (column: number) => start + column * of.per_column;
    return roundTicks(place(from), place(to), wanted)
        .filter((tick) => tick % 1 === 0)
        .map((tick) => ({ at: (tick - start) / of.per_column, text: String(tick) }));
}
