//! Whether the program has put itself under a system call filter: what the system says of it.

// The library is made to be preloaded and cannot be linked with a test: the module's source is.
#![allow(dead_code, missing_docs, reason = "only a part of the library")]

mod system {
    pub mod descriptors {
        use std::fs::File;
        use std::io;

        pub type Identity = (u64, u64);

        pub fn identify_file(_: i32) -> io::Result<(Identity, u64)> {
            Err(io::ErrorKind::Unsupported.into())
        }

        pub fn out_of_the_way(file: File) -> io::Result<File> {
            Ok(file)
        }
    }

    pub(crate) use crate::kept_file;
}

#[path = "../src/system/kept_file.rs"]
mod kept_file;
#[path = "../src/system/sandbox.rs"]
mod sandbox;

use sandbox::parse_filters;

#[test]
fn each_filter_changes_the_number() {
    let none = parse_filters(b"Name:\tx\nNoNewPrivs:\t0\nSeccomp:\t0\nSeccomp_filters:\t0\nSpeculation");
    let one = parse_filters(b"Name:\tx\nNoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t1\nSpeculation");
    let two = parse_filters(b"Name:\tx\nNoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t2\nSpeculation");
    assert_eq!(none, 0);
    assert!(none != one && one != two);
    assert_eq!(parse_filters(b"Seccomp:\t2\n"), 2 << 32, "kernels before 5.9 do not count them");
}
