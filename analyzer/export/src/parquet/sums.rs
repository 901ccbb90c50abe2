//! The tables that are made of a run's sums: ranks, regions, call paths, iterations.

use std::io::{self, Write};

use lbprof_collector::Activity;

use super::table::ColumnKind::{Count, Number, Real, Text};
use super::table::{ParquetCell, ParquetColumn, ParquetTable};
use super::{TableDescription, by_activity, optional_column, parallel, required_column};
use crate::AnalysedRun;
use crate::source_path::source_path;
use lbprof_analysis::model::{CallTotals as Sums, Model, RankModel, SiteTotalsKey};
use lbprof_analysis::profile::operation_name;
use lbprof_analysis::structure::symbols::CodePlace;

/// Tables made of the sums, which every run has.
pub const SUMS: [TableDescription; 4] = [RANKS, REGIONS, CALL_PATHS, ITERATIONS];

/// Table with a row per rank.
pub const RANKS: TableDescription = TableDescription { name: "ranks", row: "a rank", columns: rank_columns };

fn rank_columns() -> Vec<ParquetColumn> {
    let first = [
        required_column("rank", Number, "The rank in MPI_COMM_WORLD"),
        required_column("host", Text, "Its host"),
        required_column("begin_s", Real, "Start of its window, from the start of the run"),
        required_column("end_s", Real, "End of its window"),
    ];
    let last = [
        required_column("mpi_s", Real, "Seconds in MPI: all activities but computation and the recorder"),
        required_column("paused_s", Real, "Seconds for which recording was stopped"),
        required_column("calls", Count, "Its MPI calls, of all threads"),
        required_column("other_threads", Number, "Threads beside the first that called MPI"),
        required_column("other_threads_mpi_s", Real, "Seconds that they spent in MPI; in no other column"),
    ];
    first.into_iter().chain(by_activity()).chain(last).collect()
}

/// Table with a row per region and rank.
pub const REGIONS: TableDescription =
    TableDescription { name: "regions", row: "a region on a rank that entered it", columns: region_sum_columns };

fn region_sum_columns() -> Vec<ParquetColumn> {
    let first = [
        required_column("region", Text, "Path of the region; `main` is the whole program"),
        required_column("rank", Number, "The rank"),
        required_column("invocations", Count, "How often the rank entered it"),
    ];
    let inclusive = by_activity().map(|column| ParquetColumn {
        name: format!("inclusive_{}", column.name),
        meaning: "The same with the regions in it",
        ..column
    });
    first.into_iter().chain(by_activity()).chain(inclusive).collect()
}

/// Table with a row per call path, operation, region and rank.
pub const CALL_PATHS: TableDescription =
    TableDescription { name: "call_paths", row: "a call path, operation, region and rank", columns: call_paths };

fn call_paths() -> Vec<ParquetColumn> {
    vec![
        optional_column("call_path", Number, "Number of the call path, as in `calls` and `waits`; null: not known"),
        optional_column(
            "path",
            Text,
            "The calls of the source from the outermost on: `main (app.c:9); halo (halo.c:20)`",
        ),
        optional_column("label", Text, "The name that the report gives to the call site"),
        optional_column("function", Text, "The function that calls MPI"),
        optional_column("file", Text, "Its source file"),
        optional_column("line", Number, "The line"),
        optional_column("module", Text, "The executable or library"),
        required_column("operation", Text, "The MPI function"),
        required_column("activity", Text, "The activity that its time belongs to"),
        required_column("region", Text, "Path of the region in which it is called"),
        required_column("rank", Number, "The rank"),
        required_column("threads", Text, "`first`: the thread that called `MPI_Init`; `others`: all others together"),
        required_column("time_s", Real, "Seconds in these calls"),
        required_column("calls", Count, "How many they are"),
        required_column("sent_bytes", Count, "Bytes sent, written or contributed"),
        required_column("received_bytes", Count, "Bytes received, read or given"),
    ]
}

/// Table with a row per iteration and rank.
pub const ITERATIONS: TableDescription =
    TableDescription { name: "iterations", row: "an iteration of a region on a rank", columns: iteration_columns };

fn iteration_columns() -> Vec<ParquetColumn> {
    let first = [
        required_column("region", Text, "Path of the region whose iterations these are"),
        required_column(
            "iteration",
            Number,
            "Number of the iteration; of a block of joined ones (`IterationsJoined`), that of the block",
        ),
        required_column(
            "iterations",
            Number,
            "1; in a row of a block the number of its iterations, whose times are added up",
        ),
        required_column("rank", Number, "The rank"),
        optional_column("begin_s", Real, "When it began, from the start of the run; null: not known"),
        optional_column("end_s", Real, "When it ended; null: not known"),
        required_column(
            "computation_known",
            Number,
            "1; 0 where a part of its computation is counted outside of a loop that was found",
        ),
    ];
    first.into_iter().chain(by_activity()).collect()
}

