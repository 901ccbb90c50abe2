//! The hosts of a job find each other in the run's folder, without a message of MPI: which ranks of all hosts run the library.
//!
//! The leader of each host ([`crate::run::peers`]) leaves a file with its ranks in `.hosts/`. A leader that sees all ranks of the job, or has
//! waited long enough, writes the ranks that it sees to `.hosts/all`. There can be one such file, which holds for all hosts.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::machine::system::files::owned_files::{OwnedFolder, open_owned};

/// Time to wait for ranks of other hosts. MPI_Init has returned, so they will arrive if they exist; a network file system may show their
/// files seconds later.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// Returns the ranks of all hosts that run the library, ascending and the same on all hosts; empty if they cannot be found out. `own` are the ranks of
/// this host, `size` is the number of ranks of the job, and `patience` the time to wait for them.
pub fn agree_on_ranks(run: &Path, own: &[u32], size: usize, patience: Duration) -> Vec<u32> {
    let folder = run.join(".hosts");
    let found = OwnedFolder::open_or_create(&folder).and_then(|_| {
        let first = own.iter().min().copied().unwrap_or_default();
        write_own_ranks(&folder, first, own)?;
        wait_for_hosts(&folder, first, size, patience)
    });
    found.unwrap_or_default()
}

fn wait_for_hosts(folder: &Path, first: u32, size: usize, patience: Duration) -> io::Result<Vec<u32>> {
    const LONGEST_NAP: Duration = Duration::from_millis(200);
    let mut nap = Duration::from_millis(2);
    let until = Instant::now() + patience;
    let result = folder.join("all");
    let (mut files, mut seen) = (BTreeSet::new(), BTreeSet::new());
    loop {
        if let Ok(ranks) = read_ranks(&result) {
            return Ok(ranks);
        }
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name();
            if name.as_encoded_bytes().starts_with(b"host-") && !files.contains(&name) {
                seen.extend(read_ranks(&entry.path())?);
                files.insert(name);
            }
        }
        if seen.len() >= size || Instant::now() >= until {
            return settle_ranks(folder, first, &result, seen);
        }
        std::thread::sleep(nap);
        nap = LONGEST_NAP.min(2 * nap);
    }
}

/// Makes the file `result`, at once and whole, unless another host has made it, and returns the ranks in it. `first` is the first rank of this host.
fn settle_ranks(folder: &Path, first: u32, result: &Path, seen: BTreeSet<u32>) -> io::Result<Vec<u32>> {
    let draft = folder.join(format!("draft-all-{first}"));
    write_ranks(&draft, seen)?;
    let made = fs::hard_link(&draft, result);
    fs::remove_file(&draft)?;
    match made {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => read_ranks(result),
    }
}

/// Leaves this host's ranks: under another name first, so that no host reads a part of them.
fn write_own_ranks(folder: &Path, first: u32, own: &[u32]) -> io::Result<()> {
    let draft = folder.join(format!("draft-{first}"));
    write_ranks(&draft, own.iter().copied())?;
    fs::rename(draft, folder.join(format!("host-{first}")))
}

fn write_ranks(path: &Path, ranks: impl IntoIterator<Item = u32>) -> io::Result<()> {
    let text: String = ranks.into_iter().map(|rank| format!("{rank}\n")).collect();
    open_owned(path, libc::O_WRONLY | libc::O_CREAT)?.write_all(text.as_bytes())
}

fn read_ranks(path: &Path) -> io::Result<Vec<u32>> {
    let text = io::read_to_string(open_owned(path, libc::O_RDONLY)?)?;
    Ok(text.lines().filter_map(|line| line.parse().ok()).collect())
}
