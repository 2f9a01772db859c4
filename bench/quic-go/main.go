// Command quic-go asks over HTTP/3 with quic-go, or serves what is asked for.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go/http3"
)

const usage = `usage: wiretrial-quic-go load URL CA_FILE CONNECTIONS STREAMS SECONDS
usage: wiretrial-quic-go serve IP:PORT CERT KEY BYTES
  each GET is answered by so many bytes`

var errUsage = errors.New(usage)

func main() {
	err := run(os.Args[1:])
	if errors.Is(err, errUsage) {
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "wiretrial-quic-go:", err)
		os.Exit(1)
	}
}

func run(words []string) error {
	if len(words) == 6 && words[0] == "load" {
		numbers, err := numbersOf(words[3:])
		if err != nil {
			return err
		}
		return load(words[1], words[2], numbers[0], numbers[1], time.Duration(numbers[2])*time.Second)
	}
	if len(words) == 5 && words[0] == "serve" {
		numbers, err := numbersOf(words[4:])
		if err != nil {
			return err
		}
		return serve(words[1], words[2], words[3], numbers[0])
	}
	return errUsage
}

// load keeps streams requests in flight on each connection, and says how many were answered.
func load(url, authority string, connections, streams int, duration time.Duration) error {
	pem, err := os.ReadFile(authority)
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	var messages atomic.Uint64
	var asking sync.WaitGroup
	failures := make(chan error, connections*streams)
	end := time.Now().Add(duration)
	for range connections {
		// A transport has one connection to an origin.
		transport := &http3.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableCompression: true}
		client := &http.Client{Transport: transport}
		for range streams {
			asking.Go(func() {
				for time.Now().Before(end) {
					if err := ask(client, url); err != nil {
						failures <- err
						return
					}
					messages.Add(1)
				}
			})
		}
	}
	asking.Wait()
	select {
	case err := <-failures:
		return err
	default:
		fmt.Printf("{\"messages\": %d}\n", messages.Load())
		return nil
	}
}

func ask(client *http.Client, url string) error {
	reply, err := client.Get(url)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", reply.StatusCode)
	}
	_, err = io.Copy(io.Discard, reply.Body)
	return err
}

func serve(address, chain, key string, bytes int) error {
	certificate, err := tls.LoadX509KeyPair(chain, key)
	if err != nil {
		return err
	}
	socket, err := (&net.ListenConfig{}).ListenPacket(context.Background(), "udp", address)
	if err != nil {
		return err
	}
	content := make([]byte, bytes)
	length := strconv.Itoa(bytes)
	server := http3.Server{
		TLSConfig: http3.ConfigureTLSConfig(&tls.Config{Certificates: []tls.Certificate{certificate}}),
		Handler: http.HandlerFunc(func(reply http.ResponseWriter, _ *http.Request) {
			reply.Header().Set("Content-Length", length)
			_, _ = reply.Write(content)
		}),
	}
	fmt.Println("ready", socket.LocalAddr())
	return server.Serve(socket)
}

func numbersOf(words []string) ([]int, error) {
	numbers := make([]int, len(words))
	for at, word := range words {
		number, err := strconv.Atoi(word)
		if err != nil || number < 1 {
			return nil, errUsage
		}
		numbers[at] = number
	}
	return numbers, nil
}
