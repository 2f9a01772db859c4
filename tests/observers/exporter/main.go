// cAdvisor as a kubelet has it, without its own command: its manager, and its metrics behind HTTP.
// Tells of the Docker that -docker names, and prints where it listens.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/google/cadvisor/cache/memory"
	"github.com/google/cadvisor/container"
	_ "github.com/google/cadvisor/container/docker/install"
	v2 "github.com/google/cadvisor/info/v2"
	"github.com/google/cadvisor/manager"
	"github.com/google/cadvisor/metrics"
	"github.com/google/cadvisor/utils/sysfs"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"k8s.io/utils/clock"
)

// What cAdvisor tells unless it is told otherwise, as far as a load asks for it, and processes.
var included = container.MetricSet{
	container.CpuUsageMetrics:    struct{}{},
	container.PerCpuUsageMetrics: struct{}{},
	container.MemoryUsageMetrics: struct{}{},
	container.ProcessMetrics:     struct{}{},
	container.OOMMetrics:         struct{}{},
}

func main() {
	groups := flag.String("groups", "/docker", "control groups below this are told, too")
	flag.Parse()
	watching, err := manager.New(
		memory.New(time.Minute, nil), sysfs.NewRealSysFs(), manager.HousekeepingConfigFlags, included,
		http.DefaultClient, []string{*groups}, nil, "", 0,
	)
	if err != nil {
		log.Fatal(err)
	}
	if err := watching.Start(); err != nil {
		log.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(metrics.NewPrometheusCollector(
		watching, metrics.DefaultContainerLabels, included, clock.RealClock{},
		v2.RequestOptions{IdType: v2.TypeName, Count: 1, Recursive: true},
	))
	http.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("ready", listener.Addr())
	log.Fatal(http.Serve(listener, nil))
}
