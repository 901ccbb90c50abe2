//! The contents of a report as data, made once from the model. [`text`] and [`json`] only format them.
//!
//! ```text
//!   run/ balance/ waiting/ code/ threads/ time/   tables: each a file with its rows and the function that makes them, and a field of [`Report`]
//!   losses/                                       the loss and its parts, from the tables
//!   findings/                                     answers, from losses and tables
//!   rows/                                         what all rows share: numbers, words, bounds
//!   text/ json/ html/                             forms; a table has mostly a file of the same name in text/tables/
//! ```
//!
//! The JSON is the rows themselves.
//!
//! Metrics are functions of the analysis (`metrics/`). This crate computes relations between rows: shares, excess over the mean, the largest finding.

#![forbid(unsafe_code)]

pub mod balance;
pub mod code;
pub mod findings;
pub mod losses;
pub mod rows;
pub mod run;
pub mod threads;
pub mod time;

pub mod html;
pub mod json;
pub mod text;

pub mod waiting;

use std::collections::BTreeSet;

#[cfg(not(feature = "schema"))]
pub(crate) use lbprof_no_schema::JsonSchema;
#[cfg(feature = "schema")]
pub(crate) use schemars::JsonSchema;

use lbprof_collector::ProblemKind;
use lbprof_collector::definition::EndReason;
use lbprof_collector::problem::Severity;

pub use balance::activities::ActivityRow;
pub use balance::clusters::{ClusterRow, ClusterTable};
pub use balance::core_states::CoreStateTable;
pub use balance::counters::CounterRow;
pub use balance::dispersion::DispersionRows;
pub use balance::efficiency::EfficiencyRow;
pub use balance::overheads::OverheadTable;
pub use code::call_sites::SiteRow;
pub use code::call_tree::CallTreeRow;
pub use code::functions::FunctionTable;
pub use code::regions::RegionRow;
use lbprof_analysis::model::{Model, RunFacts};
use lbprof_analysis::structure::code::symbols::ResolvedNames;
use losses::base_tables::BaseTables;
use losses::emptied_ranks::EmptiedRanks;
use losses::finding::Finding;
use losses::idle_master::IdleMaster;
pub use losses::last_task::AwaitedTask;
use losses::rare_delays::RareDelays;
pub use losses::uneven_groups::UnevenGroups;
pub use losses::verdict::Verdict;
use losses::{LossFacts, LossInputs};
pub(crate) use rows::numbers::{fraction_of, index_of_largest};
pub use run::data::DataFacts;
pub use run::doubts::ReportDoubts;
pub use run::lifetime::LifetimeTable;
pub use run::problems::ProblemRow;
pub use run::ranks::RankRow;
pub use threads::ThreadTable;
pub use threads::thread_pools::ThreadPoolRow;
pub use time::iteration::IterationRow;
pub use time::iterations::IterationTable;
pub use time::loops::{LoopRow, LoopTable};
pub use time::windows::WindowRow;
pub use waiting::blocking::BlockingTable;
pub use waiting::communication::CommunicationTable;
pub use waiting::what_if::WhatIfTable;

/// The contents of a report, in seconds.
#[derive(Clone, Debug)]
pub struct Report {
    /// Facts that all ranks agree on.
    pub facts: RunFacts,
    /// Facts about the data.
    pub data: DataFacts,
    /// Lifetime of the processes outside of the window, or `None` if it is not known, or a part of the run is selected.
    pub lifetime: Option<LifetimeTable>,
    /// Missing and doubtful data, the worst first.
    pub problems: Vec<ProblemRow>,
    /// Reservations that precede all figures.
    pub doubts: ReportDoubts,
    /// The verdict: losses and their places.
    pub verdict: Verdict,
    /// The master that hands out work to ranks that lose little, or `None` if there is none.
    pub idle_master: Option<IdleMaster>,
    /// The last tasks for which other workers wait, or `None` if they are not why ranks compute longest.
    pub awaited_task: Option<AwaitedTask>,
    /// Groups of ranks with different code, or `None` if they are not why ranks compute longest.
    pub uneven_groups: Option<UnevenGroups>,
    /// Ranks whose work goes to those that compute longest, or `None` if there are none.
    pub emptied_ranks: Option<EmptiedRanks>,
    /// Rare long delays in calls, or `None` if they are not most of the time in calls.
    pub rare_delays: Option<RareDelays>,
    /// The findings: the answer first, then the largest.
    pub findings: Vec<Finding>,
    /// Facts about the parts of the loss, which the findings are made of.
    pub loss_facts: LossFacts,
    /// The run's efficiencies.
    pub efficiency: EfficiencyRow,
    /// Activities of the cores of ranks with several threads, or `None` if there are none.
    pub threads: Option<ThreadTable>,
    /// Pools of sampled threads, e.g. of `std::thread`.
    pub thread_pools: Vec<ThreadPoolRow>,
    /// A row per rank, by number.
    pub ranks: Vec<RankRow>,
    /// A row per activity that occurs, the longest first.
    pub activities: Vec<ActivityRow>,
    /// Computation by what the system knows of it, or `None` if the kernel noted no switches.
    pub core_states: Option<CoreStateTable>,
    /// A row per region, an outer one before its inner ones.
    pub regions: Vec<RegionRow>,
    /// Costs of the phases against the same work on one rank, and waiting for other ranks' computation.
    pub overheads: OverheadTable,
    /// Why ranks wait; `None` where they were not followed.
    pub blocking: Option<BlockingTable>,
    /// Predicted times under other conditions, and the critical path.
    pub what_if: WhatIfTable,
    /// Loops found in the calls.
    pub loops: LoopTable,
    /// Differences between the ranks.
    pub dispersion: DispersionRows,
    /// Groups of ranks that run the same code.
    pub clusters: ClusterTable,
    /// The main loop, where one is known.
    pub iterations: Option<IterationTable>,
    /// A row per call site, operation and activity, the longest first.
    pub call_sites: Vec<SiteRow>,
    /// The program's functions as it calls them, loops and phases in them, down to the calls of MPI.
    pub call_tree: Vec<CallTreeRow>,
    /// Communication between ranks, and its sizes, or `None` if calls were not looked at one by one.
    pub communication: Option<CommunicationTable>,
    /// The run by windows of time; empty likewise.
    pub windows: Vec<WindowRow>,
    /// Functions that ranks compute in, or `None` if they were not sampled.
    pub functions: Option<FunctionTable>,
    /// The user's counters by region.
    pub counters: Vec<CounterRow>,
}

