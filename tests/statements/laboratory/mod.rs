//! The laboratory: every statement of a report against the truth, in every shape of communication with every pattern of imbalance.
//!
//! The program (programs/laboratory/) sleeps for its work by a plan. It runs recorded as it is, and bare with each change that a prediction is about.
//! What the first screen and the JSON's verdict, findings, causes and predictions state is compared with the plan and with what the changes really do:
//! each statement is right, wrong, or not made.
//!
//! A fixed sample of cells is judged, of stored runs by `scripts/test`. `LBTEST_LABORATORY=all`, as `scripts/test --lab` sets it, judges all cells; their rows, in
//! `target/laboratory`, are the table of docs/validation.md: `UPDATE_DOCS=1 cargo test -p lbprof-tests --test statements laboratory::table`.

mod cell;
mod statements;
mod table;
mod truth;

use lbprof_tests::mpi;
use lbprof_tests::suite;
use libtest_mimic::Trial;

use self::cell::{Cell, SAMPLE, SHAPES, Shape};

pub fn trials() -> anyhow::Result<Vec<Trial>> {
    let is_all = std::env::var_os("LBTEST_LABORATORY").is_some_and(|which| which == "all");
    mpi::all().map(|mpis| {
        let mut trials =
            vec![suite::trial("table".into(), table::check), suite::trial("kinds".into(), statements::check_kinds)];
        for mpi in &mpis {
            for shape in SHAPES.iter() {
                let cells: Vec<Cell> =
                    shape.cells().filter(|cell| is_all || SAMPLE.contains(&cell.name().as_str())).collect();
                if !cells.is_empty() {
                    trials.push(trial(mpi, shape, cells));
                }
            }
        }
        trials
    })
}

fn trial(mpi: &mpi::Mpi, shape: &'static Shape, cells: Vec<Cell<'static>>) -> libtest_mimic::Trial {
    let mpi = mpi.clone();
    suite::trial(format!("{}::{}", shape.title(), mpi.name), move || cell::judge(&mpi, shape, &cells))
}
