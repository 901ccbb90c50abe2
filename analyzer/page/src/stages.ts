// Attributes by stage and rank: F(s, p) of Sinha and Kalé, from matrices by iteration or by slice of time.
import type { Packed } from "./packed";
import { attributes, iterationsIn, lastIn, ranksIn, type Views } from "./views";

/** Matrices over the same columns: iterations of the main loop, or slices of time. */
export interface Source {
    name: string;
    columns: number;
    /** What a column is long, in the unit of the stage's length: iterations, or seconds. */
    unit: number;
    unitName: string;
    /** Begin of a column, in that unit. */
    begin(column: number): number;
    /** Its end, in that unit; of iterations the number of the last one. */
    end(column: number): number;
    /** Seconds that a column is long. */
    elapsed(column: number): number;
    /** Seconds of all ranks of a row together. */
    attributes: { name: string; seconds(row: number, column: number): number }[];
}

export function sources(views: Views): Source[] {
    return [iterationSource(views), timeSource(views)].filter((source) => source !== null);
}

function iterationSource(views: Views): Source | null {
    const of = views.iterations;
    if (!of) {
        return null;
    }
    const seconds = (matrix: Packed) => (row: number, column: number) => matrix.at(row * of.columns + column) * of.passes.at(row * of.columns + column);
    return {
        name: "iterations",
        columns: of.columns,
        unit: of.per_column,
        unitName: "iterations",
        begin: (column) => of.first[column],
        end: (column) => lastIn(of, column),
        elapsed: (column) => of.elapsed.at(column) * iterationsIn(of, column),
        attributes: attributes(of).map(([name, matrix]) => ({ name, seconds: seconds(matrix) })),
    };
}

function timeSource(views: Views): Source | null {
    const of = views.timeline;
    if (!of) {
        return null;
    }
    const width = (of.end_s - of.begin_s) / of.bins;
    return {
        name: "slices of time",
        columns: of.bins,
        unit: width,
        unitName: "s",
        begin: (column) => of.begin_s + column * width,
        end: (column) => of.begin_s + (column + 1) * width,
        elapsed: () => width,
        attributes: of.states.map((name) => ({ name, seconds: (row, column) => of.share[name].at(row * of.bins + column) * width * ranksIn(views, row) })),
    };
}

/** Seconds by stage and row, all ranks of a row together. */
export interface Stages {
    count: number;
    /** Columns of the source in each stage, the last maybe fewer. */
    columns: number;
    /** Count × rows. */
    seconds: Float64Array;
    /** Seconds that each stage is long. */
    elapsed: Float64Array;
}

/** Adds up columns to stages of `columns` each. */
export function stagesOf(source: Source, attribute: string, columns: number, views: Views): Stages {
    const count = Math.ceil(source.columns / columns);
    const { rows } = views.ranks;
    const seconds = new Float64Array(count * rows);
    const elapsed = new Float64Array(count);
    const value = source.attributes.find((one) => one.name === attribute)?.seconds ?? (() => 0);
    for (let column = 0; column < source.columns; column++) {
        elapsed[Math.floor(column / columns)] += source.elapsed(column) || 0;
    }
    for (let row = 0; row < rows; row++) {
        for (let column = 0; column < source.columns; column++) {
            seconds[Math.floor(column / columns) * rows + row] += value(row, column) || 0;
        }
    }
    return { count, columns, seconds, elapsed };
}
