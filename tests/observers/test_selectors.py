"""Which series a URL means, and what is refused, in one line with the remedy."""

from __future__ import annotations

import pytest

from wiretrial.errors import UsageProblem
from wiretrial.observers import address, selectors
from wiretrial.observers.address import Scraped
from wiretrial.observers.selectors import Matcher

HOST = "http://metrics:9090"


@pytest.mark.parametrize(
    ("query", "selector"),
    [
        ("", "m"),
        ("?instance=web1:9100", 'm{instance="web1:9100"}'),
        ("?container=api&namespace=shop", 'm{container="api",namespace="shop"}'),
        ("?pod=~api-.*", 'm{pod=~"api-.*"}'),
        ("?pod=~api-[0-9]+", 'm{pod=~"api-[0-9]+"}'),
        ("?id=/docker/a%26b", 'm{id="/docker/a&b"}'),
        ('?name=a"b', 'm{name="a\\"b"}'),
        ("?name=a%5Cb", 'm{name="a\\\\b"}'),
    ],
)
def test_labels_are_matched_as_promql_has_them(query: str, selector: str) -> None:
    found = selectors.parse(HOST + query, "--server x")
    assert found.url == HOST
    assert selectors.select("m", *found.matchers) == selector


@pytest.mark.parametrize(
    ("query", "of_containers", "name"),
    [
        ("", False, "metrics"),
        ("?instance=web1:9100", False, "web1:9100"),
        ("?job=node", False, "metrics"),
        ("?container=api&namespace=shop", True, "api"),
        ("?name=postgres", True, "postgres"),
        ("?pod=~api-.*", True, "api-.*"),
    ],
)
def test_a_label_of_cadvisor_means_containers(query: str, of_containers: bool, name: str) -> None:
    found = selectors.parse(HOST + query, "--server x")
    assert found.is_of_containers is of_containers
    assert found.name == name


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("prometheus:metrics:9090", "no URL of a server: write prometheus:http://HOST:9090"),
        ("prometheus:ftp://metrics", "no URL of a server"),
        ("prometheus:http://metrics:99999", "no URL of a server"),
        ("prometheus:http://ann:secret@metrics", "give metrics a line in ~/.netrc"),
        ("prometheus:http://metrics?api", "write prometheus:http://HOST:9090?LABEL=VALUE"),
        ("prometheus:http://metrics?container=", "selects nothing by a label"),
        ("prometheus:http://metrics?a-b=c", "selects nothing by a label"),
        ("prometheus:http://metrics?pod=a&pod=b", "pod is given twice: write pod=~A|B"),
        ("prometheus:http://metrics#top", "leave out what follows #"),
    ],
)
def test_what_selects_nothing_is_refused(text: str, words: str) -> None:
    with pytest.raises(UsageProblem) as refused:
        address.parse(text)
    assert words in refused.value.line()
    assert "secret" not in refused.value.line()


def test_a_name_before_the_address_is_the_parts() -> None:
    found = address.parse("shop=prometheus:http://metrics:9090/prom/?container=api")
    assert isinstance(found, Scraped)
    assert found.name == "shop"
    assert selectors.parse(found.url, "x").url == "http://metrics:9090/prom"


def test_a_matcher_is_shown_as_it_is_asked() -> None:
    assert str(Matcher("container", "POD", "!=")) == 'container!="POD"'
