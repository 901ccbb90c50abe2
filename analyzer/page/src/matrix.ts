// A picture of amounts by two ranks: rows and columns are the rows of all matrices, of one rank or several.
import { el } from "./dom";
import { Packed } from "./packed";
import { scaleGradient, scalePixels } from "./palette";
import type { Data } from "./panel";
import { Picture, pictureHeight, type Scene } from "./picture";
import { paintMeans, poolLongest } from "./pool";
import { rowLabel, rowOf } from "./views";
import { count, plural, roundTicks } from "./words";

/** An amount that belongs to two ranks. */
export interface PairAmount {
    row: number;
    column: number;
    amount: number;
}

/** With more rows than this several share a pixel of a narrow picture. */
const SHARED = 200;

export interface MatrixSpec {
    title: string;
    /** What the picture is called: `Who waits for whom`. */
    label: string;
    text(amount: number): string;
    /** What is said of a place: the names of its ranks, and the amount, NaN where there is none. */
    describe(row: number, column: number, amount: number, most: number): string[];
    /** Whether colours grow with the logarithm of amounts. */
    logarithmic?: boolean;
}

/** The amounts by rows of matrices; NaN where there is none. */
function summed(data: Data, pairs: PairAmount[]): Packed {
    const { rows } = data.views.ranks;
    const cells = new Float32Array(rows * rows).fill(NaN);
    for (const pair of pairs) {
        const row = rowOf(data, pair.row);
        const column = rowOf(data, pair.column);
        if (row >= 0 && column >= 0) {
            const at = row * rows + column;
            cells[at] = (cells[at] || 0) + pair.amount;
        }
    }
    return new Packed(cells, 1);
}

export class RankMatrix {
    readonly element: HTMLElement;
    private readonly picture: Picture;

    constructor(
        private readonly data: Data,
        private readonly spec: MatrixSpec,
        pairs: PairAmount[],
    ) {
        const n = data.views.ranks.rows;
        const matrix = summed(data, pairs);
        let [least, most] = [Infinity, 0];
        for (let at = 0; at < n * n; at++) {
            const value = matrix.at(at);
            if (value > 0) {
                least = Math.min(least, value);
                most = Math.max(most, value);
            }
        }
        this.picture = new Picture(this.scene(matrix, n, Math.min(least, most), most), pictureHeight(n, 44, 14, 430));
        const scale = el("span", { class: "scale" });
        scale.style.background = scaleGradient("viridis");
        const low = spec.logarithmic ? spec.text(Math.min(least, most)) : spec.text(0);
        const legend = el("div", { class: "legend" }, low, scale, spec.text(most), spec.logarithmic && el("span", {}, "logarithmic"), n > SHARED && el("span", {}, "of several pairs in a place, the largest"));
        this.element = el("div", { class: "matrix" }, el("h3", {}, spec.title), legend, this.picture.element);
    }

    draw(): void {
        this.picture.draw();
    }

    private scene(matrix: Packed, n: number, least: number, most: number): Scene {
        const { views } = this.data;
        const { spec } = this;
        const order = Array.from({ length: n }, (_, row) => row);
        const shown = spec.logarithmic ? logarithms(matrix, n * n) : matrix;
        // Of equal amounts all have the brightest colour.
        const low = spec.logarithmic ? Math.log(least) - (least === most ? 1 : 0) : 0;
        const high = spec.logarithmic ? Math.log(most) : most;
        return {
            label: `${spec.label}: ${count(n)} by ${plural(n, "rank")}`,
            rows: n,
            x0: 0,
            x1: n,
            least: 1,
            step: () => 1,
            paint: (plot) => paintMeans(plot, poolLongest(shown, n, order, plot.view, plot.width, plot.height, "longest"), { low, high }, scalePixels("viridis")),
            rowName: (row) => rowLabel(views, row),
            ticks: (from, to, wanted) =>
                roundTicks(from, to, wanted)
                    .filter((tick) => tick % 1 === 0 && tick < n)
                    .map((tick) => ({ at: tick + 0.5, text: rowLabel(views, tick) })),
            describe: (x, row) => {
                const column = Math.min(Math.floor(x), n - 1);
                return spec.describe(row, column, matrix.at(row * n + column), most);
            },
        };
    }
}

function logarithms(matrix: Packed, n: number): Packed {
    return new Packed(Float32Array.from({ length: n }, (_, at) => (matrix.at(at) > 0 ? Math.log(matrix.at(at)) : NaN)), 1);
}
