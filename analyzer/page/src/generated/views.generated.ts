// Generated from docs/page-data.schema.json by `npm run build`; do not edit.
import type { PackedNumbers } from "../data/packed";

/**
 * The data that the page reads besides the report.
 */
export interface Views {
/**
 * 2.
 */
version: number
/**
 * The rows of all matrices.
 */
ranks: RowsData
/**
 * Names of the hosts, in the order of the ranks.
 */
hosts: string[]
/**
 * By row the host of its first rank, as an index in `hosts`.
 */
host_of_row: number[]
/**
 * By row the cluster of its first rank, as in the report's `ranks[].cluster`; null for a rank of none.
 */
cluster_of_row: (number | null)[]
/**
 * Names of the activities that occur.
 */
activities: string[]
/**
 * By name of an activity, and `waiting` where that is known, by row: seconds of all of its ranks in the whole run, or the selected time.
 */
seconds: {
[k: string]: PackedNumbers
}
/**
 * Seconds that ranks (first) wait because of others (second); null if `timeline` is.
 */
waits: (PairData | null)
/**
 * Bytes of messages from ranks (first) to others (second); null if the report's `communication` is.
 */
bytes: (PairData | null)
/**
 * Number of messages.
 */
messages: (PairData | null)
/**
 * The main loop; null where none is known.
 */
iterations: (IterationsData | null)
/**
 * Up to 200 regions with most time, in the report's order.
 */
regions: RegionData[]
/**
 * States of ranks over time; null with `--no-blocking`, for a single region, and if the calls of all ranks were recorded as sums.
 */
timeline: (TimelineData | null)
/**
 * Lines of the source around sampled ones; empty without `--source`.
 */
sources: SourceExcerpt[]
/**
 * The reductions that were made, a sentence each.
 */
left_out: string[]
}
/**
 * The rows of all matrices.
 */
export interface RowsData {
/**
 * Ranks whose logs could be read.
 */
count: number
/**
 * Rows: at most 1,024.
 */
rows: number
/**
 * Ranks in a row; the last may have fewer.
 */
per_row: number
/**
 * The numbers of all ranks, in their order, as lists of three: the first of some at equal distances, the distance, how many they are.
 */
numbers: [number, number, number][]
/**
 * By row the number of its first rank.
 */
first: number[]
}
/**
 * Amounts by two ranks, in blocks of successive ranks.
 */
export interface PairData {
/**
 * Ranks in a block; the last may have fewer.
 */
per_block: number
/**
 * Blocks: at most 192.
 */
blocks: number
/**
 * The pairs of blocks with an amount: number of the first · `blocks` + number of the second.
 */
cells: PackedNumbers
/**
 * By pair of blocks the sum.
 */
sum: PackedNumbers
/**
 * By pair of blocks the largest of two ranks; null if a block is a rank.
 */
largest: (PackedNumbers | null)
}
/**
 * The main loop.
 */
export interface IterationsData {
/**
 * Path of the iterated region.
 */
region: string
/**
 * Iterations.
 */
count: number
/**
 * Columns: at most 2,048.
 */
columns: number
/**
 * Iterations in each column; the last may have fewer.
 */
per_column: number
/**
 * By column the number of its first iteration.
 */
first: number[]
/**
 * By column when its first iteration began, on the first rank to do so.
 */
begin_s: PackedNumbers
/**
 * Rows × columns: how often a rank of the row went through an iteration of the column; times this, the means below are sums, except for computation that is not known.
 */
passes: PackedNumbers
/**
 * Rows × columns: computation of an iteration; none where it is not known, as of the first iteration of a loop that was found in the calls; the same in `max`, `mean`, `load_balance` and `micro_load_balance`, which leave such iterations out.
 */
computation: PackedNumbers
/**
 * Rows × columns: computation of an iteration of the row's rank that computes longest in the iterations of the column; null if each rank has a row.
 */
longest: (PackedNumbers | null)
/**
 * Ranks that compute far longer than the others; null where computation is not known.
 */
outliers: (OutliersData | null)
/**
 * Rows × columns: waiting in any activity; null if `timeline` is.
 */
blocking: (PackedNumbers | null)
/**
 * By name of an activity of MPI, rows × columns: the time in it; those with at least 0.1 % of the loop's time.
 */
activities: {
[k: string]: PackedNumbers
}
/**
 * By column: elapsed time of an iteration, mean over ranks.
 */
elapsed: PackedNumbers
/**
 * By column: longest computation of an iteration, as in the report's `iterations`.
 */
max: PackedNumbers
/**
 * By column: mean computation of an iteration.
 */
mean: PackedNumbers
/**
 * By column: load balance of an iteration, `mean` / `max`.
 */
load_balance: PackedNumbers
/**
 * By column: micro load balance of all iterations up to its end, the longest computation of a rank in them over the sum of the longest in each.
 */
micro_load_balance: PackedNumbers
}
/**
 * Ranks that compute far longer than the others.
 */
export interface OutliersData {
/**
 * Median over ranks of their computation in the loop, iterations left out in which it is not known.
 */
median_s: number
/**
 * Outliers compute longer than this: the larger of 4 robust standard deviations (1.4826 times the median distance to the median) and 1 % above the median.
 */
limit_s: number
/**
 * Number of entries.
 */
count: number
/**
 * Their numbers, those with most computation first; at most 1,000.
 */
ranks: number[]
/**
 * Their computation in the loop.
 */
computation_s: PackedNumbers
}
/**
 * A region.
 */
export interface RegionData {
/**
 * Its path.
 */
path: string
/**
 * By name of an activity, by row: the time in the region alone, without those in it.
 */
seconds: {
[k: string]: PackedNumbers
}
/**
 * By row: calls of MPI from the region alone.
 */
calls: PackedNumbers
}
/**
 * The states of ranks over time.
 */
