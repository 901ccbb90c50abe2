//! Names of code and calls in a sentence.

use lbprof_analysis::structure::code_place::CodePlace;

use crate::losses::LossAt;
use crate::words::{clean, short_path, shorten};

/// Most columns that a name takes within a sentence: whole, but for names that no reader could use.
pub const LONGEST_NAME: usize = 160;

/// Most columns that a call site takes within a sentence, with the calls by which the program gets there.
const LONGEST_PLACE: usize = 240;

/// A region's name in a sentence.
pub fn region_name(path: &str) -> String {
    shorten(&clean(short_path(path)), LONGEST_NAME)
}

/// Returns code between calls in a sentence: `main, from the call of forces (h.c:9) to the call of fields (h.c:10)`.
pub fn code_in_words(name: &str, between: Option<&str>) -> String {
    let function = name.rsplit_once(" (").map_or(name, |(function, _)| function);
    match between {
        Some(between) => format!("{}, {}", shorten(&clean(function), LONGEST_NAME), clean(between)),
        None => region_name(name),
    }
}

/// A call site in a sentence.
pub fn place_name(place: &CodePlace) -> String {
    shorten(&clean(&place.label()), LONGEST_PLACE)
}

/// A call and its site in a sentence: `MPI_Allreduce at residual (solver.c:41)`, or its name alone where there is no site.
pub fn call_in_words(at: &LossAt) -> String {
    match at.place == CodePlace::default() {
        true => format!("MPI_{}", at.operation),
        false => format!("MPI_{} at {}", at.operation, place_name(&at.place)),
    }
}
