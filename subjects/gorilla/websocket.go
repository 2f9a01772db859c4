package main

import (
	"io"
	"net/http"
	"sync"

	"github.com/gorilla/websocket"
)

// A WebSocket ends with the first error: a close, a frame that breaks the protocol, a lost peer.

// echoMessages is the echo of the package's overview, with messages that are held whole.
func echoMessages(w http.ResponseWriter, r *http.Request) {
	echoWhole(w, r, websocket.Upgrader{})
}

// echoCompressed is the same, with permessage-deflate as the overview turns it on.
func echoCompressed(w http.ResponseWriter, r *http.Request) {
	echoWhole(w, r, websocket.Upgrader{EnableCompression: true})
}

func echoWhole(w http.ResponseWriter, r *http.Request, upgrader websocket.Upgrader) {
	connection, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer connection.Close()
	for {
		kind, message, err := connection.ReadMessage()
		if err != nil {
			return
		}
		if err := connection.WriteMessage(kind, message); err != nil {
			return
		}
	}
}

// A longer message comes back in fragments of this size. The buffers are few: one is held only while
// its message is written.
const writeBufferBytes = 64 << 10

var writeBuffers sync.Pool

// echoStream is the echo of the package's overview, with messages that are passed on as they come.
func echoStream(w http.ResponseWriter, r *http.Request) {
	upgrader := websocket.Upgrader{
		WriteBufferSize: writeBufferBytes,
		WriteBufferPool: &writeBuffers,
	}
	connection, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer connection.Close()
	for {
		if err := passOn(connection); err != nil {
			return
		}
	}
}

func passOn(connection *websocket.Conn) error {
	kind, reader, err := connection.NextReader()
	if err != nil {
		return err
	}
	writer, err := connection.NextWriter(kind)
	if err != nil {
		return err
	}
	if _, err := io.Copy(writer, reader); err != nil {
		return err
	}
	return writer.Close()
}
