//! JSON schemas, generated from the rows and their comments.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};

use crate::html::ViewsData;
use crate::json::ReportDocument;

/// Makes the schema of a serialized type.
pub fn make_schema<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>()
}

/// Makes the schema of the report.
pub fn make_report_schema() -> Schema {
    make_schema::<ReportDocument<'static>>()
}

/// Makes the schema of the data of the report's page.
pub fn make_page_schema() -> Schema {
    make_schema::<ViewsData<'static>>()
}
