//! The rank's log: one file, written by whichever thread's ring is full.

pub mod callsite;
pub mod closed_log;
pub mod file;
pub mod rings;
pub mod saved_sums;
pub mod summaries;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use lbprof_collector::Definition;

use lbprof_collector::fold::ProfileFold;
use lbprof_collector::format::{BatchHead, LogHeader, RecordingMode, log_name, saved_sums_name};
use lbprof_collector::polling::{PollGapClassifier, PollGapLimits, PollGapRule};
use lbprof_collector::problem::ProblemKind;
use lbprof_collector::profile::ProfileBatch;
use lbprof_collector::record::Record;
use lbprof_collector::sample::{Sample, SampleHead};
use lbprof_collector::words::SystemError;
use lbprof_collector::writer::LogWriter;

use crate::harmless::guard;
use crate::harmless::signals::HandlerLock;
use crate::log::callsite::CallSiteTable;
use crate::log::file::LogFile;
use crate::log::saved_sums::SavedSumsFile;
use crate::log::summaries::EndedThreads;
use crate::machine::system::{clock, process, sandbox};
use crate::machine::unwind::PathCall;
use crate::run::settings::RecorderSettings;

/// The number in the log of the thread that called MPI_Init.
pub const FIRST_THREAD: u32 = 0;

/// The log of this rank, while it records.
pub static LOG: HandlerLock<Option<OpenLog>> = HandlerLock::new(None);

/// Returns the resources that the process and the calling thread have used so far; none where a system call filter may not allow to ask.
pub fn usage_facts() -> Vec<Definition> {
    let Some((process, thread)) = process::resource_usage() else { return Vec::new() };
    vec![Definition::Usage(process), Definition::ThreadUsage(thread)]
}

/// Writes a definition to the rank's log, now: what the ring holds may refer to it if the process is killed.
pub fn define_now(definition: Definition) {
    LOG.with(|log| log.define(&[definition]));
}

/// Writes a definition with the log's next block, for objects that programs make again and again. Until then it is in the head of the first ring, so
/// that it outlives the process; where there is none, it is written now.
pub fn define_later(definition: Definition) {
    LOG.with(|log| log.define_later(&[definition]));
}

/// True if the log gets records, not only their sums.
static WRITES_RECORDS: AtomicBool = AtomicBool::new(true);

/// Returns whether the log gets records, not only their sums.
pub fn is_writing_records() -> bool {
    WRITES_RECORDS.load(Relaxed)
}

pub struct OpenLog {
    writer: LogWriter<LogFile>,
    sites: CallSiteTable,
    pub dir: PathBuf,
    pub rank: u32,
    pub n_ranks: u32,
    pub run_id: u64,
    mode: RecordingMode,
    limit: u64,
    pub buffer: usize,
    /// Ticks of one second, as measured so far, and the ticks at which the log was begun.
    second: u64,
    begun: u64,
    sampled_at: u64,
    /// Limits that separate waiting from computation between polls.
    lengths: PollGapLimits,
    /// Rings that hold nothing that the log lacks.
    pub emptied: u32,
    /// Memory for records that are about to be folded.
    copy: Vec<Record>,
    pub summaries: EndedThreads,
    pub saved: SavedSumsFile,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchOutcome {
    /// The log has it, or its sums do.
    Taken,
    /// The batch could not be written.
    Dropped,
    /// The batch changed while it was read: nothing of it is in the log.
    Changed,
}

impl OpenLog {
    /// Makes the rank's log in the folder `dir`.
    pub fn create(dir: &Path, header: &LogHeader, settings: &RecorderSettings) -> io::Result<Self> {
        let rank = header.rank;
        let file = LogFile::create(&dir.join(log_name(rank)))?;
        let [first, second] = header.instants;
        let span_ns = second.monotonic_ns.saturating_sub(first.monotonic_ns).max(1);
        let per_second = (second.ticks.saturating_sub(first.ticks) as f64 / span_ns as f64 * 1e9) as u64;
        let writer = LogWriter::new(file, header).inspect_err(|_| {
            // An empty log says that the rank ended at this instant.
            let _ = std::fs::remove_file(dir.join(log_name(rank)));
        })?;
        let mut log = OpenLog {
            writer,
            sites: CallSiteTable::default(),
            dir: dir.to_owned(),
            rank,
            n_ranks: header.n_ranks,
            run_id: header.run_id,
            mode: header.mode,
            limit: settings.limit,
            buffer: settings.buffer,
            second: per_second.max(1),
            begun: second.ticks,
            sampled_at: second.ticks,
            lengths: PollGapLimits::from_header(header),
            emptied: 0,
            copy: Vec::new(),
            summaries: EndedThreads::new(settings.summary, header),
            saved: SavedSumsFile::new(dir.join(saved_sums_name(rank)), header.run_id),
        };
        WRITES_RECORDS.store(log.events(), Relaxed);
        // While any system call may be made still.
        log.sites.refresh();
        Ok(log)
    }

