//! Names of values.
//!
//! Knows columns and captures by name. Must not know what their values are, nor who needs them.

/// Values of sessions, by name.
#[derive(Debug, Default)]
pub(super) struct Names(Vec<String>);

impl Names {
    /// The index of the value with this name, which may be new.
    pub(super) fn index(&mut self, name: &str) -> usize {
        let known = self.0.iter().position(|known| known == name);
        known.unwrap_or_else(|| {
            self.0.push(name.to_owned());
            self.0.len() - 1
        })
    }

    pub(super) fn into_names(self) -> Vec<String> {
        self.0
    }
}
