// Generated from docs/report.schema.json by `npm run build`; do not edit.

/**
 * Why it is not known how much serialization is of which kind.
 */
export type UndividedReason = ("no iterations" | "unsure loop")
/**
 * The iterations in which slow ranks have nearly all of their excess.
 */
export type ExcessIterations = ({
order: "range"
/**
 * The number of the first.
 */
first: number
/**
 * The number of the last.
 */
last: number
} | {
order: "periodic"
/**
 * Iterations from one to the next.
 */
distance: number
} | {
order: "scattered"
/**
 * Number of slow iterations.
 */
slow: number
/**
 * Number of all iterations.
 */
all: number
})
/**
 * The kind of a loss of core time.
 */
export type CoreLossKind = ("mpi" | "serial" | "thread-imbalance" | "mutex" | "ordered" | "tasks" | "fork-join")
/**
 * The kind of what threads wait for that another one holds.
 */
export type MutexKind = ("critical" | "lock" | "atomic")
export type ActivityName = ("computation" | "point-to-point" | "collective" | "synchronization" | "one-sided" | "io" | "management" | "recorder")
/**
 * The confidence in a detected loop.
 */
export type LoopConfidence = ("sure" | "likely" | "unsure")
/**
 * A reason to suspect that another loop than the detected one iterates, or that it has another number of iterations.
 */
export type LoopDoubt = ("period" | "ranks" | "events" | "ends")
/**
 * Why a thread waits.
 */
export type WaitState = ("late sender" | "late receiver" | "wait at barrier" | "wait at N×N" | "late broadcast" | "early reduce" | "early scan" | "wait in epoch" | "wait for neighbours" | "wait for post" | "wait for complete" | "wait for lock" | "wait for target" | "late begin" | "early end")
/**
 * The cause of a wait (§3.2 of the paper).
 */
export type CauseClass = ("communication" | "message delay" | "control of parallelism" | "workload imbalance" | "recorder")
/**
 * The kind of a node of the tree.
 */
export type CallTreeNodeKind = ("program" | "function" | "loop" | "phase" | "call" | "state")

/**
 * A report of lb-report: everything in the text report, with all digits.
 */
export interface Report {
/**
 * `lbprof-report/2`.
 */
schema: string
/**
 * Program and version that wrote the document.
 */
generator: string
/**
 * Facts of the run and its data.
 */
run: RunRow
/**
 * Time from the first start of a process to the last exit, and the parts of it outside of the window; null if the logs do not say, or a part of the time or of the regions is selected.
 */
lifetime: (LifetimeTable | null)
/**
 * The part of the run that all figures are of; null: all of it.
 */
selection: (SelectionRow | null)
/**
 * The answer of the first screen, as figures and words.
 */
verdict: VerdictInWords
/**
 * The findings: the answer first, then the largest.
 */
findings: FindingRow[]
/**
 * The loss: elapsed time minus the mean rank's computation.
 */
lost_s: number
/**
 * Part of it that no finding explains.
 */
not_explained_s: number
/**
 * Efficiencies of the whole run.
 */
efficiency: EfficiencyRow
/**
 * Activities of the cores of ranks with several threads, measured in parallel regions of OpenMP; missing if there are none, and for a part of the time or a region.
 */
threads?: (ThreadTable | null)
/**
 * Pools of threads that ranks start themselves, as of `std::thread`, TBB and Kokkos: how much of their time they work, by samples; missing if there are none that work for 1 % of it. Those with most CPU time first.
 */
thread_pools?: ThreadPoolRow[]
/**
 * Costs of the phases compared with the same work on one rank, and waiting for other ranks' computation.
 */
overheads: OverheadFigures
/**
 * An object per rank, by number; of more than 1,000 ranks, unless `--full` is given, those with the largest and smallest figures of each kind, those that deviate, and those that failed.
 */
ranks: RankRow[]
/**
 * An object per activity that occurs, the longest first.
 */
activities: ActivityRow[]
/**
 * Computation by what the system knows of it; null if the kernel noted no switches.
 */
core_states: (CoreStateTable | null)
/**
 * An object per region, outer regions before inner ones; the first is `main`, the whole program.
 */
regions: RegionRow[]
/**
 * Loops found in the calls, outer ones before those in them; empty if iterations are marked.
 */
loops: LoopRow[]
/**
 * The iterations of the main loop.
 */
iterations: IterationTable
/**
 * For whom ranks wait, where, and caused by what; null if waiting was not analysed: `--no-blocking`, or the calls of all ranks were recorded as sums.
 */
blocking: (BlockingTable | null)
/**
 * Predicted times under other conditions: `as measured`, `ideal network`, then the others, largest saving first; empty if `blocking` is null, not all that ranks wait for is known, or a region is selected.
 */
predictions: PredictionRow[]
/**
 * Error of the replay with everything as it was: time of `as measured` / `run.elapsed_s` − 1; null if the run was not replayed.
 */
replay_error: (number | null)
/**
 * Why some predictions are missing, or what is odd about them.
 */
prediction_notes: string[]
/**
 * The chain of work, messages and calls that set the run's time; null if `blocking` is null, or a region is selected.
 */
critical_path: (CriticalPathRow | null)
/**
 * Differences between the ranks: everything that is not in the lists of ranks, activities and regions.
 */
dispersion: DispersionRows
/**
 * An object per cluster of ranks that run the same code; a single one if all do.
 */
clusters: ClusterRow[]
/**
 * Method of clustering, and the ranks of no cluster.
 */
clustering: ClusterTable
/**
 * An object per call site, operation and activity, the longest first.
 */
callsites: SiteRow[]
/**
 * An object per node of the program's tree: its functions as it calls them, loops and phases in them, down to the calls of MPI; each after the node around it. At most 2,000, those in which most time is spent, waited or caused.
 */
call_tree: CallTreeRow[]
/**
 * Communication between ranks, and its sizes; null if calls were not looked at one by one: `--no-blocking`, a region is selected, or the calls of all ranks were recorded as sums.
 */
communication: (CommunicationTable | null)
/**
 * The run by up to 50 windows of time, all equally long; empty likewise.
 */
windows: WindowRow[]
/**
 * Functions that ranks compute in, by samples; null if they were not sampled.
 */
functions: (FunctionTable | null)
/**
 * An object per user's counter and region.
 */
counters: CounterRow[]
}
/**
 * Facts of the run and its data. `ranks_present` × `elapsed_s` is the time of all activities + `idle_s` + `paused_s` + `unknown_s`.
 */
export interface RunRow {
/**
 * The run's id, 16 hexadecimal digits, in all its logs.
 */
id: string
/**
 * Size of MPI_COMM_WORLD.
 */
ranks: number
/**
 * From the first return of `MPI_Init` to the last entry of `MPI_Finalize`.
 */
elapsed_s: number
/**
 * Ranks whose logs were read; all means and sums are over these.
 */
ranks_present: number
/**
 * Ranks that were to record, among the selected ones; fewer than `ranks` if LBPROF_RANKS excluded some.
 */
ranks_recorded: number
/**
 * Different hosts.
 */
hosts: number
/**
 * Records: calls, markers, requests completed.
 */
events: number
/**
 * Calls of MPI.
 */
calls: number
/**
 * Records that the recorder had to drop.
 */
dropped_events: number
/**
 * The recorder's own time.
 */
recorder_s: number
/**
 * Fraction of ranks × elapsed time.
 */
recorder_share: number
/**
 * CPU time of the recorder's code in calls of the ranks' first threads, by samples; null where no rank was sampled.
 */
recorder_in_calls_s: (number | null)
/**
 * The standard error of `recorder_in_calls_s`.
 */
recorder_in_calls_error_s: (number | null)
/**
 * Time of ranks outside of their windows while others are within theirs.
 */
idle_s: number
/**
 * Fraction of ranks × elapsed time.
 */
idle_share: number
/**
 * The mean of `idle_s` over ranks.
 */
idle_mean_s: number
/**
 * Time for which the program had paused recording.
 */
paused_s: number
/**
 * Fraction of ranks × elapsed time.
 */
paused_share: number
/**
 * The mean of `paused_s` over ranks.
 */
paused_mean_s: number
/**
 * Time of no known activity: records are missing.
 */
unknown_s: number
/**
 * Fraction of ranks × elapsed time.
 */
unknown_share: number
/**
 * The mean of `unknown_s` over ranks.
 */
unknown_mean_s: number
/**
 * Time of which there are no records: `paused_s` + `unknown_s`, rounded to nanoseconds, so that sums that cancel out are 0.
 */
without_records_s: number
/**
 * True if the data are complete: no problem is `partial`.
 */
complete: boolean
/**
 * Name and version of the MPI library, as it states them.
 */
mpi: string
/**
 * Its binary interface: `open-mpi`, `mpich` or `mpi-5`.
 */
abi: string
/**
 * Command line of the lowest rank.
 */
command: string[]
/**
 * The programs that the ranks run, if they have different command lines, in the order of their lowest ranks, at most 100; else empty.
 */
programs: ProgramRow[]
/**
 * Time at which its log was opened, in seconds since 1970.
 */
started_unix_s: number
/**
 * Version of lbprof that recorded the run.
 */
recorder: string
/**
 * The recorder's settings, as `NAME=value`.
 */
settings: string[]
/**
 * The value of each of the user's parameters (LBPROF_PARAM), by its name.
 */
params: {
[k: string]: number
}
/**
 * If the report is a first look, what it is made from; null if all events were analysed.
 */
summary: (SummaryFacts | null)
/**
 * Missing and doubtful data, by kind, the worst first.
 */
problems: ProblemRow[]
/**
 * Unsuccessful polls of all ranks' first threads, and the time between them up to the call that continues the wait; for the whole time of a rank even if a window is selected.
 */
polling: PollingRow
/**
 * True if times of different ranks can be compared.
 */
common_clock: boolean
/**
 * Largest bound of the error in comparing them; null if clocks were not compared.
 */
clock_error_s: (number | null)
}
/**
 * A program of some of the ranks.
 */
export interface ProgramRow {
/**
 * Its command line.
 */
command: string[]
/**
 * Number of ranks.
 */
ranks: number
/**
 * The ranks, as `0-3, 8`.
 */
ranks_text: string
}
/**
 * Facts about a model that was made without the analysis of all events.
 */
export interface SummaryFacts {
/**
 * True if the user asked for it (`--summary`); false: it was chosen because of `estimated_s`.
 */
asked: boolean
/**
 * Records of calls in all logs; estimated from their bytes for logs without an index.
 */
records: number
/**
 * Time that the analysis of all of them is estimated to take.
 */
estimated_s: number
/**
 * Ranks whose figures come from their summaries.
 */
ranks_from_summaries: number
/**
 * Ranks without a usable summary: their events were added up.
 */
ranks_from_events: number
/**
 * Ranks whose summaries have no iterations, because there were too many. If there are any, nothing is known by iteration.
 */
ranks_without_iterations: number
}
/**
 * A kind of problem, all ranks together.
 */
export interface ProblemRow {
/**
 * Name of the kind.
 */
kind: string
/**
 * `note`: worth knowing; `partial`: data are missing; `doubtful`: figures may be misleading.
 */
severity: string
/**
 * Description of the problem, as a sentence.
 */
meaning: string
/**
 * Advice on the problem.
 */
advice: string
/**
 * Number of ranks with the problem; 0: the whole run.
 */
rank_count: number
/**
 * Ranks with the problem; the first 1,000 unless `--full` is given.
 */
ranks: number[]
/**
 * Number of occurrences, or of records, bytes or ranks.
 */
count: number
/**
 * Places and circumstances; the first few that differ.
 */
details: string[]
}
/**
 * Polls, and the time between them.
 */
export interface PollingRow {
/**
 * The value of `--polling`: `auto`, the lengths of the intervals decide; `waiting`, however long they are; `computation`, however short they are.
 */
rule: string
/**
 * Unsuccessful polls.
 */
polls: number
/**
 * Waits by polling.
 */
waits: number
/**
 * Time within the polls.
 */
within_s: number
/**
 * Time between them that counts as waiting.
 */
waiting_s: number
/**
 * The part of `waiting_s` that may be computation.
 */
maybe_computation_s: number
/**
 * Time between them that counts as computation.
 */
computation_s: number
/**
 * The part of `computation_s` that may be waiting.
 */
maybe_waiting_s: number
}
/**
 * Time from the first start of a process to the last exit, and the part of it that the report describes.
 */
