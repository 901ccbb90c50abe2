//! Each statement of a report, compared with the truth.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, ensure};
use lbprof_tests::place;
use serde_json::Value;

use super::cell::Dependence;
use super::truth::Truth;

/// How far a share or a change may be from the truth, in percentage points.
const TOLERANCE: f64 = 5.0;

/// Savings and shares of what is lost that are hardly any, in percentage points.
const HARDLY_ANY: f64 = 7.0;

/// Share of the waiting that a rank which causes all of it must be reported to cause.
const MOSTLY: f64 = 0.9;

/// The same where ranks go through the parts of a step, or through steps, at different times: they wait for one another's longer parts, too.
const MOSTLY_OUT_OF_PHASE: f64 = 0.6;

/// The same in a pipeline: until it is filled, and once it runs dry, ranks wait for those that are not slow, too.
const MOSTLY_IN_CHAIN: f64 = 0.8;

/// Findings of the first sentence that say who is slow, or that no rank is.
const SLOW: &[&str] = &["static excess", "asleep rank", "kernel rank", "rank in state", "serial code"];
const IN_TURN: &[&str] = &["slow in turn", "moving rank", "chains", "serialization"];
const GOOD: &[&str] = &["balanced", "asleep"];

/// Findings by which messages cost most.
const OF_NETWORK: &[&str] =
    &["communication", "rank in calls", "rare delays", "small messages", "large messages", "late progress"];

/// Findings on ranks that take work as they come.
const ON_DEMAND: &[&str] = &["master and workers", "last task", "communication", "rank in calls", "busy target"];

/// Findings that say nothing of balance.
const NOT_JUDGED: &[&str] = &["no cores", "few calls", "unclear polls", "set-up"];

/// Further findings of single shapes.
const OF_SHAPES: &[&str] = &["file access", "busy target", "held lock", "slow in parts"];

pub const COLUMNS: [&str; 9] = ["lost", "class", "ranks", "causes", "path", "loop", "gain", "findings", "predictions"];

#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    Right,
    NotMade,
    Wrong(String),
}

#[derive(Clone, Debug)]
pub struct Judgement {
    pub column: &'static str,
    pub answer: Answer,
}

impl Judgement {
    pub fn is_wrong(&self) -> bool {
        matches!(self.answer, Answer::Wrong(_))
    }

    pub fn wrong(&self) -> Option<String> {
        match &self.answer {
            Answer::Wrong(why) => Some(format!("{}: {why}", self.column)),
            _ => None,
        }
    }
}

/// Checks that reports know all findings that are expected of them: one by another name would never be found.
pub fn check_kinds() -> anyhow::Result<()> {
    let schema = fs::read_to_string(place::workspace().join("docs/report.schema.json"))?;
    for name in [SLOW, IN_TURN, GOOD, OF_NETWORK, ON_DEMAND, NOT_JUDGED, OF_SHAPES].concat() {
        ensure!(schema.contains(&format!("`{name}`")), "no report has the finding {name}");
    }
    Ok(())
}

pub fn judge(truth: &Truth, report: &Value) -> anyhow::Result<Vec<Judgement>> {
    let answers = [
        judge_lost(truth, report)?,
        judge_class(truth, report)?,
        judge_ranks(truth, report)?,
        judge_causes(truth, report)?,
        judge_path(truth, report)?,
        judge_loop(truth, report),
        judge_gain(truth, report)?,
        judge_findings(truth, report)?,
        judge_predictions(truth, report)?,
    ];
    Ok(COLUMNS.into_iter().zip(answers).map(|(column, answer)| Judgement { column, answer }).collect())
}

fn is_or(right: bool, wrong: impl FnOnce() -> String) -> Answer {
    if right { Answer::Right } else { Answer::Wrong(wrong()) }
}

fn rows<'a>(value: &'a Value, what: &str) -> anyhow::Result<&'a Vec<Value>> {
    value.as_array().with_context(|| what.to_owned())
}

fn answer_kind(report: &Value) -> &str {
    report["findings"][0]["kind"].as_str().unwrap_or_default()
}

