//! The tables that are made of a run's sums: ranks, regions, call paths, iterations.

use std::io::{self, Write};

use lbprof_collector::Activity;

use parquet::data_type::ByteArray;

use super::description::{by_activity, parquet_columns};
use super::table::{ParquetCell, ParquetTable};
use super::{ParquetColumn, TableDescription, parallel};
use crate::AnalysedRun;
use crate::source_path::source_path;
use lbprof_analysis::model::{CallTotals, IterationSeries, RankModel, Seconds, SiteTotalsKey};
use lbprof_analysis::profile::operation_name;
use lbprof_analysis::structure::code::symbols::CodePlace;

/// Tables made of the sums, which every run has.
pub const SUMS: [TableDescription; 4] = [RANKS, REGIONS, CALL_PATHS, ITERATIONS];

/// Table with a row per rank.
pub const RANKS: TableDescription = TableDescription {
    name: "ranks",
    row: "a rank",
    columns: || [rank_columns(), by_activity().collect(), rest_columns()].concat(),
};

parquet_columns! { rank_columns, rank_cells(rank: &RankModel);
    "rank" Number required = rank.rank, "The rank in MPI_COMM_WORLD";
    "host" Text required = rank.host.as_str(), "Its host";
    "begin_s" Real required = rank.begin_s, "Start of its window, from the start of the run";
    "end_s" Real required = rank.end_s, "End of its window";
}

parquet_columns! { rest_columns, rest_cells(rank: &RankModel);
    "mpi_s" Real required = mpi_seconds(&rank.inclusive(0)), "Seconds in MPI: all activities but computation and the recorder";
    "paused_s" Real required = rank.paused_s, "Seconds for which recording was stopped";
    "calls" Count required = rank.calls, "Its MPI calls, of all threads";
    "other_threads" Number required = rank.other_threads, "Threads beside the first that called MPI";
    "other_threads_mpi_s" Real required = rank.other_threads_mpi_s, "Seconds that they spent in MPI; in no other column";
}

fn mpi_seconds(seconds: &Seconds) -> f64 {
    seconds.iter().sum::<f64>() - (seconds[Activity::Computation as usize] + seconds[Activity::Recorder as usize])
}

/// Table with a row per region and rank.
pub const REGIONS: TableDescription = TableDescription {
    name: "regions",
    row: "a region on a rank that entered it",
    columns: || [region_columns(), by_activity().chain(by_activity().map(to_inclusive)).collect()].concat(),
};

parquet_columns! { region_columns, region_cells(rank: &RankModel, region: u32, path: ByteArray);
    "region" Text required = path, "Path of the region; `main` is the whole program";
    "rank" Number required = rank.rank, "The rank";
    "invocations" Count required = rank.totals(region).invocations, "How often the rank entered it";
}

fn to_inclusive(column: ParquetColumn) -> ParquetColumn {
    let name = format!("inclusive_{}", column.name);
    ParquetColumn { name, meaning: "The same with the regions in it", ..column }
}

/// Table with a row per call path, operation, region and rank.
pub const CALL_PATHS: TableDescription = TableDescription {
    name: "call_paths",
    row: "a call path, operation, region and rank",
    columns: || [site_columns(), total_columns()].concat(),
};

parquet_columns! { site_columns, site_cells(at: Option<u32>, path: Option<String>, place: &CodePlace);
    "call_path" Number optional = at, "Number of the call path, as in `calls` and `waits`; null: not known";
    "path" Text optional = path, "The calls of the source from the outermost on: `main (app.c:9); halo (halo.c:20)`";
    "label" Text optional = at.map(|_| place.label()), "The name that the report gives to the call site";
    "function" Text optional = Some(place.function_label()).filter(|text| !text.is_empty()), "The function that calls MPI";
    "file" Text optional = place.file.as_deref().filter(|text| !text.is_empty()), "Its source file";
    "line" Number optional = place.line, "The line";
    "module" Text optional = place.module.as_deref().filter(|text| !text.is_empty()), "The executable or library";
}