export interface LifetimeTable {
/**
 * From the first start of a process to the last exit, as far as the logs say; of processes that were killed, to the end of their logs.
 */
elapsed_s: number
/**
 * Share of it that the efficiencies describe: `run.elapsed_s` / `elapsed_s`.
 */
described_share: number
/**
 * Times of ranks outside of the window, in chronological order.
 */
parts: LifetimePart[]
}
/**
 * A part of the ranks' lives outside of the window.
 */
export interface LifetimePart {
/**
 * `before MPI_Init`: from the start of the process; `MPI_Init`, waiting for ranks that enter it later included; `starting the recorder`, after that; `MPI_Finalize`; `after MPI_Finalize`: to the exit of the process.
 */
phase: string
/**
 * Ranks of which it is known.
 */
ranks: number
/**
 * The median over these ranks, the lower of two.
 */
median_s: number
/**
 * The longest.
 */
max_s: number
/**
 * The rank that it is of, the lowest of several.
 */
max_rank: number
}
/**
 * The selected part of a run; what was not restricted is null.
 */
export interface SelectionRow {
/**
 * Number of selected ranks, including those without a log.
 */
rank_count: (number | null)
/**
 * The selected ranks, ascending; the first 1,000 unless `--full` is given.
 */
ranks: (number[] | null)
/**
 * Path of the selected region.
 */
region: (string | null)
/**
 * Start of the selected time, from the start of the run.
 */
from_s: (number | null)
/**
 * The first iteration of the main loop in it.
 */
from_iteration: (number | null)
/**
 * Its end.
 */
to_s: (number | null)
/**
 * The last iteration in it.
 */
to_iteration: (number | null)
}
/**
 * The verdict and its words.
 */
export interface VerdictInWords {
/**
 * The cluster that the verdict describes: the one that loses most time over its ranks besides waiting for ranks of other clusters, or, if all lose little that way (5 % of their time), the one that computes most; null if it describes all ranks, because they run the same code or go through the same iterations.
 */
cluster: (VerdictCluster | null)
/**
 * Elapsed time for which no rank has records: for all ranks `run.elapsed_s` minus `efficiency.elapsed_s`.
 */
not_recorded_s: number
/**
 * Elapsed time of these ranks, recorded or not: from the first begin of their windows to the last end.
 */
window_s: number
/**
 * Recorded elapsed time minus the mean computation; a mean over ranks, like all times of the verdict.
 */
lost_s: number
/**
 * `lost_s` / recorded elapsed time; null if nothing was recorded.
 */
lost_share: (number | null)
/**
 * Part of it: longest minus mean computation.
 */
imbalance_s: number
/**
 * Ideal time minus longest computation; null if the ideal time is not reliable.
 */
serialization_s: (number | null)
/**
 * Part of it: different ranks are the slowest in different iterations: sum over iterations of the longest computation, minus the longest total computation; null if no iterations are known, or the found loop is unsure (`serialization_undivided`).
 */
slow_in_turn_s: (number | null)
/**
 * Part of it: different ranks are the slowest in different parts of an iteration: what `regions balanced` of `predictions` saves beyond `imbalance_s`; null if that was not predicted.
 */
slow_in_parts_s: (number | null)
/**
 * The rest: ranks depend on each other within iterations: ideal time by replay minus that sum and `slow_in_parts_s`; null if iterations, likewise, or the replay are not known.
 */
dependency_chains_s: (number | null)
/**
 * Why it is not known which kind of serialization it is; null if it is known, or there is none.
 */
serialization_undivided: (UndividedReason | null)
/**
 * The recorder's own time.
 */
recorder_s: number
/**
 * The rest. `imbalance_s`, `serialization_s`, `recorder_s` and this add up to `lost_s`.
 */
communication_s: number
/**
 * The rank that computes longest; in the main loop, if work before or after it is a finding of its own; null on one rank.
 */
worst: (LongestRank | null)
/**
 * The regions in which a rank exceeds the mean, the largest excess first, at most 4; empty unless different ranks are slow in different parts of an iteration (`slow_in_parts_s`).
 */
slow_parts: SlowPart[]
/**
 * The answer of the first screen in words.
 */
answer: AnswerText
/**
 * `answer` as one text.
 */
text: string
/**
 * True if the report gives advice: not for a run that failed, did not end by `MPI_Finalize` or exit, had no cores to compute, or made too few calls.
 */
advised: boolean
}
/**
 * The cluster of which the verdict is.
 */
export interface VerdictCluster {
/**
 * Its `id` in `clusters`.
 */
id: number
/**
 * The part of its loss that is waiting caused by ranks outside it, the mean over its ranks.
 */
waits_for_others_s: number
}
/**
 * The rank that computes longest.
 */
export interface LongestRank {
/**
 * Its number.
 */
rank: number
/**
 * Its computation.
 */
computation_s: number
/**
 * The mean computation of all ranks.
 */
mean_s: number
/**
 * `computation_s` − `mean_s`.
 */
over_mean_s: number
/**
 * The region in which most of the excess lies; null if there is only the whole program.
 */
region: (WorstRegion | null)
/**
 * In which functions it computes longer than the mean, in that region, or in the whole program if `region` is null; null if the rank was not sampled.
 */
explained: (ExplainedExcess | null)
/**
 * In which iterations it and `equal_ranks` have their excess; null if in most of them, or if that is not known.
 */
iterations: (ExcessIterations | null)
/**
 * The other ranks whose computation exceeds the mean by at least 90 % as much, in the same region, ascending.
 */
equal_ranks: number[]
}
/**
 * The region with most of a rank's excess.
 */
export interface WorstRegion {
/**
 * The region's path.
 */
path: string
/**
 * Excess of the rank's computation there over the mean of all ranks, inner regions excluded.
 */
excess_s: number
}
/**
 * In which functions a rank computes longer than the mean.
 */
export interface ExplainedExcess {
/**
 * The functions with most of it, with all that compilers put into them; only those in which it is significant, at most 3. If functions are put into one another, it is the innermost that has at least 80 % of it.
 */
functions: ExcessIn[]
/**
 * Computation without samples of that rank, more than the mean, if that is significant; else null.
 */
not_running_s: (number | null)
/**
 * Fraction of the whole excess.
 */
not_running_share: (number | null)
/**
 * The parts of that by the thread's state, if the kernel noted when it had a core, or states were recorded.
 */
states: (ExcessInState[] | null)
}
/**
 * A part of an excess.
 */
export interface ExcessIn {
/**
 * Its name without return type and parameters; null if it is not known.
 */
function: (string | null)
/**
 * Its source file.
 */
file: (string | null)
/**
 * The line with most CPU time.
 */
line: (number | null)
/**
 * Path of the executable or library; null for generated code.
 */
module: (string | null)
/**
 * CPU time of the rank in it, more than the mean.
 */
excess_s: number
/**
 * Standard error of that.
 */
excess_error_s: number
/**
 * `excess_s` over the whole excess, by the ranks' calls; null if there is none.
 */
share: (number | null)
/**
 * The function of the program that called it; null if it is not known.
 */
caller: (string | null)
/**
 * Source file of the caller.
 */
caller_file: (string | null)
/**
 * Line of the call, the first one if there are several; null if it is not known.
 */
caller_line: (number | null)
}
/**
 * A part of an excess in a state of the thread other than in the program's own code.
 */
export interface ExcessInState {
/**
 * The state.
 */
name: string
/**
 * Fraction of the whole excess; negative where the rank has less than the mean.
 */
share: number
}
/**
 * A region in which one rank computes longer than the others.
 */
export interface SlowPart {
/**
 * The rank that computes longest there.
 */
rank: number
/**
 * Path of the region.
 */
region: string
/**
 * Computation of the rank there less the mean over ranks, inner regions excluded.
 */
over_mean_s: number
/**
 * In which functions the rank computes longer than the mean there; null if it was not sampled.
 */
explained: (ExplainedExcess | null)
}
/**
 * The answer in words.
 */
export interface AnswerText {
/**
 * The loss and its reason, in a sentence.
 */
sentence: string
/**
 * Lines that support it, in the order of the first screen.
 */
lines: AnswerLine[]
}
/**
 * A line after the answer.
 */
export interface AnswerLine {
/**
 * Subject of the line: `where`: places in the program, and calls; `gain`: what a change saves, by replay, or why none is predicted; `try`: a change that helps for sure; `look at`: changes that may help; `note`: a doubt, or what else must be known.
 */
label: string
/**
 * Its words.
 */
text: string
}
/**
 * A thing that the run loses time by, or a condition because of which its figures are not the answer.
 */
export interface FindingRow {
/**
 * Conditions: `still running`, `ended early`: ranks have not ended, or not by themselves; `few calls`: too few to judge; `no cores`: ranks had none of their own; `one rank`; `set-up`: most of the run lies outside of `MPI_Init` … `MPI_Finalize`. Statements about all that is lost: `nothing`: no rank computes; `threads`: more is lost to idle threads; `thread pool`: threads that do not call MPI work; `starved pool`: they have no work; `master and workers`, `balanced`: little is lost; `unclear polls`, `asleep`: little, if that is computation. Parts of the loss: `static excess`: a rank has more work than the others; `serial code`: it works alone; `asleep rank`, `kernel rank`, `rank in state`: it takes longer asleep, in the kernel, or in another state of computation that is recorded; `last task`: the others wait for its last one; `emptied ranks`: it gets the work of ranks that get empty; `idle ranks`: a few have no work, the others equally much; `work outside of the loop`: it works longer once, before or after the main loop; `uneven groups`: a group with other code computes longer; `control of parallelism`; `moving rank`: first one rank has more work, then another; `slow in turn`: another in each iteration; `slow in parts`: another in each part of one; `awaited master`: ranks wait for the messages of one with code of its own; `chains`: ranks wait in chains; `serialization`: it is not known how; `busy coordinator`, `sleeping coordinator`: workers wait for a rank that is none of them; `busy target`, `held lock`: ranks wait in calls on windows; `rank in calls`: for the calls of one rank; `sleeping polls`: ranks sleep between polls for messages that are there; `rare delays`: a few calls take long; `small messages`, `large messages`, `late progress`, `communication`; `called by MPI`: functions of the program; `file access`; `late file progress`: nonblocking access to files is waited for; `recorder`.
 */
kind: string
/**
 * Seconds of the mean rank's time that it explains; 0 for conditions, and statements about all of the loss. The seconds of all findings and `not_explained_s` add up to `lost_s`.
 */
seconds: number
/**
 * `seconds` / recorded elapsed time.
 */
share: number
/**
 * The ranks that cause it, ascending, at most 1,000; empty if none stands out.
 */
ranks: number[]
/**
 * Their hosts.
 */
hosts: string[]
/**
 * Its place in the program; null if it has none that is known.
 */
place: (FindingPlace | null)
/**
 * Seconds by which the run would be shorter without it, by replay; null if that is not known, or little.
 */
gain_s: (number | null)
/**
 * `gain_s` / elapsed time.
 */
gain_share: (number | null)
/**
 * The finding in words.
 */
sentence: string
/**
 * Advice: a change, or a place to look at; empty if the evidence supports no advice.
 */
advice: string[]
/**
 * Figures behind the words, by name.
 */
evidence: {
[k: string]: number
}
}
/**
 * The place of a finding in the program.
 */
export interface FindingPlace {
/**
 * The place in words.
 */
text: string
/**
 * Name of the function; null if it is not known.
 */
function: (string | null)
/**
 * Its source file.
 */
file: (string | null)
/**
 * The line.
 */
line: (number | null)
/**
 * The function of the program that called it; null if it is not known.
 */
caller: (string | null)
/**
 * Source file of the caller.
 */
caller_file: (string | null)
/**
 * Line of the call, the first one if there are several; null if it is not known.
 */
caller_line: (number | null)
/**
 * Path of the region; null if the place is a call, or the whole program.
 */
region: (string | null)
/**
 * The MPI function that ranks call there, without `MPI_`; null if the place is no call.
 */
operation: (string | null)
}
/**
 * Efficiencies, with the times that they follow from.
 */