export interface TimelineData {
/**
 * Start of the run's window.
 */
begin_s: number
/**
 * Its end.
 */
end_s: number
/**
 * Bins of equal length into which it is cut: at most 20,000, and at most a million numbers in a matrix.
 */
bins: number
/**
 * Names of states: activities, and `waiting`, which is the part of them in which a rank could do nothing but wait.
 */
states: string[]
/**
 * By state, rows × bins: the share of the bin's time. Rounding errors of a bin are carried to the next. The sum is less than 1 where nothing was recorded.
 */
share: {
[k: string]: PackedNumbers
}
/**
 * The functions that ranks are in, by samples; null where there are none.
 */
stacks: (StacksData | null)
/**
 * In which regions the ranks are, all ranks together.
 */
region_course: RegionCourseData
/**
 * The 20,000 longest waits, the longest first, by columns.
 */
waits: WaitsData
/**
 * At most 20,000 messages, those that ended waits first, and among these those longest in transit, by columns.
 */
messages: MessagesData
/**
 * States of each rank, by rank and time, for runs of up to 50,000 calls, by columns; otherwise null.
 */
spans: (SpansData | null)
/**
 * Instances of parallel regions that ranks' first threads start, and the time of each thread in them where the log has it (`LBPROF_OPENMP=threads`): the 50,000 longest; missing if there are none.
 */
teams?: (TeamsData | null)
/**
 * Paths of regions, to which waits and spans refer by index.
 */
regions: string[]
/**
 * Labels of call sites, likewise.
 */
sites: string[]
}
/**
 * The functions that ranks are in over time, by the samples of their first threads, and the functions that called them.
 */
export interface StacksData {
/**
 * Bins of equal length into which the window is cut: at most 1,000, each of two samples on average.
 */
bins: number
/**
 * Rows × bins: the function with most samples, as its node with most of them; none without samples.
 */
node: PackedNumbers
/**
 * By node its function, as an index in `functions`.
 */
function: PackedNumbers
/**
 * By node the node of its caller, which comes before it; none where that is not known.
 */
parent: PackedNumbers
/**
 * Names of functions, with file; empty of those that are in no stack.
 */
functions: string[]
}
/**
 * In which regions the ranks are over time, all ranks together.
 */
export interface RegionCourseData {
/**
 * Bins of equal length into which the window is cut: at most 2,000.
 */
bins: number
/**
 * The regions in which most time is spent, at most 24, as indices in the timeline's `regions`.
 */
regions: number[]
/**
 * A row for each of them, and a last one for all other regions, × bins: the share of the ranks' time in a bin that is in the region alone, without those in it. Empty if nothing was seen.
 */
share: PackedNumbers
}
/**
 * Waits, by columns.
 */
export interface WaitsData {
/**
 * Number of the rank.
 */
rank: PackedNumbers
/**
 * Start.
 */
begin_s: PackedNumbers
/**
 * End.
 */
end_s: PackedNumbers
/**
 * Why, as an index in `states`.
 */
state: PackedNumbers
/**
 * Names as in the report's `blocking.states`.
 */
states: string[]
/**
 * Region, as an index in the timeline's `regions`.
 */
region: PackedNumbers
/**
 * The call site, as an index in the timeline's `sites`; none outside of calls, or where it is not known.
 */
site: PackedNumbers
/**
 * Number of the rank that ended the wait, the last of several; none if no rank did.
 */
delay_source: PackedNumbers
}
/**
 * Messages, by columns.
 */
export interface MessagesData {
/**
 * Number of the rank that sent.
 */
from: PackedNumbers
/**
 * Number of the rank that received.
 */
to: PackedNumbers
/**
 * Start of the send.
 */
sent_s: PackedNumbers
/**
 * End of the call that received it.
 */
received_s: PackedNumbers
/**
 * Its bytes.
 */
bytes: PackedNumbers
/**
 * Its tag.
 */
tag: PackedNumbers
}
/**
 * States of ranks, by columns.
 */
export interface SpansData {
/**
 * Number of the rank.
 */
rank: PackedNumbers
/**
 * Start.
 */
begin_s: PackedNumbers
/**
 * End.
 */
end_s: PackedNumbers
/**
 * An index in the timeline's `states`; a call that waits is first `waiting`, then its activity.
 */
state: PackedNumbers
/**
 * Region, as an index in the timeline's `regions`.
 */
region: PackedNumbers
/**
 * The call site, as an index in the timeline's `sites`; none outside of calls, or where it is not known.
 */
site: PackedNumbers
}
/**
 * Instances of parallel regions and threads in them, by columns.
 */
export interface TeamsData {
/**
 * Number of the rank.
 */
rank: PackedNumbers
/**
 * Number of the thread in the team; none of an instance.
 */
thread: PackedNumbers
/**
 * Start.
 */
begin_s: PackedNumbers
/**
 * End.
 */
end_s: PackedNumbers
/**
 * The region, as an index in `names`; none where it is not known.
 */
name: PackedNumbers
/**
 * Threads of the team; 0 of a thread.
 */
team: PackedNumbers
/**
 * Work of a thread; 0 of an instance.
 */
useful_s: PackedNumbers
/**
 * Names of parallel regions.
 */
names: string[]
}
/**
 * Successive lines of a file.
 */
export interface SourceExcerpt {
/**
 * The file, as in the rows of functions.
 */
file: string
/**
 * Number of the first line.
 */
first: number
/**
 * The lines, at most 200 characters of each.
 */
lines: string[]
}
