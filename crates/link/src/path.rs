//! What becomes of each packet of one direction, and when it arrives.
//!
//! Pure: knows lengths and instants; must not know a clock or a device. The stations stand in the
//! order of a real path: the queue before the bottleneck, the bottleneck's rate, the wire that
//! loses and delays.

use std::collections::VecDeque;

use crate::counters::Counters;
use crate::random::Stream;
use crate::shape::{Blackhole, Distribution, Jitter, Loss, Queue, Rate, Reorder, Shape};

const BITS_PER_BYTE: u128 = 8;
const NS_PER_S: u128 = 1_000_000_000;

/// The tail index of the Pareto distribution: a finite spread, and one packet in a hundred more
/// than eight times the mean late.
const PARETO_INDEX: f64 = 2.5;
/// No packet is later than this many times the mean.
const MOST_JITTER: f64 = 50.0;

/// For how many times its mean a jitter stays as it was drawn.
const JITTER_STAYS: u64 = 10;

/// What becomes of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It arrives at `at_ns`, and again at the same instant where `twice`.
    Arrives {
        /// The instant.
        at_ns: u64,
        /// Whether a copy follows it.
        twice: bool,
    },
    /// It found the queue full.
    QueueFull,
    /// It is larger than the MTU.
    TooBig,
    /// The wire lost it.
    Lost,
}

/// One direction of a link. Packets must come in the order of their instants.
#[derive(Debug, Clone)]
pub struct Path {
    shape: Shape,
    bottleneck: Option<Bottleneck>,
    losing: Losing,
    jittering: Jittering,
    held: Stream,
    copied: Stream,
    last_arrival_ns: u64,
    /// When the first packet came.
    began_ns: Option<u64>,
    counters: Counters,
}

impl Path {
    /// A path with nothing on it. Equal seeds decide alike, packet by packet; the choice of lost
    /// packets is not moved by any other setting.
    pub fn new(shape: Shape, seed: u64) -> Self {
        Self {
            shape,
            bottleneck: shape.rate.map(Bottleneck::new),
            losing: Losing { loss: shape.loss, stream: Stream::new(seed, 1), in_burst: false },
            jittering: Jittering {
                jitter: shape.jitter,
                stream: Stream::new(seed, 2),
                until_ns: 0,
                late_ns: 0,
            },
            held: Stream::new(seed, 3),
            copied: Stream::new(seed, 4),
            last_arrival_ns: 0,
            began_ns: None,
            counters: Counters::default(),
        }
    }

    /// Decides about a packet of `bytes` that comes in at `now_ns`.
    ///
    /// It never arrives before `now_ns` plus the delay and the time that the rate takes for it.
    pub fn admit(&mut self, now_ns: u64, bytes: usize) -> Fate {
        let began_ns = *self.began_ns.get_or_insert(now_ns);
        self.counters.offered += 1;
        self.counters.offered_bytes += bytes as u64;
        if bytes > self.shape.mtu as usize {
            self.counters.too_big += 1;
            return Fate::TooBig;
        }
        let sent_ns = match &mut self.bottleneck {
            Some(bottleneck) => bottleneck.send(now_ns, bytes as u64),
            None => Some(now_ns),
        };
        let Some(sent_ns) = sent_ns else {
            self.counters.queue_full += 1;
            return Fate::QueueFull;
        };
        // Drawn for lost packets too: what happens to one must not shift the others' draws.
        let jitter_ns = self.jittering.late_ns(sent_ns);
        let held = self.shape.reorder.filter(|reorder| self.held.happens(reorder.share));
        let twice = self.copied.happens(self.shape.duplicate);
        if self.losing.loses() {
            self.counters.lost += 1;
            return Fate::Lost;
        }
        if self.shape.blackhole.is_some_and(|hole| hole.is_dark(sent_ns - began_ns)) {
            self.counters.blackholed += 1;
            return Fate::Lost;
        }
        self.counters.duplicated += u64::from(twice);
        let at_ns = self.arrival_ns(sent_ns + self.shape.delay_ns + jitter_ns, held);
        Fate::Arrives { at_ns, twice }
    }

    /// The counters so far.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Order is kept, but for a packet that is held back, which the others needn't wait for.
    fn arrival_ns(&mut self, wanted_ns: u64, held: Option<Reorder>) -> u64 {
        let in_order_ns = wanted_ns.max(self.last_arrival_ns);
        if let Some(reorder) = held {
            self.counters.held_back += 1;
            return in_order_ns + reorder.by_ns;
        }
        self.last_arrival_ns = in_order_ns;
        in_order_ns
    }
}