fn verdict_lost_percent(report: &Value) -> f64 {
    100.0 * report["verdict"]["lost_share"].as_f64().unwrap_or(0.0)
}

fn sentence(report: &Value) -> &str {
    report["verdict"]["answer"]["sentence"].as_str().unwrap_or_default()
}

/// The share of the time that is lost: of the time that the report gives the run, which begins and ends with MPI and lasts a little longer than the steps.
fn judge_lost(truth: &Truth, report: &Value) -> anyhow::Result<Answer> {
    if !truth.has_steps_of_work() || !report["verdict"]["cluster"].is_null() {
        return Ok(Answer::NotMade);
    }
    let share = report["verdict"]["lost_share"].as_f64().context("lost_share")?;
    let really = percent_lost(truth, report)?;
    let (mut least, mut most) = (100.0 * share, 100.0 * share);
    if let Some([lowest, highest]) = efficiency_of_unclear_polls(report) {
        (least, most) = (least.min(100.0 - highest), most.max(100.0 - lowest));
    }
    let is_near = least - TOLERANCE <= really && really <= most + TOLERANCE;
    Ok(is_or(is_near, || format!("{least:.1} to {most:.1} %, really {really:.1} %")))
}

/// Returns between which percentages the first screen states the parallel efficiency to be, where it is not clear whether ranks that poll wait or compute.
fn efficiency_of_unclear_polls(report: &Value) -> Option<[f64; 2]> {
    let lines = report["verdict"]["answer"]["lines"].as_array()?;
    let mut notes = lines.iter().filter(|line| line["label"] == "note").filter_map(|line| line["text"].as_str());
    let note = notes.find(|note| note.starts_with("ranks poll, and it is not clear"))?;
    let (_, range) = note.split_once("parallel efficiency is from ")?;
    let (lowest, rest) = range.split_once(" % to ")?;
    let (highest, _) = rest.split_once(" %")?;
    Some([lowest.parse().ok()?, highest.parse().ok()?])
}

/// Returns the percentage of the run that is really lost, where all work is that of the plan.
fn percent_lost(truth: &Truth, report: &Value) -> anyhow::Result<f64> {
    Ok(100.0 * (1.0 - truth.mean_work_s / elapsed_s(report)?))
}

fn elapsed_s(report: &Value) -> anyhow::Result<f64> {
    report["efficiency"]["elapsed_s"].as_f64().context("elapsed_s")
}

/// Returns the percentage of the run that lies outside of its steps, where it makes windows and the like.
fn percent_outside_of_steps(truth: &Truth, report: &Value) -> anyhow::Result<f64> {
    Ok(100.0 * (1.0 - truth.elapsed_s / elapsed_s(report)?).max(0.0))
}

/// Returns the most percent of the run that communication may take: hardly any, what lies outside of its steps, and what bare runs lose to it as well.
fn most_percent_in_communication(truth: &Truth, report: &Value) -> anyhow::Result<f64> {
    let in_steps = 100.0 * truth.in_communication_s() / elapsed_s(report)?;
    Ok(HARDLY_ANY + percent_outside_of_steps(truth, report)? + in_steps)
}

