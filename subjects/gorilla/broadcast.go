package main

import (
	"net/http"
	"sync"

	"github.com/gorilla/websocket"
)

// What is waiting for a listener beyond this is too much: it is sent away, as the package's chat
// example does it, for the others can't wait for it.
const mostWaiting = 4096

// hall is where everybody hears everybody. One lock keeps each one's messages in their order.
type hall struct {
	mutex     sync.Mutex
	listeners map[*listener]struct{}
}

// listener has a goroutine that writes to it, as only one may.
type listener struct {
	connection *websocket.Conn
	waiting    chan *websocket.PreparedMessage
}

func newHall() *hall {
	return &hall{listeners: make(map[*listener]struct{})}
}

// handler takes a connection in, and passes on what it says until it ends.
func (h *hall) handler(upgrader websocket.Upgrader) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		connection, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		l := &listener{connection, make(chan *websocket.PreparedMessage, mostWaiting)}
		h.mutex.Lock()
		h.listeners[l] = struct{}{}
		h.mutex.Unlock()
		go l.write()
		for {
			kind, message, err := connection.ReadMessage()
			if err != nil {
				break
			}
			// Framed once for all who hear it.
			prepared, err := websocket.NewPreparedMessage(kind, message)
			if err != nil {
				break
			}
			h.tell(prepared)
		}
		h.mutex.Lock()
		h.remove(l)
		h.mutex.Unlock()
	}
}

func (h *hall) tell(message *websocket.PreparedMessage) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	for l := range h.listeners {
		select {
		case l.waiting <- message:
		default:
			h.remove(l)
		}
	}
}

// remove ends a listener's goroutine, and with it the connection. The caller has the lock.
func (h *hall) remove(l *listener) {
	if _, here := h.listeners[l]; here {
		delete(h.listeners, l)
		close(l.waiting)
	}
}

func (l *listener) write() {
	defer l.connection.Close()
	for message := range l.waiting {
		if err := l.connection.WritePreparedMessage(message); err != nil {
			return
		}
	}
}
