//! Clusters of ranks that run the same code.

use super::efficiency::EfficiencyRow;
use super::task_givers::find_task_givers;
use lbprof_analysis::metrics::spread::cluster;
use lbprof_analysis::metrics::spread::cluster::CodePiece;
use lbprof_analysis::metrics::spread::load_balance::{is_above_elapsed, phase_profile_ideal};
use lbprof_analysis::model::Model;
use lbprof_analysis::model::replayed::replay_results::RequestServer;
use lbprof_analysis::profile::operation_name;
use lbprof_analysis::structure::code::symbols::CodePlace;
use lbprof_thresholds::verdict::MIN_TIME_OF_CLUSTER_CODE;
use serde::Serialize;

const MOST_CODE: usize = 5;

/// Clusters of ranks; as JSON the method of clustering, and the ranks of no cluster.
#[derive(Clone, Debug, Default, Serialize, crate::JsonSchema)]
pub struct ClusterTable {
    /// A row per cluster, by number; a single one if all ranks run the same code.
    #[serde(skip)]
    pub rows: Vec<ClusterRow>,
    /// True if ranks run different code.
    #[serde(rename = "different_code")]
    pub differ: bool,
    /// True if all ranks that compute go through the same iterations, so that what one code takes longer another waits for; where they run different
    /// code and do not, balance over all of them means little.
    pub iterate_together: bool,
    /// Ranks of no cluster, one object each, as for a cluster: no other rank runs similar code.
    #[serde(rename = "of_no_cluster")]
    pub alone: Vec<ClusterRow>,
    /// Ranks of no cluster that hand out the work of all others by answering their requests.
    #[serde(skip)]
    pub servers: Vec<RequestServer>,
    /// By rank the number of its cluster; `None` for ranks of none.
    #[serde(skip)]
    pub of: Vec<Option<u32>>,
    /// Similarity of the ranks of one cluster: the fraction of the calls of each that the other does not make.
    pub radius: Option<f64>,
    /// Different profiles of calls that ranks have.
    pub profiles: usize,
    /// Number of ranks that were clustered, at most 500; the others, which are rarer, joined the nearest cluster.
    #[serde(rename = "profiles_clustered")]
    pub clustered: usize,
}

/// A cluster, or a rank of none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, crate::JsonSchema)]
pub struct ClusterRow {
    /// Its number, from 1; of a rank of none 0.
    pub id: u32,
    /// Number of ranks.
    pub rank_count: usize,
    /// Its ranks; the first 1,000 unless `--full` is given.
    pub ranks: Vec<u32>,
    /// Efficiencies of its ranks, as if there were no others; elapsed time is from the earliest start to the latest end of their windows.
    pub efficiency: EfficiencyRow,
    /// The main loop of its ranks: of the regions that they iterate, and that lie in no other, the one in which they compute most.
    pub iterations: Option<ClusterIterations>,
    /// The 5 pieces of code with most time that its ranks run at least twice as often as any other ranks; empty if all ranks run the same.
    pub own_code: Vec<OwnCodeSegment>,
}

/// The main loop of a cluster.
#[derive(Clone, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct ClusterIterations {
    /// Its path.
    pub region: String,
    /// Its iterations on any of the ranks.
    pub count: usize,
}

/// A piece of code that the ranks of one cluster alone run: a marked region, or calls of an operation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, crate::JsonSchema)]
pub struct OwnCodeSegment {
    /// Path of a marked region.
    pub region: Option<String>,
    /// The MPI function called, without `MPI_`.
    pub operation: Option<String>,
    /// The place of the call, as far as it is known.
    #[serde(flatten)]
    pub place: CodePlace,
    /// Its share of the time of the cluster's ranks, on average.
    pub share: f64,
}

impl ClusterRow {
    pub(crate) fn contains(&self, rank: u32) -> bool {
        self.ranks.binary_search(&rank).is_ok()
    }

    pub(crate) fn computation_s(&self) -> f64 {
        self.efficiency.times.avg_computation_s * self.ranks.len() as f64
    }
}

impl OwnCodeSegment {
    fn from_piece(model: &Model, places: &[CodePlace], piece: CodePiece, share: f64) -> Option<OwnCodeSegment> {
        let (site, operation) = match piece {
            CodePiece::Region(region) => {
                let region = Some(model.regions.get(region as usize)?.path.clone());
                return Some(OwnCodeSegment { region, share, ..OwnCodeSegment::default() });
            }
            CodePiece::Call { site, operation, .. } => (site, operation_name(operation)),
        };
        let place = site.and_then(|site| places.get(site as usize)).cloned().unwrap_or_default();
        Some(OwnCodeSegment { region: None, operation: Some(operation), place, share })
    }
}

impl ClusterTable {
    /// Clusters the ranks by the code that they run.
    pub fn new(model: &Model, places: &[CodePlace]) -> ClusterTable {
        let codes = cluster::run_code(model, places);
        let mut found = cluster::cluster_ranks(&codes);
        let givers = find_task_givers(model);
        for (of, _) in found.of.iter_mut().zip(&model.ranks).filter(|(_, rank)| givers.contains(&rank.rank)) {
            *of = None;
        }
        let servers = model.followed.iter().flat_map(|followed| &followed.on_demand.servers);
        let servers = servers.filter(|server| givers.contains(&server.rank)).copied().collect();
        let parts = found.parts();
        let own_code = if found.differ() { cluster::own_code(&codes, &parts) } else { Vec::new() };
        let own_code = own_code.into_iter().chain(std::iter::repeat(Vec::new()));
        let (mut rows, mut alone) = (Vec::new(), Vec::new());
        for (part, own) in parts.iter().zip(own_code) {
            let own = own.into_iter().filter(|own| own.share >= MIN_TIME_OF_CLUSTER_CODE).take(MOST_CODE);
            let own = own.filter_map(|own| {
                let piece = *codes.pieces.get(own.piece as usize)?;
                OwnCodeSegment::from_piece(model, places, piece, own.share)
            });
            let row = ClusterRow {
                id: part.cluster.map_or(0, |number| number as u32 + 1),
                rank_count: part.members.len(),
                ranks: part.members.iter().filter_map(|&at| Some(model.ranks.get(at)?.rank)).collect(),
                efficiency: EfficiencyRow::of_ranks(model, &part.members, 0),
                iterations: model.main_loop_of(&part.members).and_then(|(idx, count)| {
                    Some(ClusterIterations { region: model.regions.get(idx as usize)?.path.clone(), count })
                }),
                own_code: own.collect(),
            };
            if part.cluster.is_some() { rows.push(row) } else { alone.push(row) }
        }
        ClusterTable {
            differ: rows.len() + alone.len() > 1,
            rows,
            // An ideal time above the elapsed one shows that ranks do not wait for each other's iterations.
            iterate_together: givers.is_empty()
                && phase_profile_ideal(model, 0)
                    .is_some_and(|ideal| !is_above_elapsed(ideal.seconds, model.recorded_s())),
            alone,
            servers,
            of: found.of.iter().map(|of| of.map(|number| number as u32 + 1)).collect(),
            radius: (!codes.ranks.is_empty()).then_some(found.radius),
            profiles: found.profiles,
            clustered: found.clustered,
        }
    }

    /// Returns whether ranks run different code in separate iterations, so that balance across them means little.
    pub fn are_apart(&self) -> bool {
        self.differ && !self.iterate_together
    }
}
