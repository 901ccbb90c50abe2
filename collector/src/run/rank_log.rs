//! Reads everything that a rank left in a run's folder: its log, then the records in its rings that are not in the log.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::definition::Definition;
use crate::format::{BatchHead, LogHeader, rings_name};
use crate::log_paths::open_file;
use crate::merged_threads::ThreadMerge;
use crate::poll_gaps::{GapUse, GapUses, ProfileGaps};
use crate::polling::{PollGapClassifier, PollGapLimits, PollGapRule, PollSums};
use crate::problem::{Problem, ProblemKind};
use crate::profile::ProfileBatch;
use crate::reader::{LogItem, LogReader, OpenError, SequenceNumbers, UnreadableLog, is_sane, record_gap_problem};
use crate::record::Record;
use crate::ring::HEAD_BYTES;
use crate::ring::waiting::WaitingDefinitions;
use crate::salvage::{SalvagedRing, read_at_most, read_rings};
use crate::saved_sums::{SavedSums, read_saved_sums};
use crate::sparse_file::DataOnly;
use crate::words::{CountedNoun, SystemError};

/// A rank's log and rings, read as one. A rank that still runs may be read too: what it writes later is left out.
#[derive(Default)]
pub struct RankLog {
    header: LogHeader,
    log: Option<LogReader<DataOnly>>,
    rings: Vec<SalvagedRing>,
    /// Sums beside the log, which it may have by now.
    saved: Vec<SavedSums>,
    /// True if the file of its rings holds none: the process died while it made the first one, or the file was emptied.
    has_blank_rings: bool,
    /// True if the log defines a thread, which happens after its ring is made.
    has_threads: bool,
    waiting: VecDeque<LogItem>,
    reported: HashMap<u16, u64>,
    /// Bytes that the log had at least, up to the end of a block that is not of records, as the rings state it.
    facts_end: u64,
    lost_waiting: bool,
    is_truncated: bool,
    /// The problem that the log ends within a block, held back while all that was in it may be in the rings.
    forgiven: Option<LogItem>,
    window_ended: bool,
    ended: bool,
    salvaged: bool,
    /// Decides what the time between polls is, where that was asked for.
    polls: Option<ThreadPolls>,
    /// Merges threads with the first one, and the same log to read their records from.
    merge: Option<Box<(ThreadMerge, RankLog)>>,
}

impl RankLog {
    pub(crate) fn from_files(rank: u32, log: &Path, rings: Option<&Path>) -> Result<RankLog, OpenError> {
        let mut waiting = VecDeque::new();
        // The rings first: records that a running rank flushes after that are in the log when we come to it, and are recognised.
        let rings = rings.and_then(|path| open_rings(rank, path, &mut waiting));
        let has_blank_rings = rings.as_ref().is_some_and(Vec::is_empty);
        let mut rings = rings.unwrap_or_default();
        let (log, header) = match (open_log(log), rings.first()) {
            (Ok(log), _) => {
                let header = log.header().clone();
                (Some(log), header)
            }
            (Err(error), Some(ring)) if matches!(error.reason, UnreadableLog::Io(_) | UnreadableLog::Short(_)) => {
                let (kind, detail) = match error.kind() {
                    ProblemKind::NotReadable => (ProblemKind::NotReadable, error.to_string()),
                    _ => (ProblemKind::MissingRank, format!("only its ring is left: {error}")),
                };
                waiting.push_back(LogItem::problem(rank, kind, 1, detail));
                (None, LogHeader { run_id: ring.run_id, rank: ring.rank, ..LogHeader::default() })
            }
            (Err(error), _) => return Err(error),
        };
        rings.retain(|ring| {
            let ours = ring.run_id == header.run_id && ring.rank == rank;
            if !ours {
                let detail = format!("the ring of its thread {} is of another run or rank", ring.head.thread);
                waiting.push_back(LogItem::problem(rank, ProblemKind::OtherRun, 1, detail));
            }
            ours
        });
        Ok(RankLog {
            header,
            log,
            facts_end: rings.iter().map(|ring| ring.facts_end).max().unwrap_or(0),
            lost_waiting: rings.iter().any(|ring| ring.waiting.is_none()),
            rings,
            has_blank_rings,
            waiting,
            ..RankLog::default()
        })
    }

