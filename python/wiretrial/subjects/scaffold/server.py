"""POST /echo gives the body back; GET /message gives 64 bytes of JSON."""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MESSAGE = b'{"text":"a message of 64 bytes that says nothing of importance"}'


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Without it the second small write of a reply waits 40 ms for the first's acknowledgement.
    disable_nagle_algorithm = True

    def do_POST(self):
        body = self.read_body()
        if self.path == "/echo":
            self.answer(200, "application/octet-stream", body)
        else:
            self.answer(404, "text/plain", b"no such route")

    def do_GET(self):
        if self.path == "/message":
            self.answer(200, "application/json", MESSAGE)
        else:
            self.answer(404, "text/plain", b"no such route")

    do_HEAD = do_GET

    def read_body(self):
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = bytearray()
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        return bytes(body)

    def answer(self, status, kind, content):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, format, *arguments):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 128


Server((sys.argv[1], int(sys.argv[2])), Handler).serve_forever()
