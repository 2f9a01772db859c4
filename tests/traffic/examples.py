"""Files that must be accepted, by name: here, and by hurl itself.

Each file stands alone but for `base`, `user` and `password`, and a file `content.txt`.
"""

from __future__ import annotations

GIVEN = {"base": "http://127.0.0.1:8000", "user": "ann", "password": "x1"}

METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH")

FILES: dict[str, str] = {
    "one-request": "GET {{base}}/\n",
    "no-last-newline": "GET {{base}}/\nHTTP 200",
    "windows-lines": (
        "GET {{base}}/\r\nAccept: */*\r\n\r\nHTTP 200\r\n[Asserts]\r\nstatus < 300\r\n"
    ),
    "comments": "# one\n\n  # two\n\nGET {{base}}/a # three\n# four\nHTTP 200 # five\n# six\n",
    "name": (
        "# @name first page\nGET {{base}}/\nHTTP 200\n\n# said of nothing\n# @name second\n\n"
        "GET {{base}}/2\n"
    ),
    "any-status": "GET {{base}}/\nHTTP *\n",
    "version": "GET {{base}}/\nHTTP/1.1 204\n",
    "methods": "".join(f"{method} {{{{base}}}}/\nHTTP *\n\n" for method in METHODS),
    "headers": (
        "GET {{base}}/\nAccept: */*\nX-Empty:\nX-User : {{user}}\n"
        "X-Odd: a \\# b \\u{e9}\nHTTP 200\n"
    ),
    "query": "GET {{base}}/search?a=b\n[Query]\nq: two words\nuser: {{user}}\nHTTP 200\n",
    "query-longer": "GET {{base}}/search\n[QueryStringParams]\nq: x\nHTTP 200\n",
    "form": "POST {{base}}/login\n[Form]\nuser: {{user}}\npassword: {{password}}\nHTTP 302\n",
    "form-longer": "POST {{base}}/login\n[FormParams]\nuser: a&b\nHTTP 302\n",
    "basic-auth": "GET {{base}}/\n[BasicAuth]\n{{user}}: {{password}}\nHTTP 200\n",
    "options": (
        "GET {{base}}/{{page}}\n[Options]\nvariable: page=2\ndelay: 500ms\nrepeat: 3\n"
        "location: true\nmax-redirs: 5\nHTTP 200\n\n"
        "GET {{base}}/\n[Options]\nskip: true\nuser: ann:x1\nheader: X-A: b\nHTTP 200\n"
    ),
    "options-as-is": (
        "GET {{base}}/a\n[Options]\ncompressed: true\nverbose: true\nHTTP 200\n\n"
        "GET {{base}}/b\nAccept-Encoding: br\n"
        "[Options]\ncompressed: true\nhttp1.1: true\nHTTP 200\n\n"
        "GET {{base}}/c\n"
        "[Options]\ncompressed: false\nvery-verbose: false\npath-as-is: true\nHTTP 200\n"
    ),
    "json": (
        'POST {{base}}/\n{"user": "{{user}}", "n": [1, -2.5e3, true, null, "\\u00e9 \\"q\\""],\n'
        ' "empty": {}, "none": [],\n "deep": {"a": [{"b": "#no comment"}]}}\nHTTP 200\n'
    ),
    "json-list": "POST {{base}}/\n[\n  1,\n  2\n]\nHTTP 200\n",
    "json-text": 'POST {{base}}/\n"hello"\nHTTP 200\n',
    "json-number": 'POST {{base}}/\n[Options]\nvariable: n=7\n{"n": {{n}}}\nHTTP 200\n',
    "multiline": "POST {{base}}/\n```\nline one\n  {{user}} # kept\n```\nHTTP 200\n",
    "multiline-json": 'POST {{base}}/\n```json\n{"user": "{{user}}"}\n```\nHTTP 200\n',
    "multiline-xml": "POST {{base}}/\n```xml\n<a>{{user}}</a>\n```\nHTTP 200\n",
    "multiline-escape": "POST {{base}}/\n```escape\na\\tb\n```\nHTTP 200\n",
    "oneline": "POST {{base}}/\n`a {{user}} \\` b`\nHTTP 200\n",
    "base64": "POST {{base}}/\nbase64,aGVs\nbG8=;\nHTTP 200\n",
    "hex": "POST {{base}}/\nhex,636166c3a9;\nHTTP 200\n",
    "file": "POST {{base}}/\nfile,content.txt;\nHTTP 200\n",
    "response-headers": (
        "GET {{base}}/\nHTTP 200\nContent-Type: application/json\nX-User: {{user}}\n"
    ),
    "response-body": (
        'GET {{base}}/\nHTTP 200\n{"ok": true}\n\nGET {{base}}/2\nHTTP 200\n`pong`\n'
    ),
    "captures": (
        "POST {{base}}/login\nHTTP 200\n[Captures]\n"
        'token: jsonpath "$.token"\nfirst: jsonpath "$.items" nth 0\nat: header "Location"\n'
        'sid: cookie "sid"\nid: regex "id=(\\\\d+)"\nsame: regex /id=(\\d+)/\nall: body\n'
        "code: status\ninner: body regex /x=(.*)/\n\n"
        "GET {{base}}/{{id}}/{{first}}?x={{sid}}\nAuthorization: Bearer {{token}}\n"
        'HTTP 200\n[Asserts]\njsonpath "$.id" == "{{id}}"\njsonpath "$.n" == {{id}}\n'
    ),
    "queries": (
        "GET {{base}}/\nHTTP *\n[Asserts]\nstatus >= 200\nstatus < 300\n"
        'header "Content-Type" contains "json"\ncookie "sid" exists\nbody contains "x"\n'
        "bytes count == 12\njsonpath \"$.a.b[0]['c d'].e[*].f\" exists\n"
        'regex "a(b)" == "b"\nduration < 500\n'
    ),
    "filters": (
        'GET {{base}}/\nHTTP 200\n[Asserts]\njsonpath "$.a" count == 2\n'
        'jsonpath "$.a" nth 1 == 3\njsonpath "$.a[*]" nth 1 == 3\n'
        'jsonpath "$.a" jsonpath "$.b" == 1\nbody jsonpath "$.b" == 1\nbody regex /a(.)/ == "b"\n'
    ),
    "sampled": (
        "GET {{base}}/\nHTTP 200\n[Asserts]\n"
        f"sha256 == hex,{'00' * 32};\nmd5 != hex,{'00' * 16};\n"
        'jsonpath "$.a[?(@.b > 5)].c" count == 2\njsonpath "$..b" includes 1\n'
        'jsonpath "$.a[0:2]" nth 1 == 3\njsonpath "$.a" replace "x" "y" == "y"\n'
        'header "A" replace /b+/ "c" split "," nth 0 toInt == 3\n'
        'header "A" regex /x=(.*)/ urlDecode == "{{user}}"\njsonpath "$.a" toFloat > 1.5\n'
        'jsonpath "$.a" toString == "1"\njsonpath "$.a" base64Decode == hex,6869;\n'
        'jsonpath "$.a" base64Decode decode "utf-8" startsWith "h"\n'
        'bytes base64Encode exists\njsonpath "$.a" urlEncode not contains "%"\n'
        'jsonpath "$.a" jsonpath "$[?(@.b)]" count > 0\n'
    ),
    "predicates": (
        'GET {{base}}/\nHTTP 200\n[Asserts]\njsonpath "$.a" == 1\njsonpath "$.a" != null\n'
        'jsonpath "$.a" > 1\njsonpath "$.a" >= 1.5\njsonpath "$.a" < 3\njsonpath "$.a" <= "z"\n'
        'jsonpath "$.a" startsWith "x"\njsonpath "$.a" endsWith "{{user}}"\n'
        'jsonpath "$.a" contains "x"\njsonpath "$.a" includes true\n'
        'jsonpath "$.a" matches "^a\\\\d"\njsonpath "$.a" matches /^a\\/\\d/\n'
        'jsonpath "$.a" exists\njsonpath "$.a" not exists\n'
        'jsonpath "$.a" isEmpty\njsonpath "$.a" isBoolean\njsonpath "$.a" isFloat\n'
        'jsonpath "$.a" isInteger\njsonpath "$.a" isIsoDate\njsonpath "$.a" isNumber\n'
        'jsonpath "$.a" not isString\nbody == ```\ntext\n```\nbody == `text`\n'
        "body == file,content.txt;\n"
    ),
    "functions": (
        'POST {{base}}/\nX-Id: {{newUuid}}\n{"id": "{{newUuid}}", "at": "{{newDate}}"}\nHTTP 200\n'
    ),
}
