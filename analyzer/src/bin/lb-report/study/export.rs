//! `lb-report study export`: a study for other programs.

use std::fs;
use std::path::PathBuf;

use anyhow::Context;
use clap::{ArgGroup, Args};
use lbprof_analyzer::study::{Study, export};

use crate::exit::Exit;
use crate::output::write_file;

/// Of what, and where to.
#[derive(Args)]
#[command(group(ArgGroup::new("form").required(true).multiple(true).args(["json", "csv"])))]
pub struct ExportArguments {
    /// The study's file.
    study: PathBuf,

    /// Write all tables as one JSON document to FILE; - is standard output.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Write each table as a CSV file into DIR.
    #[arg(long, value_name = "DIR")]
    csv: Option<PathBuf>,
}

/// Writes all tables.
pub fn run(arguments: &ExportArguments) -> anyhow::Result<Exit> {
    let tables = export::tables(&Study::open(&arguments.study)?)?;
    if let Some(path) = &arguments.json {
        write_file(path, |out| export::write_json(&tables, out))?;
    }
    if let Some(folder) = &arguments.csv {
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        for table in &tables {
            write_file(&folder.join(format!("{}.csv", table.name)), |out| export::write_csv(table, out))?;
        }
    }
    Ok(Exit::Good)
}
