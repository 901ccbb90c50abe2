// Matrices drawn as pictures: cells pooled to pixels, each pixel the mean or the largest of the cells under it.
import { PackedNumbers } from "../data/packed";
import type { Plot, View } from "./picture";

/** The least and the largest amount of a scale. */
export interface Range {
    low: number;
    high: number;
}

/** The value for several rows, or several columns, under a pixel. */
export type Pooling = "mean" | "longest";

/**
 * The mean of the cells under each of `width` × `height` pixels, row by row; NaN where there are none.
 *
 * `order[i]` is the matrix's row that is shown as row i. The cost is the cells in view and the pixels, once each.
 */
export function poolMeans(matrix: PackedNumbers, columns: number, order: number[], view: View, width: number, height: number): Float32Array {
    const { raw, scale } = matrix;
    const firstColumn = Math.floor(view.x0);
    const endColumn = Math.min(columns, Math.ceil(view.x1));
    const sums = new Float64Array(Math.max(0, endColumn - firstColumn));
    const counts = new Uint32Array(sums.length);
    return byLines(order, view, width, height, (from, to, means, at) => {
        sums.fill(0);
        counts.fill(0);
        for (let row = from; row < to; row++) {
            addRow(raw, order[row] * columns + firstColumn, sums, counts);
        }
        poolLine(sums, counts, scale, view, firstColumn, means, at, width);
    });
}

/**
 * The same, but the largest of several rows under a pixel: one row that differs from a thousand others is seen. Of several columns
 * of a row stands the mean, or the largest, too.
 */
export function poolLongest(matrix: PackedNumbers, columns: number, order: number[], view: View, width: number, height: number, across: Pooling): Float32Array {
    const { raw, scale } = matrix;
    const firstColumn = Math.floor(view.x0);
    const endColumn = Math.min(columns, Math.ceil(view.x1));
    const sums = new Float64Array(Math.max(0, endColumn - firstColumn));
    const counts = new Uint32Array(sums.length);
    const line = new Float32Array(width);
    return byLines(order, view, width, height, (from, to, most, at) => {
        most.fill(NaN, at, at + width);
        for (let row = from; row < to; row++) {
            const start = order[row] * columns + firstColumn;
            if (across === "mean") {
                sums.fill(0);
                counts.fill(0);
                addRow(raw, start, sums, counts);
                poolLine(sums, counts, scale, view, firstColumn, line, 0, width);
            } else {
                longestOfLine(raw.subarray(start, start + sums.length), scale, view, firstColumn, line);
            }
            for (let x = 0; x < width; x++) {
                // What is not known is not larger.
                if (!(line[x] <= most[at + x]) && line[x] === line[x]) {
                    most[at + x] = line[x];
                }
            }
        }
    });
}

/** Calls `pool` with the rows under each line of pixels, and where in the result it is; lines of the same rows are made once. */
export function byLines(order: number[], view: View, width: number, height: number, pool: (from: number, to: number, into: Float32Array, at: number) => void): Float32Array {
    const values = new Float32Array(width * height);
    let doneFrom = -1;
    let doneTo = -1;
    for (let y = 0; y < height; y++) {
        const from = Math.floor(view.y0 + (y / height) * (view.y1 - view.y0));
        const to = Math.max(from + 1, Math.ceil(view.y0 + ((y + 1) / height) * (view.y1 - view.y0) - 1e-9));
        if (from === doneFrom && to === doneTo) {
            values.copyWithin(y * width, (y - 1) * width, y * width);
        } else {
            pool(from, Math.min(to, order.length), values, y * width);
        }
        doneFrom = from;
        doneTo = to;
    }
    return values;
}

function addRow(raw: PackedNumbers["raw"], start: number, sums: Float64Array, counts: Uint32Array): void {
    for (let c = 0; c < sums.length; c++) {
        const value = raw[start + c];
        if (value === value) {
            sums[c] += value;
            counts[c] += 1;
        }
    }
}

function longestOfLine(row: PackedNumbers["raw"], scale: number, view: View, firstColumn: number, line: Float32Array): void {
    const step = (view.x1 - view.x0) / line.length;
    for (let x = 0; x < line.length; x++) {
        const from = Math.floor(view.x0 + x * step) - firstColumn;
        const to = Math.max(from + 1, Math.ceil(view.x0 + (x + 1) * step - 1e-9) - firstColumn);
        let most = NaN;
        for (let c = from; c < to && c < row.length; c++) {
            if (!(row[c] <= most) && row[c] === row[c]) {
                most = row[c];
            }
        }
        line[x] = most * scale;
    }
}

