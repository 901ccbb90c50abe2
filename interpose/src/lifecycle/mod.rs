//! When recording starts and stops: MPI_Init, MPI_Finalize, sessions, exit, MPI_Abort, fork.

pub mod exit_status;
pub mod finalize;
pub mod thread_end;

use std::ffi::c_int;
use std::sync::atomic::{
    AtomicBool, AtomicI32, AtomicU32, AtomicU64,
    Ordering::{Relaxed, SeqCst},
};
use std::time::{SystemTime, UNIX_EPOCH};

use lbprof_collector::definition::{ClockOffset, Definition, EndReason, Instant, RankList};
use lbprof_collector::format::{ClockSource, Header, Mode};
use lbprof_collector::operation::Operation;
use lbprof_collector::problem::ProblemKind;
use lbprof_collector::record::Record;
use lbprof_collector::words::{Count, Plural};

use crate::forward::{self, bypass};
use crate::handles::comms::births;
use crate::harmless::signals::{self, Lock};
use crate::harmless::{enter, guard, memory};
use crate::log::{self, LOG, RankLog, closed};
use crate::markers::marks;
use crate::mpi::call::call2;
use crate::mpi::{abi, detect, nesting, world};
use crate::recording::flush::{self, DROPPED};
use crate::recording::{close, in_finalize, registry};
use crate::run::agreement::{self, Agreement, Rank};
use crate::run::place::Place;
use crate::run::settings::Settings;
use crate::run::{job, launcher, offsets, peers};
use crate::state::stage::{State, set_state, state};
use crate::state::thread::{self, Thread};
use crate::system::clock::{self, ticks};
use crate::system::{faults, process, sandbox};
use crate::word::Word;

/// The process that records; a fork is another one.
static PID: AtomicU32 = AtomicU32::new(0);

/// The instant before MPI_Init: ticks, nanoseconds.
static BEFORE: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

/// Initialisations under way or done, less finalisations: MPI_Init counts one, each session one.
static MODELS: AtomicI32 = AtomicI32::new(0);

/// The settings, once read.
static SETTINGS: Lock<Option<Settings>> = Lock::new(None);

/// Whether MPI_Pcontrol's second argument is a label.
pub fn pcontrol_labels() -> bool {
    SETTINGS.lock().as_deref().and_then(Option::as_ref).is_some_and(|settings| settings.pcontrol_labels)
}

/// Before MPI_Init or MPI_Session_init: the clock is chosen and read, and other ranks may find this one from here on.
pub fn before_init() {
    if state() != State::Idle || BEFORE.iter().any(|known| known.load(Relaxed) != 0) {
        return;
    }
    // Our panics are told by guard.rs in one line.
    std::panic::set_hook(Box::new(|_| {}));
    let settings = Settings::from_env();
    clock::choose(settings.clock);
    if let Some(mut kept) = SETTINGS.lock() {
        *kept = Some(settings);
    }
    if let (Some(key), Some(rank)) = (job::key(), launcher::rank()) {
        peers::register(&key, rank);
    }
    let [ticks, ns] = &BEFORE;
    let instant = clock::instant();
    ticks.store(instant.ticks, Relaxed);
    ns.store(instant.monotonic_ns, Relaxed);
}

/// MPI_Init or MPI_Init_thread has returned: recording starts. `level`: thread level, 0 single … 3 multiple.
///
/// # Safety
/// MPI is initialised; `thread` is the calling thread's state.
pub unsafe fn initialised(thread: *mut Thread, level: u8) {
    MODELS.fetch_add(1, SeqCst);
    // SAFETY: the caller's promise.
    unsafe {
        start(thread, level, |own| agreement::agree(own));
    }
    // Whatever became of it, nobody is to wait for this rank.
    drop(peers::registered());
}

/// A session was initialised: recording starts, unless it has. The ranks agree without a message, for only some of them may
/// have sessions.
///
/// # Safety
/// `session` is the new session's handle; `thread` is the calling thread's state.
pub unsafe fn session_initialised(thread: *mut Thread, session: Word) {
    MODELS.fetch_add(1, SeqCst);
    world::set_session(session);
    // SAFETY: the caller's promise.
    unsafe {
        start(thread, 0, agreement::of_session);
    }
    drop(peers::registered());
}

