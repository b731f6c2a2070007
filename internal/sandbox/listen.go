package sandbox

import (
	"context"
	"fmt"
	"net"
	"strconv"
)

// The services of a sandbox, in the order of their ports.
const (
	subscriptionsPort = iota
	membershipsPort
	dashboardPort
	storefrontPort
	platformPort
	controlPort
	portCount // without those of a second instance, which come after them in the order of the first's
)

const (
	defaultHost = "127.0.0.1"
	defaultPort = 8080 // the first

	instancePorts = dashboardPort + 1 // of an instance
)

// listen opens a number of ports: HOST:PORT is the first of them, which follow each other,
// and HOST:0 takes free ones, those of the last run if they are still free.
func listen(ctx context.Context, address string, last []int, count int) (open []net.Listener, err error) {
	defer func() {
		if err != nil {
			closeAll(open)
		}
	}()
	host, first := defaultHost, defaultPort
	if address != "" {
		h, p, err := net.SplitHostPort(address)
		if err != nil {
			return nil, fmt.Errorf("listen address %q: write it as HOST:PORT: %w", address, err)
		}
		if first, err = strconv.Atoi(p); err != nil || first < 0 || first+count-1 > 65535 {
			return nil, fmt.Errorf("listen address %q: %q is not a port", address, p)
		}
		host = h
	}
	var conf net.ListenConfig
	for i := range count {
		port := 0
		switch {
		case first > 0:
			port = first + i
		case i < len(last):
			port = last[i]
		}
		l, err := conf.Listen(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err != nil && first == 0 {
			l, err = conf.Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
		}
		if err != nil {
			return open, fmt.Errorf("open port %d (choose others with --listen, for example --listen %s:0): %w", port, host, err)
		}
		open = append(open, l)
	}
	return open, nil
}

func closeAll(listeners []net.Listener) {
	for _, l := range listeners {
		l.Close()
	}
}

func portOf(l net.Listener) int { return l.Addr().(*net.TCPAddr).Port }

// urlOf returns the address at which a listener is reached from this machine.
func urlOf(l net.Listener) string {
	a := l.Addr().(*net.TCPAddr)
	host := a.IP.String()
	if a.IP.IsUnspecified() {
		host = defaultHost
	}
	return "http://" + net.JoinHostPort(host, strconv.Itoa(a.Port))
}