    /// Adds the sums in the file at `path`, if there is one, as far as the log lacks them. To be called before anything is read.
    pub(crate) fn with_saved_sums(mut self, path: &Path) -> RankLog {
        match open_file(path).and_then(|file| read_saved_sums(&file, self.header.run_id)) {
            Ok(saved) => self.saved = saved,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                let detail = format!("{}: {}", path.display(), SystemError(&error));
                let kind = ProblemKind::of_unreadable(&error);
                self.waiting.push_back(LogItem::problem(self.header.rank, kind, 1, detail));
            }
        }
        self
    }

    /// Skips records, profiles and rings, for readers of samples. To be called before anything is read.
    pub fn samples_only(self) -> RankLog {
        RankLog {
            log: self.log.map(LogReader::samples_only),
            rings: Vec::new(),
            saved: Vec::new(),
            polls: None,
            ..self
        }
    }

    /// Decides on the time between unsuccessful polls, see [`crate::polling`]: records come as [`PollGapClassifier::next`] gives them, and
    /// at the end [`LogItem::Polls`]. To be called before anything is read. `gap_uses` are the known uses of long gaps.
    pub fn deciding(self, polling: PollGapRule, gap_uses: Arc<GapUses>) -> RankLog {
        let limits = PollGapLimits::from_header(&self.header);
        let (threads, gaps) = Default::default();
        RankLog { polls: Some(ThreadPolls { polling, limits, gap_uses, threads, gaps }), ..self }
    }

    /// Merges the records of `threads` into the records of the first thread. `again` is the same log. To be called before anything is read.
    pub fn merging(self, threads: BTreeSet<u32>, again: RankLog) -> RankLog {
        RankLog { merge: Some(Box::new((ThreadMerge::new(threads), again))), ..self }
    }

    /// Adds a problem that is known of the log.
    pub fn with_problem(mut self, problem: Problem) -> RankLog {
        self.waiting.push_back(LogItem::Problem(problem));
        self
    }

    /// Returns the log's header. If only a ring is left it states no more than the run's id and the rank.
    pub fn header(&self) -> &LogHeader {
        &self.header
    }

    /// Gives back memory that is not needed until the next item, for readers of thousands of logs in turn.
    pub fn give_back_memory(&mut self) {
        if let Some(log) = &mut self.log {
            log.give_back_memory();
        }
    }

    /// Returns the next item, or `None` at the end.
    pub fn next_item(&mut self) -> Option<LogItem> {
        let mut item = match self.merge.take() {
            None => self.next_as_it_is(),
            Some(mut merging) => {
                let (merge, again) = &mut *merging;
                let item = merge.next_item(|| self.next_as_it_is(), || again.next_as_it_is());
                self.merge = Some(merging);
                item
            }
        };
        match (&mut self.polls, &mut item) {
            (Some(polls), Some(LogItem::Records { head, records })) => polls.records(head, records),
            (Some(polls), Some(LogItem::Definitions(definitions))) => polls.keep_gaps(definitions),
            (Some(polls), Some(LogItem::Profile(batch))) => polls.profile(batch),
            (Some(polls), None) => item = polls.take_sums().map(LogItem::Polls),
            _ => {}
        }
        item
    }

    fn next_as_it_is(&mut self) -> Option<LogItem> {
        if let Some(item) = self.waiting.pop_front() {
            return Some(item);
        }
        if self.salvaged {
            return None;
        }
        while let Some(item) = self.log.as_mut().and_then(LogReader::next_item) {
            if self.rings_hold(&item) {
                self.forgiven = Some(item);
                continue;
            }
            self.is_truncated |= matches!(&item, LogItem::Problem(problem) if problem.kind == ProblemKind::Truncated);
            if let LogItem::Definitions(definitions) = &item {
                for definition in definitions.iter() {
                    self.take_in(definition);
                }
            }
            return Some(item);
        }
        let hole = self.log.as_ref().map_or(0, |log| log.source().skipped());
        if hole > 0 {
            let detail = format!("a hole of {} in the log's file", CountedNoun(hole, "byte"));
            self.waiting.push_back(LogItem::problem(self.header.rank, ProblemKind::Damaged, hole, detail));
        }
        self.take_in_saved();
        self.salvage();
        self.report_lost_facts();
        self.waiting.pop_front()
    }

    /// Reports blocks that the log has lost and no ring holds, in which case its unfinished block is a loss, too.
    fn report_lost_facts(&mut self) {
        let (forgiven, rank) = (self.forgiven.take(), self.header.rank);
        // A missing log has its own problem.
        let Some(log) = &self.log else { return };
        let n_bytes = self.facts_end.saturating_sub(log.whole_bytes());
        if n_bytes > 0 || self.lost_waiting {
            self.is_truncated |= forgiven.is_some();
            self.waiting.extend(forgiven);
        }
        if self.lost_waiting {
            let detail = "its last definitions, which were in a ring, are damaged".to_owned();
            self.waiting.push_back(LogItem::problem(rank, ProblemKind::Truncated, 1, detail));
        } else if n_bytes > 0 && !self.is_truncated {
            let detail = format!("its last {} are missing", CountedNoun(n_bytes, "byte"));
            self.waiting.push_back(LogItem::problem(rank, ProblemKind::Truncated, n_bytes, detail));
        }
    }

    /// Returns whether `item` reports an unfinished block whose records or definitions are all in the rings still.
    fn rings_hold(&mut self, item: &LogItem) -> bool {
        let Some(log) = &mut self.log else { return false };
        let at = log.whole_bytes();
        matches!(item, LogItem::Problem(problem) if problem.kind == ProblemKind::Truncated)
            && (log.is_cut_in_records()
                || self.rings.iter().flat_map(|ring| &ring.waiting).any(|waiting| waiting.are_next_at(at)))
            && !self.rings.is_empty()
            && self.rings.iter().all(|ring| ring.head.first <= log.sequences().next(ring.head.thread))
    }

    fn take_in(&mut self, definition: &Definition) {
        match definition {
            Definition::Problem(kind, count, _) => {
                let reported = self.reported.entry(*kind).or_default();
                *reported = reported.saturating_add(*count);
            }
            Definition::Thread(..) => self.has_threads = true,
            Definition::WindowEnd(_) => self.window_ended = true,
            Definition::End(..) => self.ended = true,
            _ => {}
        }
    }

    /// Puts the definitions that were waiting to be written into `waiting`, because records in the rings may refer to them.
    fn take_in_unwritten(&mut self) {
        let log_bytes = self.log.as_ref().map_or(0, LogReader::whole_bytes);
        for ring in &mut self.rings {
            let WaitingDefinitions { from, definitions } = ring.waiting.take().unwrap_or_default();
            if log_bytes <= from && !definitions.is_empty() {
                self.waiting.push_back(LogItem::Definitions(definitions));
            }
        }
    }

    /// Puts sums that follow what the log has into `waiting`.
    fn take_in_saved(&mut self) {
        let saved = std::mem::take(&mut self.saved);
        let Some(log) = &mut self.log else { return };
        for SavedSums { batch, gaps } in saved {
            let (thread, next) = (batch.head.thread, batch.next.first);
            let follows = log.sequences().next(thread) == batch.head.first && batch.head.first < next;
            if follows && is_sane(&batch.head) && is_sane(&batch.next) {
                log.sequences().expect(thread, next);
                self.waiting.extend(gaps.map(|gaps| LogItem::Definitions(vec![Definition::ProfileGaps(gaps)])));
                self.waiting.push_back(LogItem::Profile(Box::new(batch)));
            }
        }
    }

    /// Puts what the rings hold beyond the log into `waiting`.
    fn salvage(&mut self) {
        self.salvaged = true;
        let rank = self.header.rank;
        let had_rings = !self.rings.is_empty() || self.has_blank_rings;
        // The recorder itself has reported what was lost with a file that was emptied while it ran.
        let is_reported = self.reported.contains_key(&(ProblemKind::RingLost as u16));
        if self.has_blank_rings && self.has_threads && !is_reported {
            let detail = format!("{} is empty", rings_name(rank));
            self.waiting.push_back(LogItem::problem(rank, ProblemKind::Damaged, 1, detail));
        }
        self.take_in_unwritten();
        // Each ring has counted the drops of its own thread, and the first one also those after recording had been given up.
        let dropped = self.rings.iter().fold(0, |all: u64, ring| all.saturating_add(ring.dropped));
        let mut n_records = 0;
        for ring in std::mem::take(&mut self.rings) {
            n_records += self.salvage_ring(ring, dropped);
        }
        if !self.ended && had_rings {
            let detail = match n_records {
                0 => String::new(),
                1 => "its last record comes from its ring".to_owned(),
                n => format!("its last {} come from its ring", CountedNoun(n as u64, "record")),
            };
            self.waiting.push_back(LogItem::problem(rank, ProblemKind::NotClosed, 1, detail));
        } else if !self.ended {
            self.waiting.push_back(LogItem::problem(rank, ProblemKind::EndMissing, 1, String::new()));
        }
    }

    /// Puts what a ring holds beyond the log into `waiting`, and returns the number of its records. `dropped` is the number of drops of all rings.
    fn salvage_ring(&mut self, ring: SalvagedRing, dropped: u64) -> usize {
        let SalvagedRing { mut head, mut records, .. } = ring;
        let mut without_log = SequenceNumbers::default();
        let sequences = self.log.as_mut().map_or(&mut without_log, LogReader::sequences);
        let lost = sequences.trim(&mut head, &mut records);
        let n_records = records.len();
        // A ring has the id plus one: a slot of zeros has no call site.
        for record in &mut records {
            record.call_site = record.call_site.wrapping_sub(1);
        }
        // If the ring is empty, records that could not be written are only reported as dropped.
        let lost = lost.filter(|&lost| !records.is_empty() || lost > ring.dropped);
        self.waiting.extend(lost.map(|lost| record_gap_problem(self.header.rank, &head, lost)));
        if !records.is_empty() {
            self.waiting.push_back(LogItem::Records { head, records });
        }
        for (number, count) in ring.problems.into_iter().chain([(ProblemKind::Dropped as u16, dropped)]) {
            self.report_counted(number, count);
        }
        let window_end = ring.window_end.filter(|_| !std::mem::replace(&mut self.window_ended, true));
        let mut definitions = Vec::from_iter(window_end.map(Definition::WindowEnd));
        if let Some((reason, ticks)) = ring.end.filter(|_| !self.ended) {
            self.ended = true;
            if let Some((usage, at)) = ring.end_usage {
                definitions.extend([Definition::Usage(usage), Definition::Instant(at)]);
            }
            definitions.extend(ring.exit_status.map(Definition::ExitStatus));
            definitions.push(Definition::End(reason, ticks));
        }
        if !definitions.is_empty() {
            self.waiting.push_back(LogItem::Definitions(definitions));
        }
        n_records
    }

    /// Reports a problem that a ring has counted, as far as the log has not.
    fn report_counted(&mut self, number: u16, count: u64) {
        let reported = self.reported.entry(number).or_default();
        if count <= *reported {
            return;
        }
        let more = count - std::mem::replace(reported, count);
        self.waiting.push_back(match ProblemKind::from_number(number) {
            Some(kind) => LogItem::problem(self.header.rank, kind, more, String::new()),
            // Problems of a newer recorder are reported as the log would have reported them.
            None => LogItem::Definitions(vec![Definition::Problem(number, more, String::new())]),
        });
    }
}

