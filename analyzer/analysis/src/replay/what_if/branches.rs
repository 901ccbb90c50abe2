//! Regions that ranks pass at one place of the program, however they are called.
//!
//! Code between calls that only some ranks pass is a branch. Where other ranks go on with other calls, after the same call or before it,
//! their code there is the same place:
//!
//! ```text
//!   rank 0    |barrier|====== A ======|send|         A ends with another call than B does, and both begin with the barrier; A begins
//!   rank 1    |barrier|B|recv|== C ==|send|          with another than C does, and both end with the send: A is where B and C are
//! ```
//!
//! To balance A with B alone would take what ranks compute in turn for imbalance.

use std::collections::{BTreeMap, BTreeSet};

use super::edges::{count_passes, is_edge};
use crate::model::{CodeEnds, Model, RegionIdx};

/// The places of a run that some ranks pass by other calls than others.
pub struct BranchGroups {
    /// The regions of each, ascending.
    places: Vec<Vec<RegionIdx>>,
}

impl BranchGroups {
    pub fn from_model(model: &Model) -> BranchGroups {
        let regions = 0..model.regions.len() as RegionIdx;
        let mut left: Vec<CodeBranch> = regions.filter_map(|region| CodeBranch::from_region(model, region)).collect();
        let parents: BTreeSet<RegionIdx> = left.iter().map(|branch| branch.parent).collect();
        let common: BTreeMap<RegionIdx, BTreeSet<String>> =
            parents.into_iter().map(|parent| (parent, calls_of_all(model, parent))).collect();
        let mut places = Vec::new();
        while let Some(first) = left.pop() {
            let common = &common[&first.parent];
            let mut place = vec![first];
            loop {
                let parent = place[0].parent;
                let steps = left.iter().filter(|branch| branch.parent == parent);
                // The calls after the branches of the place, and before them, among those that not all ranks make.
                let to = steps.clone().map(|branch| (&branch.from, &branch.to));
                let after = reach_calls(place.iter().map(|branch| &branch.to), to, common);
                let from = steps.map(|branch| (&branch.to, &branch.from));
                let before = reach_calls(place.iter().map(|branch| &branch.from), from, common);
                let found: Vec<CodeBranch> = left
                    .extract_if(.., |one| {
                        one.parent == parent && after.contains(&one.from) && before.contains(&one.to)
                            || place.iter().any(|known| one.is_beside(known))
                    })
                    .collect();
                if found.is_empty() {
                    break;
                }
                place.extend(found);
            }
            let mut regions: Vec<RegionIdx> = place.iter().map(|branch| branch.region).collect();
            regions.sort_unstable();
            places.push(regions);
        }
        join_same_code(model, &mut places);
        join_loop_edges(model, &mut places);
        BranchGroups { places }
    }

    /// Returns the regions at the place of a region, including it, ascending.
    pub fn branches_at(&self, region: RegionIdx) -> Vec<RegionIdx> {
        let found = self.places.iter().find(|place| place.contains(&region));
        found.cloned().unwrap_or_else(|| vec![region])
    }

    /// Returns whether some regions at a place lie in `region` and others do not.
    pub fn divides_place(&self, model: &Model, region: RegionIdx) -> bool {
        self.places.iter().any(|place| {
            let within = place.iter().filter(|&&inner| model.chain(inner).contains(&region)).count();
            (1..place.len()).contains(&within)
        })
    }
}

/// Joins the places of the same code in and around found loops: at the edges of one, because an iteration ends with a call, so that computation
/// before the first call, or after the last, lies around the loop; and in loops of ranks that go through different ones.
fn join_same_code(model: &Model, places: &mut Vec<Vec<RegionIdx>>) {
    let mut same: BTreeMap<(RegionIdx, &str), Vec<RegionIdx>> = BTreeMap::new();
    for (region, idx) in model.regions.iter().zip(0..).filter(|(region, _)| region.ends.is_some()) {
        let inner = enclosing_region(model, idx);
        let outer = if is_found_loop(model, inner) { enclosing_region(model, inner) } else { inner };
        same.entry((outer, region.name.as_str())).or_default().push(idx);
    }
    for regions in same.values().filter(|regions| regions.len() > 1) {
        for (at, &one) in regions.iter().enumerate() {
            for &other in &regions[at + 1..] {
                let (inner, others) = (enclosing_region(model, one), enclosing_region(model, other));
                let at_edge = is_found_loop(model, inner) != is_found_loop(model, others);
                let is_apart = inner != others
                    && !model.ranks.iter().any(|rank| count_passes(rank, one) > 0 && count_passes(rank, other) > 0);
                if at_edge || is_apart {
                    join_places(places, one, other);
                }
            }
        }
    }
}

