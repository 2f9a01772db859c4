//! Every wrong word gets one line with the remedy, and its exit code.

use std::io::Write as _;
use std::net::TcpListener;
use std::process::Stdio;

use crate::{Respond, engine, run, text};

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn table_of_wrong_words() {
    let cases: [(&[&str], i32, &str); 41] = [
        (&["load", "127.0.0.1:80"], 2, "no scheme (one of http, https, ws, wss, tcp, tls, styx,"),
        (&["load", "ftp://h/"], 2, "unknown scheme 'ftp'"),
        (&["load", "ws://h:70000/"], 2, "'70000' is not a port"),
        (&["load", "tcp://h"], 2, "no port"),
        (&["load", "ws://h/", "-c", "0"], 2, "connections"),
        (&["load", "ws://h/", "--depth", "3", "--pack", "2"], 2, "use --depth 4"),
        (
            &["load", "ws://h/", "--pattern", "random-burst", "--depth", "2"],
            2,
            "a burst is one pack for each connection",
        ),
        (&["load", "ws://h/", "-c", "1", "-t", "2"], 2, "use --threads 1"),
        (&["load", "ws://h/", "--rate", "0"], 2, "rate"),
        (&["load", "ws://h/", "--stages", "1s:1.5"], 2, "connections are whole numbers"),
        (&["load", "ws://h/", "--stages", "1s:5", "-c", "9"], 2, "leave -c out"),
        (
            &["load", "ws://h/", "--stages", "1s:5/s", "--pacing", "phased"],
            2,
            "a rate that changes is constant or poisson",
        ),
        (&["load", "ws://h/", "--payload", "many"], 2, "a size such as 20, 64KiB or 1MB, or @FILE"),
        (&["load", "ws://h/", "--payload", "@/no/such/file"], 2, "can't read '/no/such/file'"),
        (&["load", "http://h/", "-H", "Accept"], 2, "no colon"),
        (&["load", "http://h/", "--deflate"], 2, "only ws and wss compress messages"),
        (&["load", "http://h/", "-H", "A: b\r\nc: d"], 2, "control character"),
        (&["load", "http://h/", "--method", "G T"], 2, "not a word of HTTP"),
        (
            &["load", "ws://h/", "--header-profile", "unique"],
            2,
            "only requests of http and https have one; leave --header-profile out",
        ),
        (
            &["load", "http://h/", "--sse", "--header-profile", "unique"],
            2,
            "a stream of events is asked for once; leave --header-profile out",
        ),
        (
            &["load", "http://h/", "--publish", "http://h/publish"],
            2,
            "only streams of events (--sse), WebSockets, Socket.IO and long polls over HTTP/1.1",
        ),
        (
            &["load", "wss://h/", "--http", "3", "--publish", "https://h/publish"],
            2,
            "only streams of events (--sse), WebSockets, Socket.IO and long polls over HTTP/1.1",
        ),
        (
            &["load", "http://h/", "--sse", "--long-poll", "--publish", "http://h/publish"],
            2,
            "streams of events are no polls; leave --sse or --long-poll out",
        ),
        (
            &["load", "http://h/", "--long-poll", "--publish", "http://h/", "--method", "PUT"],
            2,
            "a poll is a GET without a profile; leave --method and --header-profile out",
        ),
        (
            &["load", "http://h/", "--sse", "--publish", "ws://h/publish"],
            2,
            "events are posted; use http:// or https://",
        ),
        (
            &["load", "http://h/", "--sse", "--publish", "http://h/", "--publish-size", "10"],
            2,
            "publish.bytes: 10 is outside 33 to 1048576",
        ),
        (
            &["load", "http://h/", "--sse", "--publish", "http://h/", "--publish-header", "secret"],
            2,
            "--publish-header: no colon in one of them",
        ),
        (
            &["load", "http://h/", "--sse", "--publish", "http://h/", "--publish-header", "TE: x"],
            2,
            "publish.headers: header ",
        ),
        (
            &["load", "http://h/", "--expect", "anything"],
            2,
            "use echo, learned, broadcast, @FILE, status, json:PATH=VALUE or regex:PATTERN",
        ),
        (&["load", "http://h/", "--expect", "echo"], 2, "an echo needs a payload"),
        (&["load", "styx://h:1", "--payload", "20"], 2, "carries no payload; leave it out"),
        (
            &["load", "styx://h:1", "--table-size", "2000"],
            2,
            "table_size: 2000 is outside 1 to 1000",
        ),
        (
            &["load", "styx://h:1", "--pattern", "random-burst"],
            2,
            "act by themselves, not in bursts",
        ),
        (&["load", "socketio+ws://h/", "--json", "{}"], 2, "an event is an array of JSON"),
        (
            &["load", "http://h/", "--json", r#"{"id":{seq}"#],
            2,
            "not: EOF while parsing an object at line 1 column 11; correct it, or send it as it is",
        ),
        (
            &["load", "http://h/", "--json", r#"{"id":{seq}0}"#],
            2,
            "invalid number at line 1 column",
        ),
        (&["load", "ws://h/", "--json", "{\"id\":\"{seq}\",\n}"], 2, "at line 2 column 1"),
        (&["load", "https://127.0.0.1:1/", "--cacert", "/no/such/file"], 1, "/no/such/file"),
        (&["observe", "--host", "--interval", "1ms"], 2, "the interval is shorter than 10ms"),
        (&["observe", "--pid", "1", "--pid", "1"], 2, "write NAME=… for one"),
        (
            &["observe", "--cgroup", "/no/such/group"],
            1,
            "can't observe control group /no/such/group: it is in no hierarchy that is mounted here",
        ),
    ];
    for (args, code, expected) in cases {
        let output = run(args);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
        assert!(said.contains(expected), "{args:?}: {said}");
        assert_eq!(said.trim_end().lines().count(), 1, "{args:?}: {said}");
    }
}

#[test]
fn flags_that_clap_refuses_exit_with_2_and_say_what_is_right() {
    for (args, expected) in [
        (vec!["load", "ws://h/", "-d", "10"], "10s, 500ms or 2m"),
        (vec!["load", "ws://h/", "--deflate=fast"], "'fast' is none of server_no_context_takeover"),
        (vec!["load", "ws://h/", "--deflate=level=12"], "level=12 is not 1 (fast) to 9 (small)"),
        (vec!["respond", "--http", "127.0.0.1:0", "--deflate=level"], "'level' is none of"),
        (vec!["load", "ws://h/", "-c", "many"], "1000, 20k or 1M"),
        (vec!["load"], "<URL>"),
        (vec!["load", "ws://h/", "--pacing", "poisson"], "--rate"),
        (vec!["load", "ws://h/", "--stages", "30s"], "'30s' is no stage; write TIME:CONNECTIONS"),
        (vec!["load", "ws://h/", "--stages", "1s:0,2s:0"], "all of it is nothing"),
        (vec!["load", "ws://h/", "--stages", "1s:5", "--hold"], "cannot be used with"),
        (
            vec!["link", "--up", "latency=1ms"],
            "\"latency=1ms\" is none of delay=26ms,jitter=2ms/normal",
        ),
        (vec!["link", "--down", "queue=10p"], "a queue needs a rate: add rate=100mbit"),
        (vec!["link", "--down", "rebind=5s"], "rebind is of the way up"),
        (vec!["link", "--near-device", "a/b"], "is no name for a device: use 1 to 15 letters"),
        (vec!["respond", "--http", "nowhere"], "invalid socket address"),
        (vec!["respond", "--http", "127.0.0.1:0", "--fault", "odd"], "there is no fault `odd`"),
        (
            vec!["respond", "--http", "127.0.0.1:0", "--upgrade-delay", "soon"],
            "`soon` is not a duration",
        ),
        (vec!["observe"], "--pid"),
        (vec!["observe", "--pid", "app"], "'app' is no process id; write 123 or app=123"),
        (vec!["observe", "--cgroup", "app"], "'app' is no path of a control group"),
        (vec!["observe", "--host", "--for", "10"], "10s, 500ms or 2m"),
        (vec!["observe", "--host", "--pid", "1"], "cannot be used with"),
        (
            vec!["load", "http://h/", "--header-profile", "some"],
            "possible values: constant, partly, unique",
        ),
        (vec!["load", "http://h/", "--sse", "--publish-header", "A: b"], "--publish <URL>"),
        (vec!["attack", "ws://h/"], "unrecognized subcommand"),
    ] {
        let output = run(&args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(text(&output.stderr).contains(expected), "{args:?}: {}", text(&output.stderr));
    }
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let free = TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a free port");
    let url = format!("ws://{free}/");
    let output = run(&["load", &url, "--connect-timeout", "100ms"]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    let expected =
        format!("{free}: connection refused: nothing listens there; is the server running?");
    assert!(said.contains(&expected), "{said}");

    let output = run(&["load", "ws://no-such-host.invalid/"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stderr).contains("cannot find the address of host 'no-such-host.invalid'")
    );
}

#[test]
fn an_address_in_use_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("its address").to_string();
    let output = run(&["respond", "--http", &address]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(said.contains(&address) && said.trim_end().lines().count() == 1, "{said}");
}

#[test]
fn plans_that_are_not_plans_are_refused() {
    let cases = [
        ("", "no plan on standard input"),
        ("{", "not readable"),
        ("[]", "not readable"),
        (r#"{"schema":"wiretrial-plan","version":1,"odd":1}"#, "unknown field `odd`"),
        (
            r#"{"schema":"wiretrial-plan","version":9,"target":{"url":"ws://h/"},"load":{"connections":1},"stop":{"requests":1}}"#,
            "plans of version 1, not 9",
        ),
        (
            r#"{"schema":"wiretrial-plan","version":1,"target":{"url":"http://h/"},"load":{"connections":1},"stop":{}}"#,
            "neither a duration nor a number of requests",
        ),
    ];
    for (plan, expected) in cases {
        let mut child = engine()
            .arg("run")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the engine starts");
        child.stdin.take().expect("piped").write_all(plan.as_bytes()).expect("written");
        let output = child.wait_with_output().expect("it ends");
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{plan}: {said}");
        assert!(said.contains(expected), "{plan}: {said}");
    }
}

#[test]
fn a_closed_output_ends_the_run_and_says_so() {
    let server = Respond::start(&[]);
    let mut child = engine()
        .args(["load", &format!("ws://{}/", server.http), "-d", "30s", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the engine starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stderr).contains("the output can't be written"),
        "{}",
        text(&output.stderr)
    );
}
