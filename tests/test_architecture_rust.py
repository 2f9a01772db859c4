"""Inside a crate: no two modules use each other, neither directly nor by way of others.

Reads sources as text and syntax; compiles nothing.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rust_modules import Crate, code, expand, without_tests

CRATES = Path(__file__).resolve().parent.parent / "crates"
NAMES = sorted(path.parent.name for path in CRATES.glob("*/Cargo.toml"))


@pytest.mark.parametrize("crate", NAMES)
def test_modules_of_a_crate_form_no_circle(crate: str) -> None:
    modules = Crate.read(CRATES / crate / "src")
    assert modules.uses()
    circles = modules.circles()
    assert not circles, "\n".join(circles)


def test_the_reader_sees_the_crates_as_they_are() -> None:
    uses = Crate.read(CRATES / "net" / "src").uses()
    assert {("epoll",), ("uring",)} <= uses["driver",]
    # By way of the crate's root, which lets the names through.
    assert {("ready",), ("socket",), ("error",)} <= uses["epoll",]
    assert ("uring", "states") in uses["uring", "completing"]


@pytest.mark.parametrize(
    ("files", "circles"),
    [
        pytest.param(
            {"a.rs": "use crate::b::Thing;", "b.rs": "pub struct Thing;"},
            [],
            id="one-way",
        ),
        pytest.param(
            {"a.rs": "use crate::b::Thing;", "b.rs": "use super::a;\nstruct Thing;"},
            ["a -> b -> a (a uses b; b uses a)"],
            id="two",
        ),
        pytest.param(
            {
                "a.rs": "use crate::b;",
                "b.rs": "use crate::c;",
                "c.rs": "use crate::a;",
                "d.rs": "use crate::a;",
            },
            ["a -> b -> c -> a (a uses b; b uses c; c uses a)"],
            id="three",
        ),
        pytest.param(
            {
                "lib.rs": "mod a; mod b; pub use b::Thing;",
                "a.rs": "use crate::{Thing, other};",
                "b.rs": "use crate::a; pub struct Thing;",
            },
            ["a -> b -> a (a uses b; b uses a)"],
            id="through-a-re-export",
        ),
        pytest.param(
            {
                "lib.rs": "pub use b::{self as beta, *};",
                "a.rs": "use crate::Thing;",
                "b.rs": "use crate::a; pub enum Thing {}",
                "c.rs": "use crate::beta;",
            },
            ["a -> b -> a (a uses b; b uses a)"],
            id="through-a-glob",
        ),
        pytest.param(
            {
                "a/mod.rs": "mod x; pub use x::Thing; struct Own;",
                "a/x.rs": "use super::Own; use super::y; pub struct Thing;",
                "a/y.rs": "use super::Own;",
            },
            [],
            id="a-child-and-its-ancestor",
        ),
        pytest.param(
            {"a.rs": "mod x; use x::Thing;", "a/x.rs": "use super::y;", "a/y.rs": "use super::x;"},
            ["a::x -> a::y -> a::x (a::x uses a::y; a::y uses a::x)"],
            id="two-children",
        ),
        pytest.param(
            {
                "a/mod.rs": "mod x; mod y;",
                "a/x.rs": "use crate::b::{c::{self, D}, E};",
                "a/y.rs": "",
                "b/mod.rs": "struct E;",
                "b/c.rs": "use crate::a::y::{Z};\nstruct D;",
            },
            ["a -> b -> a (a::x uses b; b::c uses a::y)"],
            id="children-of-two",
        ),
        pytest.param(
            {"a.rs": "fn f() { crate::b::g(); }", "b.rs": "fn g() -> super::a::T {}"},
            ["a -> b -> a (a uses b; b uses a)"],
            id="without-a-use",
        ),
        pytest.param(
            {
                "a.rs": "use crate::b;",
                "b.rs": "// use crate::a;\n/* use crate::a; */ pub(in crate::a) struct T;"
                'const C: char = \'"\'; const D: &str = "use crate::a;"; '
                'const E: &str = r#"" use crate::a; "#;',
            },
            [],
            id="what-is-no-code",
        ),
        pytest.param(
            {
                "a.rs": "use crate::b;",
                "b.rs": "#[cfg(test)]\nmod tests { use super::*; fn f() { use crate::a; } }\n"
                "#[cfg(test)]\n#[allow(unused)]\npub(crate) use crate::a::{X, Y};",
                "b/tests.rs": "use crate::a;",
            },
            [],
            id="tests-of-a-module",
        ),
        pytest.param(
            {
                "a.rs": "use crate::b::flags;",
                "b.rs": "pub mod flags { use super::Own; use super::super::a; } struct Own;",
            },
            ["a -> b -> a (a uses b; b uses a)"],
            id="a-module-within-a-file",
        ),
        pytest.param(
            {"a.rs": "use std::b::T; use b::T; use serde::a;", "b.rs": "use crate::a;"},
            [],
            id="other-crates",
        ),
        pytest.param(
            {"a.rs": "use crate::b;", "b.rs": "use crate::c;", "c.rs": "use c::b; use crate::b;"},
            ["b -> c -> b (b uses c; c uses b)"],
            id="a-circle-that-others-only-lead-to",
        ),
    ],
)
def test_circles_are_found_where_there_are_some(files: dict[str, str], circles: list[str]) -> None:
    assert Crate({"lib.rs": "", **files}).circles() == circles


@pytest.mark.parametrize(
    ("tree", "paths"),
    [
        ("crate::a::B", ["crate::a::B = B"]),
        ("super::a::B as C", ["super::a::B = C"]),
        ("self::a::*", ["self::a = *"]),
        ("a::{self, B, c::{D, E as F}}", ["a = a", "a::B = B", "a::c::D = D", "a::c::E = F"]),
        ("{a::B,\n    c,\n}", ["a::B = B", "c = c"]),
        ("a::{self as b, *}", ["a = b", "a = *"]),
    ],
)
def test_a_use_is_read_with_all_its_branches(tree: str, paths: list[str]) -> None:
    assert [f"{'::'.join(path)} = {name}" for path, name in expand(tree)] == paths


def test_what_is_no_code_goes_and_lines_stay() -> None:
    text = "a /* b\n{ */ '{' 'x b'{' r\"{\" \"\\\"{\" // {\nc"
    assert "{" not in code(text)
    assert code(text).count("\n") == text.count("\n")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("#[cfg(test)]\nmod tests { fn f() { {} } }\nfn g() {}", "fn g() {}"),
        ("#[cfg(test)]\nfn f(a: [u8; 4]) { b(a); }\nfn g() {}", "fn g() {}"),
        ("#[cfg(test)]\nuse a::{b, c};\nfn g() {}", "fn g() {}"),
        ("struct A { b: u8, #[cfg(test)] c: u8 }\nfn g() {}", "struct A { b: u8, }\nfn g() {}"),
        # The file is read, so that circles within it are found too.
        ("#[cfg(test)]\nmod world;\nfn g() {}", "mod world;\nfn g() {}"),
    ],
)
def test_what_is_for_tests_goes_and_nothing_else_does(text: str, left: str) -> None:
    assert without_tests(text).split() == left.split()
