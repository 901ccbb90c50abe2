//! Finds the logs of a run's ranks in its folder, and checks which run they belong to and which are missing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use lbprof_collector::definition::RankList;
use lbprof_collector::folder::{self, RunFolder};
use lbprof_collector::format::{LogHeader, log_name};
use lbprof_collector::polling::PollGapRule;
use lbprof_collector::rank_log::RankLog;
use lbprof_collector::reader::OpenError;
use lbprof_collector::words::{CountedNoun, SystemError};
use lbprof_collector::{Problem, ProblemKind};

use crate::read::files::{LogOpenError, OpenedLog, RunFiles};
use crate::read::known_threads::KnownThreads;
use crate::read::part::RunPart;
use crate::read::span::TickSpan;

/// Prefix of the folders that the recorder makes by default.
pub const DEFAULT_FOLDER: &str = "lbprof-out";

/// Maximum number of ranks that are looked for one by one, when a log states an absurd number of them.
pub(crate) const MAX_EXPECTED: u64 = 1 << 24;

/// A run: its folder and the logs in it that belong together.
#[derive(Clone, Debug, Default)]
pub struct RecordedRun {
    /// The folder.
    pub dir: PathBuf,
    pub(crate) files: RunFiles,
    /// The header of each rank's log, by rank; never empty.
    pub headers: Vec<LogHeader>,
    /// Missing or ignored data.
    pub problems: Vec<Problem>,
    /// The part of the run to analyse.
    pub part: RunPart,
    pub(super) known_threads: KnownThreads,
}

/// The reason why a run could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// No folder was given and none is here.
    #[error("no folder {DEFAULT_FOLDER}* in {}: name the folder of a run, or record one: mpirun -n 4 lb-run ./program", .0.display())]
    NothingHere(PathBuf),
    /// The folder does not exist.
    #[error("{}: there is no such folder", .0.display())]
    Missing(PathBuf),
    /// The path is no folder.
    #[error("{}: not a folder: name the folder that holds the rank-*.lbp files", .0.display())]
    NotAFolder(PathBuf),
    /// The folder could not be read.
    #[error("{}: cannot be read: {}", path.display(), SystemError(error))]
    Unreadable {
        /// The folder.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The folder holds no logs.
    #[error("{}: no logs (rank-*.lbp) in it{}", path.display(), folder_hint(.inner))]
    NoLogs {
        /// The folder.
        path: PathBuf,
        /// Folders in it that hold some.
        inner: Vec<PathBuf>,
    },
    /// The path leads to a study.
    #[error("{}: this is a study, not a run of lbprof: lb-report study show STUDY shows it, lb-report compare takes its runs as STUDY:NUMBER", .0.display())]
    Study(PathBuf),
    /// The run has no log of a certain rank.
    #[error("{}: no log of rank {rank} in it", path.display())]
    NoRank {
        /// The folder.
        path: PathBuf,
        /// The rank.
        rank: u32,
    },
    /// The folder has no readable log.
    #[error("{}: {}: {first}", path.display(), of_logs(*n))]
    NoneReadable {
        /// The folder.
        path: PathBuf,
        /// Number of logs.
        n: usize,
        /// Problem of the first log.
        first: String,
    },
}

fn of_logs(n: usize) -> String {
    match n {
        1 => "its only log cannot be read".to_owned(),
        n => format!("none of its {} can be read; the first", CountedNoun(n as u64, "log")),
    }
}

fn folder_hint(inner: &[PathBuf]) -> String {
    let names: Vec<String> = inner.iter().take(3).map(|path| path.display().to_string()).collect();
    match names.is_empty() {
        true => ": record a run first: mpirun -n 4 lb-run ./program".to_owned(),
        false => format!(", but in {}", names.join(", ")),
    }
}

impl RecordedRun {
    /// Returns a part of the run.
    pub(crate) fn within(&self, part: RunPart) -> RecordedRun {
        let run = match &part.ranks {
            Some(ranks) => self.with_ranks(ranks),
            None => self.clone(),
        };
        RecordedRun { part, known_threads: KnownThreads::default(), ..run }
    }

