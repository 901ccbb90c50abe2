//! The tables of events: waits, messages, calls. They are written while the ranks are followed.

use std::collections::HashMap;
use std::io::{self, Write};

use lbprof_collector::Activity;
use lbprof_collector::record::{NO_PEER, NONE};
use parquet::data_type::ByteArray;

use super::table::ColumnKind::{Count, Number, Text, Time};
use super::table::{ParquetCell, ParquetColumn, ParquetTable};
use super::{TableDescription, optional_column, required_column};
use lbprof_analysis::analyse::exported::{EventExport, ExportSelection};
use lbprof_analysis::profile::operation_name;
use lbprof_analysis::replay::{MatchedMessage, ReplayObserver, StateInterval};
use lbprof_analysis::select::SelectionError;

/// Tables of events.
pub const EVENTS: [TableDescription; 3] = [WAITS, MESSAGES, CALLS];

/// Table with a row per wait.
pub const WAITS: TableDescription =
    TableDescription { name: "waits", row: "a wait of a thread", columns: wait_columns };

fn wait_columns() -> Vec<ParquetColumn> {
    vec![
        required_column("rank", Number, "The rank that waits"),
        required_column("thread", Number, "Its thread; 0 called `MPI_Init`"),
        required_column("begin_ns", Time, "When it began to wait"),
        required_column("awaited_ns", Time, "When what it waited for was done; the rest is the delay of the message"),
        required_column("end_ns", Time, "When the wait was over"),
        required_column("state", Text, "The wait state: `late sender`, `wait at barrier` …"),
        optional_column("by", Number, "The rank that ended the wait; null: none"),
        optional_column("operation", Text, "The MPI function; null: outside of calls"),
        required_column("region", Text, "Path of the region"),
        optional_column("call_path", Number, "Number of the call path, as in `call_paths`"),
    ]
}

/// Table with a row per message.
pub const MESSAGES: TableDescription = TableDescription {
    name: "messages",
    row: "a point-to-point message of which both sides are known",
    columns: message_columns,
};

fn message_columns() -> Vec<ParquetColumn> {
    vec![
        required_column("source", Number, "The rank that sent it"),
        required_column("dest", Number, "The rank that received it"),
        required_column("sent_ns", Time, "When its send began"),
        required_column("received_ns", Time, "When the call ended in which it was received"),
        required_column("bytes", Count, "Bytes sent"),
        required_column("tag", Number, "Its tag"),
        optional_column("communicator", Text, "Its communicator; null: not known"),
    ]
}

/// Table with a row per call.
pub const CALLS: TableDescription = TableDescription { name: "calls", row: "an MPI call", columns: call_columns };

fn call_columns() -> Vec<ParquetColumn> {
    vec![
        required_column("rank", Number, "The rank"),
        required_column("thread", Number, "Its thread; 0 called `MPI_Init`"),
        required_column("begin_ns", Time, "When the call began; between calls the thread computes"),
        required_column("end_ns", Time, "When it ended"),
        required_column("blocked_ns", Count, "How long it only waited, from its begin"),
        required_column("operation", Text, "The MPI function"),
        required_column("activity", Text, "The activity that its time belongs to"),
        required_column("region", Text, "Path of the region"),
        optional_column("call_path", Number, "Number of the call path, as in `call_paths`"),
        optional_column("communicator", Text, "The communicator; null: none, or not known"),
        optional_column(
            "peer",
            Number,
            "The other side, the root or the target as a rank in MPI_COMM_WORLD; null: none or several",
        ),
        optional_column("tag", Number, "The message's tag"),
        required_column("sent_bytes", Count, "Bytes that it sends, writes or contributes"),
        required_column(
            "received_bytes",
            Count,
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
    ranks: Vec<u32>,
}

#[derive(Default)]
struct SharedTexts {
    regions: Vec<ByteArray>,
    communicators: Vec<ByteArray>,
    activities: Vec<ByteArray>,
    operations: HashMap<u16, ByteArray>,
}

impl SharedTexts {
    fn operation(&mut self, number: u16) -> ParquetCell {
        if number == 0 {
            return ParquetCell::Null;
        }
        let name = self.operations.entry(number);
        let name = name.or_insert_with(|| ByteArray::from(format!("MPI_{}", operation_name(number)).as_str()));
        ParquetCell::Text(name.clone())
    }
}

/// Returns one of several texts, or a null for a number that has none.
fn shared_text(texts: &[ByteArray], number: u32) -> ParquetCell {
    texts.get(number as usize).cloned().map_or(ParquetCell::Null, ParquetCell::Text)
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

fn optional_cell(number: u32) -> ParquetCell {
    ParquetCell::optional_number(Some(number).filter(|&number| number != NONE))
}

impl<W: Write + Send> ReplayObserver for EventTables<W> {
    fn on_interval(&mut self, state: &StateInterval) {
        let &StateInterval { thread, interval, kind, site, operation, facts, wait } = state;
        let rank = ParquetCell::Whole(self.ranks.get(thread.rank_idx as usize).copied().unwrap_or(NONE).into());
        let number = ParquetCell::Whole(thread.number.into());
        let region = shared_text(&self.texts.regions, kind.region());
        if let Some(wait) = wait.filter(|wait| wait.until > interval.begin) {
            self.waits.push_row([
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
            self.calls.push_row([
                rank,
                number,
                ParquetCell::Whole(interval.begin),
                ParquetCell::Whole(interval.end),
                ParquetCell::Whole(state.waiting().ns()),
                self.texts.operation(operation),
                shared_text(&self.texts.activities, activity as u32),
                region,
                optional_cell(site),
                shared_text(&self.texts.communicators, facts.comm),
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
        self.messages.push_row([
            ParquetCell::Whole(message.from.into()),
            ParquetCell::Whole(message.to.into()),
            ParquetCell::Whole(message.sent),
            ParquetCell::Whole(message.received),
            ParquetCell::count(message.bytes),
            ParquetCell::Whole(message.tag.into()),
            shared_text(&self.texts.communicators, message.comm),
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
