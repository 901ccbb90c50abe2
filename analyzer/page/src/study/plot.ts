// Points and curves over a number, by uPlot: each series has places of its own.
import uPlot from "uplot";
import { el } from "../frame/dom";
import { axisLook, label } from "../pictures/plotlook";
import { onTheme } from "../frame/theme";

export interface Series {
    name: string;
    /** Ascending. */
    x: number[];
    y: (number | null)[];
    colour: string;
    kind: "points" | "line" | "both" | "bars";
    dashed?: boolean;
}

export interface PlotSpec {
    label: string;
    series: Series[];
    height: number;
    text(value: number): string;
    xText(value: number): string;
    /** The axis also goes below 0 where nothing is there: of differences. */
    around?: boolean;
    /** All places are ticks. */
    places?: number[];
}

/** A plot that follows its width and the theme. */
export class Plot {
    readonly element = el("div", { class: "chart" });
    private plot: uPlot | null = null;

    constructor(private spec: PlotSpec) {
        onTheme(() => this.draw());
    }

    show(spec: PlotSpec): void {
        this.spec = spec;
        this.draw();
    }

    draw(): void {
        const width = this.element.clientWidth;
        if (width < 50) {
            return;
        }
        this.plot?.destroy();
        this.plot = new uPlot(this.options(width), aligned(this.spec.series), this.element);
        label(this.element, this.spec.label);
    }

    private options(width: number): uPlot.Options {
        const { spec } = this;
        const axis = axisLook();
        return {
            width,
            height: spec.height,
            padding: [8, 16, 0, 0],
            legend: { live: true },
            cursor: { y: false, drag: { x: false, y: false } },
            scales: { x: { time: false, range: (_, low, high) => wider(low, high) }, y: { range: (_, low, high) => range(spec, low, high) } },
            axes: [
                { ...axis, values: (_, ticks) => ticks.map(spec.xText), splits: spec.places ? () => spec.places ?? [] : undefined, space: 70, size: 28 },
                { ...axis, values: (_, ticks) => ticks.map(spec.text), size: 80, space: 28 },
            ],
            series: [{ value: (_, value) => (value == null ? "" : spec.xText(value)), label: "" }, ...spec.series.map((one) => series(one, spec))],
        };
    }
}

function series(of: Series, spec: PlotSpec): uPlot.Series {
    const paths = of.kind === "points" ? () => null : of.kind === "bars" ? uPlot.paths.bars?.({ size: [0.6, 60], align: 0 }) : undefined;
    return {
        label: of.name,
        stroke: of.colour,
        width: 1.5,
        dash: of.dashed ? [6, 5] : undefined,
        fill: of.kind === "bars" ? of.colour : undefined,
        spanGaps: true,
        paths,
        points: { show: of.kind === "points" || of.kind === "both", size: 8, fill: of.colour },
        value: (_, value) => (value == null ? "–" : spec.text(value)),
    };
}

/** All places of all series, and the series' values there. */
function aligned(all: Series[]): uPlot.AlignedData {
    const places = [...new Set(all.flatMap((one) => one.x))].sort((a, b) => a - b);
    const at = new Map(places.map((x, index) => [x, index]));
    const columns = all.map((one) => {
        const column: (number | null)[] = places.map(() => null);
        one.x.forEach((x, index) => (column[at.get(x) ?? 0] = one.y[index]));
        return column;
    });
    return [places, ...columns] as uPlot.AlignedData;
}

function wider(low: number, high: number): [number, number] {
    const edge = low === high ? Math.max(0.5, 0.1 * Math.abs(low)) : 0.04 * (high - low);
    return [low - edge, high + edge];
}

function range(spec: PlotSpec, low: number | null, high: number | null): [number, number] {
    const [least, most] = [low ?? 0, high ?? 1];
    if (spec.around) {
        const size = 1.15 * Math.max(Math.abs(least), Math.abs(most), 1e-12);
        return [-size, size];
    }
    return [Math.min(0, 1.08 * least), most > 0 ? 1.08 * most : 1];
}