    pub fn file(&mut self) -> &LogFile {
        self.writer.sink_mut()
    }

    /// Returns the bytes of log written so far.
    pub fn bytes(&self) -> u64 {
        self.writer.bytes()
    }

    /// Returns whether records are written, not only their sums.
    pub fn events(&self) -> bool {
        self.mode == RecordingMode::Events
    }

    pub fn seconds_between(&self, since: u64, now: u64) -> f64 {
        now.saturating_sub(since) as f64 / self.second as f64
    }

    /// Returns whether a second lies between two instants.
    pub fn second_has_passed(&self, since: u64, now: u64) -> bool {
        now.saturating_sub(since) > self.second
    }

    /// Returns whether a slot of the sums that began at `since` is over `now`. Slots last a second and, so that their number grows with the logarithm of
    /// time, a hundredth of the time so far.
    pub fn slot_has_passed(&self, since: u64, now: u64) -> bool {
        now.saturating_sub(since) > self.slot(now)
    }

    /// Returns the ticks of a slot that is over at `now`.
    pub fn slot(&self, now: u64) -> u64 {
        self.second.max(now.saturating_sub(self.begun) / 100)
    }

    /// Writes definitions. If that fails, ids in records have no meaning, which is reported as dropped data.
    pub fn define(&mut self, definitions: &[Definition]) -> bool {
        let result = self.writer.definitions(definitions);
        self.took(result)
    }

    /// Adds definitions that are written with the next block, see [`define_later`].
    pub fn define_later(&mut self, definitions: &[Definition]) -> bool {
        if guard::mirrored_head().is_none() {
            return self.define(definitions);
        }
        let result = definitions.iter().try_for_each(|definition| self.writer.definition_later(definition));
        self.took(result)
    }

    /// Writes how the run ended; then the rings are needed no more. They stay if the process is killed in between, or is
    /// under a system call filter. The summaries and the index come last: a log is whole without them.
    pub fn end(&mut self, last: &[Definition]) {
        if !self.define(last) {
            return;
        }
        if !sandbox::is_filtered() {
            rings::give_back(self.emptied);
            self.saved.remove();
        }
        let summaries = self.summaries.take();
        let written = summaries.iter().try_for_each(|summary| self.writer.summary(summary));
        if written.and_then(|()| self.writer.index()).is_err() {
            let whole = self.writer.bytes();
            let _ = self.writer.sink_mut().set_len(whole);
        }
    }

    /// Asks the table of call sites, and defines what is new in it.
    pub fn ask_sites<T>(&mut self, ask: impl FnOnce(&mut CallSiteTable) -> T) -> T {
        let found = ask(&mut self.sites);
        if !self.sites.new.is_empty() {
            let mut new = std::mem::take(&mut self.sites.new);
            self.define_later(&new);
            new.clear();
            self.sites.new = new;
        }
        found
    }

    /// Defines a path, and returns the id of its innermost call site, or `None` if there are too many. The calls come innermost
    /// first; `is_cut`: there may be more around them.
    pub fn call_path(&mut self, calls: &[PathCall], is_cut: bool) -> Option<u32> {
        self.ask_sites(|sites| sites.path(calls, is_cut))
    }

    pub fn new_fold(&self, head: &BatchHead) -> ProfileFold {
        let polls = PollGapClassifier::new(PollGapRule::Auto, self.lengths, head.previous_end);
        ProfileFold::new(head.clone()).deciding(polls)
    }