/// What the time is lost to: the finding of the first sentence.
fn judge_class(truth: &Truth, report: &Value) -> anyhow::Result<Answer> {
    let kind = answer_kind(report);
    if NOT_JUDGED.contains(&kind) {
        return Ok(Answer::NotMade);
    }
    let [slow, in_turn, good, of_network, on_demand] = [SLOW, IN_TURN, GOOD, OF_NETWORK, ON_DEMAND];
    let is_right = match (truth.dependence, truth.pattern) {
        (Dependence::Output, _) => [slow, &["file access"]].concat().contains(&kind),
        (Dependence::Reduction, _) if kind == "communication" => is_reduction_doubted(report),
        (Dependence::IdleMaster, _) => on_demand.contains(&kind),
        (Dependence::OnDemand, _) => [slow, good, on_demand].concat().contains(&kind),
        (Dependence::Target, pattern) if pattern != "even" || kind == "busy target" => {
            [slow, good, &["busy target"]].concat().contains(&kind)
        }
        (Dependence::Lock, _) => kind == "held lock",
        (Dependence::Sweep, _) | (Dependence::Chain, "even") => kind == "chains" || kind == "serialization",
        (_, "even") => {
            let most_percent = match of_network.contains(&kind) {
                true => most_percent_in_communication(truth, report)?,
                false => HARDLY_ANY + percent_outside_of_steps(truth, report)?,
            };
            good.contains(&kind) || verdict_lost_percent(report) < most_percent
        }
        (Dependence::All, "moving") => ["moving rank", "slow in turn", "serialization"].contains(&kind),
        (Dependence::All, "opposed") => kind == "slow in parts",
        // Two ranks that overlap parts with messages in transit do not wait for each other at all.
        (_, "opposed") if percent_lost(truth, report)? < HARDLY_ANY => good.contains(&kind),
        (_, "opposed") => [in_turn, slow, &["slow in parts"]].concat().contains(&kind),
        (Dependence::All | Dependence::Reduction, "chance") => [in_turn, slow].concat().contains(&kind),
        (_, "moving" | "chance") => [in_turn, slow].concat().contains(&kind),
        _ => slow.contains(&kind),
    };
    Ok(is_or(is_right, || format!("{kind}: {}", sentence(report))))
}

fn is_reduction_doubted(report: &Value) -> bool {
    report["verdict"]["text"].as_str().is_some_and(|text| text.contains("MPI_Op_create"))
}

/// The ranks that the first sentence names, where one or two are slow.
fn judge_ranks(truth: &Truth, report: &Value) -> anyhow::Result<Answer> {
    let Some(&slowest) = truth.slow_ranks.first() else { return Ok(Answer::NotMade) };
    if truth.dependence.is_on_demand() || ["no cores", "set-up"].contains(&answer_kind(report)) {
        return Ok(Answer::NotMade);
    }
    let sentence = sentence(report);
    let named =
        sentence.split("rank ").nth(1).map(|rest| rest.chars().take_while(char::is_ascii_digit).collect::<String>());
    match named.and_then(|digits| digits.parse::<u64>().ok()) {
        Some(named) => Ok(is_or(named == slowest, || format!("rank {slowest} is the slowest: {sentence}"))),
        None => Ok(Answer::NotMade),
    }
}

/// Returns the seconds of each rank's computation, and access to files, in `list`.
fn seconds_by_rank(list: &Value, seconds: &str) -> anyhow::Result<BTreeMap<u64, f64>> {
    let mut by_rank = BTreeMap::new();
    for row in rows(list, seconds)? {
        let is_work = ["computation", "io"].contains(&row["activity"].as_str().unwrap_or_default());
        if let Some(rank) = row["rank"].as_u64().filter(|_| is_work) {
            *by_rank.entry(rank).or_insert(0.0) += row[seconds].as_f64().context("seconds")?;
        }
    }
    Ok(by_rank)
}

