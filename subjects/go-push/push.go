package main

import (
	"fmt"
	"net/http"

	"github.com/gorilla/websocket"

	"wiretrial/subjects/push"
)

// receivers hear what comes to the hub.
type receivers struct {
	hub      *push.Hub
	upgrader websocket.Upgrader
}

// subscribe holds a WebSocket where one is asked for, and else a stream of server-sent events.
func (s *receivers) subscribe(w http.ResponseWriter, r *http.Request) {
	if websocket.IsWebSocketUpgrade(r) {
		s.socket(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	controller := http.NewResponseController(w)
	if controller.Flush() != nil {
		return
	}
	events := s.hub.Join()
	defer s.hub.Leave(events)
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

func (s *receivers) socket(w http.ResponseWriter, r *http.Request) {
	connection, err := s.upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer connection.Close()
	events := s.hub.Join()
	// Reading answers pings and closes, and finds out that it is over.
	go func() {
		defer s.hub.Leave(events)
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