    /// Folds records into sums. `whole` returns whether `records` have not changed until now; it is called when they have been read.
    pub fn fold(
        &mut self,
        fold: &mut ProfileFold,
        records: &[Record],
        n: usize,
        whole: impl FnOnce() -> bool,
    ) -> BatchOutcome {
        // Folded records cannot be taken out again.
        self.copy.clear();
        // In chunks: memcpy copies more than 2 KiB by `rep movsb`, which is no faster, and which valgrind counts as one instruction per byte.
        for records in records.chunks(16) {
            self.copy.extend_from_slice(records);
        }
        if !whole() {
            return BatchOutcome::Changed;
        }
        fold.counted_records(&self.copy, n, site_of);
        BatchOutcome::Taken
    }

    /// Writes a batch of `n` records. `whole`: as for [`OpenLog::fold`]. Past the limit, later batches are written as sums.
    pub fn records(
        &mut self,
        head: &BatchHead,
        records: &[Record],
        n: usize,
        whole: impl FnOnce() -> bool,
    ) -> BatchOutcome {
        let result = self.writer.records_if(head, records, n, site_of, whole);
        let is_whole = matches!(result, Ok(true));
        let batch = match self.took(result.map(|_| ())) {
            true if is_whole => {
                self.summaries.wrote(head);
                BatchOutcome::Taken
            }
            true => BatchOutcome::Changed,
            false => {
                self.summaries.give_up();
                BatchOutcome::Dropped
            }
        };
        if self.limit != 0 && self.writer.bytes() > self.limit && self.mode == RecordingMode::Events {
            self.mode = RecordingMode::Profile;
            WRITES_RECORDS.store(false, Relaxed);
            guard::count_problem(ProblemKind::LimitReached, 1);
            self.define(&[Definition::Problem(ProblemKind::LimitReached as u16, 1, String::new())]);
        }
        batch
    }

    /// Returns the ticks of a nanosecond, as measured so far.
    pub fn ticks_of_ns(&self) -> f64 {
        self.second as f64 * 1e-9
    }

    /// Writes samples of a thread, whose locations are addresses still; false where that failed.
    pub fn samples(&mut self, head: &SampleHead, samples: &mut [Sample]) -> bool {
        self.ask_sites(|sites| sites.locate(samples));
        let result = self.writer.samples(head, samples);
        self.took(result)
    }

    /// Writes sums, and returns whether that succeeded.
    pub fn profile(&mut self, batch: &ProfileBatch) -> bool {
        let result = self.writer.profile(batch);
        let is_written = self.took(result);
        match is_written {
            true => self.summaries.wrote(&batch.head),
            false => self.summaries.give_up(),
        }
        is_written
    }

    /// Notes both clocks, at most once a slot, and the resources used if `thread`, the calling thread's number in the log, is the first one.
    pub fn sample_usage(&mut self, now: u64, thread: u32) {
        if self.slot_has_passed(self.sampled_at, now) {
            self.sampled_at = now;
            let instant = clock::read_instant();
            let mut facts = if thread == FIRST_THREAD { usage_facts() } else { Vec::new() };
            facts.push(Definition::Instant(instant));
            self.define(&facts);
        }
    }

    /// Keeps in the first ring's head how far the log goes beyond the records in rings, so that a cut is noticed, and the definitions that it lacks.
    fn note_facts(&self) {
        if let Some(head) = guard::mirrored_head() {
            head.facts_end.store(self.writer.facts_end(), Relaxed);
            head.keep_waiting(self.writer.bytes(), self.writer.waiting());
        }
    }

    /// Returns whether a write succeeded. If it failed, reports that and cuts the file after its last whole block.
    fn took(&mut self, result: io::Result<()>) -> bool {
        self.note_facts();
        let Err(error) = result else { return true };
        let whole = self.writer.bytes();
        let _ = self.writer.sink_mut().set_len(whole);
        let (dir, error) = (self.dir.display(), SystemError(&error));
        let what = format_args!("cannot write to {dir}: {error}; records are lost, the program goes on");
        guard::report_problem(ProblemKind::Dropped, what);
        false
    }
}

/// Returns the id of a record's call site: in a ring it is one more ([`crate::recording::call_path`]).
fn site_of(record: &Record) -> u64 {
    record.call_site.wrapping_sub(1)
}
