//! Each fault, as a client sees it.

use crate::common::{
    Client, DATE, End, GET_MESSAGE, await_all_gone, bytes_head, faulty, masked, message_answer,
    pattern, post, post_to, posted, unmasked,
};

const TEXT: u8 = 0x81;

#[test]
fn wrong_alters_one_byte_of_every_nth_content() {
    let server = faulty("wrong@2");
    let mut client = Client::http(&server);
    client.send(post("one") + &post("two") + &post("three"));
    client.expect(posted("one"));
    client.expect(posted("twn"));
    client.expect(posted("three"));
    client.send(GET_MESSAGE);
    let answer = client.take(message_answer().len());
    let differing = answer.iter().zip(message_answer()).filter(|(a, b)| **a != *b).count();
    assert_eq!(differing, 1);

    let mut client = Client::websocket(&server);
    client.send([masked(TEXT, b"one"), masked(TEXT, b"two")].concat());
    client.expect(unmasked(TEXT, b"one"));
    client.expect(unmasked(TEXT, b"twn"));

    let mut client = Client::tcp(&server);
    client.send("one");
    client.expect("one");
    client.send("two");
    client.expect("twn");
}

#[test]
fn wrong_is_seen_in_a_streamed_answer_too() {
    let server = faulty("wrong");
    let mut client = Client::http(&server);
    client.send("GET /bytes/1000000 HTTP/1.1\r\nHost: a\r\n\r\n");
    client.expect(bytes_head(1_000_000));
    let body = client.take(1_000_000);
    let right = pattern(1_000_000);
    assert_eq!(body.iter().zip(&right).filter(|(a, b)| a != b).count(), 1);

    // Where words stand in front of a body, they are the content's beginning.
    client.send(post_to("/test", "one"));
    client.expect(format!(
        "HTTP/1.1 200 OK\r\n{DATE}Content-Type: text/plain; charset=utf-8\r\n\
         Content-Length: 13\r\n\r\nreceived:!one"
    ));
}

#[test]
fn swap_exchanges_two_answers() {
    let server = faulty("swap@2");
    let mut client = Client::http(&server);
    client.send(["one", "two", "three", "four", "five", "six"].map(post).concat());
    // Two goes behind three; four behind five; six has nobody, and five comes again.
    for body in ["one", "three", "two", "five", "four", "five"] {
        client.expect(posted(body));
    }
}

#[test]
fn swap_at_depth_one_sends_the_previous_answer_again() {
    let server = faulty("swap@2");
    let mut client = Client::websocket(&server);
    for (sent, got) in [("one", "one"), ("two", "one"), ("three", "three"), ("four", "three")] {
        client.send(masked(TEXT, sent.as_bytes()));
        client.expect(unmasked(TEXT, got.as_bytes()));
    }
}

#[test]
fn swap_waits_for_something_to_swap_with() {
    let server = faulty("swap");
    let mut client = Client::tcp(&server);
    client.send("one");
    client.expect("one");
    client.send("two");
    client.expect("one");
}

#[test]
fn repeat_sends_it_twice() {
    let server = faulty("repeat@2");
    let mut client = Client::websocket(&server);
    client.send([masked(TEXT, b"one"), masked(TEXT, b"two"), masked(TEXT, b"three")].concat());
    for text in ["one", "two", "two", "three"] {
        client.expect(unmasked(TEXT, text.as_bytes()));
    }
    client.expect_silence();
}

#[test]
fn truncate_ends_with_half() {
    let server = faulty("truncate@2");
    let mut client = Client::http(&server);
    client.send(post("one") + &post("two") + &post("never answered"));
    client.expect(posted("one"));
    let whole = posted("two");
    assert_eq!(client.rest(), (whole.as_bytes()[..whole.len() / 2].to_vec(), End::Fin));
}

#[test]
fn truncate_cuts_long_answers_too() {
    let server = faulty("truncate");
    let mut client = Client::http(&server);
    client.send("GET /bytes/50000000 HTTP/1.1\r\nHost: a\r\n\r\n");
    let (got, end) = client.rest();
    assert!((1000..25_000_000).contains(&got.len()), "{}", got.len());
    assert!(got.starts_with(bytes_head(50_000_000).as_bytes()));
    assert_eq!(end, End::Fin);
}

#[test]
fn reset_ends_in_the_middle_without_a_fin() {
    let server = faulty("reset@2");
    let mut client = Client::http(&server);
    client.send(post("one"));
    client.expect(posted("one"));
    client.send(post("two"));
    let whole = posted("two");
    let (got, end) = client.rest();
    assert_eq!(end, End::Reset);
    assert!(whole.as_bytes().starts_with(&got) && got.len() <= whole.len() / 2, "{got:?}");
}

#[test]
fn close_ends_before_any_byte() {
    let server = faulty("close@2");
    for mut client in [Client::http(&server), Client::http(&server)] {
        client.send(post("one"));
        client.expect(posted("one"));
        client.send(post("two"));
        client.expect_end(End::Fin);
    }
}

#[test]
fn silent_answers_nothing_more() {
    let server = faulty("silent@2");
    let mut client = Client::http(&server);
    client.send(post("one") + &post("two") + &post("three"));
    client.expect(posted("one"));
    client.expect_silence();
    // The others are not concerned; and who leaves is let go.
    let mut other = Client::http(&server);
    other.send(post("four"));
    other.expect_silence();
    drop((client, other));
    await_all_gone(&server, 2);
}

#[test]
fn garbage_is_neither_protocol() {
    let server = faulty("garbage@2");
    let mut client = Client::http(&server);
    client.send(post("one") + &post("two") + &post("three"));
    client.expect(posted("one"));
    let garbage = client.take(32);
    assert_eq!((garbage[0], garbage[31]), (0xff, b'\n'));
    client.expect(posted("three"));
}

#[test]
fn slow_goes_byte_by_byte() {
    let server = faulty("slow");
    let mut client = Client::tcp(&server);
    let begin = wiretrial_net::clock::monotonic_ns();
    client.send("0123456789");
    client.expect("0123456789");
    // Nine pauses between ten bytes.
    assert!(wiretrial_net::clock::monotonic_ns() - begin >= 90_000_000);
}

#[test]
fn status_is_500_where_there_are_statuses() {
    let server = faulty("status@2");
    let mut client = Client::http(&server);
    client.send(post("one") + &post("two") + &post("three"));
    client.expect(posted("one"));
    client.expect(format!(
        "HTTP/1.1 500 Internal Server Error\r\n{DATE}Content-Type: text/plain; charset=utf-8\r\n\
         Content-Length: 15\r\n\r\nscripted fault\n"
    ));
    client.expect(posted("three"));
    let mut client = Client::tcp(&server);
    client.send("four");
    client.expect("four");
}

#[test]
fn whatever_went_wrong_who_leaves_is_let_go() {
    let kinds = "wrong swap repeat truncate reset close silent garbage slow status";
    for kind in kinds.split(' ') {
        let server = faulty(&format!("{kind}@2"));
        let mut finished = Vec::new();
        for _ in 0..2 {
            let mut gone = Client::http(&server);
            gone.send([post("one"), post("two"), post("three")].concat());
            let mut client = Client::websocket(&server);
            client.send([masked(TEXT, b"one"), masked(0x01, b"two")].concat());
            finished.push(client);
            let mut client = Client::tcp(&server);
            client.send("one");
            finished.push(client);
        }
        for client in &finished {
            // Some of them were reset: then there is nothing to shut down.
            let _ = client.0.shutdown(std::net::Shutdown::Write);
        }
        await_all_gone(&server, 6);
    }
}
