//! The ring itself: two queues shared with the kernel, buffers that it fills,
//! bytes that it sends.
//!
//! Knows memory that the kernel reads and writes at any time. Must not know
//! sockets: it is handed numbers and hands back what completed. Each `unsafe`
//! is argued in `docs/unsafe.md`.

use std::mem::ManuallyDrop;
use std::os::fd::RawFd;
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use io_uring::types::{BufRingEntry, CancelBuilder, Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode, squeue};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// Entries pushed between two calls of the kernel. Small, as both sides walk
/// through all of it and it is to stay in a near cache.
const SUBMISSIONS: u32 = 256;
/// Completions that may wait; what is beyond is kept by the kernel, at a price.
const COMPLETIONS: u32 = 2048;
/// Receive buffers, a power of two. The kernel takes them in turn.
const BUFFERS: u16 = 512;
/// Buffers begin at different lines of the cache: all messages but the largest
/// lie at the begin of one.
const STAGGER: usize = 192;
/// The only group of buffers.
const GROUP: u16 = 0;
/// Bytes that wait to be sent with the next submission.
const OUTBOX: usize = 64 * 1024;

/// One io_uring with its memory.
pub(super) struct Ring {
    /// Goes first: the rest is what the kernel works with.
    uring: IoUring,
    /// The kernel's list of free buffers.
    table: ManuallyDrop<Region>,
    /// The buffers.
    buffers: ManuallyDrop<Region>,
    buffer_bytes: usize,
    /// Buffers ever put into the table.
    tail: u16,
    /// Buffers that are filled and not yet given back.
    lent: Vec<Lent>,
    outbox: ManuallyDrop<Region>,
    /// How much of the outbox is in use, in bytes.
    outbox_used: usize,
}

/// What the kernel has done.
pub(super) struct Completion {
    /// As it was pushed.
    pub(super) token: u64,
    /// What the call of the same name would return, errors below zero.
    pub(super) result: i32,
    /// More completions of the same entry will come.
    pub(super) more: bool,
    /// The received bytes: a number for [`Ring::piece`].
    pub(super) piece: Option<u32>,
}

/// A part of the outbox.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Staged {
    offset: u32,
    length: u32,
}

struct Lent {
    buffer: u16,
    length: u32,
}

/// The kernel has no ring for us.
pub(super) struct Refused {
    pub(super) doing: &'static str,
    pub(super) errno: Errno,
}

impl Ring {
    /// Asks for a ring with receive buffers of so many bytes.
    pub(super) fn new(buffer_bytes: usize) -> Result<Self, Refused> {
        let uring = build()?;
        let entries = usize::from(BUFFERS);
        let table = Region::new(entries * size_of::<BufRingEntry>())?;
        let buffers = Region::new(entries * (buffer_bytes + STAGGER))?;
        // SAFETY: the table is page-aligned, has so many entries, and is freed
        // after the group was given up, or never.
        unsafe {
            uring.submitter().register_buf_ring_with_flags(
                table.start.as_ptr() as u64,
                BUFFERS,
                GROUP,
                0,
            )
        }
        .map_err(|error| Refused { doing: "cannot register buffers", errno: errno(&error) })?;
        let mut ring = Self {
            uring,
            table: ManuallyDrop::new(table),
            buffers: ManuallyDrop::new(buffers),
            buffer_bytes,
            tail: 0,
            lent: Vec::with_capacity(entries),
            outbox: ManuallyDrop::new(Region::new(OUTBOX)?),
            outbox_used: 0,
        };
        ring.lent.extend((0..BUFFERS).map(|buffer| Lent { buffer, length: 0 }));
        ring.take_back();
        Ok(ring)
    }

    /// No entry fits any more before the next submission.
    pub(super) fn is_full(&mut self) -> bool {
        self.uring.submission().is_full()
    }

    /// The kernel has taken everything that was pushed.
    pub(super) fn is_submitted(&mut self) -> bool {
        self.uring.submission().is_empty()
    }

    /// Receives again and again, into one buffer after the other.
    pub(super) fn push_receive(&mut self, fd: RawFd, token: u64) {
        self.push(&opcode::RecvMulti::new(Fd(fd), GROUP).build().user_data(token));
    }

    /// Tells once when one of the events is there, or an error.
    pub(super) fn push_poll(&mut self, fd: RawFd, events: u32, token: u64) {
        self.push(&opcode::PollAdd::new(Fd(fd), events).build().user_data(token));
    }

