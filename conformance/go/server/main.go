// Command server answers as the tests of interoperation expect, with net/http and
// github.com/coder/websocket: GET /message, GET /chunked, POST /echo, and a WebSocket echo at /, which
// compresses for clients that offer it.
//
// Usage: server CERT KEY; it says `ready http=IP:PORT https=IP:PORT`.
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"

	"github.com/coder/websocket"
)

const message = `{"seq":"0000000000000000","text":"one message of 64 bytes....."}`

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: server CERT KEY")
	}
	routes := http.NewServeMux()
	routes.HandleFunc("GET /message", answer)
	routes.HandleFunc("GET /chunked", answerInChunks)
	routes.HandleFunc("POST /echo", echo)
	routes.HandleFunc("GET /{$}", echoMessages)

	plain, secure := listen(), listen()
	fmt.Printf("ready http=%s https=%s\n", plain.Addr(), secure.Addr())
	go func() { log.Fatal(http.ServeTLS(secure, routes, os.Args[1], os.Args[2])) }()
	log.Fatal(http.Serve(plain, routes))
}

func listen() net.Listener {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	return listener
}

func answer(response http.ResponseWriter, _ *http.Request) {
	response.Header().Set("Content-Type", "application/json")
	io.WriteString(response, message)
}

// A flush before the end leaves the length untold, so that it goes out in chunks.
func answerInChunks(response http.ResponseWriter, _ *http.Request) {
	for at := 0; at < len(message); at += 16 {
		io.WriteString(response, message[at:min(at+16, len(message))])
		response.(http.Flusher).Flush()
	}
}

func echo(response http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		http.Error(response, err.Error(), http.StatusBadRequest)
		return
	}
	response.Header().Set("Content-Type", "application/octet-stream")
	response.Write(body)
}

func echoMessages(response http.ResponseWriter, request *http.Request) {
	options := &websocket.AcceptOptions{CompressionMode: websocket.CompressionContextTakeover}
	connection, err := websocket.Accept(response, request, options)
	if err != nil {
		return
	}
	defer connection.CloseNow()
	connection.SetReadLimit(-1)
	for {
		kind, payload, err := connection.Read(request.Context())
		if err != nil || connection.Write(request.Context(), kind, payload) != nil {
			return
		}
	}
}
