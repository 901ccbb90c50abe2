//! Tables of communication: pairs of ranks, message sizes, communicators.

use std::collections::BTreeMap;

use lbprof_collector::record::NONE;
use serde::Serialize;

use crate::rows::bounds::{ListBounds, first_entries};
use lbprof_analysis::model::Model;
use lbprof_analysis::model::replayed::statistics::{MessageVolume, RunStatistics, SizeHistogram};
use lbprof_analysis::profile::operation_name;

/// The communication between ranks, and its sizes. Only messages with two known sides count; collectives, one-sided communication and files
/// are left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, crate::JsonSchema)]
pub struct CommunicationTable {
    /// Messages.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// By sender and receiver, most bytes first; at most 1,000 unless `--full` is given.
    pub pairs: Vec<PairVolume>,
    /// Pairs that are not listed, as far as they were counted: pairs beyond the first million are not.
    pub pairs_left_out: usize,
    /// Messages between all pairs that are not listed.
    pub messages_left_out: u64,
    /// Their bytes.
    pub bytes_left_out: u64,
    /// By host of the sender and of the receiver, most bytes first, pairs of ranks beyond the first million left out; at most 1,000 unless
    /// `--full` is given.
    pub hosts: Vec<HostVolume>,
    /// Pairs of hosts that are not listed.
    pub hosts_left_out: usize,
    /// Messages between these.
    pub host_messages_left_out: u64,
    /// Their bytes.
    pub host_bytes_left_out: u64,
    /// Number of messages by size.
    pub message_sizes: Vec<SizeRow>,
    /// By operation, the one with most bytes first: what its calls send, write or contribute. Calls that do nothing of that are left out.
    pub operations: Vec<OperationSizes>,
    /// Calls by communicator, the one with most time first.
    pub communicators: Vec<CommunicatorRow>,
}

/// Messages from one rank to another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct PairVolume {
    /// The sender.
    pub from: u32,
    /// The receiver.
    pub to: u32,
    /// Messages.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Messages from the ranks of one host to the ranks of another, or of the same.
#[derive(Clone, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct HostVolume {
    /// The senders' host; empty where it is not known, as of ranks that are not selected.
    pub from: String,
    /// The receivers' host, likewise.
    pub to: String,
    /// Messages.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Messages or calls of sizes within a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct SizeRow {
    /// Least size.
    pub from_bytes: u64,
    /// Largest size.
    pub to_bytes: u64,
    /// Number of messages or calls.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Sizes that calls of an operation send, write or contribute.
#[derive(Clone, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct OperationSizes {
    /// The MPI function, without `MPI_`.
    pub operation: String,
    /// Calls.
    pub calls: u64,
    /// Bytes of all of them.
    pub bytes: u64,
    /// Number of calls by size.
    pub sizes: Vec<SizeRow>,
}

/// Calls on a communicator, of all threads.
#[derive(Clone, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct CommunicatorRow {
    /// Its name; empty for calls on none (waits for requests, files, windows) and on one that is not known.
    pub name: String,
    /// Its ranks; null if it is not known.
    pub ranks: Option<u64>,
    /// Calls.
    pub calls: u64,
    /// Time in them, of all ranks.
    pub time_s: f64,
    /// Fraction of the ranks' time: ranks × elapsed time.
    pub share: f64,
    /// Waiting in them, messages in transit included.
    pub waiting_s: f64,
    /// Bytes sent, written or contributed.
    pub sent_bytes: u64,
    /// Bytes received, read or given.
    pub received_bytes: u64,
}

/// Returns `None` if calls were not analysed one by one.
pub(crate) fn communication_table(model: &Model) -> Option<CommunicationTable> {
    let found = model.statistics.as_ref()?;
    let mut pairs: Vec<PairVolume> = found
        .messages
        .iter()
        .map(|(&(from, to), of)| PairVolume { from, to, messages: of.messages, bytes: of.bytes })
        .collect();
    pairs.sort_by_key(|pair| (std::cmp::Reverse((pair.bytes, pair.messages)), pair.from, pair.to));
    let hosts = host_volumes(model, &pairs);
    let left_out = found.unlisted;
    let mut all = left_out;
    for pair in pairs.iter() {
        all.add(pair.messages, pair.bytes);
    }
    Some(CommunicationTable {
        messages: all.messages,
        bytes: all.bytes,
        pairs,
        messages_left_out: left_out.messages,
        bytes_left_out: left_out.bytes,
        hosts,
        message_sizes: size_rows(&found.message_sizes),
        operations: operation_sizes(found),
        communicators: communicator_rows(model, found),
        ..CommunicationTable::default()
    })
}