export interface EfficiencyRow {
/**
 * Mean / longest computation.
 */
load_balance: (number | null)
/**
 * Load balance within hosts: mean computation of the ranks of the host where it is largest / longest computation; null if there is one host, and of ranks with a loop of their own.
 */
load_balance_within_hosts: (number | null)
/**
 * Load balance between hosts: mean computation / mean of the ranks of the host where that is largest; likewise. Load balance is the product of the two.
 */
load_balance_between_hosts: (number | null)
/**
 * Longest computation / ideal time; POP: serialization efficiency.
 */
micro_load_balance: (number | null)
/**
 * Lower bound of `micro_load_balance`; equal to it if `t_ideal_certain`; null if the ideal time is not known, or its estimate is above the elapsed time.
 */
micro_load_balance_min: (number | null)
/**
 * Upper bound of `micro_load_balance`, likewise.
 */
micro_load_balance_max: (number | null)
/**
 * Ideal / elapsed time.
 */
transfer: (number | null)
/**
 * Lower bound of `transfer`, likewise.
 */
transfer_min: (number | null)
/**
 * Upper bound of `transfer`, likewise.
 */
transfer_max: (number | null)
/**
 * Longest computation / elapsed time; micro load balance × transfer.
 */
communication: (number | null)
/**
 * Mean computation / elapsed time; load balance × communication.
 */
parallel: (number | null)
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
 * Upper bound of `t_ideal_s`, likewise.
 */
t_ideal_max_s: (number | null)
/**
 * True if `t_ideal_s` is reliable: by replay, or by an estimate that is too short by at most 5 % of the elapsed time and not above that. If not, `micro_load_balance` and `transfer` lie between their bounds, or are not known if these are null.
 */
t_ideal_certain: boolean
/**
 * The estimate of the ideal time from iterations.
 */
t_ideal_phase_profile_s: (number | null)
/**
 * By how much the estimate may be too short where ranks meet within iterations.
 */
t_ideal_phase_profile_bound_s: (number | null)
/**
 * True if the estimate is above the elapsed time, by more than the 0.5 % that clocks may differ by: ranks do not wait for each other at the end of each iteration, and it is not used.
 */
t_ideal_phase_profile_above_elapsed: boolean
/**
 * True if the estimate is too short by at most 5 % of the elapsed time: `t_ideal_phase_profile_bound_s` / `elapsed_s` ≤ 0.05; null if there is none.
 */
t_ideal_phase_profile_close: (boolean | null)
/**
 * The ideal time from a replay on an ideal network; of the whole program only, and null if not all that ranks wait for is known.
 */
t_ideal_replay_s: (number | null)
}
/**
 * The activities of the cores of ranks with several threads. Core time is elapsed time × cores.
 */
export interface ThreadTable {
/**
 * Cores that all ranks use: for each rank the size of its largest team with at least 1 % of its time, plus the teams of other threads beside it, or 1.
 */
cores: number
/**
 * The smallest number of cores of a rank.
 */
min_cores: number
/**
 * The largest.
 */
max_cores: number
/**
 * `cores` × recorded elapsed time.
 */
core_time_s: number
/**
 * Work / core time: the product of `mpi` and `threads`.
 */
parallel: (number | null)
/**
 * Share of the core time that is neither in MPI nor idle because of it: the product of `load_balance` and `communication`.
 */
mpi: (number | null)
/**
 * Mean over cores of the time in which their rank computes / the longest such time of a rank.
 */
load_balance: (number | null)
/**
 * The longest time in which a rank computes, by core / elapsed time.
 */
communication: (number | null)
/**
 * Work / core time that is neither in MPI nor idle because of it: the product of the four that follow.
 */
threads: (number | null)
/**
 * Fraction left by threads that idle while the first one computes alone, or in smaller teams than others.
 */
serial: (number | null)
/**
 * Fraction left by threads that wait at barriers for others that work longer.
 */
thread_balance: (number | null)
/**
 * Fraction left by waits for critical sections, atomic operations, locks, ordered sections and tasks.
 */
waits: (number | null)
/**
 * Fraction left by starting and ending regions.
 */
fork_join: (number | null)
/**
 * Work of all threads.
 */
useful_s: number
/**
 * Losses of at least 1 % of the core time, the largest first.
 */
losses: CoreLoss[]
/**
 * Elapsed time of parallel regions that threads other than the one that called `MPI_Init` start, a sum over ranks.
 */
other_masters_s: number
/**
 * An object per parallel region and size of team, those with most thread time first, at most 100.
 */
regions: ParallelRegionRow[]
}
/**
 * A part of the core time that is lost.
 */
export interface CoreLoss {
/**
 * Kind of the loss.
 */
kind: CoreLossKind
/**
 * Core time lost, a sum over cores.
 */
core_s: number
/**
 * Its share of the core time.
 */
share: number
/**
 * The parallel region; null if it is not of one.
 */
at: (CodePlace | null)
/**
 * The thread of the team that mostly works longest; null if it is not always the same, and for other kinds.
 */
heavy_thread: (HeavyThread | null)
/**
 * Of `serial`: the function in which first threads are sampled most outside of parallel regions; null if it has less than 30 % of these samples.
 */
function: (SerialFunction | null)
/**
 * Of `mutex`: what threads of the region waited for longest; null if that is not known.
 */
mutex: (MutexRow | null)
}
/**
 * The known facts about a place in a program.
 */
export interface CodePlace {
/**
 * The function that calls.
 */
function: (string | null)
/**
 * Its source file.
 */
file: (string | null)
/**
 * The line.
 */
line: (number | null)
/**
 * Path of the executable or library; null where the address lies in none.
 */
module: (string | null)
/**
 * The address that the call returns to, as the module's own tables state it; the raw address where there is no module; null if it is not known.
 */
offset: (number | null)
/**
 * The calls around it, the innermost first, that distinguish it from calls at the same place that the program reaches through others; empty where all calls at the place are reached in one way, and where that is not known. If its function is not known, those up to the first whose function is.
 */
callers: Caller[]
}
/**
 * A call by which the program gets to a place.
 */
export interface Caller {
/**
 * The function that calls.
 */
function: (string | null)
/**
 * Its source file.
 */
file: (string | null)
/**
 * The line.
 */
line: (number | null)
/**
 * Path of the executable or library; null where the address lies in none.
 */
module: (string | null)
/**
 * The address that the call returns to, where the line is not known.
 */
offset: (number | null)
}
/**
 * A thread that works longer than others of its team.
 */
export interface HeavyThread {
/**
 * Its number in the team.
 */
thread: number
/**
 * Its work / the mean work of the others; null if these do none.
 */
against_others: (number | null)
}
/**
 * A function that one thread of a rank runs.
 */
export interface SerialFunction {
/**
 * Its name.
 */
name: string
/**
 * Its share of the CPU time of first threads outside of parallel regions, weighted by the cores that idle meanwhile.
 */
share: number
}
/**
 * Waits of threads of a parallel region for one mutex, summed over ranks.
 */
export interface MutexRow {
/**
 * Its kind.
 */
kind: MutexKind
/**
 * Name of a critical section, or FILE+0xADDRESS of a variable; null if neither is known.
 */
name: (string | null)
/**
 * Place of the waits; null if it is not known.
 */
at: (CodePlace | null)
/**
 * Number of waits, the shortest (about 1 µs) left out.
 */
waits: number
/**
 * Their time, all threads together.
 */
wait_s: number
}
/**
 * A parallel region, from one call site with one size of team, all ranks together.
 */
export interface ParallelRegionRow {
/**
 * The function that calls.
 */
function: (string | null)
/**
 * Its source file.
 */
file: (string | null)
/**
 * The line.
 */
line: (number | null)
/**
 * Path of the executable or library; null where the address lies in none.
 */
module: (string | null)
/**
 * The address that the call returns to, as the module's own tables state it; the raw address where there is no module; null if it is not known.
 */
offset: (number | null)
/**
 * The calls around it, the innermost first, that distinguish it from calls at the same place that the program reaches through others; empty where all calls at the place are reached in one way, and where that is not known. If its function is not known, those up to the first whose function is.
 */
callers: Caller[]
/**
 * True if it is started by the thread that called `MPI_Init`.
 */
of_first_thread: boolean
/**
 * Threads of a team.
 */
team: number
/**
 * Ranks that have it.
 */
ranks: number
/**
 * Instances, of all ranks.
 */
instances: number
/**
 * Elapsed time of all instances, summed over ranks.
 */
elapsed_s: number
/**
 * Work of all threads. This and the parts that follow add up to `team` × `elapsed_s`.
 */
useful_s: number
/**
 * Time in MPI, and in the recorder.
 */
mpi_s: number
/**
 * Waiting at barriers while another thread of the team is in MPI.
 */
idle_for_mpi_s: number
/**
 * Waiting at barriers because other threads work longer.
 */
imbalance_s: number
/**
 * Waiting because of critical sections, atomic operations and locks.
 */
mutex_s: number
/**
 * Waiting because of ordered sections.
 */
ordered_s: number
/**
 * Waiting for tasks.
 */
tasks_s: number
/**
 * Until threads have begun, and after the last one has come to the end.
 */
fork_join_s: number
/**
 * The longest work of a thread, summed over instances.
 */
longest_s: number
/**
 * An object per thread of the team, by number, at most 64.
 */
threads: RegionThreadRow[]
/**
 * The mutexes that threads waited for, the longest waits first, at most 8; none if only a part of the time was selected.
 */
mutexes: MutexRow[]
}
/**
 * The times of a thread in a parallel region, summed over ranks.
 */
export interface RegionThreadRow {
/**
 * Its number in the team.
 */
thread: number
/**
 * Work.
 */
useful_s: number
/**
 * Time in MPI, and in the recorder.
 */
mpi_s: number
/**
 * Its own waits for critical sections, atomic operations, locks, ordered sections and tasks.
 */
waits_s: number
/**
 * Instances in which it works longest.
 */
longest: number
}
/**
 * Threads that ranks start with one routine, all ranks together; without OpenMP's threads where parallel regions were measured.
 */
export interface ThreadPoolRow {
/**
 * The routine's name; for `std::thread` the name of the function that it runs.
 */
name: string
/**
 * Location of the routine.
 */
routine: CodePlace
/**
 * Ranks that have such threads.
 */
ranks: number
/**
 * The most threads at a time, summed over ranks: n.
 */
threads: number
/**
 * Threads started, short-lived ones included, of the whole run.
 */
started: number
/**
 * The rank whose threads work longest: CPU time besides waiting.
 */
longest_rank: number
/**
 * The CPU time besides waiting of its threads.
 */
longest_s: number
/**
 * The whole program.
 */
program: PoolUse
/**
 * Each region by itself, inner regions excluded, those with most CPU time first; at most 20.
 */
regions: PoolUse[]
}
/**
 * The use of a pool's threads in a region.
 */
export interface PoolUse {
/**
 * Its path.
 */
region: string
/**
 * Time of the region on each rank × its threads, summed over ranks.
 */
thread_time_s: number
/**
 * CPU time of the threads, all ranks together.
 */
cpu_s: number
/**
 * The part of `cpu_s` in which they wait for other threads or look for work: in the run-time libraries of OpenMP and TBB, and in `sched_yield`.
 */
waiting_s: number
/**
 * (`cpu_s` − `waiting_s`) / `thread_time_s`.
 */
utilization: (number | null)
/**
 * Its standard error.
 */
utilization_error: (number | null)
}
/**
 * Overheads, efficiency and speedup, as they are written.
 */
export interface OverheadFigures {
/**
 * Time of the same work on one rank, assumed to be the computation of all ranks in regions that are useful or serial work.
 */
t_seq_s: number
/**
 * 1 / sum of the ratios of all phases; null if nothing is computed.
 */
efficiency: (number | null)
/**
 * Speedup: that time × ranks.
 */
speedup: (number | null)
/**
 * An object per phase that occurs.
 */
phases: OverheadPhase[]
/**
 * Time that ranks wait for others that compute; a part of the phases above.
 */
imbalance: ImbalanceRow
/**
 * Time in which one rank alone computes; null if calls were not recorded, or clocks cannot be compared.
 */
alone: (AloneRow | null)
}
/**
 * A phase and its overhead.
 */
