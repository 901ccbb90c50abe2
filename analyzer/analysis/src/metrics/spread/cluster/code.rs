//! The code that each rank runs: how often it calls MPI from where, and enters the regions that the program marks.

use std::collections::{BTreeMap, BTreeSet};

use lbprof_collector::{Activity, Operation};

use crate::model::{Model, RankModel, RegionIdx, SiteTotalsKey};
use crate::structure::code::symbols::{CodePlace, first_on_line};

/// A piece of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CodePiece {
    /// A marked region; it is run as often as it is entered.
    Region(RegionIdx),
    /// Calls of an operation at a place.
    Call {
        /// The innermost marked region around it, or the whole program.
        region: RegionIdx,
        /// Index in the model's call sites of the first one on the same source line, for compilers copy a call into the branches
        /// that lead to it; `None` where the recorder did not know it.
        site: Option<u32>,
        /// Number of the operation.
        operation: u16,
    },
}

/// The use that a rank makes of a piece of code.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CodeUsage {
    /// Index of the piece.
    pub piece: u32,
    /// Number of executions.
    pub times: f64,
    /// Its share of the rank's time, in 0..=1.
    pub share: f64,
}

/// The code that a rank runs, and what its time goes to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RankCode {
    /// By piece, ascending.
    pub runs: Vec<CodeUsage>,
    /// Shares of its time by activity.
    pub activities: [f64; Activity::COUNT],
}

/// The code of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunCode {
    /// The pieces.
    pub pieces: Vec<CodePiece>,
    /// For each piece the number of its function in its region; calls from functions of no known name are of one function.
    pub functions: Vec<u32>,
    /// Code by rank of the model.
    pub ranks: Vec<RankCode>,
    /// The ranks, as indices, of each communicator that has some of all ranks, but more than one.
    pub circles: Vec<Vec<u32>>,
}

/// The code of a run whose call sites are at `places`.
///
/// Polls ([`Operation::polls`]) do not count: how often they are made says how long a rank waits. Regions
/// that were found, not marked, do not either: they are named by the calls that do.
pub fn run_code(model: &Model, places: &[CodePlace]) -> RunCode {
    let lines = first_on_line(places);
    let marked = marked_regions(model);
    let found: Vec<bool> = model.regions.iter().map(|region| region.found).collect();
    let by_rank: Vec<OwnCodes> = model.ranks.iter().map(|rank| own_codes(rank, &lines, &marked, &found)).collect();
    let codes: BTreeSet<CodePiece> = by_rank.iter().flat_map(|own| own.keys().copied()).collect();
    let all: BTreeMap<CodePiece, u32> = codes.into_iter().zip(0..).collect();
    let mut ranks = Vec::with_capacity(model.ranks.len());
    for (own, rank) in by_rank.into_iter().zip(&model.ranks) {
        let mut activities = rank.inclusive(0).map(|seconds| share_of_rank(rank, seconds));
        activities[Activity::Recorder as usize] = 0.0;
        // Both maps are in the order of the codes, so that the pieces ascend.
        let runs = own.into_iter().filter_map(|(code, (times, share))| {
            let piece = *all.get(&code)?;
            Some(CodeUsage { piece, times, share })
        });
        ranks.push(RankCode { runs: runs.collect(), activities });
    }
    let pieces: Vec<CodePiece> = all.into_keys().collect();
    RunCode { functions: function_numbers(&pieces, places), pieces, ranks, circles: communicator_members(model) }
}

/// The code of a rank: how often, and for which share of its time.
type OwnCodes = BTreeMap<CodePiece, (f64, f64)>;

