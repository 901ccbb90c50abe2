//! A derive of `JsonSchema` that does nothing, in place of the one of `schemars` in builds without schemas.

use proc_macro::TokenStream;

/// Implements nothing.
#[proc_macro_derive(JsonSchema, attributes(schemars))]
pub fn derive_nothing(_: TokenStream) -> TokenStream {
    TokenStream::new()
}
