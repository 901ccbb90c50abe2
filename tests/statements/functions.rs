//! Programs that know how long each of their functions computed: the report says the same within the error that it states, and names the one
//! in which the slow rank computes longer.

use std::collections::BTreeMap;
use std::fs;
use std::ops::RangeInclusive;

use anyhow::{Context, bail, ensure};
use lbprof_tests::launch::Job;
use lbprof_tests::run;
use lbprof_tests::suite::{self, Case};
use libtest_mimic::Trial;
use serde_json::Value;

/// How far the shares of functions in samples may differ from their shares of the CPU time, for time in the system differs by function and rank.
const IN_THE_SYSTEM: f64 = 0.05;

/// What samples may have of the CPU time of the program's own clock. The clock counts the system and the samples' interrupts, too: a tenth at 1,000 a second
/// on a virtual machine, a quarter on a busy one. Samples that count twice, or of which half are lost, are outside.
const SAMPLED_SHARES: RangeInclusive<f64> = 0.55..=1.05;

/// Seconds by rank of each function of the first threads; of `in <region> <function>`, in a region; of `worker <region> <function>`, a function of all threads without MPI calls, in a region; of
/// `module <file>`, all functions of a file whose name begins so; of `called-by-mpi <operation> <function>`, a function that MPI calls. `<part>: ` before that: in a part of the run, of which the program's head has the options.
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

/// The time of something that a program did, the mean over ranks, with its standard error; by its name as [`truth`] has it.
fn found(functions: &Value, what: &str) -> anyhow::Result<(f64, f64)> {
    let rows_of = |part: &Value| part["functions"].as_array().cloned().with_context(|| format!("functions in {part}"));
    let words: Vec<&str> = what.splitn(3, ' ').collect();
    let (mut own, name) = match words.as_slice() {
        ["worker", region, function] => {
            let threads = functions["other_threads"].as_array().context("other threads")?;
            let [threads] = threads.as_slice() else { bail!("not one kind of other threads: {threads:#?}") };
            ensure!(threads["call_mpi"] == false, "{threads:#}");
            let regions = threads["regions"].as_array().context("regions")?;
            // In the first iteration it is not in the loop that is found.
            let end = format!("/{region}");
            let own = regions.iter().filter(|one| one["region"].as_str().is_some_and(|path| path.ends_with(&end)));
            (own.map(rows_of).collect::<anyhow::Result<Vec<_>>>()?.concat(), *function)
        }
        ["called-by-mpi", operation, function] => {
            let rows = functions["called_by_mpi"].as_array().cloned().context("functions that MPI calls")?;
            (rows.into_iter().filter(|row| row["operation"] == *operation).collect(), *function)
        }
        ["in", region, function] => {
            let regions = functions["regions"].as_array().context("regions")?;
            let end = format!("/{region}");
            let own = regions.iter().find(|one| one["region"].as_str().is_some_and(|path| path.ends_with(&end)));
            (rows_of(own.with_context(|| format!("{region} is not in {functions:#}"))?)?, *function)
        }
        _ => (rows_of(&functions["program"])?, what),
    };
    own.retain(|row| name.strip_prefix("module ").map_or(row["function"] == name, |file| is_in(row, file)));
    ensure!(!own.is_empty(), "{what} is not in {functions:#}");
    let has_line = |row: &Value| row["line"].is_u64() && row["file"].is_string();
    ensure!(words[0] == "module" || own.iter().all(has_line), "{what} has no line: {own:#?}");
    own.iter().try_fold((0.0, 0.0_f64), |(mean_s, error_s), row| {
        Ok((mean_s + number(row, "mean_s")?, error_s.hypot(number(row, "error_s")?)))
    })
}

fn is_in(row: &Value, file: &str) -> bool {
    let module = row["module"].as_str().unwrap_or_default();
    module.rsplit('/').next().is_some_and(|name| name.starts_with(file))
}

