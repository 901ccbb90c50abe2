//! Determines the memory that a process may have on this machine: the installed memory, or less if a control group limits it.

use std::fs;
use std::path::Path;

/// Mount point of control groups.
const CONTROL_GROUPS: &str = "/sys/fs/cgroup";

/// Returns the bytes of memory that this process may have, or `None` if the system does not say.
pub fn available_bytes() -> Option<u64> {
    let built_in = bytes_built_in(&fs::read_to_string("/proc/meminfo").ok()?)?;
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limits = groups.lines().filter_map(|line| limit_of_group(Path::new(CONTROL_GROUPS), line));
    Some(limits.fold(built_in, u64::min))
}

/// Returns the first line of /proc/meminfo (proc_meminfo(5)) in bytes.
fn bytes_built_in(text: &str) -> Option<u64> {
    let kilobytes = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?.trim().strip_suffix("kB")?;
    kilobytes.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Returns the lowest limit of a group and those around it, by its line `NUMBER:CONTROLLERS:PATH` in /proc/self/cgroup (cgroups(7)). A container may
/// see its own group as the root, whatever the path says.
fn limit_of_group(root: &Path, line: &str) -> Option<u64> {
    let mut fields = line.splitn(3, ':').skip(1);
    let (controllers, path) = (fields.next()?, fields.next()?.trim_start_matches('/'));
    let (root, file) = match controllers {
        "" => (root.to_owned(), "memory.max"),
        _ if controllers.split(',').any(|one| one == "memory") => (root.join("memory"), "memory.limit_in_bytes"),
        _ => return None,
    };
    let groups = Path::new(path).ancestors().map(|group| root.join(group).join(file));
    groups.filter_map(|file| fs::read_to_string(file).ok()?.trim().parse().ok()).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_memory_is_read_in_bytes() {
        assert_eq!(bytes_built_in("MemTotal:       16384 kB\nMemFree: 1 kB\n"), Some(16 << 20));
        assert_eq!(bytes_built_in("MemFree: 1 kB\n"), None);
    }

    #[test]
    fn the_lowest_limit_of_a_group_and_those_around_it_holds() {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            fs::create_dir_all(root.path().join(name).parent().unwrap()).unwrap();
            fs::write(root.path().join(name), text).unwrap();
        };
        write("a/memory.max", "5000\n");
        write("a/b/memory.max", "max\n");
        write("memory/c/memory.limit_in_bytes", "700\n");
        assert_eq!(limit_of_group(root.path(), "0::/a/b"), Some(5000));
        assert_eq!(limit_of_group(root.path(), "0::/elsewhere"), None);
        assert_eq!(limit_of_group(root.path(), "4:cpu,memory:/c/d"), Some(700));
        assert_eq!(limit_of_group(root.path(), "4:cpu:/c"), None);
    }
}
