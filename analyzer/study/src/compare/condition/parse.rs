//! Reading a condition.

use super::{ComparisonOperator, ConditionMetric, ConditionTerm};

/// Most parentheses and signs within each other.
const DEEPEST: usize = 64;

/// The sides of a condition, and how they are compared; else what is wrong.
pub(super) fn condition(text: &str) -> Result<(ConditionTerm, ComparisonOperator, ConditionTerm), String> {
    let mut reader = ConditionParser { rest: text.trim(), depth: 0 };
    let left = reader.sum()?;
    let comparison = reader.comparison()?;
    let right = reader.sum()?;
    match reader.rest {
        "" => Ok((left, comparison, right)),
        rest => Err(format!("it goes on after its end: {rest}")),
    }
}

struct ConditionParser<'a> {
    /// The remaining text, without spaces before it.
    rest: &'a str,
    depth: usize,
}

impl<'a> ConditionParser<'a> {
    /// Reads `token` if it comes next, and returns whether it did.
    fn has(&mut self, token: &str) -> bool {
        let found = self.rest.strip_prefix(token);
        self.rest = found.map_or(self.rest, str::trim_start);
        found.is_some()
    }

    /// The characters that come next for which `is` holds.
    fn take(&mut self, is: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|char| !is(char)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        word
    }

    fn comparison(&mut self) -> Result<ComparisonOperator, String> {
        // The longer ones first.
        const ALL: [(&str, ComparisonOperator); 6] = [
            ("<=", ComparisonOperator::LessOrEqual),
            (">=", ComparisonOperator::MoreOrEqual),
            ("==", ComparisonOperator::Equal),
            ("!=", ComparisonOperator::NotEqual),
            ("<", ComparisonOperator::Less),
            (">", ComparisonOperator::More),
        ];
        let found = ALL.into_iter().find(|(token, _)| self.has(token));
        found.map(|(_, comparison)| comparison).ok_or_else(|| match self.rest {
            "" => "it has no comparison, as < or >".to_owned(),
            rest => format!("a comparison is expected (< <= > >= == !=), not {rest}"),
        })
    }

    fn sum(&mut self) -> Result<ConditionTerm, String> {
        let mut left = self.product()?;
        while let Some(operator) = ['+', '-'].into_iter().find(|operator| self.has(&operator.to_string())) {
            left = ConditionTerm::Pair(Box::new(left), operator, Box::new(self.product()?));
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<ConditionTerm, String> {
        let mut left = self.factor()?;
        while let Some(operator) = ['*', '/'].into_iter().find(|operator| self.has(&operator.to_string())) {
            left = ConditionTerm::Pair(Box::new(left), operator, Box::new(self.factor()?));
        }
        Ok(left)
    }

    fn factor(&mut self) -> Result<ConditionTerm, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("its parentheses and signs are too deep".to_owned());
        }
        let factor = if self.has("-") {
            ConditionTerm::Negative(Box::new(self.factor()?))
        } else if self.has("(") {
            let inner = self.sum()?;
            if !self.has(")") {
                return Err("a ) is missing".to_owned());
            }
            inner
        } else if self.rest.starts_with(|char: char| char.is_ascii_digit() || char == '.') {
            self.number()?
        } else {
            self.word()?
        };
        self.depth -= 1;
        Ok(factor)
    }

    fn number(&mut self) -> Result<ConditionTerm, String> {
        let mut end = self.rest.find(|char: char| !char.is_ascii_digit() && char != '.').unwrap_or(self.rest.len());
        // An exponent has a sign of its own: 1e-3.
        let (digits, after) = self.rest.split_at(end);
        if let Some(exponent) = after.strip_prefix(['e', 'E']) {
            let sign = usize::from(exponent.starts_with(['+', '-']));
            let length = exponent.chars().skip(sign).take_while(char::is_ascii_digit).count();
            end = digits.len() + 1 + sign + length;
        }
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        let number: f64 = word.parse().map_err(|_| format!("{word} is no number"))?;
        Ok(ConditionTerm::Number(if self.has("%") { number / 100.0 } else { number }))
    }

    fn word(&mut self) -> Result<ConditionTerm, String> {
        let word = self.take(is_of_name);
        match word {
            "" if self.rest.is_empty() => Err("it ends too early".to_owned()),
            "" => Err(format!("a number, base or a metric is expected, not {}", self.rest)),
            "base" => Ok(ConditionTerm::Base),
            "regions" => {
                let region = self.region()?;
                let name = self.take(is_of_name);
                metric(Some(region), name)
            }
            name => metric(None, name),
        }
    }

    /// `["main/force"].`, with either kind of quotes.
    fn region(&mut self) -> Result<String, String> {
        let open = self.has("[");
        let quote = ['"', '\''].into_iter().find(|&quote| self.rest.starts_with(quote));
        let Some(quote) = quote.filter(|_| open) else {
            return Err("a region is written regions[\"main/force\"].time_s".to_owned());
        };
        let inner = self.rest.strip_prefix(quote).unwrap_or_default();
        let (path, rest) = inner.split_once(quote).ok_or("a quote is missing")?;
        self.rest = rest.trim_start();
        match self.has("]") && self.has(".") {
            true => Ok(path.to_owned()),
            false => Err("a region is written regions[\"main/force\"].time_s".to_owned()),
        }
    }
}

fn is_of_name(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_'
}

fn metric(region: Option<String>, name: &str) -> Result<ConditionTerm, String> {
    let metric = ConditionMetric::new(region, name);
    metric.map(ConditionTerm::Metric).map_err(|like| format!("there is no metric {name}; there is {like}"))
}
