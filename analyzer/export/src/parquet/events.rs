//! The tables of events: waits, messages, calls. They are written while the ranks are followed.

use std::io::{self, Write};

use lbprof_collector::Activity;
use lbprof_collector::record::{NO_PEER, NONE};
use parquet::data_type::ByteArray;

use super::table::{ColumnKind, ParquetCell, ParquetColumn, ParquetTable};
use super::{TableDescription, column, optional};
use lbprof_analysis::analyse::exported::{EventExport, ExportSelection};
use lbprof_analysis::model::RegionIdx;
use lbprof_analysis::profile::operation_name;
use lbprof_analysis::replay::{MatchedMessage, ReplayObserver, StateInterval};
use lbprof_analysis::select::SelectionError;

/// Tables of events.
pub const EVENTS: [TableDescription; 3] = [WAITS, MESSAGES, CALLS];

/// Table with a row per wait.
pub const WAITS: TableDescription = TableDescription { name: "waits", row: "a wait of a thread", columns: waits };

fn waits() -> Vec<ParquetColumn> {
    vec![
        column("rank", ColumnKind::Number, "The rank that waits"),
        column("thread", ColumnKind::Number, "Its thread; 0 called `MPI_Init`"),
        column("begin_ns", ColumnKind::Time, "When it began to wait"),
        column(
            "awaited_ns",
            ColumnKind::Time,
            "When what it waited for was done; the rest is the delay of the message",
        ),
        column("end_ns", ColumnKind::Time, "When the wait was over"),
        column("state", ColumnKind::Text, "The wait state: `late sender`, `wait at barrier` …"),
        optional("by", ColumnKind::Number, "The rank that ended the wait; null: none"),
        optional("operation", ColumnKind::Text, "The MPI function; null: outside of calls"),
        column("region", ColumnKind::Text, "Path of the region"),
        optional("call_path", ColumnKind::Number, "Number of the call path, as in `call_paths`"),
    ]
}

/// Table with a row per message.
pub const MESSAGES: TableDescription = TableDescription {
    name: "messages",
    row: "a point-to-point message of which both sides are known",
    columns: messages,
};

fn messages() -> Vec<ParquetColumn> {
    vec![
        column("source", ColumnKind::Number, "The rank that sent it"),
        column("dest", ColumnKind::Number, "The rank that received it"),
        column("sent_ns", ColumnKind::Time, "When its send began"),
        column("received_ns", ColumnKind::Time, "When the call ended in which it was received"),
        column("bytes", ColumnKind::Count, "Bytes sent"),
        column("tag", ColumnKind::Number, "Its tag"),
        optional("communicator", ColumnKind::Text, "Its communicator; null: not known"),
    ]
}

/// Table with a row per call.
pub const CALLS: TableDescription = TableDescription { name: "calls", row: "an MPI call", columns: calls };

fn calls() -> Vec<ParquetColumn> {
    vec![
        column("rank", ColumnKind::Number, "The rank"),
        column("thread", ColumnKind::Number, "Its thread; 0 called `MPI_Init`"),
        column("begin_ns", ColumnKind::Time, "When the call began; between calls the thread computes"),
        column("end_ns", ColumnKind::Time, "When it ended"),
        column("blocked_ns", ColumnKind::Count, "How long it only waited, from its begin"),
        column("operation", ColumnKind::Text, "The MPI function"),
        column("activity", ColumnKind::Text, "The activity that its time belongs to"),
        column("region", ColumnKind::Text, "Path of the region"),
        optional("call_path", ColumnKind::Number, "Number of the call path, as in `call_paths`"),
        optional("communicator", ColumnKind::Text, "The communicator; null: none, or not known"),
        optional(
            "peer",
            ColumnKind::Number,
            "The other side, the root or the target as a rank in MPI_COMM_WORLD; null: none or several",
        ),
        optional("tag", ColumnKind::Number, "The message's tag"),
        column("sent_bytes", ColumnKind::Count, "Bytes that it sends, writes or contributes"),
        column(
            "received_bytes",
            ColumnKind::Count,
            "Bytes that it receives, reads or is given; of messages where they have arrived",
        ),
    ]
}

/// Writes the tables.
pub struct EventTables<W: Write + Send> {
    waits: ParquetTable<W>,
    messages: ParquetTable<W>,
    calls: ParquetTable<W>,
    texts: SharedTexts,
    /// By place of the rank: its number.
    ranks: Vec<u32>,
}

/// Texts that many rows share.
#[derive(Default)]
struct SharedTexts {
    regions: Vec<ByteArray>,
    communicators: Vec<ByteArray>,
    /// By number of the operation.
    operations: Vec<Option<ByteArray>>,
    activities: Vec<ByteArray>,
}

