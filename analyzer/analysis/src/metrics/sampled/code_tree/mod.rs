//! The calling-context tree: the program's functions as it calls them, with the loops and marked phases in them, down to the calls of MPI, and
//! what time is spent, waited and lost in each. All that shows code in its context is a view of it: the call tree, its icicle, the callers of a
//! function, folded stacks.
//!
//! ```text
//!   call paths of MPI calls, regions   main ─ step ─ iteration ─ exchange ─ MPI_Waitall     its time, waiting, bytes
//!   samples                            main ─ step ─ iteration ─ force ─ exp                computation: an estimate
//!   the kernel's record of switches    main ─ step ─ iteration ─ asleep                     computation in no code
//! ```
//!
//! Where a call of MPI lies is known from its call path. Computation, the recorder's time and what others wait for are known by region: they are
//! of the function that the region is, or whose code it is. Samples show in which functions that computes. The remainder is the region's
//! own: so computation in a function that is no region, because less than 0.5 % of the time goes by in it, is of the function around it unless
//! samples show it.

mod builder;
mod frames;
mod node;
mod samples;

use std::collections::HashMap;

use lbprof_collector::Activity;
use lbprof_thresholds::metrics::MAX_ESTIMATE_IN_BALANCE;

use crate::metrics::sampled::functions::is_sampled;
use crate::model::{Model, RegionIdx};
use crate::structure::code::symbols::ResolvedNames;
pub use builder::CodeTreeBuilder;
pub use node::{CodeNode, CodeNodeKind, NodeBalance, NodeName, NodeSums};
use samples::ComputedTimes;

/// The tree, each node after the one around it; the first is the whole program.
pub struct CodeTree<'a> {
    builder: CodeTreeBuilder<'a>,
    /// The region that a node is, where it is one: then its computation by iteration is known.
    pub regions: HashMap<usize, RegionIdx>,
}

impl<'a> CodeTree<'a> {
    /// Makes the tree of `model`, whose code has these names.
    pub fn new(model: &'a Model, names: &'a ResolvedNames) -> CodeTree<'a> {
        let mut builder = CodeTreeBuilder::new(model, names);
        let of_region: Vec<usize> = (0..model.regions.len() as u32).map(|region| builder.of_region(region)).collect();
        add_waiting(model, &mut builder);
        let compared = find_longest(model);
        for (at, rank) in model.ranks.iter().enumerate() {
            let computed = builder.place_rank(rank, Some(at) == compared);
            find_most(&mut builder.nodes, rank.rank, computed);
        }
        sum_up(&mut builder.nodes, model.ranks.len());
        // Code between calls has no node of its own.
        let regions = of_region.into_iter().zip(0..).filter(|(_, at): &(usize, RegionIdx)| {
            let region = &model.regions[*at as usize];
            region.is_function || !region.is_code
        });
        CodeTree { regions: regions.collect(), builder }
    }

    /// Returns the nodes.
    pub fn nodes(&self) -> &[CodeNode] {
        self.builder.nodes()
    }

    /// Returns a node in words.
    pub fn name(&self, at: usize) -> NodeName {
        self.builder.name(at)
    }
}

/// Returns the index of the sampled rank that computes longest, the lowest of several.
fn find_longest(model: &Model) -> Option<usize> {
    let sampled = model.ranks.iter().enumerate().filter(|(_, rank)| is_sampled(rank));
    let computing = sampled.map(|(at, rank)| (at, rank.inclusive(0)[Activity::Computation as usize]));
    computing.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0))).map(|(at, _)| at)
}

fn add_waiting(model: &Model, builder: &mut CodeTreeBuilder) {
    let Some(followed) = &model.followed else { return };
    let regions = builder.find_regions(followed);
    for (key, sums) in &followed.blocking.waits {
        let waiting_s = (sums.waiting + sums.delay) as f64 * 1e-9;
        let region = regions.get(key.kind.region() as usize).copied().unwrap_or(0);
        let at = builder.of_wait(region, key);
        let is_first = followed.threads.get(key.thread as usize).is_some_and(|thread| thread.number == 0);
        // Waiting in a call is lost where it is caused.
        let in_call_s = if is_first && key.operation != 0 { waiting_s } else { 0.0 };
        builder.nodes[at].alone += NodeSums { waiting_s, lost_s: -in_call_s, ..NodeSums::default() };
    }
    for (&(_, kind), &ns) in &followed.blocking.causes {
        let caused_s = ns * 1e-9;
        let region = regions.get(kind.region() as usize).copied().unwrap_or(0);
        let at = builder.of_region(region);
        builder.nodes[at].alone += NodeSums { caused_s, lost_s: caused_s, ..NodeSums::default() };
    }
}