    /// Returns the default folder here whose run started last, or else the newest one without a run.
    pub fn newest() -> Result<PathBuf, RunError> {
        let here = Path::new(".");
        let entries = fs::read_dir(here).map_err(|error| RunError::Unreadable { path: here.into(), error })?;
        entries
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(DEFAULT_FOLDER))
            .map(|entry| entry.path())
            .filter(|path| path.is_dir())
            .map(|path| {
                (
                    folder::started_unix_s(&path),
                    modification_time(&path),
                    path.strip_prefix("./").unwrap_or(&path).to_owned(),
                )
            })
            .max()
            .map(|(_, _, path)| path)
            .ok_or_else(|| RunError::NothingHere(fs::canonicalize(here).unwrap_or_else(|_| here.into())))
    }

    /// Opens the run in `dir`, or in the newest default folder of the current one.
    pub fn open(dir: Option<&Path>) -> Result<RecordedRun, RunError> {
        let dir = dir.map_or_else(Self::newest, |dir| Ok(dir.to_owned()))?;
        is_folder(&dir)?;
        let folder = RunFolder::list(&dir).map_err(|error| read_error(&dir, error))?;
        let logs = OpenedLog::open_all(&folder);
        RecordedRun::of_logs(&dir, RunFiles { folder, share: None }, logs)
    }

    /// Returns the run as seen by a process that has these files, which hold logs with these headers.
    pub(crate) fn of_share(dir: &Path, folder: RunFolder, headers: Vec<LogHeader>) -> RecordedRun {
        RecordedRun { dir: dir.into(), headers, files: RunFiles { folder, share: None }, ..RecordedRun::default() }
    }

    /// Returns the run that wrote these logs, which come in ascending order of ranks.
    pub(crate) fn of_logs(dir: &Path, files: RunFiles, logs: Vec<OpenedLog>) -> Result<RecordedRun, RunError> {
        if logs.is_empty() {
            return Err(no_logs(dir));
        }
        let mut problems = Vec::new();
        let n = logs.len();
        let mut headers = Vec::new();
        let mut explained = Vec::new();
        let mut first_error = None;
        for OpenedLog { rank, header } in logs {
            match header {
                // Only a ring is left of this rank: neither its clock nor the run's size is known.
                Ok(header) if header.n_ranks == 0 => {}
                Ok(header) if header.rank == rank => headers.push(header),
                Ok(header) => {
                    let detail = format!("the file of rank {rank} holds the log of rank {}", header.rank);
                    problems.push(Problem { kind: ProblemKind::OtherRun, rank: Some(rank), count: 1, detail });
                }
                Err(LogOpenError { kind, text }) => {
                    let detail = if kind == ProblemKind::EndedInInit { String::new() } else { text.clone() };
                    explained.push(rank);
                    problems.push(Problem { kind, rank: Some(rank), count: 1, detail });
                    first_error = first_error.or(Some(text));
                }
            }
        }
        let headers = keep_main_run(headers, &mut problems);
        match (headers.is_empty(), first_error) {
            (true, Some(first)) => Err(RunError::NoneReadable { path: dir.into(), n, first }),
            (true, None) => Err(no_logs(dir)),
            (false, _) => {
                problems.extend(missing_ranks(&headers, &explained));
                Ok(RecordedRun { dir: dir.into(), files, headers, problems, ..RecordedRun::default() })
            }
        }
    }

    /// Returns the run restricted to `ranks`, ascending: only their logs are read, and only they can be missing.
    pub fn with_ranks(&self, ranks: &[u32]) -> RecordedRun {
        let headers: Vec<LogHeader> =
            self.headers.iter().filter(|header| ranks.binary_search(&header.rank).is_ok()).cloned().collect();
        let mut problems = self.problems.clone();
        problems.retain(|problem| match problem.rank {
            Some(rank) => ranks.binary_search(&rank).is_ok(),
            None => problem.kind != ProblemKind::MissingRank,
        });
        let unread = [ProblemKind::EndedInInit, ProblemKind::NotReadable, ProblemKind::Damaged];
        let explained: BTreeSet<u32> = problems
            .iter()
            .filter(|problem| unread.contains(&problem.kind))
            .filter_map(|problem| problem.rank)
            .collect();
        let mut missing = ranks.to_vec();
        missing.retain(|rank| {
            headers.binary_search_by_key(rank, |header| header.rank).is_err() && !explained.contains(rank)
        });
        if !missing.is_empty() {
            let detail = format!("of {}: {}", CountedNoun(ranks.len() as u64, "selected rank"), list_ranks(&missing));
            let count = missing.len() as u64;
            problems.push(Problem { kind: ProblemKind::MissingRank, rank: None, count, detail });
        }
        let part = RunPart { ranks: Some(ranks.to_vec()), ..self.part.clone() };
        RecordedRun { headers, problems, part, ..self.clone() }
    }

    pub(crate) fn header(&self, rank: u32) -> Option<&LogHeader> {
        self.headers.binary_search_by_key(&rank, |header| header.rank).ok().map(|at| &self.headers[at])
    }

    /// Returns the headers of the ranks whose logs this process reads in passes over all of them.
    pub(crate) fn own_headers(&self) -> &[LogHeader] {
        let Some(own) = &self.files.share else { return &self.headers };
        let begin = self.headers.partition_point(|header| header.rank < *own.start());
        let end = self.headers.partition_point(|header| header.rank <= *own.end());
        &self.headers[begin..end.max(begin)]
    }

    /// Returns the run restricted to these spans of the ranks' time.
    pub fn with_spans(self, spans: BTreeMap<u32, TickSpan>) -> RecordedRun {
        RecordedRun { part: RunPart { spans, ..self.part }, ..self }
    }

    /// Returns the time of `rank` that counts.
    pub fn span(&self, rank: u32) -> TickSpan {
        self.part.spans.get(&rank).copied().unwrap_or(TickSpan::ALL)
    }

    /// Opens the log of the rank with this header, from its start.
    pub fn log(&self, header: &LogHeader) -> Result<RankLog, OpenError> {
        let facts = self.thread_facts(header)?;
        Ok(self.merged_log(header, &facts.leading)?.deciding(self.part.polling, facts.gap_uses.clone()))
    }

    /// Opens the log with polls as they were recorded.
    pub fn log_as_it_is(&self, header: &LogHeader) -> Result<RankLog, OpenError> {
        self.files.folder.open(header.rank)
    }

    /// Returns the run with the time between unsuccessful polls counted as `polling` says.
    pub fn polling(self, polling: PollGapRule) -> RecordedRun {
        RecordedRun { part: RunPart { polling, ..self.part }, known_threads: KnownThreads::default(), ..self }
    }
}

