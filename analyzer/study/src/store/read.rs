//! Rows → a run's figures. Nothing is trusted: an unknown name, a rank that is not there, a number out of range is an error.

use std::collections::BTreeMap;

use rusqlite::{Connection, Row};

use super::cells::{read_real, read_rows, read_time, wrong_cell};
use super::{StoredRun, functions, names, schema};
use crate::RunMetrics;
use crate::run::{CauseFigures, CoreFigures, CountedFigures, RankFigures, RegionFigures};
use lbprof_analysis::metrics::overhead::{PhaseTime, TimeCategory};
use lbprof_analysis::metrics::spread::load_balance::EfficiencyTimes;
use lbprof_analysis::model::CodeName;

pub(super) fn read_runs(connection: &Connection) -> rusqlite::Result<Vec<StoredRun>> {
    let mut all = read_heads(connection)?;
    for StoredRun { number, run } in &mut all {
        read_figures(connection, *number, run)?;
    }
    Ok(all)
}

/// Reads the runs without figures by rank, phase, region, cause or function.
pub(super) fn read_heads(connection: &Connection) -> rusqlite::Result<Vec<StoredRun>> {
    let mut select = connection.prepare(&schema::RUNS.select(""))?;
    let heads = select.query_map([], |row| Ok(StoredRun { number: row.get("run")?, run: read_head(row)? }))?;
    let mut all = heads.collect::<rusqlite::Result<Vec<StoredRun>>>()?;
    for StoredRun { number, run } in &mut all {
        read_lists(connection, *number, run)?;
    }
    Ok(all)
}

/// Hosts, problems, label and parameters of a run, what its processors counted, and what its cores do.
fn read_lists(connection: &Connection, number: u32, run: &mut RunMetrics) -> rusqlite::Result<()> {
    run.hosts = read_rows(connection, &schema::select_of_run("hosts"), number, |row| row.get("host"))?;
    run.problems = read_rows(connection, &schema::select_of_run("problems"), number, |row| row.get("problem"))?;
    let params = &schema::select_of_run("params");
    let params = read_rows(connection, params, number, |row| Ok((row.get("name")?, read_real(row, "value")?)))?;
    run.params = params.into_iter().collect();
    let labels = read_rows(connection, &schema::select_of_run("labels"), number, |row| row.get("label"))?;
    run.label = labels.into_iter().next().unwrap_or_default();
    let counted = read_rows(connection, &schema::select_of_run("hardware"), number, read_counted)?;
    run.counted = counted.first().copied();
    let cores = read_rows(connection, &schema::select_of_run("cores"), number, read_cores)?;
    run.cores = cores.first().copied();
    Ok(())
}

/// Reads the figures of a run by rank, phase, region, cause and function.
fn read_figures(connection: &Connection, number: u32, run: &mut RunMetrics) -> rusqlite::Result<()> {
    run.ranks = read_rows(connection, &schema::select_of_run("ranks"), number, read_rank)?;
    run.phases = read_phases(connection, number, &run.ranks)?;
    run.regions = read_regions(connection, number, &run.ranks)?;
    if let Some(causes) = &mut run.causes {
        *causes = read_rows(connection, &schema::select_of_run("causes"), number, read_cause)?;
    }
    run.functions = functions::read_functions(connection, number)?;
    Ok(())
}

fn read_counted(row: &Row) -> rusqlite::Result<CountedFigures> {
    let [instructions, cycles, seconds] = ["instructions", "cycles", "seconds"].map(|column| read_real(row, column));
    let (instructions, cycles, seconds) = (instructions?, cycles?, seconds?);
    match [instructions, cycles, seconds].iter().all(|value| value.is_finite() && *value > 0.0) {
        true => Ok(CountedFigures { instructions, cycles, seconds }),
        false => Err(wrong_cell("a count is not above 0, or no number".into())),
    }
}

fn read_cores(row: &Row) -> rusqlite::Result<CoreFigures> {
    let mut shares: [Option<f64>; _] = [None; CoreFigures::NAMES.len()];
    for (share, name) in shares.iter_mut().zip(CoreFigures::NAMES) {
        *share = row.get(name)?;
    }
    if !shares.iter().flatten().all(|share| share.is_finite() && *share >= 0.0) {
        return Err(wrong_cell("an efficiency is below 0, or no number".into()));
    }
    Ok(CoreFigures { cores: read_unsigned(row, "cores")?, threads_per_rank: row.get("threads_per_rank")?, shares })
}

fn read_head(row: &Row) -> rusqlite::Result<RunMetrics> {
    let id: String = row.get("id")?;
    let command: String = row.get("command")?;
    let followed: bool = row.get("followed")?;
    let program: String = row.get("program")?;
    let run = RunMetrics {
        id: u64::from_str_radix(&id, 16).map_err(|error| wrong_cell(error.into()))?,
        command: serde_json::from_str(&command).map_err(|error| wrong_cell(error.into()))?,
        started_unix_s: read_unsigned(row, "started_unix_s")?,
        mpi: row.get("mpi")?,
        n_ranks: row.get("n_ranks")?,
        complete: row.get("complete")?,
        times: read_times(row)?,
        ideal_by_replay: row.get("ideal_by_replay")?,
        iterations: whole_or_none(row, "iterations")?,
        causes: followed.then(Vec::new),
        ..RunMetrics::default()
    };
    let counted_for = Some(program).filter(|program| program != run.program());
    Ok(RunMetrics { counted_for, ..run })
}

