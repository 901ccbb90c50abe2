//! The hosts of a job find each other in the run's folder, without a message of MPI: which ranks of all hosts run the library.
//!
//! The leader of each host ([`crate::run::peers`]) leaves a file with its ranks in `.hosts/`. Who sees those of all ranks of the job, or has
//! waited long enough, writes down in `.hosts/all` whom it sees. There can be one such file; what it says holds for all hosts.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::system::owned_files::{OwnedFolder, open_owned};

/// Time to wait for ranks of other hosts. MPI_Init has returned, so they will arrive if they exist; a network file system may show their
/// files seconds later.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// The ranks of all hosts that run the library, ascending, as all hosts see it; empty where that cannot be found out. `own`: those of this
/// host; `size`: how many ranks the job has; `patience`: how long they are waited for.
pub fn agree_on_ranks(run: &Path, own: &[u32], size: usize, patience: Duration) -> Vec<u32> {
    let folder = run.join(".hosts");
    let found = OwnedFolder::open_or_create(&folder).and_then(|_| {
        write(&folder, own)?;
        agreed(&folder, size, patience)
    });
    found.unwrap_or_default()
}

fn agreed(folder: &Path, size: usize, patience: Duration) -> io::Result<Vec<u32>> {
    const NAPS: [Duration; 2] = [Duration::from_millis(2), Duration::from_millis(200)];
    let [mut nap, longest] = NAPS;
    let until = Instant::now() + patience;
    let result = folder.join("all");
    let mut seen = DiscoveredHosts::default();
    loop {
        if let Ok(text) = read_owned(&result) {
            return Ok(ranks(&text));
        }
        seen.look(folder)?;
        if seen.ranks.len() >= size || Instant::now() >= until {
            return settled(folder, &result, &seen.ranks);
        }
        std::thread::sleep(nap);
        nap = longest.min(2 * nap);
    }
}

/// Makes the file `result`, at once and whole, unless another host has made it; what it says.
fn settled(folder: &Path, result: &Path, seen: &BTreeSet<u32>) -> io::Result<Vec<u32>> {
    let draft = folder.join(format!("draft-all-{}-{}", crate::system::process::host(), std::process::id()));
    write_new(&draft, &text(seen.iter()))?;
    let made = fs::hard_link(&draft, result);
    fs::remove_file(&draft)?;
    match made {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(ranks(&read_owned(result)?)),
    }
}

/// Leaves this host's ranks: under another name first, so that nobody reads a part of them.
fn write(folder: &Path, own: &[u32]) -> io::Result<()> {
    let first = own.iter().min().copied().unwrap_or_default();
    let draft = folder.join(format!("draft-{first}"));
    write_new(&draft, &text(own.iter()))?;
    fs::rename(draft, folder.join(format!("host-{first}")))
}

/// The hosts that a host has discovered so far.
#[derive(Default)]
struct DiscoveredHosts {
    files: BTreeSet<OsString>,
    ranks: BTreeSet<u32>,
}

impl DiscoveredHosts {
    fn look(&mut self, folder: &Path) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name();
            if name.as_encoded_bytes().starts_with(b"host-") && !self.files.contains(&name) {
                self.ranks.extend(ranks(&read_owned(&entry.path())?));
                self.files.insert(name);
            }
        }
        Ok(())
    }
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    open_owned(path, libc::O_WRONLY | libc::O_CREAT)?.write_all(text.as_bytes())
}

fn read_owned(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open_owned(path, libc::O_RDONLY)?.read_to_string(&mut text)?;
    Ok(text)
}

fn text<'a>(ranks: impl Iterator<Item = &'a u32>) -> String {
    ranks.map(|rank| format!("{rank}\n")).collect()
}

fn ranks(text: &str) -> Vec<u32> {
    text.lines().filter_map(|line| line.parse().ok()).collect()
}
