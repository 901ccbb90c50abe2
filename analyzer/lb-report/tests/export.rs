//! `lb-report export`: what other programs read of a run is what its report says.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Output;

use lbprof_analysis::model::Model;
use lbprof_export::perfetto::packets::{BEGIN, END, INSTANT, TracePacket};
use lbprof_simulator::scenario::Scenario;
use lbprof_test_runs::{model_in, written};
use prost::Message;
use serde_json::Value;

use crate::late_sender::late_sender;
use crate::program::{lb_report, stdout_of, text_of};

fn export(arguments: &[&str]) -> Output {
    lb_report(Path::new("."), &[&["export"], arguments, &["--no-symbols"]].concat()).output().unwrap()
}

fn exported(arguments: &[&str]) -> Vec<u8> {
    let output = export(arguments);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let errors: String = errors.lines().filter(|line| !line.contains("open it with https://ui.perfetto.dev")).collect();
    assert_eq!((output.status.code(), errors.as_str()), (Some(0), ""), "{arguments:?}");
    output.stdout
}

/// Six steps of four ranks, of which one, each time another, computes longer; they exchange with their neighbours and meet.
fn steps() -> Scenario {
    Scenario::ranks(4).each(|rank, script| {
        script.repeat(6, move |step, script| {
            script.iteration("step", move |script| {
                let longest = 9.0;
                let own = if step % 4 == rank { longest } else { 4.0 };
                let (right, left) = ((rank as i32 + 1) % 4, (rank as i32 + 3) % 4);
                let script = script.region("force; and more", |script| script.compute(own));
                let script = script.at("post").irecv(left, 1, 0.125).isend(right, 1, 64, 0.125);
                let first = 2 * step;
                let script = script.at("wait").waitall(&[(first, 64), (first + 1, 0)], 0.25);
                script.at("sum").allreduce(8, longest - own + 0.5)
            })
        })
    })
}

fn stacks(folded: &[u8]) -> BTreeMap<String, u64> {
    let lines = std::str::from_utf8(folded).unwrap().lines();
    lines.map(|line| line.rsplit_once(' ').unwrap()).map(|(stack, n)| (stack.to_owned(), n.parse().unwrap())).collect()
}

fn without_sites(stacks: &BTreeMap<String, u64>) -> Vec<(String, u64)> {
    let frames =
        |stack: &str| stack.split(';').map(|frame| frame.split(" (+0x").next().unwrap()).collect::<Vec<_>>().join(";");
    stacks.iter().map(|(stack, &n)| (frames(stack), n)).collect()
}

#[test]
fn stacks_are_regions_and_calls_with_their_time() {
    let dir = written(late_sender());
    let time = stacks(&exported(&["folded", text_of(dir.path())]));
    let expected =
        [("main", 10_000_000), ("main;work", 30_000_000), ("main;MPI_Recv", 20_500_000), ("main;MPI_Send", 500_000)];
    let mut found = without_sites(&time);
    found.retain(|(stack, _)| !stack.contains("Finalize"));
    found.sort();
    let mut expected = expected.map(|(stack, n)| (stack.to_owned(), n));
    expected.sort();
    assert_eq!(found, expected);
    assert!(time.keys().any(|stack| stack.starts_with("main;MPI_Recv (+0x")), "{time:?}");
    let waiting = exported(&["folded", text_of(dir.path()), "--weight", "waiting", "--by-rank"]);
    let waiting = stacks(&waiting);
    assert!(waiting.keys().any(|stack| stack.ends_with(");late sender")), "{waiting:?}");
    assert_eq!(waiting.iter().find(|(stack, _)| stack.ends_with(";late sender")).map(|(_, &ns)| ns), Some(20_500_000));
}

#[test]
fn stacks_add_up_to_the_ranks_time_and_inferno_draws_them() {
    let dir = written(steps());
    let folded = exported(&["folded", text_of(dir.path())]);
    let model = model_in(dir.path());
    let all: f64 = model.ranks.iter().flat_map(|rank| &rank.cells).map(|(_, cell)| cell.seconds * 1e9).sum();
    let sum: u64 = stacks(&folded).values().sum();
    assert!((sum as f64 - all).abs() < 100.0, "{sum} of {all}");
    let text = String::from_utf8(folded).unwrap();
    let mut picture = Vec::new();
    let mut options = inferno::flamegraph::Options::default();
    inferno::flamegraph::from_lines(&mut options, text.lines(), &mut picture).unwrap();
    let picture = String::from_utf8(picture).unwrap();
    // 24 steps: 6 × (9 + 3 × 4) ms. inferno counts in samples.
    assert!(picture.contains("force: and more (126,000,000 samples"), "{picture}");
}

