//! Converts text to ASCII for locales without UTF-8, character by character, so that columns stay aligned.

use std::borrow::Cow;

pub fn to_ascii(text: &str) -> Cow<'_, str> {
    match text.is_ascii() {
        true => Cow::Borrowed(text),
        false => Cow::Owned(text.chars().map(ascii_char).collect()),
    }
}

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
        '▏' | '▎' => '.',
        '▍' | '▌' => '-',
        '▋' | '▊' => '=',
        '█' | '▉' => '#',
        '░' => '.',
        '│' => '|',
        '└' | '├' | '┌' | '┐' | '┘' => '+',
        _ => '?',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stay_columns() {
        let text = "97 % ████▌ 1.2 µs → 3 × b … (−49 %) · größer";
        let ascii = to_ascii(text);
        assert_eq!(ascii, "97 % ####- 1.2 us > 3 x b ~ (-49 %) | gr??er");
        assert_eq!(ascii.chars().count(), text.chars().count());
    }
}
