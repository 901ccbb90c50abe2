//! Dispersion of the ranks over regions and activities.

use lbprof_collector::Activity;
use lbprof_thresholds::verdict::{MIN_DEVIATION_OF_RANK, MIN_SPREAD_OF_ACTIVITY};
use serde::{Serialize, Serializer};

use crate::rows::bounds::{ListBounds, per_entry};
use crate::rows::serial;
use lbprof_analysis::metrics::spread::cluster;
use lbprof_analysis::metrics::spread::dispersion;
use lbprof_analysis::metrics::spread::dispersion::{
    Dispersion, MostImbalanced, PerActivity, RegionExtremes, RegionTimes, TimeLevel, activity_breakdown,
    region_extremes, severe_indices,
};
use lbprof_analysis::model::{Model, RegionIdx};

/// Maximum number of regions with patterns per activity.
pub const MOST_PATTERNS: usize = 64;

/// Dispersion of the ranks.
#[derive(Clone, Debug, Default, Serialize, crate::JsonSchema)]
pub struct DispersionRows {
    /// The three views; regions by their index in the model, ranks by their index in the report.
    #[serde(skip)]
    pub views: Dispersion,
    /// By activity whether its SID_A is severe.
    #[serde(skip)]
    pub severe_activities: [bool; Activity::COUNT],
    /// By region whether its SID_C is severe.
    #[serde(skip)]
    pub severe_regions: Vec<bool>,
    /// The activity with most time.
    #[serde(rename = "dominant_activity", serialize_with = "serial::known_activity")]
    #[schemars(with = "Option<serial::ActivityName>")]
    pub dominant: Option<Activity>,
    /// Regions with most and with least time by activity.
    #[serde(skip)]
    pub extremes: PerActivity<RegionExtremes>,
    /// Groups of regions that spend their time alike; null if fewer than 3 regions have time of their own, or all are equal.
    pub groups: Option<GroupRows>,
    /// Patterns by activity and region, the 64 regions with most time for each activity.
    pub patterns: Vec<PatternRow>,
    /// T, of which SID_A and SID_C take shares.
    pub elapsed_s: f64,
    /// Path of the region with most time, inner regions excluded.
    pub heaviest_region: Option<String>,
    /// The rank that has the largest ID_P in most regions.
    pub most_frequently_imbalanced_rank: Option<u32>,
    /// The rank with most time in the regions in which it has the largest ID_P.
    pub longest_imbalanced_rank: Option<u32>,
}

fn letters<S: Serializer>(levels: &[TimeLevel], serializer: S) -> Result<S::Ok, S::Error> {
    let letters = levels.iter().map(|level| match level {
        TimeLevel::Minimum => 'm',
        TimeLevel::Lower => 'l',
        TimeLevel::Middle => '-',
        TimeLevel::Upper => 'u',
        TimeLevel::Maximum => 'M',
    });
    serializer.serialize_str(&letters.collect::<String>())
}

/// Groups of regions that spend their time alike.
#[derive(Clone, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct GroupRows {
    /// By region the number of its group, from 1, the heaviest; `None` for regions without time of their own.
    #[serde(skip)]
    pub of: Vec<Option<u32>>,
    /// Number of groups.
    #[serde(rename = "count")]
    pub n: u32,
    /// Separation of the groups, −1 to 1; from 0.5 on they lie well apart.
    pub silhouette: f64,
}

/// Times of the ranks in an activity of a region, as levels.
#[derive(Clone, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct PatternRow {
    /// The activity.
    #[serde(serialize_with = "serial::activity")]
    #[schemars(with = "serial::ActivityName")]
    pub activity: Activity,
    /// Path of the region.
    #[serde(rename = "region")]
    pub path: String,
    /// Shortest time of a rank.
    #[serde(rename = "min_s")]
    pub least_s: f64,
    /// Longest time of a rank.
    #[serde(rename = "max_s")]
    pub longest_s: f64,
    /// Number of ranks that a letter stands for, the last maybe for fewer: 1, but for more than 512 ranks without `--full`.
    pub ranks_per_letter: usize,
    /// A letter per rank, in the order of the ranks: `m` the shortest time, `l` in the lower 15 % of the range, `-` between, `u` in the
    /// upper 15 %, `M` the longest time. For several ranks it is `M` if one of them has the longest time, else `m` if one has the shortest,
    /// else the most frequent letter among them.
    #[serde(rename = "ranks", serialize_with = "letters")]
    #[schemars(with = "String")]
    pub levels: Vec<TimeLevel>,
}

