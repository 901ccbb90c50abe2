//! A run's folder: which files it holds, and where what each rank left is in them.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bincode::{Decode, Encode};

use crate::format::{log_name, rank_and_thread_of_ring, rank_of_log, ring_name};
use crate::log_paths::{LogPlace, RingPlace, name_owner, open_file};
use crate::node::file::{NodeFile, NodeFileDamage};
use crate::node::frame::{node_name, node_of_name, node_of_rings, node_rings_name};
use crate::node::rings::RingsFile;
use crate::problem::{Problem, ProblemKind};
use crate::rank_log::RankLog;
use crate::reader::{LogReader, OpenError};
use crate::words::{CountedNoun, SystemError};

/// The names of files in a folder that belong to a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct RunFileNames {
    /// By rank that has a log or a ring of its own: whether it has a log, the threads of its rings.
    ranks: BTreeMap<u32, (bool, Vec<u32>)>,
    /// Node files, by their lowest rank.
    nodes: Vec<u32>,
    /// Files of rings, likewise.
    rings: Vec<u32>,
}

impl RunFileNames {
    /// Lists the files in the folder at `path`.
    ///
    /// Errors: what the system says of the folder.
    pub fn list(path: &Path) -> io::Result<RunFileNames> {
        let mut names = RunFileNames::default();
        for entry in std::fs::read_dir(path).map_err(|error| name_owner(path, error))? {
            let name = entry?.file_name();
            let Some(name) = name.to_str() else { continue };
            if let Some(rank) = rank_of_log(name) {
                names.ranks.entry(rank).or_default().0 = true;
            } else if let Some((rank, thread)) = rank_and_thread_of_ring(name) {
                names.ranks.entry(rank).or_default().1.push(thread);
            } else if let Some(node) = node_of_name(name) {
                names.nodes.push(node);
            } else if let Some(node) = node_of_rings(name) {
                names.rings.push(node);
            }
        }
        for (_, threads) in names.ranks.values_mut() {
            threads.sort_unstable();
        }
        names.nodes.sort_unstable();
        names.rings.sort_unstable();
        Ok(names)
    }

    /// The names of the files.
    pub fn files(&self) -> impl Iterator<Item = String> + '_ {
        let of_nodes = self.nodes.iter().map(|&node| node_name(node));
        let rings_of_nodes = self.rings.iter().map(|&node| node_rings_name(node));
        let of_ranks = self.ranks.iter().flat_map(|(&rank, (has_log, threads))| {
            let rings = threads.iter().map(move |&thread| ring_name(rank, thread));
            has_log.then(|| log_name(rank)).into_iter().chain(rings)
        });
        of_nodes.chain(rings_of_nodes).chain(of_ranks)
    }

    /// Splits the files into `n` parts, some of them empty if there are fewer ranks or nodes than that. Each has the files of ranks that
    /// follow one another, and if there are node files, whole nodes. If the ranks of a node do not follow one another, parts overlap.
    pub fn shares(&self, n: usize) -> Vec<RunFileNames> {
        let nodes: BTreeSet<u32> = self.nodes.iter().chain(&self.rings).copied().collect();
        let begins: BTreeSet<u32> = if nodes.is_empty() { self.ranks.keys().copied().collect() } else { nodes };
        let begins: Vec<u32> = begins.into_iter().collect();
        let mut shares = vec![RunFileNames::default(); n];
        for (&rank, files) in &self.ranks {
            shares[share_of(rank, &begins, n)].ranks.insert(rank, files.clone());
        }
        for &node in &self.nodes {
            shares[share_of(node, &begins, n)].nodes.push(node);
        }
        for &node in &self.rings {
            shares[share_of(node, &begins, n)].rings.push(node);
        }
        shares
    }
}

/// Returns whether the folder at `path` holds logs, or rings of ranks that were killed.
pub fn contains_logs(path: &Path) -> bool {
    RunFileNames::list(path).is_ok_and(|names| !names.ranks.is_empty() || !names.nodes.is_empty())
}

/// The share, of `n`, that has the files of `rank`. `begins` are the first ranks of node files, or all ranks: a rank's file goes with the
/// node file before it, in which the rank may also be.
fn share_of(rank: u32, begins: &[u32], n: usize) -> usize {
    let group = begins.partition_point(|&begin| begin <= rank).saturating_sub(1);
    (group * n / begins.len().max(1)).min(n.saturating_sub(1))
}