    /// Ends what was pushed with that token. Tells only when it failed to.
    pub(super) fn push_cancel(&mut self, target: u64, token: u64) {
        let entry = opcode::AsyncCancel::new(target).build();
        self.push(&entry.flags(squeue::Flags::SKIP_SUCCESS).user_data(token));
    }

    /// Sends what was staged, as far as it goes at once. Tells only when that
    /// was not all of it, and before the submission returns.
    pub(super) fn push_send(&mut self, fd: RawFd, staged: Staged, token: u64) {
        let bytes = self.staged(staged);
        let entry = opcode::Send::new(Fd(fd), bytes.as_ptr(), staged.length)
            .flags(libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL | libc::MSG_WAITALL)
            .build();
        self.push(&entry.flags(squeue::Flags::SKIP_SUCCESS).user_data(token));
    }

    /// Copies bytes to where they can be sent from; none: no room before
    /// [`Ring::clear_outbox`].
    pub(super) fn stage(&mut self, bytes: &[u8]) -> Option<Staged> {
        let offset = self.outbox_used;
        if bytes.len() > OUTBOX - offset {
            return None;
        }
        let start = self.outbox.part(offset, bytes.len());
        // SAFETY: room for so many bytes, in memory that nobody reads before
        // they are pushed.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), start, bytes.len()) };
        self.outbox_used += bytes.len();
        Some(Staged { offset: offset as u32, length: bytes.len() as u32 })
    }

    /// The bytes that were staged, until the outbox is cleared.
    pub(super) fn staged(&self, staged: Staged) -> &[u8] {
        let length = staged.length as usize;
        // SAFETY: within the outbox; both sides only read it until it is
        // cleared.
        unsafe { slice::from_raw_parts(self.outbox.part(staged.offset as usize, length), length) }
    }

    /// Everything staged was submitted, and looked after where it failed.
    pub(super) fn clear_outbox(&mut self) {
        self.outbox_used = 0;
    }

    /// Something may have completed, or waits to be submitted: worth a call.
    pub(super) fn has_work(&mut self) -> bool {
        let queue = self.uring.submission();
        !queue.is_empty() || queue.taskrun() || queue.cq_overflow()
    }

    /// Hands over what was pushed, without waiting. True: all of it.
    pub(super) fn submit(&mut self) -> Result<bool, Errno> {
        settled(self.uring.submit())?;
        Ok(self.is_submitted())
    }

    /// Hands over what was pushed, and waits until something completes or the
    /// time is over.
    pub(super) fn enter(&mut self, timeout: Option<Duration>) -> Result<(), Errno> {
        let submitter = self.uring.submitter();
        let Some(timeout) = timeout else { return settled(submitter.submit_and_wait(1)) };
        if timeout.is_zero() {
            return settled(submitter.submit());
        }
        let time = Timespec::new().sec(timeout.as_secs()).nsec(timeout.subsec_nanos());
        settled(submitter.submit_with_args(1, &SubmitArgs::new().timespec(&time)))
    }

    /// Appends all completions that are there.
    pub(super) fn take_completions(&mut self, into: &mut Vec<Completion>) {
        let lent = &mut self.lent;
        into.extend(self.uring.completion().map(|entry| {
            let result = entry.result();
            let piece = cqueue::buffer_select(entry.flags()).map(|buffer| {
                lent.push(Lent { buffer, length: result.max(0) as u32 });
                lent.len() as u32 - 1
            });
            let more = cqueue::more(entry.flags());
            Completion { token: entry.user_data(), result, more, piece }
        }));
    }

    /// Received bytes, until [`Ring::take_back`].
    pub(super) fn piece(&mut self, piece: u32) -> &mut [u8] {
        let Lent { buffer, length } = self.lent[piece as usize];
        let start = usize::from(buffer) * (self.buffer_bytes + STAGGER);
        let start = self.buffers.part(start, length as usize);
        // SAFETY: the kernel has filled this buffer, and does not touch it
        // again before it is given back, which needs `self` too.
        unsafe { slice::from_raw_parts_mut(start, length as usize) }
    }

