//! Clusters of ranks that run the same code.

use super::efficiency::EfficiencyRow;
use crate::metrics::cluster::{self, Code, Radius};
use crate::metrics::load_balance::{is_above_elapsed, phase_profile_ideal};
use crate::model::Model;
use crate::profile::operation_name;
use crate::structure::symbols::Place;

/// Most pieces of code that are named for a cluster.
const MOST_CODE: usize = 5;

/// Share of time from which on a piece of code is worth naming.
const LEAST_SHARE: f64 = 0.01;

/// Clusters of ranks.
#[derive(Clone, Debug, Default)]
pub struct Clusters {
    /// One row a cluster, by number; a single one where all ranks run the same code.
    pub rows: Vec<ClusterRow>,
    /// Whether all ranks that compute go through the same iterations, so that what one code takes longer another waits for.
    pub iterate_together: bool,
    /// Ranks of no cluster: no other rank runs similar code. One row each.
    pub alone: Vec<ClusterRow>,
    /// By rank the number of its cluster; `None` for ranks of none.
    pub of: Vec<Option<u32>>,
    /// How near ranks of one cluster are.
    pub radius: Option<Radius>,
    /// Different profiles of code that ranks have.
    pub profiles: usize,
    /// Those of them that were clustered; the ranks of others joined the nearest.
    pub clustered: usize,
}

/// A cluster, or a rank of none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClusterRow {
    /// Its number, from 1; 0 for a rank of no cluster.
    pub id: u32,
    /// Its ranks, ascending.
    pub ranks: Vec<u32>,
    /// Efficiencies of its ranks, as if there were no others.
    pub efficiency: EfficiencyRow,
    /// Path of its ranks' main loop, and how many iterations of it they have; `None` where none is known.
    pub iterations: Option<(String, usize)>,
    /// Code that its ranks run and others do not, or much less; the longest first, of much code only the first.
    pub own_code: Vec<OwnCodeRow>,
}

/// Code that the ranks of one cluster alone run.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnCodeRow {
    /// What it is.
    pub code: CodeName,
    /// Its share of their time, on average.
    pub share: f64,
}

/// A piece of code, by name.
#[derive(Clone, Debug, PartialEq)]
pub enum CodeName {
    /// Computation in the marked region with this path.
    Region(String),
    /// Calls of an operation at a place; `None` where that is not known.
    Call(String, Option<Place>),
}

impl Clusters {
    /// Of a run whose call sites are at `places`. `radius`: how near ranks of one cluster are, where the user says so.
    pub fn new(model: &Model, places: &[Place], radius: Option<f64>) -> Clusters {
        let codes = cluster::codes(model, places);
        let found = cluster::clusters(&codes, radius);
        let name = |piece: u32| match *codes.pieces.get(piece as usize)? {
            Code::Region(region) => Some(CodeName::Region(model.regions.get(region as usize)?.path.clone())),
            Code::Call { site, operation, .. } => {
                let place = site.and_then(|site| places.get(site as usize)).cloned();
                Some(CodeName::Call(operation_name(operation), place))
            }
        };
        let parts = found.parts();
        let own_code = if found.differ() { cluster::own_code(&codes, &parts) } else { Vec::new() };
        let own_code = own_code.into_iter().chain(std::iter::repeat(Vec::new()));
        let row = |(part, own): (&cluster::Part, Vec<cluster::OwnCode>)| {
            let own = own.into_iter().filter(|own| own.share >= LEAST_SHARE).take(MOST_CODE);
            ClusterRow {
                id: part.cluster.map_or(0, |number| number as u32 + 1),
                ranks: part.members.iter().filter_map(|&at| Some(model.ranks.get(at)?.rank)).collect(),
                efficiency: EfficiencyRow::of_ranks(model, &part.members, 0),
                iterations: model
                    .main_loop_of(&part.members)
                    .and_then(|(idx, count)| Some((model.regions.get(idx as usize)?.path.clone(), count))),
                own_code: own.filter_map(|own| Some(OwnCodeRow { code: name(own.piece)?, share: own.share })).collect(),
            }
        };
        let (rows, alone) = parts.iter().zip(own_code).map(row).partition(|row| row.id > 0);
        Clusters {
            rows,
            // An ideal time above the elapsed one shows that ranks do not wait for each other's iterations.
            iterate_together: phase_profile_ideal(model, 0)
                .is_some_and(|ideal| !is_above_elapsed(ideal.seconds, model.recorded_s())),
            alone,
            of: found.of.iter().map(|of| of.map(|number| number as u32 + 1)).collect(),
            radius: (!codes.ranks.is_empty()).then_some(found.radius),
            profiles: found.profiles,
            clustered: found.clustered,
        }
    }

    /// Nothing is known of `n_ranks` ranks.
    pub(super) fn none(n_ranks: usize) -> Clusters {
        Clusters { of: vec![None; n_ranks], iterate_together: true, ..Clusters::default() }
    }

    /// Whether ranks run different code.
    pub fn differ(&self) -> bool {
        self.rows.len() + self.alone.len() > 1
    }

    /// Whether ranks run different code in iterations of their own, so that balance across all of them means little.
    pub fn are_apart(&self) -> bool {
        self.differ() && !self.iterate_together
    }
}
