//! Writes runs that are small on disk and made to keep their reader busy: what `lb-report` must survive, each through the real writer and
//! always with the same bytes.
//!
//! ```text
//! cargo run --release -p lbprof-simulator --example hostile_logs -- FOLDER [KIND [SIZE]]
//! ```
//!
//! makes FOLDER/KIND for the kind named, or for each; SIZE is how many there are of what the kind is about, by default so many that a run
//! stays below 100 MB.

mod kinds;

use std::io;
use std::path::PathBuf;

use kinds::KINDS;

fn main() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let Some(folder) = arguments.next().map(PathBuf::from) else {
        let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
        eprintln!("usage: hostile_logs FOLDER [KIND [SIZE]]; kinds: {}", names.join(", "));
        std::process::exit(2);
    };
    let wanted = arguments.next();
    let size = arguments.next().map(|text| text.parse().map_err(io::Error::other)).transpose()?;
    for kind in KINDS.iter().filter(|kind| wanted.as_deref().is_none_or(|wanted| wanted == kind.name)) {
        let folder = folder.join(kind.name);
        std::fs::create_dir_all(&folder)?;
        (kind.write)(&folder, size.unwrap_or(kind.size))?;
    }
    Ok(())
}
