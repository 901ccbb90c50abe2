//! Every record of a run as JSON lines, for tests and for looking closely.
//!
//! One object a line; its `type` says what it is: `rank` (the head of a rank's log), `definition`, `record`, `profile` (sums
//! in place of records, in profile mode), `sample`, `problem`. Definitions come where the log has them, so mostly before the
//! records that refer to them. docs/report-reference.md lists the keys.

use std::collections::BTreeMap;
use std::io::{self, Write};

use lbprof_collector::clock::RankClock;
use lbprof_collector::definition::RankList;
use lbprof_collector::format::{BatchHead, LogHeader};
use lbprof_collector::off_core::OffCoreTimes;
use lbprof_collector::parallel::{MutexSums, ParallelSums, TeamPlacement, TeamTime};
use lbprof_collector::poll_gaps::ProfileGaps;
use lbprof_collector::profile::{ProfileBatch, ProfileCell};
use lbprof_collector::reader::LogItem;
use lbprof_collector::record::{NO_PEER, NONE, PollGaps};
use lbprof_collector::sample::{PlaceRun, Sample, SamplePlaces, SampledThread, SamplingOutcome, SamplingSetup};
use lbprof_collector::spinning::FoldedCalls;
use lbprof_collector::walk::OpenRegions;
use lbprof_collector::{Activity, CallFlags, Definition, Operation, Problem, Record};
use serde::Serialize;
use serde_json::{Value, json};

use lbprof_analysis::model::{Model, RankModel};
use lbprof_analysis::profile::operation_name;
use lbprof_analysis::read::definitions::RankDefinitions;
use lbprof_analysis::read::open::RecordedRun;
use lbprof_analysis::structure::symbols::CodePlace;

/// Writes all records of `run`, or of one of its ranks, to `out`, with definitions, profiles and problems. `places` are
/// those of the call sites of `model`, the model of the same run.
pub fn dump(
    run: &RecordedRun,
    model: &Model,
    places: &[CodePlace],
    only: Option<u32>,
    out: &mut dyn Write,
) -> io::Result<()> {
    for problem in &run.problems {
        line(out, &problem_line(problem))?;
    }
    for header in run.headers.iter().filter(|header| only.is_none_or(|rank| rank == header.rank)) {
        RankDump::new(run, model, places, header)?.write(run, out)?;
    }
    Ok(())
}

/// Writes one line of the dump.
fn line(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    lbprof_report::json::write_compact(value, &mut *out)?;
    out.write_all(b"\n")
}

/// Returns whether a record is that of polls that found nothing, in which no bytes were transferred.
fn is_unsuccessful_poll(record: &Record) -> bool {
    Operation::polls(record.operation) && record.flags.contains(CallFlags::NOTHING)
}

struct RankDump<'a> {
    header: &'a LogHeader,
    definitions: RankDefinitions,
    clock: RankClock,
    /// The rank in the model, for the run's clock.
    rank: RankModel,
    /// Labels of call sites by the rank's own ids.
    labels: BTreeMap<u32, String>,
    /// Paths of regions by the rank's own ids.
    paths: BTreeMap<u32, String>,
}

/// A record, with names in place of ids.
#[derive(Serialize)]
struct RecordLine<'a> {
    r#type: &'static str,
    rank: u32,
    thread: u32,
    sequence: u64,
    operation: String,
    activity: &'static str,
    begin_s: f64,
    end_s: Option<f64>,
    call_site: Option<u64>,
    place: Option<&'a str>,
    comm: Option<u32>,
    comm_uid: Option<String>,
    comm_size: Option<u64>,
    peer: Option<u32>,
    peer_in_comm: Option<i32>,
    tag: Option<i32>,
    sent: u64,
    received: u64,
    request: Option<u32>,
    count: u32,
    flags: Vec<&'static str>,
    region: &'a str,
    iteration: Option<u32>,
    /// World ranks of the group that the call was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<Vec<u32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Value>,
}

