//! What one connection is told by others: a queue that nobody waits for.
//!
//! Knows packets that are written; must not know sockets or tables.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use bytes::Bytes;
use tokio::sync::{Notify, mpsc};

use crate::packet::{Encoding, Reply};

/// Whoever lets so many packets wait is given up.
const MOST_WAITING: usize = 4096;
/// Packets taken at once.
pub(crate) const BATCH: usize = 256;

static NEXT: AtomicU64 = AtomicU64::new(0);

/// The end at which packets are put in. Each connection has one, and its table holds another.
#[derive(Debug, Clone)]
pub(crate) struct Outbox {
    /// Tells connections apart.
    pub(crate) id: u64,
    pub(crate) encoding: Encoding,
    packets: mpsc::Sender<Bytes>,
    full: Arc<Notify>,
}

/// The end at which they are taken out.
#[derive(Debug)]
pub(crate) struct Inbox {
    packets: mpsc::Receiver<Bytes>,
    full: Arc<Notify>,
}

/// One reply for many, written at most once in each encoding.
#[derive(Debug)]
pub(crate) struct Written<'a> {
    reply: &'a Reply,
    binary: Option<Bytes>,
    json: Option<Bytes>,
}

pub(crate) fn open(encoding: Encoding) -> (Outbox, Inbox) {
    let (sender, receiver) = mpsc::channel(MOST_WAITING);
    let full = Arc::new(Notify::new());
    let outbox = Outbox {
        id: NEXT.fetch_add(1, Relaxed),
        encoding,
        packets: sender,
        full: Arc::clone(&full),
    };
    (outbox, Inbox { packets: receiver, full })
}

impl Outbox {
    /// Puts a packet in. Where there is no room, its connection is told to end.
    pub(crate) fn put(&self, packet: Bytes) {
        if self.packets.try_send(packet).is_err() {
            self.full.notify_one();
        }
    }
}

impl Inbox {
    /// Waits for packets and appends as many as there are; false: there is no more room for them.
    pub(crate) async fn take(&mut self, batch: &mut Vec<Bytes>) -> bool {
        tokio::select! {
            biased;
            () = self.full.notified() => false,
            count = self.packets.recv_many(batch, BATCH) => count > 0,
        }
    }

    /// What is there, without waiting.
    pub(crate) fn take_rest(&mut self, batch: &mut Vec<Bytes>) {
        while let Ok(packet) = self.packets.try_recv() {
            batch.push(packet);
        }
    }

    /// There is no more room.
    pub(crate) async fn is_full(&self) {
        self.full.notified().await;
    }
}

impl<'a> Written<'a> {
    pub(crate) fn of(reply: &'a Reply) -> Self {
        Self { reply, binary: None, json: None }
    }

    pub(crate) fn in_(&mut self, encoding: Encoding) -> Bytes {
        let kept = match encoding {
            Encoding::Binary => &mut self.binary,
            Encoding::Json => &mut self.json,
        };
        kept.get_or_insert_with(|| encoding.write(self.reply)).clone()
    }
}
