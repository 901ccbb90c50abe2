//! Text for terminals and files whose locale has no UTF-8: each character as one of ASCII, so that columns stay columns.

use std::borrow::Cow;

/// Returns whether the locale of text is one of UTF-8, by the variables that name it. Where none does, UTF-8 is assumed, as by most systems today.
pub fn is_utf8_locale(variable: impl Fn(&str) -> Option<String>) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| variable(name).filter(|value| !value.is_empty()));
    locale.is_none_or(|locale| {
        let lower = locale.to_ascii_lowercase();
        lower.contains("utf-8") || lower.contains("utf8")
    })
}

/// Returns a text in ASCII.
pub fn to_ascii(text: &str) -> Cow<'_, str> {
    match text.is_ascii() {
        true => Cow::Borrowed(text),
        false => Cow::Owned(text.chars().map(ascii_char).collect()),
    }
}

/// Returns the character of ASCII that looks most like another.
fn ascii_char(char: char) -> char {
    match char {
        _ if char.is_ascii() => char,
        '–' | '−' | '—' | '─' => '-',
        '·' | '•' => '|',
        '×' => 'x',
        '→' | '›' => '>',
        '←' | '‹' => '<',
        '…' => '~',
        '±' => '~',
        'µ' | 'μ' => 'u',
        '▁' | '▏' | '▎' => '.',
        '▂' | '▃' | '▍' | '▌' => '-',
        '▄' | '▅' | '▋' | '▊' => '=',
        '▆' | '▇' | '█' | '▉' => '#',
        '│' => '|',
        '└' | '├' | '┌' | '┐' | '┘' => '+',
        _ => '?',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_variable_that_is_set_names_the_locale() {
        let locale = |all: &'static str, lang: &'static str| {
            move |name: &str| match name {
                "LC_ALL" => Some(all.to_owned()),
                "LANG" => Some(lang.to_owned()),
                _ => None,
            }
        };
        assert!(is_utf8_locale(locale("", "en_GB.UTF-8")));
        assert!(!is_utf8_locale(locale("C", "en_GB.UTF-8")));
        assert!(is_utf8_locale(locale("C.utf8", "C")));
        assert!(!is_utf8_locale(locale("", "POSIX")));
        assert!(is_utf8_locale(|_| None));
    }

    #[test]
    fn columns_stay_columns() {
        let text = "97 % ████▌ 1.2 µs → 3 × b … (−49 %) · größer";
        let ascii = to_ascii(text);
        assert_eq!(ascii, "97 % ####- 1.2 us > 3 x b ~ (-49 %) | gr??er");
        assert_eq!(ascii.chars().count(), text.chars().count());
    }
}
