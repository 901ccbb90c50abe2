//! Names of code and calls in sentences.

use lbprof_analysis::structure::code::code_place::CodePlace;

use crate::losses::LossAt;
use crate::rows::words::{escape_name, short_path, shorten_text};

/// Maximum width of a name in a sentence.
pub const LONGEST_NAME: usize = 160;

/// Maximum width of a call site with its path in a sentence.
const LONGEST_PLACE: usize = 240;

/// Formats a region's name.
pub fn region_name(path: &str) -> String {
    shorten_text(&escape_name(short_path(path)), LONGEST_NAME)
}

/// Formats code between calls, e.g. `main, from the call of forces (h.c:9) to the call of fields (h.c:10)`.
pub fn code_in_words(name: &str, between: Option<&str>) -> String {
    let function = name.rsplit_once(" (").map_or(name, |(function, _)| function);
    match between {
        Some(between) => format!("{}, {}", shorten_text(&escape_name(function), LONGEST_NAME), escape_name(between)),
        None => region_name(name),
    }
}

/// Formats a call site.
pub fn place_name(place: &CodePlace) -> String {
    shorten_text(&escape_name(&place.label()), LONGEST_PLACE)
}

/// Formats a call, e.g. `MPI_Allreduce at residual (solver.c:41)`.
pub fn call_in_words(at: &LossAt) -> String {
    match at.place == CodePlace::default() {
        true => format!("MPI_{}", at.operation),
        false => format!("MPI_{} at {}", at.operation, place_name(&at.place)),
    }
}