impl<'a> RankDump<'a> {
    /// Reads the log once for its definitions, for the clock needs the last of them.
    fn new(run: &RecordedRun, model: &Model, places: &[CodePlace], header: &'a LogHeader) -> io::Result<Self> {
        let mut definitions = RankDefinitions::default();
        let mut log = run.log_as_it_is(header).map_err(io::Error::other)?;
        while let Some(item) = log.next_item() {
            if let LogItem::Definitions(found) = item {
                for one in found {
                    definitions.add(one);
                }
            }
        }
        let mut labels = BTreeMap::new();
        for &id in definitions.call_sites.keys() {
            let place = model.sites.find(&definitions, id).and_then(|idx| places.get(idx as usize));
            labels.extend(place.map(|place| (id, place.own_label())));
        }
        let paths = definitions.regions.keys().chain([&0]).map(|&id| (id, definitions.region_path(id))).collect();
        let rank = model.ranks.iter().find(|rank| rank.rank == header.rank);
        let (begin_ns, begin_s) = rank.map_or((0, 0.0), |rank| (rank.begin_ns, rank.begin_s));
        Ok(RankDump {
            header,
            clock: definitions.clock(header),
            rank: RankModel { begin_ns, begin_s, ..RankModel::default() },
            labels,
            paths,
            definitions,
        })
    }

    fn write(&mut self, run: &RecordedRun, out: &mut dyn Write) -> io::Result<()> {
        line(out, &self.rank_line())?;
        let mut log = run.log_as_it_is(self.header).map_err(io::Error::other)?;
        while let Some(item) = log.next_item() {
            match item {
                LogItem::Definitions(found) => {
                    for one in &found {
                        line(out, &self.definition_line(one))?;
                    }
                }
                LogItem::Records { head, records } => self.records(&head, &records, out)?,
                LogItem::Profile(batch) => line(out, &self.profile_line("profile", &batch))?,
                LogItem::Summary(summary) => line(out, &self.profile_line("summary", &summary.batch))?,
                LogItem::Problem(problem) => {
                    line(out, &problem_line(&Problem { rank: problem.rank.or(Some(self.header.rank)), ..problem }))?;
                }
                LogItem::Samples { head, samples } => {
                    for (sequence, sample) in (head.first..).zip(&samples) {
                        line(out, &self.sample_line(head.thread, sequence, sample))?;
                    }
                }
                // Of decided polls only.
                LogItem::Polls(_) => {}
            }
        }
        Ok(())
    }

    fn rank_line(&self) -> Value {
        let header = self.header;
        json!({
            "type": "rank", "rank": header.rank, "n_ranks": header.n_ranks, "run_id": format!("{:016x}", header.run_id),
            "host": header.host, "pid": header.pid, "command": header.command, "mpi": header.mpi, "abi": header.abi,
            "recorder": header.recorder, "mode": format!("{:?}", header.mode).to_lowercase(),
            "clock": format!("{:?}", header.clock).to_lowercase(), "clock_known": self.clock.is_calibrated(),
            "tick_s": self.clock.tick_s(), "settings": header.settings, "started_unix_s": header.started_unix_s,
        })
    }

    fn seconds(&self, ticks: u64) -> f64 {
        self.rank.run_seconds(self.clock.nanoseconds(ticks))
    }

    /// The length of `ticks` in seconds.
    fn length_s(&self, ticks: u64) -> f64 {
        ticks as f64 * self.clock.tick_s()
    }

    fn path(&self, region: u32) -> &str {
        self.paths.get(&region).map_or("?", String::as_str)
    }

    fn records(&mut self, head: &BatchHead, records: &[Record], out: &mut dyn Write) -> io::Result<()> {
        let mut open = OpenRegions::new(head, &[]);
        for (sequence, record) in (head.first..).zip(records) {
            // A marker of a region is in the region.
            let is_leave = record.operation() == Some(Operation::RegionLeave);
            if !is_leave {
                open.pass(record, record.begin);
            }
            line(out, &self.record_line(head.thread, sequence, record, open.place_of_time()))?;
            if is_leave {
                open.pass(record, record.begin);
            }
        }
        Ok(())
    }

