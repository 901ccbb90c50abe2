//! The tables of parallel regions and their threads, of runs that have some: docs/metrics.md §8.

use std::io::{self, Write};

use super::TableDescription;
use super::description::parquet_columns;
use crate::AnalysedRun;
use lbprof_analysis::model::ranks::threads::{ParallelRegion, RegionMember};
use lbprof_analysis::structure::code::code_place::CodePlace;

/// Tables of parallel regions and their threads, of runs that have any.
pub const PARALLEL: [TableDescription; 2] = [REGIONS, THREADS];

/// Table with a row per parallel region, size of team and rank.
pub const REGIONS: TableDescription = TableDescription {
    name: "parallel_regions",
    row: "a parallel region with one size of team on a rank",
    columns: || [identity_columns(), time_columns()].concat(),
};

/// Table with a row per thread of these.
pub const THREADS: TableDescription = TableDescription {
    name: "parallel_threads",
    row: "a thread of a parallel region with one size of team on a rank",
    columns: || [identity_columns(), member_columns()].concat(),
};

parquet_columns! { identity_columns, identity_cells(rank: u32, region: &ParallelRegion, place: &CodePlace);
    "rank" Number required = rank, "The rank";
    "label" Text required = place.label(), "The name that the report gives to the region";
    "file" Text optional = place.file.as_deref(), "Its source file";
    "line" Number optional = place.line, "The line";
    "team" Number required = region.team, "Threads of a team";
    "of_first_thread" Number required = region.is_of_first, "1; 0 where another thread than the one that called `MPI_Init` starts it";
}

parquet_columns! { time_columns, time_cells(region: &ParallelRegion);
    "instances" Count required = region.instances, "Instances";
    "elapsed_s" Real required = region.elapsed_s, "Elapsed seconds of all of them";
    "useful_s" Real required = region.time.useful_s, "Seconds of work of all threads; the parts from here to `fork_join_s` add up to team × `elapsed_s`";
    "mpi_s" Real required = region.time.mpi_s, "Seconds in MPI, and in the recorder";
    "idle_for_mpi_s" Real required = region.time.idle_for_mpi_s, "Seconds at barriers while another thread is in MPI";
    "imbalance_s" Real required = region.time.imbalance_s, "Seconds at barriers because others work longer";
    "mutex_s" Real required = region.time.mutex_s, "Seconds of waiting because of critical sections, atomic operations and locks";
    "ordered_s" Real required = region.time.ordered_s, "Seconds of waiting because of ordered sections";
    "tasks_s" Real required = region.time.tasks_s, "Seconds of waiting for tasks";
    "fork_join_s" Real required = region.time.fork_join_s, "Seconds until threads have begun, and after the last one has come to the end";
    "longest_s" Real required = region.longest_s, "The longest work of a thread, summed over instances";
}

parquet_columns! { member_columns, member_cells(number: u32, member: &RegionMember);
    "thread" Number required = number, "Number of the thread in the team";
    "useful_s" Real required = member.useful_s, "Seconds of its work";
    "mpi_s" Real required = member.mpi_s, "Seconds in MPI, and in the recorder";
    "waits_s" Real required = member.waits_s, "Seconds of its own waits for mutexes, ordered sections and tasks";
    "longest" Count required = member.longest, "Instances in which it works longest";
}

/// Writes both tables if the run has parallel regions: `open` opens the file of the table of a name.
///
/// Errors: opening or writing fails.
pub(super) fn write_parallel_tables<W: Write + Send>(
    run: &AnalysedRun,
    mut open: impl FnMut(&'static str) -> io::Result<W>,
) -> io::Result<()> {
    if run.model.ranks.iter().flat_map(|rank| &rank.parallel).all(|region| region.team <= 1) {
        return Ok(());
    }
    let mut regions = REGIONS.create(open(REGIONS.name)?)?;
    let mut threads = THREADS.create(open(THREADS.name)?)?;
    for rank in &run.model.ranks {
        for region in &rank.parallel {
            let place = region.site.and_then(|site| run.places.get(site as usize));
            let identity = identity_cells(rank.rank, region, &place.map(CodePlace::of_region).unwrap_or_default());
            regions.push_row(identity.clone().chain(time_cells(region)));
            for (number, member) in (0..).zip(&region.members) {
                threads.push_row(identity.clone().chain(member_cells(number, member)));
            }
        }
    }
    regions.finish()?;
    threads.finish()
}
