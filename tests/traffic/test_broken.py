"""Broken files: the place, what happened, the remedy; one line, exit code 2."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from wiretrial.cli import app
from wiretrial.errors import EXIT_USAGE

FLOW = '[[flow]]\nfile = "x.hurl"\n'
GET = "GET http://h/\n"
LINE = re.compile(r"wiretrial: (?P<line>[^ :]+:[0-9]+:[0-9]+: \S.*: \S.*)")
"""File, line, column, what is wrong, what to write instead."""
ASSERTS = f"{GET}HTTP 200\n[Asserts]\n"

# What stands in x.hurl, and the line that tells of it.
HURL = [
    ("", "x.hurl:1:1: there is no request: write a line such as GET http://..."),
    ("get http://h/\n", "x.hurl:1:1: a method is written in capitals, not get: write GET"),
    ("GET\n", "x.hurl:1:1: GET without a URL: write GET http://..."),
    ("HTTP 200\n", "x.hurl:1:1: a response without a request: write a line such as GET"),
    (f"{GET}HTTP\n", "x.hurl:2:1: HTTP without a status: write HTTP 200, or HTTP * for any"),
    (f"{GET}HTTP ok\n", "x.hurl:2:6: `ok` is no status: write a number such as 200"),
    (f"{GET}HTTP 200 OK\n", "x.hurl:2:10: `OK` can't stand here: leave it out"),
    (f"{GET}HTTP 700\n", "x.hurl:2:6: 700 is no status: write a number from 100 to 599"),
    (f"{GET}HTTP/2 200\n", "x.hurl:2:1: HTTP/2 is not spoken: write HTTP, for any version"),
    (f"{GET}Accept */*\n", "x.hurl:2:1: `Accept */*` can't stand here: write a line `name: value`"),
    (f"{GET}[Asserts]\nstatus == 200\n", "x.hurl:2:1: [Asserts] can't stand here: it belongs to a"),
    (
        f"{GET}HTTP 200\n[Query]\na: b\n",
        "x.hurl:3:1: [Query] can't stand here: it belongs to a req",
    ),
    (f"{GET}[Optons]\n", "x.hurl:2:1: there is no section [Optons]: did you mean Options?"),
    (f"{GET}[Query]\na: b\n[Query]\nc: d\n", "x.hurl:4:1: a second section [Query]: write its lin"),
    (f"{GET}[Multipart]\na: b\n", "x.hurl:2:1: section Multipart is not supported: write the body"),
    (f"{GET}[Options]\nretri: 1\n", "x.hurl:3:1: there is no option retri: did you mean retry?"),
    (f"{GET}[Options]\nretry: 1\n", "x.hurl:3:1: option retry is not supported: leave it out"),
    (f"{GET}[Options]\nrepeat: x\n", "x.hurl:3:9: repeat: x: write a number from 1 to 1000"),
    (f"{GET}[Options]\nskip: yes\n", "x.hurl:3:7: skip: yes: write true or false"),
    (f"{GET}[Options]\ncompressed: yes\n", "x.hurl:3:13: compressed: yes: write true or false"),
    (f"{GET}[Options]\nhttp1.1: false\n", "x.hurl:3:10: http1.1: false: leave it out: it is true"),
    (f"{GET}[Options]\nskip: true\n", "x.hurl:1:1: x.hurl has no request left: skip fewer entries"),
    (f"{GET}[Options]\ndelay: soon\n", "x.hurl:3:8: delay soon: not a duration: write a duration"),
    (
        f"{GET}[Options]\nvariable: x\n",
        "x.hurl:3:1: variable without =: write variable: name=value",
    ),
    (f"{GET}<a/>\n", "x.hurl:2:1: a body of XML is not supported as it is: put it between ```xml"),
    (f'{GET}{{"a": 1,}}\n', "x.hurl:2:9: `}` can't stand here: write a text in quotation marks"),
    (f'{GET}{{"a": 1 # one\n}}\n', "x.hurl:2:9: a comment inside JSON: leave it out"),
    (f"{GET}```\nabc\n", "x.hurl:2:1: ``` is not closed: write ``` behind the text"),
    (
        f"{GET}```graphql\nabc\n```\n",
        "x.hurl:2:1: body ```graphql is not supported: send it as JSON",
    ),
    (f"{GET}```novariable\nabc\n```\n", "x.hurl:2:1: attribute novariable of ``` is not supp"),
    (f"{GET}base64,a$b;\n", "x.hurl:2:1: not base64: Only base64 data is allowed: correct it"),
    (f"{GET}hex,ff0;\n", "x.hurl:2:1: not hexadecimal digits in pairs: write hex,636166c3a9;"),
    (f"{GET}hex,ff;\n", "x.hurl:2:1: bytes that are not UTF-8 text: only text can be sent"),
    (f"{GET}file,none.txt;\n", "x.hurl:2:1: none.txt: No such file or directory: name a file"),
    (f"{GET}file,../x.txt;\n", "x.hurl:2:1: ../x.txt is not beside this file: copy it into this"),
    (f"{GET}[Form]\na: b\n`c`\n", "x.hurl:4:1: a body beside [Form]: keep one of them"),
    (
        f"{GET}Host: other\n",
        "x.hurl:2:1: the header Host is the load generator's own: leave it out",
    ),
    (f"{GET}A: \\q\n", "x.hurl:2:4: there is no escape \\q: write \\\\ for a backslash"),
    (
        f"{GET}# @name a\nHTTP 200\n",
        "x.hurl:2:1: @name names no request: write it in a line before",
    ),
    (
        f"# @name {'a' * 201}\n{GET}",
        "x.hurl:2:1: @name is longer than 200 bytes: write a shorter one",
    ),
    ("# @name\nGET http://h/\n", "x.hurl:1:1: @name without a name: write # @name NAME"),
    (
        f"# @name a\n{GET}\n# @name a\nPOST http://h/\n",
        "x.hurl:5:1: @name a is another request's, too",
    ),
    ("GET http://h/{{a b}}\n", "x.hurl:1:14: {{a b}} is more than a name: write a name of letters"),
    ("GET http://h/{{a\n", "x.hurl:1:14: {{ is not closed: write }} behind the name"),
    (
        "GET {{base}}/\n",
        'x.hurl:1:5: {{base}} has no value: nothing captures it: write base = "htt',
    ),
    ("GET /items\n", "x.hurl:1:5: /items is no URL: begin it with http:// or {{base}}"),
    ("GET http://{{seq}}/\n", "x.hurl:1:5: the host is known only in the run: write the host as a"),
    ("GET http://h{{seq}}\n[Query]\na: b\n", "x.hurl:3:1: [Query] behind a whole path: write &na"),
    ("GET ftp://h/\n", "x.hurl:1:5: ftp is not sent: use http:// or https://"),
    ("GET http://ann:x@h/\n", "x.hurl:1:5: a user name in a URL: write a section [BasicAuth]"),
    ("GET http://h/a b\n", "x.hurl:1:5: a space in a URL: write %20"),
    ("GET http://h:99999/\n", "x.hurl:1:5: http://h:99999: Port out of range 0-65535: correct the"),
    (
        f"{GET}\nGET http://g/\n",
        "x.hurl:3:1: http://g is another server than http://h (x.hurl:1:1)",
    ),
    ("GET http://h/{{tokn}}\n", "x.hurl:1:14: {{tokn}} has no value: nothing captures it: capture"),
    (
        f"GET http://h/{{{{t}}}}\nHTTP 200\n\n{GET}HTTP 200\n[Captures]\nt: body\n",
        "x.hurl:1:14: {{t}} is captured in line 7, for the entries behind it: use it in",
    ),
    (
        f"{GET}HTTP 200\n[Captures]\ntoken: body\n\nGET http://h/{{{{tokn}}}}\n",
        "x.hurl:6:14: {{tokn}} has no value: nothing captures it: did you mean token?",
    ),
    (f"{GET}HTTP 200\n[Captures]\nt: bytes\n", "x.hurl:4:4: bytes can't be captured: use body"),
    (f"{GET}HTTP 200\n[Captures]\nt body\n", "x.hurl:4:1: `t body` can't stand here: write a line"),
    (f"{ASSERTS}stats == 1\n", "x.hurl:4:1: there is no query stats: did you mean status?"),
    (
        f'{ASSERTS}xpath "//a" exists\n',
        "x.hurl:4:1: query xpath is not supported: use body contains",
    ),
    (f"{ASSERTS}status = 1\n", "x.hurl:4:8: = compares nothing: write =="),
    (f"{ASSERTS}status==1\n", "x.hurl:4:7: no space before ==: write a space there"),
    (f"{ASSERTS}status == 1 2\n", "x.hurl:4:13: 2 is too much: a line has one predicate"),
    (f"{ASSERTS}status\n", "x.hurl:4:7: a predicate is missing: write one, such as exists"),
    (f"{ASSERTS}status == 2e2\n", "x.hurl:4:11: 2e2 has an exponent: write the number without it"),
    (f"{ASSERTS}status > true\n", "x.hurl:4:10: > compares numbers and texts: write a number"),
    (f"{ASSERTS}body lenght == 1\n", "x.hurl:4:6: there is no filter or predicate lenght: use one"),
    (f"{ASSERTS}body startsWith 1\n", "x.hurl:4:17: body is a text: write it in quotation marks"),
    (f'{ASSERTS}jsonpath "$" startsWith 1\n', "x.hurl:4:25: not a text: write it in quotation"),
    (f"{ASSERTS}status contains 2\n", "x.hurl:4:8: status is a number: compare it with one"),
    (f'{ASSERTS}status == "200"\n', "x.hurl:4:8: status is a number: compare it with one"),
    (f'{ASSERTS}jsonpath "$" count isEmpty\n', "x.hurl:4:20: count is a number: compare it with"),
    (f'{ASSERTS}header "A" includes "b"\n', "x.hurl:4:12: header is a text, and no list: write"),
    (f'{ASSERTS}header "A" isInteger\n', "x.hurl:4:12: header is always a text: compare it, or"),
    (f"{ASSERTS}bytes == 1\n", "x.hurl:4:1: bytes are counted, decoded or encoded only: write"),
    (f"{ASSERTS}duration > 5\n", "x.hurl:4:1: duration is a goal here: write duration < 500"),
    (f"{ASSERTS}jsonpath exists\n", "x.hurl:4:10: jsonpath without a text: write a text in quota"),
    (
        f'{ASSERTS}jsonpath "a.b" exists\n',
        "x.hurl:4:11: a.b is no path: begin it with $, such as $",
    ),
    (
        f'{GET}HTTP 200\n[Captures]\nt: jsonpath "$.a..b"\n',
        "x.hurl:4:4: what jsonpath makes of a reply can't be captured here: capture it with",
    ),
    (
        f'{GET}HTTP 200\n[Captures]\nt: header "A" replace "b" "c"\n',
        "x.hurl:4:15: what replace makes of a reply can't be captured here",
    ),
    (f'{ASSERTS}jsonpath "$.a[?(@.b]" exists\n', "x.hurl:4:20: ] has no other half: write it, or"),
    (f'{ASSERTS}jsonpath "$.a[?@.b" exists\n', "x.hurl:4:14: [ is not closed: write ] behind it"),
    (f'{ASSERTS}jsonpath "$.a[b]" exists\n', "x.hurl:4:14: [b] can't stand in a path: write $.na"),
    (f'{ASSERTS}sha256 == "ab"\n', "x.hurl:4:8: sha256 makes bytes: compare them: == hex,00ff;"),
    (f"{ASSERTS}md5 count == 1\n", "x.hurl:4:5: count can't follow a digest: use it behind"),
    (f'{ASSERTS}header "A" split "," nth 0 toInt == "1"\n', "x.hurl:4:34: toInt is a number: co"),
    (f'{ASSERTS}status replace "2" "3" == "3"\n', "x.hurl:4:8: replace can't follow a number: use"),
    (f'{ASSERTS}body split "" count == 1\n', "x.hurl:4:12: an empty text: write what stands in"),
    (f'{ASSERTS}bytes decode "latin1" == "a"\n', "x.hurl:4:14: latin1 can't be decoded: write"),
    (f'{ASSERTS}jsonpath "$.x == 1\n', 'x.hurl:4:10: " is not closed: write " behind the text'),
    (f'{ASSERTS}regex "a" exists\n', "x.hurl:4:7: the pattern has no group: put what is wanted in"),
    (f"{ASSERTS}body matches /a(/\n", "x.hurl:4:14: pattern: missing ), unterminated subpattern"),
    (
        f"{ASSERTS}body matches /a(?=b)/\n",
        "x.hurl:4:14: (?= is no part of a pattern here: write it",
    ),
    (f'{ASSERTS}cookie "a[Path]" exists\n', "x.hurl:4:8: attributes of a cookie can't be checked"),
    (f"{GET}HTTP 200\nA: b\nA: c\n", "x.hurl:4:1: A is given twice: keep one: the first field is"),
]

# What stands in t.toml, beside a sound x.hurl and u.csv.
TOML = [
    ("x =\n", "t.toml:1:4: invalid value: correct the TOML"),
    ('base = "http://h\n', "t.toml:1:17: illegal character '\\n': correct the TOML"),
    ("", "t.toml:1:1: flow: it is missing: write it"),
    ("flow = []\n", "t.toml:1:1: flow: it is empty: write one"),
    ("[[flow]]\n", "t.toml:1:1: a flow without file and url: write file ="),
    (f"{FLOW}wieght = 3\n", "t.toml:3:1: there is no key wieght: did you mean weight?"),
    (f"lod = 1\n{FLOW}", "t.toml:1:1: there is no key lod: did you mean load?"),
    (f"{FLOW}weight = 0\n", "t.toml:3:1: weight 0: write a whole number from 1 to 1,000,000"),
    (
        f'{FLOW}weight = "3"\n',
        "t.toml:3:1: flow.weight: not a whole number: write a number such as",
    ),
    ('[[flow]]\nfile = "no.hurl"\n', "t.toml:2:1: no.hurl: No such file or directory: name a"),
    (f'{FLOW}think = "normal 2s"\n', 't.toml:3:1: think "normal 2s": no such distribution: did yo'),
    (f'{FLOW}think = "uniform 2s"\n', 't.toml:3:1: think "uniform 2s": not the numbers of uniform'),
    (f'{FLOW}think = "uniform 2s 1s"\n', 't.toml:3:1: think "uniform 2s 1s": from more to less'),
    (f'{FLOW}think = "2 parsecs"\n', "t.toml:3:1: think 2 parsecs: no such unit of time: did you"),
    (f'{FLOW}think = "lognormal 2s x"\n', 't.toml:3:1: think "lognormal 2s x": x is no standard'),
    (f'{FLOW}feed = "no.csv"\n', "t.toml:3:1: no.csv: No such file or directory: name a .csv"),
    (f'{FLOW}feed = "x.hurl"\n', "t.toml:3:1: x.hurl is neither .csv nor .jsonl: name the file by"),
    (
        f'{FLOW}feed = {{file = "u.csv", order = "uniqe"}}\n',
        't.toml:3:25: flow.feed.order: "uniqe" is none of',
    ),
    (f"{FLOW}{FLOW}", "t.toml:3:1: a second flow x: give it another name"),
    (
        f'{FLOW}feed = {{file = "u.csv", order = "unique"}}\n[load]\nusers = 2\n',
        "t.toml:3:1: 1 rows for 2 users, of which each needs its own: add rows, lower users",
    ),
    (f'sample = "2"\n{FLOW}', 't.toml:1:1: sample = "2": write a share, such as sample = "1%"'),
    (f'{FLOW}[load]\nusers = 5\narrivals = "2/s"\n', "t.toml:4:1: arrivals and users exclude each"),
    (f"{FLOW}[load]\nusers = 0\n", "t.toml:4:1: 0 users: write a number such as 500"),
    (f'{FLOW}[load]\narrivals = "fast"\n', "t.toml:4:1: arrivals fast: not messages per second"),
    (f'{FLOW}[load]\nusers = 5\npacing = "poisson"\n', "t.toml:5:1: pacing is of arrivals: leave"),
    (
        f'{FLOW}[load]\npacing = "posson"\n',
        't.toml:4:1: load.pacing: "posson" is none of them: did you mean poisson?',
    ),
    (
        f'{FLOW}[load]\nstages = [{{for = "1s", to = 5}}, {{for = "1s", to = "5/s"}}]\n',
        "t.toml:4:46: users and arrivals in the stages of one load: write numbers (users)",
    ),
    (
        f'{FLOW}[goal]\n"logn.p99" = "< 5ms"\n',
        "t.toml:4:1: there is no route or flow logn: did you",
    ),
    (
        f'{FLOW}[goal]\n"login.p98" = "< 5ms"\n',
        "t.toml:4:1: there is no figure p98: use one of p50",
    ),
    (f'{FLOW}[goal]\nerrors = "low"\n', 't.toml:4:1: "low" is no bound: write it as "< 50ms"'),
    (
        f'{FLOW}[goal]\n"login.p99" = "< 5x"\n',
        "t.toml:4:1: p99 5x: no such unit of time: use ns, u",
    ),
    (
        f'[variables]\na = "{{{{b}}}}"\nb = "{{{{a}}}}"\n{FLOW}',
        "t.toml:2:1: variables name each other in a circle: a -> b -> a: write one as a text",
    ),
    (
        f'base = "{{{{hots}}}}"\n{FLOW}',
        "t.toml:1:1: base names {{hots}}, which is no variable: add",
    ),
    (f'base = "x"\n{FLOW}[variables]\nbase = "y"\n', "t.toml:5:1: base is given twice: keep the"),
]

# What stands in u.csv, or in u.jsonl where it begins with a brace.
CHECK = "check.x.schema = 's.json'\n"

# What stands in t.toml before the flow, what in s.json, and the line that tells of it.
SCHEMAS = [
    (
        "check.x.schema = 'no.json'\n",
        "{}",
        "t.toml:1:1: no.json: No such file or directory: name a",
    ),
    ("check.y.schema = 's.json'\n", "{}", "t.toml:1:1: there is no route y: use one of x"),
    ("check.x.shema = 's.json'\n", "{}", "t.toml:1:1: there is no key shema: did you mean schema?"),
    ("check.x.schema = 5\n", "{}", "t.toml:1:1: check.x.schema: not a text: write it in quot"),
    ("[check.x]\n", "{}", 't.toml:1:1: x: no schema: write schema = "FILE.json"'),
    (CHECK, "{", "s.json:1:2: not JSON: Expecting property name enclosed in double quotes: "),
    (CHECK, '{"minimum": 1e999}', "s.json:1:13: 1e999 is no number of JSON: correct it"),
    (CHECK, '{"minimum": NaN}', "s.json:1:13: NaN is no number of JSON: correct it"),
    (CHECK, "[" * 100_000, "s.json:1:1: nested too deeply: flatten the schema"),
    (CHECK, "[]", "s.json:1:1: #: no schema: write an object, or true"),
    (
        CHECK,
        '{"properties": {\n  "a": {"items": {},\n    "uniqueItems": true}}}',
        "s.json:3:5: #/properties/a: uniqueItems is not checked in each reply: leave",
    ),
]

FEEDS = [
    ("", "u.csv:1:1: an empty file: write the names of columns first"),
    ("user\n", "u.csv:1:1: no rows of data: write a row for each session"),
    ("user,\nann,\n", "u.csv:1:1: column 2 has no name: write names in the first row"),
    ("user,user\na,b\n", "u.csv:1:1: two columns user: rename one of them"),
    ("user,n\nann,1\nbob\n", "u.csv:3:1: 1 values for 2 columns: write one value for each column"),
    ('user\n"ann\n', "u.csv:2:1: not CSV: unexpected end of data: correct the row"),
    (
        "name\nann\n",
        "x.hurl:2:20: {{user}} has no value: nothing captures it, and u.csv has no such",
    ),
    ("user,id\nann,1\n", "x.hurl:5:1: id is a column of u.csv, too: give the capture another name"),
    (
        '{"user": "ann"}\n{"usr": "b"}\n',
        "u.jsonl:2:1: user is not in every row: write the same mem",
    ),
    ("{]\n", "u.jsonl:1:1: not JSON: Expecting property name enclosed in double quotes"),
    ('{"user": 1}\n[]\n', 'u.jsonl:2:1: not an object: write lines such as {"user": "ann"}'),
]


TALK = '[[flow]]\nurl = "ws://h/chat"\n'
SAYS = """{send = "x", reply = {text = "y"}}"""
HEARS = "{await = {text = 'x'}, capture = {t = '$'}}"
ONE = f"step = [{SAYS}]\n"

# What stands in t.toml, of conversations, and the line that tells of it.
CONVERSATIONS = [
    (f"{TALK}", "t.toml:1:1: a conversation without steps: write step = [...]"),
    (f"{TALK}step = []\n", "t.toml:3:1: flow.step: it is empty: write one"),
    (f"{FLOW}{ONE}", "t.toml:3:1: step of a file: write url ="),
    (f'{FLOW}unasked = "fail"\n', "t.toml:3:1: unasked of a file: leave it out"),
    (f'{FLOW}headers = {{A = "b"}}\n', "t.toml:3:1: headers of a file: write them in the file"),
    (f'{TALK}file = "x.hurl"\n{ONE}', "t.toml:3:1: file of a conversation: write the url"),
    (f'{TALK}think = "2s"\n{ONE}', 't.toml:3:1: think of a conversation: write {think = "2s"}'),
    (f"{TALK}cookies = true\n{ONE}", "t.toml:3:1: cookies of a conversation: leave it out"),
    (f'{TALK}unasked = "cont"\n{ONE}', 't.toml:3:1: flow.unasked: "cont" is none of them: did'),
    (f"{TALK}weight = 0\n{ONE}", "t.toml:3:1: weight 0: write a whole number from 1 to"),
    (f"{FLOW}{TALK}{ONE}", "t.toml:3:1: requests and conversations in one file: write a file f"),
    (
        f'{TALK}{ONE}[[flow]]\nname = "b"\nurl = "ws://g/"\n{ONE}',
        "t.toml:6:1: ws://g is another server than ws://h (",
    ),
    (f"{TALK}{ONE}{TALK}{ONE}", "t.toml:4:1: a second flow chat: give it another name"),
    (f"[[flow]]\nurl = 'http://h/'\n{ONE}", "t.toml:2:1: http is not sent: use ws:// or wss://"),
    (f"[[flow]]\nurl = '/chat'\n{ONE}", "t.toml:2:1: /chat is no URL: begin it with ws:// or"),
    (f"[[flow]]\nurl = 'ws:///a'\n{ONE}", "t.toml:2:1: ws:// names no host: write ws://HOST/"),
    (
        f"[[flow]]\nurl = 'ws://h/{{{{t}}}}'\nstep = [{HEARS}]\n",
        "t.toml:2:1: {{t}} is captured in line 3, for the steps behind it: use it in a later step",
    ),
    (f"{TALK}step = [{{}}]\n", "t.toml:3:9: a step that does nothing: write one of send, await"),
    (f"{TALK}step = [{{snd = 'x'}}]\n", "t.toml:3:10: there is no key snd: did you mean send?"),
    (
        f"{TALK}step = [{{send = 'x', think = '1s'}}]\n",
        "t.toml:3:9: send and think in one step: write one of send, await, think and repeat",
    ),
    (f"{TALK}step = [{{send = ''}}]\n", "t.toml:3:10: an empty message: write what is sent"),
    (f"{TALK}step = [{{think = 'soon'}}]\n", 't.toml:3:9: think "soon": no such distribution'),
    (f"{TALK}step = [{{think = '1s'}}]\n", "t.toml:3:1: no step says or awaits anything: write"),
    (
        f"{TALK}step = [{SAYS}, {{think = '1s'}}, {{think = '1s'}}]\n",
        "t.toml:3:61: two think times in a row: write their sum in one",
    ),
    (
        f"{TALK}step = [{{await = {{text = 'x'}}, reply = {{text = 'y'}}}}]\n",
        "t.toml:3:32: a reply to await: write it beside send",
    ),
    (
        f"{TALK}step = [{{send = 'x', check = {{text = 'y'}}}}]\n",
        "t.toml:3:22: check without a message that is awaited: write it beside await or reply",
    ),
    (
        f"{TALK}step = [{{send = 'x', capture = {{a = '$'}}}}]\n",
        "t.toml:3:22: capture without a message that is awaited: write it beside await or reply",
    ),
    (f"{TALK}step = [{{think = '1s', name = 'x'}}]\n", "t.toml:3:24: a name of think: leave it"),
    (f"{TALK}step = [{{send = 'x', name = ''}}]\n", "t.toml:3:22: a name has 1 to 200 bytes: wr"),
    (
        f"{TALK}step = [{{send = 'x', name = 'a'}}, {{send = 'y', name = 'a'}}]\n",
        "t.toml:3:35: a is another step's name, too (t.toml:3:9): give each its own name",
    ),
    (f"{TALK}step = [{{await = {{}}}}]\n", "t.toml:3:10: it says nothing of the message: write {j"),
    (
        f"{TALK}step = [{{await = {{jsn = {{}}}}}}]\n",
        "t.toml:3:19: there is no key jsn: did you mean json?",
    ),
    (
        f"{TALK}step = [{{await = {{json = {{'a' = 1}}}}}}]\n",
        "t.toml:3:27: a is no path: begin it with $, such as $.id",
    ),
    (
        f"{TALK}step = [{{await = {{json = {{'$..a' = 1}}}}}}]\n",
        "t.toml:3:27: .. (at any depth) is not supported: write the whole path",
    ),
    (
        f"{TALK}step = [{{await = {{json = {{'$.a' = '{{{{b}}}}'}}}}}}]\n",
        "t.toml:3:27: {{b}} has no value: nothing captures it: capture it in an earlier step",
    ),
    (f"{TALK}step = [{{await = {{matches = '('}}}}]\n", "t.toml:3:19: pattern: missing ), unterm"),
    (
        f"{TALK}step = [{{await = {{matches = '(?=a)'}}}}]\n",
        "t.toml:3:19: (?= is no part of a pattern here: write it without looking around",
    ),
    (
        f"{TALK}step = [{{await = {{text = 'x'}}, capture = {{t = 'token'}}}}]\n",
        "t.toml:3:43: token is no path: begin it with $, such as $.id",
    ),
    (
        f"{TALK}step = [{{send = '{{{{t}}}}'}}, {HEARS}]\n",
        "t.toml:3:10: {{t}} is captured in line 3, for the steps behind it: use it in a later step",
    ),
    (
        f"{TALK}step = [{SAYS}, {{repeat = '2'}}]\n",
        't.toml:3:46: repeat "2": write "from 2", or "from 2, 10 times"',
    ),
    (
        f"{TALK}step = [{SAYS}, {{repeat = 'from 2'}}]\n",
        "t.toml:3:46: repeat from 2: steps are counted from 1, and repeats do not nest: write a",
    ),
    (
        f"{TALK}step = [{SAYS}, {{repeat = 'from 1, 2 times'}}, {{repeat = 'from 1, 2 times'}}]\n",
        "t.toml:3:76: repeat from 1: steps are counted from 1, and repeats do not nest: leave it",
    ),
    (
        f"{TALK}step = [{SAYS}, {{repeat = 'from 1, 0 times'}}]\n",
        "t.toml:3:46: 0 times: write a number such as 10",
    ),
    (
        f"{TALK}step = [{{send = 'x'}}, {{repeat = 'from 1'}}]\n",
        "t.toml:3:24: the steps that are repeated wait for nothing: write a reply, an await or a",
    ),
    (
        f"{TALK}step = [{SAYS}, {{repeat = 'from 1'}}, {SAYS}]\n",
        't.toml:3:66: a step behind a repeat that never ends: write "from 1, 10 times" in the rep',
    ),
    (
        f"{TALK}step = [{{think = '1s'}}, {SAYS}, {{think = '1s'}}, {{repeat = 'from 1'}}]\n",
        "t.toml:3:78: two think times in a row: write their sum in one",
    ),
    (
        f"{TALK}step = [{SAYS}, {{repeat = 'from 1'}}]\n[load]\narrivals = '5/s'\n",
        't.toml:3:46: sessions that never end, and arrivals: write "from 1, 10 times", or users',
    ),
]


Tell = Callable[..., str]


@pytest.fixture
def told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Tell:
    """Writes files, gives the first to the command, and returns the one line that it says."""

    def told(files: dict[str, str], *options: str) -> str:
        for name, content in files.items():
            (tmp_path / name).write_text(content, encoding="utf-8")
        first = str(tmp_path / next(iter(files)))
        monkeypatch.setattr("sys.argv", ["wiretrial", "traffic", "check", first, *options])
        code = app.run()
        said = capsys.readouterr()
        assert code == EXIT_USAGE
        assert said.out == ""
        (line,) = said.err.splitlines()
        found = LINE.fullmatch(line.replace(f"{tmp_path}/", ""))
        assert found, line
        return found["line"]

    return told


@pytest.mark.parametrize(("source", "wanted"), CONVERSATIONS)
def test_broken_conversations(told: Tell, source: str, wanted: str) -> None:
    files = {"t.toml": source, "x.hurl": GET}
    assert_begins(told(files), wanted)


@pytest.mark.parametrize(("source", "wanted"), HURL)
def test_broken_hurl(told: Tell, source: str, wanted: str) -> None:
    assert_begins(told({"x.hurl": source}), wanted)


@pytest.mark.parametrize(("source", "wanted"), TOML)
def test_broken_toml(told: Tell, source: str, wanted: str) -> None:
    files = {
        "t.toml": source,
        "x.hurl": "# @name login\nGET http://h/\nHTTP 200\n",
        "y.hurl": 'POST http://h/\n{"name": {{name}}}\nHTTP 200\n',
        "u.csv": "user\nann\n",
    }
    assert_begins(told(files), wanted)


@pytest.mark.parametrize(
    ("source", "schema", "wanted"), SCHEMAS, ids=[wanted for *_, wanted in SCHEMAS]
)
def test_broken_schemas(told: Tell, source: str, schema: str, wanted: str) -> None:
    files = {
        "t.toml": f"{source}{FLOW}",
        "x.hurl": "# @name x\nGET http://h/\nHTTP 200\n",
        "s.json": schema,
    }
    assert_begins(told(files), wanted)


@pytest.mark.parametrize(("source", "wanted"), FEEDS)
def test_broken_feeds(told: Tell, source: str, wanted: str) -> None:
    name = "u.jsonl" if source.startswith("{") else "u.csv"
    files = {
        "t.toml": f'{FLOW}feed = "{name}"\n',
        "x.hurl": "\nGET http://h/?user={{user}}\nHTTP 200\n[Captures]\nid: body\n",
        name: source,
    }
    assert_begins(told(files), wanted)


def test_a_file_that_is_not_utf8(told: Tell, tmp_path: Path) -> None:
    (tmp_path / "x.hurl").write_bytes(b"GET http://h/\nA: \xff\n")
    line = told({"t.toml": FLOW})
    assert_begins(line, "x.hurl:2:4: not UTF-8 text: save the file as UTF-8")


def test_a_request_without_a_response_part_can_be_refused(told: Tell) -> None:
    line = told({"x.hurl": f"{GET}HTTP 200\n\n{GET}"}, "--no-learn")
    assert_begins(line, "x.hurl:4:1: GET / (2) has no response part")
    assert line.endswith("write a line such as HTTP 200 behind it, or leave out --no-learn")


def assert_begins(line: str, wanted: str) -> None:
    assert line.startswith(wanted), line


def test_there_are_enough() -> None:
    tables = (HURL, TOML, FEEDS, CONVERSATIONS)
    assert len({source for table in tables for source, _ in table}) >= 150
