// What the contract `web` says of rows, counts and pages: the same for every C++ framework.
//
// Pure. Knows numbers and HTML; must not know a database, a library of HTTP, or JSON.

#pragma once

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace wiretrial::web {

constexpr int ROWS = 10'000;
constexpr int STEP = 7919;
constexpr int MOST = 100;
constexpr char GREETING[] = "Hello, World!";
constexpr char ADDED_FORTUNE[] = "One more fortune, made while you wait.";
constexpr char TEXT[] = "text/plain";
constexpr char HTML[] = "text/html; charset=utf-8";
constexpr char JSON[] = "application/json";

/// A row of `world` or `cached_world`.
struct Row {
    int id = 0;
    int number = 0;
};

/// A row of the page.
struct Fortune {
    int id = 0;
    std::string message;
};

/// An item of an account.
struct Item {
    int id = 0;
    std::string text;
};

/// The ids, or the new numbers, of a request for `count` rows from `first` on.
inline std::vector<int> chain(int first, int count) {
    std::vector<int> found;
    found.reserve(static_cast<std::size_t>(count));
    for (int place = 0; place < count; ++place) {
        found.push_back((first - 1 + place * STEP) % ROWS + 1);
    }
    return found;
}

/// Reads what is always a number from 1 to 10,000; 1 where a stranger says something else.
inline int number(std::string_view text) {
    int found = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, found);
    const bool is_number = read.ec == std::errc() && read.ptr == end;
    return is_number && found >= 1 && found <= ROWS ? found : 1;
}

/// How many rows a request with this count is for.
inline int clamped(std::string_view count) {
    int found = 0;
    const char* const end = count.data() + count.size();
    const auto read = std::from_chars(count.data(), end, found);
    if (read.ptr != end || read.ec == std::errc::invalid_argument) {
        return 1;
    }
    if (read.ec == std::errc::result_out_of_range) {
        return count.front() == '-' ? 1 : MOST;
    }
    return std::clamp(found, 1, MOST);
}

/// The rows that a request changes, each with its new number.
inline std::vector<Row> changes(std::string_view id, std::string_view count,
                                std::string_view first_number) {
    const int wanted = clamped(count);
    const std::vector<int> ids = chain(number(id), wanted);
    const std::vector<int> numbers = chain(number(first_number), wanted);
    std::vector<Row> found;
    found.reserve(ids.size());
    for (std::size_t place = 0; place < ids.size(); ++place) {
        found.push_back({ids[place], numbers[place]});
    }
    return found;
}

/// The token of an Authorization field; what is no bearer's stays as it is, and is nobody's token.
inline std::string bearer(std::string_view field) {
    constexpr std::string_view SCHEME = "Bearer ";
    if (field.substr(0, SCHEME.size()) == SCHEME) {
        field.remove_prefix(SCHEME.size());
    }
    return std::string(field);
}

/// Adds `text` to a page: no character of it is markup.
inline void add_escaped(std::string& page, std::string_view text) {
    for (const char one : text) {
        switch (one) {
            case '&': page += "&amp;"; break;
            case '<': page += "&lt;"; break;
            case '>': page += "&gt;"; break;
            case '"': page += "&quot;"; break;
            case '\'': page += "&#39;"; break;
            default: page += one;
        }
    }
}

/// The table's fortunes with the one that is added, sorted by code points: UTF-8 sorts by bytes as
/// its code points do, and strings compare theirs as unsigned.
inline std::vector<Fortune> with_added(std::vector<Fortune> fortunes) {
    fortunes.push_back({0, ADDED_FORTUNE});
    std::sort(fortunes.begin(), fortunes.end(), [](const Fortune& one, const Fortune& other) {
        return one.message < other.message;
    });
    return fortunes;
}

/// The page of the table's fortunes, for the frameworks that bring no templates.
inline std::string page(std::vector<Fortune> fortunes) {
    std::string page =
        "<!DOCTYPE html>\n<html>\n<head><title>Fortunes</title></head>\n<body>\n<table>\n"
        "<tr><th>id</th><th>message</th></tr>\n";
    for (const Fortune& one : with_added(std::move(fortunes))) {
        page += "<tr><td>" + std::to_string(one.id) + "</td><td>";
        add_escaped(page, one.message);
        page += "</td></tr>\n";
    }
    page += "</table>\n</body>\n</html>\n";
    return page;
}

}  // namespace wiretrial::web
