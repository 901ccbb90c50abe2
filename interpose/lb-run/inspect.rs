//! Why a program could not be recorded: reported beforehand, because the dynamic loader ignores LD_PRELOAD in silence.

use std::ffi::{OsStr, OsString};
use std::fmt::{self, Display};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use lbprof_launch::job;

/// A reason why the recorder will not see the program's calls. The program runs all the same.
#[derive(Debug, PartialEq, Eq)]
pub enum RecordingObstacle {
    /// The program has no dynamic loader.
    Static(PathBuf),
    /// The program is for another processor, or for 32 bits, than the library.
    OtherProcessor(PathBuf),
    /// Its C library is musl.
    OtherLibc(PathBuf),
    /// The program runs as another user or group, or with capabilities of its own.
    Privileged(PathBuf),
    /// The program is a launcher: lb-run stands before it instead of after it.
    Launcher(String),
}

impl RecordingObstacle {
    /// Returns whether the program's loader cannot load the library, so that the program might not start, or complain.
    pub fn is_in_the_loader(&self) -> bool {
        matches!(self, RecordingObstacle::OtherProcessor(_) | RecordingObstacle::OtherLibc(_))
    }
}

impl Display for RecordingObstacle {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (path, reason) = match self {
            RecordingObstacle::Static(path) => (
                path,
                "is linked statically, so the recorder cannot be preloaded and nothing is recorded: link it with the shared MPI library",
            ),
            RecordingObstacle::OtherProcessor(path) => (
                path,
                "is for another processor than liblbprof.so, so nothing is recorded: use an lbprof built for that processor",
            ),
            RecordingObstacle::OtherLibc(path) => {
                (path, "uses the C library musl, liblbprof.so the GNU one, so nothing is recorded")
            }
            RecordingObstacle::Privileged(path) => (
                path,
                "is setuid, setgid or has file capabilities, so the system ignores LD_PRELOAD and nothing is recorded: run a copy without them",
            ),
            RecordingObstacle::Launcher(name) => {
                return write!(
                    f,
                    "lb-run belongs after the launcher, before the program: {name} … lb-run ./app; ranks on other nodes may \
                     not be recorded this way"
                );
            }
        };
        write!(f, "{} {reason}", path.display())
    }
}

/// Launchers of MPI programs besides the ones that [`job::is_launcher`] knows.
const LAUNCHERS: [&str; 4] = ["srun", "aprun", "jsrun", "ibrun"];

pub fn find_obstacles(command: &[OsString], library: &Path) -> Vec<RecordingObstacle> {
    let Some(path) = find_program(command) else { return Vec::new() };
    let mut obstacles = Vec::new();
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    if LAUNCHERS.contains(&name) || job::is_launcher(name.as_bytes()) {
        obstacles.push(RecordingObstacle::Launcher(name.to_owned()));
    }
    if is_privileged(&path) {
        obstacles.push(RecordingObstacle::Privileged(path.clone()));
    }
    let of_library = ElfFile::read(library);
    if let Some(elf) = ElfFile::read(&path) {
        if of_library.is_some_and(|library| library.processor != elf.processor) {
            obstacles.push(RecordingObstacle::OtherProcessor(path));
        } else if elf.loader.is_none() && !name.starts_with("ld-") && !name.starts_with("ld.so") {
            // The loader itself, called as a program, is static and preloads.
            obstacles.push(RecordingObstacle::Static(path));
        } else if elf.loader.is_some_and(|loader| loader.windows(7).any(|part| part == b"ld-musl")) {
            obstacles.push(RecordingObstacle::OtherLibc(path));
        }
    }
    obstacles
}

/// Returns whether it is a program in machine code, for any processor, not a script.
pub fn is_binary(path: &Path) -> bool {
    ElfFile::read(path).is_some()
}

/// Returns the file that would be executed: as given if there is a slash in it, else the first in PATH.
pub fn find_program(command: &[OsString]) -> Option<PathBuf> {
    let program = command.first()?;
    if program.as_bytes().contains(&b'/') {
        return Some(PathBuf::from(program)).filter(|path| path.is_file());
    }
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/bin:/usr/bin".into());
    let mut files = std::env::split_paths(&path).map(|folder| folder.join(program));
    files.find(|path| path.metadata().is_ok_and(|file| file.is_file() && file.mode() & 0o111 != 0))
}

