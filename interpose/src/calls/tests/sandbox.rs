//! Whether the program has put itself under a system call filter: what the system says of it.

use crate::machine::system::sandbox::parse_filters;

#[test]
fn each_filter_changes_the_number() {
    let none = parse_filters(b"Name:\tx\nNoNewPrivs:\t0\nSeccomp:\t0\nSeccomp_filters:\t0\nSpeculation");
    let one = parse_filters(b"Name:\tx\nNoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t1\nSpeculation");
    let two = parse_filters(b"Name:\tx\nNoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t2\nSpeculation");
    assert_eq!(none, 0);
    assert!(none != one && one != two);
    assert_eq!(parse_filters(b"Seccomp:\t2\n"), 2 << 32, "kernels before 5.9 do not count them");
}
