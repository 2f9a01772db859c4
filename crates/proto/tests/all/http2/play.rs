//! Plays a server's bytes to a client, in all ways in which they may come.

use std::collections::BTreeMap;
use std::fmt::Debug;

use wiretrial_proto::{ClientSession, Event, MessageKind, Reply, Scratch, Tag};

/// What the bytes came to: events in words, what was said to them, and what was wrong with them.
#[derive(Debug, PartialEq, Eq, Default)]
pub(super) struct Seen {
    pub(super) events: Vec<String>,
    pub(super) out: Vec<u8>,
    pub(super) wrong: String,
}

/// Content of replies whose end has not come.
type Content = BTreeMap<u64, Vec<u8>>;

/// A reply whose end came, in words.
fn replied(reply: &Reply<'_>, content: &mut Content) -> String {
    let number = named(reply.tag);
    let mut whole = content.remove(&number).unwrap_or_default();
    whole.extend_from_slice(reply.payload);
    let kind = if reply.kind == MessageKind::Text { " text" } else { "" };
    let last = if reply.last { " last" } else { "" };
    format!("reply {number} {} '{}'{kind}{last}", reply.status, String::from_utf8_lossy(&whole))
}

fn named(tag: Tag) -> u64 {
    match tag {
        Tag::Number(number) => number,
        Tag::Oldest => panic!("nothing is in order"),
    }
}

/// Plays bytes that come in these pieces.
pub(super) fn play<S: ClientSession>(client: &mut S, pieces: &[&[u8]]) -> Seen {
    play_with(client, pieces, |_, _, _, _| 0)
}

/// The same, and takes replies without events where there are some; all but each third, which must come as
/// an event then.
fn play_short<S: ClientSession>(client: &mut S, pieces: &[&[u8]]) -> Seen {
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
fn play_with<S: ClientSession>(
    client: &mut S,
    pieces: &[&[u8]],
    mut ahead: impl FnMut(&mut S, &[u8], &mut Vec<String>, &mut Content) -> usize,
) -> Seen {
    let mut seen = Seen::default();
    let (mut scratch, mut carry, mut content) = (Scratch::new(), Vec::new(), Content::new());
    for piece in pieces {
        carry.extend_from_slice(piece);
        let mut offset = 0;
        loop {
            offset += ahead(client, &carry[offset..], &mut seen.events, &mut content);
            let step = match client.receive(&carry[offset..], &mut scratch, &mut seen.out) {
                Ok(step) => step,
                Err(error) => {
                    seen.events.push(format!("error {:?}", error.class));
                    seen.wrong = error.to_string();
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
                Some(Event::Parted(error)) => format!("parted {:?}", error.class),
                Some(Event::Leaving) => "leaving".to_owned(),
                Some(Event::Open) => format!("open {}", client.room()),
                Some(Event::Room) => format!("room {}", client.room()),
                Some(other) => panic!("{other:?}"),
            });
        }
        carry.drain(..offset);
    }
    seen
}

/// Plays bytes in all ways to a client that is made anew, with events for replies and without; all must come to
/// the same.
pub(super) fn check<S: ClientSession>(fresh: impl Fn() -> S, bytes: &[u8]) -> Seen {
    let whole = in_all_ways(bytes, |pieces| play(&mut fresh(), pieces));
    for cut in 1..bytes.len() {
        let (first, second) = bytes.split_at(cut);
        let short = play_short(&mut fresh(), &[first, second]);
        assert_eq!(short, whole, "without events, cut at {cut}");
    }
    assert_eq!(play_short(&mut fresh(), &[bytes]), whole, "without events");
    whole
}

/// Plays bytes whole, byte by byte, and cut in two everywhere; all must come to the same.
pub(super) fn in_all_ways<T: Debug + PartialEq>(
    bytes: &[u8],
    mut play: impl FnMut(&[&[u8]]) -> T,
) -> T {
    let whole = play(&[bytes]);
    let single: Vec<_> = bytes.chunks(1).collect();
    assert_eq!(play(&single), whole, "byte by byte");
    for cut in 1..bytes.len() {
        let (first, second) = bytes.split_at(cut);
        assert_eq!(play(&[first, second]), whole, "cut at {cut}");
    }
    whole
}
