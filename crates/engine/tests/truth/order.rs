//! Messages that fall due together go in the order in which they fell due.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::json;
use wiretrial_net::{Driver, DriverConfig, Fill, Key, PollerKind, Socket};

use crate::outcome::checked;

const LISTENER: Key = Key { slot: 0, generation: 0 };
const LENGTH: usize = 16;
/// Bytes of the preflight's own message, which has no place in the order.
const OUTSIDE: u64 = u64::MAX;

/// Echoes messages, and keeps their numbers in the order in which they came, over all connections: the
/// kernel tells which socket became readable first.
struct Log {
    address: String,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Vec<u64>>,
}

impl Log {
    fn start() -> Self {
        let config = DriverConfig { poller: PollerKind::Epoll, ..DriverConfig::default() };
        let mut driver = Driver::new(&config).expect("a driver");
        let address = "127.0.0.1:0".parse().expect("an address");
        let listener = driver.listen(LISTENER, address, false).expect("listen");
        let (address, stop) = (listener.local_addr().to_string(), Arc::<AtomicBool>::default());
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let (mut sockets, mut numbers) = (HashMap::<u32, Socket>::new(), Vec::new());
            let mut read = Vec::new();
            while !stopped.load(Ordering::Relaxed) {
                let idle = if read.is_empty() { 5 } else { 0 };
                driver.wait(Some(Duration::from_millis(idle))).expect("wait");
                // What was read before is answered only now: the kernel looks once more at a socket that it
                // has told of, and would tell of what comes meanwhile in the old place.
                let answered = std::mem::take(&mut read);
                while let Some(ready) = driver.next() {
                    if ready.key == LISTENER {
                        let key = Key { slot: sockets.len() as u32 + 1, generation: 0 };
                        if let Some((socket, _)) = driver.accept(&listener, key).expect("accept") {
                            sockets.insert(key.slot, socket);
                        }
                    } else if let Some(socket) = sockets.get_mut(&ready.key.slot) {
                        take_in(&mut driver, socket, &mut numbers);
                        read.push(ready.key.slot);
                    }
                }
                for slot in answered {
                    if let Some(socket) = sockets.get_mut(&slot) {
                        // Whoever is gone hears nothing.
                        let _ = driver.flush(socket);
                    }
                }
            }
            for socket in sockets.into_values() {
                driver.close(socket);
            }
            numbers
        });
        Self { address, stop, thread }
    }

    fn end(self) -> Vec<u64> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("joined")
    }
}

fn take_in(driver: &mut Driver, socket: &mut Socket, numbers: &mut Vec<u64>) {
    match driver.fill(socket, &mut Vec::new()) {
        Fill::Data(message, ..) => {
            assert_eq!(message.len(), LENGTH, "one message is in flight per connection");
            let digits = std::str::from_utf8(message).expect("digits");
            numbers.push(u64::from_str_radix(digits, 16).expect("digits"));
            socket.out.extend_from_slice(message);
        }
        // It is over, and is told so until it is read no more.
        Fill::End | Fill::Failed(_) => driver.pause_reads(socket),
        Fill::WouldBlock => {}
    }
}

#[test]
fn what_fell_due_first_goes_first() {
    for poller in ["uring", "epoll"] {
        let log = Log::start();
        let plan = json!({
            "schema": "wiretrial-plan",
            "version": 1,
            "target": {
                "url": format!("tcp://{}/", log.address),
                "message": {"source": {"from": "sequence", "bytes": LENGTH}},
            },
            // Faster than it can be: several fall due in each turn.
            "load": {"connections": 64, "executor": {"kind": "open", "rate": 1e6}},
            "stop": {"requests": 5_000},
            "generator": {"poller": poller},
        });
        assert_eq!(checked(&plan).summary.counters.ok, 5_000);
        let mut numbers = log.end();
        numbers.retain(|number| *number != OUTSIDE);
        assert_eq!(numbers.len(), 5_000);
        let early = numbers.windows(2).filter(|two| two[0] > two[1]).count();
        assert_eq!(early, 0, "{poller}: {early} went before one that was due earlier");
    }
}
