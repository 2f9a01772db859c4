package main

import (
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/gorilla/websocket"
)

// What is waiting for a subscriber beyond this is too much: it is sent away, for the others can't wait
// for it.
const mostWaiting = 4096

// hub is where everybody hears what is published. One lock keeps events in their order.
type hub struct {
	mutex       sync.Mutex
	subscribers map[chan []byte]struct{}
	upgrader    websocket.Upgrader
}

func newHub() *hub {
	return &hub{subscribers: make(map[chan []byte]struct{})}
}

func (h *hub) publish(w http.ResponseWriter, r *http.Request) {
	event, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	h.tell(event)
	w.Header().Set("Content-Type", "text/plain")
	// Who is gone gets no answer.
	_, _ = w.Write([]byte("OK"))
}

// subscribe holds a WebSocket where one is asked for, and else a stream of server-sent events.
func (h *hub) subscribe(w http.ResponseWriter, r *http.Request) {
	if websocket.IsWebSocketUpgrade(r) {
		h.socket(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	controller := http.NewResponseController(w)
	if controller.Flush() != nil {
		return
	}
	events := h.join()
	defer h.leave(events)
	for {
		select {
		case <-r.Context().Done():
			return
		case event, open := <-events:
			if !open {
				return
			}
			if _, err := fmt.Fprintf(w, "data: %s\n\n", event); err != nil || controller.Flush() != nil {
				return
			}
		}
	}
}

func (h *hub) socket(w http.ResponseWriter, r *http.Request) {
	connection, err := h.upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer connection.Close()
	events := h.join()
	// Reading answers pings and closes, and finds out that it is over.
	go func() {
		defer h.leave(events)
		for {
			if _, _, err := connection.NextReader(); err != nil {
				return
			}
		}
	}()
	for event := range events {
		if connection.WriteMessage(websocket.TextMessage, event) != nil {
			return
		}
	}
}

func (h *hub) join() chan []byte {
	events := make(chan []byte, mostWaiting)
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.subscribers[events] = struct{}{}
	return events
}

func (h *hub) leave(events chan []byte) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.remove(events)
}

func (h *hub) tell(event []byte) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	for events := range h.subscribers {
		select {
		case events <- event:
		default:
			h.remove(events)
		}
	}
}

// remove ends who hears these events. The caller has the lock.
func (h *hub) remove(events chan []byte) {
	if _, here := h.subscribers[events]; here {
		delete(h.subscribers, events)
		close(events)
	}
}
