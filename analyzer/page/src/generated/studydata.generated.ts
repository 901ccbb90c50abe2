// Generated from docs/study-page-data.schema.json by `npm run build`; do not edit.

/**
 * The unit of figures.
 */
export type FigureUnit = ("seconds" | "share" | "ratio")
/**
 * The kind of a node, in the order from causes to effects.
 */
export type CausalNodeKind = ("variable" | OpOrQOfAPhase | "phase" | "total" | "result")
export type OpOrQOfAPhase = "work"
/**
 * The evidence for a dependence.
 */
export type EdgeEvidence = ("fitted" | "defined" | "unknown")

/**
 * The data of the page of a study.
 */
export interface StudyData {
/**
 * `lbprof-study-page/1`.
 */
schema: string
/**
 * Name of the study's file.
 */
name: string
/**
 * Names of all parameters.
 */
params: string[]
/**
 * The runs, by number.
 */
runs: StudyRunRow[]
/**
 * Figures against each thing in which runs differ that have everything else in common; ranks first.
 */
scaling: ScalingChart[]
/**
 * The models of each program.
 */
programs: ProgramModels[]
/**
 * Why some programs have no models.
 */
problems: string[]
}
/**
 * A run, with the times and efficiencies of its report.
 */
export interface StudyRunRow {
/**
 * Its number in the study.
 */
number: number
/**
 * The user's name for the run, such as a commit; empty if there is none.
 */
label: string
/**
 * Its program.
 */
program: string
/**
 * Its ranks.
 */
ranks: number
/**
 * The value of each of its parameters, by name.
 */
params: {
[k: string]: number
}
/**
 * Its hosts.
 */
hosts: string[]
/**
 * Start, in seconds since 1970.
 */
started_unix_s: number
/**
 * Its command line.
 */
command: string[]
/**
 * True if its data are complete.
 */
complete: boolean
/**
 * T: elapsed time for which at least one rank has records.
 */
elapsed_s: number
/**
 * max_p T_p: the longest computation of a rank.
 */
max_computation_s: number
/**
 * avg_p T_p: the mean computation of all ranks.
 */
avg_computation_s: number
/**
 * T_ideal, the time that the same would take on an ideal network, which the ratios use: the best that is known, by replay or estimated from iterations; null if neither is.
 */
t_ideal_s: (number | null)
/**
 * Parallel efficiency.
 */
parallel: (number | null)
/**
 * Load balance.
 */
load_balance: (number | null)
/**
 * Micro load balance.
 */
micro_load_balance: (number | null)
/**
 * Transfer efficiency.
 */
transfer: (number | null)
}
/**
 * Figures against the ranks or a parameter.
 */
export interface ScalingChart {
/**
 * `ranks`, or the name of the parameter.
 */
by: string
/**
 * A table for each set of runs that have everything else in common.
 */
tables: ScalingTable[]
}
/**
 * Runs that differ in one thing alone.
 */
export interface ScalingTable {
/**
 * Their program.
 */
program: string
/**
 * Values that the runs have in common.
 */
fixed: string
/**
 * What limits the speedup, or which runs are fastest; empty if all are alike.
 */
sentence: string
/**
 * The values of `by`, ascending.
 */
x: number[]
/**
 * For each `x` the speedup of a program that scales ideally, against the fewest ranks: `x` / its first; null if `by` is not `ranks`.
 */
ideal_speedup: (number[] | null)
/**
 * The sections of `lb-report study show`.
 */
sections: SectionRow[]
/**
 * Remarks on them.
 */
remarks: string[]
}
/**
 * Figures of one unit.
 */
export interface SectionRow {
/**
 * Name of the runs.
 */
name: string
/**
 * Their unit.
 */
unit: FigureUnit
/**
 * The figures.
 */
lines: ScalingLineRow[]
}
/**
 * A figure in each run.
 */
