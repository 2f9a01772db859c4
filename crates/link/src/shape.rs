//! What one direction of a link is asked to be, read from `delay=26ms,loss=0.1%,rate=100mbit`.
//!
//! Parsed, not validated: a [`Shape`] that exists makes sense.

use std::str::FromStr;

use serde::Serialize;

use crate::quantity;

/// What is accepted, for those who wrote something else.
const FORM: &str = "delay=26ms,jitter=2ms/normal,loss=0.1%/4,reorder=1%/2ms,duplicate=0.01%,blackhole=10s/2s,rebind=10s,rate=100mbit,queue=100ms,mtu=1500";

const DEFAULT_MTU: u32 = 1500;
/// What IPv4 asks of every link, and what a TUN device carries at most.
const MTUS: std::ops::RangeInclusive<u64> = 68..=65_535;
/// Keeps what is on its way within memory, and instants within their type.
const LONGEST_NS: u64 = 60_000_000_000;
const DEFAULT_HELD_BACK_NS: u64 = 1_000_000;
const DEFAULT_QUEUE_NS: u64 = 100_000_000;
const DEFAULT_DARK_NS: u64 = 2_000_000_000;
/// Ports that change more often than a round trip leave nobody a connection.
const LEAST_REBIND_NS: u64 = 1_000_000;
/// Two packets of the usual size: less would drop what comes back to back.
const LEAST_QUEUE_BYTES: u64 = 3_000;
const LEAST_RATE: u64 = 1_000;

/// One direction of a link.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Shape {
    /// What every packet takes at least, in nanoseconds.
    pub delay_ns: u64,
    /// What is added to that.
    pub jitter: Option<Jitter>,
    /// Which packets never arrive.
    pub loss: Option<Loss>,
    /// Which packets others overtake.
    pub reorder: Option<Reorder>,
    /// The share of packets that arrive twice, 0 to 1.
    pub duplicate: f64,
    /// When nothing passes at all.
    pub blackhole: Option<Blackhole>,
    /// How often a router on the way gives the near end's UDP other ports, in nanoseconds.
    pub rebind_ns: Option<u64>,
    /// How fast packets leave one after the other; None: at once.
    pub rate: Option<Rate>,
    /// The largest packet, in bytes with its IP header.
    pub mtu: u32,
}

/// A random addition to the delay.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Jitter {
    /// Its mean, in nanoseconds.
    pub mean_ns: u64,
    /// How it is spread.
    pub distribution: Distribution,
}

/// How additions to the delay are spread. All begin at 0 and have the mean that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Distribution {
    /// Evenly, from 0 to twice the mean.
    Uniform,
    /// The upper half of a bell.
    Normal,
    /// Mostly little and rarely much, up to 50 times the mean.
    Pareto,
}

/// Losses on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Loss {
    /// The share of packets lost, 0 to 1.
    pub share: f64,
    /// How many follow each other on average; None: each is lost or not by itself.
    pub burst: Option<f64>,
}

/// Packets that are held back.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Reorder {
    /// Their share, 0 to 1.
    pub share: f64,
    /// How much longer they take, in nanoseconds.
    pub by_ns: u64,
}

/// Times at which every packet is lost: of each `every_ns`, counted from the first packet, the last
/// `for_ns`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Blackhole {
    /// In nanoseconds.
    pub every_ns: u64,
    /// In nanoseconds; less than `every_ns`.
    pub for_ns: u64,
}

/// The bottleneck.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Rate {
    /// How fast it sends, counting IP packets whole.
    pub bits_per_second: u64,
    /// What may wait before it, the packet that is being sent included.
    pub queue: Queue,
}

/// The room of a queue. What finds it full is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Queue {
    /// In bytes.
    Bytes(u64),
    /// In packets.
    Packets(u32),
}

impl Default for Shape {
    /// A wire that adds nothing.
    fn default() -> Self {
        Self {
            delay_ns: 0,
            jitter: None,
            loss: None,
            reorder: None,
            duplicate: 0.0,
            blackhole: None,
            rebind_ns: None,
            rate: None,
            mtu: DEFAULT_MTU,
        }
    }
}

/// What in a description makes no sense, and what would.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ShapeError(String);

impl FromStr for Shape {
    type Err = ShapeError;

