//! The report as one self-contained HTML file: the style and script of `analyzer/page`, the report's JSON and the page's own data (docs/page-data.md).
//!
//! Names from logs are text everywhere: [`HtmlPage::write`] escapes them, and the data elements contain no characters of markup.

mod packed;
mod timeline;
mod views;

#[cfg(feature = "schema")]
pub(crate) use views::ViewsData;
pub use views::page_views;

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value;

use super::Report;
use super::bounds::ListBounds;
use super::json::{self, GENERATOR};
use super::text;
use super::words::escape_name;

/// A page of `analyzer/page` and its data.
pub struct HtmlPage {
    /// Title of the window.
    pub title: String,
    /// CSS.
    pub style: &'static str,
    /// JavaScript.
    pub script: &'static str,
    /// Text for readers without scripts.
    pub text: String,
    /// Ids of elements and the JSON in them, in which nothing is markup ([`inert_json`]).
    pub data: Vec<(&'static str, String)>,
}

impl HtmlPage {
    /// Creates a page without text and data.
    pub fn new(title: String, style: &'static str, script: &'static str) -> HtmlPage {
        HtmlPage { title, style, script, text: String::new(), data: Vec::new() }
    }

    /// Writes the page.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let elements = self.data.iter();
        let elements =
            elements.map(|(id, json)| format!("<script type=\"application/json\" id=\"{id}\">{json}</script>\n"));
        let data: String = elements.collect();
        write!(
            out,
            include_str!("page.html"),
            generator = escape_html(GENERATOR),
            title = escape_html(&self.title),
            style = self.style,
            text = escape_html(&self.text),
            data = data,
            script = self.script,
        )
    }
}

/// Escapes markup for elements and quoted attributes.
fn escape_html(text: &str) -> String {
    let escapes = [('&', "&#38;"), ('<', "&#60;"), ('>', "&#62;"), ('"', "&#34;"), ('\'', "&#39;")];
    escapes.into_iter().fold(text.to_owned(), |text, (char, escape)| text.replace(char, escape))
}

/// Writes the report as one HTML document, with its [`page_views`]. `options` apply to the text in it.
pub fn write_page(report: &Report, views: &Value, options: &text::TextOptions, out: &mut dyn Write) -> io::Result<()> {
    let title = format!("lbprof: {}", escape_name(&report.facts.command.join(" ")));
    let (style, script) = (include_str!("../../../page/dist/page.css"), include_str!("../../../page/dist/page.js"));
    let page = HtmlPage {
        text: anstream::adapter::strip_str(&text::render_text(report, options)).to_string(),
        data: vec![
            ("report", inert_json(&json::report_document(report, &ListBounds::SMALL))?),
            ("views", inert_json(views)?),
        ],
        ..HtmlPage::new(title, style, script)
    };
    page.write(out)
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
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn title_and_text_are_no_markup() {
        let hostile = "</title>\"'<script>&amp;";
        let page = HtmlPage { text: hostile.to_owned(), ..HtmlPage::new(hostile.to_owned(), "", "") };
        let mut bytes = Vec::new();
        page.write(&mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let escaped = "&#60;/title&#62;&#34;&#39;&#60;script&#62;&#38;amp;";
        assert!(
            text.contains(&format!("<title>{escaped}</title>")) && text.contains(&format!("<pre>\n{escaped}</pre>"))
        );
        assert_eq!(text.matches(hostile).count(), 0);
    }

    #[test]
    fn names_in_data_are_no_markup_and_stay_what_they_are() {
        let hostile = "</script><!--<script>alert('1')&amp;\"\u{2028}\u{2029}\u{1b}[2J\u{7f}\\u003c";
        let text = inert_json(&json!({ hostile: [hostile] })).unwrap();
        assert!(!text.contains(['<', '>', '&', '\u{2028}', '\u{2029}', '\u{1b}', '\u{7f}']), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), json!({ hostile: [hostile] }));
    }

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
