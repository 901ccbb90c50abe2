// Attributes by stage and rank: F(s, p) of Sinha and Kalé, from matrices by iteration or by slice of time. Which stages and ranks are added up
// is the reader's choice, so that no field of the report can hold it: all sums over a choice are made here, and nowhere else.
import type { PackedNumbers } from "./packed";
import type { Data } from "../frame/panel";
import { attributes, iterationsIn, lastIn, ranksIn, type Views } from "./views";

/** Matrices over the same columns: iterations of the main loop, or slices of time. */
export interface Source {
    name: string;
    columns: number;
    /** The length of a column in the unit of stages: iterations or seconds. */
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
    const seconds = (matrix: PackedNumbers) => (row: number, column: number) => matrix.at(row * of.columns + column) * of.passes.at(row * of.columns + column);
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

/** The activities of ranks in the chosen stages, in seconds. */
export interface StageTotal {
    /** Sums over all chosen ranks. */
    sum_s: number;
    /** The mean of a rank: `sum_s` / ranks. */
    mean_s: number;
    /** `sum_s` / (ranks × elapsed time of the stages). */
    share: number;
    /** The longest of a rank; of a row of several ranks their mean. */
    longest_s: number;
    /** Its row; undefined where none is chosen. */
    longest_row: number | undefined;
}

/** Chosen rows and stages of an attribute. */
export class ChosenStages {
    /** Ranks in the rows. */
    readonly ranks: number;
    /** Seconds that the stages are long together. */
    readonly elapsed_s: number;

    constructor(
        private readonly views: Views,
        private readonly of: Stages,
        private readonly rows: number[],
        private readonly stages: number[],
    ) {
        this.ranks = rows.reduce((sum, row) => sum + ranksIn(views, row), 0);
        this.elapsed_s = stages.reduce((all, stage) => all + of.elapsed[stage], 0);
    }

    private at(stage: number, row: number): number {
        return this.of.seconds[stage * this.views.ranks.rows + row];
    }

    /** Seconds of all chosen ranks in a stage. */
    inStage(stage: number): number {
        return this.rows.reduce((all, row) => all + this.at(stage, row), 0);
    }

    /** The time as a fraction of ranks × the stage's elapsed time. */
    shareOfStage(stage: number): number {
        return this.inStage(stage) / (this.ranks * this.of.elapsed[stage]);
    }

    /** Seconds of all ranks of a row in the chosen stages. */
    inRow(row: number): number {
        return this.stages.reduce((all, stage) => all + this.at(stage, row), 0);
    }

    /** The time as a fraction of the row's ranks × elapsed time. */
    shareOfRow(row: number): number {
        return this.inRow(row) / (this.elapsed_s * ranksIn(this.views, row));
    }

    /** All of it. */
    total(): StageTotal {
        const byRow = this.rows.map((row) => this.inRow(row));
        const each = byRow.map((time, at) => time / ranksIn(this.views, this.rows[at]));
        const most = each.reduce((best, time, at) => (time > each[best] ? at : best), 0);
        const sum_s = byRow.reduce((all, time) => all + time, 0);
        return { sum_s, mean_s: sum_s / this.ranks, share: sum_s / (this.ranks * this.elapsed_s), longest_s: each[most] ?? 0, longest_row: this.rows[most] };
    }
}

/** Seconds of the same ranks over all of their time. */
export function wholeRun({ views }: Data, rows: number[], attribute: string): number {
    const seconds = views.seconds[attribute];
    return seconds ? rows.reduce((sum, row) => sum + seconds.at(row), 0) : attribute === "waiting" ? NaN : 0;
}