impl DispersionRows {
    /// Computes the dispersion. The largest index of all activities, and of all regions, counts as severe.
    pub(crate) fn new(model: &Model) -> DispersionRows {
        let views = Dispersion::from_model(model);
        let activities = views.activities.each_ref().map(|index| index.and_then(|index| index.sid));
        let regions: Vec<Option<f64>> = views.regions.iter().map(|index| index.and_then(|index| index.sid)).collect();
        let mut severe_activities = [false; Activity::COUNT];
        severe_activities.copy_from_slice(&severe_indices(&activities));
        let heaviest = dispersion::heaviest_region(&views.rows).map(|at| at as RegionIdx);
        DispersionRows {
            elapsed_s: views.elapsed_s,
            heaviest_region: heaviest.and_then(|region| region_path(model, region)),
            most_frequently_imbalanced_rank: views.ranks.most_frequent().and_then(|at| Some(model.ranks.get(at)?.rank)),
            longest_imbalanced_rank: views.ranks.longest().and_then(|at| Some(model.ranks.get(at)?.rank)),
            severe_activities,
            severe_regions: severe_indices(&regions),
            dominant: dispersion::dominant_activity(&activity_breakdown(&views.rows)),
            extremes: Activity::ALL.map(|activity| region_extremes(&views.rows, activity)),
            groups: group_rows(&views),
            patterns: pattern_rows(model, &views),
            views,
        }
    }

    pub(crate) fn bounded(&self, bounds: &ListBounds) -> DispersionRows {
        let mut all = self.clone();
        for row in &mut all.patterns {
            row.ranks_per_letter = per_entry(row.levels.len(), bounds.values);
            row.levels = row.levels.chunks(row.ranks_per_letter).map(level_of_several).collect();
        }
        all
    }

    /// Returns whether the standard deviation (SID_A · √P) or the excess over the mean is a relevant part of the elapsed time.
    pub(crate) fn is_different(&self, activity: Activity, over_mean_s: f64, n_ranks: usize) -> bool {
        let sid = self.views.activities[activity as usize].and_then(|index| index.sid);
        sid.is_some_and(|sid| {
            sid * (n_ranks as f64).sqrt() >= MIN_SPREAD_OF_ACTIVITY
                || over_mean_s > MIN_SPREAD_OF_ACTIVITY * self.elapsed_s
        })
    }

    /// Returns whether a rank divides its time differently from the others, judged by its longest region among those where it is the most imbalanced
    /// rank.
    pub(crate) fn deviates(&self, rank: usize) -> bool {
        let own = self.views.most_imbalanced.iter().flatten().filter(|found| found.rank == rank);
        let longest: Option<&MostImbalanced> =
            own.reduce(|most, next| if next.time_s > most.time_s { next } else { most });
        longest.is_some_and(|found| {
            found.id >= MIN_DEVIATION_OF_RANK && found.time_s >= MIN_SPREAD_OF_ACTIVITY * self.elapsed_s
        })
    }
}

/// Returns an extreme if one of the levels is one, otherwise the most frequent level.
fn level_of_several(levels: &[TimeLevel]) -> TimeLevel {
    let extremes = [TimeLevel::Maximum, TimeLevel::Minimum];
    if let Some(extreme) = extremes.into_iter().find(|extreme| levels.contains(extreme)) {
        return extreme;
    }
    let others = [TimeLevel::Lower, TimeLevel::Upper, TimeLevel::Middle];
    let most = others.into_iter().max_by_key(|&other| levels.iter().filter(|&&level| level == other).count());
    most.unwrap_or(TimeLevel::Middle)
}

fn region_path(model: &Model, region: RegionIdx) -> Option<String> {
    Some(model.regions.get(region as usize)?.path.clone())
}

fn group_rows(views: &Dispersion) -> Option<GroupRows> {
    let with_time: Vec<usize> = (0..views.rows.len()).filter(|&at| views.regions[at].is_some()).collect();
    let vectors = with_time.iter().map(|&at| views.rows[at].map(|cell| cell.map_or(0.0, |cell| cell.mean_s)).to_vec());
    let found = cluster::group_regions(&vectors.collect::<Vec<Vec<f64>>>(), None)?;
    let mut of = vec![None; views.rows.len()];
    for (&at, &group) in with_time.iter().zip(&found.of) {
        of[at] = Some(group as u32 + 1);
    }
    Some(GroupRows { of, n: found.n as u32, silhouette: found.silhouette })
}

fn pattern_rows(model: &Model, views: &Dispersion) -> Vec<PatternRow> {
    let mut rows: Vec<PatternRow> = Vec::new();
    for activity in Activity::ALL {
        let times = views.rows.iter().enumerate().filter_map(|(at, row)| Some((at, row[activity as usize]?.mean_s)));
        let mut regions: Vec<(usize, f64)> = times.collect();
        regions.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        for (at, _) in regions.into_iter().take(MOST_PATTERNS) {
            let region = at as RegionIdx;
            let times = RegionTimes::from_model(model, region);
            let Some(times) = times.activity(activity) else { continue };
            rows.push(PatternRow {
                activity,
                path: region_path(model, region).unwrap_or_default(),
                least_s: times.iter().copied().fold(f64::INFINITY, f64::min),
                longest_s: times.iter().copied().fold(0.0, f64::max),
                ranks_per_letter: 1,
                levels: dispersion::rank_pattern(times),
            });
        }
    }
    rows
}