    fn from_str(text: &str) -> Result<Self, ShapeError> {
        let mut shape = Self::default();
        let mut queue = None;
        let mut seen = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            if seen.contains(&key) {
                return Err(ShapeError(format!("{key} is given twice: leave one out")));
            }
            seen.push(key);
            let known = match key {
                "delay" => length_ns(value).map(|ns| shape.delay_ns = ns),
                "jitter" => jitter(value).map(|found| shape.jitter = Some(found)),
                "loss" => loss(value)?.map(|found| shape.loss = Some(found)),
                "reorder" => reorder(value).map(|found| shape.reorder = Some(found)),
                "duplicate" => quantity::share(value).map(|share| shape.duplicate = share),
                "blackhole" => blackhole(value).map(|found| shape.blackhole = Some(found)),
                "rebind" => rebind_ns(value).map(|ns| shape.rebind_ns = Some(ns)),
                "rate" => rate(value).map(|found| shape.rate = Some(found)),
                "queue" => room(value).map(|found| queue = Some(found)),
                "mtu" => mtu(value).map(|bytes| shape.mtu = bytes),
                _ => None,
            };
            if known.is_none() {
                return Err(ShapeError(format!("{part:?} is none of {FORM}")));
            }
        }
        match (&mut shape.rate, queue) {
            (Some(rate), Some(room)) => rate.queue = room.of(rate.bits_per_second),
            (None, Some(_)) => {
                return Err(ShapeError("a queue needs a rate: add rate=100mbit".to_owned()));
            }
            _ => {}
        }
        Ok(shape)
    }
}

fn length_ns(text: &str) -> Option<u64> {
    quantity::duration_ns(text).filter(|&ns| ns <= LONGEST_NS)
}

fn jitter(text: &str) -> Option<Jitter> {
    let (mean, distribution) = text.split_once('/').unwrap_or((text, "normal"));
    let distribution = match distribution {
        "uniform" => Distribution::Uniform,
        "normal" => Distribution::Normal,
        "pareto" => Distribution::Pareto,
        _ => return None,
    };
    Some(Jitter { mean_ns: length_ns(mean)?, distribution })
}

fn loss(text: &str) -> Result<Option<Loss>, ShapeError> {
    let (share, burst) = halves(text);
    let Some(share) = quantity::share(share) else {
        return Ok(None);
    };
    let Some(burst) = burst else {
        return Ok(Some(Loss { share, burst: None }));
    };
    let Some(burst) = quantity::number(burst).filter(|&burst| burst >= 1.0) else {
        return Ok(None);
    };
    // The gaps between bursts are one packet long at least.
    if share > burst / (burst + 1.0) {
        return Err(ShapeError(format!(
            "loss={text}: bursts of {burst} packets can't lose more than {:.0}% of all: \
             use longer ones",
            100.0 * burst / (burst + 1.0)
        )));
    }
    Ok(Some(Loss { share, burst: Some(burst) }))
}

fn reorder(text: &str) -> Option<Reorder> {
    let (share, by) = halves(text);
    let by_ns = by.map_or(Some(DEFAULT_HELD_BACK_NS), length_ns)?;
    Some(Reorder { share: quantity::share(share)?, by_ns })
}

fn blackhole(text: &str) -> Option<Blackhole> {
    let (every, dark) = halves(text);
    let every_ns = length_ns(every)?;
    let for_ns = dark.map_or(Some(DEFAULT_DARK_NS), length_ns)?;
    (0 < for_ns && for_ns < every_ns).then_some(Blackhole { every_ns, for_ns })
}

fn rebind_ns(text: &str) -> Option<u64> {
    length_ns(text).filter(|&ns| ns >= LEAST_REBIND_NS)
}

fn rate(text: &str) -> Option<Rate> {
    let bits_per_second = quantity::bits_per_second(text).filter(|&rate| rate >= LEAST_RATE)?;
    Some(Rate { bits_per_second, queue: Room::Time(DEFAULT_QUEUE_NS).of(bits_per_second) })
}

fn mtu(text: &str) -> Option<u32> {
    let bytes = text.parse().ok().filter(|bytes| MTUS.contains(bytes))?;
    u32::try_from(bytes).ok()
}

/// A queue's room as it is written: what it is in bytes depends on the rate.
#[derive(Debug, Clone, Copy)]
enum Room {
    Fixed(Queue),
    Time(u64),
}

