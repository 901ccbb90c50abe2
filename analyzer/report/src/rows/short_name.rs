//! Shortens names: first without the arguments of templates, then without the middle.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Omits the middle of `text`. Its start says what it is, its end where.
pub(crate) fn without_middle(text: &str, columns: usize) -> String {
    let room = columns.saturating_sub(1);
    let head = fitting_start(text.chars(), room / 3);
    let tail: Vec<char> = fitting_start(text.chars().rev(), room - head.width()).chars().rev().collect();
    format!("{head}…{}", tail.into_iter().collect::<String>())
}

fn fitting_start(chars: impl Iterator<Item = char>, columns: usize) -> String {
    let mut used = 0;
    chars
        .take_while(|char| {
            used += char.width().unwrap_or(0);
            used <= columns
        })
        .collect()
}

/// Replaces template arguments by `<…>`, e.g. `dot<Vector<double> >` by `dot<…>`. Returns `text` unchanged if its brackets do not match.
pub(crate) fn without_template_arguments(text: &str) -> String {
    let mut short = String::with_capacity(text.len());
    let mut depth = 0_usize;
    let mut before = ' ';
    for (at, char) in text.char_indices() {
        // Not an argument list: `operator<`, `operator->`, arrows, and `<T as Trait>`, which has no name before it.
        let is_operator = short.trim_end_matches(['<', '>', '=', '-']).ends_with("operator");
        let is_bracket = !(depth == 0 && is_operator) && before != '-';
        let is_name = before.is_alphanumeric() || before == '_' || is_after_operator(text, at);
        match char {
            '<' if is_bracket && (depth > 0 || is_name) => {
                if depth == 0 {
                    short.push_str("<…>");
                }
                depth += 1;
            }
            '>' if is_bracket && depth > 0 => depth -= 1,
            _ if depth == 0 => short.push(char),
            _ => {}
        }
        before = char;
    }
    if depth == 0 { short } else { text.to_owned() }
}

/// Returns whether the bracket at `at` follows an operator and a space, as in `operator< <int>`.
fn is_after_operator(text: &str, at: usize) -> bool {
    let Some(head) = text[..at].strip_suffix(' ') else { return false };
    head.ends_with(['<', '>', '=', '-']) && head.trim_end_matches(['<', '>', '=', '-']).ends_with("operator")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_of_templates_say_least() {
        let of = without_template_arguments;
        assert_eq!(of("dot<Vector<double, int> > (v.hpp:3 → 7)"), "dot<…> (v.hpp:3 → 7)");
        assert_eq!(of("main/loop/a<b>/c<d<e>>::f"), "main/loop/a<…>/c<…>::f");
        assert_eq!(of("ns::operator< <int>"), "ns::operator< <…>");
        assert_eq!(of("A<int>::operator<<"), "A<…>::operator<<");
        assert_eq!(of("A<int>::operator-> (a.h:1)"), "A<…>::operator-> (a.h:1)");
        assert_eq!(of("call<fn(i32) -> i32>"), "call<…>");
        // Of which type it is says the name itself.
        assert_eq!(of("<app::Grid as app::Halo>::swap"), "<app::Grid as app::Halo>::swap");
        assert_eq!(of("odd<a"), "odd<a");
        assert_eq!(of("a < b"), "a < b");
    }
}