export interface OverheadPhase {
/**
 * `useful work`, `serial work`, `control of parallelism`: computation by kind of region; an activity; `idle`; `not recorded`.
 */
phase: string
/**
 * Time in it.
 */
time_s: number
/**
 * Its mean over ranks.
 */
mean_s: number
/**
 * `time_s` / `t_seq_s`.
 */
ratio: (number | null)
/**
 * Time of each rank / (`t_seq_s` / ranks), in the order of the ranks; of several successive ranks the largest.
 */
ratio_by_rank: (number[] | null)
/**
 * Number of ranks that an entry stands for, the last maybe for fewer: 1, but for more than 512 ranks without `--full`.
 */
ranks_per_ratio: number
/**
 * The largest of these.
 */
ratio_max: (number | null)
/**
 * The rank with that, the lowest of several.
 */
ratio_max_rank: (number | null)
}
/**
 * Waiting that follows from imbalance.
 */
export interface ImbalanceRow {
/**
 * Sum of the known parts.
 */
all: ImbalancePart
/**
 * Waiting while one rank works alone; null if that is not known.
 */
amdahl: (ImbalancePart | null)
/**
 * Waiting because total computation differs between ranks, minus the above.
 */
global: ImbalancePart
/**
 * Waiting because it differs within iterations, minus the above; null if no iterations are known, or the found loop is unsure.
 */
temporal: (ImbalancePart | null)
/**
 * Waiting because ranks depend on each other within iterations: the rest of ranks × ideal time by replay; null if iterations, likewise, or the replay are not known.
 */
chains: (ImbalancePart | null)
/**
 * Waiting for one of these two reasons, of which it is not known which; null if they are known, or the ideal time is not.
 */
unsplit: (ImbalancePart | null)
}
/**
 * A part of the waiting that follows from imbalance.
 */
export interface ImbalancePart {
/**
 * Its time.
 */
time_s: number
/**
 * The mean over ranks.
 */
mean_s: number
/**
 * `time_s` / `t_seq_s`.
 */
ratio: (number | null)
}
/**
 * The time that one rank alone computes.
 */
export interface AloneRow {
/**
 * For any reason.
 */
alone_s: number
/**
 * While the others have nothing to do.
 */
serial_s: number
/**
 * Two standard errors of `serial_s`.
 */
error_s: number
/**
 * Time between the samples that these come from.
 */
step_s: number
/**
 * Number of ranks that work alone.
 */
serial_ranks: number
/**
 * Ranks that work alone, an object each, the longest first; 1,000 at most unless `--full` is given.
 */
serial: RankSeconds[]
}
/**
 * A rank and the time for which it works alone.
 */
export interface RankSeconds {
/**
 * The rank.
 */
rank: number
/**
 * Time on it.
 */
time_s: number
}
/**
 * A rank.
 */
export interface RankRow {
/**
 * Its rank in MPI_COMM_WORLD.
 */
rank: number
/**
 * Its host.
 */
host: string
/**
 * Its process id.
 */
pid: number
/**
 * Start of its window, from the start of the run.
 */
begin_s: number
/**
 * End of its window.
 */
end_s: number
/**
 * End of the rank: `finalize`, with `MPI_Finalize`; `exit`, without; `abort`, by `MPI_Abort`; null if its log does not say (killed, or still running).
 */
end: (string | null)
/**
 * The code given to `MPI_Abort`.
 */
abort_code: (number | null)
/**
 * The status that the rank's process gave to exit(), or returned from main; null if that is not known, and where it is 0 after `MPI_Finalize`.
 */
exit_status: (number | null)
/**
 * The life of its process outside of its window.
 */
lifetime: ProcessLifetime
/**
 * The call in which the rank was when its log ended without an end.
 */
in_call: (MpiCall | null)
/**
 * Its computation.
 */
computation_s: number
/**
 * CPU time of its computation, by samples; null if it was not sampled.
 */
computation_cpu_s: (number | null)
/**
 * Time by activity, of the thread that called `MPI_Init`.
 */
activities: {
[k: string]: number
}
/**
 * Computation by state of its first thread: on a core in user space (`useful`) or in the `kernel`, `asleep`, without a core (`no core`), or `not known`; null if the kernel noted no switches.
 */
core_states: ({
[k: string]: number
} | null)
/**
 * Time in MPI: all activities but computation and the recorder.
 */
mpi_s: number
/**
 * Time outside of its window while others are in theirs.
 */
idle_s: number
/**
 * Time for which recording was stopped.
 */
paused_s: number
/**
 * `computation_s` over the mean of all ranks, less 1.
 */
over_mean: (number | null)
/**
 * Its records.
 */
events: number
/**
 * Time in which it could only wait; null if waiting was not analysed.
 */
blocked_s: (number | null)
/**
 * Waiting of all ranks that it causes.
 */
blocking_caused_s: (number | null)
/**
 * `id` of its cluster; null for a rank of none.
 */
cluster: (number | null)
/**
 * Regions in which it has the largest ID_P of all ranks.
 */
imbalanced_regions: number
/**
 * Its time in those.
 */
imbalanced_s: number
/**
 * True if it divides its time notably differently from the others: in the one of those regions with most of its time, its ID_P is at least 0.05, and its time at least 2 % of the elapsed time.
 */
deviates: boolean
/**
 * Threads beside the first that called MPI.
 */
other_threads: number
/**
 * Time that they spent in MPI; in no other figure of the rank.
 */
other_threads_mpi_s: number
/**
 * Resources used between the first and last sample; null if there are not two, and for a part of the rank's time.
 */
usage: (ResourceUsage | null)
}
/**
 * The life of a rank's process outside of its window. Null: the log does not say, or the process was killed before.
 */
export interface ProcessLifetime {
/**
 * From the start of the process to the entry of `MPI_Init`.
 */
before_init_s: (number | null)
/**
 * In `MPI_Init`.
 */
init_s: (number | null)
/**
 * From the return of `MPI_Init` until the recorder had started.
 */
recorder_start_s: (number | null)
/**
 * In `MPI_Finalize`.
 */
finalize_s: (number | null)
/**
 * From the return of `MPI_Finalize` to the exit of the process.
 */
after_finalize_s: (number | null)
}
/**
 * A call of MPI: its operation, and where it is.
 */
export interface MpiCall {
/**
 * The MPI function, without `MPI_`.
 */
operation: string
/**
 * The function that calls.
 */
function: (string | null)
/**
 * Its source file.
 */
file: (string | null)
/**
 * The line.
 */
line: (number | null)
/**
 * Path of the executable or library; null where the address lies in none.
 */
module: (string | null)
/**
 * The address that the call returns to, as the module's own tables state it; the raw address where there is no module; null if it is not known.
 */
offset: (number | null)
/**
 * The calls around it, the innermost first, that distinguish it from calls at the same place that the program reaches through others; empty where all calls at the place are reached in one way, and where that is not known. If its function is not known, those up to the first whose function is.
 */
callers: Caller[]
}
/**
 * Resources used between two samples.
 */
export interface ResourceUsage {
/**
 * Time between the samples.
 */
elapsed_s: number
/**
 * CPU time of the thread that called `MPI_Init`.
 */
thread_cpu_s: number
/**
 * Time for which that thread could have run but had no core.
 */
thread_delayed_s: number
/**
 * CPU time of the process in user mode.
 */
user_s: number
/**
 * CPU time of the process in the system.
 */
system_s: number
/**
 * Times that the thread was preempted.
 */
thread_involuntary_switches: number
/**
 * Times that the process gave up a core to wait.
 */
voluntary_switches: number
/**
 * Largest resident memory since its start.
 */
max_resident_bytes: number
/**
 * Bytes that the process read from storage, as the system counts them: not from memory that held them still.
 */
read_bytes: number
/**
 * Bytes that the process wrote for storage.
 */
written_bytes: number
/**
 * CPU time in the kernel of the thread that called `MPI_Init`.
 */
thread_system_s: (number | null)
/**
 * Page faults of that thread.
 */
thread_page_faults: (number | null)
}
/**
 * An activity.
 */
export interface ActivityRow {
/**
 * The activity.
 */
name: ActivityName
/**
 * Time in it.
 */
time_s: number
/**
 * Fraction of ranks × elapsed time.
 */
share: number
/**
 * Its mean over ranks.
 */
mean_s: number
/**
 * Its longest of a rank.
 */
max_s: number
/**
 * `max_s` − `mean_s`.
 */
over_mean_s: number
/**
 * The rank with that time, the lowest of several.
 */
max_rank: number
/**
 * Calls; of computation: intervals between calls.
 */
calls: number
/**
 * Bytes sent, written or contributed.
 */
sent_bytes: number
/**
 * Bytes received, read or given.
 */
received_bytes: number
/**
 * ID_A: mean of its indices of dispersion in all regions, weighted by time; null for the recorder.
 */
id_a: (number | null)
/**
 * SID_A: that times its share.
 */
sid_a: (number | null)
/**
 * True if `sid_a` is severe: the largest of all activities.
 */
severe: boolean
/**
 * True if the ranks differ in it by 2 % of the elapsed time: their standard deviation, √P × `sid_a`, or `over_mean_s`.
 */
differs: boolean
/**
 * Path of the region with most of its time.
 */
worst_region: (string | null)
/**
 * Path of the region with the least time in it, among those that perform it.
 */
best_region: (string | null)
}
/**
 * The run's computation by state, and the factors that follow from it: their product is the share of computation that is useful.
 */
export interface CoreStateTable {
/**
 * A row per state that occurs.
 */
states: CoreStateRow[]
/**
 * Number of ranks of which it is known, and of which it is.
 */
ranks: number
/**
 * Computation less that without a core / computation.
 */
with_core: (number | null)
/**
 * Computation on a core / computation less that without a core: 1 where no rank sleeps or is stopped outside of MPI.
 */
awake: (number | null)
/**
 * Computation on a core outside of the kernel / computation on a core. Time that is not known counts as such.
 */
user_space: (number | null)
/**
 * Standard error of the mean time in user space, and in the kernel, from the number of samples.
 */
error_s: number
}
/**
 * A state of computation.
 */
export interface CoreStateRow {
/**
 * The state.
 */
name: string
/**
 * Fraction of computation.
 */
share: number
/**
 * Its mean over ranks.
 */
mean_s: number
/**
 * Its longest of a rank.
 */
max_s: number
/**
 * The rank with that time, the lowest of several.
 */
max_rank: number
}
/**
 * A region.
 */
