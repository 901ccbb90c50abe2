//! Any bytes are read as a study without a panic: as they are, and as a study of the first version, which has no checksums that would refuse
//! most of them (start from real studies).
#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use lbprof_study::StudyFile;
use libfuzzer_sys::fuzz_target;

static FILE: LazyLock<PathBuf> =
    LazyLock::new(|| PathBuf::from(format!("/dev/shm/lbprof-fuzz-{}.study", std::process::id())));

const VERSION_AT: std::ops::Range<usize> = 60..64;

fuzz_target!(|bytes: &[u8]| {
    read(bytes);
    let mut old = bytes.to_vec();
    if let Some(version) = old.get_mut(VERSION_AT) {
        version.copy_from_slice(&1u32.to_be_bytes());
        read(&old);
    }
});

fn read(bytes: &[u8]) {
    fs::write(&*FILE, bytes).expect("a file can be written");
    let Ok(study) = StudyFile::open(&FILE) else { return };
    let _ = (study.heads(), study.programs(), study.number_of(1));
    let runs = study.runs();
    assert_eq!(runs.ok(), study.runs().ok(), "reading is not the same each time");
}