pub(crate) fn is_folder(dir: &Path) -> Result<(), RunError> {
    if fs::metadata(dir).map_err(|error| read_error(dir, error))?.is_dir() {
        return Ok(());
    }
    Err(if is_study(dir) { RunError::Study(dir.into()) } else { RunError::NotAFolder(dir.into()) })
}

pub(crate) fn read_error(dir: &Path, error: io::Error) -> RunError {
    match error.kind() {
        io::ErrorKind::NotFound => RunError::Missing(dir.into()),
        io::ErrorKind::NotADirectory => RunError::NotAFolder(dir.into()),
        _ => RunError::Unreadable { path: dir.into(), error },
    }
}

/// Returns whether a file is a database, as lb-report keeps studies in.
fn is_study(path: &Path) -> bool {
    let mut first = [0; 16];
    path.is_file()
        && fs::File::open(path).and_then(|mut file| file.read_exact(&mut first)).is_ok()
        && first == *b"SQLite format 3\0"
}

fn modification_time(path: &Path) -> SystemTime {
    fs::metadata(path).and_then(|metadata| metadata.modified()).unwrap_or(SystemTime::UNIX_EPOCH)
}

fn no_logs(dir: &Path) -> RunError {
    RunError::NoLogs { path: dir.into(), inner: folders_with_logs(dir) }
}

