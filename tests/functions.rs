//! Programs that know how long each of their functions computed: the report says the same within the error that it states, and names the one
//! in which the slow rank computes longer.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, ensure};
use lbprof_tests::launch::Job;
use lbprof_tests::suite::{self, Case, Company};
use lbprof_tests::{place, run};
use serde_json::Value;

/// Share of the CPU time that the program's own clock counts and samples do not: in the system.
const IN_THE_SYSTEM: f64 = 0.05;

/// Seconds of each function, by rank.
fn truth(case: &Case, path: &std::path::Path) -> anyhow::Result<BTreeMap<String, Vec<f64>>> {
    let mut functions: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for rank in 0..case.ranks {
        for line in fs::read_to_string(path.with_extension(rank.to_string()))?.lines() {
            let (function, seconds) = line.trim().rsplit_once(' ').context("a function and its time")?;
            functions.entry(function.trim().to_owned()).or_default().push(seconds.parse()?);
        }
    }
    Ok(functions)
}

fn number(value: &Value, key: &str) -> anyhow::Result<f64> {
    value[key].as_f64().with_context(|| format!("{key} in {value}"))
}

fn the_report_names_the_functions(case: &Case) -> anyhow::Result<()> {
    let program = case.program.compiled(&case.mpi)?;
    let folder = place::fresh_folder(&case.name)?;
    let own = folder.join("truth");
    let job = Job::new(&case.mpi, case.ranks, &program, &folder)
        .with_env("LBPROF_SAMPLE", "1000")
        .with_env("LBTEST_TRUTH", &own);
    job.recorded()?.must_succeed()?;
    let report = run::report(&job.run_folder()?)?;
    run::check_report(&report)?;
    let truth = truth(case, &own)?;
    let functions = &report["functions"]["program"];
    let rows = functions["functions"].as_array().context("functions")?;
    for (function, seconds) in &truth {
        let row = rows.iter().find(|row| row["function"] == function.as_str());
        let row = row.with_context(|| format!("{function} is not in {rows:#?}"))?;
        let mean_s = seconds.iter().sum::<f64>() / seconds.len() as f64;
        let (found, error) = (number(row, "mean_s")?, number(row, "error_s")?);
        ensure!(
            (found - mean_s).abs() <= 3.0 * error + IN_THE_SYSTEM * mean_s,
            "{function}: {mean_s} s, found {row:#}"
        );
        ensure!(row["line"].is_u64() && row["file"].is_string(), "{function} has no line: {row:#}");
    }
    let (rank, slow) = case.program.value("slow").and_then(|value| value.split_once(' ')).context("slow:")?;
    let rank: usize = rank.parse()?;
    ensure!(functions["slowest_rank"] == rank, "the slowest rank is {}", functions["slowest_rank"]);
    let seconds = truth.get(slow).context("a function")?;
    let excess_s = seconds[rank] - seconds.iter().sum::<f64>() / seconds.len() as f64;
    let explained = &functions["explained"]["functions"][0];
    ensure!(explained["function"] == slow, "the excess is laid to {explained:#}");
    let (found, error) = (number(explained, "excess_s")?, number(explained, "excess_error_s")?);
    ensure!(
        (found - excess_s).abs() <= 3.0 * error + IN_THE_SYSTEM * excess_s,
        "{slow}: {excess_s} s more, {explained:#}"
    );
    let verdict = report["verdict"]["text"].as_str().unwrap_or_default();
    ensure!(verdict.contains(&format!("in {slow} (")), "{verdict}");
    Ok(())
}

fn main() {
    suite::main(Company::Welcome, suite::cases("functions", "functions", the_report_names_the_functions));
}
