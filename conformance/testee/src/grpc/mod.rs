//! gRPC with the suite: it says on the standard input what is wanted, and is told on the standard output.
//!
//! Knows how the suite's messages come and go, and metadata. Must not know cases.
//!
//! ```text
//! client, server -> messages;   server -> service
//! ```

mod client;
mod messages;
mod server;
mod service;

use std::io::{self, Read, Write};

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use prost::Message;

pub(crate) use self::client::call;
use self::messages::Header;
pub(crate) use self::server::serve;
use crate::line::Failed;

/// Where a status stands with its details.
const DETAILS: &str = "grpc-status-details-bin";
/// Values are written without padding, and read with and without.
const BINARY: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_encode_padding(false)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The next message of the suite; none: it has no more.
fn read<M: Message + Default>(input: &mut impl Read) -> Result<Option<M>, Failed> {
    let mut length = [0; 4];
    match input.read_exact(&mut length) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read.map_err(Failed::Suite)?,
    }
    let mut bytes = vec![0; u32::from_be_bytes(length) as usize];
    input.read_exact(&mut bytes).map_err(Failed::Suite)?;
    Ok(Some(M::decode(&bytes[..])?))
}

fn write(message: &impl Message, output: &mut impl Write) -> Result<(), Failed> {
    let bytes = message.encode_to_vec();
    let length = (bytes.len() as u32).to_be_bytes();
    output.write_all(&[&length[..], &bytes].concat()).map_err(Failed::Suite)?;
    output.flush().map_err(Failed::Suite)
}

/// Fields as the suite lists them: each name once. Of what is binary, each value of a list, without padding.
fn listed<'a>(fields: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> Vec<Header> {
    let mut list: Vec<Header> = Vec::new();
    for (name, value) in fields {
        let (name, value) = (text(name), text(value));
        let values: Vec<_> = if name.ends_with("-bin") {
            value.split(',').map(|value| canonical(value.trim())).collect()
        } else {
            vec![value]
        };
        match list.iter_mut().find(|header| header.name == name) {
            Some(header) => header.value.extend(values),
            None => list.push(Header { name, value: values }),
        }
    }
    list
}

/// Names in lower case, and values, of what the suite lists.
fn fields(list: &[Header]) -> impl Iterator<Item = (String, &str)> {
    list.iter().flat_map(|header| {
        header.value.iter().map(|value| (header.name.to_ascii_lowercase(), value.as_str()))
    })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn canonical(value: &str) -> String {
    BINARY.decode(value).map_or_else(|_| value.to_owned(), |bytes| BINARY.encode(bytes))
}
