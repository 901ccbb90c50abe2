//! A study as one HTML file that needs nothing beside it: its runs, how they scale, the laws that they follow, the causal model.
//!
//! The page is made in `analyzer/page/src/study`. docs/study-page-data.md says what it reads: it, its schema and the page's types are generated
//! from the structs here (`report/html/schema.rs`). Names are text everywhere.

mod laws;
mod scaling;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use serde::Serialize;

use self::laws::RelationRow;
use self::scaling::ScalingChart;
use super::models::StudyModels;
use super::models::causal::CausalGraph;
use super::store::StoredRun;
use super::table::{TableRequest, make_tables};
use super::text;
use lbprof_analysis::metrics::spread::load_balance::EfficiencyTimes;
use lbprof_report::html::{inert_json, write_html_page};
use lbprof_report::rows::words::escape_name;

const COLUMNS: usize = 100;

/// Writes the page of a study of this name.
pub fn write_study_page(name: &str, runs: &[StoredRun], out: &mut dyn Write) -> io::Result<()> {
    let files = [include_str!("../../../page/dist/study.css"), include_str!("../../../page/dist/study.js")];
    let tables = make_tables(runs, &TableRequest::default()).unwrap_or_default();
    let data = [("study", inert_json(&study_document(name, runs))?)];
    write_html_page(
        &format!("lbprof: {}", escape_name(name)),
        files,
        &text::render_tables(&tables, COLUMNS),
        &data,
        out,
    )
}

/// The data of the page of a study.
#[derive(Debug, Serialize, crate::JsonSchema)]
#[schemars(title = "StudyData")]
pub struct StudyData<'a> {
    /// `lbprof-study-page/1`.
    schema: &'static str,
    /// Name of the study's file.
    name: &'a str,
    /// Names of all parameters.
    params: BTreeSet<&'a str>,
    /// The runs, by number.
    runs: Vec<StudyRunRow<'a>>,
    /// Figures against each thing in which runs differ that have everything else in common; ranks first.
    scaling: Vec<ScalingChart>,
    /// The models of each program.
    programs: Vec<ProgramModels>,
    /// Why some programs have no models.
    problems: Vec<String>,
}

/// The models of a program.
#[derive(Debug, Serialize, crate::JsonSchema)]
struct ProgramModels {
    /// The program.
    program: String,
    /// Dependences of all phases, then of the whole run.
    relations: Vec<RelationRow>,
    /// The causal model.
    graph: CausalGraph,
}

/// A run, with the times and efficiencies of its report.
#[derive(Debug, Serialize, crate::JsonSchema)]
struct StudyRunRow<'a> {
    /// Its number in the study.
    number: u32,
    /// The user's name for the run, such as a commit; empty if there is none.
    label: &'a str,
    /// Its program.
    program: &'a str,
    /// Its ranks.
    ranks: u32,
    /// The value of each of its parameters, by name.
    params: &'a BTreeMap<String, f64>,
    /// Its hosts.
    hosts: &'a [String],
    /// Start, in seconds since 1970.
    started_unix_s: u64,
    /// Its command line.
    command: &'a [String],
    /// True if its data are complete.
    complete: bool,
    /// Its times.
    #[serde(flatten)]
    times: &'a EfficiencyTimes,
    /// Parallel efficiency.
    parallel: Option<f64>,
    /// Load balance.
    load_balance: Option<f64>,
    /// Micro load balance.
    micro_load_balance: Option<f64>,
    /// Transfer efficiency.
    transfer: Option<f64>,
}