/// Returns the start of the run in the folder at `path`, in seconds since 1970, or 0 if none of its logs can be read. `None`: there are no
/// logs.
pub fn started_unix_s(path: &Path) -> Option<u64> {
    let names = RunFileNames::list(path).ok()?;
    // Whole files are not looked at: runs may be large, and several lie side by side.
    let started_in_node = names.nodes.iter().find_map(|&node| {
        let file = open_file(&path.join(node_name(node))).ok()?;
        let header = NodeFile::first_log_header(&file).ok().flatten()?;
        Some(LogReader::new(header.as_slice()).ok()?.header().started_unix_s)
    });
    // A rank may have left a ring beside its node's file, which does not say when it began.
    if started_in_node.is_some() {
        return started_in_node;
    }
    let Some(&rank) = names.ranks.keys().next() else { return (!names.nodes.is_empty()).then_some(0) };
    let folder =
        RunFolder { names: RunFileNames { nodes: Vec::new(), rings: Vec::new(), ..names }, ..RunFolder::empty(path) };
    Some(folder.with_parts().open(rank).map_or(0, |log| log.header().started_unix_s))
}

/// The files of a run in its folder, by rank. The folder is listed once, and each node file is opened once.
#[derive(Clone, Debug, Default)]
pub struct RunFolder {
    path: PathBuf,
    names: RunFileNames,
    /// By rank: its logs, mostly one.
    logs: BTreeMap<u32, Vec<LogPlace>>,
    /// By rank: its rings in files of rings.
    pieces: BTreeMap<u32, Vec<RingPlace>>,
    /// Problems of files that belong to several ranks.
    problems: Vec<Problem>,
    /// Number of the first problems that are of files of rings.
    of_rings: usize,
}

impl RunFolder {
    /// Lists the folder at `path`, and looks through its node files.
    ///
    /// Errors: what the system says of the folder.
    pub fn list(path: &Path) -> io::Result<RunFolder> {
        Ok(RunFolder::with_names(path, RunFileNames::list(path)?))
    }

    /// Opens these files of the folder at `path`.
    pub fn with_names(path: &Path, names: RunFileNames) -> RunFolder {
        RunFolder { names, ..RunFolder::empty(path) }.with_parts()
    }

    fn empty(path: &Path) -> RunFolder {
        let (logs, pieces) = (BTreeMap::new(), BTreeMap::new());
        RunFolder {
            path: path.to_path_buf(),
            names: RunFileNames::default(),
            logs,
            pieces,
            problems: Vec::new(),
            of_rings: 0,
        }
    }

    /// Adds the contents of the named files.
    fn with_parts(mut self) -> RunFolder {
        // The rings first: what a running rank flushes after that is in its log when we come to it.
        for rings in std::mem::take(&mut self.names.rings) {
            if let Err(error) = self.add_rings(rings) {
                self.note_unreadable(&node_rings_name(rings), &error);
            }
        }
        self.of_rings = self.problems.len();
        for node in self.names.nodes.clone() {
            if let Err(error) = self.add_node(node) {
                self.note_unreadable(&node_name(node), &error);
            }
        }
        for (&rank, (has_log, _)) in &self.names.ranks {
            let places = self.logs.entry(rank).or_default();
            if *has_log || places.is_empty() {
                places.push(LogPlace::File(self.path.join(log_name(rank))));
            }
        }
        for &rank in self.pieces.keys() {
            // Nothing else is left of it.
            self.logs.entry(rank).or_insert_with(|| vec![LogPlace::File(self.path.join(log_name(rank)))]);
        }
        self
    }

    fn add_rings(&mut self, node: u32) -> io::Result<()> {
        let path = self.path.join(node_rings_name(node));
        let Some(rings) = RingsFile::open(&path, open_file(&path)?)? else { return Ok(()) };
        let rings = Arc::new(rings);
        for piece in rings.pieces()? {
            self.pieces.entry(piece.rank).or_default().push(RingPlace::Node(rings.clone(), piece));
        }
        Ok(())
    }

    fn add_node(&mut self, node: u32) -> io::Result<()> {
        let path = self.path.join(node_name(node));
        let file = Arc::new(NodeFile::open(&path, open_file(&path)?)?);
        for id in file.logs() {
            self.logs.entry(id.rank).or_default().push(LogPlace::Node(file.clone(), id));
        }
        for damage in file.damage() {
            match damage {
                NodeFileDamage::Skipped(skipped) if skipped.is_cut => {
                    let bytes = CountedNoun(skipped.bytes, "byte");
                    let of = skipped.claim.map_or(String::new(), |head| format!(" of rank {}", head.rank));
                    let detail =
                        format!("{bytes} of an unfinished part{of} from byte {} of {}", skipped.at, file.name());
                    self.note(ProblemKind::Truncated, skipped.bytes, detail);
                }
                NodeFileDamage::Skipped(skipped) => {
                    let bytes = CountedNoun(skipped.bytes, "byte");
                    let detail = format!("of no rank: {bytes} from byte {} of {}", skipped.at, file.name());
                    self.note(ProblemKind::Damaged, skipped.bytes, detail);
                }
                NodeFileDamage::MoreSkipped { places, bytes } => {
                    let (at, bytes_of) = (CountedNoun(places, "more place"), CountedNoun(bytes, "byte"));
                    self.note(
                        ProblemKind::Damaged,
                        bytes,
                        format!("of no rank: {bytes_of} at {at} of {}", file.name()),
                    );
                }
                NodeFileDamage::Unreadable(error) => {
                    self.note(ProblemKind::Damaged, 1, format!("{}: {error}", file.name()));
                }
            }
        }
        Ok(())
    }

