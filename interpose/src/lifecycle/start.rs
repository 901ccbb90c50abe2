//! Recording starts: MPI_Init, MPI_Init_thread, MPI_Session_init.

use crate::forward::{bypass, weak};
use crate::handles::comms::creation;
use crate::handles::requests;
use crate::harmless::{guard, memory, signals};
use crate::lifecycle::fork::{before_fork, in_child};
use crate::lifecycle::process_state::{BEFORE, LEFT_INIT, MODELS, OPEN, PID, SETTINGS};
use crate::lifecycle::{exit_status, thread_end};
use crate::log::{self, LOG, OpenLog};
use crate::machine::system::clock::read_ticks;
use crate::machine::system::files::owned_files::OwnedFolder;
use crate::machine::system::{self, clock, process, sandbox, stack};
use crate::machine::word::Word;
use crate::mpi::call::ask_mpi;
use crate::mpi::{abi, detect, world};
use crate::recording::{call_path, close, registry};
use crate::run::agreement::{self, Agreement, StartingRank};
use crate::run::messages::RunDirectory;
use crate::run::settings::RecorderSettings;
use crate::run::{job, launcher, peers, report_request};
use crate::sampling;
use crate::sources;
use crate::sources::markers::marks;
use crate::state::stage::{RecordingState, recording_state, set_state};
use crate::state::thread::RecorderThread;
use lbprof_collector::definition::{ClockOffset, ClockPair, Definition, LifetimePoint, RankList};
use lbprof_collector::format::{ClockSource, LogHeader, RecordingMode};
use lbprof_collector::problem::ProblemKind;
use lbprof_collector::words::SystemError;
use std::ffi::c_int;
use std::io;
use std::path::Path;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::time::{SystemTime, UNIX_EPOCH};

/// Prepares for MPI_Init or MPI_Session_init: chooses and reads the clock. Other ranks may find this one from here on.
pub fn before_init() {
    weak::clear_missing_references();
    if recording_state() != RecordingState::Idle || BEFORE.iter().any(|known| known.load(Relaxed) != 0) {
        return;
    }
    // guard.rs reports our panics in one line.
    std::panic::set_hook(Box::new(|_| {}));
    let settings = RecorderSettings::from_env();
    clock::choose_clock(settings.clock);
    if let Some(mut kept) = SETTINGS.lock() {
        *kept = Some(settings);
    }
    if let (Some(key), Some(rank)) = (job::job_key(), launcher::launcher_rank()) {
        peers::register_socket(&launcher::key_on_host(key), rank);
    }
    let [ticks, ns] = &BEFORE;
    let instant = clock::read_instant();
    ticks.store(instant.ticks, Relaxed);
    ns.store(instant.monotonic_ns, Relaxed);
}

/// Starts recording after MPI_Init or MPI_Init_thread. `level`: thread level, 0 single … 3 multiple.
/// MPI is initialised.
pub fn on_initialised(thread: &RecorderThread, level: u8) {
    LEFT_INIT.store(read_ticks(), Relaxed);
    let is_first = MODELS.fetch_add(1, SeqCst) == 0;
    // A session that is there already may have more threads.
    if is_first && provided_level().is_some_and(|level| level < CONCURRENT_THREADS) {
        requests::set_concurrent(false);
    }
    // SAFETY: MPI is initialised, on all ranks.
    start_recording(thread, level, |own| unsafe { agreement::agree_on_run(own) });
    // In any case no rank is to wait for this one.
    drop(peers::take_registered());
}

/// Starts recording after MPI_Session_init, unless it has started. The ranks agree without a message, because only some of them may
/// have sessions.
/// `session` is the new session's handle.
pub fn session_initialised(thread: &RecorderThread, session: Word) {
    LEFT_INIT.store(read_ticks(), Relaxed);
    MODELS.fetch_add(1, SeqCst);
    requests::set_concurrent(true);
    world::set_session(session);
    start_recording(thread, 0, agreement::of_session);
    drop(peers::take_registered());
}

