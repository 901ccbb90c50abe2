//! The `expect:` lines of a program's head, against the report of its run.
//!
//! A line says `fact = formula`, or `fact = none`: the report has none; in the formula P is the number of ranks. Where the last bracket of a fact is `[p]`, it is one of each rank,
//! p in the formula being the rank; it may also be a single rank's number.
//!
//! | fact | in the report |
//! |---|---|
//! | `iterations`, `clusters`, `elapsed_s` | their number; the run's time |
//! | `events_above[N]` | events of the run's logs beyond N |
//! | `cluster N NAME` | `iterations`, or a value of `efficiency`, of the cluster with this id |
//! | `computation[p]`, or another activity | time in it |
//! | `blocked`, `blocked[p]` | time in which ranks could only wait |
//! | `caused[REGION]`, `caused[REGION][p]` | waiting that what is done in the region, inner ones included, causes |
//! | `by_class.CLASS` | waiting by the class of its cause |
//! | `waits[STATE]` | waiting of a state, the messages' delay left out |
//! | `waits_for[q][p]` | waiting of rank q because of rank p |
//! | `replay[WHAT]` | time of a replay: `ideal network`, `as measured`, `region balanced REGION`, `rank as the mean N` |
//! | `saved[WHAT]` | time of the replay as measured less that |
//! | `critical[REGION]` | time on the critical path in the region, inner ones included |
//! | `verdict.NAME` | a value of the verdict |
//! | `loops` | rows of main loops that were found |
//! | `loop[KEY]`, `loop[KEY][q]` | of the main loop of the report, or of rank q: `iterations` (most of a rank), `possible_min`, `possible_max`, `confidence` (sure 2, likely 1, unsure 0) |
//! | `region_load_balance[REGION]` | of the region, inner ones included |
//! | `longest[REGION]` | longest computation of a rank in the region, inner ones included |
//! | `violations` | calls that ended before what they waited for, by the clocks |
//! | anything else | a value of `efficiency` |
//!
//! A line `says: TEXT` is in the verdict's words, the text of `says-not:` is not.
//!
//! A value must lie within 2 % of the formula's; of waiting, replays and the critical path within 3 %. Where the formula gives 0, the room is that
//! part of the elapsed time. Of a disturbed run, times may be off by what went astray; waiting by that for each rank that waits for it.

use anyhow::{Context, bail, ensure};
use serde_json::Value;

use crate::program::Program;
use crate::run::TOLERANCE;
use lbprof_simulator::script::evaluate;

/// The tolerance of waiting, of what causes it, and of what follows from it.
const TOLERANCE_OF_WAITING: f64 = 0.03;

/// Checks the `expect:` lines of a program's head against the report of its run, in which `astray_s` seconds of computation went astray.
pub fn check(program: &Program, ranks: usize, report: &Value, astray_s: f64) -> anyhow::Result<()> {
    let elapsed = report["run"]["elapsed_s"].as_f64().context("run.elapsed_s")?;
    let mut wrong = Vec::new();
    let mut compare = |what: String, tolerance: f64, found: Option<f64>, truth: f64| {
        let room = tolerance * if truth == 0.0 { elapsed } else { truth.abs() };
        let room = room + astray_s * per_second_astray(&what, tolerance, ranks, elapsed);
        match found {
            Some(found) if (found - truth).abs() <= room => {}
            Some(found) => wrong.push(format!("{what} is {found:.5}, the truth {truth:.5} ± {room:.5}")),
            // A change that saves no more than the replay's own error has no row.
            None if what.starts_with("saved[") && truth == 0.0 => {}
            None => wrong.push(format!("{what} is not in the report, the truth is {truth:.5}")),
        }
    };
    let n = ("P".to_owned(), ranks as f64);
    // In scripts, `$` marks names.
    let value = |formula: &str, names: &[(String, f64)]| {
        evaluate(&formula.replace(['P'], "$P").replace('p', "$p"), names).map_err(anyhow::Error::msg)
    };
    for expectation in program.values("expect") {
        let (fact, formula) = expectation.split_once('=').with_context(|| format!("expect: {expectation}"))?;
        let (name, brackets) = parse(fact.trim())?;
        match brackets.split_last() {
            Some((&"p", before)) => {
                for p in 0..ranks {
                    let truth = value(formula, &[n.clone(), ("p".to_owned(), p as f64)])?;
                    let p = p.to_string();
                    let brackets = [before, &[p.as_str()]].concat();
                    let (tolerance, found) = find(report, name, &brackets)?;
                    compare(format!("{name}{brackets:?}"), tolerance, found, truth);
                }
            }
            _ if formula.trim() == "none" => {
                let (_, found) = find(report, name, &brackets)?;
                ensure!(found.is_none(), "{fact} is in the report: {found:?}");
            }
            _ => {
                let (tolerance, found) = find(report, name, &brackets)?;
                compare(fact.trim().to_owned(), tolerance, found, value(formula, std::slice::from_ref(&n))?);
            }
        }
    }
    wrong.extend(check_words(program, report)?);
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

/// What is wrong with the verdict's words, by the `says:` and `says-not:` lines of a program's head.
///
/// Errors: there is no verdict.
pub fn check_words(program: &Program, report: &Value) -> anyhow::Result<Vec<String>> {
    let words = report["verdict"]["text"].as_str().context("verdict.text")?;
    let wrong = |key: &'static str, is_said: bool| {
        let others = program.values(key).filter(move |text| words.contains(text) != is_said);
        others.map(move |text| format!("{key}: {text}: the verdict is: {words}")).collect::<Vec<_>>()
    };
    Ok([wrong("says", true), wrong("says-not", false)].concat())
}

