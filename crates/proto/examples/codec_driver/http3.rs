//! Blocks of fields of HTTP/3, driven.
//!
//! - `qpack-decoder HEX...`: blocks, each by itself.
//! - `qpack-encoder NAME:VALUE:plain|never...`: one block; names and values in hexadecimal.

use wiretrial_proto::FieldList;
use wiretrial_proto::http3::qpack::{read_fields, write_field, write_prefix};

use crate::http2::{MOST_FIELDS, fields, secrecy};
use crate::{hex, unhex};

/// What was reported, as JSON; none: no codec of these, or a line that can't be read.
pub(crate) fn drive(codec: &str, words: &[&str]) -> Option<Vec<String>> {
    match codec {
        "qpack-decoder" => words.iter().map(|word| Some(decode(&unhex(word)?))).collect(),
        "qpack-encoder" => encode(words),
        _ => None,
    }
}

fn decode(block: &[u8]) -> String {
    let mut list = FieldList::default();
    match read_fields(block, MOST_FIELDS, &mut list) {
        Ok(()) => format!("{{\"fields\":{}}}", fields(list.iter())),
        Err(error) => format!("{{\"failed\":\"{error:?}\"}}"),
    }
}

fn encode(words: &[&str]) -> Option<Vec<String>> {
    let mut block = Vec::new();
    write_prefix(&mut block);
    for word in words {
        let mut parts = word.split(':');
        let (name, value) = (unhex(parts.next()?)?, unhex(parts.next()?)?);
        write_field(&name, &value, secrecy(parts.next()?), &mut block);
    }
    Some(vec![format!("{{\"block\":\"{}\"}}", hex(&block))])
}