/// Makes the run's folder unless it exists, and checks that it is this user's.
fn make_folder(dir: &Path) -> io::Result<()> {
    if let Some(parent) = dir.parent() {
        std::fs::create_dir_all(parent)?;
    }
    OwnedFolder::open_or_create(dir).map(drop)
}

fn start_recording(thread: &RecorderThread, level: u8, agree: impl FnOnce(StartingRank) -> Agreement) {
    if recording_state() != RecordingState::Idle || !detect::detect_mpi() {
        return;
    }
    let Some(settings) = SETTINGS.lock().and_then(|settings| settings.clone()) else { return };
    let Some((rank, size)) = world::rank_and_size() else { return };
    guard::RANK.store(rank as u32, Relaxed);
    let among = settings.ranks.as_ref().is_none_or(|ranks| ranks.iter().any(|r| r == rank as u32));
    let mode = settings.mode.filter(|_| among);
    let reserved = mode.is_some() && memory::reserve_memory(settings.buffer);
    if rank == 0 && settings.mode.is_some() {
        for complaint in &settings.complaints {
            guard::say_line(format_args!("{complaint}"));
        }
    }
    if mode.is_some() && size == 1 {
        launcher::look_for_foreign();
    }
    // Even if this rank records nothing, because the others do not know that.
    let own = StartingRank { settings: &settings, rank, size, wanted: reserved };
    let (place, offset) = agree(own);
    let (Some(mode), Some(place)) = (mode, place) else { return set_state(RecordingState::Done) };
    if !reserved {
        set_state(RecordingState::Done);
        guard::say_line(format_args!("no memory is left; nothing is recorded"));
        return;
    }
    signals::run_critical_section(|| open_log(thread, own, mode, &place, offset, level));
}

/// The thread level at which MPI lets several threads call it at the same time.
const CONCURRENT_THREADS: u8 = 3;

/// Returns the thread level that MPI provides, which may be higher than the program has asked for, or `None` if it does not say.
fn provided_level() -> Option<u8> {
    Some(ask_mpi(c"PMPI_Query_thread", [], -1)).filter(|&level| level >= 0).map(thread_level)
}

/// Opens the log and starts to record.
fn open_log(
    thread: &RecorderThread,
    own: StartingRank,
    mode: RecordingMode,
    place: &RunDirectory,
    offset: Option<ClockOffset>,
    level: u8,
) {
    let StartingRank { settings, rank, size, .. } = own;
    stack::find_out();
    system::memory::find_out();
    system::loader::objects::find_out();
    process::note_folder();
    call_path::configure_paths(settings.depth);
    let unknown_python = call_path::look_for_python();
    let header = log_header(settings, mode, place, rank, size);
    let created = make_folder(&place.dir).and_then(|()| OpenLog::create(&place.dir, &header, settings));
    let Ok(log) = created.inspect_err(|error| {
        let (dir, error) = (place.dir.display(), SystemError(error));
        guard::say_line(format_args!("cannot write to {dir}: {error}; nothing is recorded"));
    }) else {
        return set_state(RecordingState::Done);
    };
    let Some(mut place_of_log) = LOG.lock() else { return };
    *place_of_log = Some(log);
    drop(place_of_log);
    if rank == 0 {
        report_request::note_folder(&place.dir);
    }
    PID.store(std::process::id(), Relaxed);
    OPEN.store(true, Relaxed);
    if let Some(version) = unknown_python {
        log::define_now(Definition::Problem(ProblemKind::PythonUnknown as u16, 1, format!("Python {version}")));
    }
    note_beginning(settings, &header, offset, level);
    if world::world_model() {
        creation::define_predefined();
    }
    sandbox::remember_filters();
    process::watch_usage();
    for fact in log::usage_facts() {
        log::define_now(fact);
    }
    begin_recording(thread, settings, rank);
}