/// A slice of a trace: its track's name, its own, how deep it lies, and from when until when it lasts.
type Slice = (String, String, usize, u64, u64);

#[derive(Default)]
struct PerfettoTrace {
    tracks: BTreeMap<u64, String>,
    slices: Vec<Slice>,
    /// Arrows: the track and time where each begins, and where it ends.
    begins: BTreeMap<u64, (String, u64)>,
    ends: BTreeMap<u64, (String, u64)>,
    facts: Vec<(String, String)>,
}

impl PerfettoTrace {
    /// What `bytes` hold; each track's events come in the order of time, and each slice that begins ends.
    fn read(mut bytes: &[u8]) -> PerfettoTrace {
        let mut trace = PerfettoTrace::default();
        let (mut names, mut fact_names, mut texts) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let mut open: BTreeMap<u64, Vec<(String, u64)>> = BTreeMap::new();
        let mut now: BTreeMap<u64, u64> = BTreeMap::new();
        while !bytes.is_empty() {
            assert_eq!(prost::encoding::decode_key(&mut bytes).unwrap().0, 1, "a trace is packets");
            let packet = TracePacket::decode_length_delimited(&mut bytes).unwrap();
            for new in packet.interned.iter() {
                for (known, new) in [(&mut names, &new.events), (&mut fact_names, &new.facts), (&mut texts, &new.texts)]
                {
                    known.extend(new.iter().map(|one| (one.id.unwrap(), one.text.clone().unwrap())));
                }
            }
            if let Some(track) = packet.track {
                let thread =
                    track.thread.map(|thread| format!("{}: {}", thread.pid.unwrap() - 1, thread.name.unwrap()));
                let name = thread.or(track.name).or(track.process.and_then(|process| process.name));
                trace.tracks.insert(track.uuid.unwrap(), name.unwrap());
            }
            let Some(event) = packet.event else { continue };
            let (track, at) = (event.track.unwrap(), packet.timestamp.unwrap());
            let of = trace.tracks[&track].clone();
            let name = event.name.map(|name| names[&name].clone()).unwrap_or_default();
            for fact in &event.facts {
                let value = fact.text.map(|text| texts[&text].clone()).or(fact.number.map(|number| number.to_string()));
                trace.facts.push((name.clone(), format!("{}={}", fact_names[&fact.name.unwrap()], value.unwrap())));
            }
            let open = open.entry(track).or_default();
            match event.kind.unwrap() {
                BEGIN => open.push((name, at)),
                END => {
                    let (name, begin) = open.pop().expect("what ends has begun");
                    trace.slices.push((of.clone(), name, open.len(), begin, at));
                }
                INSTANT => {
                    trace.begins.extend(event.flows.iter().map(|&flow| (flow, (of.clone(), at))));
                    trace.ends.extend(event.ending_flows.iter().map(|&flow| (flow, (of.clone(), at))));
                    continue;
                }
                other => panic!("an event of kind {other}"),
            }
            // Points where messages were sent come when these are received; Perfetto sorts them in.
            let last = now.insert(track, at).unwrap_or(0);
            assert!(last <= at, "the events of a track are in the order of time");
        }
        assert!(open.values().all(Vec::is_empty), "what begins ends");
        trace.slices.sort();
        trace
    }

    fn slices(&self, of: &str) -> Vec<(&str, usize, u64, u64)> {
        let own = self.slices.iter().filter(|slice| slice.0 == of);
        own.map(|(_, name, depth, begin, end)| (name.as_str(), *depth, *begin, *end)).collect()
    }
}

fn trace(dir: &Path, more: &[&str]) -> PerfettoTrace {
    let file = dir.join("run.pftrace");
    exported(&[&["perfetto", text_of(dir), "-o", text_of(&file)], more].concat());
    PerfettoTrace::read(&std::fs::read(file).unwrap())
}