/// Collects the data of the page.
pub fn study_document<'a>(name: &'a str, runs: &'a [StoredRun]) -> StudyData<'a> {
    let mut problems = Vec::new();
    let mut programs = Vec::new();
    let mut by_program: BTreeMap<&str, Vec<&StoredRun>> = BTreeMap::new();
    for kept in runs {
        by_program.entry(kept.run.program()).or_default().push(kept);
    }
    for (program, own) in by_program {
        let figures: Vec<_> = own.iter().map(|kept| kept.run.clone()).collect();
        match StudyModels::from_runs(&figures) {
            Ok(models) => {
                let numbers: Vec<u32> = own.iter().map(|kept| kept.number).collect();
                programs.push(ProgramModels {
                    program: escape_name(program),
                    relations: laws::relation_rows(&models, &numbers),
                    graph: CausalGraph::from_models(&models),
                });
            }
            Err(error) => problems.push(format!("{program}: {error}.")),
        }
    }
    StudyData {
        schema: "lbprof-study-page/1",
        name,
        params: runs.iter().flat_map(|kept| kept.run.params.keys().map(String::as_str)).collect(),
        runs: runs.iter().map(study_run_row).collect(),
        scaling: scaling::scaling_charts(runs),
        programs,
        problems,
    }
}

fn study_run_row(kept: &StoredRun) -> StudyRunRow<'_> {
    let StoredRun { number, run } = kept;
    let times = &run.times;
    StudyRunRow {
        number: *number,
        label: &run.label,
        program: run.program(),
        ranks: run.n_ranks,
        params: &run.params,
        hosts: &run.hosts,
        started_unix_s: run.started_unix_s,
        command: &run.command,
        complete: run.complete,
        times,
        parallel: times.parallel(),
        load_balance: times.load_balance(),
        micro_load_balance: times.micro_load_balance(),
        transfer: times.transfer(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::models::multiplication_tests;

    fn study() -> Vec<StoredRun> {
        (1..).zip(multiplication_tests::study()).map(|(number, run)| StoredRun { number, run }).collect()
    }

    fn value(name: &str, runs: &[StoredRun]) -> Value {
        serde_json::to_value(study_document(name, runs)).expect("rows are JSON")
    }

    #[test]
    fn relations_are_reported_with_their_points_and_what_is_left_of_each() {
        let document = value("a study", &study());
        let relations = document["programs"][0]["relations"].as_array().unwrap();
        let law = relations.iter().find(|one| one["is_law"] == true && one["from"] == "#op multiply").unwrap();
        assert_eq!(law["equation"], "T_comp = 50.0 ns/operation·#op");
        let points = law["points"].as_array().unwrap();
        assert_eq!(points.len(), 13);
        assert!(points.is_sorted_by_key(|point| point["x"].as_f64().unwrap() as u64));
        // Each residual is of its own point, and the curve goes through what the law says.
        for point in points {
            let expected = 50e-9 * point["x"].as_f64().unwrap();
            let (y, residual) = (point["y"].as_f64().unwrap(), point["residual"].as_f64().unwrap());
            assert!((y - residual - expected).abs() < 1e-6 * expected, "{point}");
        }
        let curve = law["curve"].as_array().unwrap();
        assert_eq!(curve.len(), STEPS_AND_ONE);
        assert_eq!(curve[0][0], points[0]["x"]);
        let graph = &document["programs"][0]["graph"];
        assert!(graph["edges"].as_array().unwrap().iter().any(|edge| edge["to"] == "S" && edge["kind"] == "defined"));
    }

    const STEPS_AND_ONE: usize = 81;

    #[test]
    fn scaling_is_against_ranks_and_parameters_with_a_value_a_place() {
        let document = value("a study", &study());
        let scaling = document["scaling"].as_array().unwrap();
        assert_eq!(scaling.iter().map(|one| &one["by"]).collect::<Vec<_>>(), ["ranks", "n"]);
        for table in scaling.iter().flat_map(|one| one["tables"].as_array().unwrap()) {
            let places = table["x"].as_array().unwrap();
            assert!(places.is_sorted_by(|a, b| a.as_f64() < b.as_f64()));
            let lines = table["sections"].as_array().unwrap().iter().flat_map(|one| one["lines"].as_array().unwrap());
            assert!(lines.map(|line| line["values"].as_array().unwrap().len()).all(|n| n == places.len()));
        }
    }

    #[test]
    fn of_several_programs_each_has_models_of_its_own() {
        let mut runs = study();
        let mut other = runs[0].clone();
        other.run.command = vec!["other".to_owned()];
        runs.push(other);
        let document = value("a study", &runs);
        assert_eq!(document["programs"].as_array().unwrap().len(), 2);
    }
}
