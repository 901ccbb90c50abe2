//! Writes results to standard output or a file.

pub(super) mod ascii;
pub(super) mod atomic_file;
pub(super) mod progress;

use std::borrow::Cow;
use std::env;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use crate::exit::print_note;
use crate::output::atomic_file::replace_file;
pub use crate::output::atomic_file::write_to;
use anstream::{AutoStream, ColorChoice};
use anyhow::Context;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use lbprof_collector::words::{format_bytes, is_utf8_locale};
use lbprof_report::text::escape_message;

/// Options that all commands understand.
#[derive(Args)]
#[command(next_help_heading = "Output")]
pub struct CommonOptions {
    /// Do not look up functions and source lines; call sites are shown as module and offset.
    #[arg(long, hide_short_help = true)]
    pub no_symbols: bool,

    /// Print only errors: no notes, no progress.
    ///
    /// With --html, a report is not printed as text. With conditions it is printed only where --top, --full or --markdown asks for it,
    /// and a comparison is not where there are conditions or files to write. Conditions that hold are reported always.
    #[arg(short, long)]
    pub quiet: bool,

    /// When to use colours [default: auto, on a terminal unless NO_COLOR is set].
    #[arg(long, value_name = "WHEN", hide_short_help = true, hide_default_value = true, default_value = "auto", value_parser = color_choices())]
    pub color: ColorChoice,
}

/// Options of commands that read no run, for their text.
#[derive(Args)]
#[command(next_help_heading = "Output")]
pub struct DisplayOptions {
    /// Width of a line in columns [default: the terminal's, up to 120; 100 in a file].
    #[arg(long, hide_short_help = true, value_name = "N", value_parser = clap::value_parser!(u16).range(60..))]
    pub width: Option<u16>,

    /// When to use colours [default: auto, on a terminal unless NO_COLOR is set].
    #[arg(long, value_name = "WHEN", hide_short_help = true, hide_default_value = true, default_value = "auto", value_parser = color_choices())]
    pub color: ColorChoice,
}

impl DisplayOptions {
    pub fn columns(&self) -> usize {
        self.width.map_or_else(default_columns, usize::from)
    }

    pub fn print(&self, text: &str) -> anyhow::Result<()> {
        print_text(text, self.color)
    }
}

/// Prints a text that may contain colours.
pub fn print_text(text: &str, color: ColorChoice) -> anyhow::Result<()> {
    let mut out = AutoStream::new(io::stdout(), color).lock();
    let text = if is_utf8_locale(|name| env::var(name).ok()) { Cow::Borrowed(text) } else { ascii::to_ascii(text) };
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("standard output")
}

/// Parses the user's choice between colours and plain text.
fn color_choices() -> impl TypedValueParser<Value = ColorChoice> {
    PossibleValuesParser::new(["auto", "always", "never"]).map(|choice| match choice.as_str() {
        "always" => ColorChoice::Always,
        "never" => ColorChoice::Never,
        _ => ColorChoice::Auto,
    })
}

pub const A_BROWSER: &str = "a browser, also without a network";

pub const IN_A_FILE: usize = 100;

/// Returns the terminal's width, within readable limits.
pub fn default_columns() -> usize {
    let on_terminal = io::stdout().is_terminal().then(terminal_size::terminal_size).flatten();
    on_terminal.map_or(IN_A_FILE, |(width, _)| usize::from(width.0).clamp(60, 120))
}

/// Writes a file atomically, or standard output for `-`.
pub fn write_file(path: &Path, write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>) -> anyhow::Result<()> {
    if path.as_os_str() == "-" {
        return write_to(io::stdout(), write).context("standard output");
    }
    replace_file(path, write).with_context(|| path.display().to_string())
}

/// Reports on standard error which file or folder was written, its size, and what opens it.
pub fn announce_output(path: &Path, opened_by: &str) {
    let files: Vec<u64> = match std::fs::read_dir(path) {
        Ok(entries) => entries.flatten().filter_map(|entry| entry.metadata().ok()).map(|found| found.len()).collect(),
        Err(_) => path.metadata().iter().map(std::fs::Metadata::len).collect(),
    };
    let path = escape_message(&path.display().to_string());
    print_note(format!("{path} ({}): open it with {opened_by}", format_bytes(files.iter().sum())));
}