impl SharedTexts {
    fn region(&self, region: RegionIdx) -> ParquetCell {
        self.regions.get(region as usize).cloned().map_or(ParquetCell::Null, ParquetCell::Text)
    }

    fn communicator(&self, comm: u32) -> ParquetCell {
        self.communicators.get(comm as usize).cloned().map_or(ParquetCell::Null, ParquetCell::Text)
    }

    fn operation(&mut self, number: u16) -> ParquetCell {
        if number == 0 {
            return ParquetCell::Null;
        }
        let at = usize::from(number);
        if self.operations.len() <= at {
            self.operations.resize(at + 1, None);
        }
        let name = self.operations[at]
            .get_or_insert_with(|| ByteArray::from(format!("MPI_{}", operation_name(number)).as_str()));
        ParquetCell::Text(name.clone())
    }

    fn activity(&self, activity: Activity) -> ParquetCell {
        self.activities.get(activity as usize).cloned().map_or(ParquetCell::Null, ParquetCell::Text)
    }
}

impl<W: Write + Send> EventTables<W> {
    /// The tables in files that `open` opens by the names of the tables.
    ///
    /// Errors: those of opening and writing.
    pub fn new(mut open: impl FnMut(&'static str) -> io::Result<W>) -> io::Result<EventTables<W>> {
        Ok(EventTables {
            waits: WAITS.create(open(WAITS.name)?)?,
            messages: MESSAGES.create(open(MESSAGES.name)?)?,
            calls: CALLS.create(open(CALLS.name)?)?,
            texts: SharedTexts::default(),
            ranks: Vec::new(),
        })
    }

    /// After all events.
    ///
    /// Errors: the first that there was in writing.
    pub fn finish(self) -> io::Result<()> {
        [self.waits, self.messages, self.calls].into_iter().try_for_each(ParquetTable::finish)
    }
}

/// A number where there is one.
fn optional_cell(number: u32) -> ParquetCell {
    ParquetCell::optional_number(Some(number).filter(|&number| number != NONE))
}

impl<W: Write + Send> ReplayObserver for EventTables<W> {
    fn on_interval(&mut self, state: &StateInterval) {
        let &StateInterval { thread, interval, kind, site, operation, facts, wait } = state;
        let rank = ParquetCell::Whole(self.ranks.get(thread.rank_idx as usize).copied().unwrap_or(NONE).into());
        let number = ParquetCell::Whole(thread.number.into());
        let region = self.texts.region(kind.region());
        if let Some(wait) = wait.filter(|wait| wait.until > interval.begin) {
            self.waits.push([
                rank.clone(),
                number.clone(),
                ParquetCell::Whole(interval.begin),
                ParquetCell::Whole(wait.awaited),
                ParquetCell::Whole(wait.until),
                ParquetCell::text(wait.state.name()),
                ParquetCell::optional_number(wait.by),
                self.texts.operation(operation),
                region.clone(),
                optional_cell(site),
            ]);
        }
        let activity = kind.activity().filter(|&activity| activity != Activity::Recorder && operation != 0);
        if let Some(activity) = activity {
            self.calls.push([
                rank,
                number,
                ParquetCell::Whole(interval.begin),
                ParquetCell::Whole(interval.end),
                ParquetCell::Whole(state.waiting().ns()),
                self.texts.operation(operation),
                self.texts.activity(activity),
                region,
                optional_cell(site),
                self.texts.communicator(facts.comm),
                optional_cell(facts.peer),
                Some(facts.tag)
                    .filter(|&tag| tag != NO_PEER)
                    .map_or(ParquetCell::Null, |tag| ParquetCell::Whole(tag.into())),
                ParquetCell::count(facts.sent),
                ParquetCell::count(facts.received),
            ]);
        }
    }

    fn on_message(&mut self, message: &MatchedMessage) {
        self.messages.push([
            ParquetCell::Whole(message.from.into()),
            ParquetCell::Whole(message.to.into()),
            ParquetCell::Whole(message.sent),
            ParquetCell::Whole(message.received),
            ParquetCell::count(message.bytes),
            ParquetCell::Whole(message.tag.into()),
            self.texts.communicator(message.comm),
        ]);
    }
}

impl<W: Write + Send> EventExport for EventTables<W> {
    fn on_start(&mut self, part: &ExportSelection) -> Result<(), SelectionError> {
        let model = part.model;
        self.ranks = model.ranks.iter().map(|rank| rank.rank).collect();
        self.texts.regions = model.regions.iter().map(|region| ByteArray::from(region.path.as_str())).collect();
        let communicators = model.communicators.iter();
        self.texts.communicators = communicators.map(|comm| ByteArray::from(comm.label().as_str())).collect();
        self.texts.activities = Activity::ALL.iter().map(|activity| ByteArray::from(activity.name())).collect();
        Ok(())
    }
}
