//! Descriptors that run out. Alone in its process, whose limit it lowers.

mod common;

use std::fs::File;

use common::{CLIENT, LISTENER, SERVER, await_ready, comes, driver, loopback, spec};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use wiretrial_net::{Driver, NetErrorClass};

#[test]
fn running_out_is_told_and_passes() {
    let mut driver = driver();
    let listener = driver.listen(LISTENER, loopback(), false).expect("listen");
    let mut client = driver.connect(CLIENT, &spec(listener.local_addr())).expect("connect");
    await_ready(&mut driver, |ready| ready.key == CLIENT && ready.connected);
    driver.connect_result(&mut client).expect("connected");

    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(64), ..limit }).expect("lowered");
    let mut held: Vec<File> = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        held.push(file);
    }
    let refused = [
        driver.accept(&listener, SERVER).map(|_| ()).expect_err("accept"),
        driver.connect(SERVER, &spec(listener.local_addr())).map(|_| ()).expect_err("connect"),
        driver.listen(SERVER, loopback(), false).map(|_| ()).expect_err("listen"),
        Driver::new(&common::config()).map(|_| ()).expect_err("driver"),
    ];
    for error in refused {
        assert_eq!(error.class(), NetErrorClass::NoDescriptors, "{error}");
    }
    // The connection still waits; a paused listener does not spin on it.
    driver.set_accepting(&listener, false).expect("pause");
    assert!(!comes(&mut driver, |ready| ready.key == LISTENER));

    held.pop();
    driver.set_accepting(&listener, true).expect("go on");
    await_ready(&mut driver, |ready| ready.key == LISTENER && ready.readable);
    assert!(driver.accept(&listener, SERVER).expect("accept").is_some());
}