fn judge_causes(truth: &Truth, report: &Value) -> anyhow::Result<Answer> {
    if truth.dependence.is_on_demand() {
        return Ok(Answer::NotMade);
    }
    let caused_s = seconds_by_rank(&report["blocking"]["causes"], "caused_s")?;
    let total_s: f64 = caused_s.values().sum();
    let share = |rank: u64| caused_s.get(&rank).copied().unwrap_or(0.0) / total_s;
    let shares = || {
        let each: Vec<String> = (0..truth.n_ranks as u64).map(|rank| format!("{:.0}", 100.0 * share(rank))).collect();
        format!("ranks cause {} %", each.join(", "))
    };
    let least = match truth.dependence {
        _ if truth.is_out_of_phase() => MOSTLY_OUT_OF_PHASE,
        Dependence::Chain => MOSTLY_IN_CHAIN,
        _ => MOSTLY,
    };
    if matches!(truth.dependence, Dependence::Sweep | Dependence::Lock) {
        let is_by_work = (0..).zip(&truth.work_shares).all(|(rank, of_work)| (share(rank) - of_work).abs() <= 0.07);
        return Ok(is_or(is_by_work, shares));
    }
    Ok(match truth.slow_ranks.as_slice() {
        [slow] => is_or(share(*slow) >= least, shares),
        [first, second] => {
            let is_first = (0..truth.n_ranks as u64).all(|rank| share(rank) <= share(*first));
            is_or(is_first && share(*first) + share(*second) >= least, shares)
        }
        _ if truth.pattern == "opposed" && truth.dependence == Dependence::All => {
            is_or(share(0) + share(truth.n_ranks as u64 - 1) >= MOSTLY, shares)
        }
        _ if truth.pattern == "moving" && truth.dependence == Dependence::All => {
            let even = 1.0 / truth.n_ranks as f64;
            let n_turns = truth.n_steps.div_ceil(4);
            let is_even = (0..truth.n_ranks.min(n_turns) as u64).all(|rank| {
                let fraction = even.max(1.0 / n_turns as f64);
                (share(rank) - fraction).abs() <= 0.07
            });
            is_or(is_even, shares)
        }
        _ => Answer::NotMade,
    })
}

fn judge_path(truth: &Truth, report: &Value) -> anyhow::Result<Answer> {
    let [slow] = truth.slow_ranks.as_slice() else { return Ok(Answer::NotMade) };
    if truth.dependence.is_on_demand() || truth.dependence == Dependence::Output {
        return Ok(Answer::NotMade);
    }
    let on_path_s = seconds_by_rank(&report["critical_path"]["parts"], "time_s")?;
    let first = on_path_s.iter().max_by(|a, b| a.1.total_cmp(b.1)).map(|(&rank, _)| rank);
    Ok(is_or(first == Some(*slow), || format!("{on_path_s:.3?}")))
}

/// The number of iterations of the main loop, or of one in it: rounds of some steps with an output after each are a loop around that of the steps.
fn judge_loop(truth: &Truth, report: &Value) -> Answer {
    if truth.dependence.is_on_demand() {
        return Answer::NotMade;
    }
    let loops = report["loops"].as_array().cloned().unwrap_or_default();
    let Some(main) = loops.iter().find(|row| row["main"] == true) else { return Answer::NotMade };
    let number = |name: &str| main[name].as_f64().unwrap_or(0.0);
    let steps = truth.n_steps as f64;
    let is_within = number("possible_min") - 1.0 <= steps && steps <= number("possible_max") + 1.0;
    let is_inner = loops
        .iter()
        .any(|row| row["parent"].is_u64() && (row["iterations_max"].as_f64().unwrap_or(0.0) - steps).abs() <= 1.0);
    is_or(is_within || is_inner || main["confidence"] == "unsure", || {
        format!(
            "{} ({} to {}), {}",
            number("iterations_max"),
            number("possible_min"),
            number("possible_max"),
            main["confidence"]
        )
    })
}

/// Returns the number before ` %)` of a text such as `1.32 s → 0.67 s (−49 %)`.
fn percent_in(text: &str) -> Option<f64> {
    let (before, _) = text.rsplit_once(" %")?;
    let digits = before.rsplit(['(', '−', '-', ' ']).next()?;
    digits.parse().ok()
}