    /// Gives all buffers back to the kernel. The numbers of pieces are void.
    pub(super) fn take_back(&mut self) {
        if self.lent.is_empty() {
            return;
        }
        let stride = self.buffer_bytes + STAGGER;
        for Lent { buffer, .. } in self.lent.drain(..) {
            let index = usize::from(self.tail % BUFFERS);
            let entry =
                self.table.part(index * size_of::<BufRingEntry>(), size_of::<BufRingEntry>());
            #[expect(clippy::cast_ptr_alignment, reason = "a multiple of its size into a page")]
            let entry = entry.cast::<BufRingEntry>();
            // SAFETY: within the table, aligned, zeroed at first. The kernel
            // only reads it, and this entry not before the tail has moved.
            let entry = unsafe { &mut *entry };
            let start = self.buffers.part(usize::from(buffer) * stride, self.buffer_bytes);
            entry.set_addr(start as u64);
            entry.set_len(self.buffer_bytes as u32);
            entry.set_bid(buffer);
            self.tail = self.tail.wrapping_add(1);
        }
        #[expect(clippy::cast_ptr_alignment, reason = "it begins with a page")]
        let first = self.table.start.as_ptr().cast::<BufRingEntry>();
        // SAFETY: the first entry is initialised, and its address is the
        // table's.
        let tail = unsafe { BufRingEntry::tail(first) };
        // SAFETY: in the table, aligned, and accessed by both sides as one
        // atomic number.
        let tail = unsafe { AtomicU16::from_ptr(tail.cast_mut()) };
        tail.store(self.tail, Ordering::Release);
    }

    fn push(&mut self, entry: &squeue::Entry) {
        // SAFETY: the only memory that entries of this file refer to is the
        // outbox and the registered buffers, which outlive the ring.
        let pushed = unsafe { self.uring.submission().push(entry) };
        debug_assert!(pushed.is_ok(), "the caller makes room");
    }

    /// Ends all that is under way; false: something may still be.
    fn cancel_all(&mut self) -> bool {
        let limit = Some(Timespec::new().sec(1));
        let outcome = self.uring.submitter().register_sync_cancel(limit, CancelBuilder::any());
        outcome.map_or_else(|error| errno(&error) == Errno::NOENT, |()| true)
            && self.uring.submitter().unregister_buf_ring(GROUP).is_ok()
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        if !self.cancel_all() {
            // The kernel may still write there: it stays allocated.
            return;
        }
        for region in [&mut self.table, &mut self.buffers, &mut self.outbox] {
            // SAFETY: dropped here and never used again; nothing refers to it
            // any more, as everything was cancelled.
            unsafe { ManuallyDrop::drop(region) };
        }
    }
}

/// The most modern ring that this kernel has. Receiving again and again, which
/// is what it is for, came with Linux 6.0, as `SINGLE_ISSUER` did.
fn build() -> Result<IoUring, Refused> {
    let mut last = Errno::INVAL;
    for (defer, array) in [(true, false), (true, true), (false, true)] {
        let mut builder = IoUring::builder();
        builder
            .dontfork()
            .setup_submit_all()
            .setup_cqsize(COMPLETIONS)
            .setup_single_issuer()
            .setup_coop_taskrun()
            .setup_taskrun_flag();
        if defer {
            builder.setup_defer_taskrun();
        }
        if !array {
            builder.setup_no_sqarray();
        }
        match builder.build(SUBMISSIONS) {
            Ok(ring) => return Ok(ring),
            Err(error) => last = errno(&error),
        }
        if last != Errno::INVAL {
            break;
        }
    }
    Err(Refused { doing: "cannot set up a ring", errno: last })
}

/// What ends a call without being wrong: the time was over, a signal came, or
/// the kernel wants its completions to be taken first.
fn settled(result: std::io::Result<usize>) -> Result<(), Errno> {
    match result.map_err(|error| errno(&error)) {
        Ok(_) | Err(Errno::TIME | Errno::INTR | Errno::BUSY | Errno::AGAIN) => Ok(()),
        Err(errno) => Err(errno),
    }
}

fn errno(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::INVAL)
}

/// Zeroed pages at one address for as long as it lives. They take memory only
/// where they were written to.
struct Region {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: it owns its memory alone, as a boxed slice does.
unsafe impl Send for Region {}

impl Region {
    fn new(bytes: usize) -> Result<Self, Refused> {
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: new pages, where the kernel finds room for them.
        let start = unsafe { mmap_anonymous(ptr::null_mut(), bytes, protection, flags) }
            .map_err(|errno| Refused { doing: "cannot get memory for a ring", errno })?;
        let start = NonNull::new(start.cast())
            .ok_or(Refused { doing: "cannot get memory for a ring", errno: Errno::NOMEM })?;
        Ok(Self { start, bytes })
    }

    /// Where so many bytes begin that lie within it.
    fn part(&self, offset: usize, length: usize) -> *mut u8 {
        assert!(
            offset <= self.bytes && length <= self.bytes - offset,
            "{offset} and {length} bytes on"
        );
        // SAFETY: within the region.
        unsafe { self.start.as_ptr().add(offset) }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: mapped with this size, and nothing refers to it any more. It
        // fails only for an address that was never mapped.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}
