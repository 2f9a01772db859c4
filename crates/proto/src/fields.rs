//! A list of fields, laid one after the other into one buffer that is used again.
//!
//! Knows names and values; must not know how they came.

/// Names and values, in order. Its memory stays when it is cleared.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct FieldList {
    text: Vec<u8>,
    /// Where each field's name ends, and its value.
    ends: Vec<(u32, u32)>,
}

impl FieldList {
    /// No field; what it held is forgotten, its memory kept.
    pub fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    /// These fields, of a test.
    #[cfg(test)]
    pub(crate) fn of(fields: &[(&str, &str)]) -> Self {
        let mut list = Self::default();
        for (name, value) in fields {
            list.push(name.as_bytes(), value.as_bytes());
        }
        list
    }

    /// Adds one.
    pub fn push(&mut self, name: &[u8], value: &[u8]) {
        self.text.extend_from_slice(name);
        let name_end = self.text.len() as u32;
        self.text.extend_from_slice(value);
        self.ends.push((name_end, self.text.len() as u32));
    }

    /// Names and values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let mut begin = 0;
        self.ends.iter().map(move |&(name_end, value_end)| {
            let name = &self.text[begin..name_end as usize];
            begin = value_end as usize;
            (name, &self.text[name_end as usize..value_end as usize])
        })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The value of the first field with this name, in lower case.
    pub fn get(&self, name: &[u8]) -> Option<&[u8]> {
        self.iter().find(|(each, _)| *each == name).map(|(_, value)| value)
    }

    /// Bytes of all names and values.
    pub fn bytes(&self) -> usize {
        self.text.len()
    }
}
