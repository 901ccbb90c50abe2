//! The table of everything that can go missing or wrong in a run.
//!
//! The recorder counts a problem, the log stores the count, the reader adds what it finds damaged, and the report explains
//! each on its first page and in its JSON. Numbers are in every log: append, never renumber.

use bincode::{Decode, Encode};

/// The degree to which a problem touches the report's figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Figures that need the missing data are partial.
    Partial,
    /// Figures may be misleading.
    Doubtful,
}

impl Severity {
    /// The word in reports and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Partial => "partial",
            Severity::Doubtful => "doubtful",
        }
    }
}

macro_rules! problems {
    ($($(#[doc = $doc:literal])+ $name:ident = $number:tt, $severity:ident, $advice:literal;)*) => {
        /// A kind of problem.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode)]
        #[repr(u16)]
        pub enum ProblemKind { $($(#[doc = $doc])+ $name = $number,)* }

        impl ProblemKind {
            /// The kinds, in the order of the table.
            pub const ALL: &[ProblemKind] = &[$(ProblemKind::$name,)*];

            /// The kind of a number in a log, or `None` for one that this version does not know.
            pub fn from_number(number: u16) -> Option<Self> {
                match number { $($number => Some(ProblemKind::$name),)* _ => None }
            }

            /// The name in JSON.
            pub fn name(self) -> &'static str {
                match self { $(ProblemKind::$name => stringify!($name),)* }
            }

            /// Its effect on the figures.
            pub fn severity(self) -> Severity {
                match self { $(ProblemKind::$name => Severity::$severity,)* }
            }

            /// A sentence that says what happened.
            pub fn meaning(self) -> &'static str {
                match self { $(ProblemKind::$name => concat!($($doc),+).trim_ascii(),)* }
            }

            /// Advice to the user.
            pub fn advice(self) -> &'static str {
                match self { $(ProblemKind::$name => $advice,)* }
            }
        }
    };
}

problems! {
    /// Records were dropped because the log could not be written, or because recording had stopped.
    Dropped = 1, Partial, "free space in LBPROF_DIR, or point it elsewhere";
    /// The rank ended without closing its log: it was killed, crashed, called _exit, or still runs.
    NotClosed = 2, Doubtful, "what it did after its last record is not known; the others' time counts on";
    /// The rank's log reached LBPROF_LIMIT; from there on only a profile was kept.
    LimitReached = 3, Note, "raise LBPROF_LIMIT to keep every event";
    /// The log of a rank is missing.
    MissingRank = 4, Partial, "the rank ended before or in MPI_Init, or was not started under lb-run (see the launcher's messages), or its log is elsewhere: if LBPROF_DIR is not shared, collect the logs of all hosts in one folder";
    /// A part of a log is damaged and was skipped.
    Damaged = 5, Partial, "copy the log again from where it was recorded";
    /// A log ends in the middle of a block, or before blocks that its rank had written.
    Truncated = 6, Partial, "the disk was full or the copy is incomplete";
    /// A file of another run lies in the folder and was left out.
    OtherRun = 7, Note, "keep one run a folder";
    /// Records were lost between two blocks of a log.
    Gap = 8, Partial, "the rank was killed in profile mode, or blocks were damaged";
    /// A phase was ended that was not open, or left open when an outer one ended.
    PhaseMismatch = 9, Doubtful, "check that each LBPROF_PHASE_BEGIN meets its LBPROF_PHASE_END on every path";
    /// Threads other than the one that called MPI_Init called MPI; only that one's time is in the efficiencies, or theirs while it sleeps.
    OtherThreads = 10, Note, "read the call sites table for what the other threads did";
    /// The rank was often preempted by other processes: some of its computation time is waiting for a core.
    Preempted = 11, Doubtful, "give every rank a core of its own (check binding and oversubscription)";
    /// A call did not return: it was left by longjmp or an exception, or its thread or process ended in it.
    Unfinished = 12, Note, "its time counts up to the next record, if there is one";
    /// A request was completed that the recorder had not seen start.
    UnknownRequest = 13, Note, "peer, tag and bytes of such receives come from their status alone";
    /// The library had an internal error and stopped recording in the rank; the program was not touched.
    InternalError = 14, Partial, "please report it with the message that it wrote to stderr";
    /// The time stamp counter is not reliable here; CLOCK_MONOTONIC was used, at about 20 ns more a call.
    SlowClock = 15, Note, "nothing to do; time stamps are still exact";
    /// The clocks of the hosts could not be compared.
    ClocksUnknown = 16, Doubtful, "times between hosts may be shifted; times within a rank are exact";
    /// Records carry an operation that this lb-report does not know.
    NewerOperation = 17, Note, "use the lb-report of the run's lbprof";
    /// A setting was not understood, and its default was used.
    BadSetting = 18, Note, "see lb-run --help for the settings and their values";
    /// No MPI call was seen between MPI_Init and MPI_Finalize.
    NothingSeen = 19, Doubtful, "if the program makes any, it looks them up in the MPI library itself (dlsym, as numba-mpi does), past any preloaded library: docs/supported.md";
    /// Communicators, groups, regions, counters or call sites exceeded what the recorder holds; the rest share one id.
    TooMany = 20, Doubtful, "name phases by what they do, not by numbers that grow";
    /// Recording was stopped by the program for a part of the run.
    Paused = 21, Note, "LBPROF_RECORD(0) or MPI_Pcontrol(0) was called; efficiencies are of the time recorded";
    /// A marker or MPI call came from within an MPI call (a user-defined reduction, a callback, a signal handler) and was not recorded.
    MarkerInsideCall = 22, Note, "put phase markers outside of MPI callbacks and signal handlers";
    /// Time stamps of a thread went backwards.
    ClockBackwards = 23, Doubtful, "the time stamp counters of this machine's cores differ; set LBPROF_CLOCK=monotonic";
    /// A program or shared object from which MPI was called is not there any more: its functions have no names.
    BinaryMissing = 24, Note, "run lb-report where the program ran, for the names of functions";
    /// A program or shared object was changed since the run: its functions have no names, for they might be wrong.
    BinaryChanged = 25, Note, "run the program again, or put back the file that it ran from";
    /// The rank had no memory left, and recording stopped in it; the program was not touched.
    NoMemory = 26, Partial, "raise the limit of the ranks' memory (ulimit -v), or lower LBPROF_BUFFER";
    /// A thread was not recorded, for its ring could not be made.
    ThreadLost = 27, Partial, "see that LBPROF_DIR has space, and that the ranks may open files (ulimit -n, -f)";
    /// Ranks were left out by LBPROF_RANKS.
    LeftOut = 28, Note, "all figures are of the recorded ranks alone";
    /// Ranks stopped recording for different times, so that what they computed cannot be compared.
    UnevenPause = 29, Doubtful, "stop and start recording on all ranks at the same points of the program";
    /// The recorder took more than 2 % of a rank's time: the run without it is shorter, and what it adds to computation between calls is part of all figures.
    Disturbed = 30, Doubtful, "for writing the log: raise LBPROF_BUFFER, or point LBPROF_DIR to a faster disk; for calls: set LBPROF_DEPTH=0, or pause recording where nothing is to be seen (lbprof.h)";
    /// The log reports a problem that this lb-report does not know.
    NewerProblem = 31, Doubtful, "use the lb-report of the run's lbprof";
    /// The end of a log is missing, and the ring that would hold its last records.
    EndMissing = 32, Partial, "copy all files of the run's folder; up to a ring of records (LBPROF_BUFFER) may be missing";
    /// The launcher started more processes than MPI has ranks: each process is a run of its own.
    ForeignLauncher = 33, Doubtful, "use the mpirun of the MPI that the program was built with";
    /// The rank often had no core while in MPI: part of the waiting, and of the time of messages in transit, is waiting for a core.
    NoCore = 34, Doubtful, "give every rank a core of its own (check binding and oversubscription); then measure again";
    /// MPI functions are wrapped by the program, or by a library loaded before the recorder: calls of them were not recorded.
    WrappedBefore = 36, Doubtful, "preload the other tool, or link it as a shared library: lb-run comes before it and calls it (docs/supported.md)";
    /// The program calls MPI functions by their profiling names (PMPI_…): such calls are not recorded.
    DirectCalls = 37, Note, "call MPI_… instead, or count the time of such calls as computation";
    /// Other programs were started by MPI_Comm_spawn: what they did is not in this run.
    Spawned = 38, Note, "spawn lb-run with the program as its first argument: the new processes are then a run of their own, in a folder beside this one";
    /// A signal handler left the recorder by siglongjmp, and recording stopped in the rank; the program was not touched.
    LeftByJump = 40, Partial, "leave by siglongjmp from handlers of signals that do not come during MPI calls";
    /// The run was recorded in profile mode: what the time between polls is was decided then, but for the longer parts of it, and --polling has no effect on the rest.
    PollingDecided = 41, Doubtful, "record events (LBPROF_MODE=events, and an LBPROF_LIMIT that is large enough), then use --polling";
    /// The file of a thread's ring was truncated, or its disk failed, while the program ran: the records in it are lost.
    RingLost = 42, Partial, "do not touch the files of a running program; recording continued in memory, where kill -9 loses the last records";
    /// The rank ended in MPI_Init, before anything of it was recorded: its log is empty.
    EndedInInit = 43, Partial, "find out why the job ended there: the launcher's messages, or those of the rank, say more";
    /// The disk of the log did not answer for a minute while other threads waited, and recording stopped in the rank; the program was not touched.
    DiskSilent = 44, Partial, "point LBPROF_DIR to another disk";
    /// The version of Python is not one whose functions are known: call paths and samples do not show them.
    PythonUnknown = 46, Note, "use CPython 3.9 to 3.13 (not a free-threaded or debug build), or mark phases in the script";
    /// The system did not let threads be sampled: which functions they computed in is not known.
    NotSampled = 47, Note, "the detail says what forbids it, and what helps";
    /// Samples are missing: a thread computed so long without an MPI call that the system had no place for them, or blocks were damaged.
    SamplesLost = 48, Note, "the functions shown are of the samples that are there; free space if records were dropped, too, else record fewer a second (LBPROF_SAMPLE)";
    /// What a log ends with, its summary or the index of its blocks, contradicts the rest of it.
    SummaryWrong = 51, Note, "the figures are those of the events; copy the log again, or report it with the log if that changes nothing";
    /// Names or source lines of a program or shared object were not used, for it is damaged, too large, or took too long to read.
    NamesDropped = 52, Note, "see the detail; build the file again if it is damaged; LB_REPORT_MAX_CPU=0 allows any time";
    /// A thread had ever new call paths, more than can be unwound in a small part of its time: later ones have fewer frames.
    PathsShortened = 53, Note, "nothing needs to be done: calls have their innermost frames; LBPROF_DEPTH limits all paths alike";
    /// A program or shared object has no symbols for places from which it calls: these are shown by their addresses.
    NoSymbols = 54, Note, "install its debug symbols (its -dbgsym or -debuginfo package), or build it with -g and do not strip it";
    /// Another tool watches the run-time library of OpenMP: what the threads of parallel regions do was left to it.
    OtherOpenmpTool = 55, Note, "run without that tool (OMP_TOOL_LIBRARIES, LD_PRELOAD, or linked with the program) to have regions measured here";
    /// There are so many ranks and iterations that each rank's times are kept by block of iterations: shown for one iteration, they are means over its block, and the gain of balancing each iteration is that of balancing each block.
    IterationsJoined = 57, Note, "choose some ranks (--ranks) for each of their iterations; sums over ranks, and the longest of each iteration, are exact";
    /// A file of the run may not be read by this user.
    NotReadable = 58, Partial, "its owner can allow it, chmod -R a+rX with the run's folder, or read the run";
    /// Python's functions could not be read at some samples, as they changed meanwhile or no core was free: those samples count for native code.
    PythonMissed = 59, Note, "the shares are those of the other samples if these are few; leave a core free, or allow process_vm_readv if the detail asks for that";
}

impl ProblemKind {
    /// Returns the kind for a file that cannot be read because of `error`.
    pub fn of_unreadable(error: &std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::PermissionDenied => ProblemKind::NotReadable,
            _ => ProblemKind::Damaged,
        }
    }
}

/// A problem of one rank, or of the whole run.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Problem {
    /// Kind of the problem.
    pub kind: ProblemKind,
    /// The rank that it concerns; `None`: the run.
    pub rank: Option<u32>,
    /// Number of occurrences, or of records, bytes or ranks.
    pub count: u64,
    /// Place and circumstances, in words; may be empty.
    pub detail: String,
}
