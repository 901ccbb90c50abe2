//! The tables of parallel regions and their threads, of runs that have some: docs/metrics.md §8.

use std::io::{self, Write};

use super::table::ColumnKind::{Count, Number, Real, Text};
use super::table::{ParquetCell, ParquetColumn};
use super::{TableDescription, optional_column, required_column};
use crate::AnalysedRun;
use lbprof_analysis::model::threads::{ParallelRegion, TeamSeconds};
use lbprof_analysis::structure::code_place::CodePlace;

/// Tables of parallel regions and their threads, of runs that have any.
pub const PARALLEL: [TableDescription; 2] = [REGIONS, THREADS];

/// Table with a row per parallel region, size of team and rank.
pub const REGIONS: TableDescription = TableDescription {
    name: "parallel_regions",
    row: "a parallel region with one size of team on a rank",
    columns: region_columns,
};

/// Table with a row per thread of these.
pub const THREADS: TableDescription = TableDescription {
    name: "parallel_threads",
    row: "a thread of a parallel region with one size of team on a rank",
    columns: thread_columns,
};

fn identity_columns() -> [ParquetColumn; 6] {
    [
        required_column("rank", Number, "The rank"),
        required_column("label", Text, "The name that the report gives to the region"),
        optional_column("file", Text, "Its source file"),
        optional_column("line", Number, "The line"),
        required_column("team", Number, "Threads of a team"),
        required_column(
            "of_first_thread",
            Number,
            "1; 0 where another thread than the one that called `MPI_Init` starts it",
        ),
    ]
}

fn region_columns() -> Vec<ParquetColumn> {
    let times = [
        required_column("instances", Count, "Instances"),
        required_column("elapsed_s", Real, "Elapsed seconds of all of them"),
        required_column(
            "useful_s",
            Real,
            "Seconds of work of all threads; the parts from here to `fork_join_s` add up to team × `elapsed_s`",
        ),
        required_column("mpi_s", Real, "Seconds in MPI, and in the recorder"),
        required_column("idle_for_mpi_s", Real, "Seconds at barriers while another thread is in MPI"),
        required_column("imbalance_s", Real, "Seconds at barriers because others work longer"),
        required_column(
            "mutex_s",
            Real,
            "Seconds of waiting because of critical sections, atomic operations and locks",
        ),
        required_column("ordered_s", Real, "Seconds of waiting because of ordered sections"),
        required_column("tasks_s", Real, "Seconds of waiting for tasks"),
        required_column(
            "fork_join_s",
            Real,
            "Seconds until threads have begun, and after the last one has come to the end",
        ),
        required_column("longest_s", Real, "The longest work of a thread, summed over instances"),
    ];
    identity_columns().into_iter().chain(times).collect()
}

fn thread_columns() -> Vec<ParquetColumn> {
    let times = [
        required_column("thread", Number, "Number of the thread in the team"),
        required_column("useful_s", Real, "Seconds of its work"),
        required_column("mpi_s", Real, "Seconds in MPI, and in the recorder"),
        required_column("waits_s", Real, "Seconds of its own waits for mutexes, ordered sections and tasks"),
        required_column("longest", Count, "Instances in which it works longest"),
    ];
    identity_columns().into_iter().chain(times).collect()
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
            let identity = identity_cells(run, rank.rank, region);
            regions.push_row(identity.iter().cloned().chain(time_cells(region)));
            for (number, member) in (0..).zip(&region.members) {
                let own = [
                    ParquetCell::Whole(number),
                    ParquetCell::Real(member.useful_s),
                    ParquetCell::Real(member.mpi_s),
                    ParquetCell::Real(member.waits_s),
                    ParquetCell::count(member.longest),
                ];
                threads.push_row(identity.iter().cloned().chain(own));
            }
        }
    }
    regions.finish()?;
    threads.finish()
}

fn identity_cells(run: &AnalysedRun, rank: u32, region: &ParallelRegion) -> [ParquetCell; 6] {
    let place =
        region.site.and_then(|site| run.places.get(site as usize)).map(CodePlace::of_region).unwrap_or_default();
    [
        ParquetCell::Whole(rank.into()),
        ParquetCell::text(&place.label()),
        place.file.as_deref().map_or(ParquetCell::Null, ParquetCell::text),
        ParquetCell::optional_number(place.line),
        ParquetCell::Whole(region.team.into()),
        ParquetCell::Whole(region.is_of_first.into()),
    ]
}

fn time_cells(region: &ParallelRegion) -> impl Iterator<Item = ParquetCell> {
    let TeamSeconds { useful_s, mpi_s, idle_for_mpi_s, imbalance_s, mutex_s, ordered_s, tasks_s, fork_join_s } =
        region.time;
    let times = [
        region.elapsed_s,
        useful_s,
        mpi_s,
        idle_for_mpi_s,
        imbalance_s,
        mutex_s,
        ordered_s,
        tasks_s,
        fork_join_s,
        region.longest_s,
    ];
    std::iter::once(ParquetCell::count(region.instances)).chain(times.map(ParquetCell::Real))
}
