//! The threads of the process, as the system has them.
//!
//! Folders are read by system calls alone: the C library's functions for that take memory from its heap, and a handler that forks while that is
//! locked waits for ever.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;

use crate::machine::system::files::kept_file::KeptFile;
use crate::machine::system::process;
use crate::sampling::python_reader;

const FOLDER: &str = "/proc/self/task";

/// The open folder of the tasks.
static OPEN: KeptFile = KeptFile::new();

/// Opens what is needed each time that threads are looked for.
pub fn prepare_tasks() {
    let _ = OPEN.file(|| File::open(FOLDER));
}

/// Returns the numbers of all threads of the program for system calls, in ascending order, and the folder's links; `None` if the system does not say, or
/// the links are as many as `known` and there is only one thread.
pub fn list_threads(known: u64) -> Option<(u64, Vec<libc::pid_t>)> {
    // Each folder in it adds a link, beside its own two.
    let links = std::fs::metadata(FOLDER).ok()?.nlink();
    if links == known && links == 3 {
        return None;
    }
    let mut threads = Vec::new();
    let folder = OPEN.file(|| File::open(FOLDER)).ok()?.as_raw_fd();
    // SAFETY: plain system calls with live arguments, on a descriptor of our own.
    unsafe {
        if libc::lseek(folder, 0, libc::SEEK_SET) != 0 {
            return None;
        }
        let mut entries = vec![0u8; 8192];
        loop {
            let read = libc::syscall(libc::SYS_getdents64, folder, entries.as_mut_ptr(), entries.len());
            let Some(read) = usize::try_from(read).ok().filter(|&read| read > 0) else { break };
            add_numbers(entries.get(..read).unwrap_or_default(), &mut threads);
        }
    }
    if !process::is_proc_of_own_namespace() {
        threads = threads.into_iter().filter_map(process::number_in_own_namespace).collect();
    }
    threads.retain(|&thread| !python_reader::is_reader(thread));
    threads.sort_unstable();
    Some((links, threads))
}

/// Adds the numbers among the names of entries: | inode u64 | offset u64 | bytes of the entry u16 | type u8 | name, ended by 0 | (getdents64(2)).
fn add_numbers(mut entries: &[u8], numbers: &mut Vec<libc::pid_t>) {
    const NAME_AT: usize = 19;
    while let Some(&[low, high]) = entries.get(16..18) {
        let bytes = usize::from(u16::from_le_bytes([low, high]));
        let name = entries.get(NAME_AT..bytes).unwrap_or_default().split(|&byte| byte == 0).next().unwrap_or_default();
        numbers.extend(str::from_utf8(name).ok().and_then(|name| name.parse::<libc::pid_t>().ok()));
        entries = entries.get(bytes.max(1)..).unwrap_or_default();
    }
}
