//! Places regions, MPI calls and samples in the calling-context tree.
//!
//! A loop or a marked phase lies in the innermost function around all calls of MPI that are made in it, and around what samples show of its
//! computation:
//!
//! ```text
//!   main (app.c:9) ─ step (app.c:55) ─ exchange (halo.c:20)   Waitall     in the loop "iteration", in the phase "halo"
//!   main (app.c:9) ─ step (app.c:61)                          Allreduce   in the loop "iteration"
//!   main ─ step ─ force                                       a sample    in the loop "iteration"
//!
//!   main ─ step ─ iteration ┬ exchange ─ halo ─ Waitall
//!                           ├ Allreduce
//!                           └ force
//! ```

use std::collections::{BTreeMap, BTreeSet, HashMap};

use lbprof_collector::Activity;
use lbprof_collector::record::NONE;
use lbprof_thresholds::metrics::MAX_COMPUTATION_OUTSIDE_OF_LOOP;

use super::frames::{FrameMatch, SampleFrame, list_frames};
use super::{CodeNode, CodeNodeKind, NodeName};
use crate::model::ranks::samples::{SampledAt, SampledThreads};
use crate::model::replayed::replay_results::ReplayResults;
use crate::model::replayed::waits::WaitKey;
use crate::model::{Model, Region, RegionIdx, find_by_path, regions_around};
use crate::profile::operation_name;
use crate::structure::code::call_tree::CallTree;
use crate::structure::code::code_place::{Caller, CodePlace, base_name};
use crate::structure::code::sampled_code::SampledCode;
use crate::structure::code::symbols::ResolvedNames;

/// The name of the function that is the program, where nothing else is known.
const MAIN: &str = "main";

/// The tree while it grows.
pub struct CodeTreeBuilder<'a> {
    regions: &'a [Region],
    pub(super) calls: &'a CallTree,
    pub(super) code: &'a SampledCode,
    /// The innermost loop or marked phase that each region is or lies in; 0: none.
    phase_of: Vec<RegionIdx>,
    /// The call of the innermost function around all calls in each region; `None` where they share none.
    common: Vec<Option<u32>>,
    /// For each outermost call the first one in the same function.
    start_of: HashMap<u32, u32>,
    /// The name of the function in which all calls lie, if nothing calls it: it is the program.
    start: Option<&'a str>,
    /// The nodes, each after its parent; the first is the program.
    pub(super) nodes: Vec<CodeNode>,
    known: HashMap<(usize, CodeNodeKind), usize>,
    /// The nodes of calls of functions in phases.
    functions: HashMap<(RegionIdx, u32), usize>,
    /// The first node in another one with the name of a function.
    pub(super) named: HashMap<(usize, &'a str), usize>,
    /// The nodes of samples.
    pub(super) samples: HashMap<SampledAt, usize>,
}

