//! Names for messages: a few of many, and the ones that a mistyped name may stand for.

use lbprof_thresholds::replay::MIN_LIKENESS_OF_NAMES;

/// Maximum number of names in a message.
const MOST: usize = 6;

/// Lists the first names.
pub fn some_of<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut names = names.peekable();
    let shown: Vec<&str> = names.by_ref().take(MOST).collect();
    let more = if names.peek().is_some() { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// Returns the names that are most like `wanted`, the best first; none if none is like it.
pub fn similar_names<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = wanted.to_lowercase();
    let ranked = names.map(|name| (name_likeness(&wanted, &name.to_lowercase()), name));
    let mut found: Vec<(f64, &str)> = ranked.filter(|(like, _)| *like >= MIN_LIKENESS_OF_NAMES).collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found.into_iter().map(|(_, name)| name).take(MOST).collect()
}

fn name_likeness(wanted: &str, name: &str) -> f64 {
    if name.contains(wanted) { 1.0 } else { strsim::jaro_winkler(name, wanted) }
}

/// Returns the error that no call site has `wanted` in its label, as --loop requires, with similar names of the `functions` that call MPI.
pub fn no_call_site<'a>(wanted: &str, functions: impl Iterator<Item = &'a str>) -> String {
    // Users seldom type the class or namespace of a function.
    let mut names: Vec<&str> = functions.map(|function| function.rsplit("::").next().unwrap_or(function)).collect();
    names.sort_unstable();
    names.dedup();
    let (meant, which) = match similar_names(wanted, names.iter().copied()) {
        found if found.is_empty() => (names, "functions that call MPI are"),
        found => (found, "like it are"),
    };
    let known = if meant.is_empty() { String::new() } else { format!("; {which} {}", some_of(meant.into_iter())) };
    format!("no call site has \"{wanted}\" (--loop) in its label, or it is called but once{known}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_names_the_first_are_reported() {
        assert_eq!(some_of(["a", "b"].into_iter()), "a, b");
        assert_eq!(some_of(["a", "b", "c", "d", "e", "f", "g"].into_iter()), "a, b, c, d, e, f, …");
    }

    #[test]
    fn a_mistyped_name_is_known_by_its_likeness() {
        let names = ["force", "neighbour", "output"];
        assert_eq!(similar_names("froce", names.into_iter()), ["force"]);
        assert_eq!(similar_names("Neigh", names.into_iter()), ["neighbour"]);
        assert!(similar_names("zzz", names.into_iter()).is_empty());
    }

    #[test]
    fn functions_are_proposed_that_a_call_site_may_lie_in() {
        let functions = ["LAMMPS_NS::CommBrick::reverse_comm", "solve", "LAMMPS_NS::CommBrick::reverse_comm"];
        let listed = |wanted| no_call_site(wanted, functions.into_iter());
        assert!(listed("revers_comm").ends_with("; like it are reverse_comm"), "{}", listed("revers_comm"));
        assert!(listed("xyz").ends_with("; functions that call MPI are reverse_comm, solve"), "{}", listed("xyz"));
    }
}
