// The loop that all C++ drivers share, inside Google Benchmark: iterations are fixed, time is
// manual, and a repetition is a benchmark of its own, so that its line is printed when it ends.
#include "driver.hpp"

#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <vector>

#include "histogram.hpp"

namespace driver {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMostFailuresInARow = 10;

struct CannotGoOn : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What one repetition came to.
struct Repetition {
  std::uint64_t errors = 0;
  std::string first_error;
  std::optional<std::uint64_t> connections;
  std::int64_t wall_ns = 0;
  std::int64_t cpu_user_ns = 0;
  std::int64_t cpu_system_ns = 0;
  Histogram histogram;
};

// The client under test over its life: made when it is needed, dropped when it failed.
class Client {
 public:
  Client(const Job& job, const Library& library) : job_(job), library_(library) {}

  // One iteration: throws unless a verified reply came.
  void iterate();
  // What follows an iteration, outside its time: a fresh client goes, as does one that failed.
  void settle(bool failed);
  bool connected() const { return connection_ != nullptr; }
  // Connections opened so far, by this client and those before it.
  std::optional<std::uint64_t> opened() const;
  // Counts a failure; throws CannotGoOn after too many of them in a row.
  void failed(const std::exception& error);
  void succeeded() { failures_in_a_row_ = 0; }

 private:
  void verify(std::string_view reply) const;

  const Job& job_;
  const Library& library_;
  std::unique_ptr<Connection> connection_;
  std::uint64_t opened_before_ = 0;
  bool tells_opened_ = true;
  int failures_in_a_row_ = 0;
};

void warm_up(const Job& job, Client& client);
void register_repetitions(const Job& job, Client& client, std::vector<Repetition>& done,
                          std::string& stopped);
Repetition measure(benchmark::State& state, const Job& job, Client& client);
std::string quoted(const std::string& text);
std::string in_one_line(std::string text);

// Prints the one line of each repetition that reached its end.
class Reporter : public benchmark::BenchmarkReporter {
 public:
  Reporter(const Job& job, const Library& library, const std::vector<Repetition>& done)
      : job_(job), library_(library), done_(done) {}

  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override;

 private:
  const Job& job_;
  const Library& library_;
  const std::vector<Repetition>& done_;
  std::size_t printed_ = 0;
};

}  // namespace

int run(int argc, char** argv, const Library& library) {
  std::signal(SIGPIPE, SIG_IGN);
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    std::cout << library.name << '\n';
    return 0;
  }
  try {
    const Job job = parse_job(argc, argv, library.schemes);
    if (job.url.secure() && job.ca_file.empty()) {
      throw CannotGoOn("nothing vouches for " + job.url.text + "; give --cacert FILE");
    }
    Client client(job, library);
    warm_up(job, client);

    std::vector<Repetition> done;
    std::string stopped;
    register_repetitions(job, client, done, stopped);
    Reporter reporter(job, library, done);
    benchmark::RunSpecifiedBenchmarks(&reporter);
    if (!stopped.empty()) throw CannotGoOn(stopped);
    if (!std::cout.flush()) throw CannotGoOn("can't write to standard output");
    return 0;
  } catch (const UsageError& error) {
    std::cerr << in_one_line(error.what()) << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cerr << in_one_line(error.what()) << '\n';
    return 1;
  }
}