impl Room {
    fn of(self, bits_per_second: u64) -> Queue {
        match self {
            Self::Fixed(queue) => queue,
            Self::Time(ns) => {
                let bits = u128::from(bits_per_second) * u128::from(ns) / 1_000_000_000;
                Queue::Bytes(((bits / 8) as u64).max(LEAST_QUEUE_BYTES))
            }
        }
    }
}

fn room(text: &str) -> Option<Room> {
    if let Some(packets) = text.strip_suffix('p') {
        let most = packets.parse().ok().filter(|&most| most > 0)?;
        return Some(Room::Fixed(Queue::Packets(most)));
    }
    quantity::bytes(text)
        .map(|bytes| Room::Fixed(Queue::Bytes(bytes)))
        .or_else(|| length_ns(text).map(Room::Time))
}

fn halves(text: &str) -> (&str, Option<&str>) {
    text.split_once('/').map_or((text, None), |(first, second)| (first, Some(second)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> Shape {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn nothing_asked_for_is_a_bare_wire() {
        assert_eq!(shape(""), Shape::default());
    }

    #[test]
    fn each_part_is_read() {
        let whole = shape(
            "delay=26ms, jitter=2ms/pareto, loss=0.5%/4, reorder=1%/3ms, duplicate=0.25%, \
             blackhole=9s/3s, rebind=5s, rate=100mbit, queue=20ms, mtu=1400",
        );
        assert_eq!(
            whole,
            Shape {
                delay_ns: 26_000_000,
                jitter: Some(Jitter { mean_ns: 2_000_000, distribution: Distribution::Pareto }),
                loss: Some(Loss { share: 0.005, burst: Some(4.0) }),
                reorder: Some(Reorder { share: 0.01, by_ns: 3_000_000 }),
                duplicate: 0.0025,
                blackhole: Some(Blackhole { every_ns: 9_000_000_000, for_ns: 3_000_000_000 }),
                rebind_ns: Some(5_000_000_000),
                rate: Some(Rate { bits_per_second: 100_000_000, queue: Queue::Bytes(250_000) }),
                mtu: 1400,
            }
        );
    }

    #[test]
    fn what_is_left_out_has_a_meaning() {
        assert_eq!(shape("jitter=1ms").jitter.map(|j| j.distribution), Some(Distribution::Normal));
        assert_eq!(shape("loss=1%").loss, Some(Loss { share: 0.01, burst: None }));
        assert_eq!(shape("reorder=1%").reorder.map(|r| r.by_ns), Some(1_000_000));
        assert_eq!(shape("blackhole=10s").blackhole.map(|b| b.for_ns), Some(2_000_000_000));
        let queue = |text| shape(text).rate.map(|rate| rate.queue);
        assert_eq!(queue("rate=8mbit"), Some(Queue::Bytes(100_000)));
        assert_eq!(queue("rate=8kbit"), Some(Queue::Bytes(3_000)));
        assert_eq!(queue("queue=10p,rate=8mbit"), Some(Queue::Packets(10)));
        assert_eq!(queue("queue=64KiB,rate=8mbit"), Some(Queue::Bytes(65_536)));
    }

    #[test]
    fn wrong_words_are_named_with_the_right_ones() {
        for (text, expected) in [
            ("delay", "\"delay\" is none of delay=26ms,"),
            ("delay=26", "\"delay=26\" is none of delay=26ms,"),
            ("delay=61s", "is none of"),
            ("latency=1ms", "is none of"),
            ("jitter=1ms/cauchy", "is none of"),
            ("loss=101%", "is none of"),
            ("loss=1%/0.5", "is none of"),
            ("loss=60%/1", "bursts of 1 packets can't lose more than 50%"),
            ("blackhole=2s", "is none of"),
            ("blackhole=5s/5s", "is none of"),
            ("blackhole=5s/0s", "is none of"),
            ("rebind=0s", "is none of"),
            ("rebind=61s", "is none of"),
            ("rate=0mbit", "is none of"),
            ("queue=0p,rate=1mbit", "is none of"),
            ("queue=10p", "a queue needs a rate"),
            ("mtu=67", "is none of"),
            ("mtu=65536", "is none of"),
            ("delay=1ms,delay=2ms", "delay is given twice"),
        ] {
            let said = text.parse::<Shape>().expect_err(text).to_string();
            assert!(said.contains(expected), "{text}: {said}");
        }
    }
}
