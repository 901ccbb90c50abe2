//! The tables that are made of a run's sums: ranks, regions, call paths, iterations.

use std::io::{self, Write};

use lbprof_collector::Activity;

use super::table::{Cell, Column, Kind, Table};
use super::{About, SUMS, by_activity, column, optional};
use crate::Analysed;
use crate::source_path::source_path;
use lbprof_analysis::model::{CallTotals as Sums, Model, RankModel, SiteTotalsKey};
use lbprof_analysis::profile::operation_name;
use lbprof_analysis::structure::symbols::CodePlace;

/// One row per rank.
pub const RANKS: About = About { name: "ranks", row: "a rank", columns: ranks };

fn ranks() -> Vec<Column> {
    let first = [
        column("rank", Kind::Number, "The rank in MPI_COMM_WORLD"),
        column("host", Kind::Text, "Its host"),
        column("begin_s", Kind::Real, "Start of its window, from the start of the run"),
        column("end_s", Kind::Real, "End of its window"),
    ];
    let last = [
        column("mpi_s", Kind::Real, "Seconds in MPI: all activities but computation and the recorder"),
        column("paused_s", Kind::Real, "Seconds for which recording was stopped"),
        column("calls", Kind::Count, "Its MPI calls, of all threads"),
        column("other_threads", Kind::Number, "Threads beside the first that called MPI"),
        column("other_threads_mpi_s", Kind::Real, "Seconds that they spent in MPI; in no other column"),
    ];
    first.into_iter().chain(by_activity()).chain(last).collect()
}

/// One row per region and rank.
pub const REGIONS: About = About { name: "regions", row: "a region on a rank that entered it", columns: regions };

fn regions() -> Vec<Column> {
    let first = [
        column("region", Kind::Text, "Path of the region; `main` is the whole program"),
        column("rank", Kind::Number, "The rank"),
        column("invocations", Kind::Count, "How often the rank entered it"),
    ];
    let inclusive = by_activity().map(|column| Column {
        name: format!("inclusive_{}", column.name),
        meaning: "The same with the regions in it",
        ..column
    });
    first.into_iter().chain(by_activity()).chain(inclusive).collect()
}

/// One row per call path, operation, region and rank.
pub const CALL_PATHS: About =
    About { name: "call_paths", row: "a call path, operation, region and rank", columns: call_paths };

fn call_paths() -> Vec<Column> {
    vec![
        optional("call_path", Kind::Number, "Number of the call path, as in `calls` and `waits`; null: not known"),
        optional(
            "path",
            Kind::Text,
            "The calls of the source from the outermost on: `main (app.c:9); halo (halo.c:20)`",
        ),
        optional("label", Kind::Text, "The name that the report gives to the call site"),
        optional("function", Kind::Text, "The function that calls MPI"),
        optional("file", Kind::Text, "Its source file"),
        optional("line", Kind::Number, "The line"),
        optional("module", Kind::Text, "The executable or library"),
        column("operation", Kind::Text, "The MPI function"),
        column("activity", Kind::Text, "The activity that its time belongs to"),
        column("region", Kind::Text, "Path of the region in which it is called"),
        column("rank", Kind::Number, "The rank"),
        column("threads", Kind::Text, "`first`: the thread that called `MPI_Init`; `others`: all others together"),
        column("time_s", Kind::Real, "Seconds in these calls"),
        column("calls", Kind::Count, "How many they are"),
        column("sent_bytes", Kind::Count, "Bytes sent, written or contributed"),
        column("received_bytes", Kind::Count, "Bytes received, read or given"),
    ]
}

/// One row per iteration and rank.
pub const ITERATIONS: About =
    About { name: "iterations", row: "an iteration of a region on a rank", columns: iterations };

fn iterations() -> Vec<Column> {
    let first = [
        column("region", Kind::Text, "Path of the region whose iterations these are"),
        column("iteration", Kind::Number, "Number of the iteration"),
        column("rank", Kind::Number, "The rank"),
        optional("begin_s", Kind::Real, "When it began, from the start of the run; null: not known"),
        optional("end_s", Kind::Real, "When it ended; null: not known"),
        column(
            "computation_known",
            Kind::Number,
            "1; 0 where a part of its computation is counted outside of a loop that was found",
        ),
    ];
    first.into_iter().chain(by_activity()).collect()
}

