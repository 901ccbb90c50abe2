//! Runs made by hand, in folders of their own, analysed and checked, for the tests of the analyzer.

mod bounded;
pub mod md;

use std::path::Path;

use lbprof_analysis::analyse::{AnalysisOptions, analyse_run};
use lbprof_analysis::metrics::overhead;
use lbprof_analysis::metrics::sampled::code_tree::CodeTree;
use lbprof_analysis::metrics::spread::load_balance;
use lbprof_analysis::model::Model;
use lbprof_analysis::read::open::RecordedRun;
use lbprof_analysis::select::Selection;
use lbprof_analysis::structure::StructureOptions;
use lbprof_analysis::structure::code::symbols;
use lbprof_collector::definition::ResourceUsage;
use lbprof_collector::polling::PollGapRule;
use lbprof_collector::{Activity, Definition};
use lbprof_report::rows::bounds::ListBounds;
use lbprof_report::{Report, json, text};
use lbprof_simulator::scenario::{START, Scenario};
use tempfile::TempDir;

/// Only what is marked: most scenarios are about something else than loops and regions that are found.
pub fn marked() -> AnalysisOptions {
    AnalysisOptions {
        symbols: false,
        wanted: StructureOptions { detect: false, ..StructureOptions::default() },
        ..AnalysisOptions::default()
    }
}

/// A scenario in a folder that goes away with it.
pub fn written(scenario: Scenario) -> TempDir {
    let dir = tempfile::tempdir().expect("a folder for the run");
    scenario.write(dir.path()).expect("the scenario is written");
    dir
}

/// The model of the run in `dir`.
pub fn model_in(dir: &Path) -> Model {
    model_polling(dir, PollGapRule::Auto)
}

/// The same with predictions of --what-if.
pub fn model_asking(dir: &Path, asked: &[&str]) -> Model {
    let asked = asked.iter().map(|one| one.parse().expect("a scenario")).collect();
    let options = AnalysisOptions { asked: Some(asked), ..marked() };
    analysed(open(dir), &Selection::default(), &options).unwrap()
}

/// The model of the run in `dir`, of which the time between unsuccessful polls is taken for what `polling` says.
pub fn model_polling(dir: &Path, polling: PollGapRule) -> Model {
    analysed(open(dir).polling(polling), &Selection::default(), &marked()).unwrap()
}

/// The model of a part of the run in `dir`, or why there is none.
pub fn try_part_in(dir: &Path, selection: &Selection) -> Result<Model, String> {
    analysed(open(dir), selection, &marked())
}

fn open(dir: &Path) -> RecordedRun {
    RecordedRun::open(Some(dir)).expect("the run opens")
}

fn analysed(run: RecordedRun, selection: &Selection, options: &AnalysisOptions) -> Result<Model, String> {
    let model = analyse_run(&run, selection, options, |_| ()).map_err(|error| error.to_string())?.model;
    check_invariants(&model);
    Ok(model)
}

/// The model of a part of the run in `dir`.
pub fn part_in(dir: &Path, selection: &Selection) -> Model {
    try_part_in(dir, selection).expect("the run has the part")
}

/// The model of a scenario.
pub fn model(scenario: Scenario) -> Model {
    model_in(written(scenario).path())
}

/// The model of a scenario, with all that is found in its calls.
pub fn found_model(scenario: Scenario) -> Model {
    found_model_of(scenario, StructureOptions::default())
}

/// The same with what is wanted.
pub fn found_model_of(scenario: Scenario, wanted: StructureOptions) -> Model {
    let options = AnalysisOptions { symbols: false, wanted, ..AnalysisOptions::default() };
    analysed(open(written(scenario).path()), &Selection::default(), &options).expect("all of the run")
}

/// The report on a scenario.
pub fn report(scenario: Scenario) -> Report {
    report_on(&model(scenario))
}

/// The report on a model, without names of functions.
pub fn report_on(model: &Model) -> Report {
    Report::new(model, &symbols::sites_without_names(&model.sites))
}

/// Options of a text with all tables, of 8 rows each.
pub fn text_options(columns: usize) -> text::TextOptions<'static> {
    let (command, top) = ("lb-report", 8);
    text::TextOptions { command, asked: false, columns, first_screen: false, all_tables: true, top, full: false }
}

/// The text of a report, without colours.
pub fn plain(report: &Report, columns: usize) -> String {
    anstream::adapter::strip_str(&text::render_text(report, &text_options(columns))).to_string()
}

/// The first screen of a report, without colours.
pub fn first_screen(report: &Report, columns: usize) -> String {
    anstream::adapter::strip_str(&coloured_first_screen(report, columns)).to_string()
}

/// The first screen of a report, as a terminal gets it.
pub fn coloured_first_screen(report: &Report, columns: usize) -> String {
    text::render_text(report, &text::TextOptions { first_screen: true, ..text_options(columns) })
}

/// The JSON document of a report.
pub fn json(report: &Report) -> String {
    let mut bytes = Vec::new();
    json::write_report_json(report, &ListBounds::SMALL, &mut bytes).expect("writing to memory");
    String::from_utf8(bytes).expect("JSON is UTF-8")
}

