// Command fasthttp serves the contract `web` by fasthttp, with a switch over paths.
package main

import (
	"context"
	"encoding/json"
	"log"

	"github.com/valyala/fasthttp"

	"wiretrial/subjects/web"
)

type server struct {
	store *web.Store
}

func main() {
	options := web.Flags("github.com/valyala/fasthttp")
	store, err := web.Open(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(fasthttp.ListenAndServe(options.Address, server{store}.handle))
}

func (s server) handle(c *fasthttp.RequestCtx) {
	switch string(c.Method()) + " " + string(c.Path()) {
	case "GET /plaintext":
		c.SetContentType("text/plain")
		c.SetBodyString(web.Greeting)
	case "GET /json":
		say(c, fasthttp.StatusOK, web.Message{Message: web.Greeting}, nil)
	case "GET /db":
		found, err := s.store.Row(c, web.Number(asked(c, "id")))
		say(c, fasthttp.StatusOK, found, err)
	case "GET /queries":
		found, err := s.store.Rows(c, ids(c))
		say(c, fasthttp.StatusOK, found, err)
	case "GET /updates":
		changes := web.Changes(asked(c, "id"), asked(c, "count"), asked(c, "number"))
		say(c, fasthttp.StatusOK, changes, s.store.Change(c, changes))
	case "GET /cached":
		found, err := s.store.Cached(c, ids(c))
		say(c, fasthttp.StatusOK, found, err)
	case "GET /fortunes":
		s.fortunes(c)
	case "POST /login":
		s.login(c)
	case "GET /items":
		if account, known := s.account(c); known {
			found, err := s.store.Items(c, account)
			say(c, fasthttp.StatusOK, found, err)
		}
	case "POST /items":
		s.add(c)
	default:
		c.Error("not found", fasthttp.StatusNotFound)
	}
}

func (s server) fortunes(c *fasthttp.RequestCtx) {
	found, err := s.store.Fortunes(c)
	if err == nil {
		err = web.Render(c, found)
	}
	if err != nil {
		c.Error(err.Error(), fasthttp.StatusInternalServerError)
		return
	}
	c.SetContentType(web.HTML)
}

func (s server) login(c *fasthttp.RequestCtx) {
	var said web.Login
	if err := json.Unmarshal(c.PostBody(), &said); err != nil {
		c.Error(err.Error(), fasthttp.StatusBadRequest)
		return
	}
	token, fits, err := s.store.Login(c, said)
	if err == nil && !fits {
		say(c, fasthttp.StatusUnauthorized, web.Nothing{}, nil)
		return
	}
	say(c, fasthttp.StatusOK, token, err)
}

func (s server) add(c *fasthttp.RequestCtx) {
	account, known := s.account(c)
	if !known {
		return
	}
	var said web.Item
	if err := json.Unmarshal(c.PostBody(), &said); err != nil {
		c.Error(err.Error(), fasthttp.StatusBadRequest)
		return
	}
	made, err := s.store.Add(c, account, said)
	say(c, fasthttp.StatusCreated, made, err)
}

// account is who asks; nobody is told so.
func (s server) account(c *fasthttp.RequestCtx) (int, bool) {
	token := web.Bearer(string(c.Request.Header.Peek("Authorization")))
	account, known, err := s.store.Account(c, token)
	if !known {
		say(c, fasthttp.StatusUnauthorized, web.Nothing{}, err)
	}
	return account, known
}

func asked(c *fasthttp.RequestCtx, name string) string {
	return string(c.QueryArgs().Peek(name))
}

func ids(c *fasthttp.RequestCtx) []int {
	return web.Chain(web.Number(asked(c, "id")), web.Clamped(asked(c, "count")))
}

func say(c *fasthttp.RequestCtx, status int, said any, err error) {
	if err == nil {
		c.SetStatusCode(status)
		c.SetContentType(web.JSON)
		err = json.NewEncoder(c).Encode(said)
	}
	if err != nil {
		c.Error(err.Error(), fasthttp.StatusInternalServerError)
	}
}
