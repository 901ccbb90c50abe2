//! Counts in words: one number format, and nouns that agree with it.
//!
//! Both write without memory of their own, so that the recorder may use them where a program must not be disturbed.

use std::fmt::{Display, Formatter, Result};

/// A number with its digits in groups of three: `12,345`.
#[derive(Clone, Copy, Debug)]
pub struct Count(pub u64);

/// A number of things: `1 rank`, `2 ranks`.
#[derive(Clone, Copy, Debug)]
pub struct Plural<'a>(pub u64, pub &'a str);

impl Display for Count {
    fn fmt(&self, to: &mut Formatter<'_>) -> Result {
        const GROUP: u64 = 1000;
        if self.0 < GROUP {
            return write!(to, "{}", self.0);
        }
        write!(to, "{},{:03}", Count(self.0 / GROUP), self.0 % GROUP)
    }
}

impl Display for Plural<'_> {
    fn fmt(&self, to: &mut Formatter<'_>) -> Result {
        write!(to, "{} {}{}", Count(self.0), self.1, if self.0 == 1 { "" } else { "s" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_groups_of_three_digits() {
        let texts = [0, 7, 999, 1000, 12_345, 1_002_003, u64::MAX].map(|number| Count(number).to_string());
        assert_eq!(texts, ["0", "7", "999", "1,000", "12,345", "1,002,003", "18,446,744,073,709,551,615"]);
    }

    #[test]
    fn nouns_agree_with_their_numbers() {
        let texts = [0, 1, 2, 1200].map(|number| Plural(number, "rank").to_string());
        assert_eq!(texts, ["0 ranks", "1 rank", "2 ranks", "1,200 ranks"]);
    }
}
