//! Places regions and MPI calls in the program's tree.
//!
//! A loop or a marked phase lies in the innermost function around all calls of MPI that are made in it:
//!
//! ```text
//!   main (app.c:9) ─ step (app.c:55) ─ exchange (halo.c:20)   Waitall     in the loop "iteration", in the phase "halo"
//!   main (app.c:9) ─ step (app.c:61)                          Allreduce   in the loop "iteration"
//!
//!   main ─ step ─ iteration ┬ exchange ─ halo ─ Waitall
//!                           └ Allreduce
//! ```

use std::collections::{BTreeSet, HashMap};

use super::{ProgramNodeKind, ProgramTreeNode};
use crate::model::{Model, Region, RegionIdx, chain};
use crate::structure::call_tree::CallTree;

/// The tree while it grows.
pub(super) struct ProgramTreeBuilder<'a> {
    regions: &'a [Region],
    calls: &'a CallTree,
    /// Of each region the innermost loop or marked phase that it is or lies in; 0: none.
    phase_of: Vec<RegionIdx>,
    /// Of each region the call of the innermost function around all calls of MPI in it; `None` where they share none.
    common: Vec<Option<u32>>,
    /// For each outermost call the first one in the same function.
    start_of: HashMap<u32, u32>,
    /// True if all calls lie in one function that nothing calls: it is the program.
    starts_once: bool,
    /// The nodes, each after its parent; the first is the program.
    pub(super) nodes: Vec<ProgramTreeNode>,
    known: HashMap<(usize, ProgramNodeKind), usize>,
    /// The nodes of calls of functions in phases.
    functions: HashMap<(RegionIdx, u32), usize>,
}

