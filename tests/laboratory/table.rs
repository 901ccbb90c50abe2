//! The table of docs/validation.md: which statements are right in which cells.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, ensure};
use lbprof_tests::{mpi, place};

use crate::cell::{SHAPES, Shape};
use crate::statements::{Answer, COLUMNS, Judgement};

/// The lines around the generated table.
const BEGIN: &str = "<!-- Generated: scripts/test --lab -->";
const END: &str = "<!-- End of what is generated. -->";

fn folder() -> PathBuf {
    place::workspace().join("target/laboratory")
}

fn letter(answer: &Answer) -> char {
    match answer {
        Answer::Right => 'r',
        Answer::NotMade => 'n',
        Answer::Wrong(_) => 'w',
    }
}

/// Keeps the judgements of a shape's cells: a line each, `cell; rrnw…`.
pub fn write_rows(mpi: &str, shape: &Shape, rows: &[(String, Vec<Judgement>)]) -> anyhow::Result<()> {
    fs::create_dir_all(folder())?;
    let mut text = String::new();
    for (cell, judgements) in rows {
        let letters: String = judgements.iter().map(|judgement| letter(&judgement.answer)).collect();
        writeln!(text, "{cell}; {letters}")?;
        for judgement in judgements.iter().filter_map(Judgement::wrong) {
            writeln!(text, "  {judgement}")?;
        }
    }
    Ok(fs::write(folder().join(format!("{mpi}-{}.rows", shape.title())), text)?)
}

/// Sums up the rows of a shape under an MPI: by column how many statements are right, wrong and not made.
fn read_rows(mpi: &str, shape: &Shape) -> Option<BTreeMap<usize, [usize; 3]>> {
    let text = fs::read_to_string(folder().join(format!("{mpi}-{}.rows", shape.title()))).ok()?;
    let mut sums: BTreeMap<usize, [usize; 3]> = BTreeMap::new();
    for letters in text.lines().filter(|line| !line.starts_with(' ')).filter_map(|line| Some(line.rsplit_once("; ")?.1))
    {
        for (column, one) in letters.chars().enumerate() {
            let at = "rwn".find(one)?;
            sums.entry(column).or_default()[at] += 1;
        }
    }
    Some(sums)
}

/// Returns the table of all shapes whose rows are there.
fn generate() -> String {
    let mut text =
        format!("| shape, bytes, ranks | MPI | {} |\n|---|---|{}\n", COLUMNS.join(" | "), "---|".repeat(COLUMNS.len()));
    for shape in &SHAPES {
        for mpi in mpi::names() {
            let Some(sums) = read_rows(&mpi, shape) else { continue };
            let name = format!("{}, {} B, {}", shape.name, shape.bytes, shape.n_ranks);
            let cells: Vec<String> = (0..COLUMNS.len())
                .map(|column| match sums.get(&column).copied().unwrap_or_default() {
                    [0, 0, _] => "–".to_owned(),
                    [right, 0, _] => right.to_string(),
                    [right, wrong, _] => format!("{right}, **{wrong} wrong**"),
                })
                .collect();
            text.push_str(&format!("| {name} | {mpi} | {} |\n", cells.join(" | ")));
        }
    }
    text
}

/// Checks that the docs have a table of all shapes; with `UPDATE_DOCS` writes it from the rows of the last runs of all cells.
pub fn check() -> anyhow::Result<()> {
    let path = place::workspace().join("docs/validation.md");
    let page = fs::read_to_string(&path)?;
    let (before, rest) = page.split_once(BEGIN).with_context(|| format!("no {BEGIN} in docs/validation.md"))?;
    let (table, after) = rest.split_once(END).with_context(|| format!("no {END} in docs/validation.md"))?;
    if std::env::var_os("UPDATE_DOCS").is_some() {
        return Ok(fs::write(&path, format!("{before}{BEGIN}\n\n{}\n{END}{after}", generate()))?);
    }
    for shape in &SHAPES {
        let name = format!("| {}, {} B, {} |", shape.name, shape.bytes, shape.n_ranks);
        ensure!(table.contains(&name), "docs/validation.md lacks {name}");
    }
    Ok(())
}