export interface RegionRow {
/**
 * Its names from the outermost on, joined with `/`.
 */
path: string
/**
 * Its name without lines, the same in all versions of the program; null for a marked region.
 */
code: (CodeName | null)
/**
 * `marked`: by a marker; also the whole program. `found`: in the calls, a loop or code between calls.
 */
source: string
/**
 * Kind of the region, as it was marked: `useful` work, the default; `control` of parallelism, partitioning and the like; `serial` work.
 */
kind: string
/**
 * True if its invocations are iterations.
 */
iterated: boolean
/**
 * Time in it, inner regions excluded.
 */
time_s: number
/**
 * Fraction of ranks × elapsed time.
 */
share: number
/**
 * The mean of `time_s` over ranks.
 */
mean_s: number
/**
 * Time in it and its inner regions.
 */
inclusive_s: number
/**
 * By activity, inner regions excluded.
 */
activities: {
[k: string]: RegionActivity
}
/**
 * Its computation by the state of the ranks' first threads, inner regions excluded, the mean over ranks; null if that is not known of a rank.
 */
core_states: ({
[k: string]: number
} | null)
/**
 * Its share of the elapsed time, inner regions excluded, the recorder's own time left out; null if no time is spent in the region alone.
 */
share_c: (number | null)
/**
 * ID_C: mean of the indices of its activities, weighted by time; null if no time is spent in the region alone.
 */
id_c: (number | null)
/**
 * SID_C: `id_c` × `share_c`.
 */
sid_c: (number | null)
/**
 * True if `sid_c` is severe: the largest of all regions.
 */
severe: boolean
/**
 * Its group of regions that spend their time alike, from 1, the heaviest; null if there are no groups, or no time is spent in the region alone.
 */
group: (number | null)
/**
 * The rank whose distribution of time over activities in the region differs most from the others; null if there is no single one, as always with two ranks.
 */
most_imbalanced: (MostImbalancedRank | null)
/**
 * Efficiencies of the region, inner regions included; elapsed time is the longest that a rank spends in it. If some ranks have a found loop of their own, which shares no call with the loop of the others, the efficiencies of its regions are of these ranks alone.
 */
efficiency: EfficiencyRow
/**
 * The rank that computes longest in it.
 */
slowest_rank: (number | null)
/**
 * True if that is more than noise: its computation exceeds the mean by more than 1 % of itself.
 */
slowest_stands_out: boolean
/**
 * Iterations of the rank with most; null if it is not iterated.
 */
iterations: (number | null)
/**
 * Operations that the user counted in it (LBPROF_WORK), all ranks together.
 */
operations: number
/**
 * Quanta, likewise.
 */
quanta: number
/**
 * Largest resident memory of a rank when it left the region; 0 where it was not sampled.
 */
max_resident_bytes: number
/**
 * Largest swapped memory, likewise.
 */
max_swapped_bytes: number
/**
 * `operations` per second of computation of all ranks in it, inner regions included; null if nothing is computed.
 */
operations_per_s: (number | null)
/**
 * `quanta` per second of that.
 */
quanta_per_s: (number | null)
/**
 * Times it was entered, all ranks together; null if no entry was seen: for the whole program, and in a part of the time if ranks had entered the region before, or if it is a loop inside the main one, whose iterations are counted in the whole run only.
 */
invocations: (number | null)
}
/**
 * The name of code, without lines.
 */
export interface CodeName {
/**
 * The function in which it lies, after the functions and marked regions around it, joined with `/`; empty for a loop.
 */
function: string
/**
 * The calls after and before which it runs, as `Sendrecv → Allreduce`; empty for all of the function.
 */
calls: string
/**
 * Its place, from 1 on, among the code between such calls in the order of the source.
 */
ordinal: number
}
/**
 * An activity in a region.
 */
export interface RegionActivity {
/**
 * Mean over ranks.
 */
mean_s: number
/**
 * Longest of a rank.
 */
max_s: number
/**
 * ID: index of dispersion of the ranks' times, 0 where they are equal, √(1 − 1/P) where one of P ranks has all; null for the recorder.
 */
id: (number | null)
}
/**
 * The rank whose distribution of time over activities differs most from the others.
 */
export interface MostImbalancedRank {
/**
 * The rank.
 */
rank: number
/**
 * ID_P: the distance of its shares by activity from the mean of all ranks'.
 */
id_p: number
/**
 * Its own time in the region alone.
 */
time_s: number
}
/**
 * A loop, found in the calls of some ranks.
 */
export interface LoopRow {
/**
 * Its name, or the name of its region if it has one.
 */
name: string
/**
 * Index in `loops` of the loop around it.
 */
parent: (number | null)
/**
 * True if it is the main loop of its ranks; no rank has two. Ranks that go through the same iterations with different calls are one row.
 */
main: boolean
/**
 * True if `iterations` describes its iterations: for several main loops, the one in which most is computed; for several groups that go through the same iterations, all loops with one name.
 */
in_report: boolean
/**
 * Number of ranks that go through the loop.
 */
rank_count: number
/**
 * The ranks, ascending; the first 1,000 unless `--full` is given.
 */
ranks: number[]
/**
 * The call that ends an iteration; the first of several, or the call of most ranks if they make different ones.
 */
ends_at: (EndOfIteration | null)
/**
 * Fewest iterations of a rank in the selected time, those that its ends cut included: of the main loop counted in all calls, of others estimated from `for_each_main`.
 */
iterations_min: number
/**
 * Largest number of iterations of a rank, likewise.
 */
iterations_max: number
/**
 * The smallest number of iterations that is possible, by all signs of another one: `iterations_min` where the number is certain; null if it is no main loop.
 */
possible_min: (number | null)
/**
 * The largest, likewise.
 */
possible_max: (number | null)
/**
 * Iterations for each one of the main loop, the mean in the calls that were searched.
 */
for_each_main: number
/**
 * Fewest iterations in one of the loop around it, in the calls that were searched; null if no loop is around it.
 */
in_parent_min: (number | null)
/**
 * Most of them; null likewise.
 */
in_parent_max: (number | null)
/**
 * Share of its ranks' selected time that it covers, 0 to 1; of other loops than the main one an estimate.
 */
covered: number
/**
 * Share of the iterations that have the same kinds of calls as most have; null if it is no main loop.
 */
alike: (number | null)
/**
 * Confidence in the loop; null if it is no main loop.
 */
confidence: (LoopConfidence | null)
/**
 * The most serious reason to suspect another loop than the one found; null if there is none, and where it is no main loop. Where the user named the call that ends an iteration, only `period`.
 */
doubt: (LoopDoubt | null)
}
/**
 * The call that ends an iteration.
 */
export interface EndOfIteration {
/**
 * Its operation.
 */
operation: string
/**
 * The function that calls.
 */
function: (string | null)
/**
 * Its source file.
 */
file: (string | null)
/**
 * The line.
 */
line: (number | null)
/**
 * Path of the executable or library; null where the address lies in none.
 */
module: (string | null)
/**
 * The address that the call returns to, as the module's own tables state it; the raw address where there is no module; null if it is not known.
 */
offset: (number | null)
/**
 * The calls around it, the innermost first, that distinguish it from calls at the same place that the program reaches through others; empty where all calls at the place are reached in one way, and where that is not known. If its function is not known, those up to the first whose function is.
 */
callers: Caller[]
/**
 * True if an uninterrupted run of such calls ends only one iteration.
 */
run: boolean
}
/**
 * The iterations of the main loop.
 */
export interface IterationTable {
/**
 * Origin of the iterations: `marked` by LBPROF_ITERATION_BEGIN, or `found` in the calls; null if none are known.
 */
source: (string | null)
/**
 * Path of the main loop: of the iterated regions that lie in no other, the one with most computation.
 */
region: (string | null)
/**
 * Iterations.
 */
count: number
/**
 * An object per iteration, or per `stride` successive ones.
 */
per_iteration: GroupRow[]
/**
 * Computation for which ranks were off their cores, by state, as the kernel noted: for each object of `per_iteration` the seconds of an iteration, means over ranks and iterations.
 */
states: {
[k: string]: number[]
}
/**
 * Iterations completed by the maximum number of ranks; `slowest` and `trends` only cover those with known computation.
 */
whole: number
/**
 * Number of these whose computation is known, which all figures below are of.
 */
known: number
/**
 * Number of these whose computation is not known: before them, ranks enter a loop that was found in the calls.
 */
unknown: number
/**
 * Number of the first iteration without known computation.
 */
first_unknown: (number | null)
/**
 * Longest computation of a rank in an iteration, the mean over iterations.
 */
slowest_mean_s: number
/**
 * Longest computation of a rank in any iteration.
 */
slowest_max_s: number
/**
 * Mean imbalance of an iteration (longest less mean computation) / `slowest_mean_s`; null if nothing is computed. Up to 0.01 ranks differ by noise alone, so that `slowest` means nothing.
 */
imbalance_share: (number | null)
/**
 * Ranks by how often each is the slowest, the most first.
 */
slowest: SlowestRank[]
/**
 * Changes over the run; null if no iterations are known.
 */
trends: (TimeTrends | null)
/**
 * Number of iterations that an object of `per_iteration` stands for, the last maybe for fewer: 1, but if there are more than 4,000 iterations and `--full` is not given, the smallest number that leaves at most 4,000 objects; null if there are none.
 */
stride: (number | null)
}
/**
 * Successive iterations, mostly a single one. All that follows `count` is null if the computation is not known, as in the first iteration of a loop that was found in the calls; for several iterations, it covers those where it is.
 */
export interface GroupRow {
/**
 * Its number, or the number of the first of several.
 */
iteration: number
/**
 * Number of iterations that the group stands for; the times are their means.
 */
count: number
/**
 * Longest computation of a rank in it; this and what follows null if it is not known, as in the first iteration of a loop that was found in the calls; of several iterations, of those where it is.
 */
max_s: (number | null)
/**
 * Peak time: for several iterations the longest of all, not their mean.
 */
peak_s: (number | null)
/**
 * Mean computation of all ranks in it.
 */
mean_s: (number | null)
/**
 * Longest less mean.
 */
imbalance_s: (number | null)
/**
 * Mean / longest.
 */
load_balance: (number | null)
/**
 * The rank that computes longest; of several iterations, the one that does so in most.
 */
slowest_rank: (number | null)
/**
 * Ranks that went through all of it; for several iterations, the fewest.
 */
ranks: number
}
/**
 * A rank that is the slowest in some iterations.
 */
export interface SlowestRank {
/**
 * The rank.
 */
rank: number
/**
 * In how many iterations.
 */
count: number
/**
 * Fraction of the iterations.
 */
share: number
}
/**
 * Changes of the iterations' times over the run.
 */
export interface TimeTrends {
/**
 * The longest computation of a rank.
 */
max: SeriesShape
/**
 * The mean computation of all ranks.
 */
mean: SeriesShape
/**
 * Their difference.
 */
imbalance: SeriesShape
}
/**
 * The shape of a series; nothing where it has fewer than [`MIN_ITERATIONS_OF_TREND`] values.
 */
export interface SeriesShape {
/**
 * First iterations that are much longer than those that follow.
 */
warm_up: (WarmUp | null)
/**
 * Growth or decline over the run.
 */
trend: (SeriesTrend | null)
}
/**
 * First iterations that are much longer than those that follow.
 */
export interface WarmUp {
/**
 * Number of iterations.
 */
iterations: number
/**
 * By how much, their mean.
 */
excess_s: number
}
/**
 * Growth or decline.
 */
export interface SeriesTrend {
/**
 * Change from one iteration to the next.
 */
slope_s: number
/**
 * Median of the first 24th of the iterations.
 */
first_s: number
/**
 * Median of the last.
 */
last_s: number
/**
 * Probability of as much by chance, below 0.0001.
 */
p_value: number
}
/**
 * Waiting and its causes, with names.
 */
export interface BlockingTable {
/**
 * The ranks' time: ranks × elapsed time.
 */
ranks_time_s: number
/**
 * Waiting over that.
 */
share: number
/**
 * Waiting because of ranks that are not selected.
 */
not_selected_s: number
/**
 * The rank that causes most waiting; null if no rank waits.
 */
most_by: (CausingRank | null)
/**
 * If a region is selected, the waiting in any region that is caused in it; else null.
 */
by_region: (CausedByRegion | null)
/**
 * Time in which ranks could only wait.
 */
total_s: number
/**
 * Waiting by the class of its cause.
 */
by_class: WaitsByClass
/**
 * Fractions of all waiting, by the class of its cause.
 */
by_class_share: WaitsByClass
/**
 * Waiting caused by imbalance: the five classes `imbalance_…` together.
 */
imbalance_s: number
/**
 * Fraction of all waiting.
 */
imbalance_share: number
/**
 * Waiting by why a rank waits.
 */
states: StateRow[]
/**
 * Pairs of a waiting rank and the rank that causes it, the longest first; at most 1,000 unless `--full` is given.
 */
pairs: PairRow[]
/**
 * The pairs of ranks that are not listed.
 */
pairs_left_out: RowsLeftOut
/**
 * The activities of ranks that others wait for, the largest first; at most 1,000 unless `--full` is given.
 */
causes: CauseRow[]
/**
 * The causes that are not listed; `phases` has all of them by region and class.
 */
causes_left_out: RowsLeftOut
/**
 * Waiting by region and class, summed over ranks, the most expensive first.
 */
phases: PhaseRow[]
/**
 * Waiting by call site, operation and region, the longest first.
 */
waits: WaitRow[]
/**
 * Numbers of calls that could be matched, and that could not.
 */
matching: ReplayCounts
}
/**
 * The waiting that a rank causes.
 */
