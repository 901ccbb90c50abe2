//! `lb-report study export`: a study for other programs.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{ArgGroup, Args};
use lbprof_report::words::format_plural;
use lbprof_study::extrap::ExtrapMeasurements;
use lbprof_study::key::select_runs;
use lbprof_study::{RunCondition, RunMetrics, StudyFile, export};

use crate::exit::print_note;
use crate::output::write_file;

#[derive(Args)]
#[command(group(ArgGroup::new("form").required(true).multiple(true).args(["json", "csv", "extrap"])))]
pub struct StudyExportArguments {
    /// The study's file.
    study: PathBuf,

    /// Write all tables as one JSON document to FILE; - is standard output.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Write each table as a CSV file into DIR.
    #[arg(long, value_name = "DIR")]
    csv: Option<PathBuf>,

    /// Write the figures of regions as measurements for Extra-P, one JSON object per line, to FILE; - is standard output.
    ///
    /// Parameters are the number of ranks (p) and the parameters of the program, as far as the runs differ in them.
    #[arg(long, value_name = "FILE")]
    extrap: Option<PathBuf>,

    /// With --extrap: use these runs only: n=512, ranks=4, run=3, host=node1*.
    ///
    /// May be given several times; of several values for one name, any matches.
    #[arg(long = "where", value_name = "NAME=VALUE", requires = "extrap")]
    conditions: Vec<RunCondition>,
}

pub fn run_study_export(arguments: &StudyExportArguments) -> anyhow::Result<()> {
    let study = StudyFile::open(&arguments.study)?;
    if let Some(path) = &arguments.extrap {
        write_measurements(&study, path, &arguments.conditions)?;
    }
    let tables = export::read_tables(&study)?;
    if let Some(path) = &arguments.json {
        write_file(path, |out| export::write_json(&tables, out))?;
    }
    if let Some(folder) = &arguments.csv {
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        for table in &tables {
            write_file(&folder.join(format!("{}.csv", table.name)), |out| export::write_csv(table, out))?;
        }
    }
    Ok(())
}

/// Writes measurements for Extra-P, and reports which regions are left out.
fn write_measurements(study: &StudyFile, path: &Path, conditions: &[RunCondition]) -> anyhow::Result<()> {
    let all = study.runs()?;
    let kept = select_runs(&all, conditions)?;
    let runs: Vec<&RunMetrics> = kept.iter().map(|kept| &kept.run).collect();
    let measurements = ExtrapMeasurements::from_runs(&runs)?;
    write_file(path, |out| measurements.write(out))?;
    if measurements.left_out > 0 {
        let regions = format_plural(measurements.left_out as u64, "region");
        print_note(format!("left out {regions} that only some of the runs have: Extra-P needs each in all of them"));
    }
    Ok(())
}
