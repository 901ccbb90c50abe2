//! Limits the time that a run may take: a run that is small on disk must not keep lb-report busy for ever.
//!
//! The time that lb-report takes for a run grows with its records, and so with its bytes, of which a record takes at least a half. A log may
//! be damaged, or made, so that the time grows faster than that. Nobody can know that in advance, so a thread looks now and then how long
//! it took. Where it is several times what a run of that size needs, lb-report says what took so long, and ends.
//!
//! A small run must have taken both much time and much processor time: on a busy machine or a slow disk the first says little, on very
//! many cores the second.

use std::io::{self, Write};
use std::sync::atomic::{
    AtomicBool, AtomicU8, AtomicU64,
    Ordering::{Relaxed, SeqCst},
};
use std::sync::{Once, OnceLock};
use std::time::{Duration, Instant};

use lbprof_analysis::analyse::AnalysisStage;
use lbprof_analysis::structure::symbols;
use rustix::time::{ClockId, clock_gettime};

use crate::exit::{self, ReportExit};
use crate::on_disk::OnDisk;

/// The processor time that any run may take, and so much more for each megabyte. Recorded runs take a tenth of a second for that, of thousands of ranks up
/// to one, more on a slow or busy processor: 20 million records of 4 ranks in 42 MB took 4.6 s where this was measured, 16 million of 4,096 in 37 MB 31 s, and
/// 59 s beside other work.
const ANY_RUN: Duration = Duration::from_secs(15);
const A_MEGABYTE: Duration = Duration::from_secs(2);

/// The time that a small run may take, where it also takes more processor time than any run may.
const SMALL_RUN: Duration = Duration::from_secs(20);

/// A development build is several times slower than what users have.
const SLOWER: u32 = if cfg!(debug_assertions) { 10 } else { 1 };

/// Interval between two checks.
const INTERVAL: Duration = Duration::from_millis(100);

/// The variable with the user's own limit: seconds for each run; 0: none.
const VARIABLE: &str = "LB_REPORT_MAX_CPU";

/// The limit of the runs read so far, in milliseconds of processor time and of elapsed time. They are given up beyond both.
static LIMIT_MS: TimeTaken = TimeTaken { processor: AtomicU64::new(0), all: AtomicU64::new(0) };
/// Of the time taken what does not count.
static EXEMPT_MS: TimeTaken = TimeTaken { processor: AtomicU64::new(0), all: AtomicU64::new(0) };
/// True if there is no limit.
static UNBOUNDED: AtomicBool = AtomicBool::new(false);

/// The current stage, as an index in [`STAGES`].
static STAGE: AtomicU8 = AtomicU8::new(0);
/// The time taken before the current stage, in milliseconds.
static SINCE_MS: TimeTaken = TimeTaken { processor: AtomicU64::new(0), all: AtomicU64::new(0) };

/// Milliseconds of processor time, of all threads of this process, and of time.
struct TimeTaken {
    processor: AtomicU64,
    all: AtomicU64,
}

/// The stages, in words.
const STAGES: [&str; 7] = [
    "it opened the logs",
    "it surveyed the calls",
    "it looked up the names of functions (--no-symbols leaves that out)",
    "it looked for loops (--no-detect leaves that out)",
    "it added up the calls",
    "it followed the ranks (--no-blocking leaves that out)",
    "it made the report",
];
/// Looking up names takes what the program's files need, which are no part of the run. It is given up by itself ([`for_names`]); only the
/// files that it has begun with then may take longer, and that does not count.
const NAMING: u8 = 2;
const WRITING: u8 = 6;

/// Limits this process to the time that the runs read so far and this one may take. `run` is its size on disk, if known.
pub fn bound_by(run: Option<OnDisk>) {
    let (processor, all) = limits(run, given());
    if processor.is_zero() {
        UNBOUNDED.store(true, SeqCst);
    }
    LIMIT_MS.processor.fetch_add(milliseconds(processor), SeqCst);
    LIMIT_MS.all.fetch_add(milliseconds(all), SeqCst);
    static WATCH: Once = Once::new();
    // Without the thread there is no limit, as there is none without the processor's clock.
    WATCH.call_once(|| drop(std::thread::Builder::new().name("processor time".to_owned()).spawn(watch)));
}

