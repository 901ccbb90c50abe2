//! The tables of events: waits, messages, calls. They are written while the ranks are followed.

use std::collections::HashMap;
use std::io::{self, Write};

use lbprof_collector::Activity;
use lbprof_collector::record::{NO_PEER, NONE};
use parquet::data_type::ByteArray;

use super::TableDescription;
use super::description::parquet_columns;
use super::table::ParquetTable;
use lbprof_analysis::analyse::exported::{EventExport, ExportSelection};
use lbprof_analysis::profile::operation_name;
use lbprof_analysis::replay::{InitialWait, MatchedMessage, ReplayObserver, StateInterval};
use lbprof_analysis::select::SelectionError;

/// Tables of events.
pub const EVENTS: [TableDescription; 3] = [WAITS, MESSAGES, CALLS];

/// Table with a row per wait.
pub const WAITS: TableDescription =
    TableDescription { name: "waits", row: "a wait of a thread", columns: wait_columns };

parquet_columns! { wait_columns, wait_cells(row: &IntervalRow, wait: InitialWait);
    "rank" Number required = row.rank, "The rank that waits";
    "thread" Number required = row.state.thread.number, "Its thread; 0 called `MPI_Init`";
    "begin_ns" Time required = row.state.interval.begin, "When it began to wait";
    "awaited_ns" Time required = wait.awaited, "When what it waited for was done; the rest is the delay of the message";
    "end_ns" Time required = wait.until, "When the wait was over";
    "state" Text required = wait.state.name(), "The wait state: `late sender`, `wait at barrier` …";
    "by" Number optional = wait.by, "The rank that ended the wait; null: none";
    "operation" Text optional = row.operation.clone(), "The MPI function; null: outside of calls";
    "region" Text required = row.region.clone(), "Path of the region";
    "call_path" Number optional = known_number(row.state.site), "Number of the call path, as in `call_paths`";
}

/// Table with a row per message.
pub const MESSAGES: TableDescription = TableDescription {
    name: "messages",
    row: "a point-to-point message of which both sides are known",
    columns: message_columns,
};

parquet_columns! { message_columns, message_cells(message: &MatchedMessage, comm: Option<ByteArray>);
    "source" Number required = message.from, "The rank that sent it";
    "dest" Number required = message.to, "The rank that received it";
    "sent_ns" Time required = message.sent, "When its send began";
    "received_ns" Time required = message.received, "When the call ended in which it was received";
    "bytes" Count required = message.bytes, "Bytes sent";
    "tag" Number required = message.tag, "Its tag";
    "communicator" Text optional = comm, "Its communicator; null: not known";
}

/// Table with a row per call.
pub const CALLS: TableDescription = TableDescription { name: "calls", row: "an MPI call", columns: call_columns };

parquet_columns! { call_columns, call_cells(row: IntervalRow, activity: Activity, comm: Option<ByteArray>);
    "rank" Number required = row.rank, "The rank";
    "thread" Number required = row.state.thread.number, "Its thread; 0 called `MPI_Init`";
    "begin_ns" Time required = row.state.interval.begin, "When the call began; between calls the thread computes";
    "end_ns" Time required = row.state.interval.end, "When it ended";
    "blocked_ns" Count required = row.state.waiting().ns(), "How long it only waited, from its begin";
    "operation" Text required = row.operation, "The MPI function";
    "activity" Text required = activity.name(), "The activity that its time belongs to";
    "region" Text required = row.region, "Path of the region";
    "call_path" Number optional = known_number(row.state.site), "Number of the call path, as in `call_paths`";
    "communicator" Text optional = comm, "The communicator; null: none, or not known";
    "peer" Number optional = known_number(row.state.facts.peer), "The other side, the root or the target as a rank in MPI_COMM_WORLD; null: none or several";
    "tag" Number optional = Some(row.state.facts.tag).filter(|&tag| tag != NO_PEER), "The message's tag";
    "sent_bytes" Count required = row.state.facts.sent, "Bytes that it sends, writes or contributes";
    "received_bytes" Count required = row.state.facts.received, "Bytes that it receives, reads or is given; of messages where they have arrived";
}

/// Writes the tables.
pub struct EventTables<W: Write + Send> {
    waits: ParquetTable<W>,
    messages: ParquetTable<W>,
    calls: ParquetTable<W>,
    regions: Vec<ByteArray>,
    communicators: Vec<ByteArray>,
    operations: HashMap<u16, ByteArray>,
    ranks: Vec<u32>,
}

/// An interval of a thread, with names.
struct IntervalRow<'a> {
    rank: u32,
    state: &'a StateInterval,
    operation: Option<ByteArray>,
    region: Option<ByteArray>,
}

impl<W: Write + Send> EventTables<W> {
    /// The tables in files that `open` opens by the names of the tables.
    ///
    /// Errors: opening or writing fails.
    pub fn new(mut open: impl FnMut(&'static str) -> io::Result<W>) -> io::Result<EventTables<W>> {
        Ok(EventTables {
            waits: WAITS.create(open(WAITS.name)?)?,
            messages: MESSAGES.create(open(MESSAGES.name)?)?,
            calls: CALLS.create(open(CALLS.name)?)?,
            regions: Vec::new(),
            communicators: Vec::new(),
            operations: HashMap::new(),
            ranks: Vec::new(),
        })
    }

    /// After all events.
    ///
    /// Errors: the first that there was in writing.
    pub fn finish(self) -> io::Result<()> {
        [self.waits, self.messages, self.calls].into_iter().try_for_each(ParquetTable::finish)
    }

    fn operation(&mut self, number: u16) -> Option<ByteArray> {
        let known = self.operations.entry(number);
        (number != 0).then(|| {
            known.or_insert_with(|| ByteArray::from(format!("MPI_{}", operation_name(number)).as_str())).clone()
        })
    }
}

fn known_number(number: u32) -> Option<u32> {
    Some(number).filter(|&number| number != NONE)
}

impl<W: Write + Send> ReplayObserver for EventTables<W> {
    fn on_interval(&mut self, state: &StateInterval) {
        let row = IntervalRow {
            rank: self.ranks.get(state.thread.rank_idx as usize).copied().unwrap_or(NONE),
            state,
            operation: self.operation(state.operation),
            region: self.regions.get(state.kind.region() as usize).cloned(),
        };
        if let Some(wait) = state.wait.filter(|wait| wait.until > state.interval.begin) {
            self.waits.push_row(wait_cells(&row, wait));
        }
        let activity = state.kind.activity().filter(|&activity| activity != Activity::Recorder && state.operation != 0);
        if let Some(activity) = activity {
            let comm = self.communicators.get(state.facts.comm as usize).cloned();
            self.calls.push_row(call_cells(row, activity, comm));
        }
    }

    fn on_message(&mut self, message: &MatchedMessage) {
        let comm = self.communicators.get(message.comm as usize).cloned();
        self.messages.push_row(message_cells(message, comm));
    }
}

impl<W: Write + Send> EventExport for EventTables<W> {
    fn on_start(&mut self, part: &ExportSelection) -> Result<(), SelectionError> {
        let model = part.model;
        self.ranks = model.ranks.iter().map(|rank| rank.rank).collect();
        self.regions = model.regions.iter().map(|region| ByteArray::from(region.path.as_str())).collect();
        self.communicators = model.communicators.iter().map(|comm| ByteArray::from(comm.label().as_str())).collect();
        Ok(())
    }
}
