//! Where results go, and how they look there.

use std::io::{self, BufWriter, IsTerminal, Write};

use anstream::ColorChoice;
use clap::{Args, ValueEnum};

/// What all commands understand.
#[derive(Args)]
#[command(next_help_heading = "Output")]
pub struct Common {
    /// Do not look up functions and lines: call sites stay modules and offsets.
    #[arg(long)]
    pub no_symbols: bool,

    /// Nothing on standard error but errors.
    #[arg(short, long)]
    pub quiet: bool,

    /// When to colour [default: auto, on a terminal unless NO_COLOR is set].
    #[arg(long, value_name = "WHEN", hide_default_value = true, default_value = "auto")]
    pub color: Color,
}

/// When to colour.
#[derive(Clone, Copy, ValueEnum)]
pub enum Color {
    Auto,
    Always,
    Never,
}

impl Color {
    /// The same for what writes.
    pub fn choice(self) -> ColorChoice {
        match self {
            Color::Auto => ColorChoice::Auto,
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        }
    }
}

/// Columns of a line in a file.
pub const IN_A_FILE: usize = 100;

/// Columns of a line where the user does not say: those of the terminal, within what is readable.
pub fn default_columns() -> usize {
    let on_terminal = io::stdout().is_terminal().then(terminal_size::terminal_size).flatten();
    on_terminal.map_or(IN_A_FILE, |(width, _)| usize::from(width.0).clamp(60, 120))
}

/// Writes through a buffer.
pub fn write_to(sink: impl Write, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(sink);
    write(&mut out)?;
    out.flush()
}