/// Looks in each node in which a rank computes whether it does so longer than the ranks before it.
fn find_most(nodes: &mut [CodeNode], rank: u32, mut computed: ComputedTimes) {
    // Inner nodes come last.
    while let Some((at, time_s)) = computed.pop_last() {
        let node = &mut nodes[at];
        if let Some(parent) = node.parent {
            *computed.entry(parent).or_default() += time_s;
        }
        if time_s > node.balance.max_s {
            node.balance = NodeBalance { max_s: time_s, slowest_rank: Some(rank), load_balance: None };
        }
    }
}

/// Adds up the sums of all nodes, and compares the longest computation in each with the mean of `n_ranks`.
fn sum_up(nodes: &mut [CodeNode], n_ranks: usize) {
    for at in (0..nodes.len()).rev() {
        let (own, parent) = (nodes[at].alone, nodes[at].parent);
        nodes[at].all += own;
        let all = nodes[at].all;
        if let Some(parent) = parent {
            nodes[parent].all += all;
        }
    }
    for node in nodes {
        // The most of many estimates is too much.
        if node.estimated_s > MAX_ESTIMATE_IN_BALANCE * node.all.computation_s {
            node.balance = NodeBalance::default();
        }
        let mean_s = node.all.computation_s / n_ranks.max(1) as f64;
        node.balance.load_balance = (node.balance.max_s > 0.0).then(|| mean_s / node.balance.max_s);
    }
}

#[cfg(test)]
mod tests {
    use lbprof_collector::{CoreState, Operation};

    use super::*;
    use crate::model::code::sites::CallSiteTable;
    use crate::model::ranks::samples::{CpuTime, OffCoreSums, SampledAt, SampledThreads};
    use crate::model::{CallSite, CallTotals, RankModel, Region, ResourceUsage, SiteTotalsKey};
    use crate::structure::code::call_tree::CallTree;
    use crate::structure::code::code_place::{CodePlace, SourcePosition};
    use crate::structure::code::sampled_code::{SampledFunction, SampledLink, SampledNode};

    /// main (9) calls step, which calls exchange in line 5, which calls MPI in line 20. Samples hit step, and force and exchange, which it calls.
    fn names() -> ResolvedNames {
        let calls = [("main", 9), ("step", 5), ("exchange", 20)];
        let place = |(function, line): (&str, u32)| CodePlace {
            function: Some(function.to_owned()),
            file: Some("app.c".to_owned()),
            line: Some(line),
            ..CodePlace::default()
        };
        let positions: Vec<SourcePosition> = calls.iter().map(|&call| vec![(place(call), None)]).collect();
        let site = |at: u32| CallSite {
            module: Some(0),
            function: None,
            offset: u64::from(at),
            column: None,
            parent: at.checked_sub(1),
            cut: false,
        };
        let mut sites = CallSiteTable::default();
        sites.call_sites = (0..3).map(site).collect();
        let mut names = ResolvedNames::default();
        names.calls = CallTree::new(&sites, |at| (&positions[at][0].0, &positions[at]));
        names.sampled.functions = ["main", "step", "force", "exchange"]
            .map(|name| SampledFunction { name: name.to_owned(), ..SampledFunction::default() })
            .to_vec();
        let node = |(function, parent)| SampledNode { function, parent, link: SampledLink::Called };
        names.sampled.nodes = [(0, None), (1, Some(0)), (2, Some(1)), (3, Some(1))].map(node).to_vec();
        names
    }

