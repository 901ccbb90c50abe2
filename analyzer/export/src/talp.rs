//! The JSON that DLB's TALP writes of a run, for TALP-Pages: its pages show runs over time and by number of ranks.
//!
//! ```text
//!   {"dlbVersion": …, "timestamp": …, "resources": {…}, "Application": {"Global": {…}, "main/step": {…}, …}}
//! ```
//!
//! Made from the sums. A rank is a processor, or as many as it has cores where the whole run's parallel regions of OpenMP were measured: the figures
//! of the regions that markers name do not say what other threads do. Times are in nanoseconds and add up all invocations of a region, inner regions
//! included. Load balance is the product of that within nodes and that between them: with u the mean
//! computation of a node's ranks, LB = max u / longest computation · mean computation / max u.

use std::io::{self, Write};

use chrono::{DateTime, SecondsFormat};
use lbprof_collector::Activity;
use serde_json::{Map, Value, json};

use lbprof_analysis::metrics::spread::load_balance::{EfficiencyTimes, HostBalance};
use lbprof_analysis::metrics::threads::{RankCores, ThreadEfficiency};
use lbprof_analysis::model::{Model, RegionIdx};

/// The version whose layout this is. Readers look at its begin.
const VERSION: &str = concat!("3.6.0+lbprof-", env!("CARGO_PKG_VERSION"));

/// Writes the figures of a run or a part of it.
///
/// Errors: writing fails.
pub fn write_talp(model: &Model, out: &mut dyn Write) -> io::Result<()> {
    let seconds = i64::try_from(model.facts.started_unix_s).ok();
    let started = seconds.and_then(|seconds| DateTime::from_timestamp(seconds, 0)).unwrap_or_default();
    let n = model.ranks.len();
    let threads = ThreadEfficiency::new(model);
    let n_cores = threads.as_ref().map_or(n as u64, |threads| threads.cores);
    let mut regions = Map::new();
    for (idx, region) in (0..).zip(&model.regions) {
        let name = if idx == 0 { "Global" } else { region.path.as_str() };
        if idx == 0 || model.ranks.iter().any(|rank| rank.inclusive.iter().any(|&(own, _)| own == idx)) {
            let mut figures = region_figures(model, idx);
            if let Some(threads) = threads.as_ref().filter(|_| idx == 0) {
                add_threads(&mut figures, model, threads);
            }
            regions.insert(name.to_owned(), figures);
        }
    }
    let document = json!({
        "dlbVersion": VERSION,
        "timestamp": started.to_rfc3339_opts(SecondsFormat::Secs, true),
        "resources": { "numCpus": n_cores, "numMpiRanks": n, "numGpus": 0 },
        "Application": regions,
    });
    lbprof_report::json::write_pretty(&document, out)
}

fn region_figures(model: &Model, region: RegionIdx) -> Value {
    let computation = model.inclusive_s(region, Activity::Computation);
    let sites = model.ranks.iter().flat_map(|rank| &rank.sites);
    let calls = sites.filter(|(key, _)| key.activity != Activity::Recorder);
    let calls = calls.filter(|(key, _)| region == 0 || model.chain(key.region).contains(&region));
    let calls: u64 = calls.map(|(_, cell)| cell.calls).fold(0, u64::saturating_add);
    let mpi_s: f64 = Activity::ALL
        .into_iter()
        .filter(|activity| activity.is_mpi())
        .flat_map(|activity| model.inclusive_s(region, activity))
        .sum();
    let invocations = model.ranks.iter().map(|rank| rank.totals(region).invocations).max().unwrap_or(0);
    let times = EfficiencyTimes::from_computation(&computation, model.region_elapsed_s(region), None);
    let HostBalance { within, between } = HostBalance::new(model, &computation);
    let n = model.ranks.len();
    let parallel = share_or_zero(times.parallel());
    json!({
        "numCpus": n,
        "numMpiRanks": n,
        "numGpus": 0,
        "cycles": 0,
        "instructions": 0,
        "averageIPC": 0.0,
        "numMeasurements": invocations.max(1),
        "numMpiCalls": calls,
        "elapsedTime": to_nanoseconds(times.elapsed_s),
        "usefulTime": to_nanoseconds(computation.iter().sum()),
        "mpiTime": to_nanoseconds(mpi_s),
        "parallelEfficiency": parallel,
        "mpiParallelEfficiency": parallel,
        "mpiCommunicationEfficiency": share_or_zero(times.communication()),
        "mpiLoadBalance": share_or_zero(times.load_balance()),
        "mpiLoadBalanceIn": share_or_zero(within),
        "mpiLoadBalanceOut": share_or_zero(between),
        // Losses of OpenMP's threads are only known for the whole run.
        "ompParallelEfficiency": 1.0,
        "ompLoadBalance": 1.0,
        "ompSchedulingEfficiency": 1.0,
        "ompSerializationEfficiency": 1.0,
    })
}

/// Returns a share, which TALP wants even if it is not known.
fn share_or_zero(share: Option<f64>) -> f64 {
    share.unwrap_or(0.0)
}

/// Replaces the figures of first threads by figures of all cores. The factors multiply as in TALP: parallel = mpi × omp, mpi = load balance ×
/// communication, omp = load balance × scheduling × serialization.
fn add_threads(figures: &mut Value, model: &Model, threads: &ThreadEfficiency) {
    let computing_s: Vec<f64> = threads.ranks.iter().map(RankCores::computing_s).collect();
    let HostBalance { within, .. } = HostBalance::new(model, &computing_s);
    let (within, load_balance) = (share_or_zero(within), share_or_zero(threads.load_balance()));
    figures["numCpus"] = json!(threads.cores);
    figures["usefulTime"] = json!(to_nanoseconds(threads.sum.useful_s()));
    figures["parallelEfficiency"] = json!(share_or_zero(threads.parallel()));
    figures["mpiParallelEfficiency"] = json!(share_or_zero(threads.mpi()));
    figures["mpiCommunicationEfficiency"] = json!(share_or_zero(threads.communication()));
    figures["mpiLoadBalance"] = json!(load_balance);
    figures["mpiLoadBalanceIn"] = json!(within);
    figures["mpiLoadBalanceOut"] = json!(if within > 0.0 { load_balance / within } else { 0.0 });
    figures["ompParallelEfficiency"] = json!(share_or_zero(threads.threads()));
    figures["ompLoadBalance"] = json!(share_or_zero(threads.thread_balance()));
    figures["ompSchedulingEfficiency"] = json!(share_or_zero(threads.waits()) * share_or_zero(threads.fork_join()));
    figures["ompSerializationEfficiency"] = json!(share_or_zero(threads.serial()));
}

fn to_nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9).round().max(0.0) as u64
}
