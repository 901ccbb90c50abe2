// Line and bar charts by uPlot, in the page's colours and with times in the page's words.
import uPlot from "uplot";
import { colour, onTheme } from "./theme";
import { el } from "./dom";

export interface Series {
    name: string;
    values: ArrayLike<number>;
    colour: string;
    bars?: boolean;
}

export interface ChartSpec {
    label: string;
    x: ArrayLike<number>;
    series: Series[];
    height: number;
    /** Text of a value, and of a place on the axis. */
    text(value: number): string;
    xText(value: number): string;
    /** Places on the axis that may be ticks: whole numbers alone, where true. */
    whole?: boolean;
    range?: [number, number];
    left?: number;
    right?: number;
    /** A click on the place with this index. */
    choose?(index: number): void;
    /** The axis was zoomed by brush. */
    zoomed?(from: number, to: number): void;
}

/** Steps between ticks at whole numbers. */
const WHOLE = [0, 1, 2, 3, 4, 5, 6, 7].flatMap((power) => [1, 2, 5].map((factor) => factor * 10 ** power));

/** A chart that follows its width and the theme. */
export class Chart {
    readonly element = el("div", { class: "chart" });
    private plot: uPlot | null = null;
    private silent = false;

    constructor(private spec: ChartSpec) {
        onTheme(() => this.draw());
    }

    show(spec: ChartSpec): void {
        this.spec = spec;
        this.draw();
    }

    /** Builds the chart anew, as wide as its element is. */
    draw(): void {
        const width = this.element.clientWidth;
        if (width < 50) {
            return;
        }
        this.plot?.destroy();
        const { spec } = this;
        const data = [spec.x, ...spec.series.map((series) => series.values)] as unknown as uPlot.AlignedData;
        this.silent = true;
        this.plot = new uPlot(this.options(width), data, this.element);
        this.silent = false;
        const canvas = this.element.querySelector("canvas");
        canvas?.setAttribute("role", "img");
        canvas?.setAttribute("aria-label", spec.label);
    }

    /** Shows this part of the axis, without telling anyone. */
    zoomTo(from: number, to: number): void {
        this.silent = true;
        this.plot?.setScale("x", { min: from, max: to });
        // uPlot commits on the next microtask.
        queueMicrotask(() => queueMicrotask(() => (this.silent = false)));
    }

    private options(width: number): uPlot.Options {
        const { spec } = this;
        const axis = { stroke: colour("dim"), grid: { stroke: colour("line"), width: 1 }, ticks: { stroke: colour("line"), width: 1 }, font: "11px system-ui, sans-serif" };
        return {
            width,
            height: spec.height,
            padding: [8, spec.right ?? 12, 0, 0],
            legend: { live: true },
            cursor: { y: false, drag: { x: spec.zoomed !== undefined, y: false } },
            scales: { x: { time: false, range: barRange(spec) }, y: { range: (_, low, high) => spec.range ?? [Math.min(0, low), high > 0 ? high * 1.08 : 1] } },
            axes: [
                { ...axis, values: (_, ticks) => ticks.map(spec.xText), incrs: spec.whole ? WHOLE : undefined, space: 90, size: 28 },
                { ...axis, values: (_, ticks) => ticks.map(spec.text), size: spec.left ?? 76, space: 28 },
            ],
            series: [{ value: (_, value) => (value === null ? "" : spec.xText(value)), label: "" }, ...spec.series.map((series) => line(series, spec))],
            hooks: {
                setScale: [
                    (plot, key) => {
                        const { min, max } = plot.scales[key];
                        if (key === "x" && !this.silent && min != null && max != null) {
                            spec.zoomed?.(min, max);
                        }
                    },
                ],
                ready: [(plot) => plot.over.addEventListener("click", () => this.click(plot))],
            },
        };
    }

    private click(plot: uPlot): void {
        if (plot.cursor.idx != null && plot.select.width < 3) {
            this.spec.choose?.(plot.cursor.idx);
        }
    }
}

/** Half a bar's room on either side where there are bars. */
function barRange(spec: ChartSpec): uPlot.Scale.Range {
    const edge = spec.series.some((series) => series.bars) ? 0.6 * Math.abs((spec.x[1] ?? 1) - (spec.x[0] ?? 0)) : 0;
    return (_, low, high) => (low === high ? [low - Math.max(edge, 0.5), high + Math.max(edge, 0.5)] : [low - edge, high + edge]);
}

function line(series: Series, spec: ChartSpec): uPlot.Series {
    const isDense = series.values.length > 300;
    return {
        label: series.name,
        stroke: series.colour,
        width: isDense && !series.bars ? 1 : 1.5,
        fill: series.bars ? series.colour : undefined,
        paths: series.bars ? uPlot.paths.bars?.({ size: [0.8, 60], align: 0 }) : undefined,
        points: { show: !series.bars && !isDense && series.values.length < 60 },
        value: (_, value) => (value === null ? "–" : spec.text(value)),
    };
}