export interface ScalingLineRow {
/**
 * Its name.
 */
name: string
/**
 * Its value for each `x`; null if it is not known.
 */
values: (number | null)[]
}
/**
 * The models of a program.
 */
export interface ProgramModels {
/**
 * The program.
 */
program: string
/**
 * Dependences of all phases, then of the whole run.
 */
relations: RelationRow[]
/**
 * The causal model.
 */
graph: CausalGraph
}
/**
 * A dependence between quantities, in a region or in the whole run.
 */
export interface RelationRow {
/**
 * Path of the region; empty: the whole run.
 */
phase: string
/**
 * Quantity that `to` depends on.
 */
from: string
/**
 * Dependent quantity.
 */
to: string
/**
 * True if `to` is in seconds.
 */
is_time: boolean
/**
 * The equation; null if there is none.
 */
equation: (string | null)
/**
 * Why there is none.
 */
problem: (string | null)
/**
 * True if it is the linear law.
 */
is_law: boolean
/**
 * True if no degree but 0 predicts better.
 */
independent: boolean
/**
 * Cross-validation error by the size of the values.
 */
relative_error: (number | null)
/**
 * R² of the equation.
 */
r_squared: (number | null)
/**
 * Variables that all its runs have in common, where others differ.
 */
held: {
[k: string]: number
}
/**
 * The points that it was taken from, by `x`.
 */
points: PointRow[]
/**
 * Places of the curve, `[x, y]`; empty if there is no equation.
 */
curve: [number, number][]
/**
 * The chosen degree of the polynomial.
 */
degree: (number | null)
/**
 * The cross-validation error of each degree.
 */
errors: DegreeError[]
}
/**
 * A run's place in a relation.
 */
export interface PointRow {
/**
 * The run's number in the study.
 */
run: (number | null)
/**
 * Value of the quantity that the relation depends on.
 */
x: number
/**
 * Value of the dependent quantity.
 */
y: number
/**
 * `y` less the curve.
 */
residual: (number | null)
}
/**
 * The error of polynomials of a degree at points that they were not fitted to.
 */
export interface DegreeError {
/**
 * The degree.
 */
degree: number
/**
 * The LOOCV error: root of the mean squared residual of points left out, in the unit of y.
 */
error: number
/**
 * The mean squared residual's standard error over the points, in the unit of y squared.
 */
squared_error_deviation: number
}
/**
 * The causal model.
 */
export interface CausalGraph {
/**
 * Name of the program.
 */
program: string
/**
 * Number of runs.
 */
n_runs: number
/**
 * Quantities, causes before effects.
 */
nodes: CausalNode[]
/**
 * Dependences, by effect in the order of nodes.
 */
edges: CausalEdge[]
/**
 * Pairs of which the first does not influence the second: no degree but 0 predicts better.
 */
independent: [string, string][]
/**
 * The largest |E·Σ Ovh − 1| of a run: that E = 1/Σ Ovh holds; null where no run has an efficiency.
 */
difference: (number | null)
/**
 * Remarks on the runs, a sentence each.
 */
remarks: string[]
}
/**
 * A quantity.
 */
export interface CausalNode {
/**
 * Symbol and path: unique. Edges refer to it.
 */
id: string
/**
 * Symbol and short path, for readers; escaped as in the text.
 */
label: string
/**
 * Kind of the node.
 */
kind: CausalNodeKind
}
/**
 * A dependence of one quantity on another.
 */
export interface CausalEdge {
/**
 * The cause.
 */
from: string
/**
 * The effect.
 */
to: string
/**
 * Evidence for the dependence.
 */
kind: EdgeEvidence
/**
 * The equation, or why there is none.
 */
text: string
/**
 * LOOCV error of a fitted one by the size of the values; null where all are 0.
 */
relative_error: (number | null)
/**
 * R² of a fitted one; null where all values are the same.
 */
r_squared: (number | null)
/**
 * Number of runs that it was fitted to.
 */
n_runs: (number | null)
/**
 * A remark on the fit.
 */
note: (string | null)
}
