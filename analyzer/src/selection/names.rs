//! Names for messages: a few of many.

/// Most names in a message.
const MOST: usize = 6;

/// The first names, in words.
pub fn some_of<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut names = names.peekable();
    let shown: Vec<&str> = names.by_ref().take(MOST).collect();
    let more = if names.peek().is_some() { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_names_the_first_are_told() {
        assert_eq!(some_of(["a", "b"].into_iter()), "a, b");
        assert_eq!(some_of(["a", "b", "c", "d", "e", "f", "g"].into_iter()), "a, b, c, d, e, f, …");
    }
}