/// Writes the tables of the sums of a run, or of a part of it: `open` opens the file of the table of a name.
///
/// Errors: those of opening and writing.
pub fn write_sums<W: Write + Send>(
    run: &Analysed,
    mut open: impl FnMut(&'static str) -> io::Result<W>,
) -> io::Result<()> {
    let [mut ranks, mut regions, mut call_paths, mut iterations] = {
        let mut tables = Vec::with_capacity(SUMS.len());
        for about in SUMS {
            tables.push(about.create(open(about.name)?)?);
        }
        <[Table<W>; 4]>::try_from(tables).map_err(|_| io::Error::other("a table is missing"))?
    };
    let model = run.model;
    let paths: Vec<Cell> = model.regions.iter().map(|region| Cell::text(&region.path)).collect();
    let sites: Vec<[Cell; 7]> = (0..).zip(run.places).map(|(at, place)| site_cells(run, at, place)).collect();
    for rank in &model.ranks {
        ranks.push_all(rank_row(rank));
        region_rows(rank, model, &paths).for_each(|row| regions.push_all(row));
        for (threads, all) in [("first", &rank.sites), ("others", &rank.other_sites)] {
            let threads = Cell::text(threads);
            all.iter()
                .for_each(|(key, sums)| call_paths.push_all(site_row(rank, &threads, (&sites, &paths), key, sums)));
        }
        for (region, series) in &rank.iterations {
            for (at, &number) in series.numbers.iter().enumerate() {
                let time = |times: &[f64]| times.get(at).copied().map_or(Cell::Null, Cell::real);
                let first = [
                    paths[*region as usize].clone(),
                    Cell::Whole(number.into()),
                    Cell::Whole(rank.rank.into()),
                    time(&series.begin_s),
                    time(&series.end_s),
                    Cell::Whole(series.has_computation(number).into()),
                ];
                let seconds = Activity::ALL.map(|activity| Cell::Real(series.seconds_at(activity, at)));
                iterations.push_all(first.into_iter().chain(seconds));
            }
        }
    }
    [ranks, regions, call_paths, iterations].into_iter().try_for_each(Table::finish)
}

fn rank_row(rank: &RankModel) -> impl Iterator<Item = Cell> {
    let seconds = rank.inclusive(0);
    let not_mpi = seconds[Activity::Computation as usize] + seconds[Activity::Recorder as usize];
    let first =
        [Cell::Whole(rank.rank.into()), Cell::text(&rank.host), Cell::Real(rank.begin_s), Cell::Real(rank.end_s)];
    let last = [
        Cell::Real(seconds.iter().sum::<f64>() - not_mpi),
        Cell::Real(rank.paused_s),
        Cell::count(rank.calls),
        Cell::Whole(rank.other_threads.into()),
        Cell::Real(rank.other_threads_mpi_s),
    ];
    first.into_iter().chain(seconds.map(Cell::Real)).chain(last)
}

fn region_rows<'a>(
    rank: &'a RankModel,
    model: &'a Model,
    paths: &'a [Cell],
) -> impl Iterator<Item = impl Iterator<Item = Cell>> + 'a {
    let known = rank.inclusive.iter().filter(|(region, _)| (*region as usize) < model.regions.len());
    known.map(|&(region, inclusive)| {
        let invocations = Cell::count(rank.totals(region).invocations);
        let first = [paths[region as usize].clone(), Cell::Whole(rank.rank.into()), invocations];
        first.into_iter().chain(rank.exclusive(region).map(Cell::Real)).chain(inclusive.map(Cell::Real))
    })
}

/// What is known of a call site, the first columns of [`CALL_PATHS`].
fn site_cells(run: &Analysed, at: u32, place: &CodePlace) -> [Cell; 7] {
    let text = |text: Option<&str>| text.filter(|text| !text.is_empty()).map_or(Cell::Null, Cell::text);
    [
        Cell::Whole(at.into()),
        Cell::text(&source_path(run.calls, at).unwrap_or_else(|| place.label())),
        Cell::text(&place.label()),
        text(Some(place.function_label())),
        text(place.file.as_deref()),
        Cell::known(place.line),
        text(place.module.as_deref()),
    ]
}

fn site_row<'a>(
    rank: &RankModel,
    threads: &Cell,
    (sites, paths): (&'a [[Cell; 7]], &[Cell]),
    key: &SiteTotalsKey,
    sums: &Sums,
) -> impl Iterator<Item = Cell> + use<'a> {
    const UNKNOWN: [Cell; 7] = [const { Cell::Null }; 7];
    let place = key.site.and_then(|site| sites.get(site as usize)).unwrap_or(const { &UNKNOWN });
    let operation = match key.activity {
        Activity::Recorder => "lbprof".to_owned(),
        _ => format!("MPI_{}", operation_name(key.operation)),
    };
    let rest = [
        Cell::text(&operation),
        Cell::text(key.activity.name()),
        paths.get(key.region as usize).cloned().unwrap_or(Cell::Null),
        Cell::Whole(rank.rank.into()),
        threads.clone(),
        Cell::Real(sums.seconds),
        Cell::count(sums.calls),
        Cell::count(sums.sent),
        Cell::count(sums.received),
    ];
    place.iter().cloned().chain(rest)
}
