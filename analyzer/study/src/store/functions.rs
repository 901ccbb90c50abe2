//! The functions that a run computes in: a row each, of the whole program and of its regions, and one of all others together.
//!
//! ```text
//!   position  region      function          mean_s  error_s
//!   0         NULL        force (md.c)      1.250   0.035     the whole program
//!   1         NULL        NULL              0.010   NULL      all its other functions
//!   2         main/step   force (md.c)      1.100   0.033     a region, inner ones excluded
//!   3         main/step   NULL              0.0     NULL
//! ```

use std::collections::BTreeMap;

use rusqlite::{Connection, params};

use super::cells::{read_rows, read_time, to_sql_integer, wrong_cell};
use super::schema::select_of_run;
use crate::RunMetrics;
use crate::run::{FunctionFigures, FunctionSums};

pub(super) fn write_functions(connection: &Connection, run: &RunMetrics, number: u32) -> rusqlite::Result<()> {
    let Some(figures) = &run.functions else { return Ok(()) };
    let mut insert = connection.prepare("INSERT INTO functions VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?;
    let regions = figures.regions.iter().map(|(path, sums)| (Some(path), sums));
    let mut position = 0;
    for (region, sums) in [(None, &figures.program)].into_iter().chain(regions) {
        let listed = sums.times.iter().map(|(function, &(mean_s, error_s))| (Some(function), mean_s, Some(error_s)));
        for (function, mean_s, error_s) in listed.chain([(None, sums.others_s, None)]) {
            insert.execute(params![number, to_sql_integer(position), region, function, mean_s, error_s])?;
            position += 1;
        }
    }
    Ok(())
}

pub(super) fn read_functions(connection: &Connection, number: u32) -> rusqlite::Result<Option<FunctionFigures>> {
    let all = read_rows(connection, &select_of_run("functions"), number, |row| {
        let function: Option<String> = row.get("function")?;
        let error_s = if function.is_some() { read_time(row, "error_s")? } else { 0.0 };
        Ok((row.get::<_, Option<String>>("region")?, function, read_time(row, "mean_s")?, error_s))
    })?;
    if all.is_empty() {
        return Ok(None);
    }
    // A missing row would count as no time at all, so each region must have a row of its other functions.
    let mut sums: BTreeMap<Option<String>, (FunctionSums, bool)> = BTreeMap::new();
    for (region, function, mean_s, error_s) in all {
        let (sums, is_whole) = sums.entry(region).or_default();
        let is_new = match function {
            Some(function) => sums.times.insert(function, (mean_s, error_s)).is_none(),
            None => {
                sums.others_s = mean_s;
                !std::mem::replace(is_whole, true)
            }
        };
        if !is_new {
            return Err(wrong_cell("a function of a region is there twice".into()));
        }
    }
    if !sums.contains_key(&None) || sums.values().any(|(_, is_whole)| !is_whole) {
        return Err(wrong_cell("the sum of the other functions is not there".into()));
    }
    let mut figures = FunctionFigures::default();
    for (region, (sums, _)) in sums {
        match region {
            Some(path) => _ = figures.regions.insert(path, sums),
            None => figures.program = sums,
        }
    }
    Ok(Some(figures))
}
