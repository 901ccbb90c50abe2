// Generated from docs/compare.schema.json by `npm run build`; do not edit.

/**
 * The result of a condition to fail on.
 */
export type ConditionOutcome = ("passes" | "fails" | "unknown")

/**
 * A comparison.
 */
export interface ComparisonDocument {
/**
 * `lbprof-compare/1`.
 */
schema: string
/**
 * Program and version that wrote the document.
 */
generator: string
/**
 * The first sentences of the text output.
 */
verdict: string
/**
 * The runs to compare with.
 */
base: ComparedRun[]
/**
 * The runs that are compared, likewise.
 */
new: ComparedRun[]
/**
 * The change of the elapsed time.
 */
elapsed: ElapsedChange
/**
 * Changes that count as noise.
 */
noise: NoiseRow
/**
 * True if `reasons` are by cause; false if waiting was not analysed in a run; then they equal `places`.
 */
by_cause: boolean
/**
 * Parts of the change of elapsed time, largest first, with waiting attributed to its causes; they add up to `elapsed.change_s`.
 */
reasons: ReasonRow[]
/**
 * Parts by region and activity, with waiting where it is spent.
 */
places: ReasonRow[]
/**
 * Functions whose CPU time in computation changed significantly, the largest change first, at most 20; null if not all runs were sampled, or if an older version added one to a study.
 */
functions: (FunctionChange[] | null)
/**
 * The efficiencies of both sides.
 */
efficiencies: RunRatio[]
/**
 * Further differences and missing data, as sentences.
 */
remarks: string[]
/**
 * Conditions to fail on, in the given order.
 */
conditions: JudgedCondition[]
}
/**
 * A run of one side.
 */
export interface ComparedRun {
/**
 * Its folder, as it was given.
 */
name: string
/**
 * The run's id, 16 hexadecimal digits.
 */
id: string
/**
 * Its command line.
 */
command: string[]
/**
 * Size of MPI_COMM_WORLD.
 */
ranks: number
/**
 * The user's parameters: the value of each, by its name.
 */
params: {
[k: string]: number
}
/**
 * Its elapsed time.
 */
elapsed_s: number
/**
 * True if the data are complete.
 */
complete: boolean
}
/**
 * The change of the elapsed time.
 */
export interface ElapsedChange {
/**
 * Mean of the base runs; of a part its own time and the waiting that it causes, means over ranks.
 */
base_s: number
/**
 * Mean of the new runs.
 */
new_s: number
/**
 * `new` minus `base`.
 */
change_s: number
/**
 * True if `change_s` is beyond noise.
 */
beyond_noise: boolean
/**
 * The change as a share of the base.
 */
relative: (number | null)
}
/**
 * Changes that count as noise.
 */
export interface NoiseRow {
/**
 * True if it follows from several runs; otherwise it is assumed.
 */
known: boolean
/**
 * Level of the t-test, where noise is known.
 */
level: (number | null)
/**
 * Smallest change that counts, in seconds.
 */
least_s: number
/**
 * True if neither the elapsed time nor a reason nor an efficiency changed beyond noise.
 */
nothing_beyond: boolean
}
/**
 * A part of the change of the elapsed time.
 */
export interface ReasonRow {
/**
 * `computation` (or another activity by place), `calls besides waiting`, `waiting for ranks in calls`, `messages in transit`, `recorder`, `idle` or `not recorded`.
 */
what: string
/**
 * Path of the region in the new runs, or in the base runs if only these have it; of several regions that are the same code, the path of the function; null if no region is concerned.
 */
region: (string | null)
/**
 * Mean of the base runs; of a part its own time and the waiting that it causes, means over ranks.
 */
base_s: number
/**
 * Mean of the new runs.
 */
new_s: number
/**
 * `new` minus `base`.
 */
change_s: number
/**
 * True if `change_s` is beyond noise.
 */
beyond_noise: boolean
/**
 * The part as a share of `elapsed.change_s`; negative if it offsets other parts.
 */
share: (number | null)
/**
 * Of `change_s`, its own time.
 */
own_change_s: number
/**
 * Of `change_s`, the waiting that it causes; 0 by place.
 */
caused_change_s: number
/**
 * True if all ranks contribute about equally.
 */
all_ranks: boolean
/**
 * The ranks that contribute most, largest first; empty if all contribute, if the numbers of ranks differ, or if no rank is concerned.
 */
ranks: RankChange[]
/**
 * If the numbers of ranks differ: the rank that spends most time there in the new runs.
 */
longest: (LongestRankChange | null)
}
/**
 * A rank's part in a change.
 */
export interface RankChange {
/**
 * The rank.
 */
rank: number
/**
 * By how much its own time there changed.
 */
own_change_s: number
}
/**
 * The rank that spends most time in a place.
 */
export interface LongestRankChange {
/**
 * Its number.
 */
rank: number
/**
 * By how much it exceeds the mean of all ranks.
 */
over_mean_s: number
/**
 * Excess of the longest rank of the base runs.
 */
base_over_mean_s: number
}
/**
 * A function whose CPU time changed.
 */
export interface FunctionChange {
/**
 * Its name and source file, or the library that has it.
 */
function: string
/**
 * CPU time in the base runs, the mean over ranks, by samples.
 */
base_s: number
/**
 * Its value in the new runs.
 */
new_s: number
/**
 * `new` minus `base`.
 */
change_s: number
/**
 * Standard error of `change_s`.
 */
error_s: number
/**
 * The regions without inner regions in which the change is significant, too, the largest first, at most 3.
 */
regions: RegionChange[]
}
/**
 * The CPU time of a function in a region.
 */
export interface RegionChange {
/**
 * Path of the region in the new runs.
 */
region: string
/**
 * CPU time in the base runs, the mean over ranks, by samples.
 */
base_s: number
/**
 * Its value in the new runs.
 */
new_s: number
/**
 * `new` minus `base`.
 */
change_s: number
/**
 * Standard error of `change_s`.
 */
error_s: number
}
/**
 * An efficiency of both sides.
 */
export interface RunRatio {
/**
 * Name as in the text output.
 */
name: string
/**
 * Median of the base runs; null unless all have it.
 */
base: (number | null)
/**
 * Median of the new runs, likewise.
 */
new: (number | null)
/**
 * `new` minus `base`.
 */
change: (number | null)
/**
 * True if the means differ by a point or more, and beyond noise; false if noise is not known.
 */
beyond_noise: boolean
}
/**
 * A condition, evaluated.
 */
export interface JudgedCondition {
/**
 * The condition as it was written.
 */
condition: string
/**
 * `passes` (it does not hold), `fails` (it holds) or `unknown` (a figure in it is not known, which counts as failed).
 */
outcome: ConditionOutcome
/**
 * Its metric.
 */
metric: string
/**
 * Its value, the median of the new runs.
 */
value: (number | null)
/**
 * Its value for the base runs.
 */
base: (number | null)
/**
 * The number that its value is compared with; null if that is not known, or not finite.
 */
limit: (number | null)
}