/// What a rank had used `at_ms` after its window's begin: CPU time and time without a core of its first thread, in
/// milliseconds, and how often that was preempted.
pub fn usage(at_ms: u64, cpu_ms: u64, delayed_ms: u64, preempted: u64) -> Definition {
    Definition::Usage(ResourceUsage {
        ticks: START + at_ms * 1_000_000,
        user_ns: cpu_ms * 1_000_000,
        thread_ns: cpu_ms * 1_000_000,
        thread_delayed_ns: delayed_ms * 1_000_000,
        thread_involuntary_switches: preempted,
        involuntary_switches: preempted,
        max_resident: 100 << 20,
        ..ResourceUsage::default()
    })
}

/// What holds for every run.
pub fn check_invariants(model: &Model) {
    let window = model.window_s();
    for rank in &model.ranks {
        let known: f64 = rank.inclusive(0).iter().sum();
        let own = rank.end_s - rank.begin_s;
        assert!(known + rank.paused_s <= own + 1e-9, "rank {}: {known} s of {own} s", rank.rank);
        assert!(rank.idle_s(window) >= 0.0);
        let exclusive: f64 = (0..model.regions.len() as u32).flat_map(|idx| rank.exclusive(idx)).sum();
        assert!((exclusive - known).abs() <= 1e-9 * known.max(1.0), "rank {}: {exclusive} s of {known} s", rank.rank);
    }
    let all: Vec<usize> = (0..model.ranks.len()).collect();
    for idx in 0..model.regions.len() as u32 {
        let times = load_balance::region_efficiency_times(model, idx);
        assert_eq!(load_balance::times_of(model, &all, idx), times, "all ranks are the run");
        let ideal = load_balance::phase_profile_ideal(model, idx);
        assert_eq!(load_balance::phase_profile_ideal_of(model, &all, idx), ideal, "region {idx}");
        assert!(times.max_computation_s <= times.elapsed_s + 1e-9, "region {idx}: {times:?}");
        if let (Some(micro), Some(parallel)) = (times.micro_load_balance(), times.parallel()) {
            assert!(micro <= 1.0 + 1e-12, "region {idx}: {times:?}");
            let product = times.load_balance().unwrap_or(0.0) * micro * times.transfer().unwrap_or(0.0);
            assert!((product - parallel).abs() <= 1e-12, "region {idx}: {times:?}");
        }
    }
    // Phases fill every rank's T, so that the reciprocal of all overhead ratios is the efficiency T_seq / (P·T).
    let overheads = overhead::overhead_breakdown(model);
    for (at, rank) in model.ranks.iter().enumerate() {
        let filled: f64 = overheads.phases.iter().map(|phase| phase.seconds[at]).sum();
        assert!((filled - overheads.elapsed_s).abs() <= 1e-9, "rank {}: {filled} s of {overheads:?}", rank.rank);
    }
    if let Some(efficiency) = overheads.efficiency() {
        let expected = overheads.t_seq_s / (overheads.elapsed_s * model.ranks.len() as f64);
        assert!((efficiency - expected).abs() <= 1e-9 * expected, "{efficiency} instead of {expected}");
    }
    check_tree(model);
    bounded::check_bounded(&report_on(model));
}

/// Checks that what is known of the run is in the program's tree, once.
fn check_tree(model: &Model) {
    let names = symbols::sites_without_names(&model.sites);
    let tree = CodeTree::new(model, &names);
    let nodes = tree.nodes();
    let near = |found: f64, expected: f64, what: &str| {
        assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{what}: {found} instead of {expected}");
    };
    let all = nodes[0].all;
    let in_all = |of: fn(Activity) -> bool| -> f64 {
        let times = model.ranks.iter().map(|rank| rank.inclusive(0));
        times.flat_map(|times| Activity::ALL.map(|one| if of(one) { times[one as usize] } else { 0.0 })).sum()
    };
    near(all.time_s, in_all(|_| true), "time");
    near(all.computation_s, in_all(|one| one == Activity::Computation), "computation");
    if let Some(followed) = &model.followed {
        let waits = followed.blocking.waits.values().map(|sums| (sums.waiting + sums.delay) as f64);
        near(all.waiting_s, waits.sum::<f64>() * 1e-9, "waiting");
        near(all.caused_s, followed.blocking.causes.values().sum::<f64>() * 1e-9, "waiting caused");
    }
    for (at, node) in nodes.iter().enumerate() {
        let within = nodes.iter().filter(|inner| inner.parent == Some(at));
        near(node.all.time_s, node.alone.time_s + within.map(|inner| inner.all.time_s).sum::<f64>(), "time of a node");
    }
    for (&node, &region) in &tree.regions {
        let computation: Vec<f64> = model.inclusive_s(region, Activity::Computation);
        let most = computation.iter().copied().fold(0.0, f64::max);
        assert!(nodes[node].balance.max_s >= most - 1e-9, "a region's computation is in its node");
    }
}

/// The region of this path.
#[track_caller]
pub fn region(model: &Model, path: &str) -> u32 {
    let found = model.regions.iter().position(|region| region.path == path);
    found.unwrap_or_else(|| panic!("no {path} in {:?}", model.regions)) as u32
}

/// Asserts that two times are the same but for rounding.
#[track_caller]
pub fn assert_near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9, "{found} instead of {expected}");
}

/// The report on the run in `dir`, with the names of the functions that samples hit.
pub fn sampled_report(dir: &Path) -> Report {
    let options = AnalysisOptions { symbols: true, ..marked() };
    let analysis = analyse_run(&open(dir), &Selection::default(), &options, |_| ()).unwrap();
    Report::new(&analysis.model, &analysis.names)
}
