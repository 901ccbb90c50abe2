//! How much processor time a run may take: what is small on disk must not keep lb-report busy for ever.
//!
//! The time that lb-report takes for a run grows with its records, and so with its bytes, of which a record takes at least a half. A log may
//! be damaged, or made, so that the time grows faster than that. Nobody can know that in advance, so a thread looks now and then how long
//! it took. Where it is several times what a run of that size needs, lb-report says what took so long, and ends.

use std::io::{self, Write};
use std::sync::Once;
use std::sync::atomic::{
    AtomicBool, AtomicU8, AtomicU64,
    Ordering::{Relaxed, SeqCst},
};
use std::time::Duration;

use lbprof_analyzer::analyse::Stage;
use rustix::time::{ClockId, clock_gettime};

use crate::exit::Exit;
use crate::on_disk::OnDisk;

/// What any run may take, and so much more for each megabyte. Recorded runs take a tenth of a second for that, more on a slow processor
/// and for a page: 20 million records in 42 MB took 4.6 s where this was measured.
const ANY_RUN: Duration = Duration::from_secs(15);
const A_MEGABYTE: Duration = Duration::from_millis(300);

/// A development build is several times slower than what users have.
const SLOWER: u32 = if cfg!(debug_assertions) { 10 } else { 1 };

/// How often is looked.
const INTERVAL: Duration = Duration::from_millis(100);

/// The variable with the user's own limit: seconds for each run; 0: none.
const VARIABLE: &str = "LB_REPORT_MAX_CPU";

/// What the runs read so far may take together, in milliseconds, and of the time taken what does not count.
static LIMIT_MS: AtomicU64 = AtomicU64::new(0);
static EXEMPT_MS: AtomicU64 = AtomicU64::new(0);
/// Whether there is no limit.
static UNBOUNDED: AtomicBool = AtomicBool::new(false);

/// What is done at the moment; an index in [`STAGES`].
static STAGE: AtomicU8 = AtomicU8::new(0);
/// Since when it is, in milliseconds.
static SINCE_MS: AtomicU64 = AtomicU64::new(0);

/// What there is to do, in words.
const STAGES: [&str; 7] = [
    "it opened the logs",
    "it surveyed the calls",
    "it looked up the names of functions",
    "it looked for loops (--no-detect leaves that out)",
    "it added up the calls",
    "it followed the ranks (--no-blocking leaves that out)",
    "it made the report",
];
/// Looking up names takes what the program's files need, which are no part of the run.
const NAMING: u8 = 2;
const WRITING: u8 = 6;

/// Bounds this process by what the runs read so far, and one that takes so much on disk, may take; `None`: that is not known.
pub fn bound_by(run: Option<OnDisk>) {
    let given = std::env::var(VARIABLE).ok().and_then(|text| text.trim().parse().ok()).map(Duration::from_secs);
    let limit = given.unwrap_or_else(|| {
        let megabytes = u32::try_from(run.map_or(0, |run| run.bytes) / 1_000_000).unwrap_or(u32::MAX);
        ANY_RUN.saturating_add(A_MEGABYTE.saturating_mul(megabytes)).saturating_mul(SLOWER)
    });
    if limit.is_zero() {
        UNBOUNDED.store(true, SeqCst);
    }
    LIMIT_MS.fetch_add(milliseconds(limit), SeqCst);
    static WATCH: Once = Once::new();
    // Without the thread there is no limit, as there is none without the processor's clock.
    WATCH.call_once(|| drop(std::thread::Builder::new().name("processor time".to_owned()).spawn(watch)));
}

/// Takes note of what is done.
pub fn allow_for(stage: Stage) {
    enter(match stage {
        Stage::Surveying(_) => 1,
        Stage::Naming => NAMING,
        Stage::Finding => 3,
        Stage::AddingUp(_) => 4,
        Stage::Following(_) => 5,
    });
}

/// The report is made, and will be written.
pub fn writes() {
    enter(WRITING);
}

/// From here on it takes as long as it takes.
pub fn unbounded() {
    UNBOUNDED.store(true, SeqCst);
}

fn enter(stage: u8) {
    let before = STAGE.load(Relaxed);
    if before != stage && STAGE.compare_exchange(before, stage, SeqCst, SeqCst).is_ok() {
        let now = used_ms();
        let since = SINCE_MS.swap(now, SeqCst);
        if before == NAMING {
            EXEMPT_MS.fetch_add(now.saturating_sub(since), SeqCst);
        }
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Processor time of all threads of this process so far.
fn used_ms() -> u64 {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    1000 * u64::try_from(used.tv_sec).unwrap_or(0) + u64::try_from(used.tv_nsec / 1_000_000).unwrap_or(0)
}

fn watch() {
    loop {
        std::thread::sleep(INTERVAL);
        let stage = STAGE.load(SeqCst);
        let used = used_ms().saturating_sub(EXEMPT_MS.load(SeqCst));
        if stage != NAMING && used > LIMIT_MS.load(SeqCst) && !UNBOUNDED.load(SeqCst) {
            exceeded(used, stage);
        }
    }
}

/// Says what took so long, and ends.
fn exceeded(used_ms: u64, stage: u8) {
    let what = STAGES[usize::from(stage) % STAGES.len()];
    let _ = writeln!(
        io::stderr(),
        "lb-report: gave up after {} s of processor time, several times what logs of this size take, while {what}: the logs are damaged \
         or were made so. {VARIABLE}=600 allows 600 s, 0 any time",
        used_ms / 1000
    );
    std::process::exit(Exit::NoData as i32)
}
