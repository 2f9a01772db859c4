// Command client asks the reference server with net/http and github.com/coder/websocket, says
// `ok NAME` for each thing that was right, and ends at the first that was not.
//
// Usage: client HTTP_BASE WS_BASE CA_FILE EXTENSION
//
// Compression is always offered; EXTENSION is what the server must agree to, empty for nothing.
package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/coder/websocket"
)

const (
	patience = 30 * time.Second
	large    = 1 << 20
)

type tester struct {
	http, ws, extension string
	client              *http.Client
	dialled             int
}

type check struct {
	name string
	run  func(*tester) error
}

var checks = []check{
	{"get", (*tester).get},
	{"head", (*tester).head},
	{"keep-alive", (*tester).keepAlive},
	{"post", func(t *tester) error { return t.post(content(1000), false) }},
	{"post-large", func(t *tester) error { return t.post(content(large), false) }},
	{"chunked-request", func(t *tester) error { return t.post(content(100_000), true) }},
	{"chunked-reply", (*tester).chunkedReply},
	{"not-found", (*tester).notFound},
	{"text", func(t *tester) error { return t.echo(websocket.MessageText, []byte("Grüße, 世界")) }},
	{"binary", func(t *tester) error { return t.echo(websocket.MessageBinary, content(1000)) }},
	{"empty", func(t *tester) error { return t.echo(websocket.MessageBinary, nil) }},
	{"large", func(t *tester) error { return t.echo(websocket.MessageBinary, content(large)) }},
	{"fragments", (*tester).fragments},
	{"ping", (*tester).ping},
	{"close-1000", func(t *tester) error { return t.closeWith(websocket.StatusNormalClosure) }},
	{"close-4000", func(t *tester) error { return t.closeWith(4000) }},
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 5 {
		log.Fatal("usage: client HTTP_BASE WS_BASE CA_FILE EXTENSION")
	}
	t := &tester{http: os.Args[1], ws: os.Args[2], extension: os.Args[4]}
	t.client = &http.Client{Timeout: patience, Transport: t.transport(os.Args[3])}
	for _, check := range checks {
		if err := check.run(t); err != nil {
			log.Fatalf("%s: %v", check.name, err)
		}
		fmt.Println("ok", check.name)
	}
}

// A transport that counts its connections.
func (t *tester) transport(authority string) *http.Transport {
	trusted := x509.NewCertPool()
	pem, err := os.ReadFile(authority)
	if err != nil || !trusted.AppendCertsFromPEM(pem) {
		log.Fatalf("%s holds no certificate (%v)", authority, err)
	}
	return &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: trusted},
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			t.dialled++
			return new(net.Dialer).DialContext(ctx, network, address)
		},
	}
}

func (t *tester) get() error {
	response, body, err := t.do(http.MethodGet, "/message", nil)
	if err != nil {
		return err
	}
	if response.ContentLength != 64 || len(body) != 64 {
		return fmt.Errorf("%d bytes, %d announced", len(body), response.ContentLength)
	}
	return nil
}

func (t *tester) head() error {
	response, body, err := t.do(http.MethodHead, "/message", nil)
	if err != nil {
		return err
	}
	if response.ContentLength != 64 || len(body) != 0 {
		return fmt.Errorf("%d bytes, %d announced", len(body), response.ContentLength)
	}
	return nil
}

func (t *tester) keepAlive() error {
	t.client.CloseIdleConnections()
	before := t.dialled
	for range 10 {
		if err := t.get(); err != nil {
			return err
		}
	}
	if fresh := t.dialled - before; fresh != 1 {
		return fmt.Errorf("10 requests took %d connections", fresh)
	}
	return nil
}

func (t *tester) post(body []byte, inChunks bool) error {
	var reader io.Reader = bytes.NewReader(body)
	if inChunks {
		// Its length is hidden from net/http, which sends chunks then.
		reader = io.MultiReader(reader)
	}
	_, echoed, err := t.do(http.MethodPost, "/echo", reader)
	if err != nil {
		return err
	}
	return same(echoed, body)
}