struct ThreadPolls {
    polling: PollGapRule,
    limits: PollGapLimits,
    gap_uses: Arc<GapUses>,
    /// Classifier and sequence number of the next record, by thread. Boxed, because a map allocates room for several entries, and thousands of logs are open.
    threads: HashMap<u32, Box<(u64, PollGapClassifier)>>,
    /// The long gaps in the profiles that come next, by thread.
    gaps: HashMap<u32, ProfileGaps>,
}

impl ThreadPolls {
    fn keep_gaps(&mut self, definitions: &[Definition]) {
        for definition in definitions {
            if let Definition::ProfileGaps(gaps) = definition {
                self.gaps.insert(gaps.thread, gaps.clone());
            }
        }
    }

    fn records(&mut self, head: &BatchHead, records: &mut [Record]) {
        let ThreadPolls { polling, limits, gap_uses, threads, .. } = self;
        let (next, polls) = &mut **threads.entry(head.thread).or_insert_with(|| {
            let polls = PollGapClassifier::new(*polling, *limits, head.previous_end);
            Box::new((head.first, polls.with_gap_use(gap_uses.get(&head.thread).copied())))
        });
        if *next != head.first {
            polls.skip_to(head.previous_end);
        }
        for record in records.iter_mut() {
            polls.next(record);
        }
        *next = head.first.saturating_add(records.len() as u64);
    }

