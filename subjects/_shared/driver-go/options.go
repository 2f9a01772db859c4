package driver

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
)

// Options is what to do, as the command line says it.
type Options struct {
	URL     string
	Message []byte
	// Expected is the right reply.
	Expected []byte
	// Roots holds the authority to trust; nil without TLS.
	Roots       *x509.CertPool
	Kept        bool
	Warmup      int
	Iterations  int
	Repetitions int
	Timeout     time.Duration
	// HTTP2 asks for HTTP/2 and nothing else.
	HTTP2 bool
}

// TLS returns settings of its own for one client, so that no session is taken up again.
func (options *Options) TLS() *tls.Config {
	return &tls.Config{RootCAs: options.Roots}
}

var errVersion = errors.New("the version was asked for")

func readOptions(schemes, words []string) (*Options, error) {
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	version := flags.Bool("version", false, "")
	address := flags.String("url", "", "")
	payload := flags.Int("payload", -1, "")
	warmup := flags.Int("warmup", -1, "")
	iterations := flags.Int("iterations", 0, "")
	repetitions := flags.Int("repetitions", 0, "")
	mode := flags.String("mode", "", "")
	authority := flags.String("cacert", "", "")
	page := flags.String("expect", "", "")
	timeout := flags.Float64("timeout", 10, "")
	protocol := flags.String("http", "1.1", "")
	if err := flags.Parse(words); err != nil {
		return nil, err
	}
	target, err := url.Parse(*address)
	switch {
	case *version:
		return nil, errVersion
	case flags.NArg() > 0:
		return nil, fmt.Errorf("unknown argument %s", flags.Arg(0))
	case err != nil || !slices.Contains(schemes, target.Scheme):
		return nil, fmt.Errorf("--url: %s is needed", strings.Join(schemes, " or "))
	case *payload < 0 || *warmup < 0:
		return nil, errors.New("--payload and --warmup: whole numbers from 0 are needed")
	case *iterations < 1 || *repetitions < 1:
		return nil, errors.New("--iterations and --repetitions: whole numbers from 1 are needed")
	case *mode != "kept" && *mode != "fresh":
		return nil, errors.New("--mode: kept or fresh")
	case *protocol != "1.1" && *protocol != "2":
		return nil, errors.New("--http: 1.1 or 2")
	case !(*timeout > 0 && *timeout <= 1_000_000):
		return nil, errors.New("--timeout: seconds above 0 are needed, at most 1000000")
	}
	options := &Options{
		URL:         *address,
		Message:     message(*payload),
		Kept:        *mode == "kept",
		Warmup:      *warmup,
		Iterations:  *iterations,
		Repetitions: *repetitions,
		Timeout:     time.Duration(*timeout * float64(time.Second)),
		HTTP2:       *protocol == "2",
	}
	options.Expected = options.Message
	if strings.HasPrefix(target.Scheme, "http") && *payload == 0 {
		if options.Expected, err = os.ReadFile(*page); err != nil {
			return nil, fmt.Errorf("--expect: needed for a GET (--payload 0): %w", err)
		}
	}
	if slices.Contains([]string{"https", "wss", "grpcs"}, target.Scheme) {
		if options.Roots, err = roots(*authority); err != nil {
			return nil, fmt.Errorf("--cacert: needed for %s: %w", target.Scheme, err)
		}
	}
	return options, nil
}

func message(size int) []byte {
	content := make([]byte, size)
	for i := range content {
		content[i] = byte(33 + i%90)
	}
	return content
}

func roots(path string) (*x509.CertPool, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(content) {
		return nil, fmt.Errorf("no certificate in %s", path)
	}
	return pool, nil
}
