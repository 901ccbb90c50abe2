//! The two small files beside a trace: `.pcf` names what the numbers in it mean, `.row` names its lines.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use lbprof_collector::Operation;

use super::layout::ParaverLayout;
use super::operations::{ParaverCallEvent, TYPES, function_values};
use super::{DELAY_SOURCE, ITERATION, PARALLEL, REGION, TEAM, WAIT_STATE};
use lbprof_analysis::model::Model;
use lbprof_analysis::model::replayed::waits::WaitState;
use lbprof_analysis::profile::operation_name;
use lbprof_analysis::structure::code::symbols::CodePlace;
use lbprof_report::rows::words::escape_name;

/// States of a thread, as Paraver's tools number them, and their colours.
pub const STATES: [(u8, &str, [u8; 3]); 18] = [
    (0, "Idle", [117, 195, 255]),
    (1, "Running", [0, 0, 255]),
    (2, "Not created", [255, 255, 255]),
    (3, "Waiting a message", [255, 0, 0]),
    (4, "Blocking Send", [255, 0, 174]),
    (5, "Synchronization", [179, 0, 0]),
    (6, "Test/Probe", [0, 255, 0]),
    (7, "Scheduling and Fork/Join", [255, 255, 0]),
    (8, "Wait/WaitAll", [235, 0, 0]),
    (9, "Blocked", [0, 162, 0]),
    (10, "Immediate Send", [255, 0, 255]),
    (11, "Immediate Receive", [100, 100, 177]),
    (12, "I/O", [172, 174, 41]),
    (13, "Group Communication", [255, 144, 26]),
    (14, "Tracing Disabled", [2, 255, 177]),
    (15, "Others", [192, 224, 0]),
    (16, "Send Receive", [66, 66, 66]),
    (17, "Memory transfer", [255, 0, 96]),
];

/// The names in a `.pcf` file.
#[derive(Clone, Debug, Default)]
pub struct ConfigNames {
    regions: Vec<String>,
    iterated: Vec<u32>,
    ranks: Vec<u32>,
    /// Names of parallel regions by the call sites that stand for them, which may share one.
    parallel: BTreeMap<u32, String>,
}

impl ConfigNames {
    /// Collects the names of a model whose call sites are at `places`.
    pub fn from_model(model: &Model, places: &[CodePlace]) -> ConfigNames {
        let regions = model.regions.iter().map(|region| escape_name(&region.path)).collect();
        let mut iterated: Vec<u32> =
            model.ranks.iter().flat_map(|rank| &rank.iterations).map(|(region, _)| *region).collect();
        iterated.sort_unstable();
        iterated.dedup();
        let sites = model.ranks.iter().flat_map(|rank| &rank.parallel).filter_map(|region| region.site);
        let parallel = sites
            .filter_map(|site| Some((site, escape_name(&places.get(site as usize)?.of_region().label()))))
            .collect();
        let ranks = model.ranks.iter().map(|rank| rank.rank).collect();
        ConfigNames { regions, iterated, ranks, parallel }
    }

    fn parallel_names(&self) -> BTreeSet<&str> {
        self.parallel.values().map(String::as_str).collect()
    }

    /// Returns the value that stands for the parallel region of a call site, or the first value beyond the known ones.
    pub fn parallel_value(&self, site: u32) -> u32 {
        let names = self.parallel_names();
        let name = self.parallel.get(&site).map(String::as_str);
        names.iter().position(|known| Some(*known) == name).unwrap_or(names.len()) as u32 + 1
    }