    fn profile(&mut self, batch: &mut ProfileBatch) {
        let (thread, first) = (batch.head.thread, batch.head.first);
        let gap_use = match self.polling {
            PollGapRule::Auto => self.gap_uses.get(&thread).copied(),
            PollGapRule::Waiting => Some(GapUse::Asleep),
            PollGapRule::Computation => Some(GapUse::Computing),
        };
        if let Some(gaps) = self.gaps.remove(&thread).filter(|gaps| gaps.first == first) {
            batch.profile.settle_gaps(&gaps, gap_use);
        }
    }

    fn take_sums(&mut self) -> Option<PollSums> {
        let (_, polls) = &mut **self.threads.get_mut(&0)?;
        Some(polls.take_sums()).filter(|sums| *sums != PollSums::default())
    }
}

pub(crate) fn open_log(path: &Path) -> Result<LogReader<DataOnly>, OpenError> {
    let file = open_file(path).map_err(UnreadableLog::Io);
    let log = file.and_then(|file| LogReader::new(DataOnly::new(file)));
    log.map_err(|reason| OpenError { path: path.to_path_buf(), reason })
}

/// Reads the rings of `rank`, or returns `None` if there is no file, or it cannot be read, which is reported in `waiting`. The list is empty if the process
/// died before it had made the first ring.
fn open_rings(rank: u32, path: &Path, waiting: &mut VecDeque<LogItem>) -> Option<Vec<SalvagedRing>> {
    let name = rings_name(rank);
    let found = open_file(path).and_then(|file| {
        let rings = read_rings(&file)?;
        Ok((!rings.is_empty() || is_blank(&file)?).then_some(rings))
    });
    let (kind, unreadable) = match found {
        Ok(Some(rings)) => {
            for ring in &rings {
                report_losses(rank, ring, waiting);
            }
            return Some(rings);
        }
        // A running rank that closes its log removes the file, after all of it is in the log.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Ok(None) => (ProblemKind::Damaged, format!("{name}: no rings of this version of lbprof")),
        Err(error) => (ProblemKind::of_unreadable(&error), format!("{name}: {}", SystemError(&error))),
    };
    waiting.push_back(LogItem::problem(rank, kind, 1, unreadable));
    None
}

fn report_losses(rank: u32, ring: &SalvagedRing, waiting: &mut VecDeque<LogItem>) {
    let name = rings_name(rank);
    if ring.cut {
        waiting.push_back(LogItem::problem(rank, ProblemKind::Truncated, 1, format!("{name} is cut short")));
    }
    if ring.lost != 0 {
        let detail = format!("{name} was truncated: {} in it are lost", CountedNoun(ring.lost as u64, "record"));
        waiting.push_back(LogItem::problem(rank, ProblemKind::RingLost, 1, detail));
    }
}

fn is_blank(file: &File) -> io::Result<bool> {
    let mut head = [0; HEAD_BYTES];
    let read = read_at_most(file, &mut head, 0)?;
    Ok(head[..read].iter().all(|&byte| byte == 0))
}