const MS: u64 = 1_000_000;

#[test]
fn a_trace_has_regions_calls_waits_and_messages() {
    let dir = written(late_sender());
    let trace = trace(dir.path(), &[]);
    let sender = trace.slices("0: main");
    assert!(sender.contains(&("work", 1, 0, 30 * MS)), "{sender:?}");
    assert!(sender.contains(&("MPI_Send", 1, 30 * MS, 30 * MS + MS / 2)), "{sender:?}");
    let receiver = trace.slices("1: main");
    let (begin, end) = (10 * MS, 30 * MS + MS / 2);
    assert!(receiver.contains(&("main", 0, 0, end)), "{receiver:?}");
    assert!(receiver.contains(&("MPI_Recv", 1, begin, end)), "{receiver:?}");
    assert!(receiver.contains(&("late sender (rank 0)", 2, begin, end)), "{receiver:?}");
    assert!(receiver.iter().all(|slice| slice.1 < 3), "{receiver:?}");
    assert_eq!(trace.begins.values().collect::<Vec<_>>(), [&("0: main".to_owned(), 30 * MS)]);
    assert_eq!(trace.ends.values().collect::<Vec<_>>(), [&("1: main".to_owned(), end)]);
    for fact in ["bytes=800", "tag=7", "receive from rank=0"] {
        assert!(trace.facts.contains(&("receive from rank 0".to_owned(), fact.to_owned())), "{:?}", trace.facts);
    }
    let site = |(name, fact): &&(String, String)| name == "MPI_Recv" && fact.starts_with("call site=scenario+0x");
    assert_eq!(trace.facts.iter().filter(site).count(), 1);
    for (call, facts) in [
        ("MPI_Send", ["peer=1", "tag=7", "bytes sent=800", "communicator=MPI_COMM_WORLD"]),
        ("MPI_Recv", ["peer=0", "tag=7", "bytes received=800", "communicator=MPI_COMM_WORLD"]),
    ] {
        for fact in facts {
            assert!(trace.facts.contains(&(call.to_owned(), fact.to_owned())), "{call}: {fact}: {:?}", trace.facts);
        }
    }
}

fn in_calls(model: &Model) -> f64 {
    let cells = model.ranks.iter().flat_map(|rank| &rank.sites);
    cells.map(|(_, cell)| cell.seconds * 1e9).sum()
}

#[test]
fn a_trace_has_the_iterations_times_and_messages_of_the_report() {
    let dir = written(steps());
    let trace = trace(dir.path(), &[]);
    let calls: u64 =
        trace.slices.iter().filter(|slice| slice.1.starts_with("MPI_")).map(|slice| slice.4 - slice.3).sum();
    let model = model_in(dir.path());
    assert!((calls as f64 - in_calls(&model)).abs() < 100.0, "{calls} of {}", in_calls(&model));
    assert_eq!((trace.begins.len(), trace.ends.len()), (24, 24), "an arrow a message");
    assert_eq!(model.followed.as_ref().unwrap().counts.messages, 24);
    let iterations = trace.slices("iterations of main/step");
    assert_eq!(iterations.len(), 24);
    let force: Vec<u64> =
        trace.slices.iter().filter(|slice| slice.1 == "force; and more").map(|slice| slice.4 - slice.3).collect();
    assert_eq!((force.len(), force.iter().sum::<u64>()), (24, 126 * MS));
}

#[test]
fn a_part_of_a_run_is_exported_alone() {
    let dir = written(steps());
    let part = trace(dir.path(), &["--ranks", "1", "--from", "iteration=2", "--to", "iteration=3"]);
    assert!(part.slices.iter().all(|slice| slice.0 == "1: main" || slice.0.starts_with("iterations")));
    assert_eq!(part.slices("1: main").iter().filter(|slice| slice.0 == "MPI_Allreduce").count(), 2);
    // Whom the messages are from is known, but there is no track of it.
    assert_eq!((part.begins.len(), part.ends.len()), (0, 0));
    assert_eq!(part.facts.iter().filter(|fact| fact.1 == "receive from rank=0").count(), 2);
    let region = trace(dir.path(), &["--region", "force*"]);
    assert!(region.slices.iter().all(|slice| !slice.1.starts_with("MPI_")));
    assert_eq!(region.slices.iter().filter(|slice| slice.1 == "force; and more").count(), 24);
}