fn own_codes(rank: &RankModel, lines: &[u32], marked: &[RegionIdx], found: &[bool]) -> OwnCodes {
    let mut own = OwnCodes::new();
    for (region, totals) in &rank.totals {
        if totals.invocations == 0 || *region == 0 || found.get(*region as usize) != Some(&false) {
            continue;
        }
        let computation = rank.exclusive(*region)[Activity::Computation as usize];
        let region = marked.get(*region as usize).copied().unwrap_or(*region);
        let (times, part) = own.entry(CodePiece::Region(region)).or_default();
        (*times, *part) = (*times + totals.invocations as f64, *part + share_of_rank(rank, computation));
    }
    for (key, cell) in rank.sites.iter().filter(|(key, cell)| cell.calls > 0 && is_code_dependent(key)) {
        let site = key.site.map(|site| lines.get(site as usize).copied().unwrap_or(site));
        let region = marked.get(key.region as usize).copied().unwrap_or(0);
        let (times, part) = own.entry(CodePiece::Call { region, site, operation: key.operation }).or_default();
        (*times, *part) = (*times + cell.calls as f64, *part + share_of_rank(rank, cell.seconds));
    }
    own
}

/// Seconds as a share of all that is known of a rank's time, the recorder's own time left out.
fn share_of_rank(rank: &RankModel, seconds: f64) -> f64 {
    let all = rank.inclusive(0);
    let known = all.iter().sum::<f64>() - all[Activity::Recorder as usize];
    if known > 0.0 { seconds / known } else { 0.0 }
}

/// Returns whether the number of these calls depends on the code that is run, not on how long the rank waits.
fn is_code_dependent(key: &SiteTotalsKey) -> bool {
    !Operation::polls(key.operation) && key.activity != Activity::Recorder
}

/// For each region the innermost marked one that it is or lies in, or the whole program. Found regions and loops differ
/// between ranks of one program, so that a marked region is the same in all of them: the first one stands for it.
fn marked_regions(model: &Model) -> Vec<RegionIdx> {
    let mut first: BTreeMap<Vec<&str>, RegionIdx> = BTreeMap::new();
    let mut innermost = Vec::with_capacity(model.regions.len());
    for region in 0..model.regions.len() as RegionIdx {
        let chain = model.chain(region);
        let marked = chain.iter().filter_map(|&at| model.regions.get(at as usize)).filter(|region| !region.found);
        let names: Vec<&str> = marked.map(|region| region.name.as_str()).collect();
        let own = chain.iter().copied().find(|&at| model.regions.get(at as usize).is_some_and(|region| !region.found));
        // All but the whole program have a marked region around the found ones, if only that.
        innermost.push(*first.entry(names).or_insert(own.unwrap_or(0)));
    }
    innermost
}

fn function_numbers(pieces: &[CodePiece], places: &[CodePlace]) -> Vec<u32> {
    let mut numbers: BTreeMap<(RegionIdx, bool, String), u32> = BTreeMap::new();
    let mut of_piece = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let key = match piece {
            CodePiece::Region(region) => (*region, true, String::new()),
            CodePiece::Call { region, site, .. } => {
                let place = site.and_then(|site| places.get(site as usize));
                let name = place.map(|place| match place.function_label() {
                    "" => String::new(),
                    function => format!("{} {function}", place.module.as_deref().unwrap_or_default()),
                });
                (*region, false, name.unwrap_or_default())
            }
        };
        let next = numbers.len() as u32;
        of_piece.push(*numbers.entry(key).or_insert(next));
    }
    of_piece
}

/// Members of communicators that have more than one rank, but not all.
fn communicator_members(model: &Model) -> Vec<Vec<u32>> {
    let index: BTreeMap<u32, u32> = model.ranks.iter().zip(0..).map(|(rank, at)| (rank.rank, at)).collect();
    let mut circles = Vec::new();
    for group in model.communicators.iter().map(|comm| &comm.group) {
        // A damaged log may name any number of ranks.
        if group.len() <= 1 || group.len() >= u64::from(model.facts.n_ranks) {
            continue;
        }
        circles.push(group.iter().filter_map(|rank| index.get(&rank).copied()).collect());
    }
    circles
}
