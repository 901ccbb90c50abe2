//! The variables of launchers.

/// Returns whether the number that a launcher gives in one of these variables is 0, or none is set.
pub fn is_zero(variables: &[&str]) -> bool {
    variables.iter().find_map(|name| std::env::var(name).ok()).is_none_or(|number| number.trim() == "0")
}
