//! Efficiencies of the iterations of a loop, as values over time.

use std::collections::BTreeMap;

use lbprof_collector::Activity;

use lbprof_analysis::metrics::load_balance::EfficiencyTimes;
use lbprof_analysis::model::region_state::Ns;
use lbprof_analysis::model::{Model, RegionIdx};

/// A value that changes over time.
#[derive(Clone, Debug, PartialEq)]
pub struct CounterTrack {
    /// Its name.
    pub name: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// From when on it has which value.
    pub values: Vec<(Ns, f64)>,
}

#[derive(Clone, Copy)]
struct IterationCounters {
    sum_s: f64,
    max_s: f64,
    begin_s: f64,
    /// NaN where it is not known of all.
    end_s: f64,
}

type IterationFigure = (&'static str, &'static str, fn(&EfficiencyTimes) -> Option<f64>);

const FIGURES: [IterationFigure; 4] = [
    ("load balance", "%", |times| Some(100.0 * times.load_balance()?)),
    ("communication efficiency", "%", |times| Some(100.0 * times.communication()?)),
    ("parallel efficiency", "%", |times| Some(100.0 * times.parallel()?)),
    ("time of an iteration", "ms", |times| Some(1e3 * times.elapsed_s).filter(|time| time.is_finite())),
];

/// The time, load balance, communication efficiency and parallel efficiency of each iteration of `region`; none where what ranks compute in
/// it is not known. An iteration lasts from its first begin on a rank to its last end. Joined iterations have their means.
pub fn iteration_counters(model: &Model, region: RegionIdx) -> Vec<CounterTrack> {
    let unknown = model.entering_blocks(region);
    let joined = model.joined.get(&region);
    let mut iterations: BTreeMap<u32, IterationCounters> = BTreeMap::new();
    for series in model.ranks.iter().filter_map(|rank| rank.series(region)) {
        for (at, &number) in series.numbers.iter().enumerate() {
            let seconds = series.seconds_at(Activity::Computation, at);
            let new = IterationCounters { sum_s: 0.0, max_s: 0.0, begin_s: f64::INFINITY, end_s: f64::NEG_INFINITY };
            let one = iterations.entry(number).or_insert(new);
            let end_s = series.end_s[at];
            *one = IterationCounters {
                sum_s: one.sum_s + seconds,
                max_s: one.max_s.max(seconds),
                begin_s: one.begin_s.min(series.begin_s[at]),
                end_s: if end_s.is_nan() || one.end_s.is_nan() { f64::NAN } else { one.end_s.max(end_s) },
            };
        }
    }
    iterations.retain(|number, one| one.max_s > 0.0 && one.begin_s.is_finite() && !unknown.contains(number));
    let n = model.ranks.len() as f64;
    let mut tracks = FIGURES.map(|(name, unit, _)| CounterTrack { name, unit, values: Vec::new() });
    for (&number, one) in &iterations {
        let begin = (one.begin_s * 1e9).round() as Ns;
        let joined = joined.map_or(1, |joined| joined.in_blocks(number, number).len()) as f64;
        let times = EfficiencyTimes {
            elapsed_s: (one.end_s - one.begin_s) / joined,
            max_computation_s: one.max_s / joined,
            avg_computation_s: one.sum_s / n / joined,
            t_ideal_s: None,
        };
        for (track, (.., figure)) in tracks.iter_mut().zip(FIGURES) {
            track.values.extend(figure(&times).map(|value| (begin, value)));
        }
    }
    tracks.into()
}
