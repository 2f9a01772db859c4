//! The table server, over real sockets: who gets a copy of what, and when.

use std::time::Duration;

use crate::common::{self, Client, End, SWITCHED, masked, plan};
use wiretrial_net::clock::monotonic_ns;
use wiretrial_proto::styx::{Encoding, Listed, LoadRequest, LoadResponse, Lobby, Packet};
use wiretrial_respond::{Script, Server, start};

const BINARY: u8 = 0x82;
const TEXT: u8 = 0x81;
const MS: u64 = 1_000_000;

/// How a player is connected.
#[derive(Debug, Clone, Copy)]
struct Form {
    encoding: Encoding,
    websocket: bool,
}

const FORMS: [Form; 4] = [
    Form { encoding: Encoding::Binary, websocket: false },
    Form { encoding: Encoding::Json, websocket: false },
    Form { encoding: Encoding::Binary, websocket: true },
    Form { encoding: Encoding::Json, websocket: true },
];

struct Player {
    client: Client,
    form: Form,
    number: i32,
}

impl Player {
    fn connect(server: &Server, form: Form, number: i32) -> Self {
        let client = if form.websocket {
            let mut client = Client::http(server);
            client.send(common::UPGRADE.replace("GET /chat ", "GET /socket "));
            client.expect(SWITCHED);
            client
        } else {
            Client::connect(server.addresses().styx[0])
        };
        Self { client, form, number }
    }

    fn seated(server: &Server, form: Form, number: i32, table: i32) -> Self {
        let mut player = Self::connect(server, form, number);
        player.log_in();
        player.say(&Packet::JoinRequest { table, seat: 3 });
        player.hear(&Packet::JoinResponse { table, seat: 3, status: 0, code: 0 });
        player
    }

    fn log_in(&mut self) {
        let name = format!("bot{}", self.number);
        self.say(&Packet::LoginRequest {
            user: name.clone().into(),
            password: "".into(),
            operator: 0,
            credentials: (&[][..]).into(),
        });
        self.hear(&Packet::LoginResponse {
            name: name.into(),
            player: self.number,
            status: 0,
            code: 0,
            message: "".into(),
            credentials: (&[][..]).into(),
        });
    }

    fn act(&mut self, table: i32, seq: u32, delay: Duration) {
        let delay = delay.as_millis() as i32;
        let player = self.number;
        let mut data = Vec::new();
        LoadRequest { player, table, seq, delay, resend: false }.append(&mut data);
        self.say(&Packet::Game { table, player, data: &data, attributes: Vec::new() });
    }

    fn say(&mut self, packet: &Packet<'_>) {
        let bytes = self.written(packet);
        let first = if self.form.encoding == Encoding::Json { TEXT } else { BINARY };
        self.client.send(if self.form.websocket { masked(first, &bytes) } else { bytes });
    }

    fn hear(&mut self, packet: &Packet<'_>) {
        let bytes = self.written(packet);
        let first = if self.form.encoding == Encoding::Json { TEXT } else { BINARY };
        let expected = if self.form.websocket { common::unmasked(first, &bytes) } else { bytes };
        self.client.expect(expected);
    }

    fn hear_copy(&mut self, player: i32, table: i32, seq: u32) {
        let mut data = Vec::new();
        LoadResponse { player, table, seq, resend: false }.append(&mut data);
        self.hear(&Packet::Game { table, player, data: &data, attributes: Vec::new() });
    }

    fn written(&self, packet: &Packet<'_>) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.form.encoding.append(packet, &mut bytes);
        if self.form.encoding == Encoding::Json && !self.form.websocket {
            bytes.push(b'\n');
        }
        bytes
    }
}

fn server(script: Script) -> Server {
    start(plan(script)).expect("it starts")
}

#[test]
fn everybody_at_the_table_gets_a_copy_in_its_own_encoding() {
    let server = server(Script::default());
    let mut players: Vec<Player> =
        (1..).zip(FORMS).map(|(number, form)| Player::seated(&server, form, number, 7)).collect();
    let mut elsewhere = Player::seated(&server, FORMS[0], 9, 8);
    for seq in 0..3 {
        for at in 0..players.len() {
            players[at].act(7, seq, Duration::ZERO);
            let number = players[at].number;
            for player in &mut players {
                player.hear_copy(number, 7, seq);
            }
        }
    }
    elsewhere.client.expect_silence();
    assert_eq!(server.stats().requests, 3 * 4 * 4, "one each for every copy");
}

#[test]
fn tables_span_threads() {
    let mut plan = plan(Script::default());
    plan.threads = 3;
    let server = start(plan).unwrap();
    let mut players: Vec<Player> =
        (1..=12).map(|number| Player::seated(&server, FORMS[0], number, 7)).collect();
    for at in 0..players.len() {
        players[at].act(7, 0, Duration::ZERO);
        let number = players[at].number;
        for player in &mut players {
            player.hear_copy(number, 7, 0);
        }
    }
}

#[test]
fn who_leaves_or_goes_hears_no_more() {
    let server = server(Script::default());
    let [mut stays, mut leaves, goes] =
        [1, 2, 3].map(|number| Player::seated(&server, FORMS[0], number, 7));
    leaves.say(&Packet::LeaveRequest { table: 7 });
    leaves.hear(&Packet::LeaveResponse { table: 7, status: 0, code: 0 });
    drop(goes);
    stays.act(7, 0, Duration::ZERO);
    stays.hear_copy(1, 7, 0);
    leaves.say(&Packet::JoinRequest { table: 8, seat: -1 });
    leaves.hear(&Packet::JoinResponse { table: 8, seat: -1, status: 0, code: 0 });
    leaves.client.expect_silence();
}

