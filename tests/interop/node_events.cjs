// A server of events as Node's own http and http2 write them: at /events lines end with CRLF, an event
// has two lines of data and an id, and a stream ends after twenty; `/text` is no stream. What a client
// says when it comes back, `/seen` tells.

const http = require("node:http");
const http2 = require("node:http2");

const END = 20;
const seen = [];

function answer(request, response) {
  if (request.url === "/seen") {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(seen));
    return;
  }
  if (request.url !== "/events") {
    response.setHeader("content-type", "text/plain");
    response.end("data: no event\n\n");
    return;
  }
  seen.push([request.headers["accept"] ?? "", request.headers["last-event-id"] ?? ""]);
  response.setHeader("content-type", "text/event-stream; charset=utf-8");
  response.write("\ufeffretry: 50\r\n: welcome\r\n\r\n");
  let number = Number(request.headers["last-event-id"] ?? 0);
  const last = number + END;
  const timer = setInterval(() => {
    number += 1;
    // Cut where nothing ends.
    response.write(`event: grüße\r\nid: ${number}\r\ndata: {"n":\r\nda`);
    response.write(`ta: ${number}}\r\n\r\n`);
    if (number === last) {
      clearInterval(timer);
      response.end("data: half an event");
    }
  }, 5);
  response.on("close", () => clearInterval(timer));
}

const plain = http.createServer(answer);
const second = http2.createServer(answer);
plain.listen(0, "127.0.0.1", () => {
  second.listen(0, "127.0.0.1", () => {
    console.log(`ready http=127.0.0.1:${plain.address().port} http2=127.0.0.1:${second.address().port}`);
  });
});
