//! Which congestion control the kernel's TCP has on either side of a connection, as it tells it itself.

use crate::common::{LISTENER, driver, loopback, pair_with, spec};
use wiretrial_net::{Congestion, ConnectSpec};

const ALL: [(Congestion, &str); 3] =
    [(Congestion::Cubic, "cubic"), (Congestion::NewReno, "reno"), (Congestion::Bbr, "bbr")];

/// What connections have that say nothing.
fn usual() -> String {
    let told = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control");
    told.expect("a setting of every kernel").trim().to_owned()
}

#[test]
fn both_sides_have_what_was_asked_for() {
    for (wanted, name) in ALL {
        if let Err(refusal) = wanted.check_for_tcp() {
            assert!(refusal.to_string().contains(&format!("{name} ")), "{refusal}");
            eprintln!("not checked: {refusal}");
            continue;
        }
        let mut driver = driver();
        let listener = driver.listen(LISTENER, loopback(), false).expect("listen");
        listener.set_congestion(wanted).expect("it may be had");
        let spec = ConnectSpec { congestion: Some(wanted), ..spec(listener.local_addr()) };
        let (client, server) = pair_with(&mut driver, &spec, &listener);
        for side in [&client, &server] {
            assert_eq!(side.congestion().expect("told"), name);
        }
    }
}

/// Every kernel has Reno, and lets everybody have it.
#[test]
fn each_side_is_asked_apart() {
    Congestion::NewReno.check_for_tcp().expect("it may be had");
    for at_client in [false, true] {
        let mut driver = driver();
        let listener = driver.listen(LISTENER, loopback(), false).expect("listen");
        let mut spec = spec(listener.local_addr());
        if at_client {
            spec.congestion = Some(Congestion::NewReno);
        } else {
            listener.set_congestion(Congestion::NewReno).expect("it may be had");
        }
        let (client, server) = pair_with(&mut driver, &spec, &listener);
        let (asked, other) = if at_client { (client, server) } else { (server, client) };
        assert_eq!(asked.congestion().expect("told"), "reno");
        assert_eq!(other.congestion().expect("told"), usual());
    }
}
