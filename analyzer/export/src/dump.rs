//! Every record of a run as JSON lines, for tests and for looking closely.
//!
//! The `type` of each object is `rank` (the head of a rank's log), `definition`, `record`, `profile` (sums in place of records, in
//! profile mode), `summary`, `sample` or `problem`. Definitions keep their place in the log, so most precede the records that refer
//! to them. docs/report-reference.md lists the keys.

use std::collections::BTreeMap;
use std::io::{self, Write};

use lbprof_collector::clock::RankClock;
use lbprof_collector::definition::RankList;
use lbprof_collector::format::{BatchHead, LogHeader};
use lbprof_collector::reader::LogItem;
use lbprof_collector::record::{NO_PEER, NONE, PollGaps};
use lbprof_collector::sample::Sample;
use lbprof_collector::spinning::FoldedCalls;
use lbprof_collector::walk::OpenRegions;
use lbprof_collector::{CallFlags, Definition, Operation, Problem, ProblemKind, Record};
use serde::Serialize;
use serde_json::{Value, json};

use lbprof_analysis::model::{Model, RankModel};
use lbprof_analysis::profile::operation_name;
use lbprof_analysis::read::definitions::RankDefinitions;
use lbprof_analysis::read::open::RecordedRun;
use lbprof_analysis::structure::code::symbols::CodePlace;

/// Writes all records of `run`, or of one of its ranks, to `out`, with definitions, profiles and problems. `places` holds the code
/// places of the call sites of `model`, the model of the same run.
pub fn write_dump(
    run: &RecordedRun,
    model: &Model,
    places: &[CodePlace],
    only: Option<u32>,
    out: &mut dyn Write,
) -> io::Result<()> {
    for problem in &run.problems {
        write_problem(out, problem.rank, problem)?;
    }
    for header in run.headers.iter().filter(|header| only.is_none_or(|rank| rank == header.rank)) {
        RankDump::new(run, model, places, header)?.write(run, out)?;
    }
    Ok(())
}

#[derive(Serialize)]
struct DumpLine<'a, T> {
    r#type: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rank: Option<u32>,
    #[serde(flatten)]
    content: T,
}

fn write_line(out: &mut dyn Write, kind: &str, rank: Option<u32>, content: impl Serialize) -> io::Result<()> {
    lbprof_report::json::write_compact(&DumpLine { r#type: kind, rank, content }, &mut *out)?;
    out.write_all(b"\n")
}

fn write_problem(out: &mut dyn Write, rank: Option<u32>, problem: &Problem) -> io::Result<()> {
    let Problem { kind, count, detail, .. } = problem;
    let severity = kind.severity().name();
    let content = json!({ "kind": kind.name(), "severity": severity, "count": count, "detail": detail });
    write_line(out, "problem", rank, content)
}

/// Returns whether a record stands for polls that found nothing, which transfer no bytes.
fn is_unsuccessful_poll(record: &Record) -> bool {
    Operation::polls(record.operation) && record.flags.contains(CallFlags::NOTHING)
}

#[derive(Serialize)]
struct HeaderLine<'a> {
    #[serde(flatten)]
    header: &'a LogHeader,
    clock_known: bool,
    tick_s: f64,
}

/// A definition as the log has it, which is in ids and ticks, and the same in words and seconds.
#[derive(Serialize)]
struct DefinitionLine<'a> {
    #[serde(flatten)]
    definition: &'a Definition,
    /// Place of a call site, path of a region, kind of a problem.
    name: Option<String>,
    at_s: Option<f64>,
}

struct RankDump<'a> {
    header: &'a LogHeader,
    definitions: RankDefinitions,
    clock: RankClock,
    /// The rank in the model, for the run's clock.
    rank: RankModel,
    /// Labels of call sites by the rank's own ids.
    labels: BTreeMap<u32, String>,
}

impl<'a> RankDump<'a> {
    /// Reads the log once for its definitions, for the clock needs the last of them.
    fn new(run: &RecordedRun, model: &Model, places: &[CodePlace], header: &'a LogHeader) -> io::Result<Self> {
        let mut definitions = RankDefinitions::default();
        let mut log = run.log_as_it_is(header).map_err(io::Error::other)?;
        while let Some(item) = log.next_item() {
            if let LogItem::Definitions(found) = item {
                for definition in found {
                    definitions.add(definition);
                }
            }
        }
        let mut labels = BTreeMap::new();
        for &id in definitions.call_sites.keys() {
            let place = model.sites.find(&definitions, id).and_then(|idx| places.get(idx as usize));
            labels.extend(place.map(|place| (id, place.own_label())));
        }
        let rank = model.ranks.iter().find(|rank| rank.rank == header.rank);
        let (begin_ns, begin_s) = rank.map_or((0, 0.0), |rank| (rank.begin_ns, rank.begin_s));
        Ok(RankDump {
            header,
            clock: definitions.clock(header),
            rank: RankModel { begin_ns, begin_s, ..RankModel::default() },
            labels,
            definitions,
        })
    }

