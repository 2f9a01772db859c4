//! What both sides of a connection share: streams, windows, settings, and frames in.
//!
//! Knows what each frame does to its stream and to the connection (RFC 9113 sections 5 and 6); must
//! not know what a message says, nor which of its fields may stand where.
//!
//! ```text
//! reading -> control, content, repeats; plain -> repeats; all -> open
//! ```

mod content;
mod control;
mod open;
mod plain;
mod reading;
mod repeats;

use std::mem;
use std::ops::Range;

use super::allowance::{Allowance, Http2Use, Instants};
use super::frame::{self, ErrorCode, WIDEST, WINDOW};
use super::hpack::{self, HpackDecoder};
use super::settings::Settings;
use crate::ErrorClass;
use crate::fielded::inbound;
use crate::streams::Identified;
use content::Held;
use open::OpenStreams;
use reading::Reading;
use repeats::Repeat;

/// Gaps between the numbers of streams that are remembered. Nobody leaves any.
const MOST_PASSED_OVER: usize = 32;
/// Streams that we gave up and of which something may still come: the peer may not know yet.
const MOST_GONE: usize = 1024;

/// What one side lets the other do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Http2Limits {
    /// What the peer may send on a stream before we allow more, bytes.
    pub stream_window: u32,
    /// The same on all streams together; at least 65,535.
    pub connection_window: u32,
    /// The longest frame that is taken, bytes: 16,384 to 16,777,215.
    pub max_frame: u32,
    /// Bytes that the peer's encoder may use for its table.
    pub header_table_size: u32,
    /// The largest list of fields, bytes, with 32 for each.
    pub max_header_list: u32,
    /// Streams that the peer may have open at once.
    pub max_streams: u32,
    /// The peer may ask for another protocol on a stream: CONNECT with a protocol (RFC 8441).
    pub connect_protocol: bool,
    /// The longest that a compressed message of a reply to a call of gRPC may come to be, bytes.
    pub max_inflated: u32,
}

impl Default for Http2Limits {
    fn default() -> Self {
        Self {
            // Wide enough that nobody waits for us: what comes is taken at once.
            stream_window: 4 << 20,
            connection_window: 64 << 20,
            max_frame: frame::LEAST_MAX_FRAME,
            header_table_size: 4096,
            max_header_list: crate::head::MAX_HEAD as u32,
            max_streams: u32::MAX,
            connect_protocol: false,
            max_inflated: 16 << 20,
        }
    }
}

/// Whose numbers are odd.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// It opens the streams.
    Client,
    /// Its peer opens them.
    Server,
}

/// One side of one connection; `M` is what is kept of each message.
#[derive(Debug)]
pub(super) struct Connection<M> {
    side: Side,
    pub(super) limits: Http2Limits,
    pub(super) peer: Settings,
    decoder: HpackDecoder,
    /// The last blocks that were read: of a message's head, and behind its content. None: they are not
    /// kept.
    repeats: Option<Box<[Repeat; 2]>>,
    streams: OpenStreams<M>,
    /// The number of the next stream that the client opens; they are odd.
    next: u32,
    /// Streams behind this one were not processed by the peer, as it said.
    last_processed: u32,
    /// Streams behind this one are not taken, as we said.
    last_taken: u32,
    reading: Reading,
    /// What the peer may send on all streams.
    allowance: Allowance,
    /// What we may send on all streams.
    send_window: u32,
    held: Held,
    /// Numbers of streams that we gave up.
    gone: Vec<u32>,
    /// Numbers that the client can't use any more, as it has used later ones.
    passed_over: Vec<Range<u32>>,
    instants: Instants,
    used: Http2Use,
    /// The peer allows a smaller table than what holds by itself: the next block must say that ours is
    /// no larger (RFC 7541 section 4.2).
    table_due: bool,
    /// It has been said.
    table_told: bool,
}