impl CommunicationTable {
    pub(crate) fn bounded(&self, bounds: &ListBounds) -> CommunicationTable {
        let (pairs, hosts) = (first_entries(&self.pairs, bounds.entries), first_entries(&self.hosts, bounds.entries));
        let mut table = CommunicationTable {
            pairs: pairs.to_vec(),
            pairs_left_out: self.pairs.len() - pairs.len(),
            hosts: hosts.to_vec(),
            hosts_left_out: self.hosts.len() - hosts.len(),
            message_sizes: self.message_sizes.clone(),
            operations: self.operations.clone(),
            communicators: self.communicators.clone(),
            ..*self
        };
        for pair in &self.pairs[pairs.len()..] {
            table.messages_left_out += pair.messages;
            table.bytes_left_out = table.bytes_left_out.saturating_add(pair.bytes);
        }
        for pair in &self.hosts[hosts.len()..] {
            table.host_messages_left_out += pair.messages;
            table.host_bytes_left_out = table.host_bytes_left_out.saturating_add(pair.bytes);
        }
        table
    }
}

fn host_volumes(model: &Model, pairs: &[PairVolume]) -> Vec<HostVolume> {
    let mut sums: BTreeMap<(&str, &str), MessageVolume> = BTreeMap::new();
    for pair in pairs {
        let hosts = (host_of(model, pair.from), host_of(model, pair.to));
        sums.entry(hosts).or_default().add(pair.messages, pair.bytes);
    }
    let rows = sums.into_iter().map(|((from, to), sum)| HostVolume {
        from: from.to_owned(),
        to: to.to_owned(),
        messages: sum.messages,
        bytes: sum.bytes,
    });
    let mut rows: Vec<HostVolume> = rows.collect();
    rows.sort_by_key(|row| std::cmp::Reverse((row.bytes, row.messages)));
    rows
}

/// Returns an empty string if the rank is not in the model.
fn host_of(model: &Model, rank: u32) -> &str {
    let found = model.ranks.binary_search_by_key(&rank, |one| one.rank);
    found.map_or("", |at| &model.ranks[at].host)
}

fn size_rows(histogram: &SizeHistogram) -> Vec<SizeRow> {
    let rows = histogram.occurring().map(|(from_bytes, to_bytes, volume)| SizeRow {
        from_bytes,
        to_bytes,
        count: volume.messages,
        bytes: volume.bytes,
    });
    rows.collect()
}

fn operation_sizes(found: &RunStatistics) -> Vec<OperationSizes> {
    let mut rows: Vec<OperationSizes> = Vec::new();
    for (&operation, of) in &found.sizes {
        let sizes = size_rows(of);
        let (calls, bytes) =
            sizes.iter().fold((0, 0_u64), |(n, sum), row| (n + row.count, sum.saturating_add(row.bytes)));
        rows.push(OperationSizes { operation: operation_name(operation), calls, bytes, sizes });
    }
    rows.sort_by_key(|row| std::cmp::Reverse((row.bytes, row.calls)));
    rows
}

fn communicator_rows(model: &Model, found: &RunStatistics) -> Vec<CommunicatorRow> {
    let whole_s = model.elapsed_s() * model.ranks.len() as f64;
    let mut rows: Vec<CommunicatorRow> = Vec::new();
    for (&comm, of) in &found.communicators {
        let known = model.communicators.get(comm as usize).filter(|_| comm != NONE);
        let time_s = of.time as f64 * 1e-9;
        rows.push(CommunicatorRow {
            name: known.map(|one| one.label()).unwrap_or_default(),
            ranks: known.map(|one| one.group.len() + one.remote.len()),
            calls: of.calls,
            time_s,
            share: if whole_s > 0.0 { time_s / whole_s } else { 0.0 },
            waiting_s: of.waiting as f64 * 1e-9,
            sent_bytes: of.sent,
            received_bytes: of.received,
        });
    }
    rows.sort_by(|a, b| b.time_s.total_cmp(&a.time_s));
    rows
}
