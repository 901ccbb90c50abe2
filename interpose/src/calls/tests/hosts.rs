//! Hosts that find each other in a folder: all of them see the same ranks, whoever is missing.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::run::hosts;

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("lbprof-hosts-{name}-{}", std::process::id()));
    assert!(std::fs::create_dir_all(&folder).is_ok());
    folder
}

/// What each host sees, all at the same time.
fn seen(folder: &Path, hosts: &[&[u32]], size: usize, patience: Duration) -> Vec<Vec<u32>> {
    std::thread::scope(|scope| {
        let see = |own| scope.spawn(move || hosts::agree_on_ranks(folder, own, size, patience));
        let waiting: Vec<_> = hosts.iter().map(|own| see(*own)).collect();
        waiting.into_iter().map(|host| host.join().unwrap_or_default()).collect()
    })
}

#[test]
fn hosts_with_all_ranks_wait_for_each_other_and_no_longer() {
    let (folder, begin) = (folder("all"), Instant::now());
    let all = seen(&folder, &[&[0, 1], &[2, 3], &[4], &[7, 6, 5]], 8, hosts::PATIENCE);
    assert!(std::fs::remove_dir_all(folder).is_ok());
    assert_eq!(all, vec![(0..8).collect::<Vec<_>>(); 4]);
    assert!(begin.elapsed() < hosts::PATIENCE);
}

#[test]
fn hosts_agree_on_who_is_missing() {
    let folder = folder("some");
    let mut all = seen(&folder, &[&[1], &[2, 3], &[5]], 8, Duration::from_millis(100));
    // This host comes when the others have given up, and learns that it is not among them.
    all.extend(seen(&folder, &[&[6]], 8, hosts::PATIENCE));
    assert!(std::fs::remove_dir_all(folder).is_ok());
    let first = all.first().cloned().unwrap_or_default();
    assert!(!first.is_empty() && !first.contains(&6), "{all:?}");
    assert_eq!(all, vec![first; 4]);
}
