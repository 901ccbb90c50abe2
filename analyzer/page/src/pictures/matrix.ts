// A picture of amounts by two ranks: rows and columns are ranks, or blocks of several successive ones.
import { el } from "../frame/dom";
import { PackedNumbers } from "../data/packed";
import { scaleGradient, scalePixels } from "./palette";
import type { Data } from "../frame/panel";
import { Picture, pictureHeight, type Scene } from "./picture";
import { paintMeans, poolLongest } from "./pool";
import { drawSelected } from "./outline";
import { blockLabel, blockName, placeOf, type Pairs } from "../data/views";
import { count, plural, roundTicks } from "../wording/words";

/** A row and a column of the picture. */
export interface Place {
    row: string;
    column: string;
    /** True if these are the same ranks. */
    isOwn: boolean;
    /** True if each is one rank. */
    isPair: boolean;
    /** The sum over their pairs of ranks, NaN where there is none. */
    amount: number;
    /** The largest of a pair. */
    largest: number;
    /** The largest amount of any place. */
    most: number;
}

/** With more rows than this several share a pixel of a narrow picture. */
const SHARED = 200;

export interface MatrixSpec {
    title: string;
    /** The title of the picture: `Who waits for whom`. */
    label: string;
    text(amount: number): string;
    /** The text for a cell, from the names of its ranks, the amount (NaN if there is none), and the largest amount of two ranks. */
    describe(place: Place): string[];
    /** A click on a place, or Enter: the blocks of its row and its column. */
    choose?(row: number, column: number): void;
    /** True if colours follow the logarithm of amounts. */
    logarithmic?: boolean;
}

/** Amounts by row and column; NaN where there is none. */
function spread(pairs: Pairs, amounts: PackedNumbers): PackedNumbers {
    const cells = new Float32Array(pairs.blocks * pairs.blocks).fill(NaN);
    for (let at = 0; at < pairs.cells.length; at++) {
        cells[pairs.cells.at(at)] = amounts.at(at);
    }
    return new PackedNumbers(cells, 1);
}

export class RankMatrix {
    readonly element: HTMLElement;
    private readonly picture: Picture;
    private selected: number | null = null;

    constructor(
        private readonly data: Data,
        private readonly spec: MatrixSpec,
        private readonly pairs: Pairs,
    ) {
        const n = pairs.blocks;
        const matrix = spread(pairs, pairs.sum);
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
        const range = low === spec.text(most) ? [`each ${low}`] : [low, scale, spec.text(most), spec.logarithmic && el("span", {}, "logarithmic")];
        const legend = el("div", { class: "legend" }, ...range, n > SHARED && el("span", {}, "of several pairs in a place, the largest"));
        this.element = el("div", { class: "matrix" }, el("h3", {}, spec.title), legend, this.picture.element);
    }

    draw(): void {
        this.picture.draw();
    }

    /** Outlines the column of a rank. */
    select(rank: number | null): void {
        const place = rank === null ? -1 : placeOf(this.data.views, rank);
        this.selected = place < 0 ? null : Math.floor(place / this.pairs.per_block);
        this.picture.drawAbove();
    }

    private scene(matrix: PackedNumbers, n: number, least: number, most: number): Scene {
        const { views } = this.data;
        const { spec, pairs } = this;
        const largest = pairs.largest ? spread(pairs, pairs.largest) : matrix;
        const name = (block: number) => blockName(views, block, pairs.per_block);
        const label = (block: number) => blockLabel(views, block, pairs.per_block);
        const order = Array.from({ length: n }, (_, row) => row);
        const shown = spec.logarithmic ? logarithms(matrix, n * n) : matrix;
        // Of equal amounts all have the brightest colour.
        const low = spec.logarithmic ? Math.log(least) - (least === most ? 1 : 0) : 0;
        const high = spec.logarithmic ? Math.log(most) : most;
        return {
            label: `${spec.label}: ${count(n)} by ${plural(n, pairs.per_block > 1 ? "block" : "rank")}${pairs.per_block > 1 ? " of ranks" : ""}`,
            rows: n,
            x0: 0,
            x1: n,
            least: 1,
            step: () => 1,
            paint: (plot) => paintMeans(plot, poolLongest(shown, n, order, plot.view, plot.width, plot.height, "longest"), { low, high }, scalePixels("viridis")),
            overlay: (plot) => drawSelected(plot, { row: null, columns: this.selected === null ? null : { from: this.selected, to: this.selected + 1 } }),
            choose: spec.choose && ((x, row) => spec.choose?.(row, Math.min(Math.floor(x), n - 1))),
            rowName: label,
            ticks: (from, to, wanted) =>
                roundTicks(from, to, wanted)
                    .filter((tick) => tick % 1 === 0 && tick < n)
                    .map((tick) => ({ at: tick + 0.5, text: label(tick) })),
            describe: (x, row) => {
                const column = Math.min(Math.floor(x), n - 1);
                const at = row * n + column;
                return spec.describe({ row: name(row), column: name(column), isOwn: row === column, isPair: pairs.per_block === 1, amount: matrix.at(at), largest: largest.at(at), most });
            },
        };
    }
}

function logarithms(matrix: PackedNumbers, n: number): PackedNumbers {
    return new PackedNumbers(Float32Array.from({ length: n }, (_, at) => (matrix.at(at) > 0 ? Math.log(matrix.at(at)) : NaN)), 1);
}