/// What is known of the peer's side of a stream.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Heard<M> {
    /// What the caller knows of its message.
    pub(super) message: M,
    /// The peer's head has come: what follows is content, or trailers.
    pub(super) has_head: bool,
    /// What is missing of the peer's content, where the head told its length.
    pub(super) missing: Option<u64>,
}

/// A stream that is open, at least in one direction.
#[expect(clippy::struct_excessive_bools, reason = "each direction has its own begin and end")]
#[derive(Debug, Default)]
pub(super) struct Stream<M> {
    id: u32,
    /// What came on it.
    pub(super) heard: Heard<M>,
    /// The peer sends nothing more on it.
    has_ended: bool,
    /// We send nothing more on it, beside content that waits for a window.
    we_end: bool,
    /// Content of ours waits for a window.
    is_held: bool,
    /// More of ours follows, which has not been said yet.
    pub(super) we_go_on: bool,
    /// Both directions end by themselves: another protocol is spoken on it.
    pub(super) is_tunnel: bool,
    /// What we may send; a setting can make it negative (RFC 9113 section 6.9.2).
    send_window: i64,
    /// What the peer may send.
    allowance: Allowance,
}

impl<M: Default> Identified for Stream<M> {
    #[inline]
    fn id(&self) -> u32 {
        self.id
    }

    #[inline]
    fn vacate(&mut self) {
        // All else is written anew with the next one.
        self.id = 0;
        self.heard.message = M::default();
    }
}

/// What came.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Happened<'a> {
    /// The peer's first settings.
    Settled,
    /// To a client: the peer allows another number of streams. To a server: some content that
    /// waited has gone.
    Room,
    /// Fields on a stream, which the caller's list holds now.
    Fields { id: u32, is_end: bool },
    /// The same fields as on an earlier stream, which the caller [keeps](Connection::keep_fields): those
    /// of a head, or behind content.
    Again { id: u32, is_end: bool },
    /// A piece of content; it is empty only at the end.
    /// Behind it so many bytes of padding were consumed.
    Content { id: u32, piece: &'a [u8], padding: usize, is_end: bool },
    /// The peer has ended the stream, which is gone.
    Reset { id: u32, code: ErrorCode },
    /// The peer broke a rule on a stream that it is to be [given up](Connection::give_up) for.
    Wrong { id: u32, code: ErrorCode, detail: &'static str },
    /// The peer takes its leave; it goes on with streams up to the one that it named.
    Leaving,
}

/// The connection can't go on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Broken {
    pub(super) code: ErrorCode,
    pub(super) class: ErrorClass,
    pub(super) detail: &'static str,
}

const fn broken(code: ErrorCode, detail: &'static str) -> Broken {
    Broken { code, class: ErrorClass::Protocol, detail }
}

impl<M: Default> Connection<M> {
    pub(super) fn new(side: Side, limits: Http2Limits) -> Self {
        let peer = Settings::default();
        Self {
            side,
            limits,
            peer,
            // Ours holds once the peer has acknowledged it; until then, what holds by itself.
            decoder: HpackDecoder::new(limits.header_table_size.max(4096) as usize),
            repeats: None,
            streams: OpenStreams::new(peer.initial_window, limits.stream_window),
            next: 1,
            last_processed: WIDEST,
            last_taken: WIDEST,
            reading: Reading::default(),
            allowance: Allowance::new(limits.connection_window.max(WINDOW)),
            send_window: WINDOW,
            held: Held::default(),
            gone: Vec::new(),
            passed_over: Vec::new(),
            instants: Instants::default(),
            used: Http2Use::default(),
            table_due: false,
            table_told: false,
        }
    }

    /// Fields that the caller keeps are told of as such where they come again.
    pub(super) fn tell_again(&mut self) {
        self.repeats = Some(Box::default());
    }

    /// The caller keeps what the fields say that it was told of last, those of a head or behind content.
    pub(super) fn keep_fields(&mut self, behind: bool) {
        if let Some(repeats) = &mut self.repeats {
            repeats[usize::from(behind)].keep();
        }
    }

