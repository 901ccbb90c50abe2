//! A run's figures → rows.

use rusqlite::types::Value;
use rusqlite::{Connection, params, params_from_iter};

use super::cells::to_sql_integer;
use super::{functions, id_text};
use crate::RunMetrics;
use crate::run::{CoreFigures, CountedFigures, RegionFigures};

/// Removes a run, and returns how many there were: 0 or 1.
pub(super) fn remove_run(connection: &Connection, number: u32) -> rusqlite::Result<usize> {
    connection.execute("DELETE FROM runs WHERE run = ?1", [number])
}

/// Adds a run, under `number` where it is to have a certain one, and returns its number.
pub(super) fn write_run(connection: &Connection, run: &RunMetrics, number: Option<u32>) -> rusqlite::Result<u32> {
    let number = write_head(connection, run, number)?;
    write_lists(connection, run, number)?;
    write_ranks(connection, run, number)?;
    for (at, region) in run.regions.iter().enumerate() {
        self::write_region(connection, run, number, at, region)?;
    }
    write_causes(connection, run, number)?;
    functions::write_functions(connection, run, number)?;
    if let Some(CountedFigures { instructions, cycles, seconds }) = run.counted {
        let row = params![number, instructions, cycles, seconds];
        connection.execute("INSERT INTO hardware VALUES (?1, ?2, ?3, ?4)", row)?;
    }
    if let Some(CoreFigures { cores, threads_per_rank, shares }) = run.cores {
        let mut row = vec![Value::from(number), to_sql_integer(cores).into(), threads_per_rank.into()];
        row.extend(shares.map(Value::from));
        let insert = "INSERT INTO cores VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
        connection.execute(insert, params_from_iter(row))?;
    }
    Ok(number)
}

fn write_head(connection: &Connection, run: &RunMetrics, number: Option<u32>) -> rusqlite::Result<u32> {
    let command = serde_json::Value::from(run.command.clone()).to_string();
    let times = &run.times;
    connection.execute(
        "INSERT INTO runs VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
        params![
            number,
            id_text(run.id),
            run.program(),
            command,
            to_sql_integer(run.started_unix_s),
            run.mpi,
            run.n_ranks,
            run.complete,
            times.elapsed_s,
            times.max_computation_s,
            times.avg_computation_s,
            times.t_ideal_s,
            run.ideal_by_replay,
            run.iterations.map(to_sql_integer),
            run.causes.is_some(),
        ],
    )?;
    let number = connection.last_insert_rowid();
    u32::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(0, number))
}

fn write_lists(connection: &Connection, run: &RunMetrics, number: u32) -> rusqlite::Result<()> {
    for (table, list) in [("hosts", &run.hosts), ("problems", &run.problems)] {
        let mut insert = connection.prepare(&format!("INSERT INTO {table} VALUES (?1, ?2, ?3)"))?;
        for (at, text) in list.iter().enumerate() {
            insert.execute(params![number, to_sql_integer(at as u64), text])?;
        }
    }
    if !run.label.is_empty() {
        connection.execute("INSERT INTO labels VALUES (?1, ?2)", params![number, run.label])?;
    }
    let mut insert = connection.prepare("INSERT INTO params VALUES (?1, ?2, ?3)")?;
    for (name, value) in &run.params {
        insert.execute(params![number, name, value])?;
    }
    Ok(())
}

fn write_ranks(connection: &Connection, run: &RunMetrics, number: u32) -> rusqlite::Result<()> {
    let mut insert = connection.prepare("INSERT INTO ranks VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?;
    for rank in &run.ranks {
        let bytes = to_sql_integer(rank.max_resident_bytes);
        insert.execute(params![number, rank.rank, rank.host, rank.computation_s, rank.blocked_s, bytes])?;
    }
    let mut insert = connection.prepare("INSERT INTO phases VALUES (?1, ?2, ?3, ?4)")?;
    for phase in &run.phases {
        for (rank, seconds) in run.ranks.iter().zip(&phase.seconds) {
            insert.execute(params![number, phase.phase.name(), rank.rank, seconds])?;
        }
    }
    Ok(())
}

fn write_region(
    connection: &Connection,
    run: &RunMetrics,
    number: u32,
    at: usize,
    region: &RegionFigures,
) -> rusqlite::Result<()> {
    let at = to_sql_integer(at as u64);
    let mut insert = connection.prepare_cached(
        "INSERT INTO regions VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)",
    )?;
    insert.execute(params![
        number,
        at,
        region.path,
        region.code.as_ref().map(|code| &code.function),
        region.code.as_ref().map(|code| &code.calls),
        region.code.as_ref().map(|code| code.ordinal),
        region.kind.name(),
        region.found,
        region.times.elapsed_s,
        region.times.max_computation_s,
        region.times.avg_computation_s,
        region.times.t_ideal_s,
        region.blocked_s,
        region.iterations.map(to_sql_integer),
        to_sql_integer(region.invocations),
        region.operations,
        region.quanta,
        to_sql_integer(region.max_resident_bytes),
        to_sql_integer(region.max_swapped_bytes),
    ])?;
    let mut insert = connection.prepare_cached("INSERT INTO region_times VALUES (?1, ?2, ?3, ?4, ?5)")?;
    for (activity, by_rank) in &region.activities {
        for (rank, seconds) in run.ranks.iter().zip(by_rank) {
            insert.execute(params![number, at, activity.name(), rank.rank, seconds])?;
        }
    }
    Ok(())
}

fn write_causes(connection: &Connection, run: &RunMetrics, number: u32) -> rusqlite::Result<()> {
    let mut insert = connection.prepare("INSERT INTO causes VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?;
    for (at, cause) in run.causes.iter().flatten().enumerate() {
        let (at, activity) = (to_sql_integer(at as u64), cause.activity.map(|activity| activity.name()));
        let class = cause.class.name();
        insert.execute(params![number, at, cause.rank, cause.region, activity, class, cause.caused_s])?;
    }
    Ok(())
}