/// Joins the code before the first call of a found loop, and after its last, with the code of the loop's iterations that ends, or begins, with
/// the same call, if it is about as long as an iteration: it is the body of one more.
fn join_loop_edges(model: &Model, places: &mut Vec<Vec<RegionIdx>>) {
    let mut in_function: BTreeMap<u32, Vec<(RegionIdx, &CodeEnds)>> = BTreeMap::new();
    for (region, idx) in model.regions.iter().zip(0..) {
        if let (Some(call), Some(ends)) = (region.call, &region.ends) {
            in_function.entry(call).or_default().push((idx, ends));
        }
    }
    for codes in in_function.values() {
        for &(body, CodeEnds { in_function: (from, to), .. }) in codes {
            let found_loop = enclosing_region(model, body);
            if !is_found_loop(model, found_loop) {
                continue;
            }
            let outside = codes.iter().filter(|(edge, ends)| {
                enclosing_region(model, *edge) == enclosing_region(model, found_loop)
                    && (ends.in_function.0 == *from || ends.in_function.1 == *to)
            });
            for &(edge, _) in outside.filter(|(edge, _)| is_edge(model, *edge, found_loop)) {
                join_places(places, body, edge);
            }
        }
    }
}

fn is_found_loop(model: &Model, region: RegionIdx) -> bool {
    model.regions.get(region as usize).is_some_and(|one| one.found && one.iterated)
}

fn join_places(places: &mut Vec<Vec<RegionIdx>>, one: RegionIdx, other: RegionIdx) {
    let mut joined = vec![one, other];
    joined.extend(places.extract_if(.., |place| place.contains(&one) || place.contains(&other)).flatten());
    joined.sort_unstable();
    joined.dedup();
    places.push(joined);
}

struct CodeBranch {
    region: RegionIdx,
    parent: RegionIdx,
    from: String,
    to: String,
    passed: Vec<u64>,
}

impl CodeBranch {
    fn from_region(model: &Model, region: RegionIdx) -> Option<CodeBranch> {
        let (parent, (from, to)) = code_ends(model, region)?;
        let passed: Vec<u64> = model.ranks.iter().map(|rank| count_passes(rank, region)).collect();
        passed.contains(&0).then_some(CodeBranch { region, parent, from, to, passed })
    }

    fn most_passes(&self) -> u64 {
        self.passed.iter().copied().max().unwrap_or(0)
    }

    /// Returns whether other ranks pass it as often at the same place: after the same call, or before it.
    fn is_beside(&self, other: &CodeBranch) -> bool {
        let is_near = self.parent == other.parent && (self.from == other.from || self.to == other.to);
        is_near
            && self.most_passes().abs_diff(other.most_passes()) <= 1
            && !(self.passed.iter().zip(&other.passed).any(|(own, others)| *own > 0 && *others > 0))
    }
}

/// Returns the calls that steps lead to from some calls, including these, without passing one of `common`.
fn reach_calls<'a>(
    from: impl Iterator<Item = &'a String>,
    steps: impl Iterator<Item = (&'a String, &'a String)> + Clone,
    common: &BTreeSet<String>,
) -> BTreeSet<String> {
    let mut reached: BTreeSet<String> = from.filter(|call| !common.contains(*call)).cloned().collect();
    loop {
        let next: Vec<String> = (steps.clone())
            .filter(|(from, to)| reached.contains(*from) && !reached.contains(*to) && !common.contains(*to))
            .map(|(_, to)| to.clone())
            .collect();
        if next.is_empty() {
            return reached;
        }
        reached.extend(next);
    }
}

/// Returns the calls at the ends of code in a region that all ranks make.
fn calls_of_all(model: &Model, parent: RegionIdx) -> BTreeSet<String> {
    let mut at: BTreeMap<String, Vec<RegionIdx>> = BTreeMap::new();
    for region in 0..model.regions.len() as RegionIdx {
        if let Some((_, (from, to))) = code_ends(model, region).filter(|(around, _)| *around == parent) {
            at.entry(from).or_default().push(region);
            at.entry(to).or_default().push(region);
        }
    }
    at.retain(|_, regions| model.ranks.iter().all(|rank| regions.iter().any(|&region| count_passes(rank, region) > 0)));
    at.into_keys().collect()
}

/// Returns the loop or marked region around a region of code between calls, and the calls in it before and after the code.
fn code_ends(model: &Model, region: RegionIdx) -> Option<(RegionIdx, (String, String))> {
    let ends = model.regions.get(region as usize)?.ends.clone()?;
    Some((enclosing_region(model, region), ends.in_region))
}

fn enclosing_region(model: &Model, region: RegionIdx) -> RegionIdx {
    model
        .chain(region)
        .into_iter()
        .skip(1)
        .find(|at| model.regions.get(*at as usize).is_none_or(|one| !one.is_function))
        .unwrap_or(0)
}
