//! The messages of lb-run.

use std::fmt::Arguments;
use std::io::Write;

/// Says one line on standard error, in one piece, for ranks share it.
pub fn say(message: Arguments) {
    // Nobody may be listening: that is no reason not to go on.
    let _ = std::io::stderr().write_all(format!("lb-run: {message}\n").as_bytes());
}
