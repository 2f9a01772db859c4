// Package push is where everybody hears what one has posted, whatever it is heard by.
package push

import (
	"io"
	"net/http"
	"sync"
)

// What is waiting for a subscriber beyond this is too much: it is sent away, for the others can't wait
// for it.
const mostWaiting = 4096

// Hub has a channel for each who subscribes. One lock keeps events in their order.
type Hub struct {
	mutex       sync.Mutex
	subscribers map[chan []byte]struct{}
}

// NewHub is one that nobody hears yet.
func NewHub() *Hub {
	return &Hub{subscribers: make(map[chan []byte]struct{})}
}

// Publish answers the POST of an event once it stands in all channels.
func (h *Hub) Publish(w http.ResponseWriter, r *http.Request) {
	event, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	h.tell(event)
	w.Header().Set("Content-Type", "text/plain")
	// Who is gone gets no answer.
	_, _ = w.Write([]byte("OK"))
}

// Join is the channel of somebody who subscribes. It is closed where that one is sent away.
func (h *Hub) Join() chan []byte {
	events := make(chan []byte, mostWaiting)
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.subscribers[events] = struct{}{}
	return events
}

// Leave closes the channel of somebody who hears no more.
func (h *Hub) Leave(events chan []byte) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.remove(events)
}

func (h *Hub) tell(event []byte) {
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
func (h *Hub) remove(events chan []byte) {
	if _, here := h.subscribers[events]; here {
		delete(h.subscribers, events)
		close(events)
	}
}
