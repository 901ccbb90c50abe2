//! Dispersion of the ranks: in which regions and activities they differ, which of that is severe, which regions are alike.

use lbprof_collector::Activity;

use crate::metrics::cluster;
use crate::metrics::dispersion::{
    self, Dispersion, Extremes, Level, MostImbalanced, PerActivity, Ranking, RegionTimes, breakdown, extremes,
};
use crate::model::{Model, RegionIdx};

/// Most regions of which there are patterns, for each activity those with most of its time.
pub const MOST_PATTERNS: usize = 64;

/// Silhouette from which on groups that nobody asked for are worth showing: regions lie well within their groups.
const CLEAR: f64 = 0.5;

/// Dispersion of the ranks.
#[derive(Clone, Debug, Default)]
pub struct DispersionRows {
    /// What makes an index severe.
    pub ranking: Ranking,
    /// The three views; regions by their index in the model, ranks by their index in the report.
    pub views: Dispersion,
    /// By activity whether its SID_A is severe.
    pub severe_activities: [bool; Activity::COUNT],
    /// By region whether its SID_C is severe.
    pub severe_regions: Vec<bool>,
    /// The activity with most time.
    pub dominant: Option<Activity>,
    /// The region with most time.
    pub heaviest: Option<RegionIdx>,
    /// Of each activity the regions with most and with least of its time.
    pub extremes: PerActivity<Extremes>,
    /// Groups of regions that spend their time alike.
    pub groups: Option<GroupRows>,
    /// Patterns of the ranks' times, by activity, regions with most time first.
    pub patterns: Vec<PatternRow>,
}

/// Groups of regions that spend their time alike.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupRows {
    /// By region the number of its group, from 1, the heaviest; `None` for regions without time of their own.
    pub of: Vec<Option<u32>>,
    /// How many there are.
    pub n: u32,
    /// How clear they are: mean silhouette, in −1..=1.
    pub silhouette: f64,
    /// Whether the user said how many.
    pub given: bool,
}

impl GroupRows {
    /// Whether the groups are worth showing: they are clear, or the user asked for them.
    pub fn worth_showing(&self) -> bool {
        self.given || self.silhouette >= CLEAR
    }
}

/// Times of the ranks in an activity of a region, as levels.
#[derive(Clone, Debug, PartialEq)]
pub struct PatternRow {
    /// The activity.
    pub activity: Activity,
    /// The region.
    pub region: RegionIdx,
    /// Least time of a rank.
    pub least_s: f64,
    /// Longest time of a rank.
    pub longest_s: f64,
    /// One entry a rank.
    pub levels: Vec<Level>,
}

impl DispersionRows {
    /// Of a run; `ranking` says what is severe, `groups` how many groups of regions there are to be.
    pub(super) fn new(model: &Model, ranking: Ranking, groups: Option<usize>) -> DispersionRows {
        let views = Dispersion::of(model);
        let activities = views.activities.each_ref().map(|index| index.and_then(|index| index.sid));
        let regions: Vec<Option<f64>> = views.regions.iter().map(|index| index.and_then(|index| index.sid)).collect();
        let mut severe_activities = [false; Activity::COUNT];
        severe_activities.copy_from_slice(&ranking.severe(&activities));
        DispersionRows {
            ranking,
            severe_activities,
            severe_regions: ranking.severe(&regions),
            dominant: dispersion::dominant(&breakdown(&views.rows)),
            heaviest: dispersion::heaviest(&views.rows).map(|at| at as RegionIdx),
            extremes: Activity::ALL.map(|activity| extremes(&views.rows, activity)),
            groups: group_rows(&views, groups),
            patterns: patterns(model, &views),
            views,
        }
    }

    /// The most imbalanced region of a rank: that with most of its time of those in which it is the most imbalanced one.
    pub fn most_imbalanced_in(&self, rank: usize) -> Option<(RegionIdx, MostImbalanced)> {
        let own = (0..).zip(&self.views.most_imbalanced).filter_map(|(region, found)| Some((region, (*found)?)));
        let own = own.filter(|(_, found)| found.rank == rank);
        own.reduce(|most, next| if next.1.time_s > most.1.time_s { next } else { most })
    }
}

fn group_rows(views: &Dispersion, given: Option<usize>) -> Option<GroupRows> {
    let with_time: Vec<usize> = (0..views.rows.len()).filter(|&at| views.regions[at].is_some()).collect();
    let vector = |&at: &usize| views.rows[at].map(|cell| cell.map_or(0.0, |cell| cell.mean_s)).to_vec();
    let vectors: Vec<Vec<f64>> = with_time.iter().map(vector).collect();
    let found = cluster::groups(&vectors, given)?;
    let mut of = vec![None; views.rows.len()];
    with_time.iter().zip(&found.of).for_each(|(&at, &group)| of[at] = Some(group as u32 + 1));
    Some(GroupRows { of, n: found.n as u32, silhouette: found.silhouette, given: given.is_some() })
}

fn patterns(model: &Model, views: &Dispersion) -> Vec<PatternRow> {
    let mut wanted: Vec<(Activity, RegionIdx)> = Vec::new();
    for activity in Activity::ALL {
        let times = views.rows.iter().enumerate().filter_map(|(at, row)| Some((at, row[activity as usize]?.mean_s)));
        let mut regions: Vec<(usize, f64)> = times.collect();
        regions.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        wanted.extend(regions.into_iter().take(MOST_PATTERNS).map(|(at, _)| (activity, at as RegionIdx)));
    }
    let row = |(activity, region)| {
        let times = RegionTimes::of(model, region);
        let times = times.activity(activity)?;
        Some(PatternRow {
            activity,
            region,
            least_s: times.iter().copied().fold(f64::INFINITY, f64::min),
            longest_s: times.iter().copied().fold(0.0, f64::max),
            levels: dispersion::pattern(times),
        })
    };
    wanted.into_iter().filter_map(row).collect()
}
