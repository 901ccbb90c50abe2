//! Shortens names of functions and of code between calls, keeping the parts that distinguish them.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Width up to which a file and line are kept whole.
const SHORT_PLACE: usize = 20;

/// Preferred width of a function beside its place. Operators need their class as well.
const READABLE: usize = 16;
const READABLE_OPERATOR: usize = 26;

/// Minimum width of a function or its class.
const LEAST: usize = 5;

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

fn width_of_places(names: &[(&str, String)]) -> usize {
    names.iter().filter(|(_, place)| !place.is_empty()).map(|(_, place)| place.width() + 2).sum()
}

/// Shortens a name of code, e.g. `solve (cg.c:120) → halo (halo.c:7)`: first its functions ([`short_function`]), then its longest files. Returns `None`
/// for other texts, or if there is too little room.
pub(crate) fn short_code(text: &str, columns: usize) -> Option<String> {
    let parts = names_in(text);
    let mut names: Vec<(&str, String)> = parts
        .iter()
        .map(|(name, _)| name.rsplit_once(" (").unwrap_or((name, "")))
        .map(|(name, place)| (name, place.to_owned()))
        .collect();
    if let [(name, place)] = &names[..]
        && place.is_empty()
    {
        // Neither a sentence nor a path.
        let is_function = name.contains("::") && !without_template_arguments(name).contains([' ', '/']);
        return is_function.then(|| short_function(name, columns));
    }
    let between: usize = parts.iter().map(|(_, separator)| separator.width()).sum();
    let mut wanted = 0;
    for (name, _) in &names {
        let readable = if name.contains("::operator") { READABLE_OPERATOR } else { READABLE };
        wanted += name.width().min(readable);
    }
    if columns < wanted + width_of_places(&names) + between {
        for (_, place) in names.iter_mut().filter(|(_, place)| place.width() > SHORT_PLACE) {
            *place = without_middle(place, SHORT_PLACE);
        }
    }
    let room = columns.checked_sub(width_of_places(&names) + between).filter(|&room| room >= LEAST * names.len())?;
    // Short names leave their room to long ones.
    let mut lengths: Vec<usize> = names.iter().map(|(name, _)| name.width()).collect();
    while lengths.iter().sum::<usize>() > room {
        let longest = lengths.iter_mut().max()?;
        *longest -= 1;
    }
    let shorter = names.iter().zip(&parts).zip(lengths).map(|(((name, place), (_, separator)), length)| {
        let name = short_function(name, length);
        if place.is_empty() { format!("{name}{separator}") } else { format!("{name} ({place}{separator}") }
    });
    Some(shorter.collect())
}

/// Splits a name of code, e.g. `step (md.c:55) via exchange, halo (halo.c:20) → norm (norm.c:7)`, into names and the separators after them.
fn names_in(text: &str) -> Vec<(&str, &str)> {
    const BETWEEN: [&str; 2] = [" → ", " via "];
    let mut names = Vec::new();
    let mut rest = text;
    let mut is_path = false;
    loop {
        // Commas only separate functions in a path, not template arguments.
        let commas = if is_path && !rest.contains('<') { Some(", ") } else { None };
        let separators = BETWEEN.into_iter().chain(commas);
        let next = separators.filter_map(|separator| Some((rest.find(separator)?, separator))).min();
        let Some((at, separator)) = next else { break };
        names.push((&rest[..at], &rest[at..at + separator.len()]));
        is_path = separator == " via " || is_path && separator == ", ";
        rest = &rest[at + separator.len()..];
    }
    names.push((rest, ""));
    names
}

/// Shortens a function's name, giving up in this order: template arguments, outer namespaces, the end of the class, the whole class, and the middle of
/// the name.
fn short_function(name: &str, columns: usize) -> String {
    if name.width() <= columns {
        return name.to_owned();
    }
    let name = without_template_arguments(name);
    let starts = part_starts(&name);
    let outer = starts.len().saturating_sub(1).max(1);
    if let Some(&from) = starts.iter().take(outer).find(|&&from| name[from..].width() <= columns) {
        return name[from..].to_owned();
    }
    let [.., around, own] = starts[..] else { return without_middle(&name, columns) };
    let (qualifier, own) = (name[around..own].trim_end_matches("::"), &name[own..]);
    match columns.saturating_sub(own.width() + "…::".width()) {
        room if room >= LEAST => format!("{}…::{own}", fitting_start(qualifier.chars(), room)),
        _ if own.width() <= columns => own.to_owned(),
        _ => without_middle(own, columns),
    }
}

/// Returns where the parts of a qualified name start.
fn part_starts(name: &str) -> Vec<usize> {
    let mut depth = 0_i32;
    let mut starts = vec![0];
    for (at, byte) in name.bytes().enumerate() {
        match byte {
            b'<' | b'(' | b'{' => depth += 1,
            b'>' | b')' | b'}' => depth -= 1,
            b':' if depth == 0 && name[at..].starts_with("::") => starts.push(at + 2),
            _ => {}
        }
    }
    starts
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

    #[test]
    fn a_function_keeps_its_own_name_longest() {
        let name = "miniFE::matvec_std<miniFE::CSRMatrix<double, int, int> >::operator()";
        assert_eq!(short_function(name, 100), name);
        assert_eq!(short_function(name, 40), "miniFE::matvec_std<…>::operator()");
        assert_eq!(short_function(name, 30), "matvec_std<…>::operator()");
        assert_eq!(short_function(name, 20), "matvec_…::operator()");
        assert_eq!(short_function(name, 16), "operator()");
        assert_eq!(short_function(name, 8), "op…tor()");
        assert_eq!(short_function("exchange_with_all", 8), "ex…h_all");
    }

    #[test]
    fn a_function_is_worth_more_than_a_long_file() {
        let of = |text, columns| short_code(text, columns).unwrap();
        let text = "advec_mom_kernel_mod::advec_mom_kernel (advec_mom_kernel.f90:248)";
        assert_eq!(of(text, 51), "advec…::advec_mom_kernel (advec_mom_kernel.f90:248)");
        assert_eq!(of(text, 50), "advec_mom_kernel (advec_mom_kernel.f90:248)");
        assert_eq!(of(text, 40), "advec_mom_kernel (advec_…rnel.f90:248)");
        let text = "matvec_std<A, B>::operator() (SparseMatrix_functions.hpp:570)";
        assert_eq!(of(text, 44), "matvec_st…::operator() (Sparse…ions.hpp:570)");
        assert_eq!(of(text, 50), "matvec_std<A, B>::operator() (Sparse…ions.hpp:570)");
        assert_eq!(short_code("a sentence of some length", 10), None);
        assert_eq!(of("miniFE::dot<miniFE::Vector<double> >", 20), "miniFE::dot<…>");
    }
}
