//! Formats the contents of a study for a terminal. Colours are ANSI sequences; writers to a file or pipe strip them.

mod layout;
mod list;
mod remarks;
mod scaling_sentence;
mod show;

use anstyle::{AnsiColor, Style};

pub use list::{list_runs, one_line};
pub use scaling_sentence::scaling_sentence;
pub use show::render_tables;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default();
const NOTE: Style = AnsiColor::Yellow.on_default();

const DASH: &str = "–";
