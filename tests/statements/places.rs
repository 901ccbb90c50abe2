//! Programs whose slow code is known: each run has the same names of regions, the headline names that code, and all ranks compute in one region.
//!
//! | key in a program's head | meaning |
//! |---|---|
//! | `arguments:` | the program is run with each of these words in turn |
//! | `headline:` | the verdict's text has this in it |
//! | `problem:` | the report has this problem |
//! | `each:` | with this argument, fewest and most iterations of a loop in each one of the loop around it |
//! | `share:` | at least so much of all computation is in one region |

use std::collections::BTreeSet;

use anyhow::{Context, bail, ensure};
use lbprof_tests::launch::Job;
use lbprof_tests::run;
use lbprof_tests::suite::{self, Case};
use libtest_mimic::Trial;
use serde_json::Value;

/// Runs of each program, unless `LBTEST_RUNS` says how many.
const RUNS: usize = 3;

fn check_names(case: &Case) -> anyhow::Result<()> {
    let runs = std::env::var("LBTEST_RUNS").ok().map_or(Ok(RUNS), |text| text.parse())?;
    let words = case.program.value("arguments").unwrap_or("");
    let arguments: Vec<&str> = if words.is_empty() { vec![""] } else { words.split(' ').collect() };
    for argument in arguments {
        let mut known: Option<BTreeSet<String>> = None;
        for number in 0..runs {
            let mut job = Job::of_case(case)?;
            job.urgent = true;
            job.command.extend(Some(argument).filter(|word| !word.is_empty()).map(Into::into));
            let report = job.report()?;
            run::check_report(&report)?;
            let names = region_names(&report)?;
            let expected = known.get_or_insert_with(|| names.clone());
            ensure!(names == *expected, "{argument}: run {number} has the names {names:#?}, the first {expected:#?}");
            check_place(case, &report)?;
        }
    }
    Ok(())
}

fn region_names(report: &Value) -> anyhow::Result<BTreeSet<String>> {
    let rows = report["regions"].as_array().context("regions")?;
    let names = rows.iter().map(|row| Ok(row["path"].as_str().context("path")?.to_owned()));
    let names: BTreeSet<String> = names.collect::<anyhow::Result<_>>()?;
    ensure!(names.iter().all(|name| !name.contains("other code")), "code without a name: {names:#?}");
    Ok(names)
}

/// Checks that the headline names the slow code, and that all ranks compute in one region.
fn check_place(case: &Case, report: &Value) -> anyhow::Result<()> {
    let headline = report["verdict"]["text"].as_str().context("verdict.text")?;
    let named = case.program.value("headline").context("headline:")?;
    // Where the ranks share cores so much that this is the answer, the findings after it have their places still.
    let findings = report["findings"].as_array().context("findings")?;
    let is_place = |finding: &Value| finding["place"]["text"].as_str().is_some_and(|text| text.contains(named));
    let is_named = headline.contains(named) || run::has_crowded_cores(report) && findings.iter().any(is_place);
    ensure!(is_named, "{named} is not in: {headline}");
    for kind in case.program.values("problem") {
        ensure!(run::problems(report).iter().any(|known| known == kind), "{kind} is not reported");
    }
    check_coverage(report)?;
    let share: f64 = case.program.value("share").context("share:")?.parse()?;
    let rows = report["regions"].as_array().context("regions")?;
    // Paths of regions with others in them have these regions' computation, too.
    let computed_s = |row: &Value| row["activities"]["computation"]["mean_s"].as_f64().unwrap_or(0.0);
    let largest = rows.iter().map(computed_s).fold(0.0, f64::max);
    let all = rows.iter().map(computed_s).sum::<f64>();
    ensure!(largest >= share * all, "one region has {largest} s of {all} s of computation");
    Ok(())
}

/// Checks that the tables of loops, the call tree and the first screen say the same of the time in the main loop.
fn check_coverage(report: &Value) -> anyhow::Result<()> {
    let rows = report["loops"].as_array().context("loops")?;
    let Some(main) = rows.iter().find(|row| row["in_report"] == true) else { return Ok(()) };
    let tree = report["call_tree"].as_array().context("call_tree")?;
    let in_tree_s: f64 = tree
        .iter()
        .filter(|row| row["kind"] == "loop" && row["name"] == main["name"])
        .filter_map(|row| row["time_s"].as_f64())
        .sum();
    let of_tree_s = tree.first().and_then(|row| row["time_s"].as_f64()).context("call_tree[0].time_s")?;
    let covered = main["covered"].as_f64().context("covered")?;
    let is_of_all = main["rank_count"].as_u64() == report["run"]["ranks"].as_u64();
    let [from_tree, from_loops] = [in_tree_s / of_tree_s, covered];
    ensure!(
        !is_of_all || (from_tree - from_loops).abs() < 0.002,
        "the loop covers {from_loops}, in the call tree {from_tree}"
    );
    Ok(())
}

/// Checks the main loops of programs that are hard to find: those of the `kind:` lines of a program's head, with an argument of the program and the number of
/// iterations, 0 for a program whose iterations are events; `doubt:` lines have the doubt about it.
fn check_loops(case: &Case) -> anyhow::Result<()> {
    let mut wrong = Vec::new();
    for kind in case.program.values("kind") {
        let mut words = kind.split(' ');
        let (argument, count) = words.next().zip(words.next()).context("kind: an argument and a number")?;
        let mut job = Job::of_case(case)?;
        job.urgent = true;
        job.command.push(argument.into());
        let report = job.report()?;
        let rows = report["loops"].as_array().context("loops")?;
        let is_right = |row: &Value| match count.parse::<f64>() {
            Ok(0.0) => row["confidence"] == "unsure" && row["doubt"] == "events",
            Ok(truth) => {
                [&row["iterations_min"], &row["iterations_max"]].iter().all(|found| found.as_f64() == Some(truth))
            }
            Err(_) => false,
        };
        let mains: Vec<&Value> = rows.iter().filter(|row| row["main"] == true).collect();
        for range in case.program.values("each").filter_map(|line| line.strip_prefix(argument)) {
            let [fewest, most] = range.split_whitespace().collect::<Vec<_>>()[..] else { bail!("each: {range}") };
            let bounds = [fewest.parse::<u64>()?, most.parse()?].map(Some);
            let has_bounds = |row: &Value| [&row["in_parent_min"], &row["in_parent_max"]].map(Value::as_u64) == bounds;
            if !rows.iter().any(has_bounds) {
                wrong.push(format!("no loop of {range} in each iteration of another one: {rows:#?}"));
            }
        }
        for doubt in case.program.values("doubt").filter_map(|line| line.strip_prefix(argument)) {
            if !mains.iter().all(|row| row["doubt"] == doubt.trim()) {
                wrong.push(format!("no doubt{doubt}: {mains:#?}"));
            }
        }
        if mains.is_empty() || !mains.iter().all(|row| is_right(row)) {
            wrong.push(format!("{kind}: {mains:#?}"));
        }
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

pub fn trials() -> anyhow::Result<Vec<Trial>> {
    suite::cases("places", "places", check_names).and_then(|mut trials| {
        trials.extend(suite::cases("places", "nest", check_loops)?);
        Ok(trials)
    })
}
