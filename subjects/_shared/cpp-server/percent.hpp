// Percent-decoding of a part of a path, for the libraries that hand it over as it was written.
//
// Knows RFC 3986, section 2.1; must not know any route. C++11, as the oldest library needs.

#pragma once

#include <cctype>
#include <cstddef>
#include <string>

namespace wiretrial {

/// `written` with each `%XX` as the byte that it stands for; what is no such triple stays.
inline std::string percent_decoded(const std::string& written) {
    const auto digit = [&written](std::size_t at) {
        return at < written.size() && std::isxdigit(static_cast<unsigned char>(written[at])) != 0;
    };
    std::string decoded;
    decoded.reserve(written.size());
    for (std::size_t at = 0; at < written.size(); ++at) {
        if (written[at] == '%' && digit(at + 1) && digit(at + 2)) {
            decoded += static_cast<char>(std::stoi(written.substr(at + 1, 2), nullptr, 16));
            at += 2;
        } else {
            decoded += written[at];
        }
    }
    return decoded;
}

}  // namespace wiretrial