fn folders_with_logs(dir: &Path) -> Vec<PathBuf> {
    let inner = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut inner: Vec<PathBuf> = inner.filter(|path| path.is_dir() && folder::contains_logs(path)).collect();
    inner.sort();
    inner
}

/// Returns the logs of the run with the most logs; of several such runs, of the one that started last. The other logs, and logs of ranks
/// that the run does not have, become problems.
fn keep_main_run(headers: Vec<LogHeader>, problems: &mut Vec<Problem>) -> Vec<LogHeader> {
    let mut runs: BTreeMap<u64, (usize, u64)> = BTreeMap::new();
    for header in &headers {
        let (n, started) = runs.entry(header.run_id).or_default();
        (*n, *started) = (*n + 1, header.started_unix_s.max(*started));
    }
    let chosen = runs.iter().max_by_key(|(_, facts)| **facts).map(|(&run_id, _)| run_id);
    let (mut own, other): (Vec<_>, Vec<_>) = headers.into_iter().partition(|header| Some(header.run_id) == chosen);
    for header in other {
        let detail = format!("another run of {}", header.command.first().map_or("", String::as_str));
        problems.push(Problem { kind: ProblemKind::OtherRun, rank: Some(header.rank), count: 1, detail });
    }
    let n_ranks = own.iter().map(|header| header.n_ranks).max().unwrap_or(0);
    for LogHeader { rank, .. } in own.extract_if(.., |header| header.rank >= n_ranks) {
        let (name, n_ranks) = (log_name(rank), CountedNoun(n_ranks.into(), "rank"));
        let detail = format!("{name} has a log of rank {rank}, but the run has {n_ranks}");
        problems.push(Problem { kind: ProblemKind::OtherRun, rank: Some(rank), count: 1, detail });
    }
    own
}

/// Reports the missing ranks as one problem. `explained` are the ranks whose log is there but cannot be read.
fn missing_ranks(headers: &[LogHeader], explained: &[u32]) -> Option<Problem> {
    let n_ranks = headers.iter().map(|header| header.n_ranks).max()?;
    let recorded = &headers.first()?.recorded_ranks;
    let mut present: Vec<u32> = headers.iter().map(|header| header.rank).chain(explained.iter().copied()).collect();
    present.sort_unstable();
    let missing = if !recorded.is_empty() && recorded.len() <= MAX_EXPECTED {
        rank_runs(
            &recorded.iter().filter(|rank| *rank < n_ranks && present.binary_search(rank).is_err()).collect::<Vec<_>>(),
        )
    } else {
        missing_runs(&present, n_ranks)
    };
    let count = missing.iter().map(|&(first, last)| u64::from(last - first) + 1).sum();
    let detail = format!(
        "of {}: {}{}",
        CountedNoun(u64::from(n_ranks), "rank"),
        in_words(&missing),
        hosts_around(headers, &missing)
    );
    (count > 0).then_some(Problem { kind: ProblemKind::MissingRank, rank: None, count, detail })
}

/// Returns whether the ranks of the headers right before rank `first` and right after rank `last` ran on one host.
fn is_within_host(headers: &[LogHeader], first: u32, last: u32) -> bool {
    let before = headers.partition_point(|header| header.rank < first);
    let after = headers.partition_point(|header| header.rank <= last);
    let before = before.checked_sub(1).and_then(|before| headers.get(before));
    before.zip(headers.get(after)).is_some_and(|(before, after)| before.host == after.host)
}