namespace {

// Many libraries connect with their first request. So that a kept connection is there before the
// clock starts, one exchange goes ahead even where no warm-up is asked for.
void warm_up(const Job& job, Client& client) {
  const auto unrecorded = job.kept ? std::max<std::uint64_t>(job.warmup, 1) : job.warmup;
  for (std::uint64_t i = 0; i < unrecorded; ++i) {
    bool failed = false;
    try {
      client.iterate();
      client.succeeded();
    } catch (const std::exception& error) {
      failed = true;
      client.failed(error);
    }
    client.settle(failed);
  }
}

void register_repetitions(const Job& job, Client& client, std::vector<Repetition>& done,
                          std::string& stopped) {
  const auto body = [&](benchmark::State& state) {
    try {
      if (stopped.empty()) done.push_back(measure(state, job, client));
    } catch (const CannotGoOn& error) {
      stopped = error.what();
    }
    if (!stopped.empty()) state.SkipWithError(stopped.c_str());
  };
  for (std::uint64_t i = 0; i < job.repetitions; ++i) {
    benchmark::RegisterBenchmark(("repetition/" + std::to_string(i)).c_str(), body)
        ->Iterations(static_cast<benchmark::IterationCount>(job.iterations))
        ->Repetitions(1)
        ->UseManualTime();
  }
}

std::int64_t nanoseconds(const timeval& time) {
  return time.tv_sec * 1'000'000'000LL + time.tv_usec * 1'000LL;
}

Repetition measure(benchmark::State& state, const Job& job, Client& client) {
  Repetition result;
  const bool standing = client.connected();
  const auto opened_before = client.opened();
  rusage cpu_before{};
  getrusage(RUSAGE_SELF, &cpu_before);
  const auto began = Clock::now();

  for (auto _ : state) {
    bool failed = false;
    const auto start = Clock::now();
    try {
      client.iterate();
    } catch (const std::exception& error) {
      failed = true;
      ++result.errors;
      if (result.errors == 1) result.first_error = error.what();
      client.failed(error);
    }
    const std::chrono::nanoseconds took = Clock::now() - start;
    state.SetIterationTime(std::chrono::duration<double>(took).count());
    if (!failed) {
      client.succeeded();
      result.histogram.record(took.count());
    }
    client.settle(failed);
  }

  const auto ended = Clock::now();
  rusage cpu_after{};
  getrusage(RUSAGE_SELF, &cpu_after);
  result.wall_ns = std::chrono::nanoseconds(ended - began).count();
  result.cpu_user_ns = nanoseconds(cpu_after.ru_utime) - nanoseconds(cpu_before.ru_utime);
  result.cpu_system_ns = nanoseconds(cpu_after.ru_stime) - nanoseconds(cpu_before.ru_stime);
  const auto opened_after = client.opened();
  if (opened_before && opened_after) {
    const bool counts_standing = job.kept && standing;
    result.connections = *opened_after - *opened_before + (counts_standing ? 1 : 0);
  }
  return result;
}

void Client::iterate() {
  if (!connection_) connection_ = library_.open(job_);
  verify(connection_->exchange());
}

void Client::settle(bool failed) {
  if (!failed && job_.kept) return;
  if (!connection_) return;
  const auto opened = connection_->opened();
  tells_opened_ = tells_opened_ && opened.has_value();
  opened_before_ += opened.value_or(0);
  connection_.reset();
}

std::optional<std::uint64_t> Client::opened() const {
  if (!tells_opened_) return std::nullopt;
  if (!connection_) return opened_before_;
  const auto opened = connection_->opened();
  if (!opened) return std::nullopt;
  return opened_before_ + *opened;
}

void Client::failed(const std::exception& error) {
  if (++failures_in_a_row_ < kMostFailuresInARow) return;
  throw CannotGoOn(std::to_string(kMostFailuresInARow) +
                   " failures in a row, the last: " + error.what());
}

void Client::verify(std::string_view reply) const {
  if (reply == job_.expected) return;
  if (reply.size() != job_.expected.size()) {
    throw std::runtime_error("wrong reply: " + std::to_string(reply.size()) + " bytes, not " +
                             std::to_string(job_.expected.size()));
  }
  const auto differs = std::mismatch(reply.begin(), reply.end(), job_.expected.begin());
  throw std::runtime_error("wrong reply: differs from byte " +
                           std::to_string(differs.first - reply.begin()) + " on");
}

void Reporter::ReportRuns(const std::vector<Run>& runs) {
  if (printed_ == done_.size()) return;
  const Repetition& one = done_[printed_];
  std::ostringstream line;
  line << R"({"schema": "wiretrial-driver", "version": 1, "library": )" << quoted(library_.name)
       << R"(, "repetition": )" << printed_ << R"(, "mode": )"
       << (job_.kept ? R"("kept")" : R"("fresh")")          //
       << R"(, "iterations": )" << runs.front().iterations  //
       << R"(, "errors": )" << one.errors << R"(, "first_error": )"
       << (one.errors == 0 ? "null" : quoted(one.first_error))  //
       << R"(, "connections": )" << (one.connections ? std::to_string(*one.connections) : "null")
       << R"(, "wall_ns": )" << one.wall_ns << R"(, "cpu_user_ns": )" << one.cpu_user_ns
       << R"(, "cpu_system_ns": )" << one.cpu_system_ns << R"(, "histogram": )"
       << quoted(one.histogram.encoded()) << "}\n";
  std::cout << line.str() << std::flush;
  ++printed_;
}

// `text` as a JSON string. What is not ASCII comes from a peer or a locale, and is shown as '?'.
std::string quoted(const std::string& text) {
  std::string json = "\"";
  for (const char c : in_one_line(text)) {
    if (c == '"' || c == '\\') json += '\\';
    json += c;
  }
  return json + '"';
}

std::string in_one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
    if (c < ' ' || c > '~') c = '?';
  }
  return text;
}

}  // namespace
}  // namespace driver
