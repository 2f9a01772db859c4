// Connections to PostgreSQL by libpq on an io_context of Asio: no thread ever waits for one.
//
// Knows libpq, its prepared statements and its pipeline mode; must not know what a statement is
// for. The statements of one job go out together, and PostgreSQL takes them for one transaction. A job
// that finds every connection busy waits for the next free one, in the order of coming.

#pragma once

#include <asio.hpp>
#include <postgresql/libpq-fe.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace wiretrial::web {

/// A statement, prepared under its name on every connection.
struct Statement {
    const char* name;
    const char* sql;
};

/// A statement with its values, as text.
struct Call {
    const Statement* statement;
    std::vector<std::string> values;
};

struct ClearResult {
    void operator()(PGresult* result) const {
        PQclear(result);
    }
};
using Result = std::unique_ptr<PGresult, ClearResult>;

/// Why something could not be answered, in words.
struct Problem {
    std::string text;
};

/// The result of each statement of a job, in their order, or why there are none.
using Outcome = std::variant<std::vector<Result>, Problem>;

struct Job {
    std::vector<Call> calls;
    std::function<void(Outcome)> done;
};

class Links;

/// One connection, busy with one job at a time. All that it does runs on its own strand.
class Link {
public:
    Link(asio::io_context& context, Links& links, const char* url,
         const std::vector<const Statement*>& statements);
    ~Link();
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    /// Sends the job's statements; whoever made it is told when the last result has come.
    void start(Job job);

private:
    struct Finish {
        void operator()(PGconn* connection) const {
            PQfinish(connection);
        }
    };

    void begin();
    void write();
    void await_results();
    void read();
    void finish();
    [[noreturn]] void lost() const;

    Links& links_;
    std::unique_ptr<PGconn, Finish> connection_;
    asio::posix::stream_descriptor socket_;
    Job job_;
    std::vector<Result> results_;
    bool is_writing_ = false;
};

/// All connections of the process.
class Links {
public:
    /// Connects `count` times, and waits for that. Throws where it can't be done.
    Links(asio::io_context& context, const char* url, unsigned count,
          const std::vector<const Statement*>& statements) {
        for (unsigned made = 0; made < count; ++made) {
            links_.push_back(std::make_unique<Link>(context, *this, url, statements));
            idle_.push_back(links_.back().get());
        }
    }

    /// Has the job done, now or when a connection is free. From any thread.
    void ask(Job job) {
        Link* link = nullptr;
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            if (idle_.empty()) {
                waiting_.push_back(std::move(job));
                return;
            }
            link = idle_.back();
            idle_.pop_back();
        }
        link->start(std::move(job));
    }

    /// The link has done its job.
    void free(Link& link) {
        Job next;
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            if (waiting_.empty()) {
                idle_.push_back(&link);
                return;
            }
            next = std::move(waiting_.front());
            waiting_.pop_front();
        }
        link.start(std::move(next));
    }

private:
    std::mutex mutex_;
    std::vector<std::unique_ptr<Link>> links_;
    std::vector<Link*> idle_;
    std::deque<Job> waiting_;
};

inline Link::Link(asio::io_context& context, Links& links, const char* url,
                  const std::vector<const Statement*>& statements)
    : links_(links), connection_(PQconnectdb(url)), socket_(asio::make_strand(context)) {
    PGconn* const connection = connection_.get();
    if (PQstatus(connection) != CONNECTION_OK) {
        throw std::runtime_error(PQerrorMessage(connection));
    }
    for (const Statement* const one : statements) {
        const Result made(PQprepare(connection, one->name, one->sql, 0, nullptr));
        if (PQresultStatus(made.get()) != PGRES_COMMAND_OK) {
            throw std::runtime_error(PQerrorMessage(connection));
        }
    }
    if (PQsetnonblocking(connection, 1) != 0 || PQenterPipelineMode(connection) != 1) {
        throw std::runtime_error(PQerrorMessage(connection));
    }
    socket_.assign(PQsocket(connection));
}

inline Link::~Link() {
    // The descriptor is libpq's, which closes it.
    if (socket_.is_open()) {
        socket_.release();
    }
}

inline void Link::start(Job job) {
    // Whoever ended the last job may still be on the strand: then this goes on at once.
    asio::dispatch(socket_.get_executor(), [this, job = std::move(job)]() mutable {
        job_ = std::move(job);
        begin();
    });
}

inline void Link::begin() {
    PGconn* const connection = connection_.get();
    results_.clear();
    results_.reserve(job_.calls.size());
    std::vector<const char*> values;
    for (const Call& call : job_.calls) {
        values.clear();
        for (const std::string& value : call.values) {
            values.push_back(value.c_str());
        }
        if (PQsendQueryPrepared(connection, call.statement->name, static_cast<int>(values.size()),
                                values.data(), nullptr, nullptr, 0) != 1) {
            lost();
        }
    }
    if (PQpipelineSync(connection) != 1) {
        lost();
    }
    await_results();
    write();
}

/// Sends what libpq still holds back, as far as the kernel takes it, and then the rest.
inline void Link::write() {
    const int left = PQflush(connection_.get());
    if (left < 0) {
        lost();
    }
    if (left == 0 || is_writing_) {
        return;
    }
    is_writing_ = true;
    socket_.async_wait(asio::posix::stream_descriptor::wait_write,
                       [this](const asio::error_code& error) {
                           is_writing_ = false;
                           if (error) {
                               lost();
                           }
                           write();
                       });
}

inline void Link::await_results() {
    socket_.async_wait(asio::posix::stream_descriptor::wait_read,
                       [this](const asio::error_code& error) {
                           if (error) {
                               lost();
                           }
                           read();
                       });
}

inline void Link::read() {
    PGconn* const connection = connection_.get();
    if (PQconsumeInput(connection) != 1) {
        lost();
    }
    while (PQisBusy(connection) == 0) {
        Result found(PQgetResult(connection));
        if (!found) {
            // One statement's results end here; those of the next one follow.
            continue;
        }
        if (PQresultStatus(found.get()) == PGRES_PIPELINE_SYNC) {
            finish();
            return;
        }
        results_.push_back(std::move(found));
    }
    await_results();
}

inline void Link::finish() {
    const auto done = std::move(job_.done);
    Outcome outcome = std::move(results_);
    for (const Result& one : std::get<std::vector<Result>>(outcome)) {
        const ExecStatusType status = PQresultStatus(one.get());
        if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
            // The first that fails says why; those behind it were not carried out.
            Problem problem{PQresultErrorMessage(one.get())};
            outcome = std::move(problem);
            break;
        }
    }
    // The next job goes out before this one's reply is made: the database need not wait for it.
    links_.free(*this);
    done(std::move(outcome));
}

/// A server with fewer connections than it was told must not be measured: it ends.
inline void Link::lost() const {
    std::fprintf(stderr, "a connection to the database was lost: %s\n",
                 PQerrorMessage(connection_.get()));
    std::_Exit(1);
}

}  // namespace wiretrial::web
