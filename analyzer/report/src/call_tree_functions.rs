//! The functions in which nodes of the program's tree compute, by samples: those between the calls of MPI, which call paths do not show.

use std::collections::BTreeMap;

use lbprof_analysis::metrics::functions::FunctionTimes;
use lbprof_analysis::metrics::program_tree::{NodeSums, ProgramTree};
use lbprof_analysis::model::samples::SampledThreads;
use lbprof_analysis::model::{Model, RegionIdx};
use lbprof_analysis::structure::code_place::{base_name, short};
use lbprof_analysis::structure::sampled_code::SampledCode;
use lbprof_thresholds::verdict::MIN_FUNCTION_IN_CALL_TREE;

/// Most functions that are rows in a node.
const MOST_FUNCTIONS: usize = 8;

/// A function in which a node computes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ComputingFunction {
    /// Name without namespaces and parameters, or that of its file.
    pub name: String,
    /// Name as the symbol has it.
    pub full_name: String,
    /// Computation of all ranks in it.
    pub computation_s: f64,
}

/// Returns the functions in which each node of `tree` computes by itself, most time first. `alone` are the nodes' sums, in which those that are not
/// `kept` are part of the nodes around them.
///
/// Samples count CPU time, with an error: where they have more than the calls leave for computation, all are reduced.
pub(super) fn functions_by_node(
    model: &Model,
    code: &SampledCode,
    tree: &ProgramTree,
    alone: &[NodeSums],
    kept: &[bool],
) -> BTreeMap<usize, Vec<ComputingFunction>> {
    let Some(times) = FunctionTimes::new(model, code, SampledThreads::First) else { return BTreeMap::new() };
    let mut seconds: BTreeMap<usize, BTreeMap<u32, f64>> = BTreeMap::new();
    for (region, &node) in tree.of_region.iter().enumerate() {
        let mut node = node;
        while let Some(parent) = tree.nodes[node].parent.filter(|_| !kept[node]) {
            node = parent;
        }
        for (function, time) in times.by_function(Some(region as RegionIdx), None) {
            *seconds.entry(node).or_default().entry(function).or_default() += time.over.sum.seconds;
        }
    }
    let least_s = MIN_FUNCTION_IN_CALL_TREE * tree.inclusive.first().map_or(0.0, |sums| sums.time_s);
    let rows = seconds.into_iter().map(|(node, functions)| {
        let sampled_s: f64 = functions.values().sum();
        let reduction = (alone[node].computation_s / sampled_s).clamp(0.0, 1.0);
        let functions = functions.into_iter().filter_map(|(function, seconds)| {
            let function = code.functions.get(function as usize)?;
            let computation_s = reduction * seconds;
            // Where a function has no name, its file has.
            let full_name = match function.name.as_str() {
                "" => function.module.as_deref().map_or("generated code", base_name),
                name => name,
            };
            let (name, full_name) = (short(full_name).to_owned(), full_name.to_owned());
            (computation_s >= least_s).then_some(ComputingFunction { name, full_name, computation_s })
        });
        let mut functions: Vec<ComputingFunction> = functions.collect();
        functions.sort_by(|a, b| b.computation_s.total_cmp(&a.computation_s).then_with(|| a.name.cmp(&b.name)));
        functions.truncate(MOST_FUNCTIONS);
        (node, functions)
    });
    rows.collect()
}