    /// Begins a block of fields, which is empty yet.
    #[inline]
    pub(super) fn begin_block(&mut self, block: &mut Vec<u8>) {
        if mem::take(&mut self.table_due) {
            self.table_told = true;
            // A table smaller than that is never used, so that it can be the smallest for good.
            hpack::write_table_size(0, block);
        }
    }

    /// Appends our settings, and how much may come at once.
    pub(super) fn start(&mut self, out: &mut Vec<u8>) {
        self.instants.asked = self.instants.now;
        let Http2Limits { stream_window, max_frame, header_table_size, max_header_list, .. } =
            self.limits;
        let settings = Settings {
            header_table_size,
            enable_push: self.side == Side::Server,
            max_concurrent_streams: self.limits.max_streams,
            initial_window: stream_window,
            max_frame,
            max_header_list,
            enable_connect: self.limits.connect_protocol,
        };
        settings.write(out);
        if self.allowance.left() > WINDOW {
            frame::write_window_update(0, self.allowance.left() - WINDOW, out);
        }
    }

    /// A stream that we open. None: there are no more numbers.
    #[inline]
    pub(super) fn open(&mut self, message: M) -> Option<u32> {
        let id = self.next_number()?;
        self.streams.open(id, message);
        Some(id)
    }

    /// The number of a stream that we open. None: there are no more.
    #[inline]
    fn next_number(&mut self) -> Option<u32> {
        let id = Some(self.next).filter(|&id| id <= WIDEST)?;
        self.next = id + 2;
        Some(id)
    }

    /// The client goes on with this number.
    #[inline]
    fn pass_over(&mut self, id: u32) {
        if id > self.next && self.passed_over.len() < MOST_PASSED_OVER {
            self.passed_over.push(self.next..id);
        }
    }

    #[inline]
    fn insert(&mut self, id: u32, message: M) {
        self.next = id + 2;
        self.streams.open(id, message);
    }

    #[inline]
    pub(super) fn stream(&mut self, id: u32) -> Option<&mut Stream<M>> {
        self.streams.get_mut(id)
    }

    /// The stream whose message is this.
    pub(super) fn find(&self, is_it: impl Fn(&M) -> bool) -> Option<u32> {
        self.streams.messages().find(|(_, message)| is_it(message)).map(|(id, _)| id)
    }

    /// The stream is over in both directions. Content of ours that still waits is not wanted.
    #[inline]
    pub(super) fn finish(&mut self, id: u32, out: &mut Vec<u8>) -> Option<M> {
        let taken = self.streams.remove(id, |stream| {
            let is_cut_short = stream.is_held || stream.we_go_on || !stream.has_ended;
            (mem::take(&mut stream.heard.message), is_cut_short)
        });
        let (message, is_cut_short) = taken?;
        self.reading.taken_back = self.reading.taken_back.saturating_sub(1);
        if self.streams.is_empty() {
            // Who has nothing to send waits for nothing.
            self.allowance.over(&self.instants);
        }
        if is_cut_short {
            // Who answers without taking all of the message asks so for the rest to be left out
            // (RFC 9113 section 8.1). Who was answered before its end leaves it out.
            self.forget(id, ErrorCode::NoError, out);
        }
        Some(message)
    }

    /// Ends a stream from our side; what still comes of it is passed over.
    pub(super) fn give_up(&mut self, id: u32, code: ErrorCode, out: &mut Vec<u8>) -> Option<M> {
        let message = self.drop_stream(id)?;
        self.forget(id, code, out);
        Some(message)
    }

    /// The peer has ended a stream that is not over.
    pub(super) fn drop_stream(&mut self, id: u32) -> Option<M> {
        let instants = &self.instants;
        let taken = self.streams.remove(id, |stream| {
            (mem::take(&mut stream.heard.message), stream.allowance.over(instants))
        });
        let (message, waited) = taken?;
        self.used.waited_for_stream(waited);
        self.held.forget(id, self.instants.now, &mut self.used);
        Some(message)
    }