fn judge_gain(truth: &Truth, report: &Value) -> anyhow::Result<Answer> {
    let lines = rows(&report["verdict"]["answer"]["lines"], "lines")?;
    let Some(gain) = lines.iter().find(|line| line["label"] == "gain").and_then(|line| line["text"].as_str()) else {
        return Ok(Answer::NotMade);
    };
    let promised = percent_in(gain).with_context(|| gain.to_owned())?;
    if gain.ends_with("if all workers ended together") {
        let bound = truth.last_piece_percent(elapsed_s(report)?) + TOLERANCE;
        let may_be = truth.dependence.is_on_demand() && promised <= bound;
        return Ok(is_or(may_be, || format!("{gain}, really at most {bound:.1} %")));
    }
    if gain.starts_with("at most") && truth.dependence != Dependence::Reduction {
        let bound = most_percent_in_communication(truth, report)?;
        return Ok(is_or(promised <= bound, || format!("{gain}, really hardly any")));
    }
    if !truth.has_plan() || truth.dependence == Dependence::Reduction {
        return Ok(is_or(truth.pattern != "even", || gain.to_owned()));
    }
    let really = match gain {
        _ if gain.starts_with("average ") => -truth.change_percent("cut"),
        _ if gain.starts_with("even work in each iteration") => -truth.change_percent("each"),
        // In every region, in the one that has the excess, or on all ranks.
        _ if gain.starts_with("even work ") => -truth.change_percent("parts"),
        _ => truth.best_saving_percent(),
    };
    Ok(is_or((promised - really).abs() <= TOLERANCE, || format!("{gain}, really −{really:.1} %")))
}

/// The parts of what is lost: their classes, ranks, and what would be gained without them.
fn judge_findings(truth: &Truth, report: &Value) -> anyhow::Result<Answer> {
    let best = truth.best_saving_percent();
    let mut wrong = Vec::new();
    for finding in rows(&report["findings"], "findings")? {
        let kind = finding["kind"].as_str().context("kind")?;
        let text = finding["sentence"].as_str().unwrap_or_default();
        let share = 100.0 * finding["share"].as_f64().unwrap_or(0.0);
        if share < HARDLY_ANY {
            continue;
        }
        if OF_NETWORK.contains(&kind) {
            let is_doubted =
                truth.dependence == Dependence::Reduction && finding["advice"].to_string().contains("MPI_Op_create");
            if truth.has_plan() && !is_doubted && share > most_percent_in_communication(truth, report)? {
                wrong.push(format!("nothing is lost to the network: {text}"));
            }
            continue;
        }
        let saved = 100.0 * finding["gain_share"].as_f64().unwrap_or(0.0);
        if truth.has_plan() && truth.dependence != Dependence::Reduction && saved > best + TOLERANCE {
            wrong.push(format!("really at most {best:.1} % are saved: {text}"));
        }
        let ranks = || rows(&finding["ranks"], "ranks").into_iter().flatten().filter_map(Value::as_u64);
        if SLOW.contains(&kind)
            && truth.has_plan()
            && !truth.slow_ranks.is_empty()
            && !(ranks().next().is_none() || ranks().any(|rank| truth.slow_ranks.contains(&rank)))
        {
            wrong.push(format!("not ranks {}: {text}", finding["ranks"]));
        }
    }
    Ok(is_or(wrong.is_empty(), || wrong.join("; ")))
}

/// The rows of what a change would gain.
fn judge_predictions(truth: &Truth, report: &Value) -> anyhow::Result<Answer> {
    if !truth.has_plan() || matches!(truth.dependence, Dependence::Output | Dependence::Reduction) {
        return Ok(Answer::NotMade);
    }
    let predictions = rows(&report["predictions"], "predictions")?;
    let slowest = truth.slow_ranks.first().copied();
    let mut wrong = Vec::new();
    let mut n_made = 0;
    for (scenario, change) in
        [("rank as the mean", "cut"), ("regions balanced", "parts"), ("run balanced in each iteration", "each")]
    {
        let is_cut = change == "cut";
        let row =
            predictions.iter().find(|row| row["scenario"] == scenario && (!is_cut || row["rank"].as_u64() == slowest));
        let Some(saved) = row.and_then(|row| row["saved_share"].as_f64()) else { continue };
        n_made += 1;
        let (predicted, really) = (-100.0 * saved, truth.change_percent(change));
        if (predicted - really).abs() > TOLERANCE {
            wrong.push(format!("{scenario}: {predicted:.1} %, really {really:.1} %"));
        }
    }
    if n_made == 0 {
        return Ok(Answer::NotMade);
    }
    Ok(is_or(wrong.is_empty(), || wrong.join("; ")))
}
