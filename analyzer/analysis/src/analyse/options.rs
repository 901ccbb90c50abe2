//! The settings of an analysis.

use std::time::Duration;

use super::passes::PassRunner;
use crate::profile::joined::joining::MAX_ITERATIONS;
use crate::select::scenario::AskedScenario;
use crate::structure::StructureOptions;
use crate::structure::code::code_readers::CodeReaders;
use crate::structure::code::symbols;

/// The settings of an analysis.
#[derive(Clone, Debug)]
pub struct AnalysisOptions {
    /// True if to look up functions and lines.
    pub symbols: bool,
    /// Processor time after which no more of them are looked up.
    pub names_within: Duration,
    /// The readers that look up call sites.
    pub code_readers: CodeReaders,
    /// The structure to find beyond what the program marks.
    pub wanted: StructureOptions,
    /// Requested what-if scenarios; `None`: ranks are not followed.
    pub asked: Option<Vec<AskedScenario>>,
    /// True if to keep what ranks did when, for a page.
    pub watch: bool,
    /// True if to look at calls and messages one by one, for what they add up to.
    pub statistics: bool,
    /// The process, or the processes, that make the passes over the records.
    pub passes: PassRunner,
    /// Steps of all ranks together in a segment of the third pass, for tests; `None`: as many as serve best.
    pub segment_steps: Option<usize>,
    /// Iterations of all ranks together above which the iterations of single ranks are joined in blocks, fewer for tests.
    pub most_iterations: usize,
}

impl Default for AnalysisOptions {
    fn default() -> Self {
        AnalysisOptions {
            symbols: true,
            names_within: symbols::MOST_TIME,
            code_readers: CodeReaders::default(),
            wanted: StructureOptions::default(),
            asked: Some(Vec::new()),
            watch: false,
            statistics: true,
            passes: PassRunner::default(),
            segment_steps: None,
            most_iterations: MAX_ITERATIONS,
        }
    }
}
