// Generated from docs/study-page-data.schema.json by `npm run build`; do not edit.

/**
 * A unit.
 */
export type UnitWord = ("seconds" | "share" | "ratio")
/**
 * The kind of a quantity.
 */
export type NodeWord = ("variable" | "work" | "phase" | "total" | "result")
/**
 * The evidence for a dependence.
 */
export type EdgeWord = ("fitted" | "defined" | "unknown")

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
 * A run. Its times and efficiencies are those of its report.
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
 * Elapsed time.
 */
elapsed_s: number
/**
 * Longest computation of a rank.
 */
max_computation_s: number
/**
 * Mean computation of the ranks.
 */
avg_computation_s: number
/**
 * Time on an ideal network; null if it is not known.
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
unit: UnitWord
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
 * Dependences: those of all phases, then those of the whole run.
 */
relations: RelationRow[]
/**
 * The causal model.
 */
graph: GraphRow
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
errors: DegreeRow[]
/**
 * Runs beyond the law.
 */
leaving: LeavingRow[]
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
 * True if the run is beyond the law.
 */
leaves: boolean
/**
 * `y` less the curve.
 */
residual: (number | null)
}
/**
 * A degree of a polynomial.
 */
export interface DegreeRow {
/**
 * The degree.
 */
degree: number
/**
 * Its cross-validation error.
 */
error: number
}
/**
 * A run beyond the law.
 */
export interface LeavingRow {
/**
 * Its number in the study.
 */
run: (number | null)
/**
 * Value of the quantity that the law depends on.
 */
x: number
/**
 * Seconds that it takes beyond the law.
 */
excess_s: number
/**
 * Largest resident memory of a rank; null if it was not sampled.
 */
max_resident_bytes: (number | null)
/**
 * Largest swapped memory of a rank; null if it was not sampled.
 */
max_swapped_bytes: (number | null)
}
/**
 * The causal model.
 */
export interface GraphRow {
/**
 * Quantities.
 */
nodes: NodeRow[]
/**
 * Dependences between the nodes.
 */
edges: EdgeRow[]
/**
 * Pairs of which the first does not influence the second.
 */
independent: [string, string][]
}
/**
 * A quantity.
 */
export interface NodeRow {
/**
 * Its name, which edges refer to.
 */
id: string
/**
 * Its name for a reader.
 */
label: string
/**
 * Kind of the node.
 */
kind: NodeWord
}
/**
 * A dependence of one quantity on another.
 */
export interface EdgeRow {
/**
 * On which.
 */
from: string
/**
 * Dependent quantity.
 */
to: string
/**
 * Evidence for the dependence.
 */
kind: EdgeWord
/**
 * The equation, or why there is none.
 */
text: string
/**
 * Cross-validation error of a fitted one.
 */
relative_error: (number | null)
/**
 * Runs that it was fitted to.
 */
n_runs: (number | null)
/**
 * A remark on it.
 */
note: (string | null)
}
