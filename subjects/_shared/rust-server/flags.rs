//! The command line: `--name value`, and `--name` alone for a switch.
//!
//! Knows words; must not know what they mean.

use std::collections::HashMap;
use std::str::FromStr;

#[derive(Debug)]
pub(crate) struct Flags(HashMap<String, String>);

impl Flags {
    pub(crate) fn read(words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut flags = HashMap::new();
        let mut words = words.peekable();
        while let Some(word) = words.next() {
            let Some(name) = word.strip_prefix("--") else {
                return Err(format!("{word} is no flag"));
            };
            let value = words.next_if(|next| !next.starts_with("--")).unwrap_or_default();
            flags.insert(name.to_owned(), value);
        }
        Ok(Self(flags))
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub(crate) fn text(&self, name: &str) -> Result<&str, String> {
        self.0.get(name).map(String::as_str).ok_or_else(|| format!("--{name} is needed"))
    }

    pub(crate) fn number<N: FromStr>(&self, name: &str) -> Result<N, String> {
        let text = self.text(name)?;
        text.parse().map_err(|_| format!("--{name} {text} is no fitting number"))
    }
}
