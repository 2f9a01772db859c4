//! Plays a server's bytes to a client, in all ways in which they may come.

use std::collections::BTreeMap;

use wiretrial_proto::http2::Http2Client;
use wiretrial_proto::{ClientSession as _, Event, Reply, Scratch, Tag};

/// What the server's bytes came to: events in words, and what the client said to them.
#[derive(Debug, PartialEq, Eq, Default)]
pub(super) struct Seen {
    pub(super) events: Vec<String>,
    pub(super) out: Vec<u8>,
}

/// A reply whose end came, in words.
fn replied(reply: &Reply<'_>, content: &mut BTreeMap<u64, Vec<u8>>) -> String {
    let number = named(reply.tag);
    let mut whole = content.remove(&number).unwrap_or_default();
    whole.extend_from_slice(reply.payload);
    let last = if reply.last { " last" } else { "" };
    format!("reply {number} {} '{}'{last}", reply.status, String::from_utf8_lossy(&whole))
}

fn named(tag: Tag) -> u64 {
    match tag {
        Tag::Number(number) => number,
        Tag::Oldest => panic!("nothing is in order"),
    }
}

/// Plays bytes that come in these pieces.
pub(super) fn play(client: &mut Http2Client, pieces: &[&[u8]]) -> Seen {
    play_with(client, pieces, |_, _, _, _| 0)
}

/// The same, and takes replies without events where there are some; all but each third, which must come as
/// an event then.
fn play_short(client: &mut Http2Client, pieces: &[&[u8]]) -> Seen {
    let mut offered = 0_u32;
    play_with(client, pieces, |client, input, events, content| {
        client.replies(input, &Scratch::new(), |reply| {
            offered += 1;
            let is_wanted = !offered.is_multiple_of(3);
            if is_wanted {
                events.push(replied(reply, content));
            }
            is_wanted
        })
    })
}

/// The same, where `ahead` may take some of the input before each look at the next event.
fn play_with(
    client: &mut Http2Client,
    pieces: &[&[u8]],
    mut ahead: impl FnMut(
        &mut Http2Client,
        &[u8],
        &mut Vec<String>,
        &mut BTreeMap<u64, Vec<u8>>,
    ) -> usize,
) -> Seen {
    let mut seen = Seen::default();
    let (mut scratch, mut carry) = (Scratch::new(), Vec::new());
    let mut content: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
    for piece in pieces {
        carry.extend_from_slice(piece);
        let mut offset = 0;
        loop {
            offset += ahead(client, &carry[offset..], &mut seen.events, &mut content);
            let step = match client.receive(&carry[offset..], &mut scratch, &mut seen.out) {
                Ok(step) => step,
                Err(error) => {
                    seen.events.push(format!("error {:?}", error.class));
                    return seen;
                }
            };
            offset += step.consumed;
            seen.events.push(match step.event {
                None => break,
                Some(Event::Chunk { tag, piece }) => {
                    assert!(!piece.is_empty());
                    content.entry(named(tag)).or_default().extend_from_slice(piece);
                    continue;
                }
                Some(event @ (Event::Head(head) | Event::Trailers(head))) => {
                    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
                    let fields: Vec<_> = head
                        .fields()
                        .map(|(name, value)| text(name) + "=" + &text(value))
                        .collect();
                    let what = if matches!(event, Event::Head(_)) { "head" } else { "trailers" };
                    format!("{what} {} {} {}", named(head.tag), head.status, fields.join(" "))
                }
                Some(Event::Reply(reply)) => replied(&reply, &mut content),
                Some(Event::Failed { tag, error }) => {
                    format!("failed {} {:?}", named(tag), error.class)
                }
                Some(Event::Unprocessed { tag }) => format!("unprocessed {}", named(tag)),
                Some(Event::Leaving) => "leaving".to_owned(),
                Some(Event::Room) => format!("room {}", client.room()),
                Some(other) => panic!("{other:?}"),
            });
        }
        carry.drain(..offset);
    }
    seen
}

/// Plays bytes whole, byte by byte, and cut in two everywhere, with events for replies and without; all must
/// come to the same.
pub(super) fn check(fresh: impl Fn() -> Http2Client, bytes: &[u8]) -> Seen {
    let whole = play(&mut fresh(), &[bytes]);
    let single: Vec<_> = bytes.chunks(1).collect();
    assert_eq!(play(&mut fresh(), &single), whole, "byte by byte");
    for cut in 1..bytes.len() {
        let (first, second) = bytes.split_at(cut);
        assert_eq!(play(&mut fresh(), &[first, second]), whole, "cut at {cut}");
        assert_eq!(
            play_short(&mut fresh(), &[first, second]),
            whole,
            "without events, cut at {cut}"
        );
    }
    assert_eq!(play_short(&mut fresh(), &[bytes]), whole, "without events");
    whole
}
