//! The tables of events: waits, messages, calls. They are written while the ranks are followed.

use std::io::{self, Write};

use lbprof_collector::Activity;
use lbprof_collector::record::{NO_PEER, NONE};
use parquet::data_type::ByteArray;

use super::table::{Cell, Column, Kind, Table};
use super::{About, column, optional};
use lbprof_analysis::analyse::exported::{ExportFormat, ExportSelection};
use lbprof_analysis::model::RegionIdx;
use lbprof_analysis::profile::operation_name;
use lbprof_analysis::replay::{MatchedMessage, ReplayObserver, StateInterval};
use lbprof_analysis::select::SelectionError;

/// One row per wait.
pub const WAITS: About = About { name: "waits", row: "a wait of a thread", columns: waits };

fn waits() -> Vec<Column> {
    vec![
        column("rank", Kind::Number, "The rank that waits"),
        column("thread", Kind::Number, "Its thread; 0 called `MPI_Init`"),
        column("begin_ns", Kind::Time, "When it began to wait"),
        column("awaited_ns", Kind::Time, "When what it waited for was done; the rest is the delay of the message"),
        column("end_ns", Kind::Time, "When the wait was over"),
        column("state", Kind::Text, "The wait state: `late sender`, `wait at barrier` …"),
        optional("by", Kind::Number, "The rank that ended the wait; null: none"),
        optional("operation", Kind::Text, "The MPI function; null: outside of calls"),
        column("region", Kind::Text, "Path of the region"),
        optional("call_path", Kind::Number, "Number of the call path, as in `call_paths`"),
    ]
}

/// One row per message.
pub const MESSAGES: About =
    About { name: "messages", row: "a point-to-point message of which both sides are known", columns: messages };

fn messages() -> Vec<Column> {
    vec![
        column("source", Kind::Number, "The rank that sent it"),
        column("dest", Kind::Number, "The rank that received it"),
        column("sent_ns", Kind::Time, "When its send began"),
        column("received_ns", Kind::Time, "When the call ended in which it was received"),
        column("bytes", Kind::Count, "Bytes sent"),
        column("tag", Kind::Number, "Its tag"),
        optional("communicator", Kind::Text, "Its communicator; null: not known"),
    ]
}

/// One row per call.
pub const CALLS: About = About { name: "calls", row: "an MPI call", columns: calls };

fn calls() -> Vec<Column> {
    vec![
        column("rank", Kind::Number, "The rank"),
        column("thread", Kind::Number, "Its thread; 0 called `MPI_Init`"),
        column("begin_ns", Kind::Time, "When the call began; between calls the thread computes"),
        column("end_ns", Kind::Time, "When it ended"),
        column("blocked_ns", Kind::Count, "How long it only waited, from its begin"),
        column("operation", Kind::Text, "The MPI function"),
        column("activity", Kind::Text, "The activity that its time belongs to"),
        column("region", Kind::Text, "Path of the region"),
        optional("call_path", Kind::Number, "Number of the call path, as in `call_paths`"),
        optional("communicator", Kind::Text, "The communicator; null: none, or not known"),
        optional(
            "peer",
            Kind::Number,
            "The other side, the root or the target as a rank in MPI_COMM_WORLD; null: none or several",
        ),
        optional("tag", Kind::Number, "The message's tag"),
        column("sent_bytes", Kind::Count, "Bytes that it sends, writes or contributes"),
        column(
            "received_bytes",
            Kind::Count,
            "Bytes that it receives, reads or is given; of messages where they have arrived",
        ),
    ]
}

/// Writes the tables.
pub struct Events<W: Write + Send> {
    waits: Table<W>,
    messages: Table<W>,
    calls: Table<W>,
    texts: Texts,
    /// By place of the rank: its number.
    ranks: Vec<u32>,
}

/// Texts that many rows share.
#[derive(Default)]
struct Texts {
    regions: Vec<ByteArray>,
    communicators: Vec<ByteArray>,
    /// By number of the operation.
    operations: Vec<Option<ByteArray>>,
    activities: Vec<ByteArray>,
}

impl Texts {
    fn region(&self, region: RegionIdx) -> Cell {
        self.regions.get(region as usize).cloned().map_or(Cell::Null, Cell::Text)
    }

