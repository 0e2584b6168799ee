// Package web shows a run to browsers and programs over HTTP, and lets those who
// have its token act on it.
//
// It holds no rule and no state of the run: each route asks or does what a command
// does, by the same function. Reading is open to whoever reaches a server that only
// this machine reaches; any other server, and all that changes something, wants the
// token. What a browser is made to send by another site's page is refused.
package web

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"fleet/internal/master"
	"fleet/roster"
)

// Server is the HTTP face of one run.
type Server struct {
	fleet    *master.Fleet
	token    string
	local    bool // only this machine reaches it
	feed     feed
	patience time.Duration // with a client that is slow
	ping     time.Duration // between signs of life on a stream

	mu    sync.Mutex // of the last state that was asked for
	state []byte
	seen  string

	counts counts
}

// New makes a server whose token lets write, and read unless it is local.
func New(f *master.Fleet, token string, local bool) *Server {
	return &Server{fleet: f, token: token, local: local, feed: feed{listeners: make(map[chan []frame]bool)}, patience: 10 * time.Second, ping: 15 * time.Second}
}

// Listen opens an address. One that other machines reach needs a token that the user has chosen.
func Listen(ctx context.Context, addr string, tokenGiven bool) (l net.Listener, local bool, err error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, false, roster.Usagef("address %q: want HOST:PORT", addr)
	}
	if local = loopback(host); !local && !tokenGiven {
		return nil, false, roster.Refusef("%s can be reached from other machines, and whoever reads there needs a token", addr).
			Hinted("choose one with --token, or an address such as 127.0.0.1:8099")
	}
	l, err = new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		err = roster.Refusef("%v", err).Hinted("--addr 127.0.0.1:0 takes any port that is free")
	}
	return l, local, err
}

// Serve answers until the context ends, or the run is removed. What is being answered then is finished first.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	srv := &http.Server{
		Handler: s.handler(), MaxHeaderBytes: 16 << 10,
		ReadHeaderTimeout: s.patience, ReadTimeout: 3 * s.patience, WriteTimeout: 3 * s.patience, IdleTimeout: 6 * s.patience,
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	fed, served := make(chan error, 1), make(chan error, 1)
	go func() { fed <- s.feed.run(ctx, s.fleet.Dir) }()
	go func() { served <- srv.Serve(l) }()
	var err error
	select {
	case err = <-fed: // with which the streams have ended
	case err = <-served:
	}
	stop()
	grace, cancel := context.WithTimeout(context.Background(), s.patience)
	defer cancel()
	if srv.Shutdown(grace) != nil {
		_ = srv.Close() // they have had their time
	}
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return err
}
