//! `lb-report study export`: a study for Extra-P. Other programs read its file, which is a database.

use std::path::PathBuf;

use clap::Args;
use lbprof_report::rows::words::format_plural;
use lbprof_study::extrap::ExtrapMeasurements;
use lbprof_study::key::select_runs;
use lbprof_study::{RunCondition, RunMetrics, StudyFile};

use crate::exit::print_note;
use crate::output::write_file;

#[derive(Args)]
pub struct StudyExportArguments {
    /// The study's file.
    study: PathBuf,

    /// Write the figures of regions as measurements for Extra-P, one JSON object per line, to FILE; - is standard output.
    ///
    /// Parameters are the number of ranks (p) and the parameters of the program, as far as the runs differ in them.
    #[arg(long, value_name = "FILE", required = true)]
    extrap: PathBuf,

    /// Use these runs only: n=512, ranks=4, run=3, host=node1*.
    ///
    /// May be given several times; of several values for one name, any matches.
    #[arg(long = "where", value_name = "NAME=VALUE")]
    conditions: Vec<RunCondition>,
}

/// Writes measurements for Extra-P, and reports which regions are left out.
pub fn run_study_export(arguments: &StudyExportArguments) -> anyhow::Result<()> {
    let all = StudyFile::open(&arguments.study)?.runs()?;
    let kept = select_runs(&all, &arguments.conditions)?;
    let runs: Vec<&RunMetrics> = kept.iter().map(|kept| &kept.run).collect();
    let measurements = ExtrapMeasurements::from_runs(&runs)?;
    write_file(&arguments.extrap, |out| measurements.write(out))?;
    if measurements.left_out > 0 {
        let regions = format_plural(measurements.left_out as u64, "region");
        print_note(format!("left out {regions} that only some of the runs have: Extra-P needs each in all of them"));
    }
    Ok(())
}