unsafe fn start(thread: *mut Thread, level: u8, agree: impl FnOnce(Rank) -> Agreement) {
    // SAFETY: the caller's promise: MPI is initialised.
    unsafe {
        if state() != State::Idle || !detect::detect() {
            return;
        }
        let Some(settings) = SETTINGS.lock().and_then(|settings| settings.clone()) else { return };
        let Some((rank, size)) = world::rank_and_size() else { return };
        guard::set_rank(rank as u32);
        let among = settings.ranks.as_ref().is_none_or(|ranks| ranks.iter().any(|r| r == rank as u32));
        let mode = settings.mode.filter(|_| among);
        let reserved = mode.is_some() && memory::reserve(settings.buffer);
        if rank == 0 && settings.mode.is_some() {
            for complaint in &settings.complaints {
                guard::say(format_args!("{complaint}"));
            }
        }
        if mode.is_some() && size == 1 {
            launcher::look_for_foreign();
        }
        // Also where this rank records nothing, because the others do not know that.
        let (place, offset) = agree(Rank { settings: &settings, rank, size, wanted: reserved });
        let (Some(mode), Some(place)) = (mode, place) else {
            set_state(State::Done);
            return;
        };
        if !reserved {
            set_state(State::Done);
            guard::say(format_args!("no memory is left; nothing is recorded"));
            return;
        }
        let ranks = (rank, size);
        signals::critical(|| open(thread, &settings, mode, &place, ranks, offset, level));
    }
}

/// Opens the log and starts to record.
unsafe fn open(
    thread: *mut Thread,
    settings: &Settings,
    mode: Mode,
    place: &Place,
    (rank, size): (i32, i32),
    offset: Option<ClockOffset>,
    level: u8,
) {
    // SAFETY: the caller's promise: MPI is initialised.
    unsafe {
        forward::resolve_c();
        nesting::find_mpi();
        let header = header(settings, mode, place, rank, size);
        let log =
            match std::fs::create_dir_all(&place.dir).and_then(|()| RankLog::create(&place.dir, &header, settings)) {
                Ok(log) => log,
                Err(error) => {
                    set_state(State::Done);
                    guard::say(format_args!("cannot write to {}: {error}; nothing is recorded", place.dir.display()));
                    return;
                }
            };
        let Some(mut guard) = LOG.lock() else { return };
        *guard = Some(log);
        drop(guard);
        PID.store(std::process::id(), Relaxed);
        OPEN.store(true, Relaxed);
        if !settings.complaints.is_empty() {
            guard::count(ProblemKind::BadSetting, settings.complaints.len() as u64);
        }
        if header.clock == ClockSource::Monotonic && settings.clock.is_none() {
            guard::count(ProblemKind::SlowClock, 1);
        }
        bypass::look(rank);
        match offset {
            Some(offset) => log::define(Definition::ClockOffset(offset)),
            None => guard::count(ProblemKind::ClocksUnknown, 1),
        }
        log::define(Definition::ThreadLevel(level));
        if world::world_model() {
            births::define_predefined();
        }
        sandbox::remember();
        if let Some(usage) = process::usage() {
            log::define(Definition::Usage(usage));
        }
        libc::pthread_atfork(None, None, Some(in_child));
        exit_status::watch();
        if settings.verbose && rank == 0 {
            guard::say(format_args!("recording {} to {}", Plural(size as u64, "rank"), place.dir.display()));
        }
        registry::at_thread_ends(thread_end::end);
        registry::attach(thread);
        if (*thread).log.is_null() {
            set_state(State::Done);
            return;
        }
        set_state(State::Recording);
        close::begin_window(thread);
        marks::replay_early(thread);
    }
}

fn header(settings: &Settings, mode: Mode, place: &Place, rank: i32, size: i32) -> Header {
    let [before_ticks, before_ns] = &BEFORE;
    let clock = clock::source();
    Header {
        run_id: place.run_id,
        rank: rank as u32,
        n_ranks: size as u32,
        host: process::host(),
        pid: std::process::id(),
        command: process::command(),
        mpi: library_version(),
        abi: abi::abi().name.into(),
        recorder: env!("CARGO_PKG_VERSION").into(),
        clock,
        started_unix_s: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs()),
        recorded_ranks: settings.ranks.clone().unwrap_or_else(|| RankList(Vec::new())),
        mode,
        instants: [
            Instant { ticks: before_ticks.load(Relaxed), monotonic_ns: before_ns.load(Relaxed) },
            clock::instant(),
        ],
        settings: settings.given.clone(),
    }
}

