"""The report of a study of gRPC: what is counted are calls, and of streams messages too."""

from __future__ import annotations

import pytest

from tests.report import synthetic_calls
from tests.report.test_report_page import compared, shown
from tests.report.test_report_text import golden
from wiretrial.report import metrics, sent, text
from wiretrial.report.model import ReportModel


@pytest.fixture(scope="module")
def calls() -> ReportModel:
    return synthetic_calls.report()


def test_a_study_of_calls_speaks_of_calls(calls: ReportModel) -> None:
    found = text.render(calls, width=110)
    golden("calls.txt", found)
    assert "calls/s" in found
    assert "per call" in found
    assert "requests" not in found


def test_its_page_has_what_a_message_of_a_stream_costs(calls: ReportModel) -> None:
    found = shown(calls)
    compared("calls.page", found)
    assert "Messages of streams" in found
    assert "Server CPU per message of a stream" in found


def test_what_was_sent_is_told_in_bytes_of_a_message(calls: ReportModel) -> None:
    told = dict(sent.rows(calls))
    assert "over grpc, 64 bytes of payload, 10 connections, 10 streams on each" in told["Sent"]
    assert "request: /wiretrial.Echo/Bidi and /wiretrial.Echo/Unary" in told["Varied"]


def test_messages_are_told_where_the_server_streams(calls: ReportModel) -> None:
    for scenario in calls.scenarios:
        streamed = scenario.median(metrics.STREAMED)
        if scenario.levels["call"] == "unary":
            assert streamed is None
            assert scenario.median(metrics.SERVER_STREAMED) is None
            continue
        calls_rate, of_call = scenario.median(metrics.THROUGHPUT), scenario.median(metrics.SERVER)
        assert calls_rate is not None
        assert of_call is not None
        assert streamed == pytest.approx(calls_rate * synthetic_calls.MESSAGES)
        assert scenario.median(metrics.SERVER_STREAMED) == pytest.approx(
            of_call / synthetic_calls.MESSAGES
        )
