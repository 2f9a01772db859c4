//! Limits, names and the process's own accounts.

use std::thread;

use wiretrial_net::clock::{monotonic_ns, realtime_ns};
use wiretrial_net::machine::{
    descriptor_limit, peak_rss_bytes, pin_current_thread, process_cpu, raise_descriptor_limit,
    resolve, thread_run_queue_ns,
};

#[test]
fn a_thread_is_pinned_where_it_may_run() {
    thread::spawn(|| {
        let allowed = rustix::thread::sched_getaffinity(None).expect("told");
        let cpu = (0..1024).find(|&cpu| allowed.is_set(cpu)).expect("one at least");
        pin_current_thread(&[cpu as u32]).expect("pinned");
        let now = rustix::thread::sched_getaffinity(None).expect("told");
        assert!(now.is_set(cpu) && now.count() == 1);
    })
    .join()
    .expect("the thread");
}

#[test]
fn a_cpu_that_is_not_there_is_named() {
    for cpu in [1023, 100_000] {
        let error = pin_current_thread(&[cpu]).expect_err("no such CPU");
        assert!(error.to_string().contains(&cpu.to_string()), "{error}");
    }
    pin_current_thread(&[]).expect("nothing asked for");
}

#[test]
fn the_limit_rises_to_what_is_allowed() {
    let before = descriptor_limit();
    assert!(before.soft <= before.hard);
    let after = raise_descriptor_limit();
    assert_eq!(after.soft, after.hard);
    assert_eq!(after, descriptor_limit());
}

#[test]
fn accounts_grow_with_what_is_done() {
    let before = process_cpu();
    let start = monotonic_ns();
    let mut ballast = vec![1_u8; 64 << 20];
    // By its own CPU time, so that a busy machine does not matter.
    while process_cpu().0 + process_cpu().1 < before.0 + before.1 + 20_000_000 {
        ballast.iter_mut().step_by(4096).for_each(|byte| *byte = byte.wrapping_add(1));
    }
    assert!(peak_rss_bytes() >= 64 << 20);
    assert!(monotonic_ns() - start > 0);
    let first = thread_run_queue_ns();
    let second = thread_run_queue_ns();
    assert!(second >= first);
}

#[test]
fn the_wall_clock_is_in_this_century() {
    let year_2020 = 1_577_836_800_000_000_000;
    assert!(realtime_ns() > year_2020);
}

#[test]
fn literal_addresses_need_no_lookup() {
    let cases = [("127.0.0.1", "127.0.0.1:80"), ("::1", "[::1]:80"), ("[::1]", "[::1]:80")];
    for (host, address) in cases {
        let found = resolve(host, 80).expect("literal");
        assert_eq!(found, [address.parse().expect("an address")], "{host}");
    }
}

#[test]
fn a_name_without_address_is_named() {
    // Never registered, by RFC 6761.
    let error = resolve("nowhere.invalid", 80).expect_err("no address");
    assert!(error.to_string().contains("'nowhere.invalid'"), "{error}");
    assert!(!error.to_string().contains('\n'));
}