impl<'a> ProgramTreeBuilder<'a> {
    pub(super) fn new(model: &'a Model, calls: &'a CallTree) -> ProgramTreeBuilder<'a> {
        let regions = model.regions.as_slice();
        let mut phase_of: Vec<RegionIdx> = Vec::with_capacity(regions.len());
        for (at, region) in (0..).zip(regions) {
            let around = phase_of.get(region.parent as usize).copied().unwrap_or(0);
            phase_of.push(if !region.is_code { at } else { around });
        }
        let sites = model.ranks.iter().flat_map(|rank| rank.sites.iter().chain(&rank.other_sites));
        let seen: BTreeSet<(RegionIdx, u32)> =
            sites.filter_map(|(key, _)| Some((key.region, calls.node_of(key.site?)?))).collect();
        let outermost: BTreeSet<u32> = seen.iter().filter_map(|&(_, leaf)| calls.path(leaf).first().copied()).collect();
        let mut by_function = HashMap::new();
        let start_of: HashMap<u32, u32> = outermost
            .iter()
            .filter_map(|&at| {
                let place = &calls.node(at)?.place;
                // Those that are not known are one of their module.
                let function = (&place.function, place.function.as_ref().and(place.file.as_ref()), &place.module);
                Some((at, *by_function.entry(function).or_insert(at)))
            })
            .collect();
        let starts_once = start_of.values().collect::<BTreeSet<_>>().len() <= 1;
        let common = common(regions, calls, &seen);
        let nodes = vec![ProgramTreeNode { step: ProgramNodeKind::Region(0), parent: None }];
        let (known, functions) = Default::default();
        ProgramTreeBuilder { regions, calls, phase_of, common, start_of, starts_once, nodes, known, functions }
    }

    /// The node of a region: of code between calls the function that it lies in.
    pub(super) fn of_region(&mut self, region: RegionIdx) -> usize {
        let Some(one) = self.regions.get(region as usize) else { return 0 };
        let phase = self.phase(region);
        match one.call {
            _ if phase == region => self.of_phase(region),
            // Code of the function that a phase lies in is of the phase.
            Some(call) if phase != 0 && self.is_outside(phase, call) => self.of_phase(phase),
            Some(call) if phase == 0 || self.common(phase).is_none_or(|common| self.calls.is_around(common, call)) => {
                self.function(phase, call)
            }
            Some(_) => self.of_phase(phase),
            None => self.of_region(one.parent),
        }
    }

    /// The node of a call of MPI at a node of the call tree, in a region; `None`: it is not known where.
    pub(super) fn of_call(&mut self, region: RegionIdx, leaf: Option<u32>, operation: u16) -> usize {
        let phase = self.phase(region);
        let around = match leaf.and_then(|leaf| Some((leaf, self.calls.node(leaf)?.parent))) {
            Some((leaf, around)) => self.around(phase, around, leaf),
            None => self.of_phase(phase),
        };
        self.child(around, ProgramNodeKind::Call(leaf, operation))
    }

    fn phase(&self, region: RegionIdx) -> RegionIdx {
        self.phase_of.get(region as usize).copied().unwrap_or(0)
    }

    fn common(&self, phase: RegionIdx) -> Option<u32> {
        self.common.get(phase as usize).copied().flatten()
    }

    /// The loop or phase around one.
    fn outer(&self, phase: RegionIdx) -> RegionIdx {
        self.regions.get(phase as usize).map_or(0, |one| self.phase(one.parent))
    }

    fn of_phase(&mut self, phase: RegionIdx) -> usize {
        if phase == 0 {
            return 0;
        }
        let outer = self.outer(phase);
        let around = match self.common(phase) {
            Some(call) => self.function(outer, call),
            None => self.of_phase(outer),
        };
        self.child(around, ProgramNodeKind::Region(phase))
    }

    /// The node of the function that a call calls, in a phase.
    fn function(&mut self, phase: RegionIdx, call: u32) -> usize {
        if let Some(&known) = self.functions.get(&(phase, call)) {
            return known;
        }
        let node = if phase != 0 && self.is_outside(phase, call) {
            self.function(self.outer(phase), call)
        } else {
            let around = self.calls.node(call).and_then(|node| node.parent);
            let around = self.around(phase, around, call);
            self.child(around, ProgramNodeKind::Function(call))
        };
        self.functions.insert((phase, call), node);
        node
    }

    /// Returns the node of a call by the function that the call `around` calls.
    fn around(&mut self, phase: RegionIdx, around: Option<u32>, call: u32) -> usize {
        match around {
            Some(around) if phase != 0 && self.is_outside(phase, around) => self.of_phase(phase),
            Some(around) => self.function(phase, around),
            None => {
                let within = self.of_phase(phase);
                match self.start_of.get(&call) {
                    Some(&start) if !self.starts_once => self.child(within, ProgramNodeKind::Start(start)),
                    _ => within,
                }
            }
        }
    }

    /// Returns whether a phase lies in the function that a call calls, which is on the path of all its calls.
    fn is_outside(&self, phase: RegionIdx, call: u32) -> bool {
        self.common(phase).is_some_and(|common| self.calls.depth(call) <= self.calls.depth(common))
    }

    fn child(&mut self, parent: usize, step: ProgramNodeKind) -> usize {
        *self.known.entry((parent, step)).or_insert_with(|| {
            self.nodes.push(ProgramTreeNode { step, parent: Some(parent) });
            self.nodes.len() - 1
        })
    }
}

/// Of each region the call of the innermost function around all calls of MPI in it, `seen` by region.
fn common(regions: &[Region], calls: &CallTree, seen: &BTreeSet<(RegionIdx, u32)>) -> Vec<Option<u32>> {
    // Outer `None`: nothing is called in it.
    let mut common: Vec<Option<Option<u32>>> = vec![None; regions.len()];
    for &(region, leaf) in seen.iter().filter(|(region, _)| (*region as usize) < regions.len()) {
        let around = calls.node(leaf).and_then(|node| node.parent);
        for at in chain(regions, region) {
            let own = &mut common[at as usize];
            *own = Some(match *own {
                Some(other) => calls.common(around, other),
                None => around,
            });
        }
    }
    // Where nothing is called, the function is that of the region around it.
    for at in 1..regions.len() {
        if common[at].is_none() {
            common[at] = common[regions[at].parent as usize];
        }
    }
    common.into_iter().map(Option::flatten).collect()
}
