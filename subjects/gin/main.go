// Command gin serves the contract `web` by Gin.
package main

import (
	"context"
	"log"
	"net/http"

	"github.com/gin-gonic/gin"

	"wiretrial/subjects/web"
)

type server struct {
	store *web.Store
}

func main() {
	options := web.Flags("github.com/gin-gonic/gin")
	store, err := web.Open(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	var engine *gin.Engine
	if options.Tuned {
		gin.SetMode(gin.ReleaseMode)
		engine = gin.New()
		engine.Use(gin.Recovery())
	} else {
		engine = gin.Default()
	}
	engine.SetHTMLTemplate(web.Page)
	s := server{store}
	engine.GET("/plaintext", func(c *gin.Context) { c.String(http.StatusOK, web.Greeting) })
	engine.GET("/json", func(c *gin.Context) {
		c.JSON(http.StatusOK, web.Message{Message: web.Greeting})
	})
	engine.GET("/db", s.one)
	engine.GET("/queries", s.queries)
	engine.GET("/updates", s.updates)
	engine.GET("/cached", s.cached)
	engine.GET("/fortunes", s.fortunes)
	engine.POST("/login", s.login)
	engine.GET("/items", s.items)
	engine.POST("/items", s.add)
	log.Fatal(engine.Run(options.Address))
}

func (s server) one(c *gin.Context) {
	found, err := s.store.Row(c.Request.Context(), web.Number(c.Query("id")))
	say(c, http.StatusOK, found, err)
}

func (s server) queries(c *gin.Context) {
	found, err := s.store.Rows(c.Request.Context(), ids(c))
	say(c, http.StatusOK, found, err)
}

func (s server) updates(c *gin.Context) {
	changes := web.Changes(c.Query("id"), c.Query("count"), c.Query("number"))
	say(c, http.StatusOK, changes, s.store.Change(c.Request.Context(), changes))
}

func (s server) cached(c *gin.Context) {
	found, err := s.store.Cached(c.Request.Context(), ids(c))
	say(c, http.StatusOK, found, err)
}

func (s server) fortunes(c *gin.Context) {
	found, err := s.store.Fortunes(c.Request.Context())
	if err != nil {
		_ = c.AbortWithError(http.StatusInternalServerError, err)
		return
	}
	c.HTML(http.StatusOK, "fortunes", found)
}

func (s server) login(c *gin.Context) {
	var said web.Login
	if c.BindJSON(&said) != nil {
		return
	}
	token, fits, err := s.store.Login(c.Request.Context(), said)
	if err == nil && !fits {
		c.JSON(http.StatusUnauthorized, web.Nothing{})
		return
	}
	say(c, http.StatusOK, token, err)
}

func (s server) items(c *gin.Context) {
	if account, known := s.account(c); known {
		found, err := s.store.Items(c.Request.Context(), account)
		say(c, http.StatusOK, found, err)
	}
}

func (s server) add(c *gin.Context) {
	account, known := s.account(c)
	var said web.Item
	if !known || c.BindJSON(&said) != nil {
		return
	}
	made, err := s.store.Add(c.Request.Context(), account, said)
	say(c, http.StatusCreated, made, err)
}

// account is who asks; nobody is told so.
func (s server) account(c *gin.Context) (int, bool) {
	token := web.Bearer(c.GetHeader("Authorization"))
	account, known, err := s.store.Account(c.Request.Context(), token)
	if !known {
		say(c, http.StatusUnauthorized, web.Nothing{}, err)
	}
	return account, known
}

func ids(c *gin.Context) []int {
	return web.Chain(web.Number(c.Query("id")), web.Clamped(c.Query("count")))
}

func say(c *gin.Context, status int, said any, err error) {
	if err != nil {
		_ = c.AbortWithError(http.StatusInternalServerError, err)
		return
	}
	c.JSON(status, said)
}
