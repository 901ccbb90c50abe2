// Line and bar charts by uPlot, in the page's colours and with times in the page's words.
import uPlot from "uplot";
import { onTheme } from "../frame/theme";
import { el } from "../frame/dom";
import { axisLook, label } from "./plotlook";
import { pngButton } from "../frame/save";

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
    /** Ticks where they are not at round places. */
    ticks?(from: number, to: number, wanted: number): { at: number; text: string }[];
    range?: [number, number];
    left?: number;
    right?: number;
    /** A click on the place with this index, or Enter. */
    choose?(index: number): void;
    /** The axis was zoomed by brush. */
    zoomed?(from: number, to: number): void;
}

/** Steps between ticks at whole numbers. */
const WHOLE = [0, 1, 2, 3, 4, 5, 6, 7].flatMap((power) => [1, 2, 5].map((factor) => factor * 10 ** power));

/** A chart that follows its width and the theme. */
export class Chart {
    readonly element = el("div", { class: "chart" });
    private readonly said = el("output", { class: "unseen" });
    private readonly png = pngButton(() => this.spec.label, () => this.element.querySelectorAll("canvas"));
    private plot: uPlot | null = null;
    private silent = false;
    /** The position of the keyboard's cursor, as an index of the places. */
    private cursor: number | null = null;

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
        const hadFocus = this.plot?.over === document.activeElement;
        this.plot?.destroy();
        const { spec } = this;
        const data = [spec.x, ...spec.series.map((series) => drawnValues(series))] as unknown as uPlot.AlignedData;
        this.silent = true;
        this.plot = new uPlot(this.options(width), data, this.element);
        this.silent = false;
        label(this.element, spec.label);
        this.element.append(this.said, this.png);
        if (spec.choose) {
            this.listen(this.plot.over, hadFocus);
        }
    }

    /** Shows this part of the axis, without telling anyone. */
    zoomTo(from: number, to: number): void {
        this.silent = true;
        this.plot?.setScale("x", { min: from, max: to });
        // uPlot commits on the next microtask.
        queueMicrotask(() => queueMicrotask(() => (this.silent = false)));
    }

    /** Makes a place choosable by keyboard, too. */
    private listen(over: HTMLElement, hadFocus: boolean): void {
        over.tabIndex = 0;
        over.setAttribute("role", "application");
        over.setAttribute("aria-label", `${this.spec.label}. Arrow keys move, Enter chooses.`);
        over.addEventListener("keydown", (event) => this.key(event));
        if (hadFocus) {
            over.focus({ preventScroll: true });
            this.point(this.cursor ?? 0);
        }
    }

    private key(event: KeyboardEvent): void {
        const last = this.spec.x.length - 1;
        const far = event.shiftKey ? 10 : 1;
        const moves: Record<string, number> = { ArrowLeft: -far, ArrowRight: far, Home: -Infinity, End: Infinity };
        const move = moves[event.key];
        if (move !== undefined) {
            this.point(this.cursor === null ? (move === Infinity ? last : 0) : this.cursor + move);
        } else if (event.key === "Enter" && this.cursor !== null) {
            this.spec.choose?.(this.cursor);
        } else {
            return;
        }
        event.preventDefault();
    }

    /** Shows the cursor at a place, and says what is there. */
    private point(index: number): void {
        const { spec, plot } = this;
        const at = Math.max(0, Math.min(spec.x.length - 1, index));
        this.cursor = at;
        plot?.setCursor({ left: plot.valToPos(spec.x[at], "x"), top: 0 });
        const values = spec.series.map((series) => `${series.name} ${spec.text(series.values[at])}`);
        this.said.textContent = `${spec.xText(spec.x[at])}: ${values.join(", ")}`;
    }

    private options(width: number): uPlot.Options {
        const { spec } = this;
        const axis = axisLook();
        return {
            width,
            height: spec.height,
            padding: [8, spec.right ?? 12, 0, 0],
            legend: { live: true },
            cursor: { y: false, drag: { x: spec.zoomed !== undefined, y: false } },
            scales: { x: { time: false, range: barRange(spec) }, y: { range: (_, low, high) => spec.range ?? [Math.min(0, low), high > 0 ? high * 1.08 : 1] } },
            axes: [
                { ...axis, ...this.places(width), incrs: spec.whole ? WHOLE : undefined, space: 90, size: 28 },
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

    /** The positions of ticks, and their texts. */
    private places(width: number): uPlot.Axis {
        const { ticks, xText } = this.spec;
        if (!ticks) {
            return { values: (_, at) => at.map(xText) };
        }
        const wanted = width / 110;
        const shown = ({ scales: { x } }: uPlot) => ticks(x.min ?? 0, x.max ?? 0, wanted);
        return { splits: (plot) => shown(plot).map(({ at }) => at), values: (plot) => shown(plot).map(({ text }) => text) };
    }

    private click(plot: uPlot): void {
        if (plot.cursor.idx != null && plot.select.width < 3) {
            this.spec.choose?.(plot.cursor.idx);
        }
    }
}

/** The values of a series, null where one is not known: to uPlot, NaN is a number, and makes a scale that shows nothing at all. */
function drawnValues({ values }: Series): (number | null)[] {
    return Array.from(values, (value) => (Number.isNaN(value) ? null : value));
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
        // Without a place that is pointed at there is no value.
        value: (plot, value) => (plot.cursor.idx == null ? "" : value === null ? "–" : spec.text(value)),
    };
}