#[test]
fn the_table_waits_as_it_is_told() {
    let server = server(Script::default());
    let mut player = Player::seated(&server, FORMS[0], 1, 7);
    let begin = monotonic_ns();
    player.act(7, 0, Duration::from_millis(80));
    player.act(7, 1, Duration::from_millis(20));
    player.act(7, 2, Duration::ZERO);
    for (seq, least) in [(2, 0), (1, 20), (0, 80)] {
        player.hear_copy(1, 7, seq);
        assert!(monotonic_ns() - begin >= least * MS, "action {seq}");
    }
}

#[test]
fn the_script_holds_for_every_copy() {
    let delay = Some("30ms".parse().unwrap());
    let server = server(Script { delay, ..Script::default() });
    let mut players = [1, 2].map(|number| Player::seated(&server, FORMS[0], number, 7));
    let begin = monotonic_ns();
    players[0].act(7, 0, Duration::ZERO);
    for player in &mut players {
        player.hear_copy(1, 7, 0);
    }
    assert!(monotonic_ns() - begin >= 30 * MS);

    let faults = vec!["repeat@2".parse().unwrap()];
    let server = self::server(Script { faults, ..Script::default() });
    let mut players = [1, 2].map(|number| Player::seated(&server, FORMS[0], number, 7));
    players[0].act(7, 0, Duration::ZERO);
    players[0].hear_copy(1, 7, 0);
    players[1].hear_copy(1, 7, 0);
    players[1].hear_copy(1, 7, 0);
}

#[test]
fn what_a_player_must_not_do_is_answered_as_bad() {
    let server = server(Script::default());
    let bad = |class, error| Packet::Bad { class, error };
    for form in FORMS {
        let mut player = Player::connect(&server, form, 1);
        player.act(7, 0, Duration::from_millis(5));
        player.hear(&bad(100, 1));
        player.say(&Packet::JoinRequest { table: 7, seat: 0 });
        player.hear(&Packet::JoinResponse { table: 7, seat: 0, status: 2, code: 0 });
        player.log_in();
        player.say(&Packet::JoinRequest { table: 7, seat: 0 });
        player.hear(&Packet::JoinResponse { table: 7, seat: 0, status: 0, code: 0 });
        player.say(&Packet::JoinRequest { table: 8, seat: 0 });
        player.hear(&Packet::JoinResponse { table: 8, seat: 0, status: 2, code: 0 });
        player.say(&Packet::LeaveRequest { table: 8 });
        player.hear(&Packet::LeaveResponse { table: 8, status: 2, code: 0 });
        player.act(8, 0, Duration::ZERO);
        player.hear(&bad(100, 1));
        player.act(7, 5, Duration::ZERO);
        player.hear_copy(1, 7, 5);
        player.act(7, 7, Duration::ZERO);
        player.hear(&bad(100, 1));
        player.act(7, 6, Duration::ZERO);
        player.hear_copy(1, 7, 6);
        player.say(&Packet::Other(150));
        player.hear(&bad(150, 0));
        player.say(&Packet::Ping { id: 9 });
        player.hear(&Packet::Ping { id: 9 });
    }
}

#[test]
fn who_breaks_the_protocol_is_told_and_closed() {
    let server = server(Script::default());
    let mut player = Player::connect(&server, FORMS[0], 1);
    player.client.send(b"\x00\x00\x00\x01\x07");
    player.hear(&Packet::Bad { class: 0, error: 0 });
    player.client.expect_end(End::Fin);
    let mut player = Player::connect(&server, FORMS[3], 1);
    player.client.send(masked(TEXT, b"{"));
    player.client.expect(b"\x88\x02\x03\xea");
    player.client.expect_end(End::Fin);
}

#[test]
fn a_server_that_stops_tells_players_over_websocket() {
    let server = server(Script::default());
    let mut player = Player::seated(&server, FORMS[2], 1, 7);
    server.stop().unwrap();
    player.client.expect(b"\x88\x02\x03\xe9");
    player.client.expect_end(End::Fin);
}

#[test]
fn who_looks_at_the_lobby_is_told_of_it_again_and_again() {
    let server = server(Script::default());
    let mut early = Player::connect(&server, FORMS[0], 1);
    early.say(&Packet::LobbySubscribe);
    early.hear(&Packet::Bad { class: 200, error: 1 });
    let mut players: Vec<Player> =
        (1..).zip(FORMS).map(|(number, form)| Player::seated(&server, form, number, 7)).collect();
    let mut elsewhere = Player::seated(&server, FORMS[0], 9, -8);
    for player in &mut players {
        player.say(&Packet::LobbySubscribe);
        player.say(&Packet::LobbySubscribe);
    }
    // The numbers of a thread go on from the first one that looks, so all have the same here.
    for seq in 0..2 {
        let listed = [(-8, 1), (7, 4)].map(|(table, seated)| Listed { table, seated }).to_vec();
        let lobby = Packet::LobbySnapshot(Lobby { seq, tables: 2, players: 5, listed });
        for player in &mut players {
            player.hear(&lobby);
        }
    }
    elsewhere.client.expect_silence();
    assert_eq!(server.stats().requests, 0, "a snapshot is no reply");
}
