//! Events as they are sent.
//!
//! Knows the format; must not know when an event is due.

use crate::http1::decimal;

/// Appends an event of this type (empty: `message`), with an id where there is one. Each line of the
/// data gets a line of its own; an id and a type must have no line end.
pub fn write_event(kind: &[u8], id: Option<&[u8]>, data: &[u8], out: &mut Vec<u8>) {
    if let Some(id) = id {
        write_field(b"id: ", id, out);
    }
    if !kind.is_empty() {
        write_field(b"event: ", kind, out);
    }
    for line in data.split(|byte| *byte == b'\n') {
        write_field(b"data: ", line, out);
    }
    out.push(b'\n');
}

/// Appends how long a client shall wait before it asks again.
pub fn write_retry(milliseconds: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(b"retry: ");
    decimal(milliseconds, out);
    out.extend_from_slice(b"\n\n");
}

/// Appends a line that says nothing, which must have no line end.
pub fn write_comment(text: &[u8], out: &mut Vec<u8>) {
    write_field(b": ", text, out);
    out.push(b'\n');
}

fn write_field(name: &[u8], value: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(name);
    out.extend_from_slice(value);
    out.push(b'\n');
}