func (t *tester) chunkedReply() error {
	response, body, err := t.do(http.MethodGet, "/chunked/100000", nil)
	if err != nil {
		return err
	}
	if len(response.TransferEncoding) != 1 || len(body) != 100_000 {
		return fmt.Errorf("%d bytes by %v", len(body), response.TransferEncoding)
	}
	return nil
}

func (t *tester) notFound() error {
	response, err := t.client.Get(t.http + "/no/such/page")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusNotFound {
		return errors.New(response.Status)
	}
	return nil
}

func (t *tester) do(method, path string, body io.Reader) (*http.Response, []byte, error) {
	request, err := http.NewRequest(method, t.http+path, body)
	if err != nil {
		return nil, nil, err
	}
	response, err := t.client.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, nil, errors.New(response.Status)
	}
	content, err := io.ReadAll(response.Body)
	return response, content, err
}

func (t *tester) echo(kind websocket.MessageType, payload []byte) error {
	return t.converse(func(ctx context.Context, connection *websocket.Conn) error {
		for range 3 {
			if err := connection.Write(ctx, kind, payload); err != nil {
				return err
			}
			if err := expect(ctx, connection, kind, payload); err != nil {
				return err
			}
		}
		return nil
	})
}

func (t *tester) fragments() error {
	return t.converse(func(ctx context.Context, connection *websocket.Conn) error {
		writer, err := connection.Writer(ctx, websocket.MessageText)
		if err != nil {
			return err
		}
		payload := content(50_000)
		for at := 0; at < len(payload); at += 10_000 {
			if _, err := writer.Write(payload[at : at+10_000]); err != nil {
				return err
			}
		}
		if err := writer.Close(); err != nil {
			return err
		}
		return expect(ctx, connection, websocket.MessageText, payload)
	})
}

func (t *tester) ping() error {
	return t.converse(func(ctx context.Context, connection *websocket.Conn) error {
		// The pong is only seen while somebody reads.
		return connection.Ping(connection.CloseRead(ctx))
	})
}

// The library's Close fails unless the server answers with the same code.
func (t *tester) closeWith(code websocket.StatusCode) error {
	return t.dial(func(_ context.Context, connection *websocket.Conn) error {
		return connection.Close(code, "enough")
	})
}

func (t *tester) converse(talk func(context.Context, *websocket.Conn) error) error {
	return t.dial(func(ctx context.Context, connection *websocket.Conn) error {
		if err := talk(ctx, connection); err != nil {
			return err
		}
		return connection.Close(websocket.StatusNormalClosure, "")
	})
}

func (t *tester) dial(talk func(context.Context, *websocket.Conn) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	options := &websocket.DialOptions{
		HTTPClient:      &http.Client{Transport: t.client.Transport},
		CompressionMode: websocket.CompressionContextTakeover,
	}
	connection, response, err := websocket.Dial(ctx, t.ws+"/", options)
	if err != nil {
		return err
	}
	defer connection.CloseNow()
	agreed, _, _ := strings.Cut(response.Header.Get("Sec-WebSocket-Extensions"), ";")
	if agreed != t.extension {
		return fmt.Errorf("the server agreed to %q", agreed)
	}
	connection.SetReadLimit(-1)
	return talk(ctx, connection)
}

func expect(
	ctx context.Context, connection *websocket.Conn, kind websocket.MessageType, payload []byte,
) error {
	gotKind, got, err := connection.Read(ctx)
	if err != nil {
		return err
	}
	if gotKind != kind {
		return fmt.Errorf("%v came back as %v", kind, gotKind)
	}
	return same(got, payload)
}

func same(got, sent []byte) error {
	if !bytes.Equal(got, sent) {
		return fmt.Errorf("%d bytes came back as %d others", len(sent), len(got))
	}
	return nil
}

// Printable, and different from place to place.
func content(size int) []byte {
	bytes := make([]byte, size)
	for at := range bytes {
		bytes[at] = byte(33 + (at*7+at/90)%90)
	}
	return bytes
}