/// By how much a fact may be off for each second that went astray.
fn per_second_astray(fact: &str, tolerance: f64, ranks: usize, elapsed_s: f64) -> f64 {
    match fact {
        "iterations" | "clusters" | "violations" | "loops" => 0.0,
        _ if fact.starts_with("loop[") || fact.starts_with("events_above") => 0.0,
        _ if fact.ends_with(" iterations") => 0.0,
        _ if fact.starts_with("region_load_balance") => 2.0 / elapsed_s,
        _ if tolerance == TOLERANCE_OF_WAITING => ranks.saturating_sub(1) as f64,
        _ if fact.ends_with("_s") || fact.contains('[') => 1.0,
        // Ratios of two times.
        _ => 2.0 / elapsed_s,
    }
}

fn parse(fact: &str) -> anyhow::Result<(&str, Vec<&str>)> {
    let at = fact.find('[').unwrap_or(fact.len());
    let (name, mut rest) = fact.split_at(at);
    let mut brackets = Vec::new();
    while let Some((bracket, after)) = rest.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
        brackets.push(bracket);
        rest = after;
    }
    ensure!(rest.is_empty(), "what does `{rest}` mean in `{fact}`?");
    Ok((name, brackets))
}

/// What the report has of a fact, and how far that may be from the truth.
fn find(report: &Value, name: &str, brackets: &[&str]) -> anyhow::Result<(f64, Option<f64>)> {
    let blocking = &report["blocking"];
    let waiting = |found: Option<f64>| Ok((TOLERANCE_OF_WAITING, found));
    match (name, brackets) {
        ("iterations", []) => Ok((TOLERANCE, report["iterations"]["count"].as_f64())),
        ("clusters", []) => Ok((TOLERANCE, report["clusters"].as_array().map(|all| all.len() as f64))),
        ("elapsed_s", []) => Ok((TOLERANCE, report["run"]["elapsed_s"].as_f64())),
        ("events_above", [n]) => {
            let n: f64 = n.parse()?;
            Ok((TOLERANCE, report["run"]["events"].as_f64().map(|events| (events - n).max(0.0))))
        }
        ("blocked", []) => waiting(blocking["total_s"].as_f64()),
        ("blocked", [p]) => waiting(rank(report, p)?["blocked_s"].as_f64()),
        ("caused", [region]) => waiting(sum(&blocking["causes"], "caused_s", |one| within(one, region))),
        ("caused", [region, p]) => {
            let p: u64 = p.parse()?;
            waiting(sum(&blocking["causes"], "caused_s", |one| one["rank"] == p && within(one, region)))
        }
        ("waits", [state]) => waiting(sum(&blocking["states"], "waiting_s", |one| one["state"] == *state)),
        ("waits_for", [q, p]) => {
            let (q, p): (u64, u64) = (q.parse()?, p.parse()?);
            waiting(sum(&blocking["pairs"], "time_s", |one| one["waiting_rank"] == q && one["delay_source"] == p))
        }
        ("replay", [what]) => waiting(replay(report, what, "time_s")),
        ("saved", [what]) => waiting(replay(report, what, "saved_s")),
        ("critical", [region]) => waiting(sum(&report["critical_path"]["parts"], "time_s", |one| within(one, region))),
        ("loops", []) => Ok((0.0, Some(main_loops(report).count() as f64))),
        ("loop", [key]) => {
            Ok((0.0, main_loops(report).find(|one| one["in_report"] == true).and_then(|one| of_loop(one, key))))
        }
        ("loop", [key, q]) => {
            let q: u64 = q.parse()?;
            let has_rank =
                |one: &&Value| one["ranks"].as_array().is_some_and(|ranks| ranks.iter().any(|rank| *rank == q));
            Ok((0.0, main_loops(report).find(has_rank).and_then(|one| of_loop(one, key))))
        }
        ("region_load_balance", [path]) => Ok((TOLERANCE, of_region(report, path, "load_balance"))),
        ("longest", [path]) => Ok((TOLERANCE, of_region(report, path, "max_computation_s"))),
        ("violations", []) => Ok((0.0, blocking["matching"]["violations"].as_f64())),
        ("computation", [p]) => Ok((TOLERANCE, rank(report, p)?["computation_s"].as_f64())),
        (activity, [p]) => Ok((TOLERANCE, Some(rank(report, p)?["activities"][activity].as_f64().unwrap_or(0.0)))),
        (name, []) => match name.split_once(['.', ' ']) {
            Some(("by_class", class)) => waiting(blocking["by_class"][class].as_f64()),
            Some(("verdict", part)) => waiting(report["verdict"][part].as_f64()),
            Some(("cluster", rest)) => Ok((TOLERANCE, of_cluster(report, rest)?)),
            _ => Ok((TOLERANCE, report["efficiency"][name].as_f64())),
        },
        _ => bail!("an unknown fact: {name}{brackets:?}"),
    }
}