export interface CausingRank {
/**
 * The rank.
 */
rank: number
/**
 * Waiting of all ranks that it causes.
 */
caused_s: number
/**
 * Fraction of all waiting.
 */
share: number
}
/**
 * The waiting, in any region, that a selected region causes.
 */
export interface CausedByRegion {
/**
 * Waiting of all ranks that is caused in the region, in all regions.
 */
caused_s: number
/**
 * Fraction of all waiting of the selected ranks and time.
 */
share: number
/**
 * The rank that causes most of it, and that over all of it; null if no rank waits.
 */
most_by: (CausingRank | null)
}
/**
 * Seconds of waiting by what they are caused by. They sum to all waiting.
 */
export interface WaitsByClass {
/**
 * Time in MPI that is no waiting itself.
 */
communication: number
/**
 * Messages in transit.
 */
message_delay: number
/**
 * Computation in regions marked as control of parallelism.
 */
control: number
/**
 * Imbalance from other computation: while one rank works alone.
 */
imbalance_amdahl: number
/**
 * Imbalance from other computation: because some ranks have more to do in the sum.
 */
imbalance_global: number
/**
 * Imbalance from other computation: because different ranks have more to do in turn.
 */
imbalance_temporal: number
/**
 * Imbalance from other computation: because ranks depend on each other in chains within iterations.
 */
imbalance_chains: number
/**
 * Imbalance from other computation: the rest, where iterations or the ideal time are not known.
 */
imbalance_unsplit: number
/**
 * The recorder's own work, and time without records.
 */
recorder: number
}
/**
 * Waiting for one reason.
 */
export interface StateRow {
/**
 * Why a rank waits.
 */
state: WaitState
/**
 * Number of waits.
 */
count: number
/**
 * Time until the awaited event.
 */
waiting_s: number
/**
 * Time from then until its message had arrived.
 */
delay_s: number
/**
 * Blocked time: `waiting_s` + `delay_s`.
 */
blocked_s: number
/**
 * Fraction of all waiting.
 */
share: number
}
/**
 * The time that one rank waits because of another.
 */
export interface PairRow {
/**
 * The rank that waits.
 */
waiting_rank: number
/**
 * The rank whose work, communication or message is the cause.
 */
delay_source: number
/**
 * Time that it waits because of that rank.
 */
time_s: number
}
/**
 * Waiting of rows that are not listed.
 */
export interface RowsLeftOut {
/**
 * Number of rows.
 */
count: number
/**
 * Their waiting.
 */
time_s: number
}
/**
 * A cause of waiting.
 */
export interface CauseRow {
/**
 * Path of the region.
 */
region: string
/**
 * For communication, `id` of the call site in which the rank spends most of that time, without waiting; null: not known, or no such call in the selected part.
 */
callsite: (number | null)
/**
 * The operation called there.
 */
operation: (string | null)
/**
 * The rank's state there: an activity, or a state of computation that was recorded; null: a message's delay, or unknown.
 */
activity: (string | null)
/**
 * The rank.
 */
rank: number
/**
 * The class of the cause.
 */
class: CauseClass
/**
 * Waiting that it causes.
 */
caused_s: number
/**
 * Own time in the selected part, without waiting; null for a message's delay, and for anything outside of the part.
 */
own_s: (number | null)
/**
 * `caused_s` over all waiting.
 */
share: number
/**
 * `caused_s` / `own_s`.
 */
beta: (number | null)
}
/**
 * A phase.
 */
export interface PhaseRow {
/**
 * Path of the region.
 */
region: string
/**
 * The class of what is done in it.
 */
class: CauseClass
/**
 * Time that it takes itself, without waiting; of message delays the communication in the region.
 */
own_s: number
/**
 * Waiting that it causes.
 */
caused_s: number
/**
 * β = `caused_s` / `own_s`.
 */
beta: (number | null)
/**
 * Cost in all: own time (not of message delays) and waiting caused.
 */
total_s: number
}
/**
 * A place where ranks wait.
 */
export interface WaitRow {
/**
 * `id` of the call site.
 */
callsite: (number | null)
/**
 * The operation; empty outside of calls.
 */
operation: string
/**
 * Path of the region.
 */
region: string
/**
 * Why a rank waits.
 */
state: WaitState
/**
 * Number of waits.
 */
count: number
/**
 * Time until the awaited event.
 */
waiting_s: number
/**
 * Time from then until its message had arrived.
 */
delay_s: number
/**
 * Blocked time: `waiting_s` + `delay_s`.
 */
blocked_s: number
/**
 * Fraction of all waiting.
 */
share: number
/**
 * Times by rank, of the ranks that wait longest there, 16 at most.
 */
ranks: RankTimes[]
}
/**
 * Waiting of a rank.
 */
export interface RankTimes {
/**
 * The rank.
 */
rank: number
/**
 * Number of waits.
 */
count: number
/**
 * Time until the awaited event.
 */
waiting_s: number
/**
 * Time from then until its message had arrived.
 */
delay_s: number
}
/**
 * Unmatched operations and corrections.
 */
export interface ReplayCounts {
/**
 * Messages of which both sides are known.
 */
messages: number
/**
 * Messages whose receiver got another number of bytes than was sent.
 */
sizes_differ: number
/**
 * Sends of which no receive is known.
 */
unmatched_sends: number
/**
 * Receives of which no send is known.
 */
unmatched_receives: number
/**
 * Collectives that all members entered.
 */
collectives: number
/**
 * Collectives that some members are not known to have entered.
 */
unmatched_collectives: number
/**
 * Collectives of which members called different operations.
 */
mixed_collectives: number
/**
 * Neighbourhood collectives of single ranks of which all sources are known to have entered.
 */
neighbourhoods: number
/**
 * Neighbours that are not known to have entered a collective in which a rank receives from them.
 */
unmatched_neighbours: number
/**
 * Steps of epochs on windows (post and start, complete and wait, locks) of which all other sides are known.
 */
epochs: number
/**
 * Number of partner ranks in synchronisation epochs that are not known to have taken part.
 */
unmatched_epochs: number
/**
 * Calls that ended, by the clocks, before what they waited for; they were moved.
 */
violations: number
/**
 * By how much at most.
 */
largest_violation_s: number
/**
 * Calls of ranks with missing records, after the gap: not matched.
 */
after_gaps: number
/**
 * Calls of other ranks with such ranks, or with ranks whose calls were recorded as sums: nothing is known of waiting in them.
 */
not_recorded: number
}
/**
 * The prediction of a what-if scenario.
 */
export interface PredictionRow {
/**
 * The what-if scenario; some may be missing: `prediction_notes` says why. `as measured`: replayed with everything as it was. `ideal network`: without latency, with infinite bandwidth. `network`: another one. `region balanced`: in the sum over the run; `region balanced in each iteration`: of the main loop. `run balanced in each iteration`: every loop, and the computation directly before and after detected ones. `regions balanced`: every region by itself in the sum over the run. `rank as the mean`: it computes no more than that. `region faster` and `function faster`, with what it calls: computed several times as fast. `rank faster`: the one with which all others exchange messages; without a rank all that answer requests. `threads balanced`: they work equally long in each instance of parallel regions. `function on all threads` of a rank, where one ran it alone.
 */
scenario: string
/**
 * Of `region faster`, `function faster` and `rank faster`: how many times as fast; of the last one null: computation takes no time.
 */
times: (number | null)
/**
 * Of `network`: its latency.
 */
latency_s: (number | null)
/**
 * Of `network`: its bandwidth.
 */
bytes_per_s: (number | null)
/**
 * Path of the region that it is about; of `threads balanced` the parallel region, null: all; of `function on all threads` and `function faster` the function.
 */
region: (string | null)
/**
 * The rank that it is about.
 */
rank: (number | null)
/**
 * The run's time then.
 */
time_s: number
/**
 * Predicted saving: the time of `as measured` less this, so that an error of the replay is on both sides.
 */
saved_s: number
/**
 * Saving as a fraction of the time that it is of.
 */
saved_share: number
}
/**
 * The critical path as it is written.
 */
export interface CriticalPathRow {
/**
 * Its length.
 */
time_s: number
/**
 * By region and activity, the longest first.
 */
parts: PathRow[]
/**
 * Number of ranks on the path.
 */
rank_count: number
/**
 * The path by rank, the longest first; 1,000 at most unless `--full` is given.
 */
ranks: PathRank[]
/**
 * Its time on ranks that are not listed.
 */
left_out_s: number
}
/**
 * A part of the critical path.
 */
export interface PathRow {
/**
 * Path of the region.
 */
region: string
/**
 * State there: an activity, a state of computation that was recorded, or `message delay`: messages were in transit; null: not known.
 */
activity: (string | null)
/**
 * Time on the path.
 */
time_s: number
/**
 * Fraction of the path's length.
 */
share: number
/**
 * The rank with most of it.
 */
rank: number
/**
 * Fraction of the time.
 */
rank_share: number
}
/**
 * The part of the critical path that is on a rank.
 */
export interface PathRank {
/**
 * The rank.
 */
rank: number
/**
 * Its time.
 */
time_s: number
/**
 * Fraction of the path's length.
 */
share: number
}
/**
 * Dispersion of the ranks.
 */
export interface DispersionRows {
/**
 * The activity with most time.
 */
dominant_activity: (ActivityName | null)
/**
 * Groups of regions that spend their time alike; null if fewer than 3 regions have time of their own, or all are equal.
 */
groups: (GroupRows | null)
/**
 * Patterns by activity and region, the 64 regions with most time for each activity.
 */
patterns: PatternRow[]
/**
 * T, of which SID_A and SID_C take shares.
 */
elapsed_s: number
/**
 * Path of the region with most time, inner regions excluded.
 */
heaviest_region: (string | null)
/**
 * The rank that has the largest ID_P in most regions.
 */
most_frequently_imbalanced_rank: (number | null)
/**
 * The rank with most time in the regions in which it has the largest ID_P.
 */
longest_imbalanced_rank: (number | null)
}
/**
 * Groups of regions that spend their time alike.
 */
export interface GroupRows {
/**
 * Number of groups.
 */
count: number
/**
 * Separation of the groups, −1 to 1; from 0.5 on they lie well apart.
 */
silhouette: number
}
/**
 * Times of the ranks in an activity of a region, as levels.
 */
export interface PatternRow {
/**
 * The activity.
 */
activity: ActivityName
/**
 * Path of the region.
 */
region: string
/**
 * Shortest time of a rank.
 */
min_s: number
/**
 * Longest time of a rank.
 */
max_s: number
/**
 * Number of ranks that a letter stands for, the last maybe for fewer: 1, but for more than 512 ranks without `--full`.
 */
ranks_per_letter: number
/**
 * A letter per rank, in the order of the ranks: `m` the shortest time, `l` in the lower 15 % of the range, `-` between, `u` in the upper 15 %, `M` the longest time. For several ranks it is `M` if one of them has the longest time, else `m` if one has the shortest, else the most frequent letter among them.
 */
ranks: string
}
/**
 * A cluster, or a rank of none.
 */
export interface ClusterRow {
/**
 * Its number, from 1; of a rank of none 0.
 */
id: number
/**
 * Number of ranks.
 */
rank_count: number
/**
 * Its ranks; the first 1,000 unless `--full` is given.
 */
ranks: number[]
/**
 * Efficiencies of its ranks, as if there were no others; elapsed time is from the earliest start to the latest end of their windows.
 */
efficiency: EfficiencyRow
/**
 * The main loop of its ranks: of the regions that they iterate, and that lie in no other, the one in which they compute most.
 */
iterations: (ClusterIterations | null)
/**
 * The 5 pieces of code with most time that its ranks run at least twice as often as any other ranks; empty if all ranks run the same.
 */
own_code: OwnCodeSegment[]
}
/**
 * The main loop of a cluster.
 */
export interface ClusterIterations {
/**
 * Its path.
 */
region: string
/**
 * Its iterations on any of the ranks.
 */
count: number
}
/**
 * A piece of code that the ranks of one cluster alone run: a marked region, or calls of an operation.
 */