impl Blackhole {
    /// Whether nothing passes so long after the beginning.
    fn is_dark(self, after_ns: u64) -> bool {
        after_ns % self.every_ns >= self.every_ns - self.for_ns
    }
}

/// How much later than the delay packets are: for a while all alike, and then otherwise.
///
/// Order is kept, so a packet that is much later holds up all behind it. Drawn for each packet, the
/// rare large ones would decide about all others wherever packets are close together.
#[derive(Debug, Clone)]
struct Jittering {
    jitter: Option<Jitter>,
    stream: Stream,
    until_ns: u64,
    late_ns: u64,
}

impl Jittering {
    fn late_ns(&mut self, sent_ns: u64) -> u64 {
        if let Some(jitter) = self.jitter
            && sent_ns >= self.until_ns
        {
            self.late_ns = drawn_ns(jitter, &mut self.stream);
            self.until_ns = sent_ns + JITTER_STAYS * jitter.mean_ns;
        }
        self.late_ns
    }
}

/// A draw of how much later that is.
fn drawn_ns(jitter: Jitter, stream: &mut Stream) -> u64 {
    let times = match jitter.distribution {
        Distribution::Uniform => 2.0 * stream.unit(),
        Distribution::Normal => {
            // Box and Muller's transform, one half of it, folded: its mean is the root of 2/pi.
            let radius = (-2.0 * (1.0 - stream.unit()).ln()).sqrt();
            let angle = std::f64::consts::TAU * stream.unit();
            (radius * angle.cos()).abs() * std::f64::consts::FRAC_PI_2.sqrt()
        }
        Distribution::Pareto => {
            let tail = (1.0 - stream.unit()).powf(-1.0 / PARETO_INDEX) - 1.0;
            tail * (PARETO_INDEX - 1.0)
        }
    };
    (times.min(MOST_JITTER) * jitter.mean_ns as f64) as u64
}

/// Gilbert's model: within a burst every packet is lost, outside none. Independent losses are
/// drawn without it, so that their share is exact for every packet.
#[derive(Debug, Clone)]
struct Losing {
    loss: Option<Loss>,
    stream: Stream,
    in_burst: bool,
}

impl Losing {
    fn loses(&mut self) -> bool {
        let Some(loss) = self.loss else {
            return false;
        };
        let Some(burst) = loss.burst else {
            return self.stream.happens(loss.share);
        };
        self.in_burst = if self.in_burst {
            !self.stream.happens(1.0 / burst)
        } else {
            self.stream.happens(loss.share / (burst * (1.0 - loss.share)))
        };
        self.in_burst
    }
}

/// A queue that drops at its tail, and the rate at which it is emptied.
#[derive(Debug, Clone)]
struct Bottleneck {
    rate: Rate,
    /// When each packet that has not left yet will have, and its bytes.
    queued: VecDeque<(u64, u64)>,
    queued_bytes: u64,
    /// When the packets so far will all have left, in units of 1/rate of a nanosecond: no
    /// fraction is lost, however many packets there are.
    free_scaled: u128,
}

impl Bottleneck {
    fn new(rate: Rate) -> Self {
        Self { rate, queued: VecDeque::new(), queued_bytes: 0, free_scaled: 0 }
    }

    /// When the packet's last bit has left; None where the queue has no room for it.
    fn send(&mut self, now_ns: u64, bytes: u64) -> Option<u64> {
        while let Some(&(left_ns, gone)) = self.queued.front() {
            if left_ns > now_ns {
                break;
            }
            self.queued.pop_front();
            self.queued_bytes -= gone;
        }
        if !self.has_room(bytes) {
            return None;
        }
        let rate = u128::from(self.rate.bits_per_second);
        let start = self.free_scaled.max(u128::from(now_ns) * rate);
        self.free_scaled = start + u128::from(bytes) * BITS_PER_BYTE * NS_PER_S;
        let left_ns = self.free_scaled.div_ceil(rate) as u64;
        self.queued.push_back((left_ns, bytes));
        self.queued_bytes += bytes;
        Some(left_ns)
    }

    /// Whether another packet fits. An empty queue takes any.
    fn has_room(&self, bytes: u64) -> bool {
        self.queued.is_empty()
            || match self.rate.queue {
                Queue::Bytes(most) => self.queued_bytes + bytes <= most,
                Queue::Packets(most) => self.queued.len() < most as usize,
            }
    }
}
