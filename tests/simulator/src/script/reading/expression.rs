//! Arithmetic in scripts: numbers, `$name`, `+ - * / // %`, comparisons and parentheses.
//!
//! `//` divides and rounds down; `%` is never negative for a positive divisor, so that `($r-1)%$n` is a neighbour. A comparison
//! is 1 where it holds, else 0.

/// The value of `text`; `names` gives those of `$name`, the last of a name first.
///
/// Errors: what is wrong with it.
pub fn evaluate(text: &str, names: &[(String, f64)]) -> Result<f64, String> {
    let mut reader = Reader { rest: text, names };
    let value = reader.comparison()?;
    reader.blanks();
    match reader.rest.chars().next() {
        Some(found) => Err(format!("`{found}` is not expected in `{text}`")),
        None if value.is_finite() => Ok(value),
        None => Err(format!("`{text}` has no value")),
    }
}

type Operator = fn(f64, f64) -> f64;

const COMPARISONS: &[(&str, Operator)] = &[
    ("==", |a, b| f64::from(a == b)),
    ("!=", |a, b| f64::from(a != b)),
    ("<=", |a, b| f64::from(a <= b)),
    (">=", |a, b| f64::from(a >= b)),
    ("<", |a, b| f64::from(a < b)),
    (">", |a, b| f64::from(a > b)),
];
const SUMS: &[(&str, Operator)] = &[("+", |a, b| a + b), ("-", |a, b| a - b)];
const PRODUCTS: &[(&str, Operator)] =
    &[("*", |a, b| a * b), ("//", |a, b| (a / b).floor()), ("/", |a, b| a / b), ("%", f64::rem_euclid)];

struct Reader<'a> {
    rest: &'a str,
    names: &'a [(String, f64)],
}

impl<'a> Reader<'a> {
    fn comparison(&mut self) -> Result<f64, String> {
        self.chain(COMPARISONS, Self::sum)
    }

    fn sum(&mut self) -> Result<f64, String> {
        self.chain(SUMS, Self::product)
    }

    fn product(&mut self) -> Result<f64, String> {
        self.chain(PRODUCTS, Self::factor)
    }

    fn chain(
        &mut self,
        operators: &[(&str, Operator)],
        operand: fn(&mut Self) -> Result<f64, String>,
    ) -> Result<f64, String> {
        let mut value = operand(self)?;
        while let Some(&(_, apply)) = operators.iter().find(|(sign, _)| self.takes(sign)) {
            value = apply(value, operand(self)?);
        }
        Ok(value)
    }

    fn factor(&mut self) -> Result<f64, String> {
        if self.takes("-") {
            return Ok(-self.factor()?);
        }
        if self.takes("+") {
            return self.factor();
        }
        if self.takes("(") {
            let value = self.comparison()?;
            return if self.takes(")") { Ok(value) } else { Err("a parenthesis is not closed".to_owned()) };
        }
        if self.takes("$") {
            let name = self.word(|c| c.is_ascii_alphanumeric() || c == '_');
            let found = self.names.iter().rev().find(|(known, _)| known == name);
            return found.map(|&(_, value)| value).ok_or_else(|| format!("${name} is not known here"));
        }
        self.number()
    }

    fn number(&mut self) -> Result<f64, String> {
        self.blanks();
        let text = self.rest;
        let digits = self.word(|c| c.is_ascii_digit() || c == '.').len();
        let exponent = self.rest.strip_prefix(['e', 'E']).map(|rest| rest.strip_prefix(['+', '-']).unwrap_or(rest));
        if let Some(power) = exponent.filter(|power| digits > 0 && power.starts_with(|c: char| c.is_ascii_digit())) {
            self.rest = power;
            self.word(|c| c.is_ascii_digit());
        }
        let number = &text[..text.len() - self.rest.len()];
        number.parse().map_err(|_| match text.split_whitespace().next() {
            Some(found) => format!("`{found}` is not a number"),
            None => "a number is missing".to_owned(),
        })
    }

    fn takes(&mut self, sign: &str) -> bool {
        self.blanks();
        let rest = self.rest.strip_prefix(sign);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn word(&mut self, belongs: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !belongs(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_have_the_values_of_arithmetic() {
        let names = [("r".to_owned(), 0.0), ("n".to_owned(), 4.0), ("i".to_owned(), 1.0), ("i".to_owned(), 7.0)];
        for (text, value) in [
            ("10+5*$i", 45.0),
            ("($r-1)%$n", 3.0),
            ("-2*-3", 6.0),
            ("+3", 3.0),
            ("7//2", 3.0),
            ("7/2", 3.5),
            ("1e-5", 1e-5),
            ("2.5e+1-.5", 24.5),
            ("$i % 3 == 1", 1.0),
            ("1 + 2 * 3 < 7", 0.0),
            ("8-4-2", 2.0),
        ] {
            assert_eq!(evaluate(text, &names), Ok(value), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_with_an_expression_is_said() {
        for (text, error) in [
            ("", "a number is missing"),
            ("2+", "a number is missing"),
            ("two", "`two` is not a number"),
            ("(1+2", "a parenthesis is not closed"),
            ("1)", "`)` is not expected in `1)`"),
            ("$q", "$q is not known here"),
            ("1/0", "`1/0` has no value"),
            ("1.2.3", "`1.2.3` is not a number"),
        ] {
            assert_eq!(evaluate(text, &[]), Err(error.to_owned()), "{text}");
        }
    }
}
