package main

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"time"
)

const message = `{"seq":"0000000000000000","text":"one message of 64 bytes....."}`

func echoBody(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	reply(w, "application/octet-stream", body)
}

func giveMessage(w http.ResponseWriter, _ *http.Request) {
	reply(w, "application/json", []byte(message))
}

// receive waits as a blocking call would: in the goroutine of the request.
func receive(delay time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		time.Sleep(delay)
		reply(w, "text/plain", append([]byte("received: "), body...))
	}
}

func giveStatus(w http.ResponseWriter, _ *http.Request) {
	reply(w, "text/plain", []byte("OK"))
}

func giveLabel(w http.ResponseWriter, r *http.Request) {
	reply(w, "text/plain", []byte(r.PathValue("label")))
}

func giveByID(w http.ResponseWriter, r *http.Request) {
	// A string is always JSON.
	body, _ := json.Marshal(struct {
		ID string `json:"id"`
	}{r.PathValue("id")})
	reply(w, "application/json", body)
}

// reply says the length in front: net/http does so itself only for short answers.
func reply(w http.ResponseWriter, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	// Who is gone gets no answer.
	_, _ = w.Write(body)
}