    fn write(&mut self, run: &RecordedRun, out: &mut dyn Write) -> io::Result<()> {
        let rank = Some(self.header.rank);
        let (clock_known, tick_s) = (self.clock.is_calibrated(), self.clock.tick_s());
        // The header itself has the rank.
        write_line(out, "rank", None, HeaderLine { header: self.header, clock_known, tick_s })?;
        let mut log = run.log_as_it_is(self.header).map_err(io::Error::other)?;
        while let Some(item) = log.next_item() {
            match item {
                LogItem::Definitions(found) => {
                    for definition in &found {
                        write_line(out, "definition", rank, self.definition_line(definition))?;
                    }
                }
                LogItem::Records { head, records } => self.write_records(&head, &records, out)?,
                LogItem::Profile(batch) => write_line(out, "profile", rank, &batch)?,
                LogItem::Summary(summary) => write_line(out, "summary", rank, &summary.batch)?,
                LogItem::Problem(problem) => write_problem(out, problem.rank.or(rank), &problem)?,
                LogItem::Samples { head, samples } => {
                    for (sequence, sample) in (head.first..).zip(&samples) {
                        write_line(out, "sample", rank, self.sample_line(head.thread, sequence, sample))?;
                    }
                }
                // Only logs whose polls are decided have them.
                LogItem::Polls(_) => {}
            }
        }
        Ok(())
    }

    fn seconds(&self, ticks: u64) -> f64 {
        self.rank.run_seconds(self.clock.nanoseconds(ticks))
    }

    fn length_s(&self, ticks: u64) -> f64 {
        ticks as f64 * self.clock.tick_s()
    }

    fn write_records(&mut self, head: &BatchHead, records: &[Record], out: &mut dyn Write) -> io::Result<()> {
        let mut open = OpenRegions::new(head, &[]);
        for (sequence, record) in (head.first..).zip(records) {
            // Both markers of a region count as inside it.
            let is_leave = record.operation() == Some(Operation::RegionLeave);
            if !is_leave {
                open.pass(record, record.begin);
            }
            let content = self.record_line(head.thread, sequence, record, open.place_of_time());
            write_line(out, "record", Some(self.header.rank), content)?;
            if is_leave {
                open.pass(record, record.begin);
            }
        }
        Ok(())
    }

    /// Describes a record, with names in place of ids.
    fn record_line(&self, thread: u32, sequence: u64, record: &Record, place: (u32, u32)) -> Value {
        let (region, iteration) = place;
        let comm = self.definitions.communicators.get(&record.comm);
        let comm_group = comm.map(|comm| if comm.remote.is_empty() { &comm.group } else { &comm.remote });
        let peer = Some(record.peer).filter(|&peer| peer != NO_PEER);
        let named = CallFlags::NAMED.iter().filter(|(flag, _)| record.flags.contains(*flag));
        let is_call = record.is_call() || record.is_part();
        let site = record.call_site;
        let call_site = (record.is_part() || record.has_call_site()).then_some(site).filter(|&site| site != u64::MAX);
        // Folded calls have the time between them in place of a request.
        let has_request = is_call && FoldedCalls::new(record).is_none();
        let has_bytes = is_call && !is_unsuccessful_poll(record);
        json!({
            "thread": thread,
            "sequence": sequence,
            "operation": operation_name(record.operation),
            "activity": record.activity().name(),
            "begin_s": self.seconds(record.begin),
            "end_s": (record.end != 0).then(|| self.seconds(record.end)),
            "call_site": call_site,
            "place": call_site.and_then(|site| self.labels.get(&u32::try_from(site).ok()?)),
            "comm": known_number(record.comm),
            "comm_uid": comm.map(|comm| format!("{:016x}", comm.uid)),
            "comm_size": comm_group.map(RankList::len),
            "peer": comm.and_then(|comm| comm.world_rank(peer?)).and_then(known_number),
            "peer_in_comm": peer,
            "tag": Some(record.tag).filter(|&tag| tag != NO_PEER),
            "sent": if has_bytes { record.sent } else { 0 },
            "received": if has_bytes { record.received } else { 0 },
            "request": known_number(record.request).filter(|_| has_request),
            "count": known_number(record.count).unwrap_or(0),
            "flags": named.map(|(_, name)| *name).collect::<Vec<_>>(),
            "region": self.definitions.region_path(region),
            "iteration": known_number(iteration),
            "group": self.definitions.group_of(record).and_then(list_members),
            "value": self.folded_value(record).or_else(|| self.marker_value(record)),
        })
    }

