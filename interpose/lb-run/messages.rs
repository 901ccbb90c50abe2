//! The messages of lb-run.

use std::fmt::Arguments;
use std::io::Write;

/// Prints one line on standard error by a single write, because ranks share it.
pub fn print_message(message: Arguments) {
    // A failure does not matter: there may be no reader.
    let _ = std::io::stderr().write_all(format!("lb-run: {message}\n").as_bytes());
}
