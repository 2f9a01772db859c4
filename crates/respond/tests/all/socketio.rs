//! The Socket.IO service, over real sockets.

use crate::common::{Client, End, SWITCHED, UPGRADE, masked, server, unmasked};
use wiretrial_respond::{Script, Server};

const TEXT: u8 = 0x81;

/// A client behind the upgrade, whose session has this number.
fn upgraded(server: &Server, session: u64) -> Client {
    let mut client = Client::http(server);
    client.send(UPGRADE.replace("GET /chat ", "GET /socket.io/?EIO=4&transport=websocket "));
    client.expect(SWITCHED);
    let limit = 1 << 30;
    let greeting = format!(
        r#"0{{"sid":"{session:016x}","upgrades":[],"pingInterval":86400000,"pingTimeout":20000,"maxPayload":{limit}}}"#
    );
    client.expect(unmasked(TEXT, greeting.as_bytes()));
    client
}

fn entered(server: &Server, session: u64) -> Client {
    let mut client = upgraded(server, session);
    say(&mut client, "40");
    hear(&mut client, &format!(r#"40{{"sid":"{session:016x}"}}"#));
    client
}

fn say(client: &mut Client, text: &str) {
    client.send(masked(TEXT, text.as_bytes()));
}

fn hear(client: &mut Client, text: &str) {
    client.expect(unmasked(TEXT, text.as_bytes()));
}

#[test]
fn events_are_acknowledged() {
    let server = server(Script::default());
    let mut client = entered(&server, 1);
    say(&mut client, r#"420["get","messages","testing"]"#);
    hear(&mut client, r#"430[null,{"id":"testing"}]"#);
    say(&mut client, r#"42["news"]"#);
    say(&mut client, "2");
    hear(&mut client, "3");
    say(&mut client, r#"4217["echo",{"a":[1]},"b"]"#);
    hear(&mut client, r#"4317[{"a":[1]},"b"]"#);
    assert_eq!(server.stats().requests, 2);
    let mut other = entered(&server, 2);
    say(&mut other, r#"420["get","messages",7]"#);
    hear(&mut other, r#"430[null,{"id":7}]"#);
}

#[test]
fn the_script_holds_for_acknowledgements() {
    let faults = vec!["wrong@2".parse().unwrap()];
    let server = server(Script { faults, ..Script::default() });
    let mut client = entered(&server, 1);
    say(&mut client, r#"420["get","messages","a"]"#);
    hear(&mut client, r#"430[null,{"id":"a"}]"#);
    say(&mut client, r#"421["get","messages","a"]"#);
    hear(&mut client, r#"431[null,{"id":"a"}\"#);
}

#[test]
fn who_breaks_the_protocol_is_closed() {
    let server = server(Script::default());
    for (session, text) in (1..).zip([r#"420["get"]"#, "x", "45[]"]) {
        let mut client = upgraded(&server, session);
        say(&mut client, text);
        client.expect(b"\x88\x02\x03\xea");
        client.expect_end(End::Fin);
    }
    let mut client = entered(&server, 4);
    say(&mut client, "420[1");
    client.expect(b"\x88\x02\x03\xea");
    client.expect_end(End::Fin);
    let mut client = entered(&server, 5);
    say(&mut client, "41");
    client.expect(b"\x88\x02\x03\xe8");
}
