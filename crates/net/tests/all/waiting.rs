//! How long `wait` sleeps and what ends it.

use std::io::Write as _;
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use crate::common::{self, driver, loopback, spec};
use wiretrial_net::clock::monotonic_ns;
use wiretrial_net::{Driver, DriverConfig, Fill, Key, machine};

#[test]
fn a_wake_ends_a_wait_without_timeout() {
    let mut driver = driver();
    let waker = driver.waker();
    let other = thread::spawn(move || waker.wake());
    driver.wait(None).expect("wait");
    assert!(driver.next().is_none(), "a wake is no readiness of a socket");
    other.join().expect("the other thread");
}

#[test]
fn wakes_before_the_wait_count_once() {
    let mut driver = driver();
    let waker = driver.waker();
    waker.wake();
    waker.clone().wake();
    driver.wait(None).expect("wait");
    assert!(driver.next().is_none());
    // Taken: the next wait runs its full time.
    let start = monotonic_ns();
    driver.wait(Some(Duration::from_millis(5))).expect("wait");
    assert!(monotonic_ns() - start >= 5_000_000);
}

#[test]
fn a_wait_is_never_shorter_than_its_timeout() {
    let mut driver = driver();
    for timeout in [1, 1_000, 50_000, 200_000, 1_500_000] {
        let slept = shortest_sleep(&mut driver, timeout, 21);
        assert!(slept >= timeout, "{slept} ns for {timeout} ns");
    }
}

/// Not a bar for the machine's speed, however busy it is: with a timeout in
/// whole milliseconds no sleep at all could be shorter than one.
#[test]
fn a_timeout_is_not_rounded_up_to_milliseconds() {
    machine::set_timer_slack_min();
    let slept = shortest_sleep(&mut driver(), 200_000, 301);
    assert!(slept < 1_000_000, "{slept} ns for 200 us");
}

#[test]
fn short_turns_change_nothing_else() {
    let niceness = || rustix::process::getpriority_process(None).expect("told");
    let before = niceness();
    machine::set_turns_min();
    assert_eq!(niceness(), before);
    assert!(shortest_sleep(&mut driver(), 200_000, 21) >= 200_000);
}

#[test]
fn a_spinning_driver_keeps_time_and_can_be_woken() {
    let config = DriverConfig { spin: true, ..common::config() };
    let mut driver = Driver::new(&config).expect("a driver");
    assert!(shortest_sleep(&mut driver, 300_000, 11) >= 300_000);
    let waker = driver.waker();
    let other = thread::spawn(move || waker.wake());
    driver.wait(None).expect("wait");
    other.join().expect("the other thread");
}

/// More sockets at once than io_uring takes submissions: handing them over in the middle of a turn
/// brings completions of its own.
#[test]
fn bytes_that_come_in_the_middle_of_a_turn_are_told_apart() {
    const SOCKETS: u32 = 600;
    let mut driver = driver();
    let listener = TcpListener::bind(loopback()).expect("bind");
    let address = listener.local_addr().expect("bound");
    let key = |slot| Key { slot, generation: 1 };
    let mut sockets = Vec::new();
    let mut peers = Vec::new();
    for slot in 0..SOCKETS {
        sockets.push(driver.connect(key(slot), &spec(address)).expect("connect"));
        peers.push(listener.accept().expect("accept").0);
    }
    // Until one wait tells of all; who was not looked after is told again.
    let mut connected = Vec::new();
    for _ in 0..100 {
        driver.wait(Some(Duration::from_millis(10))).expect("wait");
        connected.clear();
        connected.extend(std::iter::from_fn(|| driver.next()).filter(|ready| ready.connected));
        if connected.len() == sockets.len() {
            break;
        }
    }
    assert_eq!(connected.len(), sockets.len());
    for peer in &mut peers {
        peer.write_all(b"later").expect("write");
    }
    for ready in connected {
        driver.connect_result(&mut sockets[ready.key.slot as usize]).expect("connected");
    }
    let mut came = 0;
    for socket in &mut sockets {
        if matches!(driver.fill(socket, &mut Vec::new()), Fill::Data(..)) {
            came += 1;
            assert!(!driver.received_in_wait(), "they were written after it");
        }
    }
    assert!(came > 0, "some come in the middle of the turn");
    driver.wait(Some(Duration::ZERO)).expect("wait");
    assert_eq!(driver.received_in_wait(), driver.poller_name() == "uring");
    for socket in sockets {
        driver.close(socket);
    }
}

fn shortest_sleep(driver: &mut Driver, timeout: u64, times: usize) -> u64 {
    let slept = (0..times).map(|_| {
        let start = monotonic_ns();
        driver.wait(Some(Duration::from_nanos(timeout))).expect("wait");
        monotonic_ns() - start
    });
    slept.min().expect("one at least")
}
