//! Reading a condition.

use std::str::FromStr;

use super::{ComparisonOperator, ConditionError, ConditionMetric, ConditionTerm, FailCondition, list_metric_names};

impl FromStr for FailCondition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<FailCondition, ConditionError> {
        parse_condition(text).map_err(|problem| ConditionError::Syntax(text.to_owned(), problem))
    }
}

const DEEPEST: usize = 64;

fn parse_condition(text: &str) -> Result<FailCondition, String> {
    let mut parser = ConditionParser { rest: text.trim(), depth: 0, metrics: Vec::new(), has_base: false };
    let left = parser.sum()?;
    let holds = parser.comparison()?;
    let right = parser.sum()?;
    if !parser.rest.is_empty() {
        return Err(format!("it goes on after its end: {}", parser.rest));
    }
    let mut metrics = parser.metrics.into_iter();
    let metric = metrics.next().ok_or_else(|| format!("it names no metric: {}", list_metric_names()))?;
    if metrics.any(|other| other != metric) {
        return Err("it names two metrics, where base is of one".to_owned());
    }
    Ok(FailCondition { text: text.to_owned(), left, holds, right, metric, has_base: parser.has_base })
}

struct ConditionParser<'a> {
    /// The remaining text, without spaces before it.
    rest: &'a str,
    depth: usize,
    metrics: Vec<ConditionMetric>,
    has_base: bool,
}

impl<'a> ConditionParser<'a> {
    fn has(&mut self, token: &str) -> bool {
        let found = self.rest.strip_prefix(token);
        self.rest = found.map_or(self.rest, str::trim_start);
        found.is_some()
    }

    fn take(&mut self, is: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|char| !is(char)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        word
    }

    fn comparison(&mut self) -> Result<ComparisonOperator, String> {
        // The longer ones first.
        const ALL: [(&str, ComparisonOperator); 6] =
            [("<=", f64::le), (">=", f64::ge), ("==", f64::eq), ("!=", f64::ne), ("<", f64::lt), (">", f64::gt)];
        let found = ALL.into_iter().find(|(token, _)| self.has(token));
        found.map(|(_, holds)| holds).ok_or_else(|| match self.rest {
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
            "base" => {
                self.has_base = true;
                Ok(ConditionTerm::Base)
            }
            "regions" => {
                let region = self.region()?;
                let name = self.take(is_of_name);
                self.metric(Some(region), name)
            }
            name => self.metric(None, name),
        }
    }

    fn metric(&mut self, region: Option<String>, name: &str) -> Result<ConditionTerm, String> {
        let metric = ConditionMetric::new(region, name);
        self.metrics.push(metric.map_err(|like| format!("there is no metric {name}; there is {like}"))?);
        Ok(ConditionTerm::Metric)
    }

    fn region(&mut self) -> Result<String, String> {
        const SYNTAX: &str = "a region is written regions[\"main/force\"].time_s";
        let open = self.has("[");
        let quote = ['"', '\''].into_iter().find(|&quote| self.rest.starts_with(quote));
        let quote = quote.filter(|_| open).ok_or(SYNTAX)?;
        let inner = self.rest.strip_prefix(quote).unwrap_or_default();
        let (path, rest) = inner.split_once(quote).ok_or("a quote is missing")?;
        self.rest = rest.trim_start();
        if self.has("]") && self.has(".") { Ok(path.to_owned()) } else { Err(SYNTAX.to_owned()) }
    }
}

fn is_of_name(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_'
}
