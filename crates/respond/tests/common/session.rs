//! A session of a client over a socket: what it has to say goes out, what comes is told event by event.
//!
//! Knows bytes and how a conversation is cut off; must not know what is asked, nor what a reply should be.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Write as _};

use wiretrial_proto::{ClientSession, ErrorClass, Event, Reply, Scratch, Tag};

use super::Client;

/// Why nothing more comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// FIN or RST.
    Ended,
    /// Nothing came for as long as the socket waits.
    Silence,
    /// The server broke the protocol.
    Broken(ErrorClass),
}

/// Talks until `hear`, which is told each event and may encode messages behind it, wants no more. Events of the last
/// read are told all the same.
pub(crate) fn converse<S: ClientSession>(
    client: &mut Client,
    session: &mut S,
    mut hear: impl FnMut(&mut S, Event<'_>, &mut Vec<u8>) -> bool,
) -> Result<(), Cut> {
    let (mut out, mut scratch, mut carry) = (Vec::new(), Scratch::new(), Vec::new());
    let (mut piece, mut goes_on) = (vec![0; 65_536], true);
    session.start(&mut out);
    while goes_on {
        client.send(&out);
        out.clear();
        match client.read(&mut piece) {
            Ok(0) => return Err(Cut::Ended),
            Ok(count) => carry.extend_from_slice(&piece[..count]),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => return Err(Cut::Ended),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Err(Cut::Silence),
            Err(error) => panic!("{error}"),
        }
        let mut offset = 0;
        loop {
            let step = match session.receive(&carry[offset..], &mut scratch, &mut out) {
                Ok(step) => step,
                Err(error) => {
                    // A server that sends more does not hear it.
                    let _ = client.0.write_all(&out);
                    return Err(Cut::Broken(error.class));
                }
            };
            offset += step.consumed;
            let Some(event) = step.event else { break };
            goes_on = hear(session, event, &mut out);
        }
        carry.drain(..offset);
    }
    // Neither does one that has left.
    let _ = client.0.write_all(&out);
    Ok(())
}

/// Content of replies that are not whole, by the number of their message.
#[derive(Debug, Default)]
pub(crate) struct Contents(BTreeMap<u64, Vec<u8>>);

impl Contents {
    pub(crate) fn add(&mut self, tag: Tag, piece: &[u8]) {
        self.0.entry(number(tag)).or_default().extend_from_slice(piece);
    }

    /// The number of a reply whose end came, and all of its content.
    pub(crate) fn whole(&mut self, reply: &Reply<'_>) -> (u64, Vec<u8>) {
        let mut whole = self.taken(reply.tag);
        whole.extend_from_slice(reply.payload);
        (number(reply.tag), whole)
    }

    /// What came of one that comes to no end.
    pub(crate) fn taken(&mut self, tag: Tag) -> Vec<u8> {
        self.0.remove(&number(tag)).unwrap_or_default()
    }
}

pub(crate) fn number(tag: Tag) -> u64 {
    match tag {
        Tag::Number(number) => number,
        Tag::Oldest => panic!("nothing is in order"),
    }
}