export interface OwnCodeSegment {
/**
 * Path of a marked region.
 */
region: (string | null)
/**
 * The MPI function called, without `MPI_`.
 */
operation: (string | null)
/**
 * The function that calls.
 */
function: (string | null)
/**
 * Its source file.
 */
file: (string | null)
/**
 * The line.
 */
line: (number | null)
/**
 * Path of the executable or library; null where the address lies in none.
 */
module: (string | null)
/**
 * The address that the call returns to, as the module's own tables state it; the raw address where there is no module; null if it is not known.
 */
offset: (number | null)
/**
 * The calls around it, the innermost first, that distinguish it from calls at the same place that the program reaches through others; empty where all calls at the place are reached in one way, and where that is not known. If its function is not known, those up to the first whose function is.
 */
callers: Caller[]
/**
 * Its share of the time of the cluster's ranks, on average.
 */
share: number
}
/**
 * Clusters of ranks; as JSON the method of clustering, and the ranks of no cluster.
 */
export interface ClusterTable {
/**
 * True if ranks run different code.
 */
different_code: boolean
/**
 * True if all ranks that compute go through the same iterations, so that what one code takes longer another waits for; where they run different code and do not, balance over all of them means little.
 */
iterate_together: boolean
/**
 * Ranks of no cluster, one object each, as for a cluster: no other rank runs similar code.
 */
of_no_cluster: ClusterRow[]
/**
 * Similarity of the ranks of one cluster: the fraction of the calls of each that the other does not make.
 */
radius: (number | null)
/**
 * Different profiles of calls that ranks have.
 */
profiles: number
/**
 * Number of ranks that were clustered, at most 500; the others, which are rarer, joined the nearest cluster.
 */
profiles_clustered: number
}
/**
 * A call site, operation and activity.
 */
export interface SiteRow {
/**
 * Id of the call site, the same for all objects of one place; null if the recorder did not know it.
 */
id: (number | null)
/**
 * The function that calls.
 */
function: (string | null)
/**
 * Its source file.
 */
file: (string | null)
/**
 * The line.
 */
line: (number | null)
/**
 * Path of the executable or library; null where the address lies in none.
 */
module: (string | null)
/**
 * The address that the call returns to, as the module's own tables state it; the raw address where there is no module; null if it is not known.
 */
offset: (number | null)
/**
 * The calls around it, the innermost first, that distinguish it from calls at the same place that the program reaches through others; empty where all calls at the place are reached in one way, and where that is not known. If its function is not known, those up to the first whose function is.
 */
callers: Caller[]
/**
 * The MPI function, without `MPI_`.
 */
operation: string
/**
 * The activity of its time.
 */
activity: ActivityName
/**
 * Time in them.
 */
time_s: number
/**
 * Calls (of computation: intervals).
 */
calls: number
/**
 * Bytes sent, written or contributed.
 */
sent_bytes: number
/**
 * Bytes received, read or given.
 */
received_bytes: number
/**
 * Totals of threads other than the one that called `MPI_Init`, which the figures above leave out.
 */
other_threads: CallTotals
/**
 * Time over ranks × elapsed time.
 */
share: number
/**
 * Mean of its time over ranks.
 */
mean_s: number
/**
 * Longest time of a rank.
 */
max_s: number
/**
 * The rank with that time.
 */
max_rank: number
/**
 * The mean over ranks of the time of threads other than the one that called `MPI_Init`.
 */
other_threads_mean_s: number
/**
 * Time in which they could only wait; null if waiting was not analysed.
 */
blocked_s: (number | null)
/**
 * The mean of `blocked_s` over ranks.
 */
blocked_mean_s: (number | null)
/**
 * `blocked_s` over the time of the ranks' first threads there.
 */
blocked_share: (number | null)
/**
 * Bytes moved: sent and received.
 */
bytes: number
/**
 * Durations of single calls, of all threads; null if calls were not looked at one by one.
 */
durations: (DurationsRow | null)
}
/**
 * Time, calls and bytes.
 */
export interface CallTotals {
/**
 * Time in them.
 */
time_s: number
/**
 * Calls (of computation: intervals).
 */
calls: number
/**
 * Bytes sent, written or contributed.
 */
sent_bytes: number
/**
 * Bytes received, read or given.
 */
received_bytes: number
}
/**
 * The distribution of the durations of calls.
 */
export interface DurationsRow {
/**
 * Calls; in a window of time those that lie partly in it, too.
 */
calls: number
/**
 * The shortest.
 */
min_s: number
/**
 * A rank that has it, the lowest of several.
 */
min_rank: number
/**
 * Their mean.
 */
mean_s: number
/**
 * The longest.
 */
max_s: number
/**
 * A rank that has it, the lowest of several.
 */
max_rank: number
/**
 * Their standard deviation.
 */
deviation_s: number
}
/**
 * A node of the tree. All but what is `alone` includes the nodes in it. Sums over ranks: of their first threads, but for waiting and its causes, which are of all threads.
 */
export interface CallTreeRow {
/**
 * The node around it, as an index in the list, in which it comes first; null for the whole program.
 */
parent: (number | null)
/**
 * Number of nodes around it.
 */
depth: number
/**
 * Kind of the node.
 */
kind: CallTreeNodeKind
/**
 * A function's name, without its class's namespaces, return type and parameters; a region's name; the state; the MPI function. Empty if a function's name is not known.
 */
name: string
/**
 * Name in full, with template arguments and parameters as the symbol has them; null if it is `name`.
 */
full_name: (string | null)
/**
 * The call of the function, or of MPI, in the function around it; null if it is not known.
 */
at: (Caller | null)
/**
 * Path of the region that it is; null if it is none.
 */
region: (string | null)
/**
 * Time spent in it.
 */
time_s: number
/**
 * Fraction of the time of the whole program.
 */
share: number
/**
 * Of `time_s` what is not spent in nodes in it. Computation in a function that is no region (less than 0.5 % of the time) is of the one around it, unless samples show the function.
 */
alone_s: number
/**
 * Computation.
 */
computation_s: number
/**
 * Time in calls of MPI.
 */
mpi_s: number
/**
 * Computation by state, of ranks of which it is known; null if it is known of none.
 */
core_states: ({
[k: string]: number
} | null)
/**
 * Waiting, messages in transit included; null if waiting was not analysed.
 */
waiting_s: (number | null)
/**
 * Waiting of any rank that is caused in it; null likewise.
 */
caused_s: (number | null)
/**
 * Waiting caused in the node itself, without the nodes in it.
 */
caused_alone_s: (number | null)
/**
 * Time lost: `caused_s`, the time in MPI besides waiting, and the recorder's time; null likewise. It adds up to the time that is no computation, as far as all waiting has its cause in it.
 */
lost_s: (number | null)
/**
 * Time lost in the node itself, without the nodes in it.
 */
lost_alone_s: (number | null)
/**
 * LB: mean over ranks of the computation in it over the longest; null if nothing is computed in it, or samples alone show where.
 */
load_balance: (number | null)
/**
 * µLB, of a region; null where it is none, and where the computation by iteration is not known.
 */
micro_load_balance: (number | null)
/**
 * The rank that computes longest in it; null likewise.
 */
slowest_rank: (number | null)
/**
 * Computation of that rank in the node; 0 if there is none.
 */
max_computation_s: number
/**
 * Calls of MPI.
 */
calls: number
/**
 * Bytes sent and received by them.
 */
bytes: number
/**
 * CPU time of computation by samples, the mean over ranks; null if they were not sampled.
 */
cpu_s: (number | null)
/**
 * CPU time of the rank that computes longest in the whole program; null likewise.
 */
slowest_cpu_s: (number | null)
/**
 * `slowest_cpu_s` − `cpu_s`, if it is at least two standard errors; else null.
 */
excess_s: (number | null)
/**
 * Standard error of that; null likewise.
 */
excess_error_s: (number | null)
/**
 * Nodes in it that are not listed, because there are too many, or little time goes by in them.
 */
left_out: number
}
/**
 * The communication between ranks, and its sizes. Only messages with two known sides count; collectives, one-sided communication and files are left out.
 */
export interface CommunicationTable {
/**
 * Messages.
 */
messages: number
/**
 * Their bytes.
 */
bytes: number
/**
 * By sender and receiver, most bytes first; at most 1,000 unless `--full` is given.
 */
pairs: PairVolume[]
/**
 * Pairs that are not listed, as far as they were counted: pairs beyond the first million are not.
 */
pairs_left_out: number
/**
 * Messages between all pairs that are not listed.
 */
messages_left_out: number
/**
 * Their bytes.
 */
bytes_left_out: number
/**
 * By host of the sender and of the receiver, most bytes first, pairs of ranks beyond the first million left out; at most 1,000 unless `--full` is given.
 */
hosts: HostVolume[]
/**
 * Pairs of hosts that are not listed.
 */
hosts_left_out: number
/**
 * Messages between these.
 */
host_messages_left_out: number
/**
 * Their bytes.
 */
host_bytes_left_out: number
/**
 * Number of messages by size.
 */
message_sizes: SizeRow[]
/**
 * By operation, the one with most bytes first: what its calls send, write or contribute. Calls that do nothing of that are left out.
 */
operations: OperationSizes[]
/**
 * Calls by communicator, the one with most time first.
 */
communicators: CommunicatorRow[]
}
/**
 * Messages from one rank to another.
 */
export interface PairVolume {
/**
 * The sender.
 */
from: number
/**
 * The receiver.
 */
to: number
/**
 * Messages.
 */
messages: number
/**
 * Their bytes.
 */
bytes: number
}
/**
 * Messages from the ranks of one host to the ranks of another, or of the same.
 */
export interface HostVolume {
/**
 * The senders' host; empty where it is not known, as of ranks that are not selected.
 */
from: string
/**
 * The receivers' host, likewise.
 */
to: string
/**
 * Messages.
 */
messages: number
/**
 * Their bytes.
 */
bytes: number
}
/**
 * Messages or calls of sizes within a power of two.
 */
export interface SizeRow {
/**
 * Least size.
 */
from_bytes: number
/**
 * Largest size.
 */
to_bytes: number
/**
 * Number of messages or calls.
 */
count: number
/**
 * Their bytes.
 */
bytes: number
}
/**
 * Sizes that calls of an operation send, write or contribute.
 */
export interface OperationSizes {
/**
 * The MPI function, without `MPI_`.
 */
operation: string
/**
 * Calls.
 */
calls: number
/**
 * Bytes of all of them.
 */
bytes: number
/**
 * Number of calls by size.
 */
sizes: SizeRow[]
}
/**
 * Calls on a communicator, of all threads.
 */
export interface CommunicatorRow {
/**
 * Its name; empty for calls on none (waits for requests, files, windows) and on one that is not known.
 */
name: string
/**
 * Its ranks; null if it is not known.
 */
ranks: (number | null)
/**
 * Calls.
 */
calls: number
/**
 * Time in them, of all ranks.
 */
time_s: number
/**
 * Fraction of the ranks' time: ranks × elapsed time.
 */
share: number
/**
 * Waiting in them, messages in transit included.
 */
waiting_s: number
/**
 * Bytes sent, written or contributed.
 */
sent_bytes: number
/**
 * Bytes received, read or given.
 */
received_bytes: number
}
/**
 * A window of time; all are equally long, but the last may end after the run.
 */
export interface WindowRow {
/**
 * Start, from the start of the run or of the selected time.
 */
begin_s: number
/**
 * End.
 */
end_s: number
/**
 * Mean / longest computation of the ranks.
 */
load_balance: (number | null)
/**
 * Longest computation / elapsed time.
 */
communication: (number | null)
/**
 * Mean computation / elapsed time.
 */
parallel: (number | null)
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
 * The rank that computes longest, the lowest of several; null if none computes.
 */
slowest_rank: (number | null)
/**
 * States of the ranks in the window.
 */
states: StateTimeRow[]
}
/**
 * Time of all ranks in a state.
 */