fn read_rank(row: &Row) -> rusqlite::Result<RankFigures> {
    Ok(RankFigures {
        rank: row.get("rank")?,
        host: row.get("host")?,
        computation_s: read_real(row, "computation_s")?,
        blocked_s: row.get("blocked_s")?,
        max_resident_bytes: read_unsigned(row, "max_resident_bytes")?,
    })
}

fn read_phases(connection: &Connection, number: u32, ranks: &[RankFigures]) -> rusqlite::Result<Vec<PhaseTime>> {
    let mut found: BTreeMap<TimeCategory, Vec<f64>> = BTreeMap::new();
    let select = &schema::select_of_run("phases");
    let cells = read_rows(connection, select, number, |row| {
        Ok((names::read_phase_name(row)?, row.get("rank")?, read_seconds(row)?))
    })?;
    for (phase, rank, seconds) in cells {
        push_rank_seconds(found.entry(phase).or_default(), ranks, rank, seconds)?;
    }
    found.values().try_for_each(|by_rank| of_all(by_rank, ranks))?;
    let in_order = TimeCategory::ALL.into_iter();
    Ok(in_order.filter_map(|phase| Some(PhaseTime { phase, seconds: found.remove(&phase)? })).collect())
}

fn read_regions(connection: &Connection, number: u32, ranks: &[RankFigures]) -> rusqlite::Result<Vec<RegionFigures>> {
    let select = &schema::select_of_run("regions");
    let regions = read_rows(connection, select, number, |row| Ok((row.get::<_, i64>("region")?, read_region(row)?)))?;
    let (keys, mut all): (Vec<i64>, Vec<RegionFigures>) = regions.into_iter().unzip();
    let select = &schema::select_of_run("region_times");
    let times = read_rows(connection, select, number, |row| {
        let place = (row.get::<_, i64>("region")?, row.get::<_, u32>("rank")?);
        Ok((place, names::read_activity(row)?, read_seconds(row)?))
    })?;
    for ((key, rank), activity, seconds) in times {
        let at = keys.binary_search(&key).map_err(|_| wrong_cell(format!("there is no region {key}").into()))?;
        let Some(region) = all.get_mut(at) else { continue };
        push_rank_seconds(region.activities.entry(activity).or_default(), ranks, rank, seconds)?;
    }
    all.iter().flat_map(|region| region.activities.values()).try_for_each(|by_rank| of_all(by_rank, ranks))?;
    Ok(all)
}

fn read_region(row: &Row) -> rusqlite::Result<RegionFigures> {
    Ok(RegionFigures {
        path: row.get("path")?,
        code: code_name(row)?,
        kind: names::read_region_kind(row)?,
        found: row.get("found")?,
        times: read_times(row)?,
        activities: BTreeMap::new(),
        blocked_s: row.get("blocked_s")?,
        iterations: whole_or_none(row, "iterations")?,
        invocations: read_unsigned(row, "invocations")?,
        operations: read_real(row, "operations")?,
        quanta: read_real(row, "quanta")?,
        max_resident_bytes: read_unsigned(row, "max_resident_bytes")?,
        max_swapped_bytes: read_unsigned(row, "max_swapped_bytes")?,
    })
}

fn code_name(row: &Row) -> rusqlite::Result<Option<CodeName>> {
    let Some(function) = row.get("function")? else { return Ok(None) };
    Ok(Some(CodeName { function, calls: row.get("calls")?, ordinal: row.get("ordinal")? }))
}

fn read_cause(row: &Row) -> rusqlite::Result<CauseFigures> {
    let is_known = row.get::<_, Option<String>>("activity")?.is_some();
    Ok(CauseFigures {
        rank: row.get("rank")?,
        region: row.get("region")?,
        activity: is_known.then(|| names::read_activity(row)).transpose()?,
        class: names::read_class(row)?,
        caused_s: read_real(row, "caused_s")?,
    })
}

fn read_times(row: &Row) -> rusqlite::Result<EfficiencyTimes> {
    Ok(EfficiencyTimes {
        elapsed_s: read_real(row, "elapsed_s")?,
        max_computation_s: read_real(row, "max_computation_s")?,
        avg_computation_s: read_real(row, "avg_computation_s")?,
        t_ideal_s: row.get("t_ideal_s")?,
    })
}

/// Adds the figure of the next rank. Lists grow with the rows that there are: a file of a few rows makes none that are long.
fn push_rank_seconds(by_rank: &mut Vec<f64>, ranks: &[RankFigures], rank: u32, seconds: f64) -> rusqlite::Result<()> {
    if ranks.get(by_rank.len()).is_none_or(|next| next.rank != rank) {
        return Err(wrong_cell(format!("there is no rank {rank}, or nothing of one before it").into()));
    }
    by_rank.push(seconds);
    Ok(())
}

fn of_all(by_rank: &[f64], ranks: &[RankFigures]) -> rusqlite::Result<()> {
    match ranks.get(by_rank.len()) {
        None => Ok(()),
        Some(next) => Err(wrong_cell(format!("there is nothing of rank {}", next.rank).into())),
    }
}

fn read_seconds(row: &Row) -> rusqlite::Result<f64> {
    read_time(row, "seconds")
}

fn read_unsigned(row: &Row, column: &str) -> rusqlite::Result<u64> {
    let value: i64 = row.get(column)?;
    u64::try_from(value).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(0, value))
}

fn whole_or_none(row: &Row, column: &str) -> rusqlite::Result<Option<u64>> {
    row.get::<_, Option<i64>>(column)?.map(|_| read_unsigned(row, column)).transpose()
}
