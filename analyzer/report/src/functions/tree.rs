//! The tree of regions and the functions in them.

use std::collections::BTreeMap;

use super::SampledFunctions;
use super::data::{FunctionNode, FunctionNodeKind};
use lbprof_analysis::metrics::functions::CpuTimeComparison;
use lbprof_analysis::model::RegionIdx;

/// Most nodes of the tree.
const MOST_NODES: usize = 1_000;

/// A node while the tree is made.
struct TreeNode {
    parent: Option<usize>,
    kind: FunctionNodeKind,
    label: String,
    time: CpuTimeComparison,
}

impl SampledFunctions<'_> {
    pub(super) fn tree(&self) -> Vec<FunctionNode> {
        let (slowest, ..) = self.slowest(None);
        // Regions first, each after the one around it, then the functions in each.
        let mut nodes: Vec<TreeNode> = (0..)
            .zip(&self.model.regions)
            .map(|(at, region)| TreeNode {
                parent: (at != 0).then_some(region.parent as usize),
                kind: FunctionNodeKind::Region,
                label: region.name.clone(),
                time: CpuTimeComparison::default(),
            })
            .collect();
        for region in 0..self.model.regions.len() as RegionIdx {
            let own = self.times.by_node(Some(region), slowest);
            let inclusive = self.times.with_inner(own.clone());
            let mut place: BTreeMap<usize, usize> = BTreeMap::new();
            for (at, time) in inclusive.iter().enumerate().filter(|(_, time)| time.all.samples > 0) {
                let code = self.code.nodes[at];
                let parent = code.parent.and_then(|parent| place.get(&(parent as usize))).copied();
                nodes[region as usize].time.add(&own[at]);
                place.insert(at, nodes.len());
                let line = self.lines_of(Some(region), code.function).first().map(|line| line.line);
                nodes.push(TreeNode {
                    parent: Some(parent.unwrap_or(region as usize)),
                    kind: FunctionNodeKind::Function,
                    label: self.name(code.function, line).label(),
                    time: *time,
                });
            }
        }
        // Inner regions lie after the ones around them.
        for at in (1..self.model.regions.len()).rev() {
            let (time, parent) = (nodes[at].time, nodes[at].parent);
            if let Some(parent) = parent {
                nodes[parent].time.add(&time);
            }
        }
        self.listed(nodes)
    }

    /// The nodes with most CPU time, each after the one around it.
    fn listed(&self, nodes: Vec<TreeNode>) -> Vec<FunctionNode> {
        let mut order: Vec<(f64, usize)> = Vec::with_capacity(nodes.len());
        for (at, node) in nodes.iter().enumerate().filter(|&(at, node)| at == 0 || node.time.all.samples > 0) {
            order.push((self.mean(node.time.all.seconds).max(node.time.own.seconds), at));
        }
        order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut kept = vec![false; nodes.len()];
        for (_, at) in order.into_iter().take(MOST_NODES) {
            kept[at] = nodes[at].parent.is_none_or(|parent| kept[parent]);
        }
        let mut place = vec![None; nodes.len()];
        let mut rows = Vec::new();
        for (at, node) in nodes.into_iter().enumerate().filter(|&(at, _)| kept[at]) {
            place[at] = Some(rows.len());
            let excess = node.time.excess(self.times.ranks, self.times.period_s);
            rows.push(FunctionNode {
                parent: node.parent.and_then(|parent| place[parent]),
                kind: node.kind,
                label: node.label,
                mean_s: self.mean(node.time.all.seconds),
                slowest_s: node.time.own.seconds,
                excess_s: excess.seconds,
                excess_error_s: excess.error_s,
                significant: excess.is_significant(),
            });
        }
        rows
    }
}