    #[cold]
    fn forget(&mut self, id: u32, code: ErrorCode, out: &mut Vec<u8>) {
        self.held.forget(id, self.instants.now, &mut self.used);
        frame::write_reset(id, code, out);
        if self.gone.len() == MOST_GONE {
            self.gone.remove(0);
        }
        self.gone.push(id);
    }

    /// May another stream be given up, so that all that still comes of it is known as such?
    pub(super) fn may_give_up(&self) -> bool {
        self.gone.len() < MOST_GONE
    }

    /// Is every stream over that the peer goes on with?
    pub(super) fn is_done(&self) -> bool {
        self.is_done_but_for(|_| false)
    }

    /// The same, where streams with such a message are not waited for.
    pub(super) fn is_done_but_for(&self, is_idle: impl Fn(&M) -> bool) -> bool {
        let mut streams = self.streams.messages();
        streams.all(|(id, message)| id > self.last_processed || is_idle(message))
    }

    /// What is kept of each of them.
    pub(super) fn messages(&self) -> impl Iterator<Item = &M> {
        self.streams.messages().map(|(_, message)| message)
    }

    /// All streams that are open, in no order.
    pub(super) fn each(&self) -> impl Iterator<Item = u32> {
        self.streams.messages().map(|(id, _)| id)
    }

    /// Have the peer's first settings come?
    pub(super) fn is_settled(&self) -> bool {
        self.reading.is_settled
    }

    /// Has neither side begun anything that is not over?
    pub(super) fn is_idle(&self) -> bool {
        self.streams.is_empty() && !self.reading.is_inside()
    }

    /// Streams that are open.
    pub(super) fn open_streams(&self) -> usize {
        self.streams.len()
    }

    /// Appends that we take our leave. No stream that the peer opens from here on is taken: it has heard by
    /// then, or will hear, that it was not processed (RFC 9113 section 6.8).
    pub(super) fn leave(&mut self, code: ErrorCode, out: &mut Vec<u8>) {
        // Of those that a client opens, the highest; 0: none.
        self.last_taken = self.last_taken.min(self.next.saturating_sub(2));
        frame::write_goaway(self.last_taken, code, out);
    }

    /// What comes from here on came at this instant, nanoseconds; what was encoded went then.
    #[inline]
    pub(super) fn came_at(&mut self, now: u64) {
        // Who reads and writes by turns may tell an earlier one.
        self.instants.now = self.instants.now.max(now);
        if self.held.is_fresh() {
            self.held.went(self.instants.now);
        }
    }

    /// The present, as far as it was told.
    pub(super) fn now(&self) -> u64 {
        self.instants.now
    }

    /// What came in the way of messages since this was last asked; none: nothing. Waits count when
    /// they are over.
    #[inline]
    pub(super) fn take_use(&mut self) -> Option<Http2Use> {
        let is_none = self.used == Http2Use::default();
        if is_none { None } else { Some(mem::take(&mut self.used)) }
    }

    /// All waits are over, as the connection is.
    pub(super) fn settle(&mut self) {
        let Self { streams, held, allowance, instants, used, .. } = self;
        // Of the others nobody waits for anything.
        for stream in streams.touched.iter_mut() {
            used.waited_for_stream(stream.allowance.over(instants));
        }
        used.waited_for_connection(allowance.over(instants));
        held.settle(instants.now, used);
    }
}

impl<M> Heard<M> {
    /// Nothing has come yet.
    #[inline]
    fn nothing(message: M) -> Self {
        Self { message, has_head: false, missing: None }
    }

    /// So much more content comes, and the end with it: does it agree with what the head said?
    #[inline]
    pub(super) fn takes(&mut self, content: u64, is_end: bool) -> Result<(), &'static str> {
        inbound::takes(&mut self.missing, content, is_end)
    }
}