    fn communicator(&self, comm: u32) -> Cell {
        self.communicators.get(comm as usize).cloned().map_or(Cell::Null, Cell::Text)
    }

    fn operation(&mut self, number: u16) -> Cell {
        if number == 0 {
            return Cell::Null;
        }
        let at = usize::from(number);
        if self.operations.len() <= at {
            self.operations.resize(at + 1, None);
        }
        let known = &mut self.operations[at];
        let name = || ByteArray::from(format!("MPI_{}", operation_name(number)).as_str());
        Cell::Text(known.get_or_insert_with(name).clone())
    }

    fn activity(&self, activity: Activity) -> Cell {
        self.activities.get(activity as usize).cloned().map_or(Cell::Null, Cell::Text)
    }
}

impl<W: Write + Send> Events<W> {
    /// The tables in files that `open` opens by the names of the tables.
    ///
    /// Errors: those of opening and writing.
    pub fn new(mut open: impl FnMut(&'static str) -> io::Result<W>) -> io::Result<Events<W>> {
        let mut create = |about: About| about.create(open(about.name)?);
        Ok(Events {
            waits: create(WAITS)?,
            messages: create(MESSAGES)?,
            calls: create(CALLS)?,
            texts: Texts::default(),
            ranks: Vec::new(),
        })
    }

    /// After all events.
    ///
    /// Errors: the first that there was in writing.
    pub fn finish(self) -> io::Result<()> {
        [self.waits, self.messages, self.calls].into_iter().try_for_each(Table::finish)
    }
}

/// A number where there is one.
fn known(number: u32) -> Cell {
    Cell::known(Some(number).filter(|&number| number != NONE))
}

impl<W: Write + Send> ReplayObserver for Events<W> {
    fn on_interval(&mut self, state: &StateInterval) {
        let &StateInterval { thread, interval, kind, site, operation, facts, wait } = state;
        let rank = Cell::Whole(self.ranks.get(thread.rank as usize).copied().unwrap_or(NONE).into());
        let number = Cell::Whole(thread.number.into());
        let region = self.texts.region(kind.region());
        if let Some(wait) = wait.filter(|wait| wait.until > interval.begin) {
            self.waits.push([
                rank.clone(),
                number.clone(),
                Cell::Whole(interval.begin),
                Cell::Whole(wait.awaited),
                Cell::Whole(wait.until),
                Cell::text(wait.state.name()),
                Cell::known(wait.by),
                self.texts.operation(operation),
                region.clone(),
                known(site),
            ]);
        }
        let activity = kind.activity().filter(|&activity| activity != Activity::Recorder && operation != 0);
        if let Some(activity) = activity {
            self.calls.push([
                rank,
                number,
                Cell::Whole(interval.begin),
                Cell::Whole(interval.end),
                Cell::Whole(state.waiting().ns()),
                self.texts.operation(operation),
                self.texts.activity(activity),
                region,
                known(site),
                self.texts.communicator(facts.comm),
                known(facts.peer),
                Some(facts.tag).filter(|&tag| tag != NO_PEER).map_or(Cell::Null, |tag| Cell::Whole(tag.into())),
                Cell::count(facts.sent),
                Cell::count(facts.received),
            ]);
        }
    }

    fn on_message(&mut self, message: &MatchedMessage) {
        self.messages.push([
            Cell::Whole(message.from.into()),
            Cell::Whole(message.to.into()),
            Cell::Whole(message.sent),
            Cell::Whole(message.received),
            Cell::count(message.bytes),
            Cell::Whole(message.tag.into()),
            self.texts.communicator(message.comm),
        ]);
    }
}

impl<W: Write + Send> ExportFormat for Events<W> {
    fn on_start(&mut self, part: &ExportSelection) -> Result<(), SelectionError> {
        let model = part.model;
        self.ranks = model.ranks.iter().map(|rank| rank.rank).collect();
        self.texts.regions = model.regions.iter().map(|region| ByteArray::from(region.path.as_str())).collect();
        let label = |comm: &lbprof_analysis::model::Communicator| ByteArray::from(comm.label().as_str());
        self.texts.communicators = model.communicators.iter().map(label).collect();
        self.texts.activities = Activity::ALL.iter().map(|activity| ByteArray::from(activity.name())).collect();
        Ok(())
    }
}
