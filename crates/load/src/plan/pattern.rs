//! Regular expressions of a plan.
//!
//! Knows whether one can be used. Must not know what it is looked for in.

use regex::bytes::Regex;

/// This pattern, which compiles.
///
/// # Errors
/// What is wrong with it, on one line.
pub(super) fn compiles(pattern: &str) -> Result<String, String> {
    match Regex::new(pattern) {
        Ok(_) => Ok(pattern.to_owned()),
        // The crate draws a picture of several lines; the last one says what is wrong.
        Err(error) => {
            let picture = error.to_string();
            let last = picture.lines().last().unwrap_or_default();
            Err(last.trim_start_matches("error: ").to_owned())
        }
    }
}
