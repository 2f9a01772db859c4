//! What holds for packets of any content.

use std::borrow::Cow;

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest};
use wiretrial_proto::styx::{
    Attribute, Encoding, Listed, LoadRequest, LoadResponse, Lobby, Packet,
};

use super::stage::{FORMS, seated};
use crate::common::{cuts_from, run_client};

#[derive(Debug, Clone)]
enum Drawn {
    Fixed(Packet<'static>),
    Game(i32, i32, Vec<u8>, Vec<(String, String)>),
}

impl Drawn {
    fn packet(&self) -> Packet<'_> {
        match self {
            Self::Fixed(packet) => packet.clone(),
            Self::Game(table, player, data, attributes) => Packet::Game {
                table: *table,
                player: *player,
                data,
                attributes: attributes
                    .iter()
                    .map(|(name, value)| Attribute {
                        name: Cow::Borrowed(name),
                        value: Cow::Borrowed(value),
                    })
                    .collect(),
            },
        }
    }
}

fn packets() -> impl Strategy<Value = Drawn> {
    let text = || vec(any::<char>(), 0..20).prop_map(String::from_iter);
    let login = (text(), text(), any::<i32>(), vec(any::<u8>(), 0..20)).prop_map(
        |(user, password, operator, credentials)| {
            Drawn::Fixed(Packet::LoginRequest {
                user: user.into(),
                password: password.into(),
                operator,
                credentials: credentials.into(),
            })
        },
    );
    let granted = (text(), any::<i32>(), any::<u8>(), any::<i32>(), text()).prop_map(
        |(name, player, status, code, message)| {
            Drawn::Fixed(Packet::LoginResponse {
                name: name.into(),
                player,
                status,
                code,
                message: message.into(),
                credentials: Cow::Borrowed(&[]),
            })
        },
    );
    let join = (any::<i32>(), any::<i8>())
        .prop_map(|(table, seat)| Drawn::Fixed(Packet::JoinRequest { table, seat }));
    let game = (any::<i32>(), any::<i32>(), vec(any::<u8>(), 0..200), vec((text(), text()), 0..3))
        .prop_map(|(table, player, data, notes)| Drawn::Game(table, player, data, notes));
    let row = (any::<i32>(), any::<u32>()).prop_map(|(table, seated)| Listed { table, seated });
    let lobby = (any::<u32>(), any::<u32>(), any::<u32>(), vec(row, 0..20)).prop_map(
        |(seq, tables, players, listed)| {
            Drawn::Fixed(Packet::LobbySnapshot(Lobby { seq, tables, players, listed }))
        },
    );
    prop_oneof![login, granted, join, game, lobby, Just(Drawn::Fixed(Packet::Other(250)))]
}

proptest! {
    #[test]
    fn what_is_written_is_read(drawn in packets()) {
        for encoding in [Encoding::Binary, Encoding::Json] {
            let packet = drawn.packet();
            let mut bytes = Vec::new();
            encoding.append(&packet, &mut bytes);
            prop_assert!(encoding == Encoding::Binary || !bytes.contains(&b'\n'));
            let mut room = Vec::new();
            prop_assert_eq!(encoding.read(&bytes, &mut room), Ok(packet));
        }
    }

    #[test]
    fn actions_come_through(player: i32, table: i32, seq: u32, delay in 0..i32::MAX, resend: bool) {
        let (mut request, mut response) = (Vec::new(), Vec::new());
        let action = LoadRequest { player, table, seq, delay, resend };
        action.append(&mut request);
        prop_assert_eq!(LoadRequest::read(&request), Ok(Some(action)));
        let answer = LoadResponse { player, table, seq, resend };
        answer.append(&mut response);
        prop_assert_eq!(LoadResponse::read(&response), Ok(Some(answer)));
    }

    #[test]
    fn anything_is_events_or_an_error_however_it_is_cut(
        input in vec(any::<u8>(), 0..200), distances in vec(any::<u8>(), 0..20),
    ) {
        for (encoding, websocket) in FORMS {
            let whole = run_client(&mut seated(encoding, websocket), &input, &[], true);
            let cuts = cuts_from(&distances, input.len());
            let cut = run_client(&mut seated(encoding, websocket), &input, &cuts, true);
            prop_assert_eq!(cut, whole);
        }
    }
}