fn of_region(report: &Value, path: &str, key: &str) -> Option<f64> {
    let regions = report["regions"].as_array().into_iter().flatten();
    regions.filter(|one| one["path"] == path).find_map(|one| one["efficiency"][key].as_f64())
}

fn main_loops(report: &Value) -> impl Iterator<Item = &Value> {
    report["loops"].as_array().into_iter().flatten().filter(|one| one["main"] == true)
}

fn of_loop(one: &Value, key: &str) -> Option<f64> {
    match key {
        "iterations" => one["iterations_max"].as_f64(),
        "confidence" => {
            ["unsure", "likely", "sure"].iter().position(|name| one["confidence"] == *name).map(|at| at as f64)
        }
        _ => one[key].as_f64(),
    }
}

fn rank<'a>(report: &'a Value, p: &str) -> anyhow::Result<&'a Value> {
    report["ranks"].get(p.parse::<usize>()?).with_context(|| format!("no rank {p} in the report"))
}

fn of_cluster(report: &Value, what: &str) -> anyhow::Result<Option<f64>> {
    let (id, name) = what.split_once(' ').with_context(|| format!("what of cluster {what}?"))?;
    let id: u64 = id.parse()?;
    let cluster = report["clusters"].as_array().and_then(|all| all.iter().find(|cluster| cluster["id"] == id));
    let value = cluster.map(|cluster| match name {
        "iterations" => &cluster["iterations"]["count"],
        _ => &cluster["efficiency"][name],
    });
    Ok(value.and_then(Value::as_f64))
}

fn within(one: &Value, region: &str) -> bool {
    let path = one["region"].as_str().and_then(|path| path.strip_prefix(region));
    path.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The sum of a key over those objects of a list; `None`: there is no such list.
fn sum(list: &Value, key: &str, which: impl Fn(&Value) -> bool) -> Option<f64> {
    Some(list.as_array()?.iter().filter(|&one| which(one)).filter_map(|one| one[key].as_f64()).sum())
}

fn replay(report: &Value, what: &str, key: &str) -> Option<f64> {
    let answers = |one: &&Value| {
        let rest = one["scenario"].as_str().and_then(|known| what.strip_prefix(known)).map(str::trim);
        rest.is_some_and(|rest| match (&one["region"], &one["rank"]) {
            (Value::String(region), _) => rest == region,
            (_, Value::Number(rank)) => rest == rank.to_string(),
            _ => rest.is_empty(),
        })
    };
    report["predictions"].as_array()?.iter().find(answers)?[key].as_f64()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn report() -> Value {
        json!({
            "blocking": {"causes": [
                {"rank": 0, "region": "main/a", "caused_s": 1.0},
                {"rank": 1, "region": "main/a/b", "caused_s": 2.0},
                {"rank": 1, "region": "main/ab", "caused_s": 4.0},
            ]},
            "predictions": [
                {"scenario": "as measured", "region": null, "rank": null, "time_s": 9.0},
                {"scenario": "region balanced", "region": "main/a", "rank": null, "time_s": 7.0},
                {"scenario": "rank as the mean", "region": null, "rank": 3, "time_s": 6.0},
            ],
        })
    }

    #[test]
    fn inner_regions_count_and_others_do_not() {
        let found = |fact: &str| {
            let (name, brackets) = parse(fact).unwrap();
            find(&report(), name, &brackets).unwrap().1
        };
        assert_eq!(found("caused[main/a]"), Some(3.0));
        assert_eq!(found("caused[main/a][1]"), Some(2.0));
        assert_eq!(found("waits[late sender]"), None);
    }

    #[test]
    fn replays_are_known_by_what_they_ask() {
        assert_eq!(replay(&report(), "as measured", "time_s"), Some(9.0));
        assert_eq!(replay(&report(), "region balanced main/a", "time_s"), Some(7.0));
        assert_eq!(replay(&report(), "rank as the mean 3", "time_s"), Some(6.0));
        assert_eq!(replay(&report(), "region balanced main/b", "time_s"), None);
    }

    #[test]
    fn brackets_must_close() {
        assert_eq!(parse("caused[main/a][p]").unwrap(), ("caused", vec!["main/a", "p"]));
        assert!(parse("caused[main/a").is_err());
    }
}
