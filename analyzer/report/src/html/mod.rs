//! The report as one self-contained HTML file: the style and script of `analyzer/page`, the report's JSON and the page's own data (docs/page-data.md).
//!
//! Names from logs are text everywhere: [`write_html_page`] escapes them, and the data elements contain no characters of markup.

mod packed;
#[cfg(feature = "schema")]
pub mod schema;
mod source;
mod timeline;
mod views;

#[cfg(feature = "schema")]
pub(crate) use views::ViewsData;
pub use views::page_views;

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value;

use super::Report;
use super::json::{self, GENERATOR};
use super::rows::bounds::ListBounds;
use super::rows::words::escape_name;
use super::text;

/// Writes a page of `analyzer/page`, which is `style` and `script`: its title, the text for readers without scripts, and by the ids of elements the JSON
/// in them, in which nothing is markup ([`inert_json`]).
pub fn write_html_page(
    title: &str,
    [style, script]: [&str; 2],
    text: &str,
    data: &[(&str, String)],
    out: &mut dyn Write,
) -> io::Result<()> {
    let elements =
        data.iter().map(|(id, json)| format!("<script type=\"application/json\" id=\"{id}\">{json}</script>\n"));
    write!(
        out,
        include_str!("page.html"),
        generator = escape_html(GENERATOR),
        title = escape_html(title),
        style = style,
        text = escape_html(&anstream::adapter::strip_str(text).to_string()),
        data = elements.collect::<String>(),
        script = script,
    )
}

/// Escapes markup for elements and quoted attributes.
fn escape_html(text: &str) -> String {
    let escapes = [('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;"), ('"', "&quot;"), ('\'', "&apos;")];
    escapes.into_iter().fold(text.to_owned(), |text, (char, escape)| text.replace(char, escape))
}

/// Writes the report as one HTML document, with its [`page_views`]. `options` apply to the text in it.
pub fn write_page(report: &Report, views: &Value, options: &text::TextOptions, out: &mut dyn Write) -> io::Result<()> {
    let title = format!("lbprof: {}", escape_name(&report.facts.command.join(" ")));
    let files = [include_str!("../../../page/dist/page.css"), include_str!("../../../page/dist/page.js")];
    let document = inert_json(&json::report_document(report, &ListBounds::SMALL))?;
    let data = [("report", document), ("views", inert_json(views)?)];
    write_html_page(&title, files, &text::render_text(report, options), &data, out)
}

/// Formats JSON that is safe in an HTML element. `<`, `>`, `&`, control characters and U+2028 only occur in strings, and are escaped.
pub fn inert_json(value: &impl Serialize) -> io::Result<String> {
    let mut bytes = Vec::new();
    json::write_compact(value, &mut bytes)?;
    let text = String::from_utf8(bytes).map_err(io::Error::other)?;
    match text.contains(['<', '>', '&']) {
        true => Ok(text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")),
        false => Ok(text),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn style_and_script_of_the_page_do_not_end_their_elements() {
        let script = include_str!("../../../page/dist/page.js").to_ascii_lowercase();
        assert!(!script.contains("</script") && !script.contains("<!--"));
        assert!(!include_str!("../../../page/dist/page.css").to_ascii_lowercase().contains("</style"));
        let script = include_str!("../../../page/dist/study.js").to_ascii_lowercase();
        assert!(!script.contains("</script") && !script.contains("<!--"));
        assert!(!include_str!("../../../page/dist/study.css").to_ascii_lowercase().contains("</style"));
    }
}
