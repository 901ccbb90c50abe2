//! Code that the first thread of a rank runs outside of parallel regions, by samples.

use lbprof_collector::Activity;

use crate::model::ranks::samples::SampledThreads;
use crate::model::{RankModel, RegionIdx};
use crate::structure::code::code_place::is_outlined;
use crate::structure::code::sampled_code::SampledCode;

/// CPU time outside of parallel regions.
#[derive(Clone, Debug, PartialEq)]
pub struct SerialTime<'a> {
    /// The region of the program, without inner ones.
    pub region: RegionIdx,
    /// CPU time in seconds.
    pub seconds: f64,
    /// The name of the function that answers for it: of a library's function the one that called it.
    pub function: &'a str,
    /// The names of the function that ran, and of those around it and that called it, the innermost first.
    pub names: Vec<&'a str>,
}

/// Returns the CPU time that a rank's first thread computes outside of parallel regions, by place of the code.
pub fn serial_times<'a>(rank: &RankModel, code: &'a SampledCode) -> Vec<SerialTime<'a>> {
    let first = &rank.samples.of[SampledThreads::First as usize].times;
    // The first thread waits for others in regions alone.
    let computing = first.iter().filter(|(at, _)| at.activity == Activity::Computation && !code.is_wait_code(at.node));
    let times = computing.map(|(at, time)| SerialTime {
        region: at.region,
        seconds: time.seconds,
        function: code.functions.get(code.responsible(at.node) as usize).map_or("", |function| function.name.as_str()),
        names: enclosing_names(code, at.node),
    });
    times.filter(|time| !time.names.iter().any(|name| is_outlined(name))).collect()
}

/// Returns the name of the function at a node, and of those around it, the innermost first.
fn enclosing_names(code: &SampledCode, node: u32) -> Vec<&str> {
    let nodes = std::iter::successors(Some(node), |&node| code.nodes.get(node as usize)?.parent);
    nodes.filter_map(|node| code.function(node)).map(|function| function.name.as_str()).collect()
}
