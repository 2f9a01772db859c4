// Drogon with the contract `web`: starts the one application with its loops and its clients of the
// database. Routes and filters register themselves, as Drogon's controllers do.

#include <drogon/HttpAppFramework.h>

#include "shared/web-cpp/program.hpp"
#include "tables.hpp"

namespace {

void serve(const wiretrial::web::Options& options) {
    drogon::HttpAppFramework& app = drogon::app();
    app.addListener(options.host, options.port);
    app.setThreadNum(options.threads);
    if (options.tuned) {
        app.setLogLevel(trantor::Logger::kWarn);
    }
    wiretrial::tables::connect(options.threads, options.tuned);
    app.run();
}

}  // namespace

int main(int argc, char** argv) {
    return wiretrial::web::run(argc, argv, drogon::getVersion(), serve);
}