    fn sample_line(&self, thread: u32, sequence: u64, sample: &Sample) -> Value {
        json!({
            "sampled_thread": thread, "sequence": sequence,
            "at_s": self.seconds(sample.ticks), "weight_s": sample.weight_ns as f64 * 1e-9,
            "module": self.definitions.modules.get(&sample.location.module).map(|module| &module.path),
            "offset": sample.location.offset, "call_path": known_number(sample.call_path),
            "instructions": sample.counts.map(|counts| counts.instructions), "cycles": sample.counts.map(|counts| counts.cycles),
        })
    }

    /// Describes the polls, or the calls on a window, that are one record, or returns `None` for any other record.
    fn folded_value(&self, record: &Record) -> Option<Value> {
        if let Some(folded) = FoldedCalls::new(record) {
            return Some(json!({ "calls": folded.calls + 1, "between_s": self.length_s(folded.gaps) }));
        }
        if record.count == 0 || !is_unsuccessful_poll(record) {
            return None;
        }
        // If several kinds of poll alternate, the last one has the time of all.
        let has_time = record.sent > 0;
        let within_s = has_time.then(|| self.length_s(record.sent));
        let longest_gap_s = has_time.then(|| self.length_s(PollGaps(record.received).longest()));
        let calls = u64::from(record.count) + 1;
        Some(json!({ "calls": calls, "within_s": within_s, "longest_gap_s": longest_gap_s }))
    }

    fn marker_value(&self, record: &Record) -> Option<Value> {
        let [sent_s, received_s] = [record.sent, record.received].map(|ticks| self.length_s(ticks));
        Some(match record.operation()? {
            Operation::RegionEnter | Operation::RegionLeave => json!(self.definitions.region_path(record.request)),
            Operation::Work => {
                json!({ "operations": f64::from_bits(record.sent), "quanta": f64::from_bits(record.received) })
            }
            Operation::Counter => {
                json!({ "name": self.definitions.counters.get(&record.request), "value": f64::from_bits(record.sent) })
            }
            Operation::InState => json!(record.core_state()?.name()),
            Operation::Memory => json!({ "resident": record.sent, "swapped": record.received }),
            Operation::ParallelWaits => {
                let kind = ["mpi", "mutex", "ordered", "tasks"].get(usize::try_from(record.tag).ok()?)?;
                json!({ "kind": kind, "waits_s": sent_s, "idle_for_mpi_s": received_s })
            }
            Operation::ParallelThread => match record.count {
                0 => json!({ "thread": record.tag, "until_entered_s": sent_s, "inside_s": received_s }),
                1 => json!({ "thread": record.tag, "useful_s": sent_s, "waits_s": received_s }),
                _ => json!({ "thread": record.tag, "mpi_s": sent_s }),
            },
            Operation::ParallelEnd => json!({
                "threads": record.count, "useful_s": sent_s, "longest_s": received_s,
                "heavy_thread": record.tag,
            }),
            _ => return None,
        })
    }

    fn definition_line<'b>(&self, definition: &'b Definition) -> DefinitionLine<'b> {
        let site = match definition {
            Definition::CallSite(site) => site.id,
            Definition::ThreadPool(pool) => pool.routine,
            Definition::ParallelSums(sums) => sums.call_site,
            Definition::MutexSums(sums) => sums.call_site,
            _ => NONE,
        };
        let name = match definition {
            Definition::Region(region) => Some(self.definitions.region_path(region.id)),
            Definition::Problem(number, ..) => ProblemKind::from_number(*number).map(|kind| kind.name().to_owned()),
            _ => self.labels.get(&site).cloned(),
        };
        let ticks = match definition {
            Definition::ClockOffset(offset) => Some(offset.ticks),
            Definition::Usage(usage) => Some(usage.ticks),
            Definition::WindowBegin(ticks)
            | Definition::WindowEnd(ticks)
            | Definition::End(_, ticks)
            | Definition::Lifetime(_, ticks) => Some(*ticks),
            _ => None,
        };
        DefinitionLine { definition, name, at_s: ticks.map(|ticks| self.seconds(ticks)) }
    }
}

/// Maximum number of listed members of a group.
const MAX_MEMBERS: u64 = 1 << 20;

fn known_number(number: u32) -> Option<u32> {
    (number != NONE).then_some(number)
}

fn list_members(list: &RankList) -> Option<Vec<u32>> {
    (list.len() <= MAX_MEMBERS).then(|| list.iter().collect())
}
