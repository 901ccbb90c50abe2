//! Writes JSON on several lines or on one.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};

use super::report_document;
use crate::Report;
use crate::rows::bounds::ListBounds;
use crate::rows::words::is_hostile;

/// Writes the report as a JSON document with lists limited by `bounds`.
pub fn write_report_json(report: &Report, bounds: &ListBounds, out: &mut dyn Write) -> io::Result<()> {
    write_pretty(&report_document(report, bounds), out)
}

/// Writes a value on several lines.
pub fn write_pretty(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    write_with(value, EscapingFormatter(PrettyFormatter::new()), &mut *out)?;
    out.write_all(b"\n")
}

/// Writes a value on one line, without a line break.
pub fn write_compact(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    write_with(value, EscapingFormatter(CompactFormatter), out)
}

fn write_with(value: &impl Serialize, formatter: impl Formatter, out: &mut dyn Write) -> io::Result<()> {
    value.serialize(&mut serde_json::Serializer::with_formatter(out, formatter)).map_err(io::Error::from)
}

/// A formatter that escapes characters that terminals obey, and writes zero without a sign.
struct EscapingFormatter<F>(F);

macro_rules! forward {
    ($($name:ident($($arg:ident: $of:ty),*);)*) => {
        $(fn $name<W: ?Sized + Write>(&mut self, writer: &mut W $(, $arg: $of)*) -> io::Result<()> {
            self.0.$name(writer $(, $arg)*)
        })*
    };
}

impl<F: Formatter> Formatter for EscapingFormatter<F> {
    forward! {
        begin_array();
        end_array();
        begin_array_value(first: bool);
        end_array_value();
        begin_object();
        end_object();
        begin_object_key(first: bool);
        end_object_key();
        begin_object_value();
        end_object_value();
    }

    fn write_f64<W: ?Sized + Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        // The sum of no numbers is -0.0.
        self.0.write_f64(writer, if value == 0.0 { 0.0 } else { value })
    }

    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(is_hostile) {
            let (plain, tail) = rest.split_at(at);
            writer.write_all(plain.as_bytes())?;
            let mut chars = tail.chars();
            let mut units = [0; 2];
            for unit in chars.next().map_or(&[][..], |found| found.encode_utf16(&mut units)) {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = chars.as_str();
        }
        writer.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::{write_compact, write_pretty};

    #[test]
    fn zeros_have_no_sign() {
        let sum_of_none: f64 = [].iter().sum();
        let (mut line, mut lines) = (Vec::new(), Vec::new());
        write_compact(&[sum_of_none, -0.25], &mut line).unwrap();
        write_pretty(&serde_json::json!({ "sum": sum_of_none }), &mut lines).unwrap();
        assert_eq!(String::from_utf8(line).unwrap(), "[0.0,-0.25]");
        assert_eq!(String::from_utf8(lines).unwrap(), "{\n  \"sum\": 0.0\n}\n");
    }
}