    fn record_line(&self, thread: u32, sequence: u64, record: &Record, place: (u32, u32)) -> RecordLine<'_> {
        let (region, iteration) = place;
        let comm = self.definitions.communicators.get(&record.comm);
        let site = u32::try_from(record.call_site).ok();
        let group = comm.map(|comm| if comm.remote.is_empty() { &comm.group } else { &comm.remote });
        let named = CallFlags::NAMED.iter().filter(|(flag, _)| record.flags.contains(*flag));
        let is_part =
            matches!(record.operation(), Some(Operation::Completed | Operation::Received | Operation::Started));
        let is_call = record.is_call() || is_part;
        let has_site = is_part || record.has_call_site();
        // Of folded calls, fields hold what the time between them was.
        let is_spin = FoldedCalls::new(record).is_some();
        let has_bytes = is_call && !is_unsuccessful_poll(record);
        RecordLine {
            r#type: "record",
            rank: self.header.rank,
            thread,
            sequence,
            operation: operation_name(record.operation),
            activity: record.activity().name(),
            begin_s: self.seconds(record.begin),
            end_s: (record.end != 0).then(|| self.seconds(record.end)),
            call_site: has_site.then_some(record.call_site).filter(|&site| site != u64::MAX),
            place: site.filter(|_| has_site).and_then(|site| self.labels.get(&site)).map(String::as_str),
            comm: known_number(record.comm),
            comm_uid: comm.map(|comm| format!("{:016x}", comm.uid)),
            comm_size: group.map(|group| group.len()),
            peer: comm
                .filter(|_| record.peer != NO_PEER)
                .and_then(|comm| comm.world_rank(record.peer))
                .filter(|&rank| rank != NONE),
            peer_in_comm: (record.peer != NO_PEER).then_some(record.peer),
            tag: (record.tag != NO_PEER).then_some(record.tag),
            sent: if has_bytes { record.sent } else { 0 },
            received: if has_bytes { record.received } else { 0 },
            request: (is_call && !is_spin && record.request != NONE).then_some(record.request),
            count: if record.count == NONE { 0 } else { record.count },
            flags: named.map(|(_, name)| *name).collect(),
            region: self.path(region),
            iteration: known_number(iteration),
            group: self.definitions.group_of(record).and_then(members),
            value: self.folded_value(record).or_else(|| self.marker_value(record)),
        }
    }

    fn sample_line(&self, thread: u32, sequence: u64, sample: &Sample) -> Value {
        json!({
            "type": "sample", "rank": self.header.rank, "sampled_thread": thread, "sequence": sequence,
            "at_s": self.seconds(sample.ticks), "weight_s": sample.weight_ns as f64 * 1e-9,
            "module": self.definitions.modules.get(&sample.location.module).map(|module| &module.path),
            "offset": sample.location.offset, "call_path": known_number(sample.call_path),
            "instructions": sample.counts.map(|counts| counts.instructions), "cycles": sample.counts.map(|counts| counts.cycles),
        })
    }

    /// The polls, or the calls on a window, that are one record, or `None` for any other record.
    fn folded_value(&self, record: &Record) -> Option<Value> {
        if let Some(folded) = FoldedCalls::new(record) {
            return Some(json!({ "calls": folded.calls + 1, "between_s": self.length_s(folded.gaps) }));
        }
        let is_folded = is_unsuccessful_poll(record) && record.count > 0;
        // The last of the kinds of poll that were made in turn has the time of all.
        let time = (record.sent > 0).then(|| {
            let longest_gap = PollGaps(record.received).longest();
            [record.sent, longest_gap].map(|ticks| self.length_s(ticks))
        });
        let [within_s, longest_gap_s] = [time.map(|[within_s, _]| within_s), time.map(|[_, gap_s]| gap_s)];
        is_folded.then(
            || json!({ "calls": u64::from(record.count) + 1, "within_s": within_s, "longest_gap_s": longest_gap_s }),
        )
    }

    /// The content of a marker, by its kind.
    fn marker_value(&self, record: &Record) -> Option<Value> {
        let number = f64::from_bits;
        let [sent_s, received_s] = [record.sent, record.received].map(|ticks| self.length_s(ticks));
        Some(match record.operation()? {
            Operation::RegionEnter | Operation::RegionLeave => json!(self.path(record.request)),
            Operation::Work => json!({ "operations": number(record.sent), "quanta": number(record.received) }),
            Operation::Counter => {
                json!({ "name": self.definitions.counters.get(&record.request), "value": number(record.sent) })
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

    fn definition_line(&self, definition: &Definition) -> Value {
        let (kind, value) = match definition {
            Definition::Module(one) => {
                let build_id: String = one.build_id.iter().map(|byte| format!("{byte:02x}")).collect();
                let value =
                    json!({ "id": one.id, "path": one.path, "build_id": build_id, "base": one.base, "end": one.end });
                ("module", value)
            }
            Definition::CallSite(one) => {
                let module = self.definitions.modules.get(&one.module).map(|module| &module.path);
                let place = self.labels.get(&one.id);
                let parent = known_number(one.parent);
                let value = json!({
                    "id": one.id, "module": module, "offset": one.offset, "place": place, "parent": parent, "cut": one.cut,
                    "function": known_number(one.function), "column": known_number(one.column),
                });
                ("call_site", value)
            }
            Definition::Function(one) => ("function", json!({ "id": one.id, "name": one.name, "file": one.file })),
            Definition::Region(one) => {
                let kind = format!("{:?}", one.kind).to_lowercase();
                let value = json!({
                    "id": one.id, "parent": one.parent, "name": one.name, "path": self.path(one.id), "kind": kind,
                    "iterated": one.iterated,
                });
                ("region", value)
            }
            Definition::Communicator(one) => {
                let value = json!({
                    "id": one.id, "uid": format!("{:016x}", one.uid), "parent": known_number(one.parent),
                    "rank": one.rank, "size": one.group.len(), "group": members(&one.group), "remote": members(&one.remote),
                });
                ("communicator", value)
            }
            Definition::Object(one) => {
                let kind = format!("{:?}", one.kind).to_lowercase();
                ("object", json!({ "kind": kind, "id": one.id, "comm": one.comm, "name": one.name }))
            }
            Definition::Counter(id, name) => ("counter", json!({ "id": id, "name": name })),
            Definition::Param(name, value) => ("param", json!({ "name": name, "value": value })),
            Definition::Thread(number, id) => ("thread", json!({ "number": number, "id": id })),
            Definition::Instant(one) => ("instant", json!({ "ticks": one.ticks, "monotonic_ns": one.monotonic_ns })),
            Definition::ClockOffset(one) => {
                let at_s = self.seconds(one.ticks);
                ("clock_offset", json!({ "at_s": at_s, "offset_ns": one.offset_ns, "error_ns": one.error_ns }))
            }
            Definition::Usage(one) => {
                let value = json!({
                    "at_s": self.seconds(one.ticks), "user_ns": one.user_ns, "system_ns": one.system_ns,
                    "thread_ns": one.thread_ns, "thread_delayed_ns": one.thread_delayed_ns, "voluntary_switches": one.voluntary_switches,
                    "involuntary_switches": one.involuntary_switches,
                    "thread_involuntary_switches": one.thread_involuntary_switches, "max_resident": one.max_resident,
                    "read_bytes": one.read_bytes, "written_bytes": one.written_bytes,
                });
                ("usage", value)
            }
            Definition::Problem(number, count, detail) => {
                let kind = lbprof_collector::ProblemKind::from_number(*number).map(|kind| kind.name());
                ("problem", json!({ "kind": kind, "number": number, "count": count, "detail": detail }))
            }
            Definition::WindowBegin(ticks) => ("window_begin", json!({ "at_s": self.seconds(*ticks) })),
            Definition::WindowEnd(ticks) => ("window_end", json!({ "at_s": self.seconds(*ticks) })),
            Definition::End(reason, ticks) => {
                ("end", json!({ "reason": format!("{reason:?}").to_lowercase(), "at_s": self.seconds(*ticks) }))
            }
            Definition::ExitStatus(status) => ("exit_status", json!({ "status": status })),
            Definition::ThreadLevel(level) => ("thread_level", json!({ "level": level })),
            Definition::Neighbours(one) => {
                let (sources, destinations) = (members(&one.sources), members(&one.destinations));
                ("neighbours", json!({ "comm": one.comm, "sources": sources, "destinations": destinations }))
            }
            Definition::SampleCaller(one) => {
                let module = self.definitions.modules.get(&one.module).map(|module| &module.path);
                let value = json!({
                    "id": one.id, "module": module, "offset": one.offset,
                    "parent": known_number(one.parent), "cut": one.cut, "function": known_number(one.function),
                });
                ("sample_caller", value)
            }
            Definition::Sampling(one) => ("sampling", sampling_value(one)),
            Definition::SampledThread(one) => ("sampled_thread", sampled_thread_value(one)),
            Definition::SamplePlaces(one) => ("sample_places", self.has_place(one)),
            Definition::Lifetime(point, ticks) => {
                ("lifetime", json!({ "point": point.name(), "at_s": self.seconds(*ticks) }))
            }
            Definition::ParallelSums(one) => ("parallel_sums", self.parallel_value(one)),
            Definition::TeamPlacement(one) => {
                let TeamPlacement { team, cores, settings, library } = one;
                ("team_placement", json!({ "team": team, "cores": cores, "settings": settings, "library": library }))
            }
            Definition::ProfileGaps(one) => ("profile_gaps", self.gaps_value(one)),
            Definition::MutexSums(one) => ("mutex_sums", self.mutex_value(one)),
            Definition::ThreadPool(one) => (
                "thread_pool",
                json!({
                    "id": one.id, "routine": known_number(one.routine), "place": self.labels.get(&one.routine),
                    "threads": one.threads, "started": one.started,
                }),
            ),
            Definition::OffCore(one) => ("off_core", self.off_core_value(one)),
            Definition::ThreadUsage(one) => {
                ("thread_usage", json!({ "system_ns": one.system_ns, "page_faults": one.page_faults }))
            }
            Definition::Group(one) => ("group", json!({ "id": one.id, "ranks": members(&one.ranks) })),
        };
        json!({ "type": "definition", "rank": self.header.rank, "definition": kind, "value": value })
    }

    fn has_place(&self, places: &SamplePlaces) -> Value {
        json!({ "sampled_thread": places.thread, "first": places.first, "places": self.place_runs(&places.runs) })
    }

    fn place_runs(&self, runs: &[PlaceRun]) -> Vec<Value> {
        let each = runs.iter().map(|run| {
            let activity = Activity::ALL.get(usize::from(run.activity)).filter(|_| run.region != NONE);
            let region = activity.map(|_| self.path(run.region));
            json!({ "samples": run.samples, "region": region, "activity": activity.map(|one| one.name()) })
        });
        each.collect()
    }

    fn off_core_value(&self, times: &OffCoreTimes) -> Value {
        let intervals = times.intervals().map(|one| {
            json!({ "begin_s": self.seconds(one.begin), "end_s": self.seconds(one.end), "state": one.state.name() })
        });
        json!({
            "begin_s": self.seconds(times.begin), "end_s": self.seconds(times.end), "short_ticks": times.short,
            "intervals": intervals.collect::<Vec<_>>(), "places": self.place_runs(&times.places),
        })
    }

    fn gaps_value(&self, found: &ProfileGaps) -> Value {
        let places = found.places.iter().map(|place| {
            json!({
                "call_site": known_number(place.call_site), "region": self.path(place.region), "iteration": known_number(place.iteration),
                "seconds": self.length_s(place.ticks),
            })
        });
        json!({
            "thread": found.thread, "first": found.first, "total_s": self.length_s(found.sums.ticks), "sampled_ns": found.sums.sampled_ns,
            "succeeded_s": self.length_s(found.sums.succeeded), "places": places.collect::<Vec<_>>(),
        })
    }

    fn mutex_value(&self, sums: &MutexSums) -> Value {
        json!({
            "id": sums.id, "thread": known_number(sums.thread), "region": known_number(sums.region), "kind": format!("{:?}", sums.kind).to_lowercase(),
            "name": sums.name, "call_site": known_number(sums.call_site), "place": self.labels.get(&sums.call_site),
            "waits": sums.waits, "wait_s": sums.ticks as f64 * self.clock.tick_s(), "team": sums.team,
        })
    }

    fn parallel_value(&self, sums: &ParallelSums) -> Value {
        let TeamTime { useful, mpi, idle_for_mpi, imbalance, mutex, ordered, tasks, fork_join } = sums.time;
        let members = sums.members.iter().map(|one| {
            json!({
                "useful_s": self.length_s(one.useful), "mpi_s": self.length_s(one.mpi), "waits_s": self.length_s(one.waits), "longest": one.longest,
            })
        });
        json!({
            "id": sums.id, "thread": known_number(sums.thread), "call_site": known_number(sums.call_site),
            "place": self.labels.get(&sums.call_site), "team": sums.team, "instances": sums.instances,
            "elapsed_s": self.length_s(sums.elapsed), "useful_s": self.length_s(useful), "mpi_s": self.length_s(mpi),
            "idle_for_mpi_s": self.length_s(idle_for_mpi), "imbalance_s": self.length_s(imbalance), "mutex_s": self.length_s(mutex),
            "ordered_s": self.length_s(ordered), "tasks_s": self.length_s(tasks), "fork_join_s": self.length_s(fork_join),
            "longest_s": self.length_s(sums.longest), "beside": sums.beside, "members": members.collect::<Vec<_>>(),
        })
    }

    fn cell_sums(&self, cell: &ProfileCell) -> Value {
        json!({ "time_s": self.length_s(cell.ticks), "calls": cell.calls, "sent": cell.sent, "received": cell.received })
    }

    fn profile_line(&self, kind: &str, batch: &ProfileBatch) -> Value {
        let cells = batch.profile.cells.iter().map(|(key, cell)| {
            json!({
                "region": self.path(key.region), "iteration": known_number(key.iteration),
                "activity": activity_name(key.activity), "sums": self.cell_sums(cell),
            })
        });
        let sites = batch.profile.sites.iter().map(|(key, cell)| {
            json!({
                "region": self.path(key.region), "operation": operation_name(key.operation), "call_site": key.call_site,
                "place": self.labels.get(&key.call_site), "activity": activity_name(key.activity), "sums": self.cell_sums(cell),
            })
        });
        json!({
            "type": kind, "rank": self.header.rank, "thread": batch.head.thread, "first": batch.head.first,
            "next": batch.next.first, "begin_s": self.seconds(batch.head.previous_end),
            "end_s": self.seconds(batch.next.previous_end), "records": batch.profile.records, "calls": batch.profile.calls,
            "cells": cells.collect::<Vec<_>>(), "sites": sites.collect::<Vec<_>>(),
        })
    }
}

fn sampled_thread_value(thread: &SampledThread) -> Value {
    let number = known_number(thread.number);
    json!({ "id": thread.id, "system_id": thread.system_id, "number": number, "pool": known_number(thread.pool) })
}

/// The settings of a rank's sampling.
fn sampling_value(sampling: &SamplingSetup) -> Value {
    let refused = if let SamplingOutcome::Refused(error) = sampling.outcome { Some(error) } else { None };
    json!({
        "period_ns": sampling.period_ns, "sampled": sampling.outcome == SamplingOutcome::Sampled, "refused": refused,
        "counted": sampling.counted, "error_ns": sampling.error_ns,
    })
}

/// Most members of a communicator or group that are listed.
const MAX_MEMBERS: u64 = 1 << 20;

/// The ranks of a list; `None` where there are too many.
/// A number that records may lack.
fn known_number(number: u32) -> Option<u32> {
    (number != NONE).then_some(number)
}

fn activity_name(number: u8) -> &'static str {
    Activity::from_bits(number.into()).name()
}

fn members(list: &RankList) -> Option<Vec<u32>> {
    (list.len() <= MAX_MEMBERS).then(|| list.iter().collect())
}

fn problem_line(problem: &Problem) -> Value {
    json!({
        "type": "problem", "rank": problem.rank, "kind": problem.kind.name(), "severity": problem.kind.severity().name(),
        "count": problem.count, "detail": problem.detail,
    })
}