parquet_columns! { total_columns, total_cells(key: &SiteTotalsKey, sums: &CallTotals, region: Option<ByteArray>, rank: u32, threads: &str);
    "operation" Text required = operation_of(key), "The MPI function";
    "activity" Text required = key.activity.name(), "The activity that its time belongs to";
    "region" Text required = region, "Path of the region in which it is called";
    "rank" Number required = rank, "The rank";
    "threads" Text required = threads, "`first`: the thread that called `MPI_Init`; `others`: all others together";
    "time_s" Real required = sums.seconds, "Seconds in these calls";
    "calls" Count required = sums.calls, "How many they are";
    "sent_bytes" Count required = sums.sent, "Bytes sent, written or contributed";
    "received_bytes" Count required = sums.received, "Bytes received, read or given";
}

fn operation_of(key: &SiteTotalsKey) -> String {
    match key.activity {
        Activity::Recorder => "lbprof".to_owned(),
        _ => format!("MPI_{}", operation_name(key.operation)),
    }
}

/// Table with a row per iteration and rank.
pub const ITERATIONS: TableDescription = TableDescription {
    name: "iterations",
    row: "an iteration of a region on a rank",
    columns: || [iteration_columns(), by_activity().collect()].concat(),
};

parquet_columns! { iteration_columns, iteration_cells(series: &IterationSeries, at: usize, rank: u32, region: ByteArray);
    "region" Text required = region, "Path of the region whose iterations these are";
    "iteration" Number required = series.numbers[at], "Number of the iteration; of a block of joined ones (`IterationsJoined`), that of the block";
    "iterations" Number required = series.iterations_at(at), "1; in a row of a block the number of its iterations, whose times are added up";
    "rank" Number required = rank, "The rank";
    "begin_s" Real optional = series.begin_s.get(at).copied(), "When it began, from the start of the run; null: not known";
    "end_s" Real optional = series.end_s.get(at).copied(), "When it ended; null: not known";
    "computation_known" Number required = series.has_computation(series.numbers[at]), "1; 0 where a part of its computation is counted outside of a loop that was found";
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
    let paths: Vec<ByteArray> = model.regions.iter().map(|region| ByteArray::from(region.path.as_str())).collect();
    let mut sites = Vec::with_capacity(run.places.len());
    for (at, place) in (0..).zip(run.places) {
        let path = source_path(run.calls, at).unwrap_or_else(|| place.label());
        sites.push(site_cells(Some(at), Some(path), place));
    }
    let unknown = site_cells(None, None, &CodePlace::default());
    for rank in &model.ranks {
        ranks.push_row(rank_cells(rank).chain(to_cells(rank.inclusive(0))).chain(rest_cells(rank)));
        for &(region, inclusive) in &rank.inclusive {
            let Some(path) = paths.get(region as usize).cloned() else { continue };
            let seconds = to_cells(rank.exclusive(region)).chain(to_cells(inclusive));
            regions.push_row(region_cells(rank, region, path).chain(seconds));
        }
        for (threads, all) in [("first", &rank.sites), ("others", &rank.other_sites)] {
            for (key, sums) in all {
                let site = key.site.and_then(|site| sites.get(site as usize)).unwrap_or(&unknown).clone();
                let region = paths.get(key.region as usize).cloned();
                call_paths.push_row(site.chain(total_cells(key, sums, region, rank.rank, threads)));
            }
        }
        for (region, series) in &rank.iterations {
            for at in 0..series.numbers.len() {
                let seconds = Activity::ALL.map(|activity| series.seconds_at(activity, at));
                let first = iteration_cells(series, at, rank.rank, paths[*region as usize].clone());
                iterations.push_row(first.chain(to_cells(seconds)));
            }
        }
    }
    [ranks, regions, call_paths, iterations].into_iter().try_for_each(ParquetTable::finish)?;
    parallel::write_parallel_tables(run, open)
}

fn to_cells(seconds: Seconds) -> impl Iterator<Item = ParquetCell> {
    seconds.into_iter().map(ParquetCell::from)
}
