//! The least of an io_uring: one multishot receive per connection into provided buffers, sends that
//! go with the call that waits.
//!
//! Every error ends the run: a floor that has to mend something is none.

use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::types::{BufRingEntry, Fd};
use io_uring::{IoUring, cqueue, opcode, squeue};

const SUBMISSIONS: u32 = 256;
const COMPLETIONS: u32 = 16_384;
/// Between two buffers, so that they do not begin at the same place of a cache.
const GAP: usize = 192;
/// In the token of a send; the rest is the connection.
const SEND: u64 = 1 << 63;

/// The buffers that the kernel receives into: a power of two of them.
#[derive(Clone, Copy)]
pub(crate) struct Buffers {
    pub(crate) count: u16,
    pub(crate) bytes: usize,
}

impl Buffers {
    /// Many, so that none is wanting with any number of connections.
    pub(crate) const OF_STREAMS: Self = Self { count: 8192, bytes: 4 * 1024 };

    fn stride(self) -> usize {
        self.bytes + GAP
    }
}

pub(crate) struct Ring {
    ring: IoUring,
    sockets: Vec<RawFd>,
    sizes: Buffers,
    /// Of the kernel from here on; they live as long as the process.
    table: *mut BufRingEntry,
    buffers: *mut u8,
    tail: u16,
    completions: Vec<cqueue::Entry>,
}

impl Ring {
    pub(crate) fn new(sockets: &[impl AsRawFd], sizes: Buffers) -> io::Result<Self> {
        let ring = IoUring::builder()
            .setup_submit_all()
            .setup_cqsize(COMPLETIONS)
            .setup_single_issuer()
            .setup_coop_taskrun()
            .setup_defer_taskrun()
            .build(SUBMISSIONS)?;
        let table = pages(usize::from(sizes.count) * size_of::<BufRingEntry>())?.cast();
        let buffers = pages(usize::from(sizes.count) * sizes.stride())?;
        // SAFETY: whole pages, never given back.
        unsafe {
            ring.submitter().register_buf_ring_with_flags(table as u64, sizes.count, 0, 0)?;
        }
        let sockets = sockets.iter().map(AsRawFd::as_raw_fd).collect();
        let mut ring =
            Self { ring, sockets, sizes, table, buffers, tail: 0, completions: Vec::new() };
        (0..sizes.count).for_each(|buffer| ring.give_back(buffer));
        ring.publish();
        Ok(ring)
    }

    /// Receives on a connection from now on.
    pub(crate) fn receive(&mut self, at: usize) -> io::Result<()> {
        let entry = opcode::RecvMulti::new(Fd(self.sockets[at]), 0).build().user_data(at as u64);
        self.push(&entry)
    }

    /// Sends bytes that live until the end; tells only when that failed.
    pub(crate) fn send(&mut self, at: usize, bytes: &[u8]) -> io::Result<()> {
        let entry = opcode::Send::new(Fd(self.sockets[at]), bytes.as_ptr(), bytes.len() as u32)
            .flags(libc::MSG_WAITALL | libc::MSG_NOSIGNAL)
            .build()
            .flags(squeue::Flags::SKIP_SUCCESS)
            .user_data(SEND | at as u64);
        self.push(&entry)
    }

    /// Submits, waits, and takes what completed; gives how much that is.
    pub(crate) fn wait(&mut self) -> io::Result<usize> {
        self.publish();
        match self.ring.submit_and_wait(1) {
            Ok(_) => {}
            Err(error) if error.raw_os_error() == Some(libc::EINTR) => {}
            Err(error) => return Err(error),
        }
        self.completions.clear();
        self.completions.extend(self.ring.completion());
        Ok(self.completions.len())
    }

    /// On which connection which bytes came.
    pub(crate) fn received(&mut self, index: usize) -> io::Result<Option<(usize, &[u8])>> {
        let entry = &self.completions[index];
        let (token, result, flags) = (entry.user_data(), entry.result(), entry.flags());
        if token & SEND != 0 {
            return if result < 0 { Err(io::Error::from_raw_os_error(-result)) } else { Ok(None) };
        }
        let at = token as usize;
        if !cqueue::more(flags) && (result > 0 || result == -libc::ENOBUFS) {
            self.receive(at)?;
        }
        if result == -libc::ENOBUFS {
            return Ok(None);
        }
        if result <= 0 {
            return Err(io::Error::other(format!("connection {at} ended with {result}")));
        }
        let Some(buffer) = cqueue::buffer_select(flags) else {
            return Err(io::Error::other(format!("connection {at} has no buffer")));
        };
        self.give_back(buffer);
        // SAFETY: within the buffers; the kernel hears of what was given back when it is waited for.
        let bytes = unsafe {
            let begin = self.buffers.add(usize::from(buffer) * self.sizes.stride());
            std::slice::from_raw_parts(begin, result as usize)
        };
        Ok(Some((at, bytes)))
    }

    fn push(&mut self, entry: &squeue::Entry) -> io::Result<()> {
        if self.ring.submission().is_full() {
            self.ring.submit()?;
        }
        // SAFETY: what entries point to lives until the process ends.
        unsafe { self.ring.submission().push(entry) }.map_err(io::Error::other)
    }

    fn give_back(&mut self, buffer: u16) {
        let at = usize::from(self.tail % self.sizes.count);
        // SAFETY: within the table and the buffers.
        unsafe {
            let entry = &mut *self.table.add(at);
            entry.set_addr(self.buffers.add(usize::from(buffer) * self.sizes.stride()) as u64);
            entry.set_len(self.sizes.bytes as u32);
            entry.set_bid(buffer);
        }
        self.tail = self.tail.wrapping_add(1);
    }

    fn publish(&mut self) {
        // SAFETY: the table's tail, which both sides use as one atomic number.
        let tail = unsafe { AtomicU16::from_ptr(BufRingEntry::tail(self.table).cast_mut()) };
        tail.store(self.tail, Ordering::Release);
    }
}

fn pages(bytes: usize) -> io::Result<*mut u8> {
    let (protection, flags) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: new pages, where the kernel finds room.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, -1, 0) };
    if start == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(start.cast()) }
}
