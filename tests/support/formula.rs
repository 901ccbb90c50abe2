//! Formulas in the heads of test programs: numbers, variables, `+ - * / ( )`, and `==`, which gives 0 or 1.

use anyhow::{bail, ensure};

/// The value of `text` where the variables have these values.
pub fn evaluate(text: &str, variables: &[(&str, f64)]) -> anyhow::Result<f64> {
    let mut rest = Rest { text: text.trim_start(), variables };
    let value = rest.equality()?;
    ensure!(rest.text.is_empty(), "`{text}`: what does `{}` mean?", rest.text);
    Ok(value)
}

struct Rest<'a> {
    text: &'a str,
    variables: &'a [(&'a str, f64)],
}

impl Rest<'_> {
    /// Takes `token` off the front if it is there.
    fn take(&mut self, token: &str) -> bool {
        match self.text.strip_prefix(token) {
            Some(rest) => {
                self.text = rest.trim_start();
                true
            }
            None => false,
        }
    }

    fn equality(&mut self) -> anyhow::Result<f64> {
        let left = self.sum()?;
        if self.take("==") { Ok(f64::from(u8::from(left == self.sum()?))) } else { Ok(left) }
    }

    fn sum(&mut self) -> anyhow::Result<f64> {
        let mut value = self.product()?;
        loop {
            if self.take("+") {
                value += self.product()?;
            } else if self.take("-") {
                value -= self.product()?;
            } else {
                return Ok(value);
            }
        }
    }

    fn product(&mut self) -> anyhow::Result<f64> {
        let mut value = self.factor()?;
        loop {
            if self.take("*") {
                value *= self.factor()?;
            } else if self.take("/") {
                value /= self.factor()?;
            } else {
                return Ok(value);
            }
        }
    }

    fn factor(&mut self) -> anyhow::Result<f64> {
        if self.take("(") {
            let value = self.equality()?;
            ensure!(self.take(")"), "a `)` is missing before `{}`", self.text);
            return Ok(value);
        }
        let end = self.text.find(|c: char| !c.is_alphanumeric() && c != '.' && c != '_').unwrap_or(self.text.len());
        let (word, rest) = self.text.split_at(end);
        self.text = rest.trim_start();
        if let Ok(number) = word.parse() {
            return Ok(number);
        }
        match self.variables.iter().find(|(name, _)| *name == word) {
            Some(&(_, value)) => Ok(value),
            None => bail!("neither a number nor a variable: `{word}`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::evaluate;

    #[test]
    fn products_bind_before_sums_and_sums_before_equality() {
        let value = |text| evaluate(text, &[("P", 4.0), ("p", 3.0)]).unwrap();
        assert_eq!(value("1 + 2 * 3 - 4 / 2"), 5.0);
        assert_eq!(value("(80 + 20*(P-1)) / P / 80"), 0.4375);
        assert_eq!(value("0.3 + 0.9*(p == P-1)"), 1.2);
        assert_eq!(value("0.3 + 0.9*(p == 0)"), 0.3);
    }

    #[test]
    fn nonsense_is_an_error() {
        for text in ["", "1 +", "(1", "q", "1 2", "1)"] {
            assert!(evaluate(text, &[]).is_err(), "{text}");
        }
    }
}