impl<'a> CodeTreeBuilder<'a> {
    /// Creates the tree of the whole program alone.
    pub fn new(model: &'a Model, names: &'a ResolvedNames) -> CodeTreeBuilder<'a> {
        let (calls, code) = (&names.calls, &names.sampled);
        let regions = model.regions.as_slice();
        let mut phase_of: Vec<RegionIdx> = Vec::with_capacity(regions.len());
        for (at, region) in (0..).zip(regions) {
            let around = phase_of.get(region.parent as usize).copied().unwrap_or(0);
            phase_of.push(if !region.is_code { at } else { around });
        }
        let sites = model.ranks.iter().flat_map(|rank| &rank.sites);
        let by_first: BTreeSet<(RegionIdx, u32)> =
            sites.filter_map(|(key, _)| Some((key.region, calls.node_of(key.site?)?))).collect();
        let sites = model.ranks.iter().flat_map(|rank| &rank.other_sites);
        let mut seen = by_first.clone();
        seen.extend(sites.filter_map(|(key, _)| Some((key.region, calls.node_of(key.site?)?))));
        let start_of = find_starts(calls, &seen);
        let starts: BTreeSet<u32> = start_of.values().copied().collect();
        let first = starts.first().and_then(|&call| calls.node(call)).map(|node| node.place.function_label());
        let mut builder = CodeTreeBuilder {
            regions,
            calls,
            code,
            phase_of,
            common: find_common(regions, calls, &seen),
            start_of,
            start: (starts.len() <= 1).then_some(first.unwrap_or(MAIN)),
            nodes: vec![CodeNode::new(CodeNodeKind::Region(0), None)],
            known: HashMap::new(),
            functions: HashMap::new(),
            named: HashMap::new(),
            samples: HashMap::new(),
        };
        builder.widen(model);
        // Samples are in functions that call paths show, where they show them.
        for (region, leaf) in by_first {
            let around = calls.node(leaf).and_then(|node| node.parent);
            builder.around(builder.phase(region), around, leaf);
        }
        builder
    }

    /// Returns the nodes.
    pub fn nodes(&self) -> &[CodeNode] {
        &self.nodes
    }

    /// Takes the time that was added to each node, the nodes within left out.
    pub fn take_times(&mut self) -> Vec<(usize, f64)> {
        let taken = self.nodes.iter_mut().enumerate().map(|(at, node)| (at, std::mem::take(&mut node.alone).time_s));
        taken.filter(|(_, time_s)| *time_s > 0.0).collect()
    }

    /// Returns a node in words.
    pub fn name(&self, at: usize) -> NodeName {
        let kind = self.nodes[at].kind;
        let (name, call) = match kind {
            CodeNodeKind::Region(region) => {
                (self.regions.get(region as usize).map_or_else(String::new, |one| one.name.clone()), None)
            }
            CodeNodeKind::Sampled(function) if self.function_name(kind).is_empty() => {
                // Where a function has no name, its file has.
                let function = self.code.functions.get(function as usize);
                let file = function.and_then(|function| function.module.as_deref());
                (file.map_or("generated code", base_name).to_owned(), None)
            }
            CodeNodeKind::Start(_) | CodeNodeKind::Sampled(_) => (self.function_name(kind).to_owned(), None),
            CodeNodeKind::Function(call) => (self.function_name(kind).to_owned(), Some(call)),
            CodeNodeKind::Call(leaf, operation) => (format!("MPI_{}", operation_name(operation)), leaf),
            CodeNodeKind::State(state) => (state.name().to_owned(), None),
            CodeNodeKind::Activity(activity) => (activity.name().to_owned(), None),
        };
        let symbol = self.function_place(kind).and_then(|place| place.function.clone());
        let at = call.and_then(|call| self.calls.node(call)).map(|node| Caller::from_place(&node.place));
        NodeName { name, symbol, at }
    }

    /// Returns a place in the function that a node is, if call paths lead there.
    fn function_place(&self, kind: CodeNodeKind) -> Option<&'a CodePlace> {
        let node = match kind {
            CodeNodeKind::Start(start) => self.calls.node(start),
            CodeNodeKind::Function(call) => self.calls.callee(call),
            _ => None,
        };
        node.map(|node| &node.place)
    }

    /// Returns the name of the function that a node is; empty if it is none, or its name is not known.
    fn function_name(&self, kind: CodeNodeKind) -> &'a str {
        let sampled = if let CodeNodeKind::Sampled(function) = kind { Some(function as usize) } else { None };
        match sampled.and_then(|function| self.code.functions.get(function)) {
            Some(function) => function.name.as_str(),
            None => self.function_place(kind).map_or("", CodePlace::function_label),
        }
    }

    /// Returns the names of the functions down to a node, the outermost first; without those that are not known.
    pub(super) fn functions_down_to(&self, at: usize) -> Vec<&'a str> {
        let path = std::iter::successors(Some(at), |&at| self.nodes[at].parent);
        let mut names: Vec<&str> = path.map(|at| self.function_name(self.nodes[at].kind)).collect();
        names.extend(self.start);
        names.retain(|name| !name.is_empty());
        names.reverse();
        names
    }

    /// Returns the names of the functions down to the one that a call calls, likewise.
    fn functions_of_call(&self, call: u32) -> Vec<&'a str> {
        let path = self.calls.path(call);
        let outermost = path.first().and_then(|&call| self.calls.node(call));
        let callees = path.iter().filter_map(|&call| self.calls.callee(call));
        let mut names: Vec<&str> =
            outermost.into_iter().chain(callees).map(|node| node.place.function_label()).collect();
        names.retain(|name| !name.is_empty());
        names
    }

    /// Lets loops and phases lie in the functions around what samples show of their computation, too: all calls of MPI in a loop may be in one
    /// function that it calls, beside others that compute.
    fn widen(&mut self, model: &Model) {
        let mut sampled: BTreeMap<(RegionIdx, u32), f64> = BTreeMap::new();
        for (at, time) in model.ranks.iter().flat_map(|rank| rank.samples.times(SampledThreads::First)) {
            if at.activity == Activity::Computation && (at.region as usize) < self.regions.len() {
                *sampled.entry((at.region, at.node)).or_default() += time.seconds;
            }
        }
        let mut frames: HashMap<u32, Vec<SampleFrame>> = HashMap::new();
        // CPU time by node of the sampled code.
        let mut by_phase: BTreeMap<RegionIdx, Vec<(u32, f64)>> = BTreeMap::new();
        for ((region, node), seconds) in sampled {
            frames.entry(node).or_insert_with(|| list_frames(self.code, node));
            for around in regions_around(self.regions, region).into_iter().filter(|&at| at != 0 && self.phase(at) == at)
            {
                by_phase.entry(around).or_default().push((node, seconds));
            }
        }
        // Each after the one around it.
        for (phase, times) in by_phase {
            let mut common = self.common(phase);
            while let Some(call) = common.filter(|&call| self.is_beside(call, &times, &frames)) {
                common = self.calls.node(call).and_then(|node| node.parent);
            }
            let around = self.common(self.outer(phase)).filter(|_| self.outer(phase) != 0);
            let is_around = common.and_then(|call| self.calls.depth(call)) < around.and_then(|at| self.calls.depth(at));
            self.common[phase as usize] = if is_around { around } else { common };
        }
    }

    /// Returns whether a noteworthy part of computation is outside of the function that a call calls.
    fn is_beside(&self, call: u32, times: &[(u32, f64)], frames: &HashMap<u32, Vec<SampleFrame>>) -> bool {
        let functions = self.functions_of_call(call);
        let is_named = self.calls.callee(call).is_none_or(|node| !node.place.function_label().is_empty());
        let (mut all_s, mut beside_s) = (0.0, 0.0);
        for &(node, seconds) in times {
            let frames = frames.get(&node).map_or(&[][..], Vec::as_slice);
            // The calls that led to others are not all known.
            if frames.first().is_some_and(|outermost| functions.first() == Some(&outermost.name)) {
                let found = FrameMatch::find(&functions, frames);
                // A function without a name is none that samples name.
                let is_in_it = is_named || frames.get(found.frames).is_some_and(|next| next.name.is_empty());
                let is_within = found.functions == functions.len() && is_in_it;
                all_s += seconds;
                beside_s += if is_within { 0.0 } else { seconds };
            }
        }
        beside_s > MAX_COMPUTATION_OUTSIDE_OF_LOOP * all_s
    }

    /// The node of a region: of code between calls the function that it lies in.
    pub fn of_region(&mut self, region: RegionIdx) -> usize {
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
    pub fn of_call(&mut self, region: RegionIdx, leaf: Option<u32>, operation: u16) -> usize {
        let phase = self.phase(region);
        let around = match leaf.and_then(|leaf| Some((leaf, self.calls.node(leaf)?.parent))) {
            Some((leaf, around)) => self.around(phase, around, leaf),
            None => self.of_phase(phase),
        };
        self.child(around, CodeNodeKind::Call(leaf, operation))
    }

    /// Returns the node of a wait in a call of MPI. Before a rank's window begins, and after its end, it is in none.
    pub fn of_wait(&mut self, region: RegionIdx, wait: &WaitKey) -> usize {
        let leaf = Some(wait.site).filter(|&site| site != NONE).and_then(|site| self.calls.node_of(site));
        match wait.operation {
            0 => self.of_region(region),
            operation => self.of_call(region, leaf, operation),
        }
    }

    /// Finds the regions of a replay in the model, which has fewer if it is a part of the run.
    pub fn find_regions(&self, followed: &ReplayResults) -> Vec<RegionIdx> {
        find_by_path(&followed.regions, self.regions).into_iter().map(Option::unwrap_or_default).collect()
    }

    fn phase(&self, region: RegionIdx) -> RegionIdx {
        self.phase_of.get(region as usize).copied().unwrap_or(0)
    }

    fn common(&self, phase: RegionIdx) -> Option<u32> {
        self.common.get(phase as usize).copied().flatten()
    }

    fn outer(&self, phase: RegionIdx) -> RegionIdx {
        self.regions.get(phase as usize).map_or(0, |one| self.phase(one.parent))
    }

    fn of_phase(&mut self, phase: RegionIdx) -> usize {
        if phase == 0 {
            return 0;
        }
        let outer = self.outer(phase);
        let around = match self.common(phase) {
            Some(call) if outer == 0 || !self.is_outside(outer, call) => self.function(outer, call),
            _ => self.of_phase(outer),
        };
        self.child(around, CodeNodeKind::Region(phase))
    }

    fn function(&mut self, phase: RegionIdx, call: u32) -> usize {
        if let Some(&known) = self.functions.get(&(phase, call)) {
            return known;
        }
        let node = if phase != 0 && self.is_outside(phase, call) {
            self.function(self.outer(phase), call)
        } else {
            let around = self.calls.node(call).and_then(|node| node.parent);
            let around = self.around(phase, around, call);
            self.child(around, CodeNodeKind::Function(call))
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
                    Some(&start) if self.start.is_none() => self.child(within, CodeNodeKind::Start(start)),
                    _ => within,
                }
            }
        }
    }

    /// Returns whether a phase lies in the function that a call calls, which is on the path of all its calls.
    fn is_outside(&self, phase: RegionIdx, call: u32) -> bool {
        self.common(phase).is_some_and(|common| self.calls.depth(call) <= self.calls.depth(common))
    }

    pub(super) fn child(&mut self, parent: usize, kind: CodeNodeKind) -> usize {
        if let Some(&known) = self.known.get(&(parent, kind)) {
            return known;
        }
        let at = self.nodes.len();
        self.nodes.push(CodeNode::new(kind, Some(parent)));
        self.known.insert((parent, kind), at);
        let name = self.function_name(kind);
        if !name.is_empty() {
            self.named.entry((parent, name)).or_insert(at);
        }
        at
    }
}

