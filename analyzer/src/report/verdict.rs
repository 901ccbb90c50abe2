//! The answer to the user's question: how much is lost, to what, through which rank, where.

use lbprof_collector::Activity;

use super::{RegionRow, SiteRow, largest};
use crate::metrics::load_balance::Times;
use crate::model::Model;
use crate::symbols::Place;

/// Efficiency from which on nothing is worth gaining.
pub const GOOD_EFFICIENCY: f64 = 0.95;

/// Load balance from which on ranks are called balanced.
pub const GOOD_BALANCE: f64 = 0.97;

/// What is lost, to what, and where. All in seconds of elapsed time, the mean over ranks.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Elapsed time.
    pub elapsed_s: f64,
    /// Elapsed time in which a rank does not compute: T − avg T_p.
    pub lost_s: f64,
    /// Of that, to imbalance of the ranks' computation: max T_p − avg T_p.
    pub imbalance_s: f64,
    /// To different ranks being slowest in different iterations: T_ideal − max T_p. `None` where that is not known.
    pub serialization_s: Option<f64>,
    /// To all else: communication, waiting for its own sake, the recorder: T − T_ideal, or T − max T_p.
    pub communication_s: f64,
    /// The largest of these, or that nothing is.
    pub kind: VerdictKind,
    /// The rank that computes longest; `None` where there are fewer than two ranks or none computes.
    pub worst: Option<Worst>,
    /// Where most time goes that is not computation: by call site, of all ranks but the worst.
    pub waits_at: Option<WaitsAt>,
}

/// The largest loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerdictKind {
    /// There is no time at all, or no computation.
    Nothing,
    /// At least 95 % of the time is computation.
    Good,
    /// Imbalance of the ranks' computation.
    Imbalance,
    /// Different ranks are slowest in different iterations.
    Serialization,
    /// Communication.
    Communication,
}

impl VerdictKind {
    /// The word in JSON.
    pub fn name(self) -> &'static str {
        match self {
            VerdictKind::Nothing => "nothing",
            VerdictKind::Good => "good",
            VerdictKind::Imbalance => "imbalance",
            VerdictKind::Serialization => "serialization",
            VerdictKind::Communication => "communication",
        }
    }
}

/// The rank that computes longest.
#[derive(Clone, Debug, PartialEq)]
pub struct Worst {
    /// Its number.
    pub rank: u32,
    /// Its computation.
    pub computation_s: f64,
    /// That less the mean of all ranks.
    pub over_mean_s: f64,
    /// Path of the region in which most of the excess lies, and how much; `None` where regions are not marked.
    pub region: Option<(String, f64)>,
}

/// A call site at which ranks spend time in MPI.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitsAt {
    /// The operation's name.
    pub operation: String,
    /// Where it is called.
    pub place: Place,
    /// Time spent there, the mean over ranks.
    pub mean_s: f64,
}

impl Verdict {
    /// The verdict on a run.
    pub fn new(model: &Model, times: &Times, regions: &[RegionRow], call_sites: &[SiteRow]) -> Verdict {
        let (mean_s, max_s, elapsed_s) = (times.avg_computation_s, times.max_computation_s, times.elapsed_s);
        let serialization_s = times.t_ideal_s.map(|ideal| ideal.min(elapsed_s).max(max_s) - max_s);
        let imbalance_s = max_s - mean_s;
        let communication_s = (elapsed_s - max_s - serialization_s.unwrap_or(0.0)).max(0.0);
        let kind = if times.parallel().is_none_or(|parallel| parallel == 0.0) {
            VerdictKind::Nothing
        } else if times.parallel().is_some_and(|parallel| parallel >= GOOD_EFFICIENCY) {
            VerdictKind::Good
        } else if imbalance_s >= communication_s.max(serialization_s.unwrap_or(0.0)) {
            VerdictKind::Imbalance
        } else if serialization_s.is_some_and(|serialization| serialization >= communication_s) {
            VerdictKind::Serialization
        } else {
            VerdictKind::Communication
        };
        Verdict {
            elapsed_s,
            lost_s: elapsed_s - mean_s,
            imbalance_s,
            serialization_s,
            communication_s,
            kind,
            worst: worst(model, mean_s, regions),
            waits_at: waits_at(model, call_sites),
        }
    }
}

fn worst(model: &Model, mean_s: f64, regions: &[RegionRow]) -> Option<Worst> {
    let computation = model.inclusive_s(0, Activity::Computation);
    let at = largest(&computation).filter(|_| computation.len() > 1)?;
    let rank = &model.ranks[at];
    let excess = |row: &RegionRow| {
        let mean =
            row.activities.iter().find(|(of, ..)| *of == Activity::Computation).map_or(0.0, |(_, mean, _)| *mean);
        rank.exclusive(row.idx)[Activity::Computation as usize] - mean
    };
    let by_excess = regions.iter().map(|row| (row.path.clone(), excess(row)));
    let region = by_excess.max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, excess)| regions.len() > 1 && *excess > 0.0);
    Some(Worst { rank: rank.rank, computation_s: computation[at], over_mean_s: computation[at] - mean_s, region })
}

fn waits_at(model: &Model, call_sites: &[SiteRow]) -> Option<WaitsAt> {
    let row = call_sites.iter().find(|row| row.activity != Activity::Recorder && row.sum.seconds > 0.0)?;
    Some(WaitsAt {
        operation: row.operation.clone(),
        place: row.place.clone(),
        mean_s: row.sum.seconds / model.ranks.len().max(1) as f64,
    })
}