fn the_report_names_the_functions(case: &Case) -> anyhow::Result<()> {
    let mut job = Job::of_case(case)?.with_env_of(&case.program).with_env("LBPROF_SAMPLE", "1000");
    let own = job.folder.join("truth");
    job = job.with_env("LBTEST_TRUTH", &own);
    job.urgent = true;
    let report = job.report()?;
    run::check_report(&report)?;
    let truth = truth(case, &own)?;
    let mut parts = BTreeMap::from([("", report["functions"].clone())]);
    for (part, options) in case.program.values("part").filter_map(|line| line.split_once(' ')) {
        let options: Vec<&str> = options.split(' ').collect();
        parts.insert(part, run::report_asking(&job.run_folder()?, &options)?["functions"].take());
    }
    let mut compared = Vec::new();
    for (what, seconds) in &truth {
        let mean_s = seconds.iter().sum::<f64>() / seconds.len() as f64;
        let (part, name) = what.split_once(": ").unwrap_or(("", what));
        let (found, error) = found(parts.get(part).with_context(|| format!("part: {part}"))?, name)?;
        compared.push((what, mean_s, found, error));
    }
    let sum = |of: fn(&(&String, f64, f64, f64)) -> f64| compared.iter().map(of).sum::<f64>();
    let share = sum(|one| one.2) / sum(|one| one.1);
    ensure!(SAMPLED_SHARES.contains(&share), "samples have {share} of the time");
    let share = share.min(1.0);
    for (what, mean_s, found, error) in compared {
        ensure!(
            (found - share * mean_s).abs() <= 3.0 * error + IN_THE_SYSTEM * mean_s,
            "{what}: {mean_s} s, {share} of it in user space, found {found} ± {error} s"
        );
    }
    for called in case.program.values("calls") {
        says_who_calls(&report, called)?;
    }
    for called in case.program.values("called-by-mpi") {
        says_what_mpi_calls(&report, called)?;
    }
    let functions = &report["functions"]["program"];
    let (rank, slow) = case.program.value("slow").and_then(|value| value.split_once(' ')).context("slow:")?;
    let rank: usize = rank.parse()?;
    ensure!(functions["slowest_rank"] == rank, "the slowest rank is {}", functions["slowest_rank"]);
    let seconds = truth.get(slow).context("a function")?;
    let excess_s = seconds[rank] - seconds.iter().sum::<f64>() / seconds.len() as f64;
    let explained = &functions["explained"]["functions"][0];
    let is_slow = slow.strip_prefix("module ").map_or(explained["function"] == slow, |file| is_in(explained, file));
    ensure!(is_slow, "the excess is laid to {explained:#}");
    let (found, error) = (number(explained, "excess_s")?, number(explained, "excess_error_s")?);
    ensure!(
        // The system's share differs by rank.
        (found - share * excess_s).abs() <= 3.0 * error + (IN_THE_SYSTEM + 1.0 - share) * excess_s,
        "{slow}: {excess_s} s more, {share} of it in user space, {explained:#}"
    );
    let verdict = report["verdict"]["text"].as_str().unwrap_or_default();
    let named = slow.strip_prefix("module ").map_or_else(|| format!(" {slow} ("), str::to_owned);
    // On crowded cores most of what it computes longer is waiting for one, and where that makes all figures doubtful, the verdict says it first.
    let is_crowded = run::has_crowded_cores(&report);
    let is_lost_in_mpi = case.program.value("called-by-mpi").is_some();
    let is_little = explained["share"].as_f64() < Some(0.1);
    ensure!(verdict.contains(&named) || is_little || is_crowded || is_lost_in_mpi, "{verdict}");
    Ok(())
}