/// Installs what watches the process, and starts to record its calls.
fn begin_recording(thread: &RecorderThread, settings: &RecorderSettings, rank: i32) {
    // SAFETY: functions of these types.
    unsafe { libc::pthread_atfork(Some(before_fork), None, Some(in_child)) };
    exit_status::watch_exit_status();
    sampling::start_sampling(settings.samples, settings.depth);
    sources::install(settings);
    bypass::look_for_bypasses(rank);
    registry::at_thread_ends(thread_end::on_thread_end);
    registry::attach_ring(thread);
    if !thread.has_log() {
        return set_state(RecordingState::Done);
    }
    set_state(RecordingState::Recording);
    close::begin_window(thread);
    marks::replay_early(thread);
}

/// Notes problems met so far, the offset of the rank's clock, the thread level, the start of the process, if the system says, and the return of MPI's own
/// MPI_Init.
fn note_beginning(settings: &RecorderSettings, header: &LogHeader, offset: Option<ClockOffset>, level: u8) {
    guard::count_problem(ProblemKind::BadSetting, settings.complaints.len() as u64);
    if header.clock == ClockSource::Monotonic && settings.clock.is_none() {
        guard::count_problem(ProblemKind::SlowClock, 1);
    }
    match offset {
        Some(offset) => log::define_now(Definition::ClockOffset(offset)),
        None => guard::count_problem(ProblemKind::ClocksUnknown, 1),
    }
    log::define_now(Definition::ThreadLevel(level));
    let [before, now] = &header.instants;
    let age_ns =
        process::age_ns().zip(now.monotonic_ns.checked_sub(before.monotonic_ns).filter(|&span_ns| span_ns > 0));
    if let Some((age_ns, span_ns)) = age_ns {
        let per_ns = now.ticks.saturating_sub(before.ticks) as f64 / span_ns as f64;
        let started = read_ticks().saturating_sub((age_ns as f64 * per_ns) as u64).min(before.ticks);
        log::define_now(Definition::Lifetime(LifetimePoint::Started, started));
    }
    log::define_now(Definition::Lifetime(LifetimePoint::LeftInit, LEFT_INIT.load(Relaxed)));
}

fn log_header(
    settings: &RecorderSettings,
    mode: RecordingMode,
    place: &RunDirectory,
    rank: i32,
    size: i32,
) -> LogHeader {
    let [ticks, monotonic_ns] = BEFORE.each_ref().map(|word| word.load(Relaxed));
    LogHeader {
        run_id: place.run_id,
        rank: rank as u32,
        n_ranks: size as u32,
        host: process::host_of_process(),
        pid: std::process::id(),
        command: process::command_line(),
        mpi: library_version(),
        abi: abi::current_abi().name.into(),
        recorder: env!("CARGO_PKG_VERSION").into(),
        clock: clock::clock_source(),
        started_unix_s: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs()),
        recorded_ranks: settings.ranks.clone().unwrap_or_else(|| RankList(Vec::new())),
        mode,
        instants: [ClockPair { ticks, monotonic_ns }, clock::read_instant()],
        settings: settings.given.clone(),
    }
}

/// Returns the first line of the MPI library's description of itself.
fn library_version() -> String {
    let mut text = vec![0u8; 8192 + 1];
    // The buffer is as long as MPI_MAX_LIBRARY_VERSION_STRING is in any known interface.
    let length = ask_mpi(c"PMPI_Get_library_version", [text.as_mut_ptr() as Word], 0i32);
    let text =
        String::from_utf8_lossy(text.get(..usize::try_from(length).unwrap_or(0)).unwrap_or_default()).into_owned();
    let line = text.lines().next().unwrap_or_default().trim_matches('\0').trim();
    line.split('\t').filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Returns the thread level by its order in the standard; interfaces number it differently.
pub fn thread_level(provided: c_int) -> u8 {
    match abi::current_abi().kind {
        abi::AbiFamily::Standard => match provided {
            ..1024 => 0,
            1024..2048 => 1,
            2048..4096 => 2,
            _ => 3,
        },
        _ => u8::try_from(provided.clamp(0, 3)).unwrap_or(0),
    }
}
