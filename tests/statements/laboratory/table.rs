//! The table of docs/validation.md: which statements are right in which cells.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, ensure};
use lbprof_tests::{mpi, place};

use super::cell::{Dependence, SHAPES, Shape};
use super::statements::{Answer, COLUMNS, Judgement};

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

/// Returns the shapes by how their ranks depend on one another, in the order of [`SHAPES`].
fn shapes_by_dependence() -> Vec<(Dependence, Vec<&'static Shape>)> {
    let mut groups: Vec<(Dependence, Vec<&'static Shape>)> = Vec::new();
    for shape in SHAPES.iter() {
        match groups.iter_mut().find(|(dependence, _)| *dependence == shape.dependence) {
            Some((_, shapes)) => shapes.push(shape),
            None => groups.push((shape.dependence, vec![shape])),
        }
    }
    groups
}

fn dependence_words(dependence: Dependence) -> &'static str {
    match dependence {
        Dependence::All => "all others",
        Dependence::Neighbours => "neighbours",
        Dependence::Overlap => "neighbours, sends before the work",
        Dependence::Turns => "neighbours in turn",
        Dependence::Chain => "the rank before",
        Dependence::Sweep => "the rank before, one at a time",
        Dependence::Lock => "the holder of a lock",
        Dependence::Target => "the last rank's memory",
        Dependence::OnDemand => "work on demand",
        Dependence::IdleMaster => "work on demand from a rank that does none",
        Dependence::Output => "rank 0's output",
        Dependence::Reduction => "a reduction that is work",
    }
}

fn shape_name(shape: &Shape) -> String {
    format!("{} {}/{}", shape.name, shape.bytes, shape.n_ranks)
}

/// Returns the table of all shapes whose rows are there, a row for each dependence, and a list of what is wrong.
fn generate() -> String {
    let mut text =
        format!("| ranks depend on | {} | shapes |\n|---|{}---|\n", COLUMNS.join(" | "), "---|".repeat(COLUMNS.len()));
    let mut wrong_cells = Vec::new();
    for (dependence, shapes) in shapes_by_dependence() {
        let mut sums = [[0; 2]; COLUMNS.len()];
        for shape in &shapes {
            for mpi in mpi::names() {
                for (column, [right, wrong, _]) in read_rows(&mpi, shape).unwrap_or_default() {
                    sums[column][0] += right;
                    sums[column][1] += wrong;
                    if wrong > 0 {
                        wrong_cells.push((shape_name(shape), mpi.clone(), format!("{} {wrong}", COLUMNS[column])));
                    }
                }
            }
        }
        let cells = sums.map(|[right, wrong]| match (right, wrong) {
            (0, 0) => "–".to_owned(),
            (right, 0) => right.to_string(),
            (right, wrong) => format!("{right}, **{wrong} wrong**"),
        });
        let names: Vec<String> = shapes.iter().map(|shape| shape_name(shape)).collect();
        text.push_str(&format!(
            "| {} | {} | {} |\n",
            dependence_words(dependence),
            cells.join(" | "),
            names.join(", ")
        ));
    }
    let lists = wrong_cells.chunk_by(|one, next| (&one.0, &one.1) == (&next.0, &next.1)).map(|cells| {
        let columns: Vec<&str> = cells.iter().map(|(_, _, column)| column.as_str()).collect();
        format!("{} under {}: {}", cells[0].0, cells[0].1, columns.join(", "))
    });
    let lists: Vec<String> = lists.collect();
    text.push_str(&format!("\nWrong: {}.\n", if lists.is_empty() { "none".to_owned() } else { lists.join("; ") }));
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
    for shape in SHAPES.iter() {
        let name = shape_name(shape);
        ensure!(table.contains(&name), "docs/validation.md lacks {name}");
    }
    Ok(())
}
