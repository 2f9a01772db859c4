// Command echo serves the contract `web` by Echo.
package main

import (
	"context"
	"io"
	"log"
	"net/http"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"wiretrial/subjects/web"
)

type server struct {
	store *web.Store
}

// renderer is how Echo is told of templates.
type renderer struct{}

func (renderer) Render(w io.Writer, name string, data any, _ echo.Context) error {
	return web.Page.ExecuteTemplate(w, name, data)
}

func main() {
	options := web.Flags("github.com/labstack/echo/v4")
	store, err := web.Open(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	e := echo.New()
	e.HideBanner = true
	e.Renderer = renderer{}
	if !options.Tuned {
		e.Use(middleware.Logger())
	}
	e.Use(middleware.Recover())
	s := server{store}
	e.GET("/plaintext", func(c echo.Context) error { return c.String(http.StatusOK, web.Greeting) })
	e.GET("/json", func(c echo.Context) error {
		return c.JSON(http.StatusOK, web.Message{Message: web.Greeting})
	})
	e.GET("/db", s.one)
	e.GET("/queries", s.queries)
	e.GET("/updates", s.updates)
	e.GET("/cached", s.cached)
	e.GET("/fortunes", s.fortunes)
	e.POST("/login", s.login)
	e.GET("/items", s.items)
	e.POST("/items", s.add)
	log.Fatal(e.Start(options.Address))
}

func (s server) one(c echo.Context) error {
	found, err := s.store.Row(c.Request().Context(), web.Number(c.QueryParam("id")))
	return say(c, http.StatusOK, found, err)
}

func (s server) queries(c echo.Context) error {
	found, err := s.store.Rows(c.Request().Context(), ids(c))
	return say(c, http.StatusOK, found, err)
}

func (s server) updates(c echo.Context) error {
	changes := web.Changes(c.QueryParam("id"), c.QueryParam("count"), c.QueryParam("number"))
	return say(c, http.StatusOK, changes, s.store.Change(c.Request().Context(), changes))
}

func (s server) cached(c echo.Context) error {
	found, err := s.store.Cached(c.Request().Context(), ids(c))
	return say(c, http.StatusOK, found, err)
}

func (s server) fortunes(c echo.Context) error {
	found, err := s.store.Fortunes(c.Request().Context())
	if err != nil {
		return err
	}
	return c.Render(http.StatusOK, "fortunes", found)
}

func (s server) login(c echo.Context) error {
	var said web.Login
	if err := c.Bind(&said); err != nil {
		return err
	}
	token, fits, err := s.store.Login(c.Request().Context(), said)
	if err == nil && !fits {
		return c.JSON(http.StatusUnauthorized, web.Nothing{})
	}
	return say(c, http.StatusOK, token, err)
}

func (s server) items(c echo.Context) error {
	account, known, err := s.account(c)
	if err != nil || !known {
		return say(c, http.StatusUnauthorized, web.Nothing{}, err)
	}
	found, err := s.store.Items(c.Request().Context(), account)
	return say(c, http.StatusOK, found, err)
}

func (s server) add(c echo.Context) error {
	account, known, err := s.account(c)
	if err != nil || !known {
		return say(c, http.StatusUnauthorized, web.Nothing{}, err)
	}
	var said web.Item
	if err := c.Bind(&said); err != nil {
		return err
	}
	made, err := s.store.Add(c.Request().Context(), account, said)
	return say(c, http.StatusCreated, made, err)
}

// account is who asks; false: nobody who is known.
func (s server) account(c echo.Context) (int, bool, error) {
	token := web.Bearer(c.Request().Header.Get("Authorization"))
	return s.store.Account(c.Request().Context(), token)
}

func ids(c echo.Context) []int {
	return web.Chain(web.Number(c.QueryParam("id")), web.Clamped(c.QueryParam("count")))
}

func say(c echo.Context, status int, said any, err error) error {
	if err != nil {
		return err
	}
	return c.JSON(status, said)
}