function poolLine(
    sums: Float64Array,
    counts: Uint32Array,
    scale: number,
    view: View,
    firstColumn: number,
    means: Float32Array,
    at: number,
    width: number,
): void {
    const step = (view.x1 - view.x0) / width;
    for (let x = 0; x < width; x++) {
        const from = Math.floor(view.x0 + x * step) - firstColumn;
        const to = Math.max(from + 1, Math.ceil(view.x0 + (x + 1) * step - 1e-9) - firstColumn);
        let sum = 0;
        let n = 0;
        for (let c = from; c < to && c < sums.length; c++) {
            sum += sums[c];
            n += counts[c];
        }
        means[at + x] = n === 0 ? NaN : (sum / n) * scale;
    }
}

/** Paints means as colours of a scale of 256; what has no value stays as it is. */
export function paintMeans(plot: Plot, means: Float32Array, range: Range, scale: Uint32Array): void {
    const image = new ImageData(plot.width, plot.height);
    const pixels = new Uint32Array(image.data.buffer);
    const factor = range.high > range.low ? 255 / (range.high - range.low) : 0;
    for (let i = 0; i < pixels.length; i++) {
        const mean = means[i];
        if (mean === mean) {
            pixels[i] = scale[Math.max(0, Math.min(255, Math.round((mean - range.low) * factor)))];
        }
    }
    putOver(plot, image);
}

/** Puts an image on the plot so that its transparent pixels leave what is there. */
export function putOver(plot: Plot, image: ImageData): void {
    const buffer = new OffscreenCanvas(plot.width, plot.height);
    (buffer.getContext("2d") as OffscreenCanvasRenderingContext2D).putImageData(image, 0, 0);
    plot.context.drawImage(buffer, 0, 0);
}

/**
 * The range from zero to the largest amount of a matrix, but no further than some times what a twentieth of it exceeds: so noise has one colour, a slow
 * rank another, and a few odd cells, as of a first iteration, do not darken all others.
 */
export function rangeFromZero(matrix: PackedNumbers, timesRobust = 2): Range {
    let most = 0;
    for (let i = 0; i < matrix.length; i++) {
        const value = matrix.at(i);
        most = value > most ? value : most;
    }
    const { high } = robustRange(matrix, 0.05);
    return { low: 0, high: high > 0 ? Math.min(most, timesRobust * high) : most };
}

/** Amounts less the median of their column. */
export function againstMedians(matrix: PackedNumbers, columns: number): PackedNumbers {
    const rows = matrix.length / columns;
    const differences = new Float32Array(matrix.length);
    for (let column = 0; column < columns; column++) {
        const known = Float64Array.from({ length: rows }, (_, row) => matrix.at(row * columns + column)).filter((value) => value === value).sort();
        const median = (known[(known.length - 1) >> 1] + known[known.length >> 1]) / 2;
        for (let row = 0; row < rows; row++) {
            differences[row * columns + column] = matrix.at(row * columns + column) - median;
        }
    }
    return new PackedNumbers(differences, 1);
}

/** As far above zero as below: to the largest difference, within the bounds of `rangeFromZero`, but at least a tenth of `typical`, which noise does not exceed. */
export function rangeAroundZero(differences: PackedNumbers, typical: number): Range {
    const sizes = new PackedNumbers(Float32Array.from({ length: differences.length }, (_, at) => Math.abs(differences.at(at))), 1);
    const high = Math.max(rangeFromZero(sizes, 4).high, 0.1 * typical);
    return { low: -high, high };
}

/** The range of a matrix without its outermost `share` on either side, from a sample of at most 50,000 cells. */
export function robustRange(matrix: PackedNumbers, share: number): Range {
    const stride = Math.max(1, Math.floor(matrix.length / 50_000));
    const values: number[] = [];
    for (let i = 0; i < matrix.length; i += stride) {
        const value = matrix.at(i);
        if (value === value) {
            values.push(value);
        }
    }
    values.sort((a, b) => a - b);
    if (values.length === 0) {
        return { low: 0, high: 0 };
    }
    const at = (q: number) => values[Math.min(values.length - 1, Math.floor(q * values.length))];
    return { low: at(share), high: at(1 - share) };
}