/// Returns for each outermost call of those `seen` the first one in the same function.
fn find_starts(calls: &CallTree, seen: &BTreeSet<(RegionIdx, u32)>) -> HashMap<u32, u32> {
    let outermost: BTreeSet<u32> = seen.iter().filter_map(|&(_, leaf)| calls.path(leaf).first().copied()).collect();
    let mut by_function = HashMap::new();
    let starts = outermost.iter().filter_map(|&at| {
        let place = &calls.node(at)?.place;
        // Those that are not known are one of their module.
        let function = (&place.function, place.function.as_ref().and(place.file.as_ref()), &place.module);
        Some((at, *by_function.entry(function).or_insert(at)))
    });
    starts.collect()
}

/// Returns for each region the call of the innermost function around all calls of MPI in it, `seen` by region.
fn find_common(regions: &[Region], calls: &CallTree, seen: &BTreeSet<(RegionIdx, u32)>) -> Vec<Option<u32>> {
    // Outer `None`: nothing is called in it.
    let mut common: Vec<Option<Option<u32>>> = vec![None; regions.len()];
    for &(region, leaf) in seen.iter().filter(|(region, _)| (*region as usize) < regions.len()) {
        let around = calls.node(leaf).and_then(|node| node.parent);
        for at in regions_around(regions, region) {
            let own = &mut common[at as usize];
            *own = Some(match *own {
                Some(other) => calls.common(around, other),
                None => around,
            });
        }
    }
    // A region without calls lies in the same function as the region around it.
    for at in 1..regions.len() {
        if common[at].is_none() {
            common[at] = common[regions[at].parent as usize];
        }
    }
    common.into_iter().map(Option::flatten).collect()
}