/// Describes the hosts of the existing logs, which hint at the reason why others are missing. A rank between two ranks of one host most
/// likely ran there, and its log would be with theirs. If all logs are from one host, no other host may share the folder.
///
/// `headers` are ascending by rank, `missing` ranges from first to last rank.
fn hosts_around(headers: &[LogHeader], missing: &[(u32, u32)]) -> String {
    let Some(host) = headers.first().map(|header| &header.host).filter(|host| !host.is_empty()) else {
        return String::new();
    };
    if missing.iter().all(|&(first, last)| is_within_host(headers, first, last)) {
        "; the ranks before and after ran on the same host and have logs".to_owned()
    } else if headers.iter().all(|header| header.host == *host) {
        format!("; all logs here are from host {host}")
    } else {
        String::new()
    }
}

/// Returns the ranks below `n_ranks` that are not in `present` (ascending), as runs from first to last.
fn missing_runs(present: &[u32], n_ranks: u32) -> Vec<(u32, u32)> {
    let mut gaps = Vec::new();
    let mut next = 0;
    for &rank in present.iter().chain([&n_ranks]) {
        if next < rank && next < n_ranks {
            gaps.push((next, rank.min(n_ranks) - 1));
        }
        next = rank.saturating_add(1);
    }
    gaps
}

fn rank_runs(ranks: &[u32]) -> Vec<(u32, u32)> {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for &rank in ranks {
        match runs.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(rank) => *last = rank,
            _ => runs.push((rank, rank)),
        }
    }
    runs
}

/// Lists ranks, `0, 8-15, 17`, or only the first if they are very many.
pub fn list_ranks(ranks: &[u32]) -> String {
    in_words(&rank_runs(ranks))
}

fn in_words(runs: &[(u32, u32)]) -> String {
    const MOST: usize = 8;
    let shown: Vec<String> = runs
        .iter()
        .take(MOST)
        .map(|&(first, last)| match last - first {
            0 => first.to_string(),
            1 => format!("{first}, {last}"),
            _ => format!("{first}-{last}"),
        })
        .collect();
    let more = if runs.len() > MOST { " …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// Returns the number of ranks, out of `n_ranks`, that were to record. `recorded` is empty if all were. It may name a rank twice, or ranks
/// that do not exist.
pub fn n_recorded(recorded: &RankList, n_ranks: u32) -> u64 {
    if recorded.is_empty() || recorded.len() > MAX_EXPECTED {
        return u64::from(n_ranks);
    }
    let ranks: BTreeSet<u32> = recorded.iter().filter(|&rank| rank < n_ranks).collect();
    ranks.len() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_the_ranks_that_are_not_there() {
        assert_eq!(missing_runs(&[0, 1, 2], 3), []);
        assert_eq!(missing_runs(&[1, 4], 8), [(0, 0), (2, 3), (5, 7)]);
        assert_eq!(missing_runs(&[], 2), [(0, 1)]);
        assert_eq!(missing_runs(&[7], 2), [(0, 1)]);
        assert_eq!(missing_runs(&[u32::MAX], u32::MAX), [(0, u32::MAX - 1)]);
    }

    #[test]
    fn ranks_that_were_to_record_count_once_and_only_where_they_exist() {
        let list = |runs: &[(u32, i32, u32)]| RankList(runs.to_vec());
        assert_eq!(n_recorded(&list(&[]), 4), 4);
        assert_eq!(n_recorded(&list(&[(0, 2, 32)]), 4), 2);
        assert_eq!(n_recorded(&list(&[(0, 0, 1), (0, 1, 2)]), 4), 2);
    }

    #[test]
    fn ranges_are_short() {
        assert_eq!(list_ranks(&[3]), "3");
        assert_eq!(list_ranks(&[3, 4]), "3, 4");
        assert_eq!(list_ranks(&[0, 8, 9, 10, 11, 17]), "0, 8-11, 17");
        assert_eq!(list_ranks(&(0..40).step_by(2).collect::<Vec<_>>()), "0, 2, 4, 6, 8, 10, 12, 14 …");
    }
}