impl Report {
    /// Makes the report on `model`, with the names of its code.
    pub fn new(model: &Model, names: &ResolvedNames) -> Report {
        Report::with_iterations(model, names, time::iteration_groups::MOST_ROWS)
    }

    /// Makes the report. Iterations are listed one by one if there are at most `most_iterations`.
    pub fn with_iterations(model: &Model, names: &ResolvedNames, most_iterations: usize) -> Report {
        let places = names.places.as_slice();
        let base = BaseTables::new(model, names, most_iterations);
        let verdict = Verdict::from_tables(model, names, &base);
        let idle_master = IdleMaster::find(model, &base.clusters, &verdict);
        let has_idle_master = idle_master.is_some();
        let loss_facts = LossFacts::new(&LossInputs { model, places, verdict: &verdict, base: &base, has_idle_master });
        let BaseTables { efficiency, mut call_sites, mut regions, clusters, loops, overheads, .. } = base;
        let BaseTables { blocking, what_if, iterations, functions, .. } = base;
        let uneven_groups = UnevenGroups::find(&clusters, &verdict);
        let rare_delays = RareDelays::find(model, places, &call_sites);
        code::call_sites::add_waiting(&mut call_sites, blocking.as_ref(), model.ranks.len());
        let dispersion = DispersionRows::new(model);
        code::regions::add_dispersion(&mut regions, model, &dispersion);
        let problems = run::problems::problem_rows(model);
        let report = Report {
            facts: model.facts.clone(),
            data: DataFacts::new(model, &problems),
            lifetime: LifetimeTable::new(model),
            problems,
            doubts: ReportDoubts::new(model, &names.sampled),
            idle_master,
            awaited_task: AwaitedTask::find(model.followed.as_ref(), &verdict),
            uneven_groups,
            emptied_ranks: EmptiedRanks::find(model, &verdict),
            verdict,
            rare_delays,
            efficiency,
            threads: ThreadTable::new(model, names),
            thread_pools: threads::thread_pools::thread_pool_rows(model, names),
            ranks: run::ranks::rank_rows(model, places, blocking.as_ref(), &clusters, &dispersion),
            activities: balance::activities::activity_rows(model, &dispersion),
            core_states: CoreStateTable::new(model),
            call_tree: code::call_tree::call_tree_rows(model, names, &regions),
            regions,
            loss_facts,
            functions: functions.map(|functions| functions.table(blocking.as_ref())),
            blocking,
            what_if,
            overheads,
            loops,
            dispersion,
            clusters,
            iterations,
            call_sites,
            communication: waiting::communication::communication_table(model),
            windows: time::windows::window_rows(model),
            counters: balance::counters::counter_rows(model),
            findings: Vec::new(),
        };
        report.with_findings()
    }

    /// Returns whether the recorded ranks may have waited for processes that were not recorded.
    pub fn has_unrecorded_partners(&self) -> bool {
        let are_calls_missing = self.blocking.as_ref().is_some_and(|table| table.counts.not_recorded > 0);
        let are_ranks_missing = self.facts.selected.ranks.is_none() && self.ranks.len() < self.facts.n_ranks as usize;
        are_calls_missing || are_ranks_missing || self.problems.iter().any(|row| row.kind == ProblemKind::Spawned)
    }

    /// Returns the names of the hosts of `ranks`, which are ascending, without duplicates.
    pub fn hosts_of(&self, ranks: &[u32]) -> Vec<&str> {
        let rows = self.ranks.iter().filter(|row| ranks.binary_search(&row.rank).is_ok());
        let hosts: BTreeSet<&str> = rows.map(|row| row.host.as_str()).collect();
        hosts.into_iter().collect()
    }

    /// Returns whether ranks lacked a core for much of their time.
    pub fn has_crowded_cores(&self) -> bool {
        self.doubts.has_crowded_cores()
    }

    /// Returns whether the report gives no advice: the run failed, was interrupted, or is too short.
    pub fn is_only_described(&self) -> bool {
        let has_ended =
            self.ranks.iter().all(|row| matches!(row.end_reason, Some(EndReason::Finalize | EndReason::Exit)));
        !has_ended || self.doubts.forbids_advice()
    }

    /// Returns the severity of the worst problem.
    pub fn severity(&self) -> Option<Severity> {
        self.problems.iter().map(|problem| problem.kind.severity()).max()
    }
}