    /// A rank that computes for 10 s in a loop in a loop, as far as samples show in these nodes, and calls MPI in the inner one for 2 s.
    fn model(samples: &[(u32, u32)]) -> Model {
        let region = |parent: RegionIdx| Region { parent, found: true, ..Region::marked("loop") };
        let mut seconds = [0.0; Activity::COUNT];
        seconds[Activity::Computation as usize] = 10.0;
        let totals = |seconds: f64| CallTotals { seconds, calls: 1, ..CallTotals::default() };
        let (operation, activity) = (Operation::Barrier as u16, Activity::Synchronization);
        let mut rank = RankModel {
            cells: vec![((2, Activity::Computation), totals(10.0)), ((2, activity), totals(2.0))],
            inclusive: vec![(0, seconds), (1, seconds), (2, seconds)],
            sites: vec![(SiteTotalsKey { site: Some(2), operation, activity, region: 2 }, totals(2.0))],
            ..RankModel::default()
        };
        rank.samples.of[SampledThreads::First as usize].times = samples
            .iter()
            .map(|&(node, n)| {
                let mut time = CpuTime::default();
                for _ in 0..n {
                    time.add(&CpuTime::sample(1.0));
                }
                (SampledAt { region: 2, activity: Activity::Computation, node }, time)
            })
            .collect();
        Model { ranks: vec![rank], regions: vec![region(0), region(0), region(1)], ..Model::default() }
    }

    /// Paths of the nodes with time of their own, and that time.
    fn paths(model: &Model) -> Vec<(String, f64)> {
        let names = names();
        let tree = CodeTree::new(model, &names);
        let mut paths: Vec<(String, f64)> = Vec::new();
        for (at, node) in tree.nodes().iter().enumerate().filter(|(_, node)| node.alone.time_s > 0.0) {
            let path = std::iter::successors(Some(at), |&at| tree.nodes()[at].parent);
            let mut labels: Vec<String> = path.map(|at| tree.name(at).label(tree.nodes()[at].kind)).collect();
            labels.pop();
            labels.reverse();
            paths.push((labels.join(" > "), node.alone.time_s));
        }
        paths.sort_by(|a, b| a.0.cmp(&b.0));
        paths
    }

    fn expected(paths: &[(&str, f64)]) -> Vec<(String, f64)> {
        paths.iter().map(|&(path, seconds)| (path.to_owned(), seconds)).collect()
    }

    #[test]
    fn a_loop_lies_in_the_function_around_what_it_calls_and_computes() {
        // Without samples it may lie where all of its calls are made.
        let barrier = "MPI_Barrier (app.c:20)";
        let inner = format!("step > exchange > loop > loop > {barrier}");
        assert_eq!(paths(&model(&[])), expected(&[("step > exchange > loop > loop", 10.0), (&inner, 2.0)]));
        let found = paths(&model(&[(3, 8)]));
        assert_eq!(found, expected(&[("step > exchange > loop > loop", 10.0), (&inner, 2.0)]));
        let inner = format!("step > loop > loop > exchange > {barrier}");
        let found = paths(&model(&[(2, 6), (3, 3), (1, 1)]));
        let own = [
            ("step > loop > loop", 1.0),
            ("step > loop > loop > exchange", 3.0),
            (inner.as_str(), 2.0),
            ("step > loop > loop > force", 6.0),
        ];
        assert_eq!(found, expected(&own));
    }

    #[test]
    fn time_off_the_core_has_nodes() {
        let mut model = model(&[(2, 5)]);
        let places = vec![((2, Activity::Computation, CoreState::Asleep), 4.0)];
        model.ranks[0].samples.off_core = Some(OffCoreSums { places, known_s: 12.0 });
        model.ranks[0].usage = Some(ResourceUsage { thread_system_s: Some(2.0), ..ResourceUsage::default() });
        let found = paths(&model);
        assert!(found.contains(&("step > loop > loop > asleep".to_owned(), 4.0)), "{found:?}");
        assert!(found.contains(&("step > loop > loop > force".to_owned(), 5.0)), "{found:?}");
        let kernel = found.iter().find(|(path, _)| path.ends_with(" > kernel"));
        assert!(kernel.is_some_and(|(_, time_s)| (time_s - 1.0).abs() < 1e-9), "{found:?}");
        let names = names();
        let tree = CodeTree::new(&model, &names);
        let balance = |name: &str| {
            let at = (0..tree.nodes().len()).find(|&at| tree.name(at).name == name).unwrap();
            tree.nodes()[at].balance.load_balance
        };
        assert_eq!((balance("asleep"), balance("force")), (Some(1.0), None), "samples are an estimate");
        assert_eq!(tree.nodes()[0].all.time_s, 12.0);
    }
}
