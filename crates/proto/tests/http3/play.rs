//! Plays what a peer says on its streams, in all ways in which it may come.

use std::collections::BTreeMap;

use wiretrial_proto::http3::{Http3Client, Http3Event, Http3Server, Http3WebSockets, Outgoing};
use wiretrial_proto::{Event, ProtocolError, Reply, Scratch, Tag};

use super::frames::{Piece, told};

/// What came of it: events in words, and what was said.
#[derive(Debug, PartialEq, Eq, Default)]
pub(super) struct Seen {
    pub(super) events: Vec<String>,
    pub(super) said: Vec<String>,
}

/// Content of messages whose end has not come, by their number or stream.
type Content = BTreeMap<u64, Vec<u8>>;

/// One side of a conversation.
pub(super) trait Side {
    /// Takes bytes from the front of a piece: how many, and what came of them, where something did.
    fn step(
        &mut self,
        piece: (u64, &[u8], bool),
        scratch: &mut Scratch,
        content: &mut Content,
        out: &mut Outgoing,
    ) -> Result<(usize, Option<Told>), ProtocolError>;

    /// Takes in bytes on a stream, up to the last event of them.
    fn hear(
        &mut self,
        (stream, mut input, fin): (u64, &[u8], bool),
        events: &mut Vec<String>,
        content: &mut Content,
        out: &mut Outgoing,
    ) -> Result<(), ProtocolError> {
        let mut scratch = Scratch::new();
        loop {
            let (consumed, event) = self.step((stream, input, fin), &mut scratch, content, out)?;
            input = &input[consumed..];
            let Some(told) = event else { break };
            events.extend(told);
        }
        assert!(input.is_empty(), "nothing stays behind");
        Ok(())
    }
}

/// An event in words; none: content, which is kept.
type Told = Option<String>;

fn number(tag: Tag) -> u64 {
    match tag {
        Tag::Number(number) => number,
        Tag::Oldest => panic!("nothing is in order"),
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn pairs<'a>(fields: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> String {
    let words: Vec<_> = fields.map(|(name, value)| text(name) + "=" + &text(value)).collect();
    words.join(" ")
}

/// An event at a client.
pub(super) fn client_event(event: &Event<'_>, content: &mut Content) -> Told {
    Some(match event {
        Event::Chunk { tag, piece } => {
            assert!(!piece.is_empty());
            content.entry(number(*tag)).or_default().extend_from_slice(piece);
            return None;
        }
        Event::Head(head) => {
            format!("head {} {} {}", number(head.tag), head.status, pairs(head.fields()))
        }
        Event::Trailers(head) => format!("trailers {} {}", number(head.tag), pairs(head.fields())),
        Event::Reply(Reply { tag, status, payload, last, .. }) => {
            let mut whole = content.remove(&number(*tag)).unwrap_or_default();
            whole.extend_from_slice(payload);
            let last = if *last { " last" } else { "" };
            format!("reply {} {status} '{}'{last}", number(*tag), text(&whole))
        }
        Event::Failed { tag, error } => format!("failed {} {:?}", number(*tag), error.class),
        Event::Unprocessed { tag } => format!("unprocessed {}", number(*tag)),
        Event::Leaving => "leaving".to_owned(),
        Event::Parted(error) => format!("parted {:?}", error.class),
        Event::Open => "open".to_owned(),
        Event::Room => "room".to_owned(),
        other => panic!("{other:?}"),
    })
}

/// The same at a server.
pub(super) fn server_event(event: &Http3Event<'_>, content: &mut Content) -> Told {
    Some(match event {
        Http3Event::Request { stream, method, target, fields, connect, .. } => {
            let connect = if connect.is_some() { "connect " } else { "" };
            let target = target.unwrap_or("-");
            format!("request {stream} {connect}{method} {target} {}", pairs(fields.iter()))
        }
        Http3Event::Chunk { stream, piece } => {
            assert!(!piece.is_empty());
            content.entry(*stream).or_default().extend_from_slice(piece);
            return None;
        }
        Http3Event::End { stream } => {
            format!("end {stream} '{}'", text(&content.remove(stream).unwrap_or_default()))
        }
        Http3Event::Gone { stream } => format!("gone {stream}"),
        Http3Event::Leaving => "leaving".to_owned(),
        Http3Event::Room => panic!("nothing waits here"),
    })
}

impl Side for Http3Client {
    fn step(
        &mut self,
        (stream, input, fin): (u64, &[u8], bool),
        scratch: &mut Scratch,
        content: &mut Content,
        out: &mut Outgoing,
    ) -> Result<(usize, Option<Told>), ProtocolError> {
        let step = self.receive(stream, input, fin, scratch, out)?;
        Ok((step.consumed, step.event.map(|event| client_event(&event, content))))
    }
}

impl Side for Http3WebSockets {
    fn step(
        &mut self,
        (stream, input, fin): (u64, &[u8], bool),
        scratch: &mut Scratch,
        content: &mut Content,
        out: &mut Outgoing,
    ) -> Result<(usize, Option<Told>), ProtocolError> {
        let step = self.receive(stream, input, fin, scratch, out)?;
        Ok((step.consumed, step.event.map(|event| client_event(&event, content))))
    }
}

impl Side for Http3Server {
    fn step(
        &mut self,
        (stream, input, fin): (u64, &[u8], bool),
        scratch: &mut Scratch,
        content: &mut Content,
        out: &mut Outgoing,
    ) -> Result<(usize, Option<Told>), ProtocolError> {
        let step = self.receive(stream, input, fin, scratch, out)?;
        Ok((step.consumed, step.event.map(|event| server_event(&event, content))))
    }
}

/// Plays these pieces.
pub(super) fn play(side: &mut impl Side, pieces: &[(u64, &[u8], bool)]) -> Seen {
    let (mut seen, mut content, mut out) = (Seen::default(), Content::new(), Outgoing::new());
    for &piece in pieces {
        if let Err(error) = side.hear(piece, &mut seen.events, &mut content, &mut out) {
            seen.events.push(format!("error {:?}", error.class));
            break;
        }
    }
    seen.said = told(&out);
    seen
}

/// Plays what was said to a side that is made anew: whole, byte by byte, and each stream cut in two
/// everywhere; all must come to the same.
pub(super) fn check<S: Side>(fresh: impl Fn() -> S, said: &[Piece]) -> Seen {
    let all: Vec<_> = said.iter().map(|(id, bytes, fin)| (*id, &bytes[..], *fin)).collect();
    let whole = play(&mut fresh(), &all);
    for end_stands_alone in [false, true] {
        let mut single = Vec::new();
        for &(id, bytes, fin) in &all {
            let last = bytes.len().wrapping_sub(1);
            let ends = |place| fin && !end_stands_alone && place == last;
            single.extend(bytes.chunks(1).enumerate().map(|(at, byte)| (id, byte, ends(at))));
            if end_stands_alone || bytes.is_empty() {
                single.push((id, &[], fin));
            }
        }
        assert_eq!(play(&mut fresh(), &single), whole, "byte by byte");
    }
    for (place, &(id, bytes, fin)) in all.iter().enumerate() {
        for cut in 0..=bytes.len() {
            let (first, second) = bytes.split_at(cut);
            let mut pieces = all.clone();
            pieces.splice(place..=place, [(id, first, false), (id, second, fin)]);
            assert_eq!(play(&mut fresh(), &pieces), whole, "stream {id} cut at {cut}");
        }
    }
    whole
}