/// Returns whether the system would start it in secure mode, in which LD_PRELOAD does not count.
fn is_privileged(path: &Path) -> bool {
    let Ok(file) = fs::metadata(path) else { return false };
    // SAFETY: these calls have no preconditions.
    let (user, group) = unsafe { (libc::getuid(), libc::getgid()) };
    let other_user = file.mode() & libc::S_ISUID != 0 && file.uid() != user;
    let other_group = file.mode() & libc::S_ISGID != 0 && file.mode() & libc::S_IXGRP != 0 && file.gid() != group;
    other_user || other_group || (user != 0 && has_capabilities(path))
}

fn has_capabilities(path: &Path) -> bool {
    let Ok(path) = std::ffi::CString::new(path.as_os_str().as_bytes()) else { return false };
    // SAFETY: both strings end with zero, and a null buffer of length 0 asks for the length only.
    unsafe { libc::getxattr(path.as_ptr(), c"security.capability".as_ptr(), std::ptr::null_mut(), 0) > 0 }
}

/// The facts in an executable file.
#[derive(Debug, PartialEq, Eq)]
struct ElfFile {
    /// Class (32 or 64 bits) and byte order; machine.
    processor: ([u8; 2], [u8; 2]),
    /// Path of its dynamic loader; `None`: it has none, or is not of 64 bits, little-endian.
    loader: Option<Vec<u8>>,
}

impl ElfFile {
    /// Reads the heads of a file, or returns `None` if it is not ELF, or its program headers are not where linkers put them.
    fn read(path: &Path) -> Option<ElfFile> {
        // Program headers and the loader's path stand at the beginning.
        const HEADS: usize = 16 << 10;
        let mut bytes = Vec::with_capacity(HEADS);
        File::open(path).ok()?.take(HEADS as u64).read_to_end(&mut bytes).ok()?;
        ElfFile::parse(&bytes)
    }

    /// Parses the heads of a file (ELF specification, "ELF Header" and "Program Header").
    fn parse(bytes: &[u8]) -> Option<ElfFile> {
        const PT_INTERP: usize = 3;
        const LITTLE_ENDIAN_64: [u8; 2] = [2, 1];
        if bytes.get(..4)? != b"\x7fELF" {
            return None;
        }
        let processor: ([u8; 2], [u8; 2]) = (bytes.get(4..6)?.try_into().ok()?, bytes.get(18..20)?.try_into().ok()?);
        let (table, entry, count) = (number_at(bytes, 32, 8)?, number_at(bytes, 54, 2)?, number_at(bytes, 56, 2)?);
        let mut loader = None;
        for i in 0..if processor.0 == LITTLE_ENDIAN_64 { count } else { 0 } {
            let at = table.checked_add(i * entry)?;
            if number_at(bytes, at, 4)? == PT_INTERP {
                let place = number_at(bytes, at + 8, 8)?;
                let end = place.checked_add(number_at(bytes, at + 32, 8)?)?;
                loader = Some(bytes.get(place..end).unwrap_or_default().to_vec());
            }
        }
        Some(ElfFile { processor, loader })
    }
}

/// Returns the number of this length at a place.
fn number_at(bytes: &[u8], at: usize, length: usize) -> Option<usize> {
    let field = bytes.get(at..at.checked_add(length)?)?;
    Some(field.iter().rev().fold(0, |value, &byte| value << 8 | usize::from(byte)))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by it")]
mod tests {
    use super::*;

    #[test]
    fn this_test_is_linked_dynamically() {
        let elf = ElfFile::read(&std::env::current_exe().unwrap()).unwrap();
        let loader = String::from_utf8(elf.loader.unwrap()).unwrap();
        assert!(loader.contains("ld-linux"), "{loader}");
    }

    #[test]
    fn a_file_without_a_loader_is_static() {
        // 64 bits, little-endian, machine 62; one program header, a PT_LOAD.
        let mut bytes = vec![0; 64 + 56];
        bytes.splice(..6, *b"\x7fELF\x02\x01");
        for (at, value) in [(18, 62), (32, 64), (54, 56), (56, 1), (64, 1)] {
            bytes.splice(at..=at, [value]);
        }
        assert_eq!(ElfFile::parse(&bytes), Some(ElfFile { processor: ([2, 1], [62, 0]), loader: None }));
        bytes.truncate(100);
        bytes.splice(56..57, [2]);
        assert_eq!(ElfFile::parse(&bytes), None, "cut off");
        assert_eq!(ElfFile::parse(b"#!/bin/sh\n"), None);
    }

    #[test]
    fn a_launcher_is_known_by_its_name() {
        let folder = std::env::temp_dir().join(format!("lb-run-launcher-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("mpirun");
        fs::write(&path, "#!/bin/sh\n").unwrap();
        let obstacles = find_obstacles(&[path.into()], Path::new("/none"));
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(obstacles, [RecordingObstacle::Launcher("mpirun".into())]);
    }
}