    fn note_unreadable(&mut self, name: &str, error: &io::Error) {
        self.note(ProblemKind::of_unreadable(error), 1, format!("{name}: {}", SystemError(error)));
    }

    fn note(&mut self, kind: ProblemKind, count: u64, detail: String) {
        self.problems.push(Problem { kind, rank: None, count, detail });
    }

    /// The ranks that left a log or a ring, in ascending order.
    pub fn ranks(&self) -> impl Iterator<Item = u32> + '_ {
        self.logs.keys().copied()
    }

    /// The problems of files that belong to several ranks.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Returns the problems by kind of file: files of rings, node files.
    pub fn problems_of_rings_and_nodes(&self) -> (&[Problem], &[Problem]) {
        self.problems.split_at(self.of_rings)
    }

    /// The number of logs of `rank`. Several are a node file and a file of its own, or files of several runs.
    pub fn logs_of(&self, rank: u32) -> usize {
        self.logs.get(&rank).map_or(0, Vec::len)
    }

    /// Opens what `rank` left: its first log.
    ///
    /// Errors: those of its log, unless that does not exist or ends within its header and a ring is there.
    pub fn open(&self, rank: u32) -> Result<RankLog, OpenError> {
        self.open_log(rank, 0)
    }

    /// Opens log `number` of `rank`, with the rank's rings.
    ///
    /// Errors: as those of [`RunFolder::open`].
    pub fn open_log(&self, rank: u32, number: usize) -> Result<RankLog, OpenError> {
        let place = self.logs.get(&rank).and_then(|places| places.get(number)).cloned();
        let place = place.unwrap_or_else(|| LogPlace::File(self.path.join(log_name(rank))));
        RankLog::from_places(rank, &place, &self.rings_of(rank))
    }

    /// Bytes of the log of `rank`, as far as they can be found out.
    pub fn log_bytes(&self, rank: u32) -> u64 {
        let length = self.place(rank).and_then(|place| place.length());
        length.unwrap_or(0)
    }

    /// The place of the first log of `rank`.
    pub(crate) fn place(&self, rank: u32) -> Option<&LogPlace> {
        self.logs.get(&rank)?.first()
    }

    /// Finds out what was appended to node files since they were listed.
    pub(crate) fn look_again(&self) {
        for place in self.logs.values().flatten() {
            if let LogPlace::Node(node, _) = place {
                node.look_again();
            }
        }
    }

    /// The place of the ring of the thread of `rank` that called `MPI_Init`.
    pub(crate) fn first_ring(&self, rank: u32) -> Option<RingPlace> {
        let rings = self.rings_of(rank);
        rings.into_iter().find(|place| place.thread() == 0)
    }

    fn rings_of(&self, rank: u32) -> Vec<RingPlace> {
        let threads = self.names.ranks.get(&rank).map_or(&[][..], |(_, threads)| threads);
        let files = threads.iter().map(|&thread| RingPlace::File(self.path.join(ring_name(rank, thread)), thread));
        self.pieces.get(&rank).into_iter().flatten().cloned().chain(files).collect()
    }

    /// Returns whether a ring of `rank` is there.
    pub fn has_rings(&self, rank: u32) -> bool {
        self.pieces.contains_key(&rank) || self.names.ranks.get(&rank).is_some_and(|(_, threads)| !threads.is_empty())
    }

    /// From here on log `number` is the only one of `rank`.
    pub fn choose(&mut self, rank: u32, number: usize) {
        if let Some(places) = self.logs.get_mut(&rank)
            && number < places.len()
        {
            *places = vec![places.swap_remove(number)];
        }
    }

    /// The name of the file in which log `number` of `rank` is.
    pub fn name_of_log(&self, rank: u32, number: usize) -> String {
        self.logs.get(&rank).and_then(|places| places.get(number)).map_or(String::new(), LogPlace::name)
    }
}

impl RankLog {
    /// Opens what `rank` left in `dir`; of several ranks, [`RunFolder::open`].
    ///
    /// Errors: as there.
    pub fn open(dir: &Path, rank: u32) -> Result<RankLog, OpenError> {
        let folder = RunFolder::list(dir).map_err(|source| OpenError::Io { path: dir.to_path_buf(), source })?;
        folder.open(rank)
    }
}
