"""Messages that are nearly right, and the differences that stand."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from dataclasses import dataclass

CASES = int(os.environ.get("DIFFERENTIAL_CASES", "4000"))
SEED = int(os.environ.get("DIFFERENTIAL_SEED", "1"))


@dataclass(frozen=True)
class Known:
    """A difference, with the section that lets us do what we do."""

    section: str
    reason: str
    example: bytes
    applies: Callable[[bytes], bool]


METHODS = ["GET", "POST", "PUT", "HEAD", "get", "M-S", "G(", ""]
TARGETS = ["/", "/a?b=c", "http://h/a", "*", "h:80", "/a b", "/é", "/a#b", ""]
VERSIONS = ["HTTP/1.1", "HTTP/1.1", "HTTP/1.0", "HTTP/1.2", "HTTP/2.0", "http/1.1", "HTTP/1."]
STATUSES = ["200 OK", "404 ", "204 No", "304 X", "200", "500 \té", "600 X", "20 X", "2000 X"]
SIZES = ["5", "05", "5;a=b", "5 ;a", "5 ", "x", "", "0x5", "ffffffffffffffff1", "A"]
ENDS = ["\r\n"] * 12 + ["\n", "\r"]
FIELDS = [
    *("Content-Length: 5", "Content-Length: 5", "Content-Length: 5, 5", "Content-Length: 0"),
    *("Content-Length: +5", "Content-Length: ", "Content-Length: 5,6", "content-length:5"),
    *("Transfer-Encoding: chunked", "transfer-encoding:chunked", "Transfer-Encoding: CHUNKED"),
    *("Transfer-Encoding: gzip", "Transfer-Encoding: gzip, chunked"),
    *("Connection: close", "Connection: keep-alive", "X: y", "X:", "X: \ty \t", "X: é"),
    *("X: y\r\n z", "X : y", ": y", "X", "X(: y", "X: \0", "X: \x0b", "X: \x7f", "Host: h"),
]


def head(rng: random.Random, start: str) -> bytes:
    """A start line, some fields, a body; maybe damaged."""
    fields = "".join(rng.choice(FIELDS) + rng.choice(ENDS) for _ in range(rng.randrange(4)))
    body = "hello" if rng.random() < 0.5 else chunks(rng)
    return damaged(rng, f"{start}\r\n{fields}\r\n{body}".encode())


def request(rng: random.Random) -> bytes:
    usual = rng.random() < 0.7
    line = "POST / HTTP/1.1"
    if not usual:
        line = f"{rng.choice(METHODS)} {rng.choice(TARGETS)} {rng.choice(VERSIONS)}"
    return head(rng, line + ("\r\nHost: h" if rng.random() < 0.9 else ""))


def response(rng: random.Random) -> bytes:
    version = rng.choice(VERSIONS) if rng.random() < 0.2 else "HTTP/1.1"
    interim = "HTTP/1.1 103 X\r\nA: b\r\n\r\n" if rng.random() < 0.1 else ""
    return head(rng, f"{interim}{version} {rng.choice(STATUSES)}")


def chunks(rng: random.Random) -> str:
    sizes = [rng.choice(SIZES) if rng.random() < 0.2 else "5" for _ in range(rng.randrange(3))]
    trailers = "A: b\r\n" if rng.random() < 0.2 else ""
    return "".join(f"{size}\r\nhello\r\n" for size in sizes) + f"0\r\n{trailers}\r\n"


def frames(rng: random.Random) -> bytes:
    """What a client may send after the upgrade, masked; maybe damaged."""
    out = bytearray()
    inside = False
    for _ in range(rng.randrange(1, 6)):
        last = rng.random() < 0.6
        if rng.random() < 0.3:
            opcode, last = rng.choice([0x8, 0x9, 0xA]), True
        else:
            opcode = 0x0 if inside else rng.choice([0x1, 0x2])
            inside = not last
        out += frame(rng, (0x80 if last else 0) | opcode)
    return damaged(rng, bytes(out)) if rng.random() < 0.3 else bytes(out)


def frame(rng: random.Random, first: int) -> bytes:
    codes = [b"", b"\x03\xe8", b"\x03\xe8bye", b"\x03\xed", b"\x0b\xb8", b"\x03", b"\x03\xe8\xff"]
    texts = [b"", b"hello", "héllo".encode(), b"\xc3", b"\xa9", b"\xff", b"x" * 200]
    payload = rng.choice(codes if first & 0xF == 0x8 else texts)
    if rng.random() < 0.03:
        first = rng.randrange(256)
    length = bytes([0x80 | len(payload)])
    if len(payload) > 125 or rng.random() < 0.02:
        length = b"\xfe" + len(payload).to_bytes(2, "big")
    mask = b"\x1d\x00\x2f\x42"
    return (
        bytes([first])
        + length
        + mask
        + bytes(byte ^ mask[at % 4] for at, byte in enumerate(payload))
    )


def damaged(rng: random.Random, data: bytes) -> bytes:
    """Mostly the same; else a few bytes changed, lost, doubled or cut off."""
    out = bytearray(data)
    if rng.random() < 0.6:
        return data
    for _ in range(rng.randrange(3)):
        if not out:
            break
        at = rng.randrange(len(out))
        match rng.randrange(4):
            case 0:
                out[at] = rng.choice(b"\r\n\t :;,\0\x7f\x80")
            case 1:
                del out[at : at + rng.randrange(6)]
            case 2:
                out[at:at] = out[at : at + rng.randrange(6)]
            case _:
                del out[at:]
    return bytes(out)
