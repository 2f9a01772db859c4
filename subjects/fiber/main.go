// Command fiber serves the contract `web` by Fiber.
package main

import (
	"bytes"
	"context"
	"log"
	"net/http"

	"github.com/goccy/go-json"
	"github.com/gofiber/fiber/v2"

	"wiretrial/subjects/web"
)

type server struct {
	store *web.Store
}

func main() {
	options := web.Flags("github.com/gofiber/fiber/v2")
	store, err := web.Open(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	config := fiber.Config{}
	if options.Tuned {
		config.JSONEncoder = json.Marshal
		config.JSONDecoder = json.Unmarshal
	}
	app := fiber.New(config)
	s := server{store}
	app.Get("/plaintext", func(c *fiber.Ctx) error { return c.SendString(web.Greeting) })
	app.Get("/json", func(c *fiber.Ctx) error { return c.JSON(web.Message{Message: web.Greeting}) })
	app.Get("/db", s.one)
	app.Get("/queries", s.queries)
	app.Get("/updates", s.updates)
	app.Get("/cached", s.cached)
	app.Get("/fortunes", s.fortunes)
	app.Post("/login", s.login)
	app.Get("/items", s.items)
	app.Post("/items", s.add)
	log.Fatal(app.Listen(options.Address))
}

func (s server) one(c *fiber.Ctx) error {
	found, err := s.store.Row(c.UserContext(), web.Number(c.Query("id")))
	return say(c, http.StatusOK, found, err)
}

func (s server) queries(c *fiber.Ctx) error {
	found, err := s.store.Rows(c.UserContext(), ids(c))
	return say(c, http.StatusOK, found, err)
}

func (s server) updates(c *fiber.Ctx) error {
	changes := web.Changes(c.Query("id"), c.Query("count"), c.Query("number"))
	return say(c, http.StatusOK, changes, s.store.Change(c.UserContext(), changes))
}

func (s server) cached(c *fiber.Ctx) error {
	found, err := s.store.Cached(c.UserContext(), ids(c))
	return say(c, http.StatusOK, found, err)
}

func (s server) fortunes(c *fiber.Ctx) error {
	found, err := s.store.Fortunes(c.UserContext())
	if err != nil {
		return err
	}
	var page bytes.Buffer
	if err := web.Render(&page, found); err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	return c.Send(page.Bytes())
}

func (s server) login(c *fiber.Ctx) error {
	var said web.Login
	if err := c.BodyParser(&said); err != nil {
		return err
	}
	token, fits, err := s.store.Login(c.UserContext(), said)
	if err == nil && !fits {
		return say(c, http.StatusUnauthorized, web.Nothing{}, nil)
	}
	return say(c, http.StatusOK, token, err)
}

func (s server) items(c *fiber.Ctx) error {
	account, known, err := s.account(c)
	if err != nil || !known {
		return say(c, http.StatusUnauthorized, web.Nothing{}, err)
	}
	found, err := s.store.Items(c.UserContext(), account)
	return say(c, http.StatusOK, found, err)
}

func (s server) add(c *fiber.Ctx) error {
	account, known, err := s.account(c)
	if err != nil || !known {
		return say(c, http.StatusUnauthorized, web.Nothing{}, err)
	}
	var said web.Item
	if err := c.BodyParser(&said); err != nil {
		return err
	}
	made, err := s.store.Add(c.UserContext(), account, said)
	return say(c, http.StatusCreated, made, err)
}

// account is who asks; false: nobody who is known.
func (s server) account(c *fiber.Ctx) (int, bool, error) {
	return s.store.Account(c.UserContext(), web.Bearer(c.Get("Authorization")))
}

func ids(c *fiber.Ctx) []int {
	return web.Chain(web.Number(c.Query("id")), web.Clamped(c.Query("count")))
}

func say(c *fiber.Ctx, status int, said any, err error) error {
	if err != nil {
		return err
	}
	return c.Status(status).JSON(said)
}