/// The MPI library's own description of itself, its first line.
fn library_version() -> String {
    let mut text = vec![0u8; 8192 + 1];
    let mut length = 0i32;
    // SAFETY: the buffer is as long as MPI_MAX_LIBRARY_VERSION_STRING is in any known interface.
    unsafe { call2(c"PMPI_Get_library_version", text.as_mut_ptr() as Word, &raw mut length as Word) };
    let text =
        String::from_utf8_lossy(text.get(..usize::try_from(length).unwrap_or(0)).unwrap_or_default()).into_owned();
    let line = text.lines().next().unwrap_or_default().trim_matches('\0').trim();
    line.split('\t').filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// MPI_Finalize was entered, or the last session's end: recording stops. Collective as MPI_Finalize is.
///
/// # Safety
/// `thread` is the calling thread's state.
pub unsafe fn finalising(thread: *mut Thread) {
    let last = MODELS.fetch_sub(1, SeqCst) <= 1;
    if !last {
        return;
    }
    // SAFETY: the caller's promise.
    unsafe {
        let end = ticks();
        let recorded = at_work() && {
            let window_end = Record { call_site: (*thread).caller as u64, ..Record::new(Operation::Finalize, end) };
            if let Some(head) = guard::mirrored() {
                head.window_end.store(end, Relaxed);
            }
            if (*thread).busy != 0 || signals::in_critical(thread) {
                // From a handler that has interrupted the recorder.
                end_in_ring(thread, EndReason::Finalize, window_end);
                false
            } else {
                enter::cold(thread, || {
                    signals::critical(|| {
                        close::close_all(thread, window_end);
                        log::define(Definition::WindowEnd(end));
                    });
                    true
                })
            }
        };
        // Whatever became of our own recording, the other ranks wait for us here.
        let offset = enter::quiet(thread, || guard::caught(|| offsets::measure_last()));
        if recorded {
            enter::cold(thread, || {
                signals::critical(|| {
                    if let Some(offset) = offset {
                        log::define(Definition::ClockOffset(offset));
                    }
                    close_log(EndReason::Finalize);
                });
                in_finalize::begin();
                world::free_group();
            });
        }
    }
}

/// MPI_Abort was entered.
///
/// # Safety
/// `thread` is the calling thread's state.
pub unsafe fn aborting(thread: *mut Thread, code: i32) {
    // SAFETY: the caller's promise.
    unsafe { end_early(thread, EndReason::Abort(code)) };
}

/// Runs when the process exits, after the program's own atexit functions and static destructors, which may call MPI.
extern "C" fn at_exit() {
    if !OPEN.load(Relaxed) {
        finalize::end();
        exit_status::append();
        if state() == State::Idle && BEFORE.iter().all(|known| known.load(Relaxed) == 0) {
            bypass::tell_unseen();
        }
        return;
    }
    let thread = thread::current();
    // SAFETY: the calling thread's state.
    unsafe { enter::quiet(thread, || end_early(thread, EndReason::Exit)) };
}

/// The functions that the dynamic loader calls at exit.
#[used]
#[unsafe(link_section = ".fini_array")]
static AT_EXIT: extern "C" fn() = at_exit;

/// Whether this process records.
fn at_work() -> bool {
    state() == State::Recording && PID.load(Relaxed) == std::process::id()
}

/// Whether the log is open: recording may have ended already, while MPI_Finalize is under way.
static OPEN: AtomicBool = AtomicBool::new(false);

/// The process ends without MPI_Finalize. It may do so in a signal handler, whatever the thread and the others were doing: in
/// malloc, in MPI, in the recorder itself. So what is to be known goes into the rings, which stay as they are.
unsafe fn end_early(thread: *mut Thread, reason: EndReason) {
    if !OPEN.load(Relaxed) || PID.load(Relaxed) != std::process::id() {
        return;
    }
    // SAFETY: the caller's promise.
    unsafe { end_in_ring(thread, reason, Record::new(Operation::ProgramEnd, ticks())) };
}

/// Ends recording; the rings keep what they hold, for the reader. Only the sums of profile mode are written: the recorder's heap
/// and locks are never taken by a thread that a handler has interrupted.
///
/// # Safety
/// `thread` is the calling thread's state.
unsafe fn end_in_ring(thread: *mut Thread, reason: EndReason, last: Record) {
    // SAFETY: the caller's promise.
    unsafe {
        // Where a handler has interrupted a critical section, the thread's log and the locks are in its hands.
        let whole = !signals::in_critical(thread);
        if whole && state() == State::Recording {
            close::last_record(thread, last);
        }
        stamp(reason, last.begin);
        set_state(State::Done);
        if whole {
            close::write_sums();
            tell_totals(LOG.lock_at_end().as_deref().and_then(Option::as_ref));
        }
    }
}

/// Notes in the first ring's head how and when the process ended, unless that is there already.
fn stamp(reason: EndReason, end: u64) {
    let Some(head) = guard::mirrored() else { return };
    if head.end_reason.load(Relaxed) != 0 {
        return;
    }
    let (number, code) = match reason {
        EndReason::Finalize => (1, 0),
        EndReason::Exit => (2, 0),
        EndReason::Abort(code) => (3, code),
    };
    let instant = clock::instant();
    head.end_ticks.store(end, Relaxed);
    for (word, value) in head.end_instant.iter().zip([instant.ticks, instant.monotonic_ns]) {
        word.store(value, Relaxed);
    }
    if let Some(usage) = process::usage() {
        for (word, value) in head.end_usage.iter().zip(usage.to_words()) {
            word.store(value, Relaxed);
        }
    }
    if let Some(status) = exit_status::known() {
        head.exit_status.store(status, Relaxed);
        head.has_exit_status.store(1, Relaxed);
    }
    head.abort_code.store(code, Relaxed);
    head.end_reason.store(number, SeqCst);
}

/// Writes the log's last definitions and closes it.
fn close_log(reason: EndReason) {
    let end = ticks();
    stamp(reason, end);
    let mut last: Vec<Definition> = process::usage().map(Definition::Usage).into_iter().collect();
    last.push(Definition::Instant(clock::instant()));
    last.extend(
        guard::counts()
            // These are in the log since they were met.
            .filter(|&(kind, _)| {
                !matches!(
                    kind,
                    ProblemKind::LimitReached | ProblemKind::Dropped | ProblemKind::ThreadLost | ProblemKind::RingLost
                )
            })
            .map(|(kind, times)| Definition::Problem(kind as u16, times, String::new())),
    );
    let dropped = DROPPED.load(Relaxed);
    if dropped != 0 {
        last.push(Definition::Problem(ProblemKind::Dropped as u16, dropped, String::new()));
    }
    last.push(Definition::End(reason, end));
    let log = LOG.lock().and_then(|mut log| log.take());
    if let Some(mut log) = log {
        log.end(&last);
        closed::closed(&log.path());
        tell_totals(Some(&log));
    }
    // No page of a ring is touched any more.
    guard::unmirror();
    faults::uncover();
    OPEN.store(false, Relaxed);
}

/// What LBPROF_VERBOSE adds at the end, on rank 0.
fn tell_totals(log: Option<&RankLog>) {
    if let Some(log) = log
        && log.rank() == 0
        && SETTINGS.lock_at_end().as_deref().and_then(Option::as_ref).is_some_and(|settings| settings.verbose)
    {
        let (records, dropped) = (flush::RECORDED.load(Relaxed), DROPPED.load(Relaxed));
        let bytes = log.bytes();
        guard::say(format_args!(
            "recorded {} of this rank, {} dropped, in {}",
            Plural(records, "record"),
            Count(dropped),
            Plural(bytes, "byte")
        ));
    }
}

/// In the child of a fork: the log, the rings and the rank are its parent's.
unsafe extern "C" fn in_child() {
    set_state(State::Done);
    OPEN.store(false, Relaxed);
    memory::abandon();
    guard::unmirror();
    faults::uncover();
    // SAFETY: the child's only thread.
    unsafe { close::abandon(thread::current()) };
}

/// The thread level by its order in the standard; interfaces number it differently.
pub fn thread_level(provided: c_int) -> u8 {
    match abi::abi().kind {
        abi::Kind::Standard => match provided {
            ..1024 => 0,
            1024..2048 => 1,
            2048..4096 => 2,
            _ => 3,
        },
        _ => u8::try_from(provided.clamp(0, 3)).unwrap_or(0),
    }
}
