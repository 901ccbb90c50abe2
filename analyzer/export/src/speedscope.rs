//! Sampled CPU time in the file format of speedscope (<https://www.speedscope.app/file-format-schema.json>): a profile for each rank, and one for its other threads.
//!
//! ```text
//! {"$schema": …, "shared": {"frames": [{"name": "main"}, {"name": "force"}, …]},
//!  "profiles": [{"type": "sampled", "name": "rank 0 (node0)", "unit": "seconds", "startValue": 0, "endValue": 1.4,
//!                "samples": [[0, 1], …], "weights": [0.9, …]}, …]}
//! ```
//!
//! Stacks are sums: when they were is not in the file, so that its view by time means nothing but an order.

use std::collections::HashMap;
use std::io::{self, Write};

use serde::Serialize;

use super::sampled_stacks::{stacks, whose};
use lbprof_analysis::model::Model;
use lbprof_analysis::model::samples::SampledThreads;
use lbprof_analysis::structure::sampled_code::SampledCode;
use lbprof_report::words::clean;

/// The schema that the file follows.
const SCHEMA: &str = "https://www.speedscope.app/file-format-schema.json";

#[derive(Serialize)]
struct SpeedscopeFile {
    #[serde(rename = "$schema")]
    schema: &'static str,
    exporter: &'static str,
    name: String,
    shared: SharedFrames,
    profiles: Vec<SpeedscopeProfile>,
}

#[derive(Default, Serialize)]
struct SharedFrames {
    frames: Vec<SpeedscopeFrame>,
}

#[derive(Serialize)]
struct SpeedscopeFrame {
    name: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SpeedscopeProfile {
    #[serde(rename = "type")]
    kind: &'static str,
    name: String,
    unit: &'static str,
    start_value: f64,
    end_value: f64,
    samples: Vec<Vec<usize>>,
    weights: Vec<f64>,
}

/// The frames by name. Each is written once.
#[derive(Default)]
struct FrameNumbers {
    shared: SharedFrames,
    numbers: HashMap<String, usize>,
}

impl FrameNumbers {
    fn number(&mut self, name: String) -> usize {
        let frames = &mut self.shared.frames;
        *self.numbers.entry(name).or_insert_with_key(|name| {
            frames.push(SpeedscopeFrame { name: clean(name) });
            frames.len() - 1
        })
    }
}

/// Writes the samples of `model`, which hit `code`.
///
/// Errors: those of writing.
pub fn write(model: &Model, code: &SampledCode, out: &mut dyn Write) -> io::Result<()> {
    let mut numbers = FrameNumbers::default();
    let mut profiles = Vec::new();
    let all = model.ranks.iter().flat_map(|rank| SampledThreads::ALL.map(|threads| (rank, threads)));
    for (rank, threads) in all.filter(|(rank, threads)| !rank.samples.times(*threads).is_empty()) {
        let (mut samples, mut weights) = (Vec::new(), Vec::new());
        for (stack, seconds) in stacks(model, code, rank, threads) {
            samples.push(stack.into_iter().map(|name| numbers.number(name)).collect());
            weights.push(seconds);
        }
        let whose = whose(threads).map_or_else(String::new, |whose| format!(", {whose}"));
        profiles.push(SpeedscopeProfile {
            kind: "sampled",
            name: clean(&format!("rank {} ({}){whose}", rank.rank, rank.host)),
            unit: "seconds",
            start_value: 0.0,
            end_value: weights.iter().sum(),
            samples,
            weights,
        });
    }
    let name = clean(&model.facts.command.join(" "));
    let exporter = concat!("lb-report ", env!("CARGO_PKG_VERSION"));
    lbprof_report::json::write_compact(
        &SpeedscopeFile { schema: SCHEMA, exporter, name, shared: numbers.shared, profiles },
        &mut *out,
    )?;
    writeln!(out)
}