export interface StateTimeRow {
/**
 * An activity, without what is waited in it, `waiting`, or a state of computation that was recorded.
 */
state: string
/**
 * Time in it.
 */
time_s: number
}
/**
 * Functions that ranks compute in, by samples of the CPU time of the threads that called `MPI_Init`, in user space. The number of samples in a function is a count, so that all times of functions are estimates; `…_error_s` is a standard error: the root of the sum of the squares of the time that each sample stands for (Poisson). A function includes the code that compilers inline into it from system headers, not from other functions, and the functions that it calls in libraries that call no MPI, if the log has the calls that led to samples.
 */
export interface FunctionTable {
/**
 * CPU time that a sample stands for, the mean.
 */
period_s: number
/**
 * Ranks that were sampled.
 */
ranks: number
/**
 * Samples of these threads.
 */
samples: number
/**
 * CPU time in computation, all ranks together.
 */
computation_s: number
/**
 * CPU time in MPI calls, likewise.
 */
mpi_s: number
/**
 * Functions of the program that MPI calls, as for a user-defined reduction (`MPI_Op_create`), most CPU time first; at most 20.
 */
called_by_mpi: CalledBackRow[]
/**
 * The functions of all threads at times for which there are no records: they are missing, recording was paused, or calls were recorded as sums (`LBPROF_MODE=profile`, `LBPROF_LIMIT`) and the recorder did not note where these samples belong. Computation and calls of MPI are not distinguished. Null if there is no such CPU time.
 */
unplaced: (OtherThreadsFunctions | null)
/**
 * CPU time of the other threads, all ranks together.
 */
other_threads_s: number
/**
 * The functions of these, by whether they call MPI.
 */
other_threads: OtherThreadsRow[]
/**
 * The whole program; regions together.
 */
program: RegionFunctions
/**
 * Each region by itself, inner regions excluded, most CPU time first; at most 40.
 */
regions: RegionFunctions[]
/**
 * Computation of the ranks that make others wait, in the regions where they do, the most costly first; at most 20.
 */
delaying_ranks: DelayingRank[]
}
/**
 * A function of the program that MPI calls within a call of the program: this is computation, but `mpi_s` and the time of the call include it.
 */
export interface CalledBackRow {
/**
 * Its name without return type and parameters; null if it is not known.
 */
function: (string | null)
/**
 * Its source file.
 */
file: (string | null)
/**
 * The line with most CPU time.
 */
line: (number | null)
/**
 * Path of the executable or library; null for generated code.
 */
module: (string | null)
/**
 * The MPI function that the program called, without `MPI_`.
 */
operation: string
/**
 * Samples in it, and in what it calls.
 */
samples: number
/**
 * CPU time, the mean over ranks.
 */
mean_s: number
/**
 * Standard error of that.
 */
error_s: number
/**
 * The least of a rank.
 */
min_s: number
/**
 * The most of a rank.
 */
max_s: number
/**
 * The rank with that time.
 */
max_rank: number
}
/**
 * The functions of such threads in a region.
 */
export interface OtherThreadsFunctions {
/**
 * Its path.
 */
region: string
/**
 * Samples.
 */
samples: number
/**
 * Their CPU time, the mean over ranks.
 */
cpu_s: number
/**
 * Standard error of `cpu_s`.
 */
cpu_error_s: number
/**
 * The part of `cpu_s` in which the first thread was in an MPI call.
 */
during_mpi_s: number
/**
 * The functions, most CPU time or excess first. The slowest rank is the one whose first thread computes longest in the whole program.
 */
functions: FunctionRow[]
/**
 * The others together.
 */
others: OtherFunctions
}
/**
 * A function.
 */
export interface FunctionRow {
/**
 * Its name without return type and parameters; null if it is not known.
 */
function: (string | null)
/**
 * Its source file.
 */
file: (string | null)
/**
 * The line with most CPU time.
 */
line: (number | null)
/**
 * Path of the executable or library; null for generated code.
 */
module: (string | null)
/**
 * Samples.
 */
samples: number
/**
 * CPU time, the mean over ranks.
 */
mean_s: number
/**
 * Standard error of that.
 */
error_s: number
/**
 * Fraction of the time of all functions.
 */
share: number
/**
 * The least of a rank.
 */
min_s: number
/**
 * The most of a rank.
 */
max_s: number
/**
 * The rank with that time.
 */
max_rank: number
/**
 * Time of the slowest rank.
 */
slowest_s: number
/**
 * `slowest_s` − `mean_s`.
 */
excess_s: number
/**
 * Standard error of that.
 */
excess_error_s: number
/**
 * True if `excess_s` is at least two standard errors.
 */
significant: boolean
/**
 * Instructions in user space, the mean over ranks; null if the processors count none, as in most virtual machines.
 */
instructions: (number | null)
/**
 * Instructions per cycle, all ranks together.
 */
ipc: (number | null)
/**
 * Instructions of the slowest rank.
 */
slowest_instructions: (number | null)
/**
 * Its instructions per cycle.
 */
slowest_ipc: (number | null)
/**
 * Its lines with most CPU time, at most 5. Calls in libraries count for the line of the call.
 */
lines: LineRow[]
/**
 * The functions of libraries in which it spends most of that time, at most 3: such as `exp`, `dgemm_`, `memcpy`.
 */
libraries: LibraryRow[]
/**
 * The function of the program that called it; null if it is not known.
 */
caller: (string | null)
/**
 * Source file of the caller.
 */
caller_file: (string | null)
/**
 * Line of the call, the first one if there are several; null if it is not known.
 */
caller_line: (number | null)
}
/**
 * A line of the source.
 */
export interface LineRow {
/**
 * Its number.
 */
line: number
/**
 * CPU time, the mean over ranks.
 */
mean_s: number
/**
 * Standard error of that.
 */
error_s: number
/**
 * The least of a rank; null if the line counts in several regions.
 */
min_s: (number | null)
/**
 * The most of a rank; null likewise.
 */
max_s: (number | null)
/**
 * The rank with that time.
 */
max_rank: (number | null)
}
/**
 * A function of a library, called by a function of the program.
 */
export interface LibraryRow {
/**
 * Its name without return type and parameters; null if it is not known.
 */
function: (string | null)
/**
 * Its source file.
 */
file: (string | null)
/**
 * The line with most CPU time.
 */
line: (number | null)
/**
 * Path of the executable or library; null for generated code.
 */
module: (string | null)
/**
 * CPU time in it, the mean over ranks.
 */
mean_s: number
/**
 * Fraction of the time of the function that called it.
 */
share: number
}
/**
 * Functions that are not listed.
 */
export interface OtherFunctions {
/**
 * Number of functions.
 */
functions: number
/**
 * CPU time, the mean over ranks.
 */
mean_s: number
/**
 * Time of the slowest rank.
 */
slowest_s: number
/**
 * `slowest_s` − `mean_s`.
 */
excess_s: number
/**
 * Standard error of that.
 */
excess_error_s: number
}
/**
 * Threads other than the ones that called `MPI_Init`, all threads of a rank together. Their samples count for the region that the rank's first thread was in at that time, whatever it did there.
 */
export interface OtherThreadsRow {
/**
 * True if they call MPI: false for the threads of OpenMP and of libraries.
 */
call_mpi: boolean
/**
 * Number of those threads with samples, over all ranks.
 */
threads: number
/**
 * Ranks that have such threads.
 */
ranks: number
/**
 * Their samples.
 */
samples: number
/**
 * Their CPU time, all ranks together.
 */
cpu_s: number
/**
 * The part of `cpu_s` in which they wait for other threads or look for work: in the run-time libraries of OpenMP and TBB, and in `sched_yield`.
 */
waiting_s: number
/**
 * The whole program; regions together.
 */
program: OtherThreadsFunctions
/**
 * Each region by itself, inner regions excluded, most CPU time first; at most 40.
 */
regions: OtherThreadsFunctions[]
}
/**
 * The functions of a region.
 */
export interface RegionFunctions {
/**
 * Its path.
 */
region: string
/**
 * Computation by its calls, the mean over ranks.
 */
computation_s: number
/**
 * CPU time of that by samples, the mean.
 */
cpu_s: number
/**
 * Standard error of `cpu_s`.
 */
cpu_error_s: number
/**
 * Computation without samples: `computation_s` − `cpu_s`: asleep, waiting for a core, or in the kernel.
 */
not_running_s: number
/**
 * The rank with most of that, beyond the error; null if none has any.
 */
not_running_rank: (number | null)
/**
 * The time of that rank.
 */
max_not_running_s: number
/**
 * The rank that computes longest, which is compared with the mean.
 */
slowest_rank: (number | null)
/**
 * Its computation.
 */
slowest_computation_s: number
/**
 * `slowest_computation_s` − `computation_s`.
 */
excess_s: number
/**
 * Places of the excess.
 */
explained: ExplainedExcess
/**
 * Processor counters during that CPU time; null if they count nothing, as in most virtual machines.
 */
hardware: (HardwareRow | null)
/**
 * The functions, most CPU time or excess first.
 */
functions: FunctionRow[]
/**
 * The others together.
 */
others: OtherFunctions
}
/**
 * Processor counters during computation, in user space.
 */
export interface HardwareRow {
/**
 * Ranks that have counts.
 */
ranks: number
/**
 * Instructions, the mean over these ranks.
 */
instructions: number
/**
 * Instructions per cycle of all of them; null if no cycles were counted.
 */
ipc: (number | null)
/**
 * Cycles per second of CPU time of all of them.
 */
frequency_hz: (number | null)
/**
 * Instructions of the rank that computes longest.
 */
slowest_instructions: number
/**
 * Its instructions per cycle.
 */
slowest_ipc: (number | null)
/**
 * Its cycles per second.
 */
slowest_frequency_hz: (number | null)
/**
 * CPU time that this rank has more than the mean because it executes more instructions: (its instructions − the mean) × mean seconds per instruction.
 */
more_instructions_s: number
/**
 * CPU time that it has more because its instructions take longer. Both add up to its excess of CPU time.
 */
slower_instructions_s: number
}
/**
 * A rank in a region whose computation others wait for.
 */
export interface DelayingRank {
/**
 * The rank.
 */
rank: number
/**
 * Path of the region.
 */
region: string
/**
 * Waiting that it causes.
 */
caused_s: number
/**
 * Number of its samples in the time that others waited for.
 */
samples: number
/**
 * CPU time of all of its computation there.
 */
cpu_s: number
/**
 * The functions in which it computes there: first those by which it causes most waiting; without such samples, those in which it computes significantly longer than the mean, the longest excess first; then those with most CPU time; at most 3.
 */
functions: DelayingFunction[]
}
/**
 * A function in which such a rank computes.
 */
export interface DelayingFunction {
/**
 * Its name without return type and parameters; null if it is not known.
 */
function: (string | null)
/**
 * Its source file.
 */
file: (string | null)
/**
 * The line with most CPU time.
 */
line: (number | null)
/**
 * Path of the executable or library; null for generated code.
 */
module: (string | null)
/**
 * Waiting that it causes by computing longer in this function than those who waited, by the samples in the time since they were synchronised; below 0 where they computed longer; null if there are no samples.
 */
caused_s: (number | null)
/**
 * Standard error of that.
 */
caused_error_s: (number | null)
/**
 * CPU time of all of its computation in the function there.
 */
cpu_s: number
/**
 * Standard error of that.
 */
error_s: number
/**
 * Fraction of the CPU time of the rank in all functions of the region.
 */
share: number
/**
 * `cpu_s` less the mean over ranks.
 */
excess_s: number
/**
 * Standard error of that.
 */
excess_error_s: number
/**
 * True if `excess_s` is at least two standard errors.
 */
significant: boolean
/**
 * The function of the program that called it; null if it is not known.
 */
caller: (string | null)
/**
 * Source file of the caller.
 */
caller_file: (string | null)
/**
 * Line of the call, the first one if there are several; null if it is not known.
 */
caller_line: (number | null)
}
/**
 * A counter in a region, all ranks together.
 */
export interface CounterRow {
/**
 * The counter's name.
 */
name: string
/**
 * Path of the region in which it was set.
 */
region: string
/**
 * Times that it was set, all ranks together.
 */
n: number
/**
 * Sum of its values.
 */
sum: number
/**
 * Their mean.
 */
mean: number
/**
 * Minimum.
 */
min: number
/**
 * Greatest value.
 */
max: number
}
