#include "job.hpp"

#include <arpa/inet.h>

#include <charconv>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

namespace driver {
namespace {

constexpr std::uint64_t kLargestMessage = 1ULL << 30;
constexpr std::uint64_t kMostIterations = 1'000'000'000'000ULL;
constexpr double kLongestTimeout = 86'400;

using Words = std::map<std::string, std::string>;

Words read_words(int argc, char** argv);
Url parse_url(const std::string& text);
std::uint64_t number(const Words& words, const std::string& name, std::uint64_t least,
                     std::uint64_t most);
std::chrono::nanoseconds timeout(const Words& words);
const std::string& needed(const Words& words, const std::string& name);
std::string content_of(const std::string& path);
bool contains_word(std::string_view list, const std::string& word);
std::string message_of(std::uint64_t bytes);

}  // namespace

Job parse_job(int argc, char** argv, std::string_view schemes) {
  const Words words = read_words(argc, argv);
  Job job;
  job.url = parse_url(needed(words, "--url"));
  if (!contains_word(schemes, job.url.scheme)) {
    throw UsageError("this driver speaks " + std::string(schemes) + ", not " + job.url.scheme);
  }
  job.message = message_of(number(words, "--payload", 0, kLargestMessage));
  job.warmup = number(words, "--warmup", 0, kMostIterations);
  job.iterations = number(words, "--iterations", 1, kMostIterations);
  job.repetitions = number(words, "--repetitions", 1, 1'000'000);
  const std::string& mode = needed(words, "--mode");
  if (mode != "kept" && mode != "fresh") {
    throw UsageError("--mode is kept or fresh, not '" + mode + "'");
  }
  job.kept = mode == "kept";
  job.tuned = words.count("--tuned") != 0;
  if (words.count("--http") != 0) {
    const std::string& version = words.at("--http");
    if (version != "1.1" && version != "2") {
      throw UsageError("--http is 1.1 or 2, not '" + version + "'");
    }
    job.http2 = version == "2";
  }
  job.timeout = timeout(words);
  if (words.count("--cacert") != 0) {
    job.ca_file = words.at("--cacert");
    content_of(job.ca_file);
  }

  const bool is_http = job.url.scheme == "http" || job.url.scheme == "https";
  const bool is_raw = job.url.scheme == "tcp" || job.url.scheme == "tls";
  if (!job.message.empty()) {
    job.expected = job.message;
  } else if (is_http) {
    job.expected = content_of(needed(words, "--expect"));
  } else if (is_raw) {
    throw UsageError("--payload 0 sends nothing over " + job.url.scheme + "; give at least 1");
  }
  return job;
}

bool Url::secure() const { return scheme == "https" || scheme == "wss" || scheme == "tls"; }

bool Url::is_address() const {
  unsigned char address[sizeof(in6_addr)];
  return inet_pton(AF_INET, host.c_str(), address) == 1 ||
         inet_pton(AF_INET6, host.c_str(), address) == 1;
}

std::string Url::authority() const {
  const bool brackets = host.find(':') != std::string::npos;
  return (brackets ? "[" + host + "]" : host) + ":" + port;
}

namespace {

Words read_words(int argc, char** argv) {
  static const std::string kWithValue =
      "--url --payload --warmup --iterations --repetitions --mode --cacert --expect --timeout --http";
  Words words;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--tuned") {
      words[name] = "";
    } else if (!contains_word(kWithValue, name)) {
      throw UsageError("unknown argument '" + name + "'; known: " + kWithValue + " --tuned");
    } else if (i + 1 == argc) {
      throw UsageError(name + " needs a value");
    } else {
      words[name] = argv[++i];
    }
  }
  return words;
}

Url parse_url(const std::string& text) {
  static const std::map<std::string, std::string> kPorts = {
      {"http", "80"}, {"https", "443"}, {"ws", "80"}, {"wss", "443"}, {"tcp", ""}, {"tls", ""}};
  const UsageError malformed("--url '" + text + "' is not SCHEME://HOST[:PORT][/PATH]");
  const auto mark = text.find("://");
  if (mark == std::string::npos) throw malformed;
  Url url;
  url.text = text;
  url.scheme = text.substr(0, mark);
  const auto known = kPorts.find(url.scheme);
  if (known == kPorts.end()) throw UsageError("--url has the unknown scheme '" + url.scheme + "'");

  const auto start = mark + 3;
  const auto path = std::min(text.find_first_of("/?#", start), text.size());
  std::string authority = text.substr(start, path - start);
  url.target = text.substr(path, std::min(text.find('#', path), text.size()) - path);
  if (url.target.empty() || url.target[0] != '/') url.target.insert(0, "/");

  const auto bracket = authority.find(']');
  const auto colon = authority.find(':', bracket == std::string::npos ? 0 : bracket);
  url.port = colon == std::string::npos ? known->second : authority.substr(colon + 1);
  url.host = authority.substr(0, colon);
  if (bracket != std::string::npos && url.host.front() == '[' && url.host.back() == ']') {
    url.host = url.host.substr(1, url.host.size() - 2);
  }
  unsigned port = 0;
  const char* end = url.port.data() + url.port.size();
  const auto read = std::from_chars(url.port.data(), end, port);
  const bool is_port = read.ec == std::errc() && read.ptr == end && port > 0 && port <= 65535;
  if (url.host.empty() || !is_port) throw malformed;
  return url;
}

std::uint64_t number(const Words& words, const std::string& name, std::uint64_t least,
                     std::uint64_t most) {
  const std::string& text = needed(words, name);
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end || value < least || value > most) {
    throw UsageError(name + " is a whole number from " + std::to_string(least) + " to " +
                     std::to_string(most) + ", not '" + text + "'");
  }
  return value;
}

std::chrono::nanoseconds timeout(const Words& words) {
  const auto given = words.find("--timeout");
  if (given == words.end()) return Job().timeout;
  double seconds = 0;
  std::istringstream text(given->second);
  text.imbue(std::locale::classic());
  if (!(text >> seconds) || !text.eof() || !(seconds >= 0.001 && seconds <= kLongestTimeout)) {
    throw UsageError("--timeout is in seconds, from 0.001 to 86400, not '" + given->second + "'");
  }
  return std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
}

const std::string& needed(const Words& words, const std::string& name) {
  const auto found = words.find(name);
  if (found == words.end()) throw UsageError(name + " is missing");
  return found->second;
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string content(std::istreambuf_iterator<char>(file), {});
  if (!file) throw UsageError("can't read the file '" + path + "'");
  return content;
}

bool contains_word(std::string_view list, const std::string& word) {
  const std::string padded = " " + std::string(list) + " ";
  return !word.empty() && padded.find(" " + word + " ") != std::string::npos;
}

std::string message_of(std::uint64_t bytes) {
  std::string message(bytes, '\0');
  for (std::size_t i = 0; i < message.size(); ++i) message[i] = static_cast<char>(33 + i % 90);
  return message;
}

}  // namespace
}  // namespace driver