/// The efficiencies of TALP that the report has too, with the keys that it has them by.
const EFFICIENCIES: [(&str, &str); 3] = [
    ("parallelEfficiency", "parallel"),
    ("mpiCommunicationEfficiency", "communication"),
    ("mpiLoadBalance", "load_balance"),
];

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn talp_has_the_efficiencies_of_the_report_for_each_region() {
    // Ranks 0 and 1 are on one host, 2 and 3 on another, where one has more to do.
    let hosts = Scenario::ranks(4).each(|rank, script| {
        let (own, waits) = [(2, 7), (4, 5), (8, 1), (6, 3)][rank as usize];
        script.region("force", |script| script.compute(own)).at("meet").barrier(waits)
    });
    let hosts = hosts.hosts(|rank| if rank < 2 { "node0" } else { "node1" }.to_owned());
    for scenario in [hosts, steps(), steps().profile_mode()] {
        let dir = written(scenario);
        let report: Value = serde_json::from_str(&stdout_of(dir.path(), &[".", "--json", "--no-symbols"], 0)).unwrap();
        let talp: Value = serde_json::from_slice(&exported(&["talp", text_of(dir.path())])).unwrap();
        assert!(talp["dlbVersion"].as_str().is_some_and(|version| version.starts_with("3.6.")), "{talp}");
        assert_eq!(talp["timestamp"], "2023-11-14T22:13:20Z");
        assert_eq!(talp["resources"], serde_json::json!({ "numCpus": 4, "numMpiRanks": 4, "numGpus": 0 }));
        for region in report["regions"].as_array().unwrap() {
            let path = region["path"].as_str().unwrap();
            let own = &talp["Application"][if path == "main" { "Global" } else { path }];
            for (key, of_report) in EFFICIENCIES {
                let (found, expected) = (number(&own[key]), number(&region["efficiency"][of_report]));
                assert!((found - expected).abs() < 1e-12, "{path} {key}: {found}, {expected}");
            }
            let product = number(&own["mpiLoadBalanceIn"]) * number(&own["mpiLoadBalanceOut"]);
            assert!((product - number(&own["mpiLoadBalance"])).abs() < 1e-12, "{own}");
            let elapsed = number(&region["efficiency"]["elapsed_s"]) * 1e9;
            assert!((number(&own["elapsedTime"]) - elapsed).abs() <= 0.5, "{own}");
            let useful = number(&region["efficiency"]["avg_computation_s"]) * 4e9;
            assert!((number(&own["usefulTime"]) - useful).abs() <= 0.5, "{own}");
        }
        if path_of_force(&talp) == Some("main/force") {
            // Node means 3 and 7, mean of all 5, longest 8.
            let global = &talp["Application"]["Global"];
            assert_eq!(
                (number(&global["mpiLoadBalanceIn"]), number(&global["mpiLoadBalanceOut"])),
                (7.0 / 8.0, 5.0 / 7.0)
            );
            assert_eq!(number(&global["numMpiCalls"]), 8.0, "four barriers and four MPI_Finalize");
        }
    }
}

fn path_of_force(talp: &Value) -> Option<&str> {
    talp["Application"].as_object()?.keys().map(String::as_str).find(|key| key.ends_with("/force"))
}

#[test]
fn what_cannot_be_exported_says_so_and_leaves_no_file() {
    let dir = written(steps().profile_mode());
    let file = dir.path().join("run.pftrace");
    let fails = |arguments: &[&str], says: &str| {
        let output = export(&[arguments, &["-o", text_of(&file)]].concat());
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains(says), "{errors}");
        assert!(!file.exists());
    };
    fails(&["perfetto", text_of(dir.path())], "the run has sums in place of records (LBPROF_MODE=profile)");
    fails(&["folded", text_of(dir.path()), "--weight", "waiting"], "the run has sums in place of records");
    assert!(!stacks(&exported(&["folded", text_of(dir.path())])).is_empty(), "the sums are enough");
}