/// `Reduce combine 0`: most of what is lost to functions that MPI calls is combine on rank 0, in MPI_Reduce, and no loss to the network.
fn says_what_mpi_calls(report: &Value, called: &str) -> anyhow::Result<()> {
    let [operation, function, rank] = called.split(' ').collect::<Vec<_>>()[..] else {
        bail!("called-by-mpi: {called}")
    };
    let rank: u64 = rank.parse()?;
    let findings = report["findings"].as_array().context("findings")?;
    let finding = findings.iter().find(|one| one["kind"] == "called by MPI");
    let finding = finding.with_context(|| format!("{findings:#?}"))?;
    let text = finding["sentence"].as_str().context("sentence")?;
    ensure!(finding["ranks"][0] == rank && finding["place"]["operation"] == operation, "{finding:#}");
    ensure!(
        text.contains(&format!("MPI_{operation} runs {function} (")) && text.contains(&format!("on rank {rank}")),
        "{text}"
    );
    // The other rank waits for most of it.
    let rows = report["functions"]["called_by_mpi"].as_array().context("functions that MPI calls")?;
    let mean_s = rows.iter().map(|row| number(row, "mean_s")).sum::<anyhow::Result<f64>>()?;
    ensure!(number(finding, "seconds")? > 1.2 * mean_s, "{mean_s} s: {finding:#}");
    let of_network =
        ["communication", "rank in calls", "rare delays", "small messages", "large messages", "late progress"];
    let is_saved = |one: &Value| of_network.iter().any(|kind| one["kind"] == *kind) && one["gain_s"].is_number();
    ensure!(!findings.iter().any(is_saved), "{findings:#?}");
    Ok(())
}

/// `force exp step`: most of the time of force is in a library's function with exp in its name, and step calls force.
fn says_who_calls(report: &Value, called: &str) -> anyhow::Result<()> {
    let [function, library, caller] = called.split(' ').collect::<Vec<_>>()[..] else { bail!("calls: {called}") };
    let rows = report["functions"]["program"]["functions"].as_array().context("functions")?;
    let row = rows.iter().find(|row| row["function"] == function).with_context(|| format!("no {function}"))?;
    let is_library = |one: &Value| one["function"].as_str().is_some_and(|name| name.contains(library));
    let libraries = row["libraries"].as_array().context("libraries")?;
    let share: f64 = libraries.iter().filter(|one| is_library(one)).filter_map(|one| one["share"].as_f64()).sum();
    ensure!(share > 0.5, "{share} of {function} is in {library}: {row:#}");
    ensure!(row["caller"] == caller, "{function} is called by {}", row["caller"]);
    // The same in the tree: main, step, force, exp; loops may be between them.
    let nodes = report["call_tree"].as_array().context("call_tree")?;
    let around = |node: &Value| node["parent"].as_u64().and_then(|parent| nodes.get(parent as usize));
    let is_library_name = |node: &Value| node["name"].as_str().is_some_and(|name| name.contains(library));
    let is_code = |node: &&Value| node["kind"] == "function" || node["kind"] == "program";
    let is_called_so = |node: &&Value| {
        let outer = std::iter::successors(around(node), |node| around(node)).filter(is_code);
        outer.take(3).map(|node| node["name"].as_str().unwrap_or_default()).eq([function, caller, "main"])
    };
    let is_entered = |node: &&Value| is_library_name(node) && !around(node).is_some_and(is_library_name);
    let of_library: Vec<&Value> = nodes.iter().filter(is_code).filter(is_entered).collect();
    let time_s = |node: &&Value| node["time_s"].as_f64();
    let all_s: f64 = of_library.iter().filter_map(time_s).sum();
    let called_so_s: f64 = of_library.iter().filter(|node| is_called_so(node)).filter_map(time_s).sum();
    // Some samples do not reach the program's start.
    let is_there = called_so_s > 0.5 * all_s;
    ensure!(is_there, "{called_so_s} of {all_s} s of {library} are in {function} in {caller} in main: {nodes:#?}");
    Ok(())
}

pub fn trials() -> anyhow::Result<Vec<Trial>> {
    suite::cases("functions", "functions", the_report_names_the_functions)
}