/// Writes the tables of the sums of a run, or of a part of it: `open` opens the file of the table of a name.
///
/// Errors: opening or writing fails.
pub fn write_sums<W: Write + Send>(
    run: &AnalysedRun,
    mut open: impl FnMut(&'static str) -> io::Result<W>,
) -> io::Result<()> {
    let [mut ranks, mut regions, mut call_paths, mut iterations] = {
        let mut tables = Vec::with_capacity(SUMS.len());
        for about in SUMS {
            tables.push(about.create(open(about.name)?)?);
        }
        <[ParquetTable<W>; 4]>::try_from(tables).map_err(|_| io::Error::other("a table is missing"))?
    };
    let model = run.model;
    let paths: Vec<ParquetCell> = model.regions.iter().map(|region| ParquetCell::text(&region.path)).collect();
    let sites: Vec<[ParquetCell; 7]> = (0..).zip(run.places).map(|(at, place)| site_cells(run, at, place)).collect();
    for rank in &model.ranks {
        ranks.push_row(rank_row(rank));
        for row in region_rows(rank, model, &paths) {
            regions.push_row(row);
        }
        for (threads, all) in [("first", &rank.sites), ("others", &rank.other_sites)] {
            let threads = ParquetCell::text(threads);
            for totals in all {
                call_paths.push_row(site_row(rank, &threads, &sites, &paths, totals));
            }
        }
        for (region, series) in &rank.iterations {
            for (at, &number) in series.numbers.iter().enumerate() {
                let [begin, end] = [&series.begin_s, &series.end_s]
                    .map(|times| times.get(at).copied().map_or(ParquetCell::Null, ParquetCell::real));
                let first = [
                    paths[*region as usize].clone(),
                    ParquetCell::Whole(number.into()),
                    ParquetCell::Whole(series.iterations_at(at).into()),
                    ParquetCell::Whole(rank.rank.into()),
                    begin,
                    end,
                    ParquetCell::Whole(series.has_computation(number).into()),
                ];
                let seconds = Activity::ALL.map(|activity| ParquetCell::Real(series.seconds_at(activity, at)));
                iterations.push_row(first.into_iter().chain(seconds));
            }
        }
    }
    [ranks, regions, call_paths, iterations].into_iter().try_for_each(ParquetTable::finish)?;
    parallel::write_parallel_tables(run, open)
}

fn rank_row(rank: &RankModel) -> impl Iterator<Item = ParquetCell> {
    let seconds = rank.inclusive(0);
    let not_mpi = seconds[Activity::Computation as usize] + seconds[Activity::Recorder as usize];
    let first = [
        ParquetCell::Whole(rank.rank.into()),
        ParquetCell::text(&rank.host),
        ParquetCell::Real(rank.begin_s),
        ParquetCell::Real(rank.end_s),
    ];
    let last = [
        ParquetCell::Real(seconds.iter().sum::<f64>() - not_mpi),
        ParquetCell::Real(rank.paused_s),
        ParquetCell::count(rank.calls),
        ParquetCell::Whole(rank.other_threads.into()),
        ParquetCell::Real(rank.other_threads_mpi_s),
    ];
    first.into_iter().chain(seconds.map(ParquetCell::Real)).chain(last)
}

fn region_rows<'a>(
    rank: &'a RankModel,
    model: &'a Model,
    paths: &'a [ParquetCell],
) -> impl Iterator<Item = impl Iterator<Item = ParquetCell>> + 'a {
    let known = rank.inclusive.iter().filter(|(region, _)| (*region as usize) < model.regions.len());
    known.map(|&(region, inclusive)| {
        let invocations = ParquetCell::count(rank.totals(region).invocations);
        let first = [paths[region as usize].clone(), ParquetCell::Whole(rank.rank.into()), invocations];
        first.into_iter().chain(rank.exclusive(region).map(ParquetCell::Real)).chain(inclusive.map(ParquetCell::Real))
    })
}

/// The facts about a call site, the first columns of [`CALL_PATHS`].
fn site_cells(run: &AnalysedRun, at: u32, place: &CodePlace) -> [ParquetCell; 7] {
    let [function, file, module] = [Some(place.function_label()), place.file.as_deref(), place.module.as_deref()]
        .map(|text| text.filter(|text| !text.is_empty()).map_or(ParquetCell::Null, ParquetCell::text));
    [
        ParquetCell::Whole(at.into()),
        ParquetCell::text(&source_path(run.calls, at).unwrap_or_else(|| place.label())),
        ParquetCell::text(&place.label()),
        function,
        file,
        ParquetCell::optional_number(place.line),
        module,
    ]
}

fn site_row<'a>(
    rank: &RankModel,
    threads: &ParquetCell,
    sites: &'a [[ParquetCell; 7]],
    paths: &[ParquetCell],
    totals: &(SiteTotalsKey, Sums),
) -> impl Iterator<Item = ParquetCell> + use<'a> {
    let (key, sums) = totals;
    const UNKNOWN: [ParquetCell; 7] = [const { ParquetCell::Null }; 7];
    let place = key.site.and_then(|site| sites.get(site as usize)).unwrap_or(const { &UNKNOWN });
    let operation = match key.activity {
        Activity::Recorder => "lbprof".to_owned(),
        _ => format!("MPI_{}", operation_name(key.operation)),
    };
    let rest = [
        ParquetCell::text(&operation),
        ParquetCell::text(key.activity.name()),
        paths.get(key.region as usize).cloned().unwrap_or(ParquetCell::Null),
        ParquetCell::Whole(rank.rank.into()),
        threads.clone(),
        ParquetCell::Real(sums.seconds),
        ParquetCell::count(sums.calls),
        ParquetCell::count(sums.sent),
        ParquetCell::count(sums.received),
    ];
    place.iter().cloned().chain(rest)
}
