//! What a shell and `man` need to know of lb-report's options.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use anyhow::Context;
use clap::CommandFactory;
use clap_complete::Shell;

use crate::Arguments;
use crate::exit::Exit;

/// Prints what a shell needs to complete options.
pub fn completions(shell: Shell) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "lb-report", &mut script);
    io::stdout().lock().write_all(&script).context("standard output")?;
    Ok(Exit::Good)
}

/// Prints the manual, or writes it to a folder, a file for each command.
pub fn manual(dir: Option<&Path>) -> anyhow::Result<Exit> {
    let command = Arguments::command();
    match dir {
        Some(dir) => {
            let written = fs::create_dir_all(dir).and_then(|()| clap_mangen::generate_to(command, dir));
            written.with_context(|| dir.display().to_string())?;
        }
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(command).render(&mut page)?;
            io::stdout().lock().write_all(&page).context("standard output")?;
        }
    }
    Ok(Exit::Good)
}