/// The processor time that a run may take, and the time that it may take besides. `given` is the user's own limit.
fn limits(run: Option<OnDisk>, given: Option<Duration>) -> (Duration, Duration) {
    if let Some(given) = given {
        return (given, Duration::ZERO);
    }
    let megabytes = run.map_or(0, |run| u32::try_from(run.bytes / 1_000_000).unwrap_or(u32::MAX));
    let processor = ANY_RUN.saturating_add(A_MEGABYTE.saturating_mul(megabytes));
    let all = if run.is_none_or(OnDisk::is_small) { SMALL_RUN } else { Duration::ZERO };
    (processor.saturating_mul(SLOWER), all.saturating_mul(SLOWER))
}

/// The user's own limit.
fn given() -> Option<Duration> {
    std::env::var(VARIABLE).ok().and_then(|text| text.trim().parse().ok()).map(Duration::from_secs)
}

/// The processor time after which no more names are looked up.
pub fn for_names() -> Duration {
    match given() {
        None => symbols::MOST_TIME.saturating_mul(SLOWER),
        Some(Duration::ZERO) => Duration::MAX,
        Some(given) => given,
    }
}

/// Starts a stage of the analysis.
pub fn allow_for(stage: AnalysisStage) {
    enter(match stage {
        AnalysisStage::Surveying(_) => 1,
        AnalysisStage::Naming => NAMING,
        AnalysisStage::Finding => 3,
        AnalysisStage::AddingUp(_) => 4,
        AnalysisStage::Following(_) => 5,
    });
}

/// Starts the last stage, in which the report is written.
pub fn writes() {
    enter(WRITING);
}

/// Lifts the limit from now on.
pub fn unbounded() {
    UNBOUNDED.store(true, SeqCst);
}

fn enter(stage: u8) {
    let before = STAGE.load(Relaxed);
    if before != stage && STAGE.compare_exchange(before, stage, SeqCst, SeqCst).is_ok() {
        let names = if before == NAMING { milliseconds(for_names()) } else { u64::MAX };
        for (since, exempt, now) in
            [(&SINCE_MS.processor, &EXEMPT_MS.processor, processor_ms()), (&SINCE_MS.all, &EXEMPT_MS.all, elapsed_ms())]
        {
            let since = since.swap(now, SeqCst);
            exempt.fetch_add(now.saturating_sub(since).saturating_sub(names), SeqCst);
        }
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Processor time of all threads of this process so far.
fn processor_ms() -> u64 {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    1000 * u64::try_from(used.tv_sec).unwrap_or(0) + u64::try_from(used.tv_nsec / 1_000_000).unwrap_or(0)
}

/// Time since this was first asked, which is when the first run is opened.
fn elapsed_ms() -> u64 {
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    milliseconds(BEGIN.get_or_init(Instant::now).elapsed())
}

fn watch() {
    let _ = elapsed_ms();
    loop {
        std::thread::sleep(INTERVAL);
        let stage = STAGE.load(SeqCst);
        let used = processor_ms().saturating_sub(EXEMPT_MS.processor.load(SeqCst));
        let elapsed = elapsed_ms().saturating_sub(EXEMPT_MS.all.load(SeqCst));
        let exceeds = used > LIMIT_MS.processor.load(SeqCst) && elapsed > LIMIT_MS.all.load(SeqCst);
        if stage != NAMING && exceeds && !UNBOUNDED.load(SeqCst) {
            exceeded(used, stage);
        }
    }
}

/// Reports the stage that took too long, and ends the process.
fn exceeded(used_ms: u64, stage: u8) {
    let name = exit::name();
    let what = STAGES[usize::from(stage) % STAGES.len()];
    let _ = writeln!(
        io::stderr(),
        "{name}: gave up after {} s of processor time, several times what logs of this size take, while {what}: the logs are damaged \
         or were made so. {VARIABLE}=600 allows 600 s, 0 any time",
        used_ms / 1000
    );
    std::process::exit(ReportExit::NoData as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_run_has_15_seconds_and_what_its_bytes_need() {
        let seconds = |seconds: u64| Duration::from_secs(seconds) * SLOWER;
        let of = |bytes| limits(Some(OnDisk { bytes }), None);
        assert_eq!(of(1), (seconds(15), seconds(20)));
        assert_eq!(of(37_000_000), (seconds(15 + 74), seconds(20)));
        assert_eq!(of(99_999_999), (seconds(15 + 198), seconds(20)));
        assert_eq!(of(100_000_000), (seconds(15 + 200), Duration::ZERO));
        assert_eq!(of(u64::MAX).1, Duration::ZERO);
        assert_eq!(limits(None, None), of(1));
    }

    #[test]
    fn what_the_user_gives_is_processor_time_alone() {
        let given = Duration::from_secs(3);
        assert_eq!(limits(Some(OnDisk { bytes: 1 }), Some(given)), (given, Duration::ZERO));
    }
}