    /// Writes `.pcf`.
    ///
    /// Errors: writing fails.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        write!(
            out,
            "DEFAULT_OPTIONS\n\nLEVEL               THREAD\nUNITS               NANOSEC\nLOOK_BACK           100\n\
             SPEED               1\nFLAG_ICONS          ENABLED\nNUM_OF_STATE_COLORS 1000\nYMAX_SCALE          37\n\n\n\
             DEFAULT_SEMANTIC\n\nTHREAD_FUNC          State As Is\n\n\nSTATES\n"
        )?;
        STATES.iter().try_for_each(|(state, name, _)| writeln!(out, "{state}    {name}"))?;
        writeln!(out, "\n\nSTATES_COLOR")?;
        STATES.iter().try_for_each(|(state, _, [r, g, b])| writeln!(out, "{state}    {{{r},{g},{b}}}"))?;
        let values = function_values();
        let mut functions: BTreeMap<u32, BTreeMap<u32, String>> = BTreeMap::new();
        for &operation in Operation::ALL.iter().filter(|&&operation| (operation as u16) < Operation::FIRST_MARKER) {
            let call = ParaverCallEvent::for_operation(operation as u16, &values);
            let name = format!("MPI_{}", operation_name(operation as u16));
            functions.entry(call.kind).or_default().insert(call.value, name);
        }
        for (kind, name) in TYPES {
            let all = functions.remove(&kind).unwrap_or_default();
            write_event_types(out, &[(kind, name)], all.into_iter().chain([(0, "Outside MPI".to_owned())]))?;
        }
        let collective = [
            (50_100_001, "Send Size in MPI Global OP"),
            (50_100_002, "Recv Size in MPI Global OP"),
            (50_100_003, "Root in MPI Global OP"),
            (50_100_004, "Communicator in MPI Global OP"),
        ];
        write_event_types(out, &collective, [])?;
        let regions = (1..).zip(self.regions.iter().cloned());
        write_event_types(out, &[(REGION, "Region")], regions.chain([(0, "End".to_owned())]))?;
        if !self.parallel.is_empty() {
            let names = self.parallel_names();
            let names = names.into_iter().chain(["not known"]).map(str::to_owned);
            write_event_types(out, &[(PARALLEL, "Parallel region")], (1..).zip(names).chain([(0, "End".to_owned())]))?;
            write_event_types(out, &[(TEAM, "Threads of a parallel region")], [(0, "End".to_owned())])?;
        }
        for &region in &self.iterated {
            let path = self.regions.get(region as usize).map_or("", String::as_str);
            write_event_types(
                out,
                &[(ITERATION + region, &format!("Iteration of {path}, plus 1"))],
                [(0, "End".to_owned())],
            )?;
        }
        let states = (1..).zip(WaitState::ALL).map(|(value, state)| (value, state.name().to_owned()));
        write_event_types(out, &[(WAIT_STATE, "Wait state")], states.chain([(0, "End".to_owned())]))?;
        let ranks = self.ranks.iter().map(|&rank| (rank.saturating_add(1), format!("rank {rank}")));
        write_event_types(out, &[(DELAY_SOURCE, "Rank that ended the wait")], ranks.chain([(0, "End".to_owned())]))
    }
}

fn write_event_types(
    out: &mut impl Write,
    types: &[(u32, &str)],
    values: impl IntoIterator<Item = (u32, String)>,
) -> io::Result<()> {
    writeln!(out, "\n\nEVENT_TYPE")?;
    types.iter().try_for_each(|(number, name)| writeln!(out, "9    {number}    {name}"))?;
    let mut values = values.into_iter().peekable();
    if values.peek().is_some() {
        writeln!(out, "VALUES")?;
    }
    values.try_for_each(|(value, name)| writeln!(out, "{value}      {name}"))
}

/// Writes `.row`.
///
/// Errors: writing fails.
pub fn write_rows(layout: &ParaverLayout, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "LEVEL CPU SIZE {}", layout.cpus())?;
    for (node, one) in (1..).zip(&layout.nodes) {
        (1..=one.cpus).try_for_each(|cpu| writeln!(out, "CPU {node}.{cpu}"))?;
    }
    writeln!(out, "\nLEVEL NODE SIZE {}", layout.nodes.len())?;
    layout.nodes.iter().try_for_each(|node| writeln!(out, "{}", escape_name(&node.host)))?;
    writeln!(out, "\nLEVEL TASK SIZE {}", layout.tasks.len())?;
    layout.tasks.iter().try_for_each(|task| writeln!(out, "rank {}", task.rank))?;
    let threads: u32 = layout.tasks.iter().map(|task| task.threads).sum();
    writeln!(out, "\nLEVEL THREAD SIZE {threads}")?;
    let names = (0..layout.tasks.len()).flat_map(|place| layout.line_names(place));
    names.into_iter().try_for_each(|name| writeln!(out, "{name}"))
}
